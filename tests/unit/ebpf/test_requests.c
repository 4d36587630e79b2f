/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The programs as the kernel runs them, on real sockets. The target is this process, or some of its children; who talks
 * to it is a child outside of it.
 */
#include "ebpf/ebpf.h"
#include "ebpf/requests_shared.h"
#include "profile/requests.h"
#include "refusal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* What is sent: a request and its answer, which the other end knows to be whole. */
enum { REQUEST_BYTES = 3, ANSWER_BYTES = 5 };

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void sleep_ms(long ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

/* ---- Counting ---- */

struct counting {
	struct ebpf_process_set *processes;
	struct ebpf_requests *requests;
};

static void open_counting(struct counting *counting, pid_t pid, uint32_t most_processes)
{
	struct ebpf_requests_options options = { .most_processes = most_processes };
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

/* Counts this process from here on. */
static void start_counting(struct counting *counting)
{
	open_counting(counting, getpid(), 0);
	ebpf_requests_enable(counting->requests, now_ns());
}

static void stop_counting(struct counting *counting)
{
	ebpf_requests_destroy(counting->requests);
	ebpf_process_set_destroy(counting->processes);
}

/* The sum over the processes; `pid` 0: all of them. */
static struct ebpf_exchanges counted(const struct counting *counting, pid_t pid, enum ebpf_exchange_kind kind)
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

static uint64_t counted_latencies(const struct counting *counting, enum ebpf_exchange_kind kind, uint64_t least_ns)
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

/* So many exchanges of one kind, on so many connections, and none of another kind; each has a latency. */
static void expect_counts(
	const struct counting *counting, enum ebpf_exchange_kind kind, uint64_t count, uint64_t connections)
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

enum family { FAMILY_IPV4, FAMILY_IPV6, FAMILY_MAPPED, FAMILY_UNIX, FAMILY_COUNT };

/* Where a server listens. Of FAMILY_MAPPED it listens over IPv6 for clients over IPv4. */
struct place {
	enum family family;
	int listener;
	union {
		struct sockaddr any;
		struct sockaddr_in ipv4;
		struct sockaddr_in6 ipv6;
		struct sockaddr_un unix_path;
	} address;
	socklen_t address_bytes;
};

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

static void listen_at(struct place *place, enum family family, int backlog)
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

static void stop_listening(struct place *place)
{
	close(place->listener);
	if (place->family == FAMILY_UNIX)
		unlink(place->address.unix_path.sun_path);
}

/* The other end runs in a process that has no cmocka: its failures end it. */
static void must(bool holds)
{
	if (!holds)
		_exit(1);
}

static void connect_to(int *fd, const struct place *place)
{
	*fd = socket(place->address.any.sa_family, SOCK_STREAM, 0);
	must(*fd >= 0 && connect(*fd, &place->address.any, place->address_bytes) == 0);
}

static void read_whole(int fd, size_t bytes)
{
	char data[64];

	while (bytes > 0) {
		ssize_t got = read(fd, data, bytes < sizeof(data) ? bytes : sizeof(data));

		must(got > 0);
		bytes -= (size_t)got;
	}
}

static void write_whole(int fd, size_t bytes)
{
	static const char data[64];

	must(write(fd, data, bytes) == (ssize_t)bytes);
}

static void ask(int fd, int times)
{
	for (int i = 0; i < times; i++) {
		write_whole(fd, REQUEST_BYTES);
		read_whole(fd, ANSWER_BYTES);
	}
}

static void answer(int fd, int times)
{
	for (int i = 0; i < times; i++) {
		read_whole(fd, REQUEST_BYTES);
		write_whole(fd, ANSWER_BYTES);
	}
}

/* ---- The other process ---- */

static void expect_success(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

struct talk {
	const struct place *place;
	int connections, exchanges; /* of each connection */
	pid_t child;
};

/* A child asks on some connections, one after the other. */
static void start_asking(struct talk *talk)
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

static int accept_at(const struct place *place)
{
	int fd = accept(place->listener, NULL, NULL);

	assert_true(fd >= 0);
	return fd;
}

/* Answers a child that asks, to its end. */
static void answer_talk(struct talk *talk)
{
	start_asking(talk);
	for (int i = 0; i < talk->connections; i++) {
		int fd = accept_at(talk->place);

		answer(fd, talk->exchanges);
		close(fd);
	}
	expect_success(talk->child);
}

/* ---- Kinds of sockets ---- */

static void expect_answers(enum family family, int backlog)
{
	struct counting counting;
	struct place place;
	struct talk talk = { .place = &place, .connections = 3, .exchanges = 7 };
	struct ebpf_exchanges found;

	listen_at(&place, family, backlog);
	start_counting(&counting);
	answer_talk(&talk);
	expect_counts(&counting, EBPF_EXCHANGE_ANSWERED, 21, 3);
	found = counted(&counting, getpid(), EBPF_EXCHANGE_ANSWERED);
	assert_int_equal(found.count, 21);
	assert_int_equal(found.received_bytes, 21 * REQUEST_BYTES);
	assert_int_equal(found.sent_bytes, 21 * ANSWER_BYTES);
	assert_string_equal(found.name, "test_ebpf_reque");
	stop_counting(&counting);
	stop_listening(&place);
}

static void test_ipv4(void **state)
{
	(void)state;
	expect_answers(FAMILY_IPV4, 8);
}

static void test_ipv6(void **state)
{
	(void)state;
	expect_answers(FAMILY_IPV6, 8);
}

static void test_ipv4_at_a_socket_of_ipv6(void **state)
{
	(void)state;
	expect_answers(FAMILY_MAPPED, 8);
}

static void test_unix(void **state)
{
	(void)state;
	expect_answers(FAMILY_UNIX, 8);
}

/* An accepted socket then has no mark of its listener. */
static void test_a_listener_without_a_queue(void **state)
{
	(void)state;
	expect_answers(FAMILY_IPV4, 0);
}

static void test_datagrams_do_not_count(void **state)
{
	struct counting counting;
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
	start_counting(&counting);
	for (int i = 0; i < 3; i++) {
		write_whole(pair[0], 1);
		read_whole(pair[1], 1);
		write_whole(pair[1], 1);
		read_whole(pair[0], 1);
	}
	expect_counts(&counting, EBPF_EXCHANGE_ANSWERED, 0, 0);
	stop_counting(&counting);
	close(pair[0]);
	close(pair[1]);
}

/* ---- System calls ---- */

static void read_by_read(int fd, char *data, size_t bytes)
{
	assert_int_equal(read(fd, data, bytes), bytes);
}

static void read_by_recv(int fd, char *data, size_t bytes)
{
	assert_int_equal(recv(fd, data, bytes, MSG_WAITALL), bytes);
}

static void read_by_recvmsg(int fd, char *data, size_t bytes)
{
	struct iovec part = { data, bytes };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	assert_int_equal(recvmsg(fd, &message, 0), bytes);
}

static void read_by_recvmmsg(int fd, char *data, size_t bytes)
{
	struct iovec part = { data, bytes };
	struct mmsghdr message = { .msg_hdr = { .msg_iov = &part, .msg_iovlen = 1 } };

	assert_int_equal(recvmmsg(fd, &message, 1, 0, NULL), 1);
}

static void read_by_readv(int fd, char *data, size_t bytes)
{
	struct iovec parts[2] = { { data, 1 }, { data + 1, bytes - 1 } };

	assert_int_equal(readv(fd, parts, 2), bytes);
}

static void write_by_write(int fd, const char *data, size_t bytes)
{
	assert_int_equal(write(fd, data, bytes), bytes);
}

static void write_by_send(int fd, const char *data, size_t bytes)
{
	assert_int_equal(send(fd, data, bytes, MSG_NOSIGNAL), bytes);
}

static void write_by_sendmsg(int fd, const char *data, size_t bytes)
{
	struct iovec part = { (char *)data, bytes };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };

	assert_int_equal(sendmsg(fd, &message, 0), bytes);
}

static void write_by_sendmmsg(int fd, const char *data, size_t bytes)
{
	struct iovec part = { (char *)data, bytes };
	struct mmsghdr message = { .msg_hdr = { .msg_iov = &part, .msg_iovlen = 1 } };

	assert_int_equal(sendmmsg(fd, &message, 1, 0), 1);
}

static void write_by_writev(int fd, const char *data, size_t bytes)
{
	struct iovec parts[2] = { { (char *)data, 1 }, { (char *)data + 1, bytes - 1 } };

	assert_int_equal(writev(fd, parts, 2), bytes);
}

static void write_by_sendfile(int fd, const char *data, size_t bytes)
{
	int file = (int)syscall(SYS_memfd_create, "answer", 0);
	off_t start = 0;

	assert_int_equal(write(file, data, bytes), bytes);
	assert_int_equal(sendfile(fd, file, &start, bytes), bytes);
	close(file);
}

static void write_by_splice(int fd, const char *data, size_t bytes)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], data, bytes), bytes);
	assert_int_equal(splice(ends[0], NULL, fd, NULL, bytes, 0), bytes);
	close(ends[0]);
	close(ends[1]);
}

