/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "suites_fixture.h"
#include "tests/unit/support/profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool warns(const struct diff_suite *suite, const char *words)
{
	for (size_t i = 0; i < suite->warning_count; i++)
		if (strstr(diff_suite_string(suite, suite->warnings[i].text), words))
			return true;
	return false;
}

/* Three executions of `parse`, `write` and `old` or `new`, which scatter by a part in a thousand. */
static struct profile *three_executions(bool is_head)
{
	static const double off[] = { 1, 1.001, 0.999 };
	struct profile *profile = suites_profile();

	for (int i = 0; i < 3; i++) {
		suites_add_execution(profile);
		suites_add(profile, "a.py::test_parse", 1000 * off[i] * (is_head ? 1.2 : 1), 500);
		suites_add(profile, "a.py::test_write", 2000 * off[(i + 1) % 3], 100);
		suites_add(profile, is_head ? "a.py::test_new" : "a.py::test_old", 10, 10);
	}
	return profile;
}

static void a_slower_benchmark_is_named_first(void **state)
{
	CLEANUP(profile_cleanup) struct profile *base = three_executions(false), *head = three_executions(true);
	struct diff_suite_options options = { .diff.runs_in_pairs = true };
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = suites_compare(base, head, &options);
	const struct diff_benchmark *first = &suite->benchmarks[0];

	assert_int_equal(suite->benchmark_count, 4);
	assert_string_equal(diff_suite_string(suite, first->name), "test_parse");
	assert_string_equal(diff_suite_string(suite, first->uri), "a.py::test_parse");
	assert_int_equal(first->verdict, DIFF_REGRESSED);
	suites_assert_near(first->change, 0.2);
	assert_true(first->change_low > 0.19 && first->change_high < 0.21);
	assert_true(first->q < 0.05 && first->p <= first->q);
	assert_int_equal(first->executions[DIFF_HEAD], 3);
	assert_int_equal(first->rounds[DIFF_HEAD], 300);
	assert_int_equal(first->iterations[DIFF_BASE], 1500);
	suites_assert_near(first->value[DIFF_HEAD] / first->value[DIFF_BASE], 1.2);
	assert_int_equal(suites_find(suite, "test_write")->verdict, DIFF_UNCHANGED);
	assert_int_equal(suites_find(suite, "test_new")->presence, DIFF_ADDED);
	assert_true(isnan(suites_find(suite, "test_new")->value[DIFF_BASE]));
	assert_string_equal(diff_benchmark_verdict_name(suites_find(suite, "test_old")), "removed");
	assert_string_equal(diff_suite_string(suite, suite->benchmarks[3].name), "test_write");
	assert_int_equal(suite->verdict, DIFF_REGRESSED);
	assert_int_equal(suite->verdicts[DIFF_REGRESSED], 1);
	assert_true(suite->is_measured && !suite->is_exact);
	suites_assert_says(suite, "1 of 2 benchmarks is slower: test_parse by 20.0 % (95 % interval");
	suites_assert_says(suite, "1 added, 1 removed");
	assert_true(warns(suite, "1 benchmark is only in head: test_new"));
}

/* The change leaves out the extremes of pairs, and a mean of one side those of the side. */
static void values_have_the_change_that_is_shown(void **state)
{
	struct suites suites = suites_create(7, 10);
	double rsds[SUITES_MAX_BENCHMARKS];

	suites.bursts = 0.3;
	suites_draw_rsds(&suites, rsds);
	for (int in_pairs = 0; in_pairs < 2; in_pairs++) {
		CLEANUP(profile_cleanup)
		struct profile *base = suites_record(&suites, rsds, 12, 0, 1),
			       *head = suites_record(&suites, rsds, 12, 0, 1.17);
		struct diff_suite_options options = { .diff.runs_in_pairs = in_pairs };
		CLEANUP(diff_suite_cleanup) struct diff_suite *suite = suites_compare(base, head, &options);

		assert_int_equal(suite->benchmark_count, 10);
		for (size_t i = 0; i < suite->benchmark_count; i++) {
			const struct diff_benchmark *b = &suite->benchmarks[i];

			suites_assert_near(b->value[DIFF_HEAD] / b->value[DIFF_BASE], 1 + b->change);
		}
	}
	suites_deinit(&suites);
}

