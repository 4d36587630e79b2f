/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/session.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>

enum { PID = 300 };

static enum protocol_command tell(struct session *session, enum protocol_command command, int64_t now_ns)
{
	return session_take(session, &(struct protocol_message){ .command = command }, now_ns);
}

static enum protocol_command mark(struct session *session, enum protocol_marker marker, uint64_t time_ns)
{
	struct protocol_message message = {
		.command = PROTOCOL_MARKER, .pid = PID, .marker = marker, .value = time_ns
	};

	return session_take(session, &message, (int64_t)time_ns);
}

static enum protocol_command name(struct session *session, const char *uri, int64_t now_ns)
{
	struct protocol_message message = {
		.command = PROTOCOL_EXECUTED, .pid = PID, .name = { .bytes = uri, .size = strlen(uri) }
	};

	return session_take(session, &message, now_ns);
}

/* As two workers of pytest-xdist do. */
static void processes_at_the_same_time_are_refused(void **state)
{
	struct harness_result result = { 0 };
	struct buffer notices;
	struct session session;
	struct error err;

	for (int parallel = 0; parallel < 2; parallel++) {
		const struct protocol_message first = {
			.command = PROTOCOL_MARKER, .pid = 7, .marker = PROTOCOL_ROUND_START, .value = 20
		};
		const struct protocol_message second = {
			.command = PROTOCOL_MARKER, .pid = 8, .marker = PROTOCOL_ROUND_START, .value = 30
		};
		const struct protocol_message end = {
			.command = PROTOCOL_MARKER, .pid = 7, .marker = PROTOCOL_ROUND_END, .value = 40
		};

		session_init(&session);
		buffer_init(&notices, 4096);
		tell(&session, PROTOCOL_START, 10);
		session_take(&session, &first, 20);
		if (parallel) {
			tell(&session, PROTOCOL_START, 25);
			session_take(&session, &second, 30);
		}
		session_take(&session, &end, 40);
		tell(&session, PROTOCOL_STOP, 50);
		assert_int_equal(session_finish(&session, 60, &result, &notices, &err), !parallel);
		if (parallel)
			assert_non_null(
				strstr(err.message, "processes 8 and 7 of the suite ran benchmarks at the same time"));
		assert_true(!parallel || err.code == ERROR_EMPTY);
		harness_result_deinit(&result);
		result = (struct harness_result){ 0 };
		session_deinit(&session);
		buffer_deinit(&notices);
	}
}

static void add_round(struct session *session, uint64_t start_ns, uint64_t end_ns)
{
	assert_int_equal(mark(session, PROTOCOL_ROUND_START, start_ns), PROTOCOL_ACK);
	assert_int_equal(mark(session, PROTOCOL_ROUND_END, end_ns), PROTOCOL_ACK);
}

/* A window of `rounds` rounds of 10 ns each, from start + 1 on. */
static void add_window(struct session *session, const char *uri, int64_t start_ns, int rounds)
{
	assert_int_equal(tell(session, PROTOCOL_START, start_ns), PROTOCOL_ACK);
	for (int i = 0; i < rounds; i++)
		add_round(
			session, (uint64_t)start_ns + 1 + (uint64_t)i * 20, (uint64_t)start_ns + 11 + (uint64_t)i * 20);
	assert_int_equal(tell(session, PROTOCOL_STOP, start_ns + 1 + rounds * 20), PROTOCOL_ACK);
	if (uri)
		assert_int_equal(name(session, uri, start_ns + 2 + rounds * 20), PROTOCOL_ACK);
}

static void finish(struct session *session, int64_t end_ns, struct harness_result *result, struct buffer *notices)
{
	struct error err;

	*result = (struct harness_result){ 0 };
	buffer_init(notices, 4096);
	if (!session_finish(session, end_ns, result, notices, &err))
		fail_msg("%s", err.message);
	session_deinit(session);
}

static void release(struct harness_result *result, struct buffer *notices)
{
	harness_result_deinit(result);
	buffer_deinit(notices);
}