/* A ring of one operation at a time, without the library. */
static bool do_by_ring(int operation, int fd, void *data, size_t bytes)
{
	struct io_uring_params params = { 0 };
	int ring = (int)syscall(SYS_io_uring_setup, 1, &params);
	struct io_uring_sqe *entries;
	struct io_uring_cqe *done;
	char *queue;
	size_t queue_bytes, result;

	if (ring < 0)
		return false;
	queue_bytes = params.cq_off.cqes + params.cq_entries * sizeof(*done);
	if (queue_bytes < params.sq_off.array + params.sq_entries * sizeof(uint32_t))
		queue_bytes = params.sq_off.array + params.sq_entries * sizeof(uint32_t);
	queue = mmap(NULL, queue_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	entries = mmap(
		NULL, params.sq_entries * sizeof(*entries), PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
	assert_ptr_not_equal(queue, MAP_FAILED);
	assert_ptr_not_equal(entries, MAP_FAILED);
	entries[0] = (struct io_uring_sqe){
		.opcode = (uint8_t)operation, .fd = fd, .addr = (uint64_t)(uintptr_t)data, .len = (uint32_t)bytes
	};
	*(uint32_t *)(queue + params.sq_off.array) = 0;
	__atomic_store_n((uint32_t *)(queue + params.sq_off.tail), 1, __ATOMIC_RELEASE);
	assert_int_equal(syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0), 1);
	done = (struct io_uring_cqe *)(queue + params.cq_off.cqes);
	result = (size_t)done->res;
	munmap(entries, params.sq_entries * sizeof(*entries));
	munmap(queue, queue_bytes);
	close(ring);
	assert_int_equal(result, bytes);
	return true;
}

static void read_by_ring(int fd, char *data, size_t bytes)
{
	if (!do_by_ring(IORING_OP_RECV, fd, data, bytes))
		read_by_read(fd, data, bytes);
}

static void write_by_ring(int fd, const char *data, size_t bytes)
{
	if (!do_by_ring(IORING_OP_SEND, fd, (char *)data, bytes))
		write_by_write(fd, data, bytes);
}

typedef void (*reading)(int fd, char *data, size_t bytes);
typedef void (*writing)(int fd, const char *data, size_t bytes);

static void expect_calls(enum family family, reading read_request, writing write_answer)
{
	enum { EXCHANGES = 4 };
	struct counting counting;
	struct place place;
	struct talk talk = { .place = &place, .connections = 1, .exchanges = EXCHANGES };
	struct ebpf_exchanges found;
	char data[ANSWER_BYTES] = { 0 };
	int fd;

	listen_at(&place, family, 8);
	start_counting(&counting);
	start_asking(&talk);
	fd = accept_at(&place);
	for (int i = 0; i < EXCHANGES; i++) {
		read_request(fd, data, REQUEST_BYTES);
		write_answer(fd, data, ANSWER_BYTES);
	}
	close(fd);
	expect_success(talk.child);
	expect_counts(&counting, EBPF_EXCHANGE_ANSWERED, EXCHANGES, 1);
	found = counted(&counting, getpid(), EBPF_EXCHANGE_ANSWERED);
	assert_int_equal(found.received_bytes, EXCHANGES * REQUEST_BYTES);
	assert_int_equal(found.sent_bytes, EXCHANGES * ANSWER_BYTES);
	stop_counting(&counting);
	stop_listening(&place);
}

static void test_every_system_call(void **state)
{
	static const reading readings[] = { read_by_read, read_by_recv, read_by_recvmsg, read_by_recvmmsg,
		read_by_readv, read_by_ring, read_by_read };
	static const writing writings[] = { write_by_sendfile, write_by_send, write_by_sendmsg, write_by_sendmmsg,
		write_by_writev, write_by_ring, write_by_splice };

	(void)state;
	for (size_t i = 0; i < sizeof(readings) / sizeof(readings[0]); i++) {
		expect_calls(FAMILY_IPV4, readings[i], writings[i]);
		expect_calls(FAMILY_UNIX, readings[i], writings[i]);
	}
}

/* ---- What an exchange is ---- */

/* Who peeks has not received, before a request as behind its answer. */
static void test_peeking_is_not_receiving(void **state)
{
	struct counting counting;
	struct place place;
	struct talk talk = { .place = &place, .connections = 1, .exchanges = 5 };
	char data[REQUEST_BYTES];
	int fd;

	(void)state;
	listen_at(&place, FAMILY_IPV4, 8);
	start_counting(&counting);
	start_asking(&talk);
	fd = accept_at(&place);
	for (int i = 0; i < talk.exchanges; i++) {
		assert_int_equal(recv(fd, data, sizeof(data), MSG_PEEK | MSG_WAITALL), REQUEST_BYTES);
		sleep_ms(20);
		answer(fd, 1);
	}
	close(fd);
	expect_success(talk.child);
	expect_counts(&counting, EBPF_EXCHANGE_ANSWERED, 5, 1);
	/* The time between the peek and the read is no latency. On a busy machine one may be as long by chance. */
	assert_true(counted_latencies(&counting, EBPF_EXCHANGE_ANSWERED, 20000000) <= 1);
	stop_counting(&counting);
	stop_listening(&place);
}

/* Several requests before an answer are one exchange; with an answer to each they are as many. */
static void test_pipelined_requests_are_bursts(void **state)
{
	enum { REQUESTS = 6 };
	struct counting counting;
	struct place place;
	pid_t child;
	int fd;

	(void)state;
	listen_at(&place, FAMILY_IPV4, 8);
	start_counting(&counting);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		connect_to(&fd, &place);
		write_whole(fd, 2 * REQUESTS * REQUEST_BYTES);
		read_whole(fd, 2 * REQUESTS * ANSWER_BYTES);
		_exit(0);
	}
	fd = accept_at(&place);
	for (int i = 0; i < REQUESTS; i++)
		read_whole(fd, REQUEST_BYTES);
	for (int i = 0; i < REQUESTS; i++)
		write_whole(fd, ANSWER_BYTES);
	answer(fd, REQUESTS);
	close(fd);
	expect_success(child);
	expect_counts(&counting, EBPF_EXCHANGE_ANSWERED, 1 + REQUESTS, 1);
	stop_counting(&counting);
	stop_listening(&place);
}