static struct profile *of_times(size_t executions, const double *times, size_t count)
{
	struct profile *profile = suites_profile();
	char uri[40];

	for (size_t e = 0; e < executions; e++) {
		suites_add_execution(profile);
		for (size_t i = 0; i < count; i++) {
			snprintf(uri, sizeof(uri), "bench.cc::b%zu", i);
			suites_add(profile, uri, times[i] * (1 + 0.001 * ((double)((e + i) % 3) - 1)), 10);
		}
	}
	return profile;
}

static void with_one_execution_large_changes_are_proven(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base = of_times(1, (double[]){ 100, 200, 300 }, 3),
		       *head = of_times(1, (double[]){ 104, 200, 900 }, 3);
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = suites_compare(base, head, NULL);

	assert_true(warns(suite, "one execution on each side, which does not show how far executions differ"));
	assert_int_equal(suites_find(suite, "b0")->verdict, DIFF_INCONCLUSIVE);
	assert_int_equal(suites_find(suite, "b2")->verdict, DIFF_REGRESSED);
	suites_assert_says(suite, "1 of 3 benchmarks is slower: b2 2.95 times (95 % interval");
	suites_assert_says(suite, "; 2 undecided");
}

static void equal_suites_are_unchanged(void **state)
{
	CLEANUP(profile_cleanup) struct profile *base = of_times(3, (double[]){ 100, 200, 300 }, 3);
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = suites_compare(base, base, NULL);

	assert_int_equal(suite->verdict, DIFF_UNCHANGED);
	suites_assert_says(suite, "none of 3 benchmarks is slower or faster by more than 1 %");
	assert_int_equal(suite->warning_count, 0);
}

static void both_directions_are_mixed_and_small_changes_minor(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base = of_times(3, (double[]){ 100, 200, 300 }, 3),
		       *mixed = of_times(3, (double[]){ 150, 100, 300 }, 3),
		       *minor = of_times(3, (double[]){ 100.8, 200, 300 }, 3);
	struct diff_suite *suite = suites_compare(base, mixed, NULL);

	assert_int_equal(suite->verdict, DIFF_MIXED);
	suites_assert_says(suite, "1 of 3 benchmarks is slower: b0 by 50.0 % (95 % interval");
	suites_assert_says(suite, "; 1 is faster: b1 by 50.0 % (95 % interval 4");
	assert_string_equal(diff_suite_string(suite, suite->benchmarks[1].name), "b1");
	diff_suite_destroy(suite);
	suite = suites_compare(base, minor, &(struct diff_suite_options){ .precision = 0.0085 });
	assert_int_equal(suite->verdict, DIFF_MINOR);
	suites_assert_says(suite, "1 of 3 benchmarks differs, by no more than 0.85 %: b0 by 0.8 % (95 % interval");
	diff_suite_destroy(suite);
}

static void a_single_side_is_a_list(void **state)
{
	CLEANUP(profile_cleanup) struct profile *head = of_times(2, (double[]){ 100, 200 }, 2);
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = suites_compare(NULL, head, NULL);

	assert_int_equal(suite->sides, 1);
	suites_assert_says(suite, "2 benchmarks in 2 executions");
	assert_true(fabs(suite->benchmarks[0].value[DIFF_HEAD] - 100) < 1);
	assert_true(isnan(suite->benchmarks[0].value[DIFF_BASE]) && isnan(suite->benchmarks[0].change));
	assert_int_equal(suite->added, 0);
}

static void a_side_without_benchmarks_is_an_error(void **state)
{
	CLEANUP(profile_cleanup) struct profile *head = of_times(1, (double[]){ 100 }, 1), *base = suites_profile();
	struct diff_suite *suite = NULL;
	struct error err;

	suites_add_execution(base);
	assert_false(diff_suite_create(base, head, NULL, &suite, &err));
	assert_int_equal(err.code, ERROR_EMPTY);
	assert_non_null(strstr(err.message, "base has no benchmarks"));
	assert_null(suite);
}

