/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/lines.h"

#include "lined_fixture.h"
#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

static struct profile *sampled(void)
{
	struct profile *profile = lined_profile();
	struct error err;

	lined_add(profile, "main@1;parse@7", 1);
	lined_add(profile, "main@1;get@3<parse@7", 2);
	lined_add(profile, "main@1;get@3<get@4<parse@8", 4);
	lined_add(profile, "main@2;parse@7;parse@7;parse@9", 8);
	lined_add(profile, "main@2;parse@macros.h:5", 16);
	lined_add(profile, "main@2;parse@7;read@2", 32);
	assert_true(profile_finish(profile, &err));
	return profile;
}

/* ---- Lines of one side ---- */

static struct diff *single_of(const struct profile *profile)
{
	struct diff *diff = NULL;
	struct error err;

	if (!diff_create_single(profile, NULL, &diff, &err))
		fail_msg("%s", err.message);
	return diff;
}

static struct diff_lines *lines_of(const struct diff *diff, const struct profile *profile, const char *names)
{
	bool *wanted = calloc(diff->function_count, sizeof(*wanted));
	struct diff_lines *lines = NULL;

	for (size_t i = 0; i < diff->function_count; i++)
		wanted[i] = strstr(names, diff_string(diff, diff->functions[i].name)) != NULL;
	diff_lines_create(diff, DIFF_HEAD, profile, wanted, &lines);
	free(wanted);
	return lines;
}

static const struct diff_place *place_at(
	const struct diff_lines *lines, const struct profile *profile, const char *file, uint32_t line)
{
	for (size_t i = 0; i < lines->place_count; i++)
		if (lines->places[i].line == line && strcmp(profile_string(profile, lines->places[i].file), file) == 0)
			return &lines->places[i];
	fail_msg("no line %s:%u", file, line);
	return NULL;
}

static void expect(const struct diff_place *place, int self, int inlined, int total)
{
	if (place->self != self * (double)LINED_SAMPLE_NS || place->inlined != inlined * (double)LINED_SAMPLE_NS ||
		place->total != total * (double)LINED_SAMPLE_NS || place->samples != total)
		fail_msg("line %u: %g %g %g of %g samples instead of %d %d %d", place->line,
			place->self / LINED_SAMPLE_NS, place->inlined / LINED_SAMPLE_NS, place->total / LINED_SAMPLE_NS,
			place->samples, self, inlined, total);
}

static void lines_have_their_own_time_that_of_inlined_code_and_all_that_they_call(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = sampled();
	CLEANUP(diff_cleanup) struct diff *diff = single_of(profile);
	CLEANUP(diff_lines_cleanup) struct diff_lines *lines = lines_of(diff, profile, "main parse get");

	expect(place_at(lines, profile, "parse.c", 7), 1, 1 + 2, 1 + 2 + 8 + 32);
	expect(place_at(lines, profile, "parse.c", 8), 0, 4, 4);
	expect(place_at(lines, profile, "parse.c", 9), 8, 8, 8);
	expect(place_at(lines, profile, "get.c", 3), 2 + 4, 2 + 4, 2 + 4);
	expect(place_at(lines, profile, "get.c", 4), 0, 4, 4);
	expect(place_at(lines, profile, "main.c", 1), 0, 0, 7);
	expect(place_at(lines, profile, "main.c", 2), 0, 0, 56);
	expect(place_at(lines, profile, "macros.h", 5), 16, 16, 16);
	assert_false(diff_place_is_own(profile, place_at(lines, profile, "macros.h", 5)));
	assert_true(diff_place_is_own(profile, place_at(lines, profile, "parse.c", 9)));
	assert_int_equal(lines->place_count, 8);
}

/* The self times of a function's lines are the self time of the function, whoever is inlined where. */
static void the_lines_of_a_function_add_up_to_it(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = sampled();
	CLEANUP(diff_cleanup) struct diff *diff = single_of(profile);
	CLEANUP(diff_lines_cleanup) struct diff_lines *lines = lines_of(diff, profile, "main parse get read");

	for (size_t f = 0; f < diff->function_count; f++) {
		double self = 0;

		for (size_t i = 0; i < lines->place_count; i++)
			self += lines->places[i].function == f ? lines->places[i].self : 0;
		assert_true(self == diff->functions[f].self.head);
	}
}

static void a_chain_has_each_line_of_a_stack_once(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = sampled();
	CLEANUP(diff_cleanup) struct diff *diff = single_of(profile);
	CLEANUP(diff_lines_cleanup) struct diff_lines *lines = lines_of(diff, profile, "parse");
	const struct diff_place *seven = place_at(lines, profile, "parse.c", 7);
	uint32_t chain = lines->stack_chains[profile->samples[3].stack];

	assert_int_equal(lines->places[lines->chains[chain].place].line, 9);
	chain = lines->chains[chain].parent;
	assert_ptr_equal(&lines->places[lines->chains[chain].place], seven);
	assert_int_equal(lines->chains[chain].parent, 0);
	/* read() is not wanted: the chain of its stack is that of its caller. */
	assert_int_equal(lines->stack_chains[profile->samples[5].stack],
		lines->stack_chains[profile->stacks[profile->samples[5].stack].parent]);
}

