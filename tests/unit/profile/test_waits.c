/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"
#include "profile_fixture.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

static struct profile *new_recording(void)
{
	struct profile *profile = NULL;
	struct error err;

	assert_true(profile_create(&profile, &err));
	assert_true(profile_add_value_type(profile, "cpu", "nanoseconds", &err));
	assert_true(profile_add_wait_values(profile, &err));
	return profile;
}

/* ---- Classes ---- */

static void each_class_has_a_name_and_a_frame(void **state)
{
	static const char *const names[] = { "lock", "condition", "io", "network", "timer", "idle", "run-queue",
		"other" };

	for (int i = 0; i < PROFILE_WAIT_COUNT; i++) {
		enum profile_wait_class wait_class = (enum profile_wait_class)i;

		assert_string_equal(profile_wait_info(wait_class)->name, names[i]);
		assert_int_equal(profile_wait_class_of_name(profile_wait_info(wait_class)->frame), wait_class);
	}
	assert_string_equal(profile_wait_info(PROFILE_WAIT_LOCK)->frame, "[waiting: lock]");
	assert_string_equal(profile_wait_info(PROFILE_WAIT_RUN_QUEUE)->frame, "[waiting: run queue]");
}

static void what_goroutines_wait_for_is_said_to_be_unseen(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_recording();
	CLEANUP(profile_cleanup) struct profile *of_cpu = NULL;
	struct profile_function scheduler = { 0 };
	uint32_t id;
	struct error err;

	assert_null(profile_waits_unseen(profile));
	assert_true(profile_intern(profile, "runtime.findRunnable", &scheduler.name, &err));
	assert_true(profile_add_function(profile, &scheduler, &id, &err));
	assert_non_null(strstr(profile_waits_unseen(profile), "debug/pprof/mutex"));
	assert_true(profile_create(&of_cpu, &err));
	assert_null(profile_waits_unseen(of_cpu));
}

