/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pprof_bytes.h"
#include "profile_fixture.h"

#include "profile/weights.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>
#include <string.h>

/* How many samples a profile was made of: files that tell it, and files that do not. */

static uint32_t value_type(const struct profile *profile, const char *type)
{
	for (uint32_t i = 0; i < profile->value_type_count; i++)
		if (strcmp(profile_string(profile, profile->value_types[i].type), type) == 0)
			return i;
	fail_msg("no value type %s", type);
	return 0;
}

static const char *default_type(const struct profile *profile)
{
	return profile_string(profile, profile->value_types[profile->default_value_type].type);
}

/* Samples behind a metric; -1: their number is not known. */
static int64_t samples_of(const struct profile *profile, const char *type)
{
	uint32_t counts = profile_metric(profile, value_type(profile, type)).counts;

	return counts == PROFILE_NONE ? -1 : profile_sum(profile, counts);
}

/* What is known of counts survives a file of our own and a merge. */
static void expect_kept(const struct profile *profile)
{
	CLEANUP(buffer_deinit) struct buffer file = written_profile(profile);
	CLEANUP(profile_cleanup) struct profile *again = read_profile(file.data, file.size), *merged = NULL;
	struct error err;

	assert_int_equal(again->value_type_count, profile->value_type_count);
	assert_int_equal(again->default_value_type, profile->default_value_type);
	assert_true(profile_create(&merged, &err));
	assert_true(profile_merge(merged, profile, &err) && profile_merge(merged, again, &err));
	for (uint32_t i = 0; i < profile->value_type_count; i++) {
		assert_int_equal(again->counts_of[i], profile->counts_of[i]);
		assert_int_equal(merged->counts_of[i], profile->counts_of[i]);
		assert_int_equal(profile_sum(again, i), profile_sum(profile, i));
		assert_int_equal(profile_sum(merged, i), 2 * profile_sum(profile, i));
	}
}

/* ---- Weights of folded stacks ---- */

/* `lines` numbers, the i-th `first + i * step`, times `unit`. */
static enum weights_kind kind_of(size_t lines, int64_t first, int64_t step, int64_t unit, int64_t *period)
{
	int64_t values[200];

	assert_true(lines <= 200);
	for (size_t i = 0; i < lines; i++)
		values[i] = (first + (int64_t)i * step) * unit;
	return weights_kind(values, lines, 1, period);
}

