/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The programs as the kernel runs them, on real sockets. The target is this process, or some of its children; who talks
 * to it is a child outside of it.
 */
#include "profile/requests.h"
#include "refusal_fixture.h"
#include "sampler/ebpf/ebpf.h"
#include "sampler/ebpf/requests_shared.h"
#include "talking_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
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

static void test_every_family(void **state)
{
	for (int family = 0; family < FAMILY_COUNT; family++)
		expect_answers((enum family)family, 8);
}

/* An accepted socket then has no mark of its listener. */
static void test_a_listener_without_a_queue(void **state)
{
	expect_answers(FAMILY_IPV4, 0);
}

static void test_datagrams_do_not_count(void **state)
{
	struct counting counting;
	int pair[2];

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

/* ---- When it counts ---- */

static void test_nothing_counts_while_it_is_off(void **state)
{
	struct counting counting;
	struct place place;
	struct talk talk = { .place = &place, .connections = 1, .exchanges = 9 };
	int fd;

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

static void expect_bucket(uint64_t ns)
{
	uint16_t bucket = (uint16_t)requests_bucket(ns);

	assert_true(ns >= profile_latency_bucket_start(bucket) &&
		    (ns < profile_latency_bucket_end(bucket) || bucket + 1 == PROFILE_LATENCY_BUCKETS));
}

static void test_buckets_are_those_of_profiles(void **state)
{
	assert_int_equal((int)REQUESTS_BUCKETS, (int)PROFILE_LATENCY_BUCKETS);
	for (int bit = 0; bit < 64; bit++)
		for (int part = 0; part < 64; part++) {
			uint64_t ns = ((uint64_t)1 << bit) + (part * ((uint64_t)1 << bit) >> 6);

			expect_bucket(ns);
			expect_bucket(ns - 1);
		}
	expect_bucket(UINT64_MAX);
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
	expect_refusal(refuse_in_child);
}

/* libbpf keeps the types of the kernel for an object whose programs have no target there. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libbpf.so";
}

static void test_older_kernels_are_named(void **state)
{
	const struct ebpf_requests_options options = { .is_before_6_3 = true };
	struct ebpf_requests *requests = NULL;
	struct error err = { 0 };

	assert_false(ebpf_requests_create(&options, &requests, &err));
	assert_null(requests);
	assert_int_equal(err.code, ERROR_UNSUPPORTED);
	assert_string_equal(err.message, "that needs Linux 6.3 or later");
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(test_every_family),
	cmocka_unit_test(test_a_listener_without_a_queue),
	cmocka_unit_test(test_datagrams_do_not_count),
	cmocka_unit_test(test_every_system_call),
	cmocka_unit_test(test_peeking_is_not_receiving),
	cmocka_unit_test(test_pipelined_requests_are_bursts),
	cmocka_unit_test(test_a_greeting_is_no_answer),
	cmocka_unit_test(test_nothing_counts_while_it_is_off),
	cmocka_unit_test(test_one_thread_alone),
	cmocka_unit_test(test_latency_is_from_first_byte_to_first_byte),
	cmocka_unit_test(test_buckets_are_those_of_profiles),
	cmocka_unit_test(test_a_refusal_says_what_would_help),
	cmocka_unit_test(test_older_kernels_are_named),
};

int main(void)
{
	if (!can_count())
		return 77;
	return cmocka_run_group_tests_name("ebpf.requests", tests, NULL, NULL);
}