/* What a server says first, as databases and mail servers do, answers nothing. */
static void test_a_greeting_is_no_answer(void **state)
{
	struct counting counting;
	struct place place;
	pid_t child;
	int fd;

	(void)state;
	listen_at(&place, FAMILY_IPV4, 8);
	start_counting(&counting);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		connect_to(&fd, &place);
		read_whole(fd, 9);
		ask(fd, 2);
		read_whole(fd, 9);
		_exit(0);
	}
	fd = accept_at(&place);
	write_whole(fd, 9);
	answer(fd, 2);
	write_whole(fd, 9);
	close(fd);
	expect_success(child);
	expect_counts(&counting, EBPF_EXCHANGE_ANSWERED, 2, 1);
	stop_counting(&counting);
	stop_listening(&place);
}

/* ---- When it began, and who opened it ---- */

/* Connections that were there before, of both ends; `asks`: the target is the one that asks. */
static void expect_from_the_middle(enum family family, bool asks)
{
	struct counting counting;
	struct place place;
	pid_t child;
	int fd, go[2];
	char byte;

	listen_at(&place, family, 8);
	assert_int_equal(pipe(go), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		fd = -1;
		if (asks)
			fd = accept(place.listener, NULL, NULL);
		else
			connect_to(&fd, &place);
		if (asks)
			answer(fd, 2 + 4);
		else
			ask(fd, 2);
		must(asks || read(go[0], &byte, 1) == 1);
		if (!asks)
			ask(fd, 4);
		_exit(0);
	}
	if (asks)
		connect_to(&fd, &place);
	else
		fd = accept_at(&place);
	if (asks)
		ask(fd, 2);
	else
		answer(fd, 2);
	start_counting(&counting);
	assert_int_equal(write(go[1], "", 1), 1);
	if (asks)
		ask(fd, 4);
	else
		answer(fd, 4);
	close(fd);
	expect_success(child);
	expect_counts(&counting, asks ? EBPF_EXCHANGE_CALLED_OUT : EBPF_EXCHANGE_ANSWERED, 4, 1);
	stop_counting(&counting);
	stop_listening(&place);
	close(go[0]);
	close(go[1]);
}