static void numbers_tell_what_they_are(void **state)
{
	static const struct {
		size_t lines;
		int64_t first, step, unit;
		enum weights_kind kind;
		int64_t period;
	} cases[] = {
		{ 100, 1, 1, 1, WEIGHTS_COUNTS, 1 },
		/* Ten lines that happen to be even, and those of someone who rounds. */
		{ 10, 1, 1, 2, WEIGHTS_COUNTS, 1 },
		{ 3, 1, 1, 10000, WEIGHTS_COUNTS, 1 },
		/* A program of few stacks that was sampled for long. */
		{ 20, 3000, 7, 1, WEIGHTS_COUNTS, 1 },
		{ 2, 100000, 1, 1, WEIGHTS_COUNTS, 1 },
		/* Milliseconds of a clock of 100 Hz; nanoseconds of one of 997 Hz, of few lines too. */
		{ 100, 1, 1, 10, WEIGHTS_MULTIPLES, 10 },
		{ 100, 1, 1, 1003009, WEIGHTS_MULTIPLES, 1003009 },
		{ 3, 1, 1, 1003009, WEIGHTS_MULTIPLES, 1003009 },
		{ 20, 3000, 7, 1003009, WEIGHTS_MULTIPLES, 1003009 },
		/* One number is a multiple of itself. */
		{ 1, 1, 1, 1003009, WEIGHTS_COUNTS, 1 },
		{ 1, 1, 1, 5000000000, WEIGHTS_AMOUNTS, 1 },
		/* Cycles of changing periods; microseconds in nanoseconds; bytes, which are multiples of 16. */
		{ 100, 1000003, 7919, 1, WEIGHTS_AMOUNTS, 1 },
		{ 100, 40001, 7919, 1000, WEIGHTS_AMOUNTS, 1 },
		{ 100, 3001, 1001, 16, WEIGHTS_AMOUNTS, 1 },
		/* Bytes of a heap with few and small objects, too. */
		{ 100, 1, 1, 8, WEIGHTS_AMOUNTS, 1 },
		{ 100, 1, 1, 10000, WEIGHTS_MULTIPLES, 10000 },
		/* Three lines of tens of millions; one that is above a power of ten by little. */
		{ 3, 3974557, 10488173, 1, WEIGHTS_AMOUNTS, 1 },
		{ 1, 1, 1, 10000001, WEIGHTS_COUNTS, 1 },
		{ 0, 0, 0, 0, WEIGHTS_COUNTS, 1 },
		{ 5, 0, 0, 1, WEIGHTS_COUNTS, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t period;
		enum weights_kind kind = kind_of(cases[i].lines, cases[i].first, cases[i].step, cases[i].unit, &period);

		if (kind != cases[i].kind || period != cases[i].period)
			fail_msg("case %zu: kind %d, period %lld", i, kind, (long long)period);
	}
}

static void periods_of_clocks_are_known(void **state)
{
	static const int64_t clocks[] = { 1003009, 1000000, 10101010, 10000000, 250000, 1000000000, 100000 };
	static const int64_t others[] = { 0, -1, 10, 1000003, 524288, INT64_MAX, 99999 };

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		assert_true(weights_is_clock_period(clocks[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(weights_is_clock_period(others[i]));
}

static void time_of_a_clock_is_counted_by_its_period(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = read_data("data/clock-first-half.folded.gz");

	assert_int_equal(profile->value_type_count, 2);
	assert_string_equal(default_type(profile), "time");
	assert_string_equal(profile_string(profile, profile->value_types[1].unit), "nanoseconds");
	assert_int_equal(profile->period, 1003009);
	assert_true(profile_sum(profile, 0) > 1000);
	assert_int_equal(profile_sum(profile, 1), profile_sum(profile, 0) * 1003009);
	assert_int_equal(profile->quality.samples, profile_sum(profile, 0));
	assert_int_equal(profile_metric(profile, 0).kind, PROFILE_METRIC_TIME);
	assert_int_equal(profile_metric(profile, 1).kind, PROFILE_METRIC_TIME);
	assert_int_equal(samples_of(profile, "time"), profile_sum(profile, 0));
	expect_kept(profile);
}

static void amounts_are_no_counts(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = read_data("data/offcpu.folded.gz"), *again = NULL;
	CLEANUP(buffer_deinit) struct buffer folded = { 0 };
	struct error err;

	assert_string_equal(default_type(profile), "weight");
	assert_int_equal(profile_metric(profile, 1).kind, PROFILE_METRIC_OTHER);
	assert_int_equal(samples_of(profile, "weight"), -1);
	assert_int_equal(samples_of(profile, "samples"), -1);
	assert_true(profile_sum(profile, 0) >= (int64_t)profile->sample_count);
	expect_kept(profile);
	buffer_init(&folded, 1 << 20);
	assert_true(profile_write_folded(profile, PROFILE_NONE, &folded, &err));
	again = read_profile(folded.data, folded.size);
	assert_int_equal(profile_sum(again, 1), profile_sum(profile, 1));
}

/* ---- pprof ---- */

static void a_heap_of_go_tells_what_was_sampled(void **state)
{
	struct profile *profile = read_data("data/go-heap.pb.gz");
	int64_t allocated = samples_of(profile, "alloc_space"), in_use = samples_of(profile, "inuse_space");

	assert_string_equal(default_type(profile), "inuse_space");
	assert_int_equal(profile_metric(profile, value_type(profile, "inuse_space")).kind, PROFILE_METRIC_IN_USE);
	assert_int_equal(profile_metric(profile, value_type(profile, "inuse_objects")).kind, PROFILE_METRIC_IN_USE);
	assert_int_equal(profile_metric(profile, value_type(profile, "alloc_space")).kind, PROFILE_METRIC_ALLOCATED);
	/* One every 512 kB, fewer where objects are larger. */
	assert_in_range(allocated, 1000, profile_sum(profile, value_type(profile, "alloc_space")) / 524288 * 11 / 10);
	assert_in_range(in_use, 40, profile_sum(profile, value_type(profile, "inuse_space")) / 524288 * 11 / 10);
	assert_int_equal(samples_of(profile, "alloc_objects"), allocated);
	assert_int_equal(samples_of(profile, "inuse_objects"), in_use);
	expect_kept(profile);
	profile_destroy(profile);
	profile = read_data("data/go-allocs.pb.gz");
	assert_string_equal(default_type(profile), "alloc_space");
	profile_destroy(profile);
}

/* 7 objects of 1 MB, sampled every 512 kB: each was met with probability 1 - exp(-2), so that 7 stand for 6. */
static void sampled_objects_are_recovered(void **state)
{
	static const struct {
		int64_t objects, space, samples;
	} cases[] = {
		{ 7, 7 << 20, 6 },
		{ 8192, 8192 * 16 * 4, 1 },
		{ 16384, 16384 * 64, 2 },
		{ 5, (int64_t)5 << 30, 5 },
		{ 1, 8, 1 },
		{ 0, 0, 0 },
		{ INT64_MAX, INT64_MAX, INT64_MAX / 524288 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pprof_bytes p;
		CLEANUP(profile_cleanup) struct profile *profile = NULL;
		double off;

		pprof_bytes_init(&p);
		pprof_value_type(&p, PPROF_SAMPLE_TYPE, "objects", "count");
		pprof_value_type(&p, PPROF_SAMPLE_TYPE, "space", "bytes");
		pprof_value_type(&p, PPROF_PERIOD_TYPE, "space", "bytes");
		pprof_number(&p.file, PPROF_PERIOD, 524288);
		pprof_sample(
			&p, &(struct pprof_sample){ .values = { cases[i].objects, cases[i].space }, .value_count = 2 });
		profile = pprof_read(&p);
		off = (double)samples_of(profile, "space") - (double)cases[i].samples;
		if (off > 1e-3 * (double)cases[i].samples || off < -1e-3 * (double)cases[i].samples)
			fail_msg("case %zu: %lld samples", i, (long long)samples_of(profile, "space"));
		assert_int_equal(profile_metric(profile, value_type(profile, "space")).kind, PROFILE_METRIC_IN_USE);
	}
}

static void contentions_are_counted_by_their_rate(void **state)
{
	struct profile *profile = read_data("data/go-mutex.pb.gz");

	assert_string_equal(default_type(profile), "delay");
	/* One of five was sampled; by chance all are multiples of more. */
	assert_in_range(samples_of(profile, "delay"), 1, profile_sum(profile, value_type(profile, "contentions")) / 5);
	assert_int_equal(profile_metric(profile, value_type(profile, "delay")).kind, PROFILE_METRIC_TIME);
	assert_int_equal(profile_metric(profile, value_type(profile, "contentions")).kind, PROFILE_METRIC_EVENTS);
	expect_kept(profile);
	profile_destroy(profile);
	profile = read_data("data/go-block.pb.gz");
	assert_int_equal(samples_of(profile, "delay"), profile_sum(profile, value_type(profile, "contentions")));
	profile_destroy(profile);
}

static void things_are_no_samples(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = read_data("data/go-goroutine.pb.gz");

	assert_string_equal(default_type(profile), "goroutine");
	assert_int_equal(samples_of(profile, "goroutine"), -1);
	assert_int_equal(profile_metric(profile, 1).kind, PROFILE_METRIC_IN_USE);
	assert_true(profile_metric(profile, 1).is_exact);
	assert_true(profile_sum(profile, 1) > 100);
	expect_kept(profile);
}

static void what_is_counted_together_is_named_alike(void **state)
{
	struct pprof_bytes p;
	CLEANUP(profile_cleanup) struct profile *profile = NULL;

	pprof_bytes_init(&p);
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "cpu-samples", "count");
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "cpu-time", "nanoseconds");
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "alloc-samples", "count");
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "alloc-space", "bytes");
	pprof_sample(&p, &(struct pprof_sample){ .values = { 5, 50000000, 2, 4096 }, .value_count = 4 });
	profile = pprof_read(&p);
	assert_int_equal(samples_of(profile, "cpu-time"), 5);
	assert_int_equal(samples_of(profile, "alloc-space"), 2);
	assert_string_equal(default_type(profile), "alloc-space");
	expect_kept(profile);
}

/* async-profiler's `cpu` in the unit count. */
static void time_that_is_counted_is_counted_by_samples(void **state)
{
	struct pprof_bytes p;
	CLEANUP(profile_cleanup) struct profile *profile = NULL;

	pprof_bytes_init(&p);
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "cpu", "count");
	pprof_sample(&p, &(struct pprof_sample){ .values = { 5 }, .value_count = 1 });
	profile = pprof_read(&p);
	assert_int_equal(profile->value_type_count, 1);
	assert_int_equal(profile_named_metric(profile, "cpu"), 0);
	assert_int_equal(profile_sum(profile, 0), 5);
	assert_int_equal(samples_of(profile, "samples"), 5);
}

