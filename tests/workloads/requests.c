/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Answers or sends a known number of requests.
 *
 *	workload_requests serve FILE WORKERS NAP_MS   writes its port to FILE; so many processes answer
 *	workload_requests ask PORT CONNECTIONS EACH   one after the other
 *	workload_requests both CONNECTIONS EACH       asks a child of its own
 *	workload_requests crowd COUNT                 so many processes, each of which asks itself once
 *
 * A request takes some CPU time, and NAP_MS of sleep between its first and its last byte. Each is a call of
 * handle_request(), and meets the probe workload:request while somebody counts that.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REQUEST_BYTES = 40, ANSWER_BYTES = 200, BACKLOG = 64, ROUNDS = 200000 };

/* What <sys/sdt.h> makes of DTRACE_PROBE(workload, request) with a semaphore. */
unsigned short workload_request_semaphore __attribute__((section(".probes"), used));

#define PROBE()                                                                                                        \
	__asm__ volatile("990: nop\n"                                                                                  \
			 ".pushsection .note.stapsdt,\"\",\"note\"\n"                                                  \
			 ".balign 4\n"                                                                                 \
			 ".4byte 992f-991f, 994f-993f, 3\n"                                                            \
			 "991: .asciz \"stapsdt\"\n"                                                                   \
			 "992: .balign 4\n"                                                                            \
			 "993: .8byte 990b\n"                                                                          \
			 ".8byte _.stapsdt.base\n"                                                                     \
			 ".8byte workload_request_semaphore\n"                                                         \
			 ".asciz \"workload\"\n"                                                                       \
			 ".asciz \"request\"\n"                                                                        \
			 ".asciz \"\"\n"                                                                               \
			 "994: .balign 4\n"                                                                            \
			 ".popsection\n"                                                                               \
			 ".ifndef _.stapsdt.base\n"                                                                    \
			 ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"                       \
			 ".weak _.stapsdt.base\n"                                                                      \
			 ".hidden _.stapsdt.base\n"                                                                    \
			 "_.stapsdt.base: .space 1\n"                                                                  \
			 ".size _.stapsdt.base, 1\n"                                                                   \
			 ".popsection\n"                                                                               \
			 ".endif\n")

static void must(int holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	exit(1);
}

static int read_whole(int fd, size_t bytes)
{
	char data[ANSWER_BYTES];

	while (bytes > 0) {
		ssize_t got = read(fd, data, bytes);

		if (got <= 0)
			return 0;
		bytes -= (size_t)got;
	}
	return 1;
}

static void write_whole(int fd, size_t bytes)
{
	static const char data[ANSWER_BYTES];

	must(write(fd, data, bytes) == (ssize_t)bytes, "write");
}

/* So that both ends have samples. */
static void burn(void)
{
	for (volatile int i = 0; i < ROUNDS; i++)
		;
}

/* A later version of the program takes longer for it. */
#ifndef PARSE_TIMES
#define PARSE_TIMES 1
#endif

__attribute__((noinline)) static void parse_header(void)
{
	for (volatile int i = 0; i < PARSE_TIMES * ROUNDS; i++)
		;
}

__attribute__((noinline)) void handle_request(int fd, long nap_ms);

void handle_request(int fd, long nap_ms)
{
	struct timespec nap = { nap_ms / 1000, nap_ms % 1000 * 1000000 };

	if (*(volatile unsigned short *)&workload_request_semaphore > 0)
		PROBE();
	parse_header();
	if (nap_ms > 0)
		nanosleep(&nap, NULL);
	must(read_whole(fd, REQUEST_BYTES - 1), "read");
	write_whole(fd, ANSWER_BYTES);
}

static int listen_anywhere(int *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	must(fd >= 0 && bind(fd, (struct sockaddr *)&address, size) == 0 && listen(fd, BACKLOG) == 0 &&
			getsockname(fd, (struct sockaddr *)&address, &size) == 0,
		"listen");
	*port = ntohs(address.sin_port);
	return fd;
}

static void answer_all(int listener, long nap_ms)
{
	for (;;) {
		int fd = accept(listener, NULL, NULL);

		must(fd >= 0, "accept");
		while (read_whole(fd, 1))
			handle_request(fd, nap_ms);
		close(fd);
	}
}

static void serve(const char *file, int workers, long nap_ms)
{
	int port, listener = listen_anywhere(&port);
	FILE *out = fopen(file, "w");

	must(out != NULL, file);
	fprintf(out, "%d\n", port);
	fclose(out);
	for (int i = 1; i < workers; i++) {
		if (fork() != 0)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		break;
	}
	answer_all(listener, nap_ms);
}

static void ask(int port, long connections, long each)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) }, .sin_port = htons((in_port_t)port)
	};

	for (long i = 0; i < connections; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		must(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
		for (long j = 0; j < each; j++) {
			burn();
			write_whole(fd, REQUEST_BYTES);
			must(read_whole(fd, ANSWER_BYTES), "read");
		}
		close(fd);
	}
}

static void both(long connections, long each)
{
	int port, listener = listen_anywhere(&port);
	pid_t child = fork();

	must(child >= 0, "fork");
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		answer_all(listener, 0);
	}
	ask(port, connections, each);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* As many at a time as CPUs may run, so that the kernel's count of processes is not the limit. */
static void crowd(long count)
{
	for (long i = 0; i < count; i++) {
		int ends[2];

		if (fork() == 0) {
			must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
			write_whole(ends[0], 1);
			must(read_whole(ends[1], 1), "read");
			write_whole(ends[1], 1);
			must(read_whole(ends[0], 1), "read");
			_exit(0);
		}
		if (i % 4 == 3)
			while (waitpid(-1, NULL, 0) > 0)
				;
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
}

int main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "serve") == 0)
		serve(argv[2], atoi(argv[3]), atol(argv[4]));
	else if (argc == 5 && strcmp(argv[1], "ask") == 0)
		ask(atoi(argv[2]), atol(argv[3]), atol(argv[4]));
	else if (argc == 4 && strcmp(argv[1], "both") == 0)
		both(atol(argv[2]), atol(argv[3]));
	else if (argc == 3 && strcmp(argv[1], "crowd") == 0)
		crowd(atol(argv[2]));
	else
		return 2;
	return 0;
}
