/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Drives a service at a fixed rate, whatever the service does (an open loop):
 *
 *   load PROTOCOL PORT CONNECTIONS RATE BURST SECONDS REQUEST...
 *
 * RATE requests a second are due, BURST of them at a time and the bursts evenly spaced.
 * PROTOCOL (http, resp, memcached) tells only where an answer ends. The requests are sent as they are, in turn, on
 * connections to 127.0.0.1 that stay open as long as the service leaves them open. A request whose time has come while
 * every connection is busy is sent late, and its lateness is part of its response time.
 *
 * On SIGUSR1, and at the end, one line of JSON tells what was answered since the line before: the count, errors, the
 * seconds, quantiles of the time from sending to the first byte of the answer ("first"), of that to the last one
 * ("whole"), and of the time from when the request was due to the last byte ("response").
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 256, ANSWER_MAX = 1 << 20, STEPS = 32, BUCKETS = 60 * STEPS };

enum protocol { HTTP, RESP, MEMCACHED };

struct histogram {
	uint64_t counts[BUCKETS], total;
};

struct connection {
	int fd;
	bool busy;
	int64_t due_ns, sent_ns, first_ns;
	size_t used;
	char *answer;
};

struct load {
	enum protocol protocol;
	struct sockaddr_in address;
	struct connection connections[CONNECTIONS_MAX];
	struct pollfd polled[CONNECTIONS_MAX];
	size_t connection_count, request_count, next_request;
	char **requests;
	uint64_t answered, errors;
	int64_t since_ns;
	struct histogram first, whole, response;
};

static volatile sig_atomic_t wants_line, wants_end;

static void on_signal(int number)
{
	if (number == SIGUSR1)
		wants_line = 1;
	else
		wants_end = 1;
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- Times ---- */

/* STEPS buckets in each power of two. */
static void histogram_add(struct histogram *histogram, int64_t ns)
{
	uint64_t value = ns < 1 ? 1 : (uint64_t)ns;
	int power = 63 - __builtin_clzll(value);
	uint64_t step = power >= 5 ? (value >> (power - 5)) - STEPS : (value << (5 - power)) - STEPS;
	size_t bucket = (size_t)power * STEPS + (size_t)step;

	histogram->counts[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
	histogram->total++;
}

/* The middle of the bucket that the part of the values reaches. */
static double histogram_quantile(const struct histogram *histogram, double part)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < BUCKETS; i++) {
		seen += histogram->counts[i];
		if (histogram->total > 0 && (double)seen >= part * (double)histogram->total)
			return (double)(1ULL << (i / STEPS)) * (1.0 + ((double)(i % STEPS) + 0.5) / STEPS);
	}
	return 0;
}

static void print_quantiles(const char *name, const struct histogram *histogram)
{
	printf(", \"%s_p50_ns\": %.0f, \"%s_p90_ns\": %.0f, \"%s_p99_ns\": %.0f", name,
		histogram_quantile(histogram, 0.5), name, histogram_quantile(histogram, 0.9), name,
		histogram_quantile(histogram, 0.99));
}

/* What was answered since the last line. */
static void print_line(struct load *load)
{
	int64_t now = now_ns();

	printf("{\"count\": %llu, \"errors\": %llu, \"seconds\": %.6f", (unsigned long long)load->answered,
		(unsigned long long)load->errors, (double)(now - load->since_ns) / 1e9);
	print_quantiles("first", &load->first);
	print_quantiles("whole", &load->whole);
	print_quantiles("response", &load->response);
	printf("}\n");
	fflush(stdout);
	load->answered = load->errors = 0;
	load->since_ns = now;
	memset(&load->first, 0, sizeof(load->first));
	memset(&load->whole, 0, sizeof(load->whole));
	memset(&load->response, 0, sizeof(load->response));
}

/* ---- Where an answer ends: each returns whether the bytes hold a whole one ---- */

static bool chunks_end(const char *at, const char *end)
{
	while (at < end) {
		char *after;
		unsigned long size = strtoul(at, &after, 16);
		const char *line_end = memchr(at, '\n', (size_t)(end - at));

		if (line_end == NULL || after == at || size > ANSWER_MAX)
			return false;
		at = line_end + 1 + size + 2;
		if (size == 0)
			return at <= end;
	}
	return false;
}

