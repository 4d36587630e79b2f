/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which end of a connection asks and which one answers, whenever it was made, and whose exchanges these are. */
#include "talking_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* With both ends in the target an exchange counts once, and apart; also where it was there before. */
static void test_both_ends_in_the_target(void **state)
{
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
	enum { EXCHANGES = 12003, DEVIATION = 900 };
	struct counting counting;
	struct ebpf_exchanges found;
	struct place place;
	struct talk talk = { .place = &place, .connections = 1, .exchanges = EXCHANGES };
	int fd;

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
	/* 8,002 exchanges, of which each adds 8 or 0: the standard deviation is 237, and four times that is allowed. */
	assert_in_range(found.count, EXCHANGES - DEVIATION, EXCHANGES + DEVIATION);
	/* 8 does not divide 8,002: no chance makes the count exact, only counting each would. */
	assert_int_equal((found.count - EXCHANGES / 3) % 8, 0);
	assert_int_equal(found.received_bytes, found.count * REQUEST_BYTES);
	assert_int_equal(found.sent_bytes, found.count * ANSWER_BYTES);
	assert_int_equal(found.connections, 1);
	assert_int_equal(counted_latencies(&counting, EBPF_EXCHANGE_ANSWERED, 0), found.count);
	stop_counting(&counting);
	stop_listening(&place);
}

/* What processes that have ended have in the table is kept elsewhere, and others have their place. */
static void expect_room_is_given_back(struct counting *counting, size_t most)
{
	const struct ebpf_exchange_latency *kept;
	const struct ebpf_exchanges *exchanges;
	uint64_t latencies = counted_latencies(counting, EBPF_EXCHANGE_ANSWERED, 0);
	int32_t ended[16];
	size_t count, ended_count = 0;
	uint32_t payer;
	struct error err;

	assert_true(ebpf_requests_are_crowded(counting->requests));
	assert_true(ebpf_requests_read(counting->requests, &exchanges, &count, &err));
	for (size_t i = 0; i < count; i++)
		if (exchanges[i].process != 0)
			ended[ended_count++] = exchanges[i].process;
	/* Two accounts at most have been at work here, of which each leaves something for another one. */
	assert_in_range(ended_count, 1, most);
	assert_true(ebpf_requests_payer(counting->requests, ended[0], &payer));
	assert_true(ebpf_requests_retire(counting->requests, ended, ended_count, &err));
	assert_false(ebpf_requests_payer(counting->requests, ended[0], &payer));
	assert_false(ebpf_requests_are_crowded(counting->requests));
	assert_true(ebpf_requests_read(counting->requests, &exchanges, &count, &err));
	assert_int_equal(count, 1);
	assert_int_equal(exchanges[0].process, 0);
	assert_int_equal(counted_latencies(counting, EBPF_EXCHANGE_ANSWERED, 0), latencies);
	/* Their account has no room for them: they are counted together, and nothing of them stays in the table. */
	assert_true(ebpf_requests_read_latencies(counting->requests, &kept, &count, &err));
	for (size_t i = 0; i < count; i++)
		assert_int_equal(kept[i].process, 0);
}

/* Who has no room in the table is counted with all others like it. */
static void test_more_processes_than_the_table_holds(void **state)
{
	enum { PROCESSES = 12, MOST = 4 };
	struct counting counting;
	struct place place;
	struct talk talk = { .place = &place, .connections = PROCESSES, .exchanges = 2 };

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
	expect_room_is_given_back(&counting, MOST);
	stop_counting(&counting);
	stop_listening(&place);
}

static const struct CMUnitTest tests[] = {
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
};

int main(void)
{
	if (!can_count())
		return 77;
	return cmocka_run_group_tests_name("ebpf.request_ends", tests, NULL, NULL);
}