static void test_connections_from_before(void **state)
{
	(void)state;
	expect_from_the_middle(FAMILY_IPV4, false);
	expect_from_the_middle(FAMILY_UNIX, false);
	expect_from_the_middle(FAMILY_IPV4, true);
	expect_from_the_middle(FAMILY_UNIX, true);
}

/* Half an exchange from before does not turn the two ends around: an answer that comes first is no request. */
static void expect_answer_from_before(enum family family)
{
	struct counting counting;
	struct place place;
	pid_t child;
	int fd;

	listen_at(&place, family, 8);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		fd = accept(place.listener, NULL, NULL);
		answer(fd, 4);
		_exit(0);
	}
	connect_to(&fd, &place);
	write_whole(fd, REQUEST_BYTES);
	start_counting(&counting);
	read_whole(fd, ANSWER_BYTES);
	ask(fd, 3);
	expect_counts(&counting, EBPF_EXCHANGE_CALLED_OUT, 3, 1);
	expect_success(child);
	close(fd);
	stop_counting(&counting);
	stop_listening(&place);
}

static void test_an_answer_from_before(void **state)
{
	(void)state;
	expect_answer_from_before(FAMILY_IPV4);
	expect_answer_from_before(FAMILY_UNIX);
}

/* A worker with its parent's listener, as of systemd or prefork servers. The parent is not of the target. */
static void test_an_inherited_listener(void **state)
{
	struct counting counting;
	struct place place;
	struct talk talk = { .place = &place, .connections = 2, .exchanges = 3 };
	pid_t worker;
	int go[2];
	char byte;

	(void)state;
	listen_at(&place, FAMILY_IPV4, 8);
	assert_int_equal(pipe(go), 0);
	worker = fork();
	assert_true(worker >= 0);
	if (worker == 0) {
		must(read(go[0], &byte, 1) == 1);
		for (int i = 0; i < talk.connections; i++) {
			int fd = accept(place.listener, NULL, NULL);

			answer(fd, talk.exchanges);
			close(fd);
		}
		_exit(0);
	}
	open_counting(&counting, worker, 0);
	ebpf_requests_enable(counting.requests, now_ns());
	assert_int_equal(write(go[1], "", 1), 1);
	start_asking(&talk);
	expect_success(talk.child);
	expect_success(worker);
	expect_counts(&counting, EBPF_EXCHANGE_ANSWERED, 6, 2);
	assert_int_equal(counted(&counting, worker, EBPF_EXCHANGE_ANSWERED).count, 6);
	stop_counting(&counting);
	stop_listening(&place);
	close(go[0]);
	close(go[1]);
}