static bool http_ends(const char *answer, size_t used)
{
	const char *body = strstr(answer, "\r\n\r\n");
	const char *length, *chunked;

	if (body == NULL)
		return false;
	body += 4;
	length = strcasestr(answer, "\r\ncontent-length:");
	chunked = strcasestr(answer, "\r\ntransfer-encoding: chunked");
	if (length != NULL && length < body)
		return used >= (size_t)(body - answer) + strtoul(length + 17, NULL, 10);
	if (chunked != NULL && chunked < body)
		return chunks_end(body, answer + used);
	return strncmp(answer + 9, "304", 3) == 0;
}

static bool resp_ends(const char *answer, size_t used)
{
	const char *at = answer, *end = answer + used;

	for (long long left = 1; left > 0; left--) {
		const char *line_end = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
		long long count;

		if (line_end == NULL)
			return false;
		count = strtoll(at + 1, NULL, 10);
		if (*at == '*' && count > 0)
			left += count;
		if (*at == '$' && count > end - line_end)
			return false;
		at = line_end + 1 + (*at == '$' && count >= 0 ? count + 2 : 0);
		if (at > end)
			return false;
	}
	return true;
}

static bool memcached_ends(const char *answer, size_t used)
{
	static const char *const ends[] = { "END\r\n", "STORED\r\n", "ERROR\r\n", "DELETED\r\n", "NOT_FOUND\r\n" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t size = strlen(ends[i]);

		if (used >= size && memcmp(answer + used - size, ends[i], size) == 0)
			return true;
	}
	return false;
}

static bool answer_ends(const struct load *load, const struct connection *connection)
{
	switch (load->protocol) {
	case HTTP:
		return http_ends(connection->answer, connection->used);
	case RESP:
		return resp_ends(connection->answer, connection->used);
	case MEMCACHED:
		return memcached_ends(connection->answer, connection->used);
	}
	return false;
}

/* ---- Connections ---- */

static void connection_close(struct connection *connection)
{
	if (connection->fd >= 0)
		close(connection->fd);
	connection->fd = -1;
	connection->busy = false;
}

static bool connection_open(const struct load *load, struct connection *connection)
{
	int one = 1;

	connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connection->fd < 0)
		return false;
	if (connect(connection->fd, (const struct sockaddr *)&load->address, sizeof(load->address)) != 0) {
		connection_close(connection);
		return false;
	}
	setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	fcntl(connection->fd, F_SETFL, O_NONBLOCK);
	return true;
}

/* A connection that the service closed is opened again. */
static void connection_send(struct load *load, struct connection *connection, int64_t due_ns)
{
	const char *request = load->requests[load->next_request++ % load->request_count];
	ssize_t size = (ssize_t)strlen(request);

	connection->due_ns = due_ns;
	connection->first_ns = 0;
	connection->used = 0;
	connection->busy = true;
	if (connection->fd < 0 && !connection_open(load, connection)) {
		load->errors++;
		connection->busy = false;
		return;
	}
	connection->sent_ns = now_ns();
	if (send(connection->fd, request, (size_t)size, MSG_NOSIGNAL) != size) {
		load->errors++;
		connection_close(connection);
	}
}

static void connection_finish(struct load *load, struct connection *connection)
{
	int64_t now = now_ns();

	connection->busy = false;
	load->answered++;
	histogram_add(&load->first, connection->first_ns - connection->sent_ns);
	histogram_add(&load->whole, now - connection->sent_ns);
	histogram_add(&load->response, now - connection->due_ns);
	if (load->protocol != HTTP)
		return;
	if (strncmp(connection->answer + 9, "20", 2) != 0 && strncmp(connection->answer + 9, "30", 2) != 0)
		load->errors++;
	if (strcasestr(connection->answer, "\r\nconnection: close") != NULL)
		connection_close(connection);
}