/* Two runs of one benchmark in an execution are one value: 100 iterations of 10 ns, and 300 of 20 ns. */
static void runs_of_one_benchmark_are_weighted_by_iterations(void **state)
{
	CLEANUP(profile_cleanup) struct profile *head = suites_profile();
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = NULL;

	suites_add_execution(head);
	suites_add(head, "a", 10, 100);
	suites_add(head, "b", 1, 1);
	suites_add(head, "a", 20, 300);
	suite = suites_compare(NULL, head, NULL);
	assert_int_equal(suite->benchmark_count, 2);
	suites_assert_near(suites_find(suite, "a")->value[DIFF_HEAD], 17.5);
	assert_int_equal(suites_find(suite, "a")->executions[DIFF_HEAD], 1);
	assert_int_equal(suites_find(suite, "a")->rounds[DIFF_HEAD], 200);
}

/* The benchmark failed in one execution of head. The pairs that are left are compared. */
static void missing_executions_leave_the_other_pairs(void **state)
{
	static const double off[] = { 1, 1.5, 0.7, 1.2, 1.1 };
	CLEANUP(profile_cleanup) struct profile *base = suites_profile(), *head = suites_profile();
	struct diff_suite_options options = { .diff.runs_in_pairs = true };
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = NULL;

	for (int i = 0; i < 5; i++) {
		suites_add_execution(base);
		suites_add_execution(head);
		suites_add(base, "a", 100 * off[i], 10);
		suites_add(base, "b", 100, 10);
		suites_add(head, "b", 100, 10);
		if (i != 1)
			suites_add(head, "a", 110 * off[i] * (1 + 0.001 * i), 10);
	}
	suite = suites_compare(base, head, &options);
	assert_int_equal(suites_find(suite, "a")->executions[DIFF_HEAD], 4);
	assert_true(fabs(suites_find(suite, "a")->change - 0.1) < 0.005);
	assert_int_equal(suites_find(suite, "a")->verdict, DIFF_REGRESSED);
}

/* A benchmark beside two that have times: what base and head know of it is no time of an iteration. */
static void expect_not_compared(const char *uri, double median_ns, const uint64_t iterations[DIFF_SIDES])
{
	CLEANUP(profile_cleanup)
	struct profile *base = of_times(3, (double[]){ 100, 200 }, 2), *head = of_times(3, (double[]){ 100, 200 }, 2);
	CLEANUP(buffer_deinit) struct buffer warning = { 0 };
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = NULL;

	suites_add(base, uri, median_ns, iterations[DIFF_BASE]);
	suites_add(head, uri, median_ns, iterations[DIFF_HEAD]);
	suite = suites_compare(base, head, NULL);
	assert_int_equal(suites_find(suite, uri)->verdict, DIFF_INCONCLUSIVE);
	assert_true(isnan(suites_find(suite, uri)->value[DIFF_HEAD]));
	buffer_init(&warning, 512);
	buffer_printf(&warning,
		"1 benchmark has nothing to compare it by on one side: no time, or no number of iterations: %s", uri);
	assert_true(warns(suite, warning.data));
}

static void a_benchmark_without_times_is_told(void **state)
{
	expect_not_compared("silent", 0, (uint64_t[]){ 0, 0 });
}

/* 99.1 % less: two executions that decide, decide; and one benchmark in one that others made slow. */
static void two_executions_that_decide_decide(void **state)
{
	static const double off[] = { 1, 1.3, 0.85, 1.15 };
	CLEANUP(profile_cleanup) struct profile *base = suites_profile(), *head = suites_profile();
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = NULL;
	const struct diff_benchmark *b;

	for (int i = 0; i < 2; i++) {
		suites_add_execution(base);
		suites_add_execution(head);
		suites_add(base, "a", 100 * off[i], 10);
		suites_add(head, "a", 0.9 * off[2 + i], 10);
		suites_add(base, "b", 100 * off[i], 10);
		suites_add(head, "b", 100 * off[2 + i], 10);
	}
	suite = suites_compare(base, head, NULL);
	b = suites_find(suite, "a");
	print_message(
		"%.2f %% (%.2f to %.2f), p %.2g\n", b->change * 100, b->change_low * 100, b->change_high * 100, b->p);
	assert_int_equal(b->verdict, DIFF_IMPROVED);
	assert_true(b->p < 1e-4 && b->change_low > -1 && b->change_high < -0.9);
	assert_int_equal(suites_find(suite, "b")->verdict, DIFF_INCONCLUSIVE);
	assert_true(suites_find(suite, "b")->more_executions > 10);
}