/* A connection belongs to whoever answers on it; who has ended keeps what it has done. */
static void test_a_child_answers_after_accept(void **state)
{
	enum { CONNECTIONS = 3 };
	struct counting counting;
	struct place place;
	struct talk talk = { .place = &place, .connections = CONNECTIONS, .exchanges = 4 };
	pid_t children[CONNECTIONS];

	(void)state;
	listen_at(&place, FAMILY_IPV4, 8);
	start_counting(&counting);
	start_asking(&talk);
	for (int i = 0; i < CONNECTIONS; i++) {
		int fd = accept_at(&place), go[2];
		char byte;

		assert_int_equal(pipe(go), 0);
		children[i] = fork();
		assert_true(children[i] >= 0);
		if (children[i] == 0) {
			must(read(go[0], &byte, 1) == 1);
			answer(fd, talk.exchanges);
			_exit(0);
		}
		ebpf_process_set_add(counting.processes, children[i]);
		assert_int_equal(write(go[1], "", 1), 1);
		close(fd);
		close(go[0]);
		close(go[1]);
		expect_success(children[i]);
	}
	expect_success(talk.child);
	expect_counts(&counting, EBPF_EXCHANGE_ANSWERED, 12, CONNECTIONS);
	for (int i = 0; i < CONNECTIONS; i++)
		assert_int_equal(counted(&counting, children[i], EBPF_EXCHANGE_ANSWERED).count, 4);
	stop_counting(&counting);
	stop_listening(&place);
}

/* ---- Calls out ---- */

static void test_a_client_calls_out(void **state)
{
	(void)state;
	for (int family = 0; family < FAMILY_COUNT; family++) {
		struct counting counting;
		struct ebpf_exchanges found;
		struct place place;
		pid_t child;
		int fd;

		listen_at(&place, (enum family)family, 8);
		child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			for (int i = 0; i < 2; i++) {
				fd = accept(place.listener, NULL, NULL);
				answer(fd, 5);
				close(fd);
			}
			_exit(0);
		}
		start_counting(&counting);
		for (int i = 0; i < 2; i++) {
			connect_to(&fd, &place);
			ask(fd, 5);
			close(fd);
		}
		expect_success(child);
		expect_counts(&counting, EBPF_EXCHANGE_CALLED_OUT, 10, 2);
		found = counted(&counting, getpid(), EBPF_EXCHANGE_CALLED_OUT);
		assert_int_equal(found.sent_bytes, 10 * REQUEST_BYTES);
		assert_int_equal(found.received_bytes, 10 * ANSWER_BYTES);
		stop_counting(&counting);
		stop_listening(&place);
	}
}

/* A client that has bound its own address looks like an accepted socket, but for who speaks first. */
static void test_a_client_with_an_address_of_its_own(void **state)
{
	struct sockaddr_in own = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	struct sockaddr_un own_path = { .sun_family = AF_UNIX };
	struct counting counting;
	struct place place;

	(void)state;
	for (int i = 0; i < 2; i++) {
		int fd;
		pid_t child;

		listen_at(&place, i ? FAMILY_UNIX : FAMILY_IPV4, 8);
		child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			answer(accept(place.listener, NULL, NULL), 5);
			_exit(0);
		}
		start_counting(&counting);
		fd = socket(i ? AF_UNIX : AF_INET, SOCK_STREAM, 0);
		/* Of a Unix socket, one that the kernel chooses. */
		assert_int_equal(bind(fd, i ? (struct sockaddr *)&own_path : (struct sockaddr *)&own,
					 i ? sizeof(sa_family_t) : sizeof(own)),
			0);
		assert_int_equal(connect(fd, &place.address.any, place.address_bytes), 0);
		ask(fd, 5);
		close(fd);
		expect_success(child);
		expect_counts(&counting, EBPF_EXCHANGE_CALLED_OUT, 5, 1);
		stop_counting(&counting);
		stop_listening(&place);
	}
}

/* ---- Within the target ---- */

struct answering {
	int fd, times;
};

static void *run_answering(void *argument)
{
	const struct answering *answering = argument;

	answer(answering->fd, answering->times);
	return NULL;
}

static void ask_thread(int asking, int answering_fd, int times)
{
	struct answering answering = { answering_fd, times };
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, run_answering, &answering), 0);
	ask(asking, times);
	pthread_join(thread, NULL);
}

/* With both ends in the target an exchange counts once, and apart; also where it was there before. */
static void test_both_ends_in_the_target(void **state)
{
	(void)state;
	for (int i = 0; i < 2 * FAMILY_COUNT; i++) {
		bool is_from_before = i % 2;
		struct counting counting;
		struct place place;
		int asking, answering;

		listen_at(&place, (enum family)(i / 2), 8);
		if (!is_from_before)
			start_counting(&counting);
		connect_to(&asking, &place);
		answering = accept_at(&place);
		if (is_from_before) {
			ask_thread(asking, answering, 2);
			start_counting(&counting);
		}
		ask_thread(asking, answering, 9);
		expect_counts(&counting, EBPF_EXCHANGE_WITHIN, 9, 1);
		close(asking);
		close(answering);
		stop_counting(&counting);
		stop_listening(&place);
	}
}

