/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "talking_fixture.h"
#include "profile/requests.h"
#include "tests/unit/support/unit_test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void sleep_ms(long ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

/* ---- Counting ---- */

bool can_count(void)
{
	struct ebpf_requests_options options = { 0 };
	struct ebpf_requests *requests;
	struct error err;

	if (!ebpf_requests_create(&options, &requests, &err)) {
		fprintf(stderr, "requests cannot be counted here: %s\n", err.message);
		return false;
	}
	ebpf_requests_destroy(requests);
	return true;
}

void open_counting(struct counting *counting, pid_t pid, uint32_t most_processes)
{
	struct ebpf_requests_options options = { .most_processes = most_processes, .most_retired = most_processes > 0 };
	struct error err;

	*counting = (struct counting){ 0 };
	if (!ebpf_process_set_create(&counting->processes, &err))
		fail_msg("%s", err.message);
	if (pid)
		ebpf_process_set_add(counting->processes, pid);
	options.processes = counting->processes;
	if (!ebpf_requests_create(&options, &counting->requests, &err))
		fail_msg("%s", err.message);
}

void start_counting(struct counting *counting)
{
	open_counting(counting, getpid(), 0);
	ebpf_requests_enable(counting->requests, now_ns());
}

void stop_counting(struct counting *counting)
{
	ebpf_requests_destroy(counting->requests);
	ebpf_process_set_destroy(counting->processes);
}

struct ebpf_exchanges counted(const struct counting *counting, pid_t pid, enum ebpf_exchange_kind kind)
{
	const struct ebpf_exchanges *exchanges;
	struct ebpf_exchanges sum = { .kind = kind };
	struct error err;
	size_t count;

	if (!ebpf_requests_read(counting->requests, &exchanges, &count, &err))
		fail_msg("%s", err.message);
	for (size_t i = 0; i < count; i++) {
		if (exchanges[i].kind != kind || (pid && exchanges[i].process != pid))
			continue;
		memcpy(sum.name, exchanges[i].name, sizeof(sum.name));
		sum.count += exchanges[i].count;
		sum.connections += exchanges[i].connections;
		sum.received_bytes += exchanges[i].received_bytes;
		sum.sent_bytes += exchanges[i].sent_bytes;
	}
	return sum;
}

uint64_t counted_latencies(const struct counting *counting, enum ebpf_exchange_kind kind, uint64_t least_ns)
{
	const struct ebpf_exchange_latency *latencies;
	uint64_t sum = 0;
	struct error err;
	size_t count;

	if (!ebpf_requests_read_latencies(counting->requests, &latencies, &count, &err))
		fail_msg("%s", err.message);
	for (size_t i = 0; i < count; i++)
		if (latencies[i].kind == kind && profile_latency_bucket_end(latencies[i].bucket) > least_ns)
			sum += latencies[i].count;
	return sum;
}

void expect_counts(const struct counting *counting, enum ebpf_exchange_kind kind, uint64_t count, uint64_t connections)
{
	for (int other = 0; other < EBPF_EXCHANGE_KIND_COUNT; other++) {
		struct ebpf_exchanges found = counted(counting, 0, (enum ebpf_exchange_kind)other);
		bool is_meant = (enum ebpf_exchange_kind)other == kind;

		assert_int_equal(found.count, is_meant ? count : 0);
		assert_int_equal(found.connections, is_meant ? connections : 0);
	}
	assert_int_equal(counted_latencies(counting, kind, 0), count);
}

/* ---- Sockets ---- */