/* As many more as are said to be needed prove a change of what it seems to be in most tries. */
static void as_many_executions_as_are_said_tell(void **state)
{
	enum { TRIES = 300 };
	struct suites suites = suites_create(77, 20);
	double rsds[SUITES_MAX_BENCHMARKS];
	uint64_t more[TRIES], all = 0;
	size_t found = 0, asked = 0;

	suites.least_rsd = suites.most_rsd = 0.03;
	suites_draw_rsds(&suites, rsds);
	for (int i = 0; i < TRIES; i++) {
		CLEANUP(profile_cleanup)
		struct profile *base = suites_record(&suites, rsds, 4, 0, 1),
			       *head = suites_record(&suites, rsds, 4, 3, 1.05);
		CLEANUP(diff_suite_cleanup) struct diff_suite *suite = suites_compare(base, head, NULL);
		const struct diff_benchmark *b = suites_find(suite, "test_3");

		if (b->verdict == DIFF_INCONCLUSIVE && fabs(b->change - 0.05) < 0.01)
			more[asked++] = b->more_executions;
	}
	assert_true(asked > TRIES / 5);
	for (size_t i = 0; i < asked; i++) {
		CLEANUP(profile_cleanup)
		struct profile *base = suites_record(&suites, rsds, 4 + more[i], 0, 1),
			       *head = suites_record(&suites, rsds, 4 + more[i], 3, 1.05);
		CLEANUP(diff_suite_cleanup) struct diff_suite *suite = suites_compare(base, head, NULL);

		found += suites_find(suite, "test_3")->verdict == DIFF_REGRESSED;
		all += more[i];
	}
	print_message("%zu of %zu found with %.1f more on average\n", found, asked, (double)all / (double)asked);
	assert_true(found * 10 >= asked * 7);
	suites_deinit(&suites);
}

/* Another program ran beside one execution of head. */
static void a_disturbed_execution_widens_no_interval(void **state)
{
	enum { EXECUTIONS = 12, DISTURBED = 7 };
	CLEANUP(profile_cleanup) struct profile *base = suites_profile(), *head = suites_profile();
	struct diff_suite_options options = { .diff.runs_in_pairs = true };
	const struct diff_benchmark *benchmark;
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = NULL;

	for (int i = 0; i < EXECUTIONS; i++) {
		suites_add_execution(base);
		suites_add_execution(head);
		suites_add(base, "a", 100 * (1 + 0.002 * (i % 5)), 10);
		suites_add(head, "a", 105 * (1 + 0.002 * (i % 3)) * (i == DISTURBED ? 1.6 : 1), 10);
	}
	suite = suites_compare(base, head, &options);
	benchmark = suites_find(suite, "a");
	assert_int_equal(benchmark->verdict, DIFF_REGRESSED);
	assert_true(fabs(benchmark->change - 0.05) < 0.005);
	assert_true(benchmark->change_high - benchmark->change_low < 0.02);
	assert_true(fabs(benchmark->value[DIFF_HEAD] - 105) < 0.5);
}

/* Head's process had a CPU for half of its time: one execution does not tell why. */
static void one_execution_does_not_tell_why_it_waits(void **state)
{
	static const double cpu_shares[][DIFF_SIDES] = { { 1, 1 }, { 1, 0.5 } };

	for (int waits = 0; waits < 2; waits++) {
		struct profile *profiles[DIFF_SIDES];
		CLEANUP(diff_suite_cleanup) struct diff_suite *suite = NULL;
		struct error err;

		for (int side = 0; side < DIFF_SIDES; side++) {
			uint32_t run;

			profiles[side] = suites_profile();
			suites_add_execution(profiles[side]);
			run = suites_add(profiles[side], "a", side ? 300 : 100, 10);
			profiles[side]->runs[run].duration_ns = 1000000000;
			suites_add_sample(
				profiles[side], run, "main;parse@12", 1000, (int64_t)(1e9 * cpu_shares[waits][side]));
			assert_true(profile_finish(profiles[side], &err));
		}
		suite = suites_compare(profiles[DIFF_BASE], profiles[DIFF_HEAD], NULL);
		assert_int_equal(suites_find(suite, "a")->verdict, waits ? DIFF_INCONCLUSIVE : DIFF_REGRESSED);
		assert_int_equal(warns(suite, "had a CPU for 100 % of their time in base and 50 % in head"), waits);
		profile_destroy(profiles[DIFF_BASE]);
		profile_destroy(profiles[DIFF_HEAD]);
	}
}

