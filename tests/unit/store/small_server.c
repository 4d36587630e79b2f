/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/store/small_server.h"

#include "tests/unit/support/unit_test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const char fine[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}";

/* The bytes of the body that the head in `bytes` announces. */
static size_t announced_bytes(const char *bytes)
{
	const char *length = strcasestr(bytes, "\r\ncontent-length:");

	return length ? strtoul(length + 17, NULL, 10) : 0;
}

/* Takes one request, head and body. */
static void take_request(int connection, struct small_record *record)
{
	size_t start = record->size, need = SIZE_MAX;

	while (record->size - start < need && record->size + 1 < sizeof(record->bytes)) {
		ssize_t got = read(connection, record->bytes + record->size, sizeof(record->bytes) - record->size - 1);
		const char *end;

		if (got <= 0)
			return;
		record->size += (size_t)got;
		record->bytes[record->size] = '\0';
		end = strstr(record->bytes + start, "\r\n\r\n");
		if (end)
			need = (size_t)(end - (record->bytes + start)) + 4 + announced_bytes(record->bytes + start);
	}
}

static bool send_all(int connection, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t sent = send(connection, bytes, size, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		bytes += sent;
		size -= (size_t)sent;
	}
	return true;
}

static void behave(int connection, const struct small_step *step)
{
	static const char data[4096] = { 'x' };
	const char *bytes = step->bytes ? step->bytes : fine;
	size_t size = step->size ? step->size : strlen(bytes);

	switch (step->behaviour) {
	case SMALL_CLOSE:
		return;
	case SMALL_ANSWER:
		(void)send_all(connection, bytes, size);
		return;
	case SMALL_STALL:
		(void)send_all(connection, bytes, size);
		(void)!read(connection, (char[1]){ 0 }, 1);
		return;
	case SMALL_DRIP:
		for (size_t i = 0; send_all(connection, bytes + i % size, 1); i++)
			(void)usleep(100000);
		return;
	case SMALL_ENDLESS:
		(void)send_all(connection, bytes, size);
		while (send_all(connection, data, sizeof(data)))
			;
		return;
	case SMALL_ENDLESS_HEAD:
		(void)send_all(connection, "HTTP/1.1 200 OK\r\n", 17);
		while (send_all(connection, "X-More: of this\r\n", 17))
			;
		return;
	}
}

static _Noreturn void serve(int listener, struct small_record *record, const struct small_step *steps, size_t count)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0;; i++) {
		int connection = accept(listener, NULL, NULL);

		if (connection < 0)
			_exit(1);
		take_request(connection, record);
		record->connections++;
		behave(connection, &steps[i < count ? i : count - 1]);
		close(connection);
	}
}

void small_server_start(struct small_server *server, const struct small_step *steps, size_t count)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 16), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
	server->record = mmap(NULL, sizeof(*server->record), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(server->record != MAP_FAILED);
	server->port = ntohs(address.sin_port);
	snprintf(server->origin, sizeof(server->origin), "http://127.0.0.1:%u", server->port);
	server->pid = fork();
	if (server->pid == 0)
		serve(listener, server->record, steps, count);
	assert_true(server->pid > 0);
	close(listener);
}

void small_server_end(struct small_server *server)
{
	(void)kill(server->pid, SIGKILL);
	(void)waitpid(server->pid, NULL, 0);
	(void)munmap(server->record, sizeof(*server->record));
}

bool small_server_saw(const struct small_server *server, const char *text)
{
	return memmem(server->record->bytes, server->record->size, text, strlen(text)) != NULL;
}
