/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/regroup.h"

#include "profile_fixture.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/profile.h"

#include <string.h>

/*
 * One run of two threads with a stack for each of four functions, and a wait of the last: 1,000 events, whose values
 * differ between the functions. Names end as compilers' variants of one function do, which groups are not.
 */
enum { EVENTS = 1000, FUNCTIONS = 4 };

static const char *const groups[] = { "route=/a.part.1", "route=/a.part.2", "outer" };

static uint32_t stack_of(struct profile *p, const char *name)
{
	struct profile_function function = { .name = profile_id(p, name), .module = profile_id(p, "srv") };
	struct profile_line line = { 0 };
	uint32_t location, stack;
	struct error err;

	must(profile_add_function(p, &function, &line.function, &err), &err);
	must(profile_add_location_of_lines(p, PROFILE_NONE, &line, 1, &location, &err), &err);
	must(profile_add_stack(p, 0, location, &stack, &err), &err);
	return stack;
}

static struct profile *recording(void)
{
	const struct profile_run run = { .start_unix_ns = 5, .duration_ns = 1000000000, .name = 0 };
	uint32_t stacks[FUNCTIONS + 1], threads[2], id;
	struct profile *p;
	struct error err;

	must(profile_create(&p, &err) && profile_add_value_type(p, "cpu", "nanoseconds", &err) &&
			profile_add_wait_values(p, &err) && profile_add_run(p, &run, &id, &err),
		&err);
	for (int i = 0; i < FUNCTIONS; i++)
		stacks[i] = stack_of(p, (const char *[]){ "f", "g", "h", "wait" }[i]);
	must(profile_add_wait_stack(p, stacks[3], PROFILE_WAIT_LOCK, &stacks[4], &err), &err);
	for (int i = 0; i < 2; i++)
		must(profile_add_thread(p,
			     &(struct profile_thread){ .pid = 7, .tid = 7 + i, .name = profile_id(p, "worker") },
			     &threads[i], &err),
			&err);
	for (int i = 0; i < EVENTS; i++) {
		int which = i % (FUNCTIONS + 1);
		int64_t values[PROFILE_MAX_VALUE_TYPES] = { 1, 1000 * (1 + which), 0, 0, 1000 * (1 + which) };

		if (which == FUNCTIONS)
			profile_wait_fill(p, PROFILE_WAIT_LOCK, 10 + i, values);
		must(profile_add_sample(p, stacks[which], threads[i % 2], values, i * 1000, &err), &err);
		must(which < FUNCTIONS || profile_weigh_event(p, 10 + i, &err), &err);
	}
	must(profile_finish(p, &err), &err);
	return p;
}

static const char *leaf_of(const struct profile *p, uint32_t sample)
{
	const struct profile_location *leaf = &p->locations[p->stacks[p->samples[sample].stack].location];

	return profile_string(p, p->functions[p->lines[leaf->first_line].function].name);
}

struct assignment {
	uint32_t first[64], groups[64];
	struct profile_regrouping regrouping;
};

/* f, and g below "outer": group 0; h: group 1; the rest without any. */
static void assign(const struct profile *p, struct assignment *a)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < p->sample_count; i++) {
		const char *leaf = leaf_of(p, i);

		a->first[i] = count;
		if (strcmp(leaf, "g") == 0)
			a->groups[count++] = 2;
		if (strcmp(leaf, "f") == 0 || strcmp(leaf, "g") == 0)
			a->groups[count++] = 0;
		if (strcmp(leaf, "h") == 0)
			a->groups[count++] = 1;
	}
	a->first[p->sample_count] = count;
	a->regrouping = (struct profile_regrouping){
		.names = groups, .group_count = 3, .first = a->first, .groups = a->groups, .rest = "(none)"
	};
}

static struct profile *regrouped(const struct profile *p, const struct profile_regrouping *regrouping)
{
	struct profile *made;
	struct error err;

	must(profile_regroup(p, regrouping, &made, &err) && profile_validate(made, &err), &err);
	return made;
}

static int64_t value_of(const struct profile *p, uint32_t type, const char *leaf)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < p->sample_count; i++)
		if (strcmp(leaf_of(p, i), leaf) == 0)
			sum += p->values[i * p->value_type_count + type];
	return sum;
}

static void groups_are_functions_and_nothing_else_changes(void **state)
{
	CLEANUP(profile_cleanup) struct profile *p = recording();
	CLEANUP(profile_cleanup) struct profile *made = NULL;
	struct assignment a;

	assign(p, &a);
	made = regrouped(p, &a.regrouping);
	for (uint32_t type = 0; type < p->value_type_count; type++)
		assert_int_equal(profile_sum(made, type), profile_sum(p, type));
	assert_int_equal(value_of(made, 1, groups[0]), value_of(p, 1, "f") + value_of(p, 1, "g"));
	assert_int_equal(value_of(made, 1, groups[1]), value_of(p, 1, "h"));
	assert_int_equal(value_of(made, 1, "(none)"), value_of(p, 1, "wait"));
	assert_int_equal(value_of(made, 3, "[waiting: lock]"), value_of(p, 3, "[waiting: lock]"));
	assert_int_equal(made->run_count, 1);
	assert_int_equal(made->runs[0].duration_ns, p->runs[0].duration_ns);
	assert_int_equal(made->thread_count, p->thread_count);
	assert_int_equal(made->function_count, 5);
	assert_true(made->has_timeline);
	assert_int_equal(made->default_value_type, p->default_value_type);
}

