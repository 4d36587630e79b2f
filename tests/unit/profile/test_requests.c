/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"
#include "sampler/ebpf/requests_shared.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>
#include <string.h>

static const int64_t second_ns = 1000000000;

/* A profile of two runs of ten seconds, whose requests were counted on sockets. */
static struct profile *two_runs(void)
{
	struct profile *profile = NULL;
	uint32_t run;
	struct error err;

	assert_true(profile_create(&profile, &err));
	profile->requests.source = PROFILE_WORK_SOCKETS;
	for (int i = 0; i < 2; i++)
		assert_true(profile_add_run(profile,
			&(struct profile_run){ .duration_ns = 10 * second_ns, .exit_status = -1 }, &run, &err));
	return profile;
}

static uint32_t exchanges_of(
	struct profile *profile, uint32_t run, int32_t pid, enum profile_exchange_kind kind, uint64_t count)
{
	const struct profile_exchanges exchanges = { .run = run, .pid = pid, .kind = kind, .count = count };
	uint32_t id;
	struct error err;

	assert_true(profile_add_exchanges(profile, &exchanges, &id, &err));
	return id;
}

static void read_at(struct profile *profile, uint32_t exchanges, int64_t time_ns, uint64_t count)
{
	struct error err;

	assert_true(profile_add_exchange_reading(
		profile, &(struct profile_exchange_reading){ exchanges, time_ns, count }, &err));
}

static void finish(struct profile *profile)
{
	struct error err;

	assert_true(profile_finish(profile, &err));
	if (!profile_validate(profile, &err))
		fail_msg("%s", err.message);
}

static double answered(const struct profile *profile, int64_t from_ns, int64_t until_ns)
{
	return profile_requests_between(profile, 0, PROFILE_EXCHANGE_ANSWERED, from_ns, until_ns);
}

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-6 * fmax(1, fabs(expected))))
		fail_msg("%.9g is not %.9g", value, expected);
}

/* ---- Buckets ---- */

static void buckets_follow_each_other_without_gaps(void **state)
{
	assert_int_equal(profile_latency_bucket_start(0), 0);
	for (uint16_t i = 0; i < PROFILE_LATENCY_BUCKETS; i++) {
		uint64_t start = profile_latency_bucket_start(i), end = profile_latency_bucket_end(i);

		assert_true(start < end);
		assert_int_equal((uint16_t)requests_bucket(start), i);
		assert_int_equal((uint16_t)requests_bucket(end - 1), i);
		if (i + 1 < PROFILE_LATENCY_BUCKETS)
			assert_int_equal((uint16_t)requests_bucket(end), i + 1);
		/* At most 1/16 wider than its lower end. */
		if (start >= 16)
			assert_true(end - start <= start / 16);
	}
	assert_int_equal((uint16_t)requests_bucket(UINT64_MAX), PROFILE_LATENCY_BUCKETS - 1);
	assert_true(profile_latency_bucket_end(PROFILE_LATENCY_BUCKETS - 1) == UINT64_MAX);
}

static void quantiles_lie_in_the_bucket_that_reaches_the_part(void **state)
{
	uint64_t counts[PROFILE_LATENCY_BUCKETS] = { 0 };

	assert_true(isnan(profile_latency_quantile(counts, 0.5)));
	assert_true(isnan(profile_latency_mean(counts)));
	/* 90 of 1 µs, 9 of 1 ms, 1 of 1 s. */
	counts[(uint16_t)requests_bucket(1000)] = 90;
	counts[(uint16_t)requests_bucket(1000000)] = 9;
	counts[(uint16_t)requests_bucket((uint64_t)second_ns)] = 1;
	assert_int_equal((uint16_t)requests_bucket((uint64_t)profile_latency_quantile(counts, 0.5)),
		(uint16_t)requests_bucket(1000));
	/* Buckets are a sixteenth of their start at most, and latencies in the middle. */
	assert_true(
		fabs(profile_latency_mean(counts) / (0.9 * 1e3 + 0.09 * 1e6 + 0.01 * (double)second_ns) - 1) < 0.04);
	/* Exactly at the end of the bucket. */
	assert_near(profile_latency_quantile(counts, 0.9),
		(double)profile_latency_bucket_end((uint16_t)requests_bucket(1000)));
	assert_int_equal((uint16_t)requests_bucket((uint64_t)profile_latency_quantile(counts, 0.901)),
		(uint16_t)requests_bucket(1000000));
	assert_near(profile_latency_quantile(counts, 0.99),
		(double)profile_latency_bucket_end((uint16_t)requests_bucket(1000000)));
	assert_near(profile_latency_quantile(counts, 1),
		(double)profile_latency_bucket_end((uint16_t)requests_bucket((uint64_t)second_ns)));
	assert_near(profile_latency_quantile(counts, 0),
		(double)profile_latency_bucket_start((uint16_t)requests_bucket(1000)));
}

