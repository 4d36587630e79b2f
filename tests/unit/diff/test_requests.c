/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/ebpf/requests_shared.h"
#include "synthetic_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>

/* A service of one run of ten seconds that answered requests. */
static struct profile *service(void)
{
	struct synthetic synthetic = synthetic_create();
	struct profile *profile;

	synthetic_run(&synthetic, false, 10000);
	synthetic_add(&synthetic, synthetic_stack(&synthetic, "main;serve"), 1000, -1);
	profile = synthetic_finish(&synthetic);
	profile->requests.source = PROFILE_WORK_SOCKETS;
	return profile;
}

/* Adds exchanges of a kind that took about this long. */
static void add(struct profile *profile, enum profile_exchange_kind kind, uint64_t count, double ns)
{
	const struct profile_exchanges exchanges = { .pid = 7, .kind = kind, .count = count };
	uint32_t id;
	struct error err;

	assert_true(profile_add_exchanges(profile, &exchanges, &id, &err));
	assert_true(profile_add_latency(
		profile, &(struct profile_latency){ id, (uint16_t)requests_bucket((uint64_t)ns), count }, &err));
	assert_true(profile_finish(profile, &err));
}

/* A service whose answers have latencies spread by a factor of two around a median, and a tail. */
static struct profile *serving(uint64_t count, double median_ns, double tail_ns)
{
	struct profile *profile = service();

	for (int i = -8; i <= 8; i++)
		add(profile, PROFILE_EXCHANGE_ANSWERED, count / 18, median_ns * pow(2, i / 8.0));
	add(profile, PROFILE_EXCHANGE_ANSWERED, count / 18, tail_ns);
	return profile;
}

static struct diff *compare(struct profile *base, struct profile *head)
{
	return synthetic_compare(base, head, NULL);
}

static void both_sides_have_their_figures(void **state)
{
	struct profile *base = service(), *head = service();
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	const struct diff_requests *requests;

	add(base, PROFILE_EXCHANGE_ANSWERED, 1000, 1e6);
	add(base, PROFILE_EXCHANGE_CALLED_OUT, 20, 5e6);
	diff = compare(base, head);
	requests = &diff->requests[DIFF_BASE];
	assert_int_equal(requests->source, PROFILE_WORK_SOCKETS);
	assert_true(requests->count == 1000 && requests->per_s == 100);
	assert_true(requests->calls_out == 20 && requests->calls_out_per_s == 2);
	assert_true(fabs(requests->p50_ns / 1e6 - 1) < 1.0 / 16 && requests->p99_ns >= requests->p50_ns);
	assert_true(fabs(requests->calls_out_p50_ns / 5e6 - 1) < 1.0 / 16);
	assert_true(diff->requests[DIFF_HEAD].count == 0 && isnan(diff->requests[DIFF_HEAD].p50_ns));
	assert_false(diff->latency.is_known);
	assert_int_equal(diff->latency.state, DIFF_STATE_UNPROVEN);
}

static void a_single_profile_has_its_figures(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = serving(1800, 1e6, 4e6);
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	struct error err;

	profile->runs[0].duration_ns = 0;
	assert_true(diff_create_single(profile, NULL, &diff, &err));
	assert_true(diff->requests[DIFF_HEAD].count == 1800);
	assert_true(diff->requests[DIFF_HEAD].per_s == 0);
	assert_int_equal(diff->cause.function, PROFILE_NONE);
}

/* ---- Latencies ---- */

static enum diff_state state_of(uint64_t count, double base_ns, double head_ns, double base_tail, double head_tail)
{
	CLEANUP(diff_cleanup)
	struct diff *diff = compare(serving(count, base_ns, base_tail), serving(count, head_ns, head_tail));

	for (int side = 0; side < DIFF_SIDES; side++) {
		assert_true(diff->latency.p50_low_ns[side] <= diff->requests[side].p50_ns);
		assert_true(diff->latency.p50_high_ns[side] >= diff->requests[side].p50_ns);
	}
	return diff->latency.state;
}

static void clear_changes_are_proven_in_their_direction(void **state)
{
	assert_int_equal(state_of(18000, 17e6, 103e6, 41e6, 290e6), DIFF_STATE_MORE);
	assert_int_equal(state_of(18000, 103e6, 17e6, 290e6, 41e6), DIFF_STATE_LESS);
	/* Only the tail, by a factor of ten. */
	assert_int_equal(state_of(18000, 17e6, 17e6, 41e6, 410e6), DIFF_STATE_MORE);
	/* Opposite directions decide nothing. */
	assert_int_equal(state_of(18000, 17e6, 170e6, 4100e6, 205e6), DIFF_STATE_UNPROVEN);
}

static void what_two_starts_may_differ_by_is_not_proven(void **state)
{
	assert_int_equal(state_of(1800000, 17e6, 20e6, 41e6, 41e6), DIFF_STATE_UNPROVEN);
	assert_int_equal(state_of(1800000, 17e6, 17e6, 41e6, 70e6), DIFF_STATE_SAME);
	assert_int_equal(state_of(1800000, 17e6, 17e6, 41e6, 41e6), DIFF_STATE_SAME);
}

static void few_answers_prove_nothing(void **state)
{
	assert_int_equal(state_of(72, 17e6, 170e6, 41e6, 410e6), DIFF_STATE_UNPROVEN);
	/* Enough for the median, too few for the tail. */
	assert_int_equal(state_of(180, 17e6, 17e6, 41e6, 4100e6), DIFF_STATE_UNPROVEN);
	assert_int_equal(state_of(180, 17e6, 170e6, 41e6, 410e6), DIFF_STATE_MORE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_sides_have_their_figures),
		cmocka_unit_test(a_single_profile_has_its_figures),
		cmocka_unit_test(clear_changes_are_proven_in_their_direction),
		cmocka_unit_test(what_two_starts_may_differ_by_is_not_proven),
		cmocka_unit_test(few_answers_prove_nothing),
	};

	return cmocka_run_group_tests_name("requests", tests, NULL, NULL);
}
