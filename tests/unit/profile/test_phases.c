/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile_fixture.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * A recording of one execution of two threads: 1,000 events of CPU time, one a millisecond, whose samples have values
 * that do not divide evenly, and every tenth a wait for a lock with a weight of its own. The measured function `parse`
 * runs below a root frame that is inlined into the harness.
 */
enum { EVENTS = 1000, STACKS = 4, WAITER = 3 };

static uint32_t function(struct profile *p, const char *name)
{
	struct profile_function made = { .name = profile_id(p, name), .module = profile_id(p, "bench") };
	struct error err;
	uint32_t id;

	must(profile_add_function(p, &made, &id, &err), &err);
	return id;
}

static uint32_t grow(struct profile *p, uint32_t parent, uint64_t address, const struct profile_line *lines, size_t n)
{
	struct error err;
	uint32_t location, stack;

	must(profile_add_location(p, 0, address, &location, &err), &err);
	must(p->locations[location].line_count > 0 || profile_set_lines(p, location, lines, n, &err), &err);
	must(profile_add_stack(p, parent, location, &stack, &err), &err);
	return stack;
}

static void add_requests(struct profile *p)
{
	const struct profile_exchanges exchanges = { .pid = 7, .process_name = profile_id(p, "bench") };
	struct error err;
	uint32_t id;

	p->requests.source = PROFILE_WORK_SOCKETS;
	must(profile_add_exchanges(p, &exchanges, &id, &err), &err);
	must(profile_add_exchange_reading(p, &(struct profile_exchange_reading){ id, 1000000000, 500 }, &err), &err);
	must(profile_add_latency(p, &(struct profile_latency){ id, 99, 500 }, &err), &err);
}

/* main > harness; main > [iter > root] > parse; main > [iter > root] > parse > root > lock, and the latter's wait. */
static void add_stacks(struct profile *p, uint32_t *stacks)
{
	struct profile_mapping mapping = { .path = profile_id(p, "/srv/bench"), .end = 4096 };
	uint32_t main_function = function(p, "main"), harness = function(p, "harness"), iter = function(p, "iter"),
		 root = function(p, "bench::__codspeed_root_frame__iter"), parse = function(p, "parse"),
		 lock = function(p, "lock"), id;
	uint32_t at_main, at_root, at_parse, again;
	struct error err;

	must(profile_add_mapping(p, &mapping, &id, &err), &err);
	at_main = grow(p, 0, 100, &(struct profile_line){ main_function, 1 }, 1);
	stacks[0] = grow(p, at_main, 200, &(struct profile_line){ harness, 2 }, 1);
	at_root = grow(p, at_main, 300, (struct profile_line[]){ { root, 3 }, { iter, 4 } }, 2);
	stacks[1] = at_parse = grow(p, at_root, 400, &(struct profile_line){ parse, 5 }, 1);
	again = grow(p, at_parse, 300, NULL, 2);
	stacks[2] = grow(p, again, 500, &(struct profile_line){ lock, 6 }, 1);
	must(profile_add_wait_stack(p, stacks[2], PROFILE_WAIT_LOCK, &stacks[WAITER], &err), &err);
}

static void add_event(struct profile *p, const uint32_t *stacks, const uint32_t *threads, int i)
{
	int64_t values[PROFILE_MAX_VALUE_TYPES] = { 1, 1000003, 0, 0, 1000003 };
	bool waits = i % 10 == 9;
	struct error err;

	if (waits)
		profile_wait_fill(p, PROFILE_WAIT_LOCK, 1000 + i, values);
	must(profile_add_sample(p, stacks[waits ? WAITER : i % 3], threads[i % 2], values, i * 1000000, &err), &err);
	must(!waits || profile_weigh_event(p, 1000 + i, &err), &err);
}

static struct profile *recording(void)
{
	struct profile *p;
	struct profile_run run = { .start_unix_ns = 17, .duration_ns = 1000000000, .whole_command = true, .cpu_ns = 9 };
	struct profile_lock lock = { 0 };
	uint32_t stacks[STACKS], threads[2], id;
	struct error err;