static void quantiles_of_extreme_buckets_are_finite(void **state)
{
	uint64_t counts[PROFILE_LATENCY_BUCKETS] = { 0 };

	counts[PROFILE_LATENCY_BUCKETS - 1] = UINT64_MAX;
	counts[0] = 1;
	assert_true(profile_latency_quantile(counts, 0.99) <= (double)UINT64_MAX);
	assert_true(profile_latency_quantile(counts, 0.99) > 1e18);
}

/* ---- Adding ---- */

static void the_exchanges_of_a_process_are_one(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = two_runs();
	struct profile_exchanges more = {
		.pid = 7, .count = 5, .connections = 2, .received_bytes = 10, .sent_bytes = 20
	};
	uint32_t first = exchanges_of(profile, 0, 7, PROFILE_EXCHANGE_ANSWERED, 1), again;
	struct error err;

	assert_true(profile_intern(profile, "server", &more.process_name, &err));
	assert_true(profile_add_exchanges(profile, &more, &again, &err));
	assert_int_equal(first, again);
	assert_int_not_equal(first, exchanges_of(profile, 0, 7, PROFILE_EXCHANGE_CALLED_OUT, 3));
	assert_int_not_equal(first, exchanges_of(profile, 1, 7, PROFILE_EXCHANGE_ANSWERED, 4));
	assert_int_equal(profile->requests.exchanges[first].count, 6);
	assert_int_equal(profile->requests.exchanges[first].sent_bytes, 20);
	assert_string_equal(profile_string(profile, profile->requests.exchanges[first].process_name), "server");
	finish(profile);
	assert_int_equal(profile_requests_total(profile, PROFILE_EXCHANGE_ANSWERED), 10);
	assert_int_equal(profile_requests_total(profile, PROFILE_EXCHANGE_CALLED_OUT), 3);
}

static void what_is_not_there_is_refused(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = two_runs();
	uint32_t id, known = exchanges_of(profile, 0, 7, PROFILE_EXCHANGE_ANSWERED, 0);
	struct error err;

	assert_false(profile_add_exchanges(profile, &(struct profile_exchanges){ .run = 2 }, &id, &err));
	assert_int_equal(err.code, ERROR_FORMAT);
	assert_false(profile_add_exchange_reading(profile, &(struct profile_exchange_reading){ 1, 5, 1 }, &err));
	assert_false(profile_add_exchange_reading(profile, &(struct profile_exchange_reading){ known, -1, 1 }, &err));
	assert_false(profile_add_latency(profile, &(struct profile_latency){ 1, 5, 1 }, &err));
	assert_false(
		profile_add_latency(profile, &(struct profile_latency){ known, PROFILE_LATENCY_BUCKETS, 1 }, &err));
	assert_int_equal(profile->requests.reading_count + profile->requests.latency_count, 0);
	assert_int_equal(profile_requests_total(profile, PROFILE_EXCHANGE_ANSWERED), 0);
	finish(profile);
}