static void place_address(struct place *place)
{
	if (place->family == FAMILY_UNIX) {
		place->address.unix_path.sun_family = AF_UNIX;
		snprintf(place->address.unix_path.sun_path, sizeof(place->address.unix_path.sun_path),
			"/tmp/kelvin-requests-%d", (int)getpid());
		unlink(place->address.unix_path.sun_path);
		place->address_bytes = sizeof(place->address.unix_path);
	} else if (place->family == FAMILY_IPV4) {
		place->address.ipv4 =
			(struct sockaddr_in){ .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
		place->address_bytes = sizeof(place->address.ipv4);
	} else {
		place->address.ipv6 = (struct sockaddr_in6){ .sin6_family = AF_INET6,
			.sin6_addr = place->family == FAMILY_IPV6 ? in6addr_loopback : in6addr_any };
		place->address_bytes = sizeof(place->address.ipv6);
	}
}

void listen_at(struct place *place, enum family family, int backlog)
{
	*place = (struct place){ .family = family };
	place_address(place);
	place->listener = socket(place->address.any.sa_family, SOCK_STREAM, 0);
	if (place->listener < 0 && errno == EAFNOSUPPORT)
		skip();
	assert_true(place->listener >= 0);
	if (bind(place->listener, &place->address.any, place->address_bytes) != 0 && errno == EADDRNOTAVAIL)
		skip();
	assert_int_equal(listen(place->listener, backlog), 0);
	assert_int_equal(getsockname(place->listener, &place->address.any, &place->address_bytes), 0);
	if (family == FAMILY_MAPPED) {
		place->address.ipv4 = (struct sockaddr_in){ .sin_family = AF_INET,
			.sin_addr = { htonl(INADDR_LOOPBACK) },
			.sin_port = place->address.ipv6.sin6_port };
		place->address_bytes = sizeof(place->address.ipv4);
	}
}

void stop_listening(struct place *place)
{
	close(place->listener);
	if (place->family == FAMILY_UNIX)
		unlink(place->address.unix_path.sun_path);
}

void must(bool holds)
{
	if (!holds)
		_exit(1);
}

void connect_to(int *fd, const struct place *place)
{
	*fd = socket(place->address.any.sa_family, SOCK_STREAM, 0);
	must(*fd >= 0 && connect(*fd, &place->address.any, place->address_bytes) == 0);
}

void read_whole(int fd, size_t bytes)
{
	char data[64];

	while (bytes > 0) {
		ssize_t got = read(fd, data, bytes < sizeof(data) ? bytes : sizeof(data));

		must(got > 0);
		bytes -= (size_t)got;
	}
}

void write_whole(int fd, size_t bytes)
{
	static const char data[64];

	must(write(fd, data, bytes) == (ssize_t)bytes);
}

void ask(int fd, int times)
{
	for (int i = 0; i < times; i++) {
		write_whole(fd, REQUEST_BYTES);
		read_whole(fd, ANSWER_BYTES);
	}
}

void answer(int fd, int times)
{
	for (int i = 0; i < times; i++) {
		read_whole(fd, REQUEST_BYTES);
		write_whole(fd, ANSWER_BYTES);
	}
}

/* ---- The other process ---- */

void expect_success(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

void start_asking(struct talk *talk)
{
	talk->child = fork();
	assert_true(talk->child >= 0);
	if (talk->child > 0)
		return;
	for (int i = 0; i < talk->connections; i++) {
		int fd;

		connect_to(&fd, talk->place);
		ask(fd, talk->exchanges);
		close(fd);
	}
	_exit(0);
}

int accept_at(const struct place *place)
{
	int fd = accept(place->listener, NULL, NULL);

	assert_true(fd >= 0);
	return fd;
}

void answer_talk(struct talk *talk)
{
	start_asking(talk);
	for (int i = 0; i < talk->connections; i++) {
		int fd = accept_at(talk->place);

		answer(fd, talk->exchanges);
		close(fd);
	}
	expect_success(talk->child);
}

void *run_answering(void *argument)
{
	const struct answering *answering = argument;

	answer(answering->fd, answering->times);
	return NULL;
}

void ask_thread(int asking, int answering_fd, int times)
{
	struct answering answering = { answering_fd, times };
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run_answering, &answering), 0);
	ask(asking, times);
	pthread_join(thread, NULL);
}