	must(profile_create(&p, &err), &err);
	lock.name = profile_id(p, "cache_mutex");
	must(profile_add_value_type(p, "cpu", "nanoseconds", &err) && profile_add_wait_values(p, &err), &err);
	add_stacks(p, stacks);
	must(profile_add_run(p, &run, &id, &err), &err);
	for (int i = 0; i < 2; i++) {
		struct profile_thread thread = { .pid = 7, .tid = 7 + i, .process_name = profile_id(p, "bench") };

		must(profile_add_thread(p, &thread, &threads[i], &err), &err);
	}
	for (int i = 0; i < EVENTS; i++)
		add_event(p, stacks, threads, i);
	must(profile_add_lock(p, &lock, &id, &err), &err);
	must(profile_add_release(p, &(struct profile_release){ stacks[WAITER], id, stacks[0], 60000 }, &err), &err);
	add_requests(p);
	p->facts.harness = profile_id(p, "pytest-codspeed 5.0.4");
	p->quality.samples = EVENTS;
	must(profile_finish(p, &err) && profile_validate(p, &err), &err);
	return p;
}

/* Two phases: one has two stretches, the other one, with a gap between each. */
static const struct profile_stretch stretches[] = {
	{ 100000000, 200000000, 0 },
	{ 250000000, 500000000, 1 },
	{ 600000000, 700000001, 0 },
};

static struct profile *cut_recording(const char *root)
{
	struct profile *p = recording(), *made;
	const struct profile_run phases[] = {
		{ .name = profile_id(p, "suite::parse"), .duration_ns = 200000001, .measured = { 2, 200, 5, 5, 1, 1 } },
		{ .name = profile_id(p, "suite::write"), .duration_ns = 250000000, .measured = { 1, 100, 6, 6, 1, 1 } },
	};
	struct error err;

	must(profile_cut_phases(p, &(struct profile_cut){ phases, 2, stretches, 3, root }, &made, &err), &err);
	profile_destroy(p);
	return made;
}

static size_t events_of_run(const struct profile *p, uint32_t run)
{
	size_t count = 0;

	for (size_t i = 0; i < p->event_count; i++)
		count += p->threads[p->samples[p->events[i].sample].thread].run == run;
	return count;
}

static int64_t sum_of_run(const struct profile *p, uint32_t run, uint32_t value_type)
{
	int64_t sum = 0;

	for (size_t i = 0; i < p->sample_count; i++)
		if (p->threads[p->samples[i].thread].run == run)
			sum += p->values[i * p->value_type_count + value_type];
	return sum;
}

static void a_cut_gives_each_event_to_its_phase(void **state)
{
	CLEANUP(profile_cleanup) struct profile *whole = recording(), *p = cut_recording(NULL);
	int64_t weights[2] = { 0 };

	assert_int_equal(p->run_count, 3);
	assert_int_equal(events_of_run(p, 1), 201);
	assert_int_equal(events_of_run(p, 2), 250);
	assert_int_equal(events_of_run(p, 0), EVENTS - 451);
	for (uint32_t v = 0; v < p->value_type_count; v++)
		assert_int_equal(profile_sum(p, v), profile_sum(whole, v));
	/* Nine of ten events are of CPU time, and all of these are alike. */
	assert_int_equal(sum_of_run(p, 2, 1) / 1000003, 225);
	for (size_t i = 0; i < EVENTS; i++) {
		weights[0] += profile_event_weight(whole, i);
		weights[1] += profile_event_weight(p, i);
	}
	assert_int_equal(weights[1], weights[0]);
	/* Requests stay with the execution. */
	assert_true(profile_requests_between(p, 0, PROFILE_EXCHANGE_ANSWERED, 0, 500000000) == 250);
	assert_int_equal(p->requests.latencies[0].count, 500);
	assert_true(p->has_timeline);
	assert_string_equal(profile_string(p, p->runs[1].name), "suite::parse");
	assert_int_equal(p->runs[1].measured.iterations, 200);
	assert_int_equal(p->runs[0].duration_ns, 1000000000 - 200000001 - 250000000);
	assert_true(p->runs[0].whole_command && p->runs[0].cpu_ns == 9);
	assert_string_equal(profile_string(p, p->facts.harness), "pytest-codspeed 5.0.4");
}