static void finishing_sorts_exchanges_and_all_that_refers_to_them(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = two_runs();
	uint32_t last = exchanges_of(profile, 1, 5, PROFILE_EXCHANGE_ANSWERED, 0),
		 middle = exchanges_of(profile, 0, 9, PROFILE_EXCHANGE_CALLED_OUT, 0),
		 first = exchanges_of(profile, 0, 9, PROFILE_EXCHANGE_ANSWERED, 0);
	const struct profile_requests *requests = &profile->requests;
	struct error err;

	read_at(profile, last, 3, 30);
	read_at(profile, first, 2, 2);
	read_at(profile, last, 1, 10);
	read_at(profile, first, 1, 1);
	read_at(profile, last, 3, 5);
	for (int i = 0; i < 2; i++) {
		assert_true(profile_add_latency(profile, &(struct profile_latency){ last, 9, 3 }, &err));
		assert_true(profile_add_latency(profile, &(struct profile_latency){ middle, 4, 1 }, &err));
	}
	finish(profile);
	assert_int_equal(requests->exchanges[0].count, 3);
	assert_int_equal(requests->exchanges[1].kind, PROFILE_EXCHANGE_CALLED_OUT);
	assert_int_equal(requests->exchanges[2].count, 45);
	assert_int_equal(requests->reading_count, 4);
	assert_true(requests->readings[2].exchanges == 2 && requests->readings[2].time_ns == 1);
	assert_int_equal(requests->readings[2].count, 10);
	assert_int_equal(requests->readings[3].count, 35);
	assert_int_equal(requests->latency_count, 2);
	assert_true(requests->latencies[0].exchanges == 1 && requests->latencies[0].count == 2);
	assert_true(requests->latencies[1].exchanges == 2 && requests->latencies[1].count == 6);
	/* They are found by their new ids. */
	assert_int_equal(exchanges_of(profile, 1, 5, PROFILE_EXCHANGE_ANSWERED, 1), 2);
	finish(profile);
}

/* ---- Between ---- */

static void requests_are_spread_between_readings(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = two_runs();
	uint32_t id = exchanges_of(profile, 0, 7, PROFILE_EXCHANGE_ANSWERED, 0),
		 other = exchanges_of(profile, 0, 8, PROFILE_EXCHANGE_ANSWERED, 0),
		 out = exchanges_of(profile, 0, 7, PROFILE_EXCHANGE_CALLED_OUT, 0);

	read_at(profile, id, second_ns, 100);
	read_at(profile, id, 3 * second_ns, 40);
	read_at(profile, id, 4 * second_ns, 0);
	read_at(profile, id, 5 * second_ns, 10);
	read_at(profile, other, 10 * second_ns, 1000);
	read_at(profile, out, 10 * second_ns, 7);
	finish(profile);
	assert_near(answered(profile, 0, 10 * second_ns), 1150);
	assert_near(answered(profile, 0, second_ns / 2), 50 + 50);
	assert_near(answered(profile, second_ns / 2, 2 * second_ns), 50 + 20 + 150);
	assert_near(answered(profile, 3 * second_ns, 4 * second_ns), 100);
	assert_near(answered(profile, 5 * second_ns, 6 * second_ns), 100);
	assert_near(answered(profile, 10 * second_ns, 20 * second_ns), 0);
	assert_near(answered(profile, -5, INT64_MAX), 1150);
	assert_near(profile_requests_between(profile, 0, PROFILE_EXCHANGE_CALLED_OUT, 0, 5 * second_ns), 3.5);
	assert_near(profile_requests_between(profile, 1, PROFILE_EXCHANGE_ANSWERED, 0, 10 * second_ns), 0);
}

/* Whatever the cuts are, their parts add up to the whole. */
static void parts_of_a_time_add_up(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = two_runs();
	uint32_t id = exchanges_of(profile, 0, 7, PROFILE_EXCHANGE_ANSWERED, 50);
	uint64_t random = 12345;

	for (int i = 0; i < 40; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		read_at(profile, id, (int64_t)(random >> 33) % (10 * second_ns), random >> 60);
	}
	read_at(profile, id, 0, 3);
	finish(profile);
	for (int64_t parts = 1; parts < 50; parts += 7) {
		int64_t length = 10 * second_ns / parts, from = 0;
		double sum = 0;

		for (int64_t i = 0; i < parts; i++, from += length)
			sum += answered(profile, from, i + 1 < parts ? from + length : INT64_MAX);
		assert_near(sum, (double)profile_requests_total(profile, PROFILE_EXCHANGE_ANSWERED));
	}
}