static void other_names_are_no_frames_of_waits(void **state)
{
	static const char *const names[] = { "", "lock", "[waiting: ]", "[waiting: lock", "[waiting: lock]x",
		"[waiting: run-queue]", "[kernel]" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(profile_wait_class_of_name(names[i]), PROFILE_WAIT_NONE);
}

/* ---- Values ---- */

static void a_recording_of_waits_has_its_values_in_order(void **state)
{
	static const char *const types[] = { "samples", "cpu", "off-cpu", "idle", "wall" };
	CLEANUP(profile_cleanup) struct profile *profile = new_recording();
	struct profile_wait_values values = profile_wait_values(profile);

	assert_int_equal(profile->value_type_count, 5);
	for (uint32_t i = 0; i < 5; i++) {
		assert_string_equal(profile_string(profile, profile->value_types[i].type), types[i]);
		assert_int_equal(profile->counts_of[i], 0);
	}
	assert_true(values.cpu == 1 && values.off_cpu == 2 && values.idle == 3 && values.wall == 4);
	assert_int_equal(profile->default_value_type, values.wall);
	assert_true(profile_has_waits(profile));
}

static void files_of_other_tools_may_have_some_values_only(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct profile_wait_values values;
	struct error err;

	assert_true(profile_create(&profile, &err));
	assert_true(profile_add_value_type(profile, "wall", "nanoseconds", &err));
	assert_true(profile_add_value_type(profile, "off-cpu", "count", &err));
	values = profile_wait_values(profile);
	assert_int_equal(values.wall, 1);
	assert_true(values.cpu == PROFILE_NONE && values.off_cpu == PROFILE_NONE && values.idle == PROFILE_NONE);
	assert_false(profile_has_waits(profile));
}

static void a_wait_counts_as_idle_or_as_waiting(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_recording();

	for (int i = 0; i < PROFILE_WAIT_COUNT; i++) {
		int64_t values[] = { 9, 9, 9, 9, 9 };
		bool is_idle = i == PROFILE_WAIT_IDLE;

		profile_wait_fill(profile, (enum profile_wait_class)i, 5000, values);
		assert_int_equal(values[0], 1);
		assert_int_equal(values[1], 0);
		assert_int_equal(values[2], is_idle ? 0 : 5000);
		assert_int_equal(values[3], is_idle ? 5000 : 0);
		assert_int_equal(values[4], is_idle ? 0 : 5000);
	}
}

/* ---- Stacks ---- */

static void a_stack_of_a_wait_ends_in_its_class(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_recording();
	const struct profile_function *function;
	const struct profile_location *leaf;
	uint32_t caller, lock, same, io, location;
	struct error err;

	assert_true(profile_add_location(profile, PROFILE_NONE, 0x1234, &location, &err));
	assert_true(profile_add_stack(profile, 0, location, &caller, &err));
	assert_true(profile_add_wait_stack(profile, caller, PROFILE_WAIT_LOCK, &lock, &err));
	assert_true(profile_add_wait_stack(profile, caller, PROFILE_WAIT_LOCK, &same, &err));
	assert_true(profile_add_wait_stack(profile, caller, PROFILE_WAIT_IO, &io, &err));
	assert_int_equal(lock, same);
	assert_int_not_equal(lock, io);
	assert_int_equal(profile->stacks[lock].parent, caller);
	assert_int_equal(profile_wait_class_of_stack(profile, lock), PROFILE_WAIT_LOCK);
	assert_int_equal(profile_wait_class_of_stack(profile, io), PROFILE_WAIT_IO);
	/* A stack without names yet, and the empty one. */
	assert_int_equal(profile_wait_class_of_stack(profile, caller), PROFILE_WAIT_NONE);
	assert_int_equal(profile_wait_class_of_stack(profile, 0), PROFILE_WAIT_NONE);
	leaf = &profile->locations[profile->stacks[lock].location];
	assert_int_equal(leaf->mapping, PROFILE_NONE);
	assert_int_equal(leaf->line_count, 1);
	function = &profile->functions[profile->lines[leaf->first_line].function];
	assert_string_equal(profile_string(profile, function->key), "[waiting: lock]`");
	assert_int_equal(function->origin, PROFILE_ORIGIN_SYSTEM);
}

static void a_function_of_a_binary_is_no_wait_whatever_its_name(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = sample_profile();
	struct profile_function function = { .module = profile->mappings[0].module };
	struct profile_line line = { 0 };
	uint32_t location, stack;
	struct error err;

	assert_true(profile_intern(profile, "[waiting: lock]", &function.name, &err));
	assert_true(profile_add_function(profile, &function, &line.function, &err));
	assert_true(profile_add_location_of_lines(profile, 0, &line, 1, &location, &err));
	assert_true(profile_add_stack(profile, 0, location, &stack, &err));
	assert_int_equal(profile_wait_class_of_stack(profile, stack), PROFILE_WAIT_NONE);
	assert_int_equal(profile_wait_class_of_function(profile, line.function), PROFILE_WAIT_NONE);
}

/* ---- Locks and releases ---- */

static void locks_without_a_symbol_stay_apart(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_recording();
	const struct profile_lock nameless = { .pid = 7 };
	uint32_t first, second;
	struct error err;

	assert_true(profile_add_lock(profile, &nameless, &first, &err));
	assert_true(profile_add_lock(profile, &nameless, &second, &err));
	assert_int_equal(first, 0);
	assert_int_equal(second, 1);
	assert_int_equal(profile->lock_count, 2);
}

static void finishing_adds_equal_releases_up(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = new_recording();
	const struct profile_release releases[] = {
		{ .stack = 2, .lock = 0, .releaser = 3, .weight_ns = 10 },
		{ .stack = 1, .lock = PROFILE_NONE, .releaser = 0, .weight_ns = INT64_MAX - 1 },
		{ .stack = 2, .lock = 0, .releaser = 3, .weight_ns = 20 },
		{ .stack = 2, .lock = PROFILE_NONE, .releaser = 3, .weight_ns = 40 },
		{ .stack = 2, .lock = 0, .releaser = 1, .weight_ns = 80 },
		{ .stack = 1, .lock = PROFILE_NONE, .releaser = 0, .weight_ns = 5 },
		{ .stack = 2, .lock = 0, .releaser = 3, .weight_ns = 100 },
	};
	static const int64_t sums[] = { INT64_MAX, 80, 130, 40 };
	struct error err;

	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++)
		assert_true(profile_add_release(profile, &releases[i], &err));
	assert_true(profile_finish(profile, &err));
	assert_int_equal(profile->release_count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(profile->releases[i].weight_ns, sums[i]);
	assert_int_equal(profile->releases[2].releaser, 3);
}

/* ---- A recording of waits ---- */

enum { WAIT_NS = 10000000, CALLERS = 3 };

static uint32_t named_location(struct profile *profile, const char *name)
{
	struct profile_function function = { 0 };
	struct profile_line line = { 0 };
	uint32_t location;
	struct error err;

	assert_true(profile_intern(profile, name, &function.name, &err));
	assert_true(profile_add_function(profile, &function, &line.function, &err));
	assert_true(profile_add_location_of_lines(profile, PROFILE_NONE, &line, 1, &location, &err));
	return location;
}

static void add_wait(
	struct profile *profile, uint32_t caller, uint32_t thread, enum profile_wait_class wait_class, int64_t time_ns)
{
	int64_t values[PROFILE_MAX_VALUE_TYPES];
	uint32_t stack;
	struct error err;

	assert_true(profile_add_wait_stack(profile, caller, wait_class, &stack, &err));
	profile_wait_fill(profile, wait_class, WAIT_NS, values);
	assert_true(profile_add_sample(profile, stack, thread, values, time_ns, &err));
	assert_true(profile_weigh_event(profile, WAIT_NS, &err));
}

/*
 * Two threads in the functions "main", "pop" and "fetch", which is called by "main": each computes in main, waits in
 * pop for a lock and for other things, and in fetch for the network. Each wait for the lock is ended in main.
 */
static struct profile *waits_profile(void)
{
	struct profile *profile = new_recording();
	uint32_t run, thread, callers[CALLERS] = { 0 };
	struct error err;

	assert_true(profile_add_run(profile, &(struct profile_run){ 0 }, &run, &err));
	assert_true(profile_add_stack(profile, 0, named_location(profile, "main"), &callers[0], &err));
	assert_true(profile_add_stack(profile, callers[0], named_location(profile, "pop"), &callers[1], &err));
	assert_true(profile_add_stack(profile, callers[0], named_location(profile, "fetch"), &callers[2], &err));
	for (int32_t i = 0; i < 2; i++) {
		struct profile_release release = { .lock = PROFILE_NONE, .releaser = callers[0], .weight_ns = WAIT_NS };

		assert_true(
			profile_add_thread(profile, &(struct profile_thread){ run, 7, 7 + i, 0, 0 }, &thread, &err));
		assert_true(profile_add_sample(
			profile, callers[0], thread, (int64_t[]){ 1, 1000, 0, 0, 1000 }, i * 1000, &err));
		add_wait(profile, callers[1], thread, PROFILE_WAIT_LOCK, 100000 + i * 1000);
		add_wait(profile, callers[1], thread, PROFILE_WAIT_OTHER, 200000 + i * 1000);
		add_wait(profile, callers[2], thread, PROFILE_WAIT_NETWORK, 300000 + i * 1000);
		add_wait(profile, callers[1], thread, PROFILE_WAIT_LOCK, 400000 + i * 1000);
		for (int k = 0; k < 2; k++) {
			assert_true(profile_add_wait_stack(
				profile, callers[1], k ? PROFILE_WAIT_OTHER : PROFILE_WAIT_LOCK, &release.stack, &err));
			assert_true(profile_add_release(profile, &release, &err));
		}
	}
	assert_true(profile_finish(profile, &err));
	assert_true(profile_validate(profile, &err));
	return profile;
}

static void a_file_keeps_waits(void **state)
{
	CLEANUP(profile_cleanup) struct profile *made = waits_profile(), *read = NULL, *again = NULL;
	CLEANUP(buffer_deinit) struct buffer file = written_profile(made), second = { 0 };

	read = read_profile(file.data, file.size);
	assert_true(profile_has_waits(read));
	assert_int_equal(read->default_value_type, profile_wait_values(read).wall);
	assert_int_equal(read->release_count, 2);
	for (uint32_t v = 0; v < made->value_type_count; v++)
		assert_int_equal(profile_sum(read, v), profile_sum(made, v));
	for (size_t i = 0; i < read->release_count; i++) {
		assert_int_equal(read->releases[i].weight_ns, 2 * WAIT_NS);
		assert_true(profile_wait_class_of_stack(read, read->releases[i].stack) ==
			    (i ? PROFILE_WAIT_OTHER : PROFILE_WAIT_LOCK));
	}
	second = written_profile(read);
	again = read_profile(second.data, second.size);
	assert_profiles_equal(read, again);
}

/* Each of the two threads has one sample of each class that it waited in, and one on a CPU, without the label. */
static void samples_of_waits_are_labelled_for_other_readers(void **state)
{
	static const size_t expected[PROFILE_WAIT_COUNT] = {
		[PROFILE_WAIT_LOCK] = 2, [PROFILE_WAIT_OTHER] = 2, [PROFILE_WAIT_NETWORK] = 2
	};
	CLEANUP(profile_cleanup) struct profile *made = waits_profile();

	for (int i = 0; i < PROFILE_WAIT_COUNT; i++)
		assert_int_equal(labelled_samples(made, "wait", profile_wait_info((enum profile_wait_class)i)->name),
			expected[i]);
}

static void merging_adds_waits_up(void **state)
{
	CLEANUP(profile_cleanup) struct profile *into = waits_profile(), *from = waits_profile();
	struct error err;

	assert_true(profile_merge(into, from, &err));
	assert_true(profile_validate(into, &err));
	assert_true(profile_has_waits(into));
	assert_int_equal(into->release_count, 2);
	assert_int_equal(into->releases[0].weight_ns, 4 * WAIT_NS);
}

/* ---- Rules of the user ---- */

/* Waits in a function become idle. */
struct pool_rule {
	const struct profile *profile;
	const char *name;
	enum profile_wait_class wait_class;
	size_t asked;
};

static enum profile_wait_class class_in_pool(void *context, uint32_t stack, enum profile_wait_class wait_class)
{
	struct pool_rule *rule = context;
	const struct profile *profile = rule->profile;
	const struct profile_location *leaf = &profile->locations[profile->stacks[stack].location];
	uint32_t function = profile->lines[leaf->first_line].function;

	rule->asked++;
	return strcmp(profile_string(profile, profile->functions[function].name), rule->name) == 0 ? rule->wait_class
												   : wait_class;
}

static void assert_sums(const struct profile *profile, int64_t off_cpu, int64_t idle)
{
	struct profile_wait_values values = profile_wait_values(profile);

	assert_int_equal(profile_sum(profile, values.cpu), 2000);
	assert_int_equal(profile_sum(profile, values.off_cpu), off_cpu);
	assert_int_equal(profile_sum(profile, values.idle), idle);
	assert_int_equal(profile_sum(profile, values.wall), 2000 + off_cpu);
}

static void a_rule_moves_waits_to_another_class(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = waits_profile();
	struct pool_rule rule = { profile, "pop", PROFILE_WAIT_IDLE, 0 };
	size_t events = profile->event_count;
	struct error err;

	assert_sums(profile, (int64_t)8 * WAIT_NS, 0);
	assert_true(profile_classify_waits(profile, class_in_pool, &rule, &err));
	assert_int_equal(rule.asked, 3);
	assert_sums(profile, (int64_t)2 * WAIT_NS, (int64_t)6 * WAIT_NS);
	assert_true(profile_validate(profile, &err));
	/* The waits for a lock and for other things are one sample of each thread now. */
	assert_int_equal(profile->sample_count, 6);
	assert_int_equal(profile->event_count, events);
	assert_true(profile->has_timeline);
	for (size_t i = 0; i < profile->event_count; i++) {
		const struct profile_sample *sample = &profile->samples[profile->events[i].sample];
		bool waits = profile_wait_class_of_stack(profile, sample->stack) != PROFILE_WAIT_NONE;

		assert_int_equal(profile_event_weight(profile, i), waits ? WAIT_NS : 1);
		assert_int_equal(profile->threads[sample->thread].tid, 7 + profile->events[i].time_ns / 1000 % 2);
	}
	assert_int_equal(profile->release_count, 1);
	assert_int_equal(profile->releases[0].weight_ns, 4 * WAIT_NS);
	assert_int_equal(profile_wait_class_of_stack(profile, profile->releases[0].stack), PROFILE_WAIT_IDLE);
	/* And back. */
	rule.wait_class = PROFILE_WAIT_LOCK;
	assert_true(profile_classify_waits(profile, class_in_pool, &rule, &err));
	assert_sums(profile, (int64_t)8 * WAIT_NS, 0);
	assert_true(profile_validate(profile, &err));
}

static void a_rule_that_matches_nothing_changes_nothing(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *profile = waits_profile(), *same = waits_profile(), *cpu = sample_profile();
	struct pool_rule rule = { profile, "push", PROFILE_WAIT_IDLE, 0 };
	struct error err;

	assert_true(profile_classify_waits(profile, class_in_pool, &rule, &err));
	assert_profiles_equal(profile, same);
	rule.asked = 0;
	assert_true(profile_classify_waits(cpu, class_in_pool, &rule, &err));
	assert_int_equal(rule.asked, 0);
}

static void every_failed_allocation_is_an_error(void **state)
{
	bool succeeded = false;

	for (size_t n = 0; !succeeded; n++) {
		CLEANUP(profile_cleanup) struct profile *profile = waits_profile();
		struct pool_rule rule = { profile, "pop", PROFILE_WAIT_TIMER, 0 };
		struct error err = { 0 };

		failing_malloc_after(n);
		succeeded = profile_classify_waits(profile, class_in_pool, &rule, &err);
		failing_malloc_after(SIZE_MAX);
		assert_true(succeeded || err.code == ERROR_MEMORY);
		assert_true(!succeeded || n > 3);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_class_has_a_name_and_a_frame),
		cmocka_unit_test(what_goroutines_wait_for_is_said_to_be_unseen),
		cmocka_unit_test(other_names_are_no_frames_of_waits),
		cmocka_unit_test(a_recording_of_waits_has_its_values_in_order),
		cmocka_unit_test(files_of_other_tools_may_have_some_values_only),
		cmocka_unit_test(a_wait_counts_as_idle_or_as_waiting),
		cmocka_unit_test(a_stack_of_a_wait_ends_in_its_class),
		cmocka_unit_test(a_function_of_a_binary_is_no_wait_whatever_its_name),
		cmocka_unit_test(locks_without_a_symbol_stay_apart),
		cmocka_unit_test(finishing_adds_equal_releases_up),
		cmocka_unit_test(a_file_keeps_waits),
		cmocka_unit_test(samples_of_waits_are_labelled_for_other_readers),
		cmocka_unit_test(merging_adds_waits_up),
		cmocka_unit_test(a_rule_moves_waits_to_another_class),
		cmocka_unit_test(a_rule_that_matches_nothing_changes_nothing),
		cmocka_unit_test(every_failed_allocation_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