/* GCC's `grow.part.0` is grow() inlined into grow() at the line of its definition, which calls nothing. */
static void a_part_of_a_split_function_is_no_call(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = lined_profile();
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	CLEANUP(diff_lines_cleanup) struct diff_lines *lines = NULL;

	lined_add(profile, "main@1;grow=5@9<grow=5@5", 3);
	lined_add(profile, "main@1;grow=5@9<grow=5@8", 2);
	diff = single_of(profile);
	lines = lines_of(diff, profile, "grow");
	expect(place_at(lines, profile, "grow.c", 9), 5, 5, 5);
	expect(place_at(lines, profile, "grow.c", 8), 0, 2, 2);
	assert_int_equal(lines->place_count, 2);
}

/* What the samples of each stack were executing adds up to the times of lines: a page adds up parts of it. */
static void the_lines_that_stacks_end_at_add_up(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = sampled();
	CLEANUP(diff_cleanup) struct diff *diff = single_of(profile);
	CLEANUP(diff_lines_cleanup) struct diff_lines *lines = lines_of(diff, profile, "parse");
	double self[8] = { 0 }, inlined[8] = { 0 };

	assert_in_range(lines->place_count, 1, 8);
	for (size_t i = 0; i < profile->sample_count; i++) {
		uint32_t stack = profile->samples[i].stack, first = lines->first_owner[stack];
		double value = (double)profile->values[i * profile->value_type_count + 1];

		for (uint32_t k = first; k < lines->first_owner[stack + 1]; k++) {
			if (lines->owners[k] == PROFILE_NONE)
				continue;
			self[lines->owners[k]] += k == first ? value : 0;
			inlined[lines->owners[k]] += value;
		}
	}
	for (size_t i = 0; i < lines->place_count; i++) {
		assert_true(lines->places[i].self == self[i]);
		assert_true(lines->places[i].inlined == inlined[i]);
	}
	(void)state;
}

/* An interpreter's own time is that of the line which it runs. */
static void lines_of_an_interpreter_are_those_of_the_program(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = lined_profile();
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	CLEANUP(diff_lines_cleanup) struct diff_lines *lines = NULL;
	struct error err;

	lined_add(profile, "py::run:/srv/w.py@12", 1);
	lined_add(profile, "py::run:/srv/w.py@12;Py_call@2<Py_eval@9", 2);
	lined_add(profile, "py::run:/srv/w.py@13;sort@4;Py_call@2", 4);
	assert_true(profile_finish(profile, &err));
	diff = single_of(profile);
	lines = lines_of(diff, profile, "py::run:/srv/w.py");
	expect(place_at(lines, profile, "w.py", 12), 3, 3, 3);
	expect(place_at(lines, profile, "w.py", 13), 0, 0, 4);
}

/* A deep recursion over many lines, as a parser has: the time is in proportion to the stacks. */
static void many_stacks_are_passed_once(void **state)
{
	enum { STACKS = 200000, LINES = 50 };
	CLEANUP(profile_cleanup) struct profile *profile = lined_profile();
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	CLEANUP(diff_lines_cleanup) struct diff_lines *lines = NULL;
	uint32_t locations[LINES], stack = 0;
	struct error err;
	double total = 0;

	for (int i = 0; i < LINES; i++) {
		char text[64];

		snprintf(text, sizeof(text), "parse@%d", i + 1);
		locations[i] = lined_location(profile, text);
	}
	for (int i = 0; i < STACKS; i++) {
		stack = i % 1000 == 0 ? 0 : stack;
		assert_true(profile_add_stack(profile, stack, locations[(i * 7 + i / 1000) % LINES], &stack, &err));
		assert_true(profile_add_sample(profile, stack, 0, (int64_t[]){ 1, LINED_SAMPLE_NS }, -1, &err));
	}
	assert_true(profile_finish(profile, &err));
	diff = single_of(profile);
	lines = lines_of(diff, profile, "parse");
	assert_int_equal(lines->place_count, LINES);
	for (size_t i = 0; i < lines->place_count; i++)
		total += lines->places[i].self;
	assert_true(total == STACKS * (double)LINED_SAMPLE_NS);
	/* Chains grow by new lines only: 200 stacks from the root have 50 each at most. */
	assert_true(lines->chain_count <= 1 + STACKS / 1000 * LINES);
}

static void without_memory_the_process_ends(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = sampled();
	CLEANUP(diff_cleanup) struct diff *diff = single_of(profile);
	struct diff_lines *lines;
	bool wanted[16];

	memset(wanted, true, sizeof(wanted));
	assert_true(diff->function_count < sizeof(wanted));
	while (failing_malloc_in_child()) {
		diff_lines_create(diff, DIFF_HEAD, profile, wanted, &lines);
		failing_malloc_end(true, NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_have_their_own_time_that_of_inlined_code_and_all_that_they_call),
		cmocka_unit_test(the_lines_of_a_function_add_up_to_it),
		cmocka_unit_test(a_chain_has_each_line_of_a_stack_once),
		cmocka_unit_test(a_part_of_a_split_function_is_no_call),
		cmocka_unit_test(the_lines_that_stacks_end_at_add_up),
		cmocka_unit_test(lines_of_an_interpreter_are_those_of_the_program),
		cmocka_unit_test(many_stacks_are_passed_once),
		cmocka_unit_test(without_memory_the_process_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