/* A child asks from a port that was used before; false: another program was faster to get it. */
static bool ask_from(const struct sockaddr_in *own, const struct place *place, int times)
{
	const int reuse = 1;
	pid_t child = fork();
	int status, answering;

	assert_true(child >= 0);
	if (child == 0) {
		int asking = socket(AF_INET, SOCK_STREAM, 0);

		if (setsockopt(asking, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse)) != 0 ||
			bind(asking, (const struct sockaddr *)own, sizeof(*own)) != 0 ||
			connect(asking, &place->address.any, place->address_bytes) != 0)
			_exit(2);
		ask(asking, times);
		_exit(0);
	}
	/* Without a connection it times out. */
	answering = accept(place->listener, NULL, NULL);
	if (answering >= 0) {
		answer(answering, times);
		close(answering);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == (answering >= 0 ? 0 : 2));
	return answering >= 0;
}

/* An end that is remembered is not that of a later connection from the same port. */
static void test_a_port_that_is_used_again(void **state)
{
	enum { ATTEMPTS = 10 };
	const struct linger at_once = { .l_onoff = 1 };
	const struct timeval timeout = { .tv_usec = 300000 };
	struct counting counting;
	struct place place;
	bool is_used_again = false;
	int attempts = 0;

	(void)state;
	listen_at(&place, FAMILY_IPV4, 8);
	assert_int_equal(setsockopt(place.listener, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)), 0);
	start_counting(&counting);
	while (!is_used_again && attempts++ < ATTEMPTS) {
		struct sockaddr_in own;
		socklen_t own_bytes = sizeof(own);
		int asking, answering;

		connect_to(&asking, &place);
		answering = accept_at(&place);
		ask_thread(asking, answering, 3);
		assert_int_equal(getsockname(asking, (struct sockaddr *)&own, &own_bytes), 0);
		/* Without the state TIME_WAIT. */
		assert_int_equal(setsockopt(asking, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)), 0);
		close(asking);
		close(answering);
		is_used_again = ask_from(&own, &place, 5);
	}
	assert_true(is_used_again);
	assert_int_equal(counted(&counting, 0, EBPF_EXCHANGE_WITHIN).count, 3 * attempts);
	assert_int_equal(counted(&counting, 0, EBPF_EXCHANGE_ANSWERED).count, 5);
	stop_counting(&counting);
	stop_listening(&place);
}

/* Parts of a program that talk over a pair of sockets do no work for others. */
static void test_pairs_within_the_target_do_not_count(void **state)
{
	struct counting counting;
	int pair[2];

	(void)state;
	start_counting(&counting);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	ask_thread(pair[0], pair[1], 6);
	for (int kind = 0; kind < EBPF_EXCHANGE_KIND_COUNT; kind++)
		assert_int_equal(counted(&counting, 0, (enum ebpf_exchange_kind)kind).count, 0);
	stop_counting(&counting);
	close(pair[0]);
	close(pair[1]);
}

/* A pair that a process outside of the target has made: who sends first asks. */
static void test_a_pair_with_another_process(void **state)
{
	struct counting counting;
	int pair[2], go[2];
	pid_t worker;
	char byte;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(pipe(go), 0);
	worker = fork();
	assert_true(worker >= 0);
	if (worker == 0) {
		must(read(go[0], &byte, 1) == 1);
		answer(pair[1], 6);
		_exit(0);
	}
	open_counting(&counting, worker, 0);
	ebpf_requests_enable(counting.requests, now_ns());
	assert_int_equal(write(go[1], "", 1), 1);
	ask(pair[0], 6);
	expect_success(worker);
	expect_counts(&counting, EBPF_EXCHANGE_ANSWERED, 6, 1);
	stop_counting(&counting);
	close(pair[0]);
	close(pair[1]);
	close(go[0]);
	close(go[1]);
}

/* ---- Many ---- */

static void test_many_at_once(void **state)
{
	enum { AT_ONCE = 16, EXCHANGES = 100 };
	struct counting counting;
	struct place place;
	struct talk talks[AT_ONCE];
	struct answering answering[AT_ONCE];
	pthread_t threads[AT_ONCE];

	(void)state;
	listen_at(&place, FAMILY_IPV4, AT_ONCE);
	start_counting(&counting);
	for (int i = 0; i < AT_ONCE; i++) {
		talks[i] = (struct talk){ .place = &place, .connections = 1, .exchanges = EXCHANGES };
		start_asking(&talks[i]);
	}
	for (int i = 0; i < AT_ONCE; i++) {
		answering[i] = (struct answering){ accept_at(&place), EXCHANGES };
		assert_int_equal(pthread_create(&threads[i], NULL, run_answering, &answering[i]), 0);
	}
	for (int i = 0; i < AT_ONCE; i++) {
		pthread_join(threads[i], NULL);
		close(answering[i].fd);
		expect_success(talks[i].child);
	}
	expect_counts(&counting, EBPF_EXCHANGE_ANSWERED, (uint64_t)AT_ONCE * EXCHANGES, AT_ONCE);
	stop_counting(&counting);
	stop_listening(&place);
}