static struct profile *types_of_dotnet(const int64_t values[4])
{
	struct pprof_bytes p;

	pprof_bytes_init(&p);
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "cpu", "nanoseconds");
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "alloc_samples", "count");
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "alloc_size", "bytes");
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "lock_time", "nanoseconds");
	pprof_value_type(&p, PPROF_PERIOD_TYPE, "cpu", "nanoseconds");
	pprof_number(&p.file, PPROF_PERIOD, 1);
	pprof_sample(&p,
		&(struct pprof_sample){ .values = { values[0], values[1], values[2], values[3] }, .value_count = 4 });
	return pprof_read(&p);
}

/* Samples of allocations do not count those of CPU time, of which there is no count here. */
static void a_count_is_that_of_its_family(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = types_of_dotnet((int64_t[]){ 9000000, 2, 4096, 0 });

	assert_int_equal(samples_of(profile, "alloc_size"), 2);
	assert_int_equal(samples_of(profile, "alloc_samples"), 2);
	assert_int_equal(samples_of(profile, "cpu"), -1);
	assert_int_equal(profile_first_metric(profile), 1);
	expect_kept(profile);
}

/* .NET's last value is that of locks, for which often nobody waits. */
static void a_default_without_values_is_the_last_that_has_some(void **state)
{
	CLEANUP(profile_cleanup) struct profile *some = types_of_dotnet((int64_t[]){ 9000000, 2, 4096, 0 });
	CLEANUP(profile_cleanup) struct profile *all = types_of_dotnet((int64_t[]){ 9000000, 2, 4096, 1 });
	CLEANUP(profile_cleanup) struct profile *none = types_of_dotnet((int64_t[]){ 0, 0, 0, 0 });

	assert_string_equal(default_type(some), "alloc_size");
	assert_string_equal(default_type(all), "lock_time");
	assert_string_equal(default_type(none), "lock_time");
}