static void a_count_without_readings_is_spread_over_the_run(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = two_runs();
	uint32_t id = exchanges_of(profile, 0, 0, PROFILE_EXCHANGE_ANSWERED, 500);

	finish(profile);
	assert_near(answered(profile, 0, 2 * second_ns), 100);
	/* Readings tell where a part of them was. */
	read_at(profile, id, second_ns, 300);
	finish(profile);
	assert_near(answered(profile, 0, second_ns), 300 + 50);
	/* The length of the run is not known. */
	profile->runs[0].duration_ns = 0;
	assert_near(answered(profile, 0, 100), 500 + 300 * 100e-9);
	assert_near(answered(profile, 1, second_ns), 300);
}

static void an_empty_profile_has_none(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	uint64_t counts[PROFILE_LATENCY_BUCKETS];
	struct error err;

	assert_true(profile_create(&profile, &err));
	finish(profile);
	assert_int_equal(profile->requests.source, PROFILE_WORK_UNKNOWN);
	assert_int_equal(profile->requests.one_in, 1);
	assert_int_equal(profile_requests_total(profile, PROFILE_EXCHANGE_ANSWERED), 0);
	assert_near(answered(profile, 0, INT64_MAX), 0);
	profile_latency_counts(profile, PROFILE_EXCHANGE_ANSWERED, counts);
	assert_true(isnan(profile_latency_quantile(counts, 0.5)));
}

static void latencies_are_summed_by_kind(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = two_runs();
	uint32_t ids[] = { exchanges_of(profile, 0, 7, PROFILE_EXCHANGE_ANSWERED, 9),
		exchanges_of(profile, 1, 8, PROFILE_EXCHANGE_ANSWERED, 9),
		exchanges_of(profile, 1, 8, PROFILE_EXCHANGE_CALLED_OUT, 9) };
	uint64_t counts[PROFILE_LATENCY_BUCKETS];
	struct error err;

	for (uint64_t i = 0; i < 3; i++)
		assert_true(profile_add_latency(profile, &(struct profile_latency){ ids[i], 100, 1 + i }, &err));
	finish(profile);
	profile_latency_counts(profile, PROFILE_EXCHANGE_ANSWERED, counts);
	assert_int_equal(counts[100], 3);
	profile_latency_counts(profile, PROFILE_EXCHANGE_CALLED_OUT, counts);
	assert_int_equal(counts[100], 3);
	assert_int_equal(counts[99], 0);
}

/* ---- Checks ---- */

static void counts_saturate_and_are_refused(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = two_runs();
	uint32_t id = exchanges_of(profile, 0, 7, PROFILE_EXCHANGE_ANSWERED, UINT64_MAX);
	struct error err;

	read_at(profile, id, 1, UINT64_MAX);
	read_at(profile, id, 1, UINT64_MAX);
	assert_true(profile_add_latency(profile, &(struct profile_latency){ id, 1, UINT64_MAX }, &err));
	assert_true(profile_add_latency(profile, &(struct profile_latency){ id, 1, UINT64_MAX }, &err));
	assert_true(profile_finish(profile, &err));
	assert_true(profile->requests.exchanges[id].count == UINT64_MAX);
	assert_true(profile->requests.readings[0].count == UINT64_MAX);
	assert_true(profile->requests.latencies[0].count == UINT64_MAX);
	assert_false(profile_validate(profile, &err));
	assert_int_equal(err.code, ERROR_FORMAT);
}

/* A valid profile with two processes, readings and latencies. */
static struct profile *valid_profile(void)
{
	struct profile *profile = two_runs();
	struct error err;