/* One in eight stands for all, and what it is changed to in between makes no difference on average. */
static void test_one_in_so_many_stands_for_all(void **state)
{
	enum { EXCHANGES = 12000, DEVIATION = 900 };
	struct counting counting;
	struct ebpf_exchanges found;
	struct place place;
	struct talk talk = { .place = &place, .connections = 1, .exchanges = EXCHANGES };
	int fd;

	(void)state;
	listen_at(&place, FAMILY_UNIX, 8);
	start_counting(&counting);
	ebpf_requests_set_one_in(counting.requests, 8);
	start_asking(&talk);
	fd = accept_at(&place);
	answer(fd, EXCHANGES / 3);
	ebpf_requests_set_one_in(counting.requests, 1);
	answer(fd, EXCHANGES / 3);
	ebpf_requests_set_one_in(counting.requests, 8);
	answer(fd, EXCHANGES / 3);
	close(fd);
	expect_success(talk.child);
	found = counted(&counting, getpid(), EBPF_EXCHANGE_ANSWERED);
	/* 8,000 exchanges, of which each adds 8 or 0: the standard deviation is 237, and four times that is allowed. */
	assert_in_range(found.count, EXCHANGES - DEVIATION, EXCHANGES + DEVIATION);
	assert_int_not_equal(found.count, EXCHANGES);
	assert_int_equal(found.received_bytes, found.count * REQUEST_BYTES);
	assert_int_equal(found.sent_bytes, found.count * ANSWER_BYTES);
	assert_int_equal(found.connections, 1);
	assert_int_equal(counted_latencies(&counting, EBPF_EXCHANGE_ANSWERED, 0), found.count);
	stop_counting(&counting);
	stop_listening(&place);
}

/* Who has no room in the table is counted with all others like it. */
static void test_more_processes_than_the_table_holds(void **state)
{
	enum { PROCESSES = 12, MOST = 2 };
	struct counting counting;
	struct place place;
	struct talk talk = { .place = &place, .connections = PROCESSES, .exchanges = 2 };

	(void)state;
	listen_at(&place, FAMILY_IPV4, 8);
	open_counting(&counting, 0, MOST);
	ebpf_requests_enable(counting.requests, now_ns());
	start_asking(&talk);
	for (int i = 0; i < PROCESSES; i++) {
		int fd = accept_at(&place), go[2];
		pid_t child;
		char byte;

		assert_int_equal(pipe(go), 0);
		child = fork();
		assert_true(child >= 0);
		if (child == 0) {
			must(read(go[0], &byte, 1) == 1);
			answer(fd, talk.exchanges);
			_exit(0);
		}
		ebpf_process_set_add(counting.processes, child);
		assert_int_equal(write(go[1], "", 1), 1);
		close(fd);
		close(go[0]);
		close(go[1]);
		expect_success(child);
	}
	expect_success(talk.child);
	expect_counts(&counting, EBPF_EXCHANGE_ANSWERED, 2 * PROCESSES, PROCESSES);
	stop_counting(&counting);
	stop_listening(&place);
}

/* ---- When it counts ---- */

static void test_nothing_counts_while_it_is_off(void **state)
{
	struct counting counting;
	struct place place;
	struct talk talk = { .place = &place, .connections = 1, .exchanges = 9 };
	int fd;

	(void)state;
	listen_at(&place, FAMILY_IPV4, 8);
	open_counting(&counting, getpid(), 0);
	start_asking(&talk);
	fd = accept_at(&place);
	answer(fd, 2);
	ebpf_requests_enable(counting.requests, now_ns());
	answer(fd, 2);
	/* One that began before the pause and is answered behind it has no latency that says anything. */
	read_whole(fd, REQUEST_BYTES);
	ebpf_requests_enable(counting.requests, 0);
	sleep_ms(1);
	ebpf_requests_enable(counting.requests, now_ns());
	write_whole(fd, ANSWER_BYTES);
	answer(fd, 3);
	ebpf_requests_enable(counting.requests, 0);
	answer(fd, 1);
	close(fd);
	expect_success(talk.child);
	expect_counts(&counting, EBPF_EXCHANGE_ANSWERED, 2 + 3, 1);
	stop_counting(&counting);
	stop_listening(&place);
}

static void test_one_thread_alone(void **state)
{
	struct ebpf_requests_options options = { .only_tid = (int32_t)syscall(SYS_gettid) };
	struct counting counting = { 0 };
	struct place place;
	struct error err;
	int asking, answering;

	(void)state;
	listen_at(&place, FAMILY_IPV4, 8);
	if (!ebpf_requests_create(&options, &counting.requests, &err))
		fail_msg("%s", err.message);
	ebpf_requests_enable(counting.requests, now_ns());
	connect_to(&asking, &place);
	answering = accept_at(&place);
	ask_thread(asking, answering, 4);
	expect_counts(&counting, EBPF_EXCHANGE_CALLED_OUT, 4, 1);
	close(asking);
	close(answering);
	stop_counting(&counting);
	stop_listening(&place);
}

/* ---- Latencies ---- */