static void times_of_a_phase_count_from_its_first_stretch(void **state)
{
	CLEANUP(profile_cleanup) struct profile *p = cut_recording(NULL);
	int64_t first[3] = { -1, -1, -1 }, last[3] = { 0 };

	for (size_t i = 0; i < p->event_count; i++) {
		uint32_t run = p->threads[p->samples[p->events[i].sample].thread].run;

		if (first[run] < 0)
			first[run] = p->events[i].time_ns;
		last[run] = p->events[i].time_ns;
	}
	assert_true(first[0] == 0 && first[1] == 0 && first[2] == 0);
	assert_int_equal(last[1], 600000000);
	assert_int_equal(last[2], 249000000);
	assert_int_equal(last[0], 999000000);
}

static const char *outermost(const struct profile *p, uint32_t stack)
{
	const struct profile_location *location;

	while (p->stacks[stack].parent)
		stack = p->stacks[stack].parent;
	location = &p->locations[p->stacks[stack].location];
	return profile_string(p, p->functions[p->lines[location->first_line + location->line_count - 1].function].name);
}

static size_t depth(const struct profile *p, uint32_t stack)
{
	size_t depth = 0;

	for (; stack; stack = p->stacks[stack].parent)
		depth++;
	return depth;
}

static void stacks_of_phases_begin_at_their_root(void **state)
{
	CLEANUP(profile_cleanup) struct profile *whole = recording(), *p = cut_recording("__codspeed_root_frame__");
	size_t deepest[3] = { 0 }, rooted = 0;

	for (size_t i = 0; i < p->sample_count; i++) {
		uint32_t run = p->threads[p->samples[i].thread].run, stack = p->samples[i].stack;
		bool is_rooted = strstr(outermost(p, stack), "__codspeed_root_frame__") != NULL;

		/* What lies outside of phases, and what no root leads to, stays as it is. */
		assert_true(is_rooted || strcmp(outermost(p, stack), "main") == 0);
		assert_true(run > 0 || !is_rooted);
		rooted += is_rooted;
		deepest[run] = depth(p, stack) > deepest[run] ? depth(p, stack) : deepest[run];
	}
	assert_true(rooted > 0);
	assert_int_equal(deepest[0], 6);
	assert_int_equal(deepest[1], 5);
	for (uint32_t v = 0; v < p->value_type_count; v++)
		assert_int_equal(profile_sum(p, v), profile_sum(whole, v));
	assert_int_equal(p->release_count, 1);
	assert_true(strstr(outermost(p, p->releases[0].stack), "__codspeed_root_frame__"));
	assert_string_equal(outermost(p, p->releases[0].releaser), "main");
}

static void a_cut_profile_is_read_back_equal(void **state)
{
	CLEANUP(profile_cleanup) struct profile *p = cut_recording("__codspeed_root_frame__"), *again = NULL;
	CLEANUP(buffer_deinit) struct buffer file = written_profile(p);

	again = read_profile(file.data, file.size);
	assert_int_equal(again->run_count, 3);
	assert_memory_equal(&again->runs[1].measured, &p->runs[1].measured, sizeof(p->runs[1].measured));
	for (uint32_t v = 0; v < p->value_type_count; v++)
		for (uint32_t run = 0; run < 3; run++)
			assert_int_equal(sum_of_run(again, run, v), sum_of_run(p, run, v));
}

static void samples_of_phases_are_labelled_for_other_readers(void **state)
{
	CLEANUP(profile_cleanup) struct profile *whole = recording(), *p = cut_recording("__codspeed_root_frame__");
	size_t expected[3] = { 0 };

	for (size_t i = 0; i < p->sample_count; i++)
		expected[p->threads[p->samples[i].thread].run]++;
	assert_true(expected[0] > 0 && expected[1] > 0 && expected[2] > 0);
	assert_int_equal(labelled_samples(p, "benchmark", "suite::parse"), expected[1]);
	assert_int_equal(labelled_samples(p, "benchmark", "suite::write"), expected[2]);
	assert_int_equal(labelled_samples(p, "benchmark", ""), 0);
	assert_int_equal(labelled_samples(p, "comm", "bench"), p->sample_count);
	assert_int_equal(labelled_samples(whole, "benchmark", ""), 0);
}

