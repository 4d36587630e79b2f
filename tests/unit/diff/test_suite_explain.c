/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "suites_fixture.h"

#include "diff/lines.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>
#include <string.h>

/* ---- Functions and lines ---- */

/* Head makes twice the iterations in the same time; `lex` takes a line more, from 40 to 41, and line 45 is slow. */
static struct profile *explained(bool is_head, size_t executions)
{
	struct profile *profile = suites_profile();

	for (size_t e = 0; e < executions; e++) {
		int64_t more = (int64_t)(e % 3) * 20, times = is_head ? 2 : 1;
		uint32_t run;

		suites_add_execution(profile);
		suites_add_sample(
			profile, (uint32_t)profile->run_count - 1, "main;import", 900 + (int64_t)e, 900000000);
		run = suites_add(
			profile, "s::parse", (is_head ? 130 : 100) * (1 + 0.0005 * (double)e), is_head ? 2000 : 1000);
		suites_add_sample(profile, run, "root;parse@7", 20000 * times + more, (20000 * times + more) * 1000000);
		suites_add_sample(profile, run, is_head ? "root;parse@7;lex@41" : "root;parse@7;lex@40",
			10000 * times + more, (10000 * times + more) * 1000000);
		suites_add_sample(profile, run, is_head ? "root;parse@7;lex@46" : "root;parse@7;lex@45",
			(is_head ? 28000 : 5000) + more, ((is_head ? 28000 : 5000) + more) * 1000000);
		run = suites_add(profile, "s::write", 50 * (1 + 0.0005 * (double)e), 100);
		suites_add_sample(profile, run, "root;write@3", 30000 + more, (30000 + more) * 1000000);
	}
	return profile;
}

static const struct diff_function *function_of(const struct diff *diff, const char *name, uint32_t *id)
{
	for (*id = 0; *id < diff->function_count; ++*id)
		if (strcmp(diff_string(diff, diff->functions[*id].name), name) == 0)
			return &diff->functions[*id];
	fail_msg("there is no %s", name);
	return NULL;
}

static void a_change_is_explained_by_functions_and_lines(void **state)
{
	CLEANUP(profile_cleanup) struct profile *base = explained(false, 5), *head = explained(true, 5);
	struct diff_suite_options options = { .diff.runs_in_pairs = true };
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = suites_compare(base, head, &options);
	const struct diff_function *lex;
	struct diff_part part;
	struct diff_line line;
	struct error err;
	uint32_t parse, id, lines[64];

	assert_true(diff_suite_find(suite, "parse", &parse, &err));
	assert_int_equal(suite->benchmarks[parse].verdict, DIFF_REGRESSED);
	if (!diff_suite_explain(suite, parse, &part, &err))
		fail_msg("%s", err.message);
	assert_int_equal(part.diff->evidence.mode, DIFF_EVIDENCE_RUNS);
	assert_int_equal(part.profiles[DIFF_BASE]->run_count, 5);
	assert_int_equal(part.diff->scale.mode, DIFF_SCALE_PER_RUN);
	/* One of two benchmarks is proven to differ. */
	suites_assert_near(part.diff->evidence.q, 0.025);
	lex = function_of(part.diff, "lex", &id);
	assert_int_equal(lex->self.state, DIFF_STATE_MORE);
	/* 15,000 samples of base in five executions, and 48,000 / 2 of head. */
	assert_true(fabs(lex->self.base / 75e9 - 1) < 0.02 && fabs(lex->self.head / 120e9 - 1) < 0.02);
	diff_changed_line(part.diff, (const struct profile *const *)part.profiles, id, &line);
	assert_int_equal(line.line, 46);
	assert_true(line.head > 2.5 * line.base);
	diff_changed_lines(part.diff, (const struct profile *const *)part.profiles, lines);
	for (uint32_t i = 0; i < part.diff->function_count; i++)
		assert_int_equal(lines[i], i == id ? 46 : 0);
	assert_true(function_of(part.diff, "parse", &id)->self.state == DIFF_STATE_SAME ||
		    function_of(part.diff, "parse", &id)->self.state == DIFF_STATE_UNPROVEN);
	diff_part_deinit(&part);
}

/* The figures of a benchmark are those of its harness, here as in the list: 130 ns after 100, where lex takes 60 %
 * more. */