/* A harness that was killed leaves no numbers of iterations; its rounds are of equal length, whatever they do. */
static void rounds_without_iterations_tell_no_time(void **state)
{
	expect_not_compared("killed", 1000000, (uint64_t[]){ 50, 0 });
}

/* Three executions of a harness that marks `rounds` rounds and tells no iterations. */
static struct profile *of_rounds(double median_ns, uint64_t rounds, int32_t exit_status)
{
	struct profile *profile = suites_profile();

	for (int i = 0; i < 3; i++) {
		uint32_t run;

		suites_add_execution(profile);
		profile->runs[profile->run_count - 1].exit_status = exit_status;
		run = suites_add(profile, "marked", median_ns * (1 + 0.001 * i), 0);
		profile->runs[run].measured.rounds = rounds;
	}
	return profile;
}

/* It is compared by its rounds if `is_compared`. */
static void expect_rounds(struct profile *base, struct profile *head, bool is_compared)
{
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = suites_compare(base, head, NULL);
	const struct diff_benchmark *benchmark = suites_find(suite, "marked");

	assert_int_equal(benchmark->by_rounds, is_compared);
	assert_int_equal(benchmark->verdict, is_compared ? DIFF_REGRESSED : DIFF_INCONCLUSIVE);
	assert_int_equal(warns(suite, "1 benchmark is compared round by round"), is_compared);
	assert_int_equal(isnan(benchmark->value[DIFF_HEAD]), !is_compared);
	assert_int_equal(diff_benchmark_times(benchmark, DIFF_HEAD), is_compared ? benchmark->rounds[DIFF_HEAD] : 0);
	profile_destroy(base);
	profile_destroy(head);
}

static void as_many_rounds_on_both_sides_are_compared(void **state)
{
	struct profile *uneven = of_rounds(130, 60, 0);

	expect_rounds(of_rounds(100, 60, 0), of_rounds(130, 60, 1), true);
	expect_rounds(of_rounds(100, 60, 0), of_rounds(130, 61, 0), false);
	/* One execution made fewer. */
	uneven->runs[uneven->run_count - 1].measured.rounds = 59;
	expect_rounds(of_rounds(100, 60, 0), uneven, false);
	/* Executions that were killed, or of which the end is not known. */
	expect_rounds(of_rounds(100, 60, 137), of_rounds(130, 60, 137), false);
	expect_rounds(of_rounds(100, 60, 0), of_rounds(130, 60, -1), false);
	/* One round is a window without marks, or holds all iterations. */
	expect_rounds(of_rounds(100, 1, 0), of_rounds(130, 1, 0), false);
}

/* ---- Names ---- */

static struct diff_suite *compare_names(
	const char *const *base_names, const char *const *head_names, struct profile **base, struct profile **head)
{
	*base = suites_profile();
	*head = suites_profile();
	for (int i = 0; i < 3; i++) {
		suites_add_execution(*base);
		suites_add_execution(*head);
		for (const char *const *name = base_names; *name; name++)
			suites_add(*base, *name, 100, 10);
		for (const char *const *name = head_names; *name; name++)
			suites_add(*head, *name, 100, 10);
	}
	return suites_compare(*base, *head, NULL);
}

/* Outside of a repository harnesses write whole paths. A new file in another folder changes nothing of the others. */
static void checkouts_are_found_by_what_both_have(void **state)
{
	static const char *const base_names[] = { "/srv/old/bench/test_x.py::test_run",
		"/srv/old/bench/sub/test_y.py::test_run", "/srv/old/bench/test_z.py::test_gone", NULL };
	static const char *const head_names[] = { "/home/me/new/bench/test_x.py::test_run",
		"/home/me/new/bench/sub/test_y.py::test_run", "/home/me/new/more/test_w.py::test_new",
		"/elsewhere/test_v.py::test_other", NULL };
	CLEANUP(profile_cleanup) struct profile *base = NULL, *head = NULL;
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = compare_names(base_names, head_names, &base, &head);

	assert_int_equal(suite->benchmark_count, 5);
	assert_int_equal(suites_find(suite, "bench/test_x.py::test_run")->presence, DIFF_IN_BOTH);
	assert_int_equal(suites_find(suite, "bench/sub/test_y.py::test_run")->presence, DIFF_IN_BOTH);
	assert_string_equal(
		diff_suite_string(suite, suites_find(suite, "test_gone")->uri), "bench/test_z.py::test_gone");
	assert_string_equal(diff_suite_string(suite, suites_find(suite, "test_new")->uri), "more/test_w.py::test_new");
	assert_string_equal(
		diff_suite_string(suite, suites_find(suite, "test_other")->uri), "/elsewhere/test_v.py::test_other");
	assert_string_equal(diff_suite_string(suite, suite->roots[DIFF_BASE]), "/srv/old/");
	assert_string_equal(diff_suite_string(suite, suite->roots[DIFF_HEAD]), "/home/me/new/");
	assert_false(warns(suite, "in common"));
}