static void variants_of_a_name_are_groups_of_their_own(void **state)
{
	CLEANUP(profile_cleanup) struct profile *p = recording();
	CLEANUP(profile_cleanup) struct profile *made = NULL;
	struct assignment a;

	assign(p, &a);
	made = regrouped(p, &a.regrouping);
	for (uint32_t i = 0; i < made->function_count; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_int_not_equal(made->functions[i].key, made->functions[k].key);
}

static void the_outermost_group_is_the_caller(void **state)
{
	CLEANUP(profile_cleanup) struct profile *p = recording();
	CLEANUP(profile_cleanup) struct profile *made = NULL;
	size_t below = 0;
	struct assignment a;

	assign(p, &a);
	made = regrouped(p, &a.regrouping);
	for (uint32_t i = 0; i < made->sample_count; i++) {
		uint32_t parent = made->stacks[made->samples[i].stack].parent;
		const struct profile_location *caller = &made->locations[made->stacks[parent].location];

		if (parent == 0 || strcmp(leaf_of(made, i), groups[0]) != 0)
			continue;
		assert_string_equal(
			profile_string(made, made->functions[made->lines[caller->first_line].function].name), "outer");
		below++;
	}
	assert_int_equal(below, 2);
}

/* The value of an event is its share of its sample's: the timeline as a diff's blocks see it. */
static double event_value(const struct profile *p, size_t event, const int64_t *weights)
{
	uint32_t sample = p->events[event].sample;

	return (double)p->values[sample * p->value_type_count + p->default_value_type] *
	       (double)profile_event_weight(p, event) / (double)weights[sample];
}

static void each_event_keeps_its_time_and_its_value(void **state)
{
	CLEANUP(profile_cleanup) struct profile *p = recording();
	CLEANUP(profile_cleanup) struct profile *made = NULL;
	int64_t weights[2][64] = { 0 };
	uint32_t none[65] = { 0 };
	const struct profile_regrouping all = { .first = none, .groups = none, .rest = "all" };

	made = regrouped(p, &all);
	assert_int_equal(made->event_count, p->event_count);
	for (size_t i = 0; i < p->event_count; i++) {
		weights[0][p->events[i].sample] += profile_event_weight(p, i);
		weights[1][made->events[i].sample] += profile_event_weight(made, i);
	}
	for (size_t i = 0; i < p->event_count; i++) {
		assert_int_equal(made->events[i].time_ns, p->events[i].time_ns);
		assert_float_equal(event_value(made, i, weights[1]), event_value(p, i, weights[0]), 1e-6);
	}
}

static void what_is_left_out_has_neither_value_nor_events(void **state)
{
	CLEANUP(profile_cleanup) struct profile *p = recording();
	CLEANUP(profile_cleanup) struct profile *made = NULL;
	bool left_out[64] = { false };
	struct assignment a;

	assign(p, &a);
	for (uint32_t i = 0; i < p->sample_count; i++)
		left_out[i] = strcmp(leaf_of(p, i), "f") == 0;
	a.regrouping.left_out = left_out;
	made = regrouped(p, &a.regrouping);
	assert_int_equal(value_of(made, 1, groups[0]), value_of(p, 1, "g"));
	assert_int_equal(made->event_count, EVENTS - EVENTS / (FUNCTIONS + 1));
	for (uint32_t i = 0; i < p->sample_count; i++)
		left_out[i] = true;
	profile_destroy(made);
	made = regrouped(p, &a.regrouping);
	assert_int_equal(made->sample_count + made->event_count, 0);
}

static void everything_of_a_profile_may_be_regrouped(void **state)
{
	CLEANUP(profile_cleanup) struct profile *p = sample_profile();
	CLEANUP(profile_cleanup) struct profile *made = NULL;
	CLEANUP(cleanup_free) uint32_t *none = calloc(p->sample_count + 1, sizeof(*none));
	const struct profile_regrouping all = { .first = none, .groups = none, .rest = "all" };

	made = regrouped(p, &all);
	assert_int_equal(made->run_count, p->run_count);
	assert_int_equal(made->requests.exchange_count, p->requests.exchange_count);
	assert_int_equal(made->quality.samples, p->quality.samples);
	assert_int_equal(profile_sum(made, 0), profile_sum(p, 0));
}

static void memory_that_is_not_there_is_an_error(void **state)
{
	CLEANUP(profile_cleanup) struct profile *p = recording(), *made = NULL;
	struct assignment a;
	struct error err;
	bool ok = false;

	assign(p, &a);
	for (size_t n = 0; !ok; n++) {
		failing_malloc_after(n);
		ok = profile_regroup(p, &a.regrouping, &made, &err);
		failing_malloc_after(SIZE_MAX);
		assert_true(ok || err.code == ERROR_MEMORY);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_are_functions_and_nothing_else_changes),
		cmocka_unit_test(variants_of_a_name_are_groups_of_their_own),
		cmocka_unit_test(the_outermost_group_is_the_caller),
		cmocka_unit_test(each_event_keeps_its_time_and_its_value),
		cmocka_unit_test(what_is_left_out_has_neither_value_nor_events),
		cmocka_unit_test(everything_of_a_profile_may_be_regrouped),
		cmocka_unit_test(memory_that_is_not_there_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