static void the_verdict_of_a_benchmark_is_that_of_the_list(void **state)
{
	CLEANUP(profile_cleanup) struct profile *base = explained(false, 5), *head = explained(true, 5);
	struct diff_suite_options options = { .diff.runs_in_pairs = true };
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = suites_compare(base, head, &options);
	struct diff_part part;
	struct error err;
	uint32_t id, lex;

	for (uint32_t i = 0; i < suite->benchmark_count; i++) {
		assert_true(diff_suite_explain(suite, i, &part, &err));
		assert_int_equal(part.diff->verdict, suite->benchmarks[i].verdict);
		diff_part_deinit(&part);
	}
	assert_true(diff_suite_find(suite, "parse", &id, &err));
	assert_true(diff_suite_explain(suite, id, &part, &err));
	function_of(part.diff, "lex", &lex);
	assert_int_equal(diff_suite_because(suite, id, part.diff), lex);
	assert_non_null(strstr(diff_string(part.diff, part.diff->verdict_text),
		"`parse` ran no changed code, and is slower by 30.0 % (95 % interval "));
	assert_non_null(strstr(diff_string(part.diff, part.diff->verdict_text), "`lex`"));
	diff_part_deinit(&part);
	assert_true(diff_suite_explain(suite, DIFF_ALL_BENCHMARKS, &part, &err));
	assert_int_equal(part.diff->verdict, suite->verdict);
	assert_string_equal(
		diff_string(part.diff, part.diff->verdict_text), diff_suite_string(suite, suite->verdict_text));
	diff_part_deinit(&part);
}

static void functions_of_what_is_not_proven_are_not_tested(void **state)
{
	CLEANUP(profile_cleanup) struct profile *base = explained(false, 5), *head = explained(true, 5);
	struct diff_suite_options options = { .diff.runs_in_pairs = true };
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = suites_compare(base, head, &options);
	struct diff_part part;
	struct error err;
	uint32_t id;

	assert_true(diff_suite_find(suite, "write", &id, &err));
	assert_true(diff_suite_explain(suite, id, &part, &err));
	suites_assert_near(part.diff->evidence.q, 1e-9);
	diff_part_deinit(&part);
	assert_true(diff_suite_explain(suite, DIFF_ALL_BENCHMARKS, &part, &err));
	suites_assert_near(part.diff->evidence.q, 0.025);
	/* What the harness does is no benchmark's. */
	for (size_t i = 0; i < part.diff->function_count; i++)
		assert_string_not_equal(diff_string(part.diff, part.diff->functions[i].name), "import");
	diff_part_deinit(&part);
}

/* Each side is then scaled to itself. */
static void sides_without_a_common_benchmark_are_explained(void **state)
{
	struct profile *profiles[DIFF_SIDES];
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = NULL;
	struct diff_part part;
	struct error err;

	for (int side = 0; side < DIFF_SIDES; side++) {
		uint32_t run;

		profiles[side] = suites_profile();
		suites_add_execution(profiles[side]);
		run = suites_add(profiles[side], side ? "t.py::write" : "t.py::parse", 1000, 500);
		suites_add_sample(profiles[side], run, "main;parse@12", 100, 100000000);
		assert_true(profile_finish(profiles[side], &err));
	}
	suite = suites_compare(profiles[DIFF_BASE], profiles[DIFF_HEAD], NULL);
	assert_int_equal(suite->added, 1);
	assert_true(diff_suite_explain(suite, DIFF_ALL_BENCHMARKS, &part, &err));
	suites_assert_near(part.diff->raw_total[DIFF_HEAD], 100000000);
	diff_part_deinit(&part);
	profile_destroy(profiles[DIFF_BASE]);
	profile_destroy(profiles[DIFF_HEAD]);
}

static void what_one_side_has_is_explained_alone(void **state)
{
	CLEANUP(profile_cleanup) struct profile *base = explained(false, 3), *head = explained(true, 3);
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = NULL;
	struct diff_part part;
	struct diff_line line;
	struct error err;
	uint32_t id;

	suites_add_sample(base, suites_add(base, "s::old", 5, 10), "root;old@9", 1000, 1000000000);
	suites_add(head, "s::new", 5, 10);
	suite = suites_compare(base, head, NULL);
	assert_true(diff_suite_find(suite, "old", &id, &err));
	assert_true(diff_suite_explain(suite, id, &part, &err));
	assert_int_equal(part.diff->sides, 1);
	assert_null(part.profiles[DIFF_BASE]);
	function_of(part.diff, "old", &id);
	diff_changed_line(part.diff, (const struct profile *const *)part.profiles, id, &line);
	assert_int_equal(line.line, 9);
	diff_part_deinit(&part);
	assert_true(diff_suite_find(suite, "new", &id, &err));
	assert_false(diff_suite_explain(suite, id, &part, &err));
	assert_int_equal(err.code, ERROR_EMPTY);
	assert_non_null(strstr(err.message, "no sample of head fell into new"));
}