/* A repository on one side: its names are relative already. */
static void one_side_may_be_a_repository(void **state)
{
	static const char *const base_names[] = { "bench/test_x.py::test_run", NULL };
	static const char *const head_names[] = { "/srv/bench/test_x.py::test_run", NULL };
	CLEANUP(profile_cleanup) struct profile *base = NULL, *head = NULL;
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = compare_names(base_names, head_names, &base, &head);

	assert_int_equal(suite->benchmark_count, 1);
	assert_string_equal(diff_suite_string(suite, suite->roots[DIFF_BASE]), "");
	assert_string_equal(diff_suite_string(suite, suite->roots[DIFF_HEAD]), "/srv/");
}

/* Slashes of a name that is no path, as of parameters, are no folders. */
static void names_without_files_have_no_checkout(void **state)
{
	static const char *const base_names[] = { "BM_sort/8", NULL }, *const head_names[] = { "BM_parse/8", NULL };
	CLEANUP(profile_cleanup) struct profile *base = NULL, *head = NULL;
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = compare_names(base_names, head_names, &base, &head);

	assert_int_equal(suite->benchmark_count, 2);
	suites_assert_says(suite, "base and head have no benchmark in common");
}

static void names_are_as_short_as_they_are_unique(void **state)
{
	static const char *const uris[][2] = {
		{ "a.py::TestX::test_run", "a.py::TestX::test_run" },
		{ "b.py::TestX::test_run", "b.py::TestX::test_run" },
		{ "b.py::TestY::test_run", "TestY::test_run" },
		{ "b.py::test_one[x::y]", "test_one[x::y]" },
		{ "c.cc::ns\\:\\:sum<a\\:\\:b>", "ns::sum<a::b>" },
		{ "alone", "alone" },
		{ "test_deep", "test_deep" },
		{ "x::test_deep", "x::test_deep" },
		{ "::", "::" },
		{ "d::", "d::" },
	};
	CLEANUP(profile_cleanup) struct profile *head = suites_profile();
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = NULL;
	struct error err;
	uint32_t id;

	suites_add_execution(head);
	for (size_t i = 0; i < sizeof(uris) / sizeof(uris[0]); i++)
		suites_add(head, uris[i][0], 10, 1);
	suite = suites_compare(NULL, head, NULL);
	for (size_t i = 0; i < sizeof(uris) / sizeof(uris[0]); i++) {
		assert_true(diff_suite_find(suite, uris[i][0], &id, &err));
		assert_string_equal(diff_suite_string(suite, suite->benchmarks[id].name), uris[i][1]);
		assert_true(diff_suite_find(suite, uris[i][1], &id, &err));
	}
	assert_false(diff_suite_find(suite, "test_r", &id, &err));
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	assert_non_null(strstr(err.message, "TestY::test_run"));
	assert_false(diff_suite_find(suite, "qqq", &id, &err));
}

/* ---- The environment ---- */

static void add_library(struct profile *profile, const char *path, const char *build_id, enum profile_origin origin)
{
	struct profile_mapping mapping = { .path = profile_id(profile, path),
		.build_id = profile_id(profile, build_id) };
	struct profile_function function = { .name = profile_id(profile, path), .origin = origin, .origin_rule = 1 };
	struct error err;
	uint32_t id;

	assert_true(profile_add_mapping(profile, &mapping, &id, &err));
	function.module = profile->mappings[id].module;
	assert_true(profile_add_function(profile, &function, &id, &err));
}