/* What a user calls a metric is what the file calls it, and what Kelvin does. */
static void metrics_have_the_names_of_their_file(void **state)
{
	struct pprof_bytes p;
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	CLEANUP(buffer_deinit) struct buffer list;

	pprof_bytes_init(&p);
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "sample", "count");
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "wait", "count");
	pprof_value_type(&p, PPROF_SAMPLE_TYPE, "wait", "nanoseconds");
	pprof_sample(&p, &(struct pprof_sample){ .values = { 5, 0, 7 }, .value_count = 3 });
	profile = pprof_read(&p);
	assert_int_equal(profile_named_metric(profile, "sample"), 0);
	assert_int_equal(profile_named_metric(profile, "samples"), 0);
	assert_int_equal(profile_named_metric(profile, "wait"), 1);
	assert_int_equal(profile_named_metric(profile, "wait/count"), 1);
	assert_int_equal(profile_named_metric(profile, "wait/nanoseconds"), 2);
	assert_int_equal(profile_named_metric(profile, "wait/bytes"), PROFILE_NONE);
	assert_int_equal(profile_named_metric(profile, "wai"), PROFILE_NONE);
	buffer_init(&list, 1 << 10);
	profile_list_metrics(profile, false, &list);
	assert_string_equal(list.data, "sample, wait/count, wait/nanoseconds");
	list.size = 0;
	profile_list_metrics(profile, true, &list);
	assert_string_equal(list.data, "sample, wait/nanoseconds");
}

/* Counted on one side only, they are not known together. */
static void expect_unified(const char *a, const char *b, const char *unit, const char *folded_a, const char *folded_b)
{
	CLEANUP(profile_cleanup) struct profile *x = read_profile(a, strlen(a)), *y = read_profile(b, strlen(b));
	struct profile *both[] = { x, y };
	const char *folded[] = { folded_a, folded_b };
	struct error err;

	assert_true(weights_unify(x, y, &err));
	for (int i = 0; i < 2; i++) {
		CLEANUP(buffer_deinit) struct buffer out;

		buffer_init(&out, 1 << 16);
		assert_string_equal(
			profile_string(both[i], both[i]->value_types[unit ? 1 : 0].unit), unit ? unit : "count");
		assert_int_equal(both[i]->value_type_count, unit ? 2 : 1);
		assert_true(profile_write_folded(both[i], both[i]->default_value_type, &out, &err));
		assert_string_equal(out.data, folded[i]);
		assert_true(profile_validate(both[i], &err));
	}
	assert_true(profile_merge(x, y, &err));
	assert_true(profile_validate(x, &err));
}