static void test_latency_is_from_first_byte_to_first_byte(void **state)
{
	enum { MS = 25 };
	struct counting counting;
	struct place place;
	struct talk talk = { .place = &place, .connections = 1, .exchanges = 3 };
	uint64_t began;
	int fd;

	(void)state;
	listen_at(&place, FAMILY_IPV4, 8);
	start_counting(&counting);
	start_asking(&talk);
	fd = accept_at(&place);
	began = now_ns();
	for (int i = 0; i < talk.exchanges; i++) {
		read_whole(fd, 1);
		sleep_ms(MS);
		read_whole(fd, REQUEST_BYTES - 1);
		write_whole(fd, 1);
		write_whole(fd, ANSWER_BYTES - 1);
	}
	began = now_ns() - began;
	close(fd);
	expect_success(talk.child);
	assert_int_equal(counted_latencies(&counting, EBPF_EXCHANGE_ANSWERED, MS * UINT64_C(1000000)), 3);
	assert_int_equal(counted_latencies(&counting, EBPF_EXCHANGE_ANSWERED, began), 0);
	stop_counting(&counting);
	stop_listening(&place);
}

static void test_buckets_are_those_of_profiles(void **state)
{
	(void)state;
	assert_int_equal((int)REQUESTS_BUCKETS, (int)PROFILE_LATENCY_BUCKETS);
	for (int bit = 0; bit < 64; bit++)
		for (int part = 0; part < 64; part++) {
			uint64_t ns = ((uint64_t)1 << bit) + (part * ((uint64_t)1 << bit) >> 6);

			assert_int_equal(requests_bucket(ns), profile_latency_bucket(ns));
			assert_int_equal(requests_bucket(ns - 1), profile_latency_bucket(ns - 1));
		}
	assert_int_equal(requests_bucket(UINT64_MAX), PROFILE_LATENCY_BUCKETS - 1);
}

/* ---- Rights ---- */

static void refuse_in_child(void)
{
	struct ebpf_requests_options options = { 0 };
	struct ebpf_requests *requests = NULL;
	struct error err = { 0 };

	if (ebpf_requests_create(&options, &requests, &err) || requests)
		_exit(2);
	_exit(err.code == ERROR_PERMISSION && strstr(err.message, "CAP_BPF and CAP_PERFMON") ? 0 : 3);
}

static void test_a_refusal_says_what_would_help(void **state)
{
	(void)state;
	expect_refusal(refuse_in_child);
}

static void test_older_kernels_are_named(void **state)
{
	const struct ebpf_requests_options options = { .is_before_6_3 = true };
	struct ebpf_requests *requests = NULL;
	struct error err = { 0 };

	(void)state;
	assert_false(ebpf_requests_create(&options, &requests, &err));
	assert_null(requests);
	assert_int_equal(err.code, ERROR_UNSUPPORTED);
	assert_string_equal(err.message, "that needs Linux 6.3 or later");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_ipv4),
	cmocka_unit_test(test_ipv6),
	cmocka_unit_test(test_ipv4_at_a_socket_of_ipv6),
	cmocka_unit_test(test_unix),
	cmocka_unit_test(test_a_listener_without_a_queue),
	cmocka_unit_test(test_datagrams_do_not_count),
	cmocka_unit_test(test_every_system_call),
	cmocka_unit_test(test_peeking_is_not_receiving),
	cmocka_unit_test(test_pipelined_requests_are_bursts),
	cmocka_unit_test(test_a_greeting_is_no_answer),
	cmocka_unit_test(test_connections_from_before),
	cmocka_unit_test(test_an_answer_from_before),
	cmocka_unit_test(test_an_inherited_listener),
	cmocka_unit_test(test_a_child_answers_after_accept),
	cmocka_unit_test(test_a_client_calls_out),
	cmocka_unit_test(test_a_client_with_an_address_of_its_own),
	cmocka_unit_test(test_both_ends_in_the_target),
	cmocka_unit_test(test_a_port_that_is_used_again),
	cmocka_unit_test(test_pairs_within_the_target_do_not_count),
	cmocka_unit_test(test_a_pair_with_another_process),
	cmocka_unit_test(test_many_at_once),
	cmocka_unit_test(test_one_in_so_many_stands_for_all),
	cmocka_unit_test(test_more_processes_than_the_table_holds),
	cmocka_unit_test(test_nothing_counts_while_it_is_off),
	cmocka_unit_test(test_one_thread_alone),
	cmocka_unit_test(test_latency_is_from_first_byte_to_first_byte),
	cmocka_unit_test(test_buckets_are_those_of_profiles),
	cmocka_unit_test(test_a_refusal_says_what_would_help),
	cmocka_unit_test(test_older_kernels_are_named),
};

int main(void)
{
	struct ebpf_requests_options options = { 0 };
	struct ebpf_requests *requests;
	struct error err;

	if (!ebpf_requests_create(&options, &requests, &err)) {
		fprintf(stderr, "requests cannot be counted here: %s\n", err.message);
		return 77;
	}
	ebpf_requests_destroy(requests);
	return cmocka_run_group_tests_name("ebpf.requests", tests, NULL, NULL);
}