static void gates_judge_functions_of_benchmarks(void **state)
{
	CLEANUP(profile_cleanup) struct profile *base = explained(false, 5), *head = explained(true, 5);
	struct diff_gate gates[2];
	struct diff_suite_options options = { .diff = { .gates = gates, .gate_count = 1, .runs_in_pairs = true } };
	struct diff_suite *suite;
	struct error err;

	assert_true(diff_gate_parse("function:lex>50%", &gates[0], &err));
	suite = suites_compare(base, head, &options);
	assert_true(suite->gate_failed);
	suites_assert_says(suite, "; in parse, `lex` takes 59.8 %");
	diff_suite_destroy(suite);
	assert_true(diff_gate_parse("function:lex>70%", &gates[0], &err));
	assert_true(diff_gate_parse("total>40%", &gates[1], &err));
	options.diff.gate_count = 2;
	suite = suites_compare(base, head, &options);
	assert_false(suite->gate_failed);
	assert_int_equal(suite->verdict, DIFF_REGRESSED);
	diff_suite_destroy(suite);
}

/* ---- Size and memory ---- */

static void ten_thousand_benchmarks_are_compared_in_proportion(void **state)
{
	enum { COUNT = 10000 };
	static double rsds[COUNT];
	struct suites suites = suites_create(1, COUNT);
	CLEANUP(profile_cleanup) struct profile *base = NULL, *head = NULL;
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = NULL;

	suites_draw_rsds(&suites, rsds);
	base = suites_record(&suites, rsds, 5, SIZE_MAX, 1);
	head = suites_record(&suites, rsds, 5, 17, 1.5);
	suite = suites_compare(base, head, &(struct diff_suite_options){ .diff.runs_in_pairs = true });
	assert_int_equal(suite->benchmark_count, COUNT);
	assert_string_equal(diff_suite_string(suite, suite->benchmarks[0].name), "test_17");
	suites_deinit(&suites);
}

static void without_memory_the_process_ends(void **state)
{
	CLEANUP(profile_cleanup) struct profile *base = explained(false, 3), *head = explained(true, 3);
	struct diff_gate gate = { .subject = DIFF_GATE_FUNCTION, .percent = 5 };
	struct diff_suite_options options = { .diff = { .runs_in_pairs = true, .gates = &gate, .gate_count = 1 } };
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = NULL;
	struct error err;

	suites_add(head, "s::new", 5, 10);
	while (failing_malloc_in_child())
		failing_malloc_end(diff_suite_create(base, head, &options, &suite, &err), &err);
}

/* ---- Functions that are all of a benchmark ---- */

/* Samples of 10 ms a side has of `work` in each execution, and of what else the benchmark runs; they add up to it. */
struct whole {
	int64_t work, rest;
};

static struct profile *with_whole(struct whole side, size_t executions)
{
	static const int64_t sample_ns = 10000000;
	struct profile *profile = suites_profile();

	for (size_t e = 0; e < executions; e++) {
		double all = (double)((side.work + side.rest) * sample_ns);
		/* one sample more or less, by where in the benchmark the first one falls */
		int64_t work = side.work + (int64_t)(e % 3) - 1;
		uint32_t run;

		suites_add_execution(profile);
		run = suites_add(profile, "s::crunch", all * (1 + 0.0005 * (double)(e % 4)), 1);
		profile->runs[run].duration_ns = (int64_t)all;
		suites_add_sample(profile, run, "root;crunch@7;work@40", work, work * sample_ns);
		if (side.rest > 0)
			suites_add_sample(profile, run, "root;crunch@7;rest@50", side.rest, side.rest * sample_ns);
	}
	return profile;
}

/* The state of `work` in the benchmark, whose change is proven to be `verdict`. */
static enum diff_state state_of_work(struct whole before, struct whole after, enum diff_verdict verdict)
{
	CLEANUP(profile_cleanup) struct profile *base = with_whole(before, 6), *head = with_whole(after, 6);
	struct diff_suite_options options = { .diff.runs_in_pairs = true };
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = suites_compare(base, head, &options);
	enum diff_state state;
	struct diff_part part;
	struct error err;
	uint32_t id;