static void test_names_come_after_their_windows(void **state)
{
	struct harness_result result;
	struct session session;
	struct buffer notices;

	session_init(&session);
	assert_int_equal(tell(&session, PROTOCOL_MODE, 1), PROTOCOL_MODE_IS);
	add_window(&session, "a", 100, 3);
	add_window(&session, "b", 300, 2);
	add_window(&session, "a", 500, 0);
	finish(&session, 1000, &result, &notices);
	assert_int_equal(result.window_count, 3);
	assert_string_equal(result.windows[0].uri, "a");
	assert_int_equal(result.windows[0].pid, PID);
	assert_int_equal(result.windows[0].start_ns, 100);
	assert_int_equal(result.windows[0].end_ns, 161);
	assert_int_equal(result.windows[0].round_count, 3);
	assert_int_equal(result.windows[0].rounds[1].start_ns, 121);
	assert_int_equal(result.windows[0].rounds[1].end_ns, 131);
	assert_string_equal(result.windows[1].uri, "b");
	assert_int_equal(result.windows[1].round_count, 2);
	assert_string_equal(result.windows[2].uri, "a");
	assert_int_equal(result.windows[2].round_count, 0);
	assert_int_equal(notices.size, 0);
	release(&result, &notices);
}

/* criterion's warm-up is before its window; go sends all rounds behind it. */
static void test_rounds_belong_where_their_times_lie(void **state)
{
	struct harness_result result;
	struct session session;
	struct buffer notices;

	session_init(&session);
	add_round(&session, 10, 20);
	add_window(&session, NULL, 100, 0);
	add_round(&session, 50, 60);
	tell(&session, PROTOCOL_START, 200);
	tell(&session, PROTOCOL_STOP, 400);
	add_round(&session, 300, 350);
	add_round(&session, 210, 250);
	add_round(&session, 240, 260); /* within another */
	add_round(&session, 390, 410); /* beyond the end */
	name(&session, "go", 500);
	finish(&session, 1000, &result, &notices);
	assert_int_equal(result.window_count, 2);
	assert_null(result.windows[0].uri);
	assert_int_equal(result.windows[0].round_count, 0);
	assert_int_equal(result.windows[1].round_count, 2);
	assert_int_equal(result.windows[1].rounds[0].start_ns, 210);
	assert_int_equal(result.windows[1].rounds[1].start_ns, 300);
	assert_non_null(strstr(notices.data, "2 rounds without"));
	assert_non_null(strstr(notices.data, "one was cut off"));
	release(&result, &notices);
}

static void test_windows_that_never_close(void **state)
{
	struct harness_result result;
	struct session session;
	struct buffer notices;

	session_init(&session);
	tell(&session, PROTOCOL_STOP, 50); /* of none */
	tell(&session, PROTOCOL_START, 100);
	tell(&session, PROTOCOL_START, 200);
	mark(&session, PROTOCOL_ROUND_START, 210);
	finish(&session, 300, &result, &notices);
	assert_int_equal(result.window_count, 2);
	assert_int_equal(result.windows[0].end_ns, 200);
	assert_int_equal(result.windows[1].end_ns, 300);
	assert_non_null(strstr(notices.data, "one never ended"));
	assert_non_null(strstr(notices.data, "2 were cut off"));
	release(&result, &notices);
}