static void the_environment_is_told_first(void **state)
{
	struct profile *sides[] = { of_times(3, (double[]){ 100 }, 1), of_times(3, (double[]){ 120 }, 1) };
	const struct diff_gate gate = { .subject = DIFF_GATE_TOTAL, .percent = 2 };
	struct diff_suite_options options = { .diff = { .gates = &gate, .gate_count = 1 } };
	struct diff_suite *suite;

	for (int side = 0; side < 2; side++) {
		sides[side]->facts.kernel = profile_id(sides[side], side ? "Linux 6.2" : "Linux 6.1");
		sides[side]->facts.toolchain = profile_id(sides[side], side ? "rustc 1.89" : "rustc 1.88");
		add_library(sides[side], "/lib/libz.so.1.2", side ? "02" : "01", PROFILE_ORIGIN_LIBRARY);
		add_library(sides[side], "/lib/libc.so.6", side ? "04" : "03", PROFILE_ORIGIN_SYSTEM);
		add_library(sides[side], "/lib/libm.so.6", "05", PROFILE_ORIGIN_SYSTEM);
		add_library(sides[side], "/srv/bench", side ? "07" : "06", PROFILE_ORIGIN_USER);
	}
	suite = suites_compare(sides[0], sides[1], &options);
	assert_non_null(strstr(diff_suite_string(suite, suite->warnings[0].text), "Linux 6.1' and 'Linux 6.2'"));
	assert_true(suite->warnings[0].blocks_gate);
	assert_non_null(strstr(diff_suite_string(suite, suite->warnings[1].text), "'rustc 1.88' and 'rustc 1.89'"));
	assert_string_equal(
		diff_suite_string(suite, suite->warnings[2].text), "libz.so, libc.so are other builds in head");
	assert_false(suite->gate_failed);
	assert_int_equal(suite->verdict, DIFF_INCONCLUSIVE);
	suites_assert_says(suite, "the --fail-on limits were not checked: ");
	diff_suite_destroy(suite);
	options.diff.gates_ignore_warnings = true;
	suite = suites_compare(sides[0], sides[1], &options);
	assert_true(suite->gate_failed);
	suites_assert_says(suite, "above the limit of 2 %: b0");
	diff_suite_destroy(suite);
	profile_destroy(sides[0]);
	profile_destroy(sides[1]);
}

/* ---- Without times ---- */

static struct profile *simulated(const int64_t *counts, size_t executions, int64_t step)
{
	struct profile *profile;
	struct error err;

	assert_true(profile_create(&profile, &err) && profile_add_value_type(profile, "instructions", "count", &err));
	profile->default_value_type = 1;
	profile->counts_of[0] = profile->counts_of[1] = PROFILE_NONE;
	profile->period = 1;
	profile->period_type = profile->value_types[1];
	for (size_t e = 0; e < executions; e++) {
		suites_add_execution(profile);
		suites_add_sample(profile, (uint32_t)profile->run_count - 1, "main;harness", 0, 500);
		for (int i = 0; i < 2; i++)
			suites_add_sample(profile, suites_add(profile, i ? "s::write" : "s::parse", 0, 0),
				i ? "main;write@3" : "main;parse@7", 0, counts[i] + step * (int64_t)e);
	}
	return profile;
}

static void counts_of_simulations_are_exact(void **state)
{
	struct profile *base = simulated((int64_t[]){ 1000000, 2000000 }, 1, 0),
		       *head = simulated((int64_t[]){ 1030000, 2000000 }, 1, 0);
	struct diff_suite *suite = suites_compare(base, head, NULL);

	assert_true(suite->is_exact && !suite->is_measured);
	assert_string_equal(diff_suite_string(suite, suite->unit), "count");
	suites_assert_near(suites_find(suite, "parse")->change, 0.03);
	assert_int_equal(suites_find(suite, "parse")->verdict, DIFF_REGRESSED);
	assert_int_equal(suites_find(suite, "write")->verdict, DIFF_UNCHANGED);
	assert_true(suites_find(suite, "parse")->q < .05);
	suites_assert_says(suite, "1 of 2 benchmarks needs more instructions: parse by 3.0 % (exact)");
	assert_int_equal(suite->warning_count, 0);
	diff_suite_destroy(suite);
	profile_destroy(head);
	head = simulated((int64_t[]){ 1008000, 2000000 }, 1, 0);
	suite = suites_compare(base, head, NULL);
	assert_int_equal(suite->verdict, DIFF_MINOR);
	suites_assert_says(suite, "1 of 2 benchmarks differs, by no more than 1 %: parse by 0.8 % (exact)");
	diff_suite_destroy(suite);
	profile_destroy(base);
	profile_destroy(head);
}

