/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char before[] = "main;a 4000\nmain;b 3000\nmain;operator>> 1000\n";
static const char after[] = "main;a 4400\nmain;b 3000\nmain;operator>> 1000\nmain;added 100\n";

static void rules_are_parsed(void **state)
{
	struct diff_gate gate;
	struct error err;

	assert_true(diff_gate_parse("total>2%", &gate, &err));
	assert_true(gate.subject == DIFF_GATE_TOTAL && gate.percent == 2);
	assert_true(diff_gate_parse("function>5.5", &gate, &err));
	assert_true(gate.subject == DIFF_GATE_FUNCTION && !gate.function && gate.percent == 5.5);
	assert_true(diff_gate_parse("function:std::vector<int>::at>1%", &gate, &err));
	assert_true(gate.subject == DIFF_GATE_FUNCTION && gate.function && gate.percent == 1);
}

static void wrong_rules_are_named_with_an_example(void **state)
{
	static const char *const wrong[] = { "", "total", "total>", "total>x%", "total>2%%", "total>-1%", "total>nan%",
		"function:>1%", "totals>1%", ">3%" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct diff_gate gate = { .percent = -7 };
		struct error err;

		assert_false(diff_gate_parse(wrong[i], &gate, &err));
		assert_int_equal(err.code, ERROR_USAGE);
		assert_non_null(strstr(err.message, "total>2%"));
		assert_non_null(strstr(err.message, wrong[i]));
		assert_true(gate.percent == -7);
	}
}

struct outcome {
	bool failed;
	enum diff_verdict verdict;
	char text[300];
};

static struct outcome hold(const char *base_lines, const char *head_lines, const char *rule, bool other_cpu)
{
	struct profile *base = synthetic_runs(base_lines, 4), *head = synthetic_runs(head_lines, 4);
	struct diff_gate gate;
	struct diff_options options = { .gates = &gate, .gate_count = 1 };
	struct outcome outcome = { 0 };
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	struct error err;

	assert_true(diff_gate_parse(rule, &gate, &err));
	if (other_cpu) {
		assert_true(profile_intern(base, "Model A", &base->facts.cpu_model, &err));
		assert_true(profile_intern(head, "Model B", &head->facts.cpu_model, &err));
	}
	diff = synthetic_compare(base, head, &options);
	outcome.failed = diff->gate_failed;
	outcome.verdict = diff->verdict;
	snprintf(outcome.text, sizeof(outcome.text), "%s", diff_string(diff, diff->verdict_text));
	return outcome;
}

static void a_proven_increase_beyond_the_limit_fails(void **state)
{
	struct outcome outcome = hold(before, after, "total>2%", false);

	assert_true(outcome.failed && outcome.verdict == DIFF_REGRESSED);
	assert_string_equal(outcome.text, "total CPU time grew by 6.2 %, above the limit of 2 %");
	outcome = hold(before, after, "function:a>5%", false);
	assert_true(outcome.failed);
	outcome = hold(before, after, "function>20%", false);
	assert_true(outcome.failed);
	assert_string_equal(outcome.text, "`added` is new, which exceeds every limit (here 20 %)");
	outcome = hold(before, after, "function:main>2%", false);
	assert_true(outcome.failed);
	assert_string_equal(outcome.text, "`main` takes 6.2 % more CPU time with all it calls, above the limit of 2 %");
}

static void within_the_limit_it_passes(void **state)
{
	assert_false(hold(before, after, "total>8%", false).failed);
	assert_false(hold(before, after, "function:b>1%", false).failed);
	assert_false(hold(before, after, "function:a>11%", false).failed);
	assert_false(hold(before, after, "function:operator>>>1%", false).failed);
	assert_false(hold(after, before, "total>0%", false).failed);
}

static void a_machine_that_differs_is_not_judged(void **state)
{
	struct outcome outcome = hold(before, after, "total>2%", true);

	assert_false(outcome.failed);
	assert_int_equal(outcome.verdict, DIFF_INCONCLUSIVE);
	assert_non_null(strstr(outcome.text, "Model A"));
}

/* Where time came from does not matter to who limits what a function takes; and a trifle that is new holds nothing up.
 */
static void no_state_is_a_way_out(void **state)
{
	static const char without[] = "main#1;call#2;work#3 7000\nmain#1;other#5 4000\n";
	static const char with[] = "main#1;wrap#6;call#2;work#3 7000\nmain#1;other#5 4000\n";
	static const char trifle[] = "main#1;call#2;work#3 7000\nmain#1;other#5 4000\nmain#1;extra#7 40\n";

	assert_true(hold(without, with, "function:wrap>5%", false).failed);
	assert_true(hold(without, with, "function>5%", false).failed);
	assert_false(hold(without, trifle, "function>5%", false).failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_parsed),
		cmocka_unit_test(wrong_rules_are_named_with_an_example),
		cmocka_unit_test(a_proven_increase_beyond_the_limit_fails),
		cmocka_unit_test(within_the_limit_it_passes),
		cmocka_unit_test(a_machine_that_differs_is_not_judged),
		cmocka_unit_test(no_state_is_a_way_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