static void test_what_makes_no_sense_is_counted(void **state)
{
	struct harness_result result;
	struct session session;
	struct buffer notices;
	struct protocol_message version = { .command = PROTOCOL_VERSION, .value = 3 };

	session_init(&session);
	assert_int_equal(session_take(&session, &version, 1), PROTOCOL_ERR);
	version.value = 0;
	assert_int_equal(session_take(&session, &version, 1), PROTOCOL_ERR);
	version.value = 1;
	assert_int_equal(session_take(&session, &version, 1), PROTOCOL_ACK);
	assert_int_equal(tell(&session, PROTOCOL_ACK, 1), PROTOCOL_ERR);
	assert_int_equal(mark(&session, (enum protocol_marker)77, 5), PROTOCOL_ERR);
	assert_int_equal(mark(&session, PROTOCOL_ROUND_START, UINT64_MAX), PROTOCOL_ERR);
	name(&session, "of nothing", 10);
	add_window(&session, "a\x1b[31m\xff", 100, 1);
	name(&session, "again", 200);
	mark(&session, PROTOCOL_ROUND_END, 205);
	mark(&session, PROTOCOL_ROUND_START, 210);
	mark(&session, PROTOCOL_ROUND_END, 205);
	finish(&session, 300, &result, &notices);
	assert_int_equal(result.window_count, 1);
	assert_string_equal(result.windows[0].uri, "a\xef\xbf\xbd[31m\xef\xbf\xbd");
	assert_non_null(strstr(notices.data, "3 commands"));
	assert_non_null(strstr(notices.data, "2 names came without"));
	assert_non_null(strstr(notices.data, "2 rounds without"));
	release(&result, &notices);
}

static void integrate(struct session *session, const char *harness, const char *version)
{
	struct protocol_message message = {
		.command = PROTOCOL_INTEGRATION,
		.name = { .bytes = harness, .size = strlen(harness) },
		.version = { .bytes = version, .size = strlen(version) },
	};

	assert_int_equal(session_take(session, &message, 1), PROTOCOL_ACK);
}

static void test_several_harnesses(void **state)
{
	struct harness_result result;
	struct session session;
	struct buffer notices;

	session_init(&session);
	integrate(&session, "pytest-codspeed", "5.0.4");
	integrate(&session, "codspeed-rust", "5.0.1");
	integrate(&session, "pytest-codspeed", "5.0.4");
	finish(&session, 1, &result, &notices);
	assert_string_equal(result.integration, "pytest-codspeed 5.0.4, codspeed-rust 5.0.1");
	release(&result, &notices);
}

static void test_ten_thousand_benchmarks(void **state)
{
	enum { MANY = 10000 };
	struct harness_result result;
	struct session session;
	struct buffer notices;
	char uri[32];

	session_init(&session);
	for (int i = 0; i < MANY; i++) {
		snprintf(uri, sizeof(uri), "bench::%d", i);
		add_window(&session, uri, 1000 * (i + 1), 20);
	}
	finish(&session, INT64_MAX, &result, &notices);
	assert_int_equal(result.window_count, MANY);
	assert_string_equal(result.windows[MANY - 1].uri, "bench::9999");
	assert_int_equal(result.windows[MANY - 1].round_count, 20);
	assert_int_equal(notices.size, 0);
	release(&result, &notices);
}

static void test_out_of_memory(void **state)
{
	for (size_t n = 0;; n++) {
		struct harness_result result = { 0 };
		struct session session;
		struct error err;
		bool ok;

		session_init(&session);
		failing_malloc_after(n);
		tell(&session, PROTOCOL_START, 100);
		mark(&session, PROTOCOL_ROUND_START, 110);
		mark(&session, PROTOCOL_ROUND_END, 120);
		tell(&session, PROTOCOL_STOP, 200);
		name(&session, "a", 210);
		ok = session_finish(&session, 300, &result, NULL, &err);
		failing_malloc_after(SIZE_MAX);
		session_deinit(&session);
		harness_result_deinit(&result);
		if (ok)
			return;
		assert_int_equal(err.code, ERROR_MEMORY);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_at_the_same_time_are_refused),
		cmocka_unit_test(test_names_come_after_their_windows),
		cmocka_unit_test(test_rounds_belong_where_their_times_lie),
		cmocka_unit_test(test_windows_that_never_close),
		cmocka_unit_test(test_what_makes_no_sense_is_counted),
		cmocka_unit_test(test_several_harnesses),
		cmocka_unit_test(test_ten_thousand_benchmarks),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