	assert_int_equal(suite->benchmarks[0].verdict, verdict);
	assert_true(diff_suite_explain(suite, 0, &part, &err));
	state = function_of(part.diff, "work", &id)->self.state;
	/* All samples lie below this one. */
	assert_int_equal(function_of(part.diff, "crunch", &id)->total.state,
		verdict == DIFF_REGRESSED ? DIFF_STATE_MORE : DIFF_STATE_LESS);
	diff_part_deinit(&part);
	return state;
}

static void what_is_all_of_a_benchmark_has_its_proof(void **state)
{
	(void)state;
	/* Six times 13 samples after 12 prove nothing; the harness' clock does. */
	assert_int_equal(
		state_of_work((struct whole){ 12, 0 }, (struct whole){ 13, 0 }, DIFF_REGRESSED), DIFF_STATE_MORE);
	assert_int_equal(
		state_of_work((struct whole){ 13, 0 }, (struct whole){ 12, 0 }, DIFF_IMPROVED), DIFF_STATE_LESS);
}

static void what_is_a_part_of_a_benchmark_has_not(void **state)
{
	(void)state;
	/* A fifth of the benchmark is something else. */
	assert_int_equal(
		state_of_work((struct whole){ 12, 3 }, (struct whole){ 13, 3 }, DIFF_REGRESSED), DIFF_STATE_UNPROVEN);
	/* What is 4 % more is not `work`, which is nearly all of it. */
	assert_int_not_equal(
		state_of_work((struct whole){ 100, 0 }, (struct whole){ 100, 4 }, DIFF_REGRESSED), DIFF_STATE_MORE);
}

/* ---- Functions whose time is in many small ones ---- */

static struct profile *with_pieces(const int64_t pieces[4], size_t executions)
{
	static const int64_t sample_ns = 10000000;
	static const char *const stacks[] = { "root;crunch@7;slice@1", "root;crunch@7;push@2", "root;crunch@8;lower@3",
		"root;crunch@8;join@4" };
	struct profile *profile = suites_profile();

	for (size_t e = 0; e < executions; e++) {
		double all = (double)((pieces[0] + pieces[1] + pieces[2] + pieces[3]) * sample_ns);
		uint32_t run;

		suites_add_execution(profile);
		run = suites_add(profile, "s::crunch", all * (1 + 0.0005 * (double)(e % 4)), 1);
		profile->runs[run].duration_ns = (int64_t)all;
		for (size_t i = 0; i < 4; i++) {
			/* one sample more or less, and one less or more in the next */
			int64_t count = pieces[i] + ((e + i) % 2 ? 1 : -1);

			suites_add_sample(profile, run, stacks[i], count, count * sample_ns);
		}
	}
	return profile;
}

static void a_change_in_small_pieces_is_explained_by_what_calls_them(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base = with_pieces((const int64_t[]){ 4, 4, 4, 4 }, 6),
		       *head = with_pieces((const int64_t[]){ 5, 4, 5, 4 }, 6);
	struct diff_suite_options options = { .diff.runs_in_pairs = true };
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = suites_compare(base, head, &options);
	struct diff_part part;
	struct error err;
	uint32_t crunch;

	assert_int_equal(suite->benchmarks[0].verdict, DIFF_REGRESSED);
	assert_true(diff_suite_explain(suite, 0, &part, &err));
	for (size_t i = 0; i < part.diff->function_count; i++)
		assert_false(diff_state_is_difference(part.diff->functions[i].self.state));
	/* `root` has the same time, and says less. */
	function_of(part.diff, "crunch", &crunch);
	assert_int_equal(diff_suite_because(suite, 0, part.diff), crunch);
	assert_ptr_equal(diff_suite_reason(&part.diff->functions[crunch]), &part.diff->functions[crunch].total);
	assert_non_null(
		strstr(diff_string(part.diff, part.diff->verdict_text), "with all that it calls takes 12.5 % more"));
	diff_part_deinit(&part);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_is_explained_by_functions_and_lines),
		cmocka_unit_test(what_is_all_of_a_benchmark_has_its_proof),
		cmocka_unit_test(what_is_a_part_of_a_benchmark_has_not),
		cmocka_unit_test(a_change_in_small_pieces_is_explained_by_what_calls_them),
		cmocka_unit_test(the_verdict_of_a_benchmark_is_that_of_the_list),
		cmocka_unit_test(functions_of_what_is_not_proven_are_not_tested),
		cmocka_unit_test(sides_without_a_common_benchmark_are_explained),
		cmocka_unit_test(what_one_side_has_is_explained_alone),
		cmocka_unit_test(gates_judge_functions_of_benchmarks),
		cmocka_unit_test(ten_thousand_benchmarks_are_compared_in_proportion),
		cmocka_unit_test(without_memory_the_process_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