	for (int32_t pid = 1; pid <= 2; pid++) {
		uint32_t id = exchanges_of(profile, 0, pid, PROFILE_EXCHANGE_ANSWERED, 0);

		read_at(profile, id, 10, 5);
		read_at(profile, id, 20, 5);
		assert_true(profile_add_latency(profile, &(struct profile_latency){ id, 3, 4 }, &err));
		assert_true(profile_add_latency(profile, &(struct profile_latency){ id, 4, 6 }, &err));
	}
	finish(profile);
	return profile;
}

static void contradictions_are_found(void **state)
{
	enum { CASES = 14 };
	struct error err;

	for (int i = 0; i < CASES; i++) {
		CLEANUP(profile_cleanup) struct profile *profile = valid_profile();
		struct profile_requests *r = &profile->requests;

		switch (i) {
		case 0:
			r->source = PROFILE_WORK_UNKNOWN;
			break;
		case 1:
			r->source = (enum profile_work_source)PROFILE_WORK_SOURCE_COUNT;
			break;
		case 2:
			r->event = 1000;
			break;
		case 3:
			r->one_in = 0;
			break;
		case 4:
			r->exchanges[1].pid = 1;
			break;
		case 5:
			r->exchanges[0].run = 2;
			break;
		case 6:
			r->exchanges[0].kind = (enum profile_exchange_kind)2;
			break;
		case 7:
			r->exchanges[0].process_name = 1000;
			break;
		case 8:
			r->exchanges[0].pid = -1;
			break;
		case 9:
			r->readings[1].time_ns = 10;
			break;
		case 10:
			r->readings[3].exchanges = 2;
			break;
		case 11:
			r->readings[1].count = 6;
			break;
		case 12:
			r->latencies[1].bucket = 3;
			break;
		case 13:
			r->exchanges[1].received_bytes = (uint64_t)INT64_MAX + 1;
			break;
		}
		if (profile_validate(profile, &err))
			fail_msg("case %d is accepted", i);
		assert_int_equal(err.code, ERROR_FORMAT);
	}
}

static bool builds(struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	uint32_t run, id;

	if (!profile_create(&profile, err) || !profile_add_run(profile, &(struct profile_run){ 0 }, &run, err))
		return false;
	for (int32_t pid = 9; pid > 0; pid--)
		if (!profile_add_exchanges(profile, &(struct profile_exchanges){ .pid = pid }, &id, err) ||
			!profile_add_exchange_reading(profile, &(struct profile_exchange_reading){ id, pid, 1 }, err) ||
			!profile_add_latency(profile, &(struct profile_latency){ id, 1, 1 }, err))
			return false;
	return profile_finish(profile, err);
}

static void every_failed_allocation_is_an_error(void **state)
{
	bool ok = false;

	for (size_t n = 0; !ok; n++) {
		struct error err = { 0 };

		assert_true(n < 1000);
		failing_malloc_after(n);
		ok = builds(&err);
		failing_malloc_after(SIZE_MAX);
		assert_true(ok || err.code == ERROR_MEMORY);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_follow_each_other_without_gaps),
		cmocka_unit_test(quantiles_lie_in_the_bucket_that_reaches_the_part),
		cmocka_unit_test(quantiles_of_extreme_buckets_are_finite),
		cmocka_unit_test(the_exchanges_of_a_process_are_one),
		cmocka_unit_test(what_is_not_there_is_refused),
		cmocka_unit_test(finishing_sorts_exchanges_and_all_that_refers_to_them),
		cmocka_unit_test(requests_are_spread_between_readings),
		cmocka_unit_test(parts_of_a_time_add_up),
		cmocka_unit_test(a_count_without_readings_is_spread_over_the_run),
		cmocka_unit_test(an_empty_profile_has_none),
		cmocka_unit_test(latencies_are_summed_by_kind),
		cmocka_unit_test(counts_saturate_and_are_refused),
		cmocka_unit_test(contradictions_are_found),
		cmocka_unit_test(every_failed_allocation_is_an_error),
	};

	return cmocka_run_group_tests_name("requests", tests, NULL, NULL);
}