static void connection_receive(struct load *load, struct connection *connection)
{
	ssize_t got = recv(connection->fd, connection->answer + connection->used, ANSWER_MAX - 1 - connection->used, 0);

	if (got < 0 && errno == EAGAIN)
		return;
	if (got <= 0) {
		load->errors += connection->busy;
		connection_close(connection);
		return;
	}
	if (connection->used == 0)
		connection->first_ns = now_ns();
	connection->used += (size_t)got;
	connection->answer[connection->used] = '\0';
	if (answer_ends(load, connection)) {
		connection_finish(load, connection);
	} else if (connection->used >= ANSWER_MAX - 1) {
		load->errors++;
		connection_close(connection);
	}
}

/* ---- Time passes ---- */

static struct connection *free_connection(struct load *load)
{
	for (size_t i = 0; i < load->connection_count; i++) {
		struct connection *connection = &load->connections[(load->next_request + i) % load->connection_count];

		if (!connection->busy)
			return connection;
	}
	return NULL;
}

/* Waits for answers until a time, or without end where no connection is free before there was one. */
static void receive_until(struct load *load, int64_t until_ns)
{
	int64_t left = until_ns - now_ns();
	struct timespec timeout;
	nfds_t count = 0;
	struct connection *owners[CONNECTIONS_MAX];

	for (size_t i = 0; i < load->connection_count; i++) {
		if (load->connections[i].fd < 0)
			continue;
		load->polled[count] = (struct pollfd){ .fd = load->connections[i].fd, .events = POLLIN };
		owners[count++] = &load->connections[i];
	}
	left = left < 0 ? 0 : left;
	timeout = (struct timespec){ .tv_sec = left / 1000000000, .tv_nsec = left % 1000000000 };
	if (ppoll(load->polled, count, &timeout, NULL) <= 0)
		return;
	for (nfds_t i = 0; i < count; i++)
		if (load->polled[i].revents != 0)
			connection_receive(load, owners[i]);
}

static void drive(struct load *load, double rate, uint64_t burst, double seconds)
{
	int64_t start = now_ns(), end = start + (int64_t)(seconds * 1e9), due = start;
	uint64_t sent = 0;

	load->since_ns = start;
	while (!wants_end && now_ns() < end) {
		struct connection *connection;

		if (wants_line) {
			wants_line = 0;
			print_line(load);
		}
		connection = due <= now_ns() ? free_connection(load) : NULL;
		if (connection == NULL) {
			receive_until(load, due <= now_ns() ? now_ns() + 100000000 : due);
			continue;
		}
		connection_send(load, connection, due);
		due = start + (int64_t)((double)(++sent / burst * burst) * 1e9 / rate);
	}
	for (int64_t last = now_ns() + 1000000000, now = now_ns(); now < last; now = now_ns()) {
		size_t busy = 0;

		for (size_t i = 0; i < load->connection_count; i++)
			busy += load->connections[i].busy;
		if (busy == 0)
			break;
		receive_until(load, now + 50000000);
	}
	print_line(load);
}

static bool read_protocol(const char *name, enum protocol *protocol)
{
	static const char *const names[] = { "http", "resp", "memcached" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) == 0) {
			*protocol = (enum protocol)i;
			return true;
		}
	}
	return false;
}

int main(int argc, char **argv)
{
	static struct load load;
	struct sigaction action = { .sa_handler = on_signal };

	if (argc < 8 || atoi(argv[5]) < 1 || !read_protocol(argv[1], &load.protocol)) {
		fprintf(stderr, "usage: load http|resp|memcached PORT CONNECTIONS RATE BURST SECONDS REQUEST...\n");
		return 2;
	}
	load.address.sin_family = AF_INET;
	load.address.sin_port = htons((uint16_t)atoi(argv[2]));
	load.address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	load.connection_count = (size_t)atoi(argv[3]);
	if (load.connection_count < 1 || load.connection_count > CONNECTIONS_MAX)
		return 2;
	load.requests = argv + 7;
	load.request_count = (size_t)argc - 7;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	for (size_t i = 0; i < load.connection_count; i++) {
		load.connections[i].answer = malloc(ANSWER_MAX);
		if (load.connections[i].answer == NULL || !connection_open(&load, &load.connections[i])) {
			fprintf(stderr, "load: no connection to port %s\n", argv[2]);
			return 1;
		}
	}
	drive(&load, atof(argv[4]), (uint64_t)atoi(argv[5]), atof(argv[6]));
	return 0;
}