/* Of numbers without a name, those of all files are amounts if those of one are. */
static void numbers_are_decided_upon_together(void **state)
{
	(void)state;
	expect_unified("a;b 3\nc 4\n", "a;b 5\n", NULL, "a;b 3\nc 4\n", "a;b 5\n");
	expect_unified("a;b 3\nc 4\n", "a;b 52130911\na 24462903\nc 3974557\n", "", "a;b 3\nc 4\n",
		"a 24462903\na;b 52130911\nc 3974557\n");
	expect_unified("a;b 3\n", "a;b 1.5\n", "1/1000000", "a;b 3\n", "a;b 1.5\n");
	expect_unified("a;b 1.23456789\n", "a;b 1.5\nc 2\n", "1/1000000000", "a;b 1.23456789\n", "a;b 1.5\nc 2\n");
	expect_unified("a;b 52130911\na 24462903\nc 3974557\n", "a;b 0.25\n", "1/1000000",
		"a 24462903\na;b 52130911\nc 3974557\n", "a;b 0.25\n");
}

static void numbers_that_do_not_fit_are_told(void **state)
{
	static const char large[] = "a 9000000000000000\n", fine[] = "a 0.123456789\n";
	CLEANUP(profile_cleanup)
	struct profile *x = read_profile(large, strlen(large)), *y = read_profile(fine, strlen(fine));
	struct error err;

	(void)state;
	assert_false(weights_unify(x, y, &err));
	assert_int_equal(err.code, ERROR_LIMIT);
}

/* Notes of all profiles are kept, each once, and those for which there is no room are counted. */
static void notes_are_kept(void **state)
{
	static const char text[] = "a 1\n";
	CLEANUP(profile_cleanup)
	struct profile *x = read_profile(text, strlen(text)), *y = read_profile(text, strlen(text));
	struct error err;

	(void)state;
	for (int i = 0; i < PROFILE_MAX_NOTES; i++)
		assert_true(profile_add_doubt(y, &err, "%d of its lines", i) &&
			    profile_add_doubt(y, &err, "%d of its lines", i));
	assert_int_equal(y->notes.count, PROFILE_MAX_NOTES);
	assert_int_equal(y->notes.left_out, 0);
	assert_true(profile_add_doubt(x, &err, "another") && profile_merge(x, y, &err));
	assert_int_equal(x->notes.count, PROFILE_MAX_NOTES);
	assert_int_equal(x->notes.left_out, 1);
	assert_string_equal(profile_string(x, x->notes.texts[1]), "0 of its lines");
}

/* What a file asks for is no doubt, before and after a merge. */
static void remarks_are_no_doubts(void **state)
{
	static const char text[] = "a 1\n";
	CLEANUP(profile_cleanup)
	struct profile *x = read_profile(text, strlen(text)), *y = read_profile(text, strlen(text));
	struct error err;

	(void)state;
	assert_true(profile_add_remark(y, &err, "it asks for %s", "more") && profile_merge(x, y, &err));
	assert_int_equal(x->notes.count, 1);
	assert_null(profile_first_doubt(x));
	assert_true(profile_add_doubt(y, &err, "its end is missing") && profile_merge(x, y, &err));
	assert_string_equal(profile_first_doubt(x), "its end is missing");
}

static void merging_keeps_what_both_know(void **state)
{
	CLEANUP(profile_cleanup) struct profile *known = read_data("data/clock-first-half.folded.gz"), *merged = NULL;
	struct error err;

	assert_true(profile_create(&merged, &err) && profile_merge(merged, known, &err));
	known->counts_of[1] = PROFILE_NONE;
	assert_true(profile_merge(merged, known, &err));
	assert_int_equal(merged->counts_of[0], 0);
	assert_int_equal(merged->counts_of[1], PROFILE_NONE);
	known->counts_of[1] = 2;
	assert_false(profile_validate(known, &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_tell_what_they_are),
		cmocka_unit_test(periods_of_clocks_are_known),
		cmocka_unit_test(time_of_a_clock_is_counted_by_its_period),
		cmocka_unit_test(amounts_are_no_counts),
		cmocka_unit_test(a_heap_of_go_tells_what_was_sampled),
		cmocka_unit_test(sampled_objects_are_recovered),
		cmocka_unit_test(contentions_are_counted_by_their_rate),
		cmocka_unit_test(things_are_no_samples),
		cmocka_unit_test(what_is_counted_together_is_named_alike),
		cmocka_unit_test(time_that_is_counted_is_counted_by_samples),
		cmocka_unit_test(a_count_is_that_of_its_family),
		cmocka_unit_test(a_default_without_values_is_the_last_that_has_some),
		cmocka_unit_test(metrics_have_the_names_of_their_file),
		cmocka_unit_test(numbers_are_decided_upon_together),
		cmocka_unit_test(numbers_that_do_not_fit_are_told),
		cmocka_unit_test(notes_are_kept),
		cmocka_unit_test(remarks_are_no_doubts),
		cmocka_unit_test(merging_keeps_what_both_know),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
