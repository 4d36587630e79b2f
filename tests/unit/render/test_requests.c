/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/requests.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>
#include <string.h>

/* A diff that has requests only. */
struct made {
	struct diff diff;
	struct buffer out;
};

static void made_deinit(struct made *made)
{
	string_table_destroy(made->diff.strings);
	buffer_deinit(&made->out);
}

static const struct diff_requests counted = {
	.source = PROFILE_WORK_SOCKETS,
	.count = 40001,
	.per_s = 4000.1,
	.p50_ns = 17.04e6,
	.p90_ns = 30e6,
	.p99_ns = 41e6,
	.calls_out_p50_ns = NAN,
	.calls_out_p99_ns = NAN,
	.one_in = 1,
};

static struct made make(struct diff_requests base, struct diff_requests head)
{
	struct made made = { .diff = { .sides = DIFF_SIDES, .requests = { base, head } } };
	struct error err;

	assert_true(string_table_create(1 << 20, &made.diff.strings, &err));
	buffer_init(&made.out, 1 << 20);
	return made;
}

static void assert_words(struct made *made, const char *expected)
{
	render_requests_words(&made->diff, &made->out);
	buffer_append(&made->out, "", 0);
	assert_false(made->out.failed);
	assert_string_equal(made->out.data, expected);
}

static void assert_report(struct made *made, const char *expected)
{
	render_requests_report_words(&made->diff, &made->out);
	buffer_append(&made->out, "", 0);
	assert_string_equal(made->out.data, expected);
}

static void both_sides_are_told_in_one_sentence(void **state)
{
	struct diff_requests head = counted;
	CLEANUP(made_deinit) struct made made = { 0 };

	head.per_s = 3990;
	head.p50_ns = 103e6;
	head.p99_ns = 290e6;
	made = make(counted, head);
	made.diff.latency.state = DIFF_STATE_MORE;
	assert_words(&made, "4,000 requests a second before, 3,990 after; p50 17.0 → 103 ms, p99 41.0 → 290 ms.");
}

static void units_that_differ_are_both_written(void **state)
{
	struct diff_requests base = counted;
	CLEANUP(made_deinit) struct made made = { 0 };

	base.p50_ns = 900e3;
	base.per_s = 0.0123;
	made = make(base, counted);
	made.diff.latency.state = DIFF_STATE_UNPROVEN;
	assert_words(&made,
		"0.012 requests a second before, 4,000 after; p50 900 µs → 17.0 ms, p99 41.0 → 41.0 ms (not proven to differ).");
}

static void equal_latencies_need_no_proof(void **state)
{
	CLEANUP(made_deinit) struct made made = make(counted, counted);

	made.diff.latency.state = DIFF_STATE_UNPROVEN;
	assert_words(&made, "4,000 requests a second before, 4,000 after; p50 17.0 → 17.0 ms, p99 41.0 → 41.0 ms.");
}

static void calls_out_are_told_apart(void **state)
{
	struct diff_requests base = counted, head = counted;
	CLEANUP(made_deinit) struct made made = { 0 };

	base.count = head.count = 0;
	base.calls_out = 100;
	base.calls_out_per_s = 10;
	base.calls_out_p50_ns = 1e6;
	base.calls_out_p99_ns = 2e6;
	head.calls_out = 0;
	made = make(base, head);
	assert_words(&made, "Calls out: 10.0 → 0 a second.");
	made.out.size = 0;
	made.diff.requests[DIFF_HEAD] = base;
	made.diff.requests[DIFF_HEAD].calls_out_p50_ns = 5e6;
	assert_words(&made, "Calls out: 10.0 → 10.0 a second; p50 1.00 → 5.00 ms, p99 2.00 → 2.00 ms.");
}

static void one_side_that_was_not_counted_is_named(void **state)
{
	CLEANUP(made_deinit) struct made made = make(counted, (struct diff_requests){ 0 });
	struct diff_requests none = { .source = PROFILE_WORK_SOCKETS };

	assert_words(&made, "4,000 requests a second before; not counted after.");
	made.out.size = 0;
	made.diff.requests[DIFF_BASE] = none;
	made.diff.requests[DIFF_HEAD] = counted;
	assert_words(&made, "4,000 requests a second after; none before.");
}

static void nothing_is_said_of_nothing(void **state)
{
	CLEANUP(made_deinit) struct made made = make((struct diff_requests){ 0 }, (struct diff_requests){ 0 });

	assert_false(render_has_requests(&made.diff, DIFF_BASE) || render_has_requests(&made.diff, DIFF_HEAD));
	assert_words(&made, "");
	assert_report(&made, "");
	/* What nothing counted is no number of requests. */
	made.diff.requests[DIFF_HEAD].count = 7;
	assert_false(render_has_requests(&made.diff, DIFF_HEAD));
}

static void other_work_has_its_name_and_doubts_are_said(void **state)
{
	CLEANUP(made_deinit) struct made made = make(counted, counted);
	struct error err;

	for (int side = 0; side < DIFF_SIDES; side++) {
		struct diff_requests *requests = &made.diff.requests[side];

		requests->p50_ns = NAN;
		requests->source = side == DIFF_BASE ? PROFILE_WORK_EVENT : PROFILE_WORK_STATED;
	}
	made.diff.requests[DIFF_HEAD].per_s = 0;
	assert_true(
		string_table_add(made.diff.strings, "usdt:./a:b:c", 12, &made.diff.requests[DIFF_BASE].event, &err));
	assert_true(string_table_add(made.diff.strings, "both differ", 11, &made.diff.requests_doubt, &err));
	assert_words(&made,
		"40,001 units of work before (usdt:./a:b:c), 40,001 requests after (as stated). Costs are not compared per request: both differ.");
}

static void a_report_tells_of_one_profile(void **state)
{
	struct diff_requests requests = counted;
	CLEANUP(made_deinit) struct made made = make((struct diff_requests){ 0 }, counted);

	assert_report(&made,
		"Requests: 40,001 answered, 4,000 a second; half within 17.0 ms, 90 % within 30.0 ms, 99 % within 41.0 ms.");
	requests.one_in = 8;
	requests.calls_out = 120;
	requests.calls_out_per_s = 12;
	requests.calls_out_p50_ns = 210e3;
	requests.calls_out_p99_ns = 1.9e6;
	requests.p50_ns = requests.p90_ns = requests.p99_ns = NAN;
	made.diff.requests[DIFF_HEAD] = requests;
	made.out.size = 0;
	assert_report(&made,
		"Requests: 40,001 answered, 4,000 a second, estimated from one request in 8. Calls out: 120, 12.0 a second; half within 210 µs, 99 % within 1.90 ms.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_sides_are_told_in_one_sentence),
		cmocka_unit_test(units_that_differ_are_both_written),
		cmocka_unit_test(equal_latencies_need_no_proof),
		cmocka_unit_test(calls_out_are_told_apart),
		cmocka_unit_test(one_side_that_was_not_counted_is_named),
		cmocka_unit_test(nothing_is_said_of_nothing),
		cmocka_unit_test(other_work_has_its_name_and_doubts_are_said),
		cmocka_unit_test(a_report_tells_of_one_profile),
	};

	return cmocka_run_group_tests_name("requests", tests, NULL, NULL);
}