static void repeats_show_the_noise_of_counts(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base = simulated((int64_t[]){ 1000000, 2000000 }, 3, 10000),
		       *head = simulated((int64_t[]){ 1005000, 2500000 }, 3, 10000);
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = suites_compare(base, head, NULL);

	/* Three executions with a range of 20,000. */
	assert_int_equal(suites_find(suite, "parse")->verdict, DIFF_INCONCLUSIVE);
	assert_int_equal(suites_find(suite, "write")->verdict, DIFF_REGRESSED);
}

/* Samples of suites whose harness tells no times: CPU time, of an iteration where those are known. */
static struct profile *sampled(double parse, uint64_t iterations)
{
	struct profile *profile = suites_profile();

	for (int e = 0; e < 3; e++) {
		suites_add_execution(profile);
		for (int i = 0; i < 2; i++) {
			uint32_t run = suites_add(profile, i ? "s::write" : "s::parse", 0, 0);
			double count = 100000 * (i ? 1 : parse) * (1 + 0.001 * (e + i));

			profile->runs[run].measured.iterations = iterations;
			suites_add_sample(profile, run, i ? "main;write@3" : "main;parse@7", (int64_t)count,
				(int64_t)(count * 1e6));
		}
	}
	return profile;
}

static void without_times_the_metric_is_compared(void **state)
{
	struct profile *base = sampled(1, 0), *head = sampled(1.1, 0);
	struct diff_suite *suite = suites_compare(base, head, NULL);

	assert_true(!suite->is_measured && !suite->is_exact);
	assert_int_equal(suites_find(suite, "parse")->verdict, DIFF_REGRESSED);
	suites_assert_says(suite, "1 of 2 benchmarks takes more CPU time: parse by 10.0 % (95 %");
	assert_true(warns(suite, "2 benchmarks are compared per execution"));
	diff_suite_destroy(suite);
	profile_destroy(head);
	/* Twice the work in the same time. */
	head = sampled(1, 20);
	profile_destroy(base);
	base = sampled(1, 10);
	suite = suites_compare(base, head, NULL);
	suites_assert_near(suites_find(suite, "parse")->change, -0.5);
	assert_int_equal(suite->verdict, DIFF_IMPROVED);
	assert_false(warns(suite, "per execution"));
	diff_suite_destroy(suite);
	profile_destroy(base);
	profile_destroy(head);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slower_benchmark_is_named_first),
		cmocka_unit_test(values_have_the_change_that_is_shown),
		cmocka_unit_test(with_one_execution_large_changes_are_proven),
		cmocka_unit_test(equal_suites_are_unchanged),
		cmocka_unit_test(both_directions_are_mixed_and_small_changes_minor),
		cmocka_unit_test(a_single_side_is_a_list),
		cmocka_unit_test(a_side_without_benchmarks_is_an_error),
		cmocka_unit_test(runs_of_one_benchmark_are_weighted_by_iterations),
		cmocka_unit_test(missing_executions_leave_the_other_pairs),
		cmocka_unit_test(a_benchmark_without_times_is_told),
		cmocka_unit_test(two_executions_that_decide_decide),
		cmocka_unit_test(as_many_executions_as_are_said_tell),
		cmocka_unit_test(a_disturbed_execution_widens_no_interval),
		cmocka_unit_test(one_execution_does_not_tell_why_it_waits),
		cmocka_unit_test(rounds_without_iterations_tell_no_time),
		cmocka_unit_test(as_many_rounds_on_both_sides_are_compared),
		cmocka_unit_test(checkouts_are_found_by_what_both_have),
		cmocka_unit_test(one_side_may_be_a_repository),
		cmocka_unit_test(names_without_files_have_no_checkout),
		cmocka_unit_test(names_are_as_short_as_they_are_unique),
		cmocka_unit_test(the_environment_is_told_first),
		cmocka_unit_test(counts_of_simulations_are_exact),
		cmocka_unit_test(repeats_show_the_noise_of_counts),
		cmocka_unit_test(without_times_the_metric_is_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