static void executions_are_runs_without_a_name(void **state)
{
	CLEANUP(profile_cleanup) struct profile *p = cut_recording(NULL), *other = cut_recording(NULL);
	struct error err;

	assert_true(profile_has_phases(p));
	must(profile_merge(p, other, &err), &err);
	assert_int_equal(profile_execution_count(p), 2);
	assert_int_equal(profile_execution(p, 0), 0);
	assert_int_equal(profile_execution(p, 2), 0);
	assert_int_equal(profile_execution(p, 3), 3);
	assert_int_equal(profile_execution(p, 5), 3);
	/* A file whose first runs have names has no execution for them. */
	p->runs[0].name = p->runs[1].name;
	assert_int_equal(profile_execution(p, 0), 0);
	assert_int_equal(profile_execution(p, 2), 2);
	assert_int_equal(profile_execution_count(p), 4);
}

static void chosen_phases_of_an_execution_are_one_run(void **state)
{
	CLEANUP(profile_cleanup) struct profile *p = cut_recording(NULL), *chosen = NULL;
	CLEANUP(profile_cleanup) struct profile *other = cut_recording(NULL);
	struct error err;

	must(profile_merge(p, other, &err), &err);
	must(profile_choose_phases(p, (const double[]){ 0, 1, 1, 0, 0, 1 }, &chosen, &err), &err);
	assert_int_equal(chosen->run_count, 2);
	assert_false(profile_has_phases(chosen));
	assert_int_equal(chosen->requests.source, PROFILE_WORK_UNKNOWN);
	assert_false(chosen->runs[0].whole_command);
	assert_int_equal(chosen->runs[0].duration_ns, 450000001);
	assert_int_equal(chosen->runs[1].duration_ns, 250000000);
	assert_int_equal(events_of_run(chosen, 0), 451);
	assert_int_equal(events_of_run(chosen, 1), 250);
	for (uint32_t v = 0; v < p->value_type_count; v++) {
		assert_int_equal(sum_of_run(chosen, 0, v), sum_of_run(p, 1, v) + sum_of_run(p, 2, v));
		assert_int_equal(sum_of_run(chosen, 1, v), sum_of_run(p, 5, v));
	}
	/* The locks of two processes stay apart. 701 of 2,000 events are chosen, and every tenth waits. */
	assert_int_equal(chosen->release_count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_true(chosen->releases[i].weight_ns > 60000 * 0.3 && chosen->releases[i].weight_ns < 60000 * 0.4);
}

static void factors_multiply_values_but_not_counts(void **state)
{
	struct profile *p = cut_recording(NULL), *chosen;
	struct error err;

	must(profile_choose_phases(p, (const double[]){ 0, 0.5, 0 }, &chosen, &err), &err);
	assert_int_equal(sum_of_run(chosen, 0, 0), 201);
	assert_true(fabs((double)sum_of_run(chosen, 0, 1) - 0.5 * (double)sum_of_run(p, 1, 1)) < 10);
	assert_int_equal(chosen->event_count, 201);
	profile_destroy(chosen);
	must(profile_choose_phases(p, (const double[]){ 0, 1e-12, 0 }, &chosen, &err), &err);
	assert_int_equal(sum_of_run(chosen, 0, 0), 201);
	profile_destroy(chosen);
	profile_destroy(p);
}

static void what_cannot_be_chosen_is_refused(void **state)
{
	static const double wrong[][3] = { { -1, 1, 1 }, { 0, NAN, 1 }, { 0, INFINITY, 0 }, { 0, 1e300, 0 } };
	struct profile *p = cut_recording(NULL), *chosen;
	struct error err;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(profile_choose_phases(p, wrong[i], &chosen, &err));
	assert_false(profile_choose_phases(p, (const double[]){ 0, 0, 0 }, &chosen, &err));
	assert_int_equal(err.code, ERROR_EMPTY);
	profile_destroy(p);
}

static void expect_no_cut(const struct profile *p, const struct profile_cut *cut, enum error_code code)
{
	struct profile *made = NULL;
	struct error err = { 0 };

	assert_false(profile_cut_phases(p, cut, &made, &err));
	assert_int_equal(err.code, code);
	assert_null(made);
}

static void stretches_that_mean_harm_are_refused(void **state)
{
	CLEANUP(profile_cleanup) struct profile *p = recording(), *cut = cut_recording(NULL);
	const struct profile_run phase = { .name = profile_id(p, "a") }, nameless = { 0 },
				 beyond = { .name = UINT32_MAX };
	const struct profile_run endless = { .name = profile_id(p, "a"), .measured.mean_ns = NAN };
	const struct profile_stretch overlap[] = { { 0, 10, 0 }, { 9, 20, 0 } }, backwards = { 10, 9, 0 },
				     early = { -1, 9, 0 }, other = { 0, 9, 1 }, whole = { 0, INT64_MAX, 0 };

	expect_no_cut(p, &(struct profile_cut){ &phase, 1, overlap, 2, NULL }, ERROR_FORMAT);
	expect_no_cut(p, &(struct profile_cut){ &phase, 1, &backwards, 1, NULL }, ERROR_FORMAT);
	expect_no_cut(p, &(struct profile_cut){ &phase, 1, &early, 1, NULL }, ERROR_FORMAT);
	expect_no_cut(p, &(struct profile_cut){ &phase, 1, &other, 1, NULL }, ERROR_FORMAT);
	expect_no_cut(p, &(struct profile_cut){ &nameless, 1, &whole, 1, NULL }, ERROR_FORMAT);
	expect_no_cut(p, &(struct profile_cut){ &beyond, 1, &whole, 1, NULL }, ERROR_FORMAT);
	expect_no_cut(p, &(struct profile_cut){ &endless, 1, &whole, 1, NULL }, ERROR_FORMAT);
	expect_no_cut(cut, &(struct profile_cut){ &phase, 1, &whole, 1, NULL }, ERROR_UNSUPPORTED);
	p->has_timeline = false;
	expect_no_cut(p, &(struct profile_cut){ &phase, 1, &whole, 1, NULL }, ERROR_UNSUPPORTED);
}

/* 10,000 benchmarks with a round each millisecond. */
static void many_phases_are_cut_in_proportion(void **state)
{
	enum { PHASES = 10000 };
	static struct profile_run phases[PHASES];
	static struct profile_stretch each[PHASES];
	CLEANUP(profile_cleanup) struct profile *p = recording(), *made = NULL;
	struct error err;
	char name[32];

	for (uint32_t i = 0; i < PHASES; i++) {
		snprintf(name, sizeof(name), "suite::test_%u", i);
		phases[i].name = profile_id(p, name);
		each[i] = (struct profile_stretch){ i * 100000, (i + 1) * 100000, i };
	}
	must(profile_cut_phases(p, &(struct profile_cut){ phases, PHASES, each, PHASES, NULL }, &made, &err), &err);
	assert_int_equal(made->run_count, PHASES + 1);
	assert_int_equal(made->runs[0].duration_ns, 0);
	assert_int_equal(events_of_run(made, 0), 0);
	assert_int_equal(events_of_run(made, 11), 1);
}

static void memory_that_is_not_there_is_an_error(void **state)
{
	CLEANUP(profile_cleanup) struct profile *p = recording(), *made = NULL, *chosen = NULL;
	const struct profile_run phases[] = { { .name = profile_id(p, "a") }, { .name = profile_id(p, "b") } };
	const struct profile_cut cut = { phases, 2, stretches, 3, "__codspeed_root_frame__" };
	struct error err;
	bool ok = false;

	for (size_t n = 0; !ok; n++) {
		failing_malloc_after(n);
		ok = profile_cut_phases(p, &cut, &made, &err);
		failing_malloc_after(SIZE_MAX);
		assert_true(ok || err.code == ERROR_MEMORY);
	}
	ok = false;
	for (size_t n = 0; !ok; n++) {
		failing_malloc_after(n);
		ok = profile_choose_phases(made, (const double[]){ 0, 2, 1 }, &chosen, &err);
		failing_malloc_after(SIZE_MAX);
		assert_true(ok || err.code == ERROR_MEMORY);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cut_gives_each_event_to_its_phase),
		cmocka_unit_test(times_of_a_phase_count_from_its_first_stretch),
		cmocka_unit_test(stacks_of_phases_begin_at_their_root),
		cmocka_unit_test(a_cut_profile_is_read_back_equal),
		cmocka_unit_test(samples_of_phases_are_labelled_for_other_readers),
		cmocka_unit_test(executions_are_runs_without_a_name),
		cmocka_unit_test(chosen_phases_of_an_execution_are_one_run),
		cmocka_unit_test(factors_multiply_values_but_not_counts),
		cmocka_unit_test(what_cannot_be_chosen_is_refused),
		cmocka_unit_test(stretches_that_mean_harm_are_refused),
		cmocka_unit_test(many_phases_are_cut_in_proportion),
		cmocka_unit_test(memory_that_is_not_there_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
