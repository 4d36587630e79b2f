/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile_fixture.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/profile.h"

#include <string.h>

/*
 * Thirty events of one thread, one a millisecond, whose values do not divide evenly: `main` calls what stands at one
 * address, which calls what stands at another, or runs alone. At the first `a`, `b` and `c` stood one after another,
 * from 0, 10 and 20 ms on; at the second `x` until 15 ms, then `y`.
 */
enum { EVENTS = 30 };
static const int64_t ms = 1000000;
static const struct profile_symbols nobody;

static uint32_t location_of(struct profile *p, const char *name, uint64_t address)
{
	struct profile_function made = { .name = profile_id(p, name), .module = profile_id(p, "[jit]") };
	struct profile_line line = { 0 };
	struct error err;
	uint32_t id;

	must(profile_add_function(p, &made, &line.function, &err), &err);
	if (address == 0) {
		must(profile_add_location_of_lines(p, 0, &line, 1, &id, &err), &err);
		return id;
	}
	must(profile_add_location(p, 0, address, &id, &err), &err);
	must(profile_set_lines(p, id, &line, 1, &err), &err);
	return id;
}

struct recorded {
	struct profile *profile;
	struct profile_generation generations[3];
};

static struct recorded record_generations(void)
{
	struct profile_mapping mapping = { .kind = PROFILE_MAPPING_JIT, .end = UINT64_MAX };
	struct recorded made = { 0 };
	uint32_t id, thread, root, first, both, last, other;
	struct profile *p;
	struct error err;

	must(profile_create(&made.profile, &err), &err);
	p = made.profile;
	must(profile_add_value_type(p, "cpu", "nanoseconds", &err), &err);
	mapping.path = profile_id(p, "[jit]");
	must(profile_add_mapping(p, &mapping, &id, &err) && profile_add_run(p, &(struct profile_run){ 0 }, &id, &err) &&
			profile_add_thread(p, &(struct profile_thread){ 0, 7, 7, 0, 0, 0 }, &thread, &err),
		&err);
	last = location_of(p, "c", 0x1000);
	other = location_of(p, "y", 0x2000);
	must(profile_add_stack(p, 0, location_of(p, "main", 0x10), &root, &err) &&
			profile_add_stack(p, root, last, &first, &err) &&
			profile_add_stack(p, first, other, &both, &err),
		&err);
	for (int i = 0; i < EVENTS; i++)
		must(profile_add_sample(p,
			     i % 3 == 2 ? root
			     : i % 3    ? both
					: first,
			     thread, (int64_t[]){ 1, 1000 + i % 2 }, i * ms, &err),
			&err);
	must(profile_finish(p, &err), &err);
	made.generations[0] = (struct profile_generation){ last, location_of(p, "a", 0), 9 * ms, 10 * ms };
	made.generations[1] = (struct profile_generation){ last, location_of(p, "b", 0), 20 * ms, 20 * ms };
	made.generations[2] = (struct profile_generation){ other, location_of(p, "x", 0), 15 * ms, 15 * ms };
	return made;
}

static const char *name_of_frame(const struct profile *p, uint32_t stack)
{
	const struct profile_location *at = &p->locations[p->stacks[stack].location];

	return profile_string(p, p->functions[p->lines[at->first_line].function].name);
}

/* The frames of each event's stack, leaf first, are those that stood there at its time. */
static void check_event(const struct profile *p, int i)
{
	uint32_t stack = p->samples[p->events[i].sample].stack;

	assert_int_equal(p->events[i].time_ns, i * ms);
	if (i % 3 == 1) {
		assert_string_equal(name_of_frame(p, stack), i < 15 ? "x" : "y");
		stack = p->stacks[stack].parent;
	}
	if (i % 3 != 2) {
		assert_string_equal(name_of_frame(p, stack), i < 10 ? "a" : i < 20 ? "b" : "c");
		stack = p->stacks[stack].parent;
	}
	assert_string_equal(name_of_frame(p, stack), "main");
	assert_int_equal(p->stacks[stack].parent, 0);
}

static int64_t sum_of(const struct profile *p, size_t value)
{
	int64_t sum = 0;

	for (size_t i = 0; i < p->sample_count; i++)
		sum += p->values[i * p->value_type_count + value];
	return sum;
}

static void events_get_what_stood_there_at_their_time(void **state)
{
	struct recorded made = record_generations();
	struct profile *p = made.profile;
	int64_t before = sum_of(p, 1);
	double doubtful;
	struct error err;

	must(profile_place_generations(p, &nobody, made.generations, 3, &doubtful, &err), &err);
	assert_true(p->has_timeline);
	assert_int_equal(p->event_count, EVENTS);
	for (int i = 0; i < EVENTS; i++)
		check_event(p, i);
	assert_int_equal(sum_of(p, 0), EVENTS);
	assert_int_equal(sum_of(p, 1), before);
	/* That of 9 ms alone: `a`, or `b` already. */
	assert_true(doubtful > 0.9 / EVENTS && doubtful < 1.1 / EVENTS);
	must(profile_validate(p, &err), &err);
	profile_destroy(p);
}

/* Where it is not known when, all have the last one, and all are doubtful. */
static void an_unknown_time_is_doubtful(void **state)
{
	struct recorded made = record_generations();
	struct profile_generation unknown = made.generations[2];
	struct profile *p = made.profile;
	double doubtful;
	struct error err;

	unknown.from_ns = unknown.until_ns = INT64_MIN;
	must(profile_place_generations(p, &nobody, &unknown, 1, &doubtful, &err), &err);
	for (int i = 1; i < EVENTS; i += 3)
		assert_string_equal(name_of_frame(p, p->samples[p->events[i].sample].stack), "y");
	assert_true(doubtful > 0.32 && doubtful < 0.35);
	profile_destroy(p);
}

/* The file holds both functions of one address. */
static void files_keep_generations(void **state)
{
	struct recorded made = record_generations();
	struct profile *read;
	struct buffer bytes;
	double doubtful;
	struct error err;

	must(profile_place_generations(made.profile, &nobody, made.generations, 3, &doubtful, &err), &err);
	bytes = written_profile(made.profile);
	read = read_profile(bytes.data, bytes.size);
	assert_int_equal(read->event_count, EVENTS);
	for (int i = 0; i < EVENTS; i++)
		check_event(read, i);
	buffer_deinit(&bytes);
	profile_destroy(read);
	profile_destroy(made.profile);
}

/*
 * A process with stacks of 2,000 frames whose last one changes with each event, while each of the others is to change
 * 20,000 times later on: it uses up its user's share, and events behind that have the code that stood there last. That
 * of another user's process is told apart as ever.
 */
static void one_user_pays_for_depth_and_changes(void **state)
{
	enum { DEPTH = 2000, CHANGES = 20000, TIMES = 6000, OTHERS_CHANGE = 5500 };
	static struct profile_generation generations[CHANGES + TIMES + 1];
	struct profile_process processes[] = { { .pid = 7, .user = 1000, .is_user_known = true },
		{ .pid = 8, .user = 1001, .is_user_known = true } };
	const struct profile_symbols symbols = { .processes = processes, .process_count = 2 };
	struct profile_mapping mapping = { .kind = PROFILE_MAPPING_JIT, .end = UINT64_MAX };
	uint32_t id, deep = 0, quiet, threads[2], body, leaf, other;
	struct profile *p;
	double doubtful;
	struct error err;

	must(profile_create(&p, &err) && profile_add_value_type(p, "cpu", "nanoseconds", &err), &err);
	mapping.path = profile_id(p, "[jit]");
	must(profile_add_mapping(p, &mapping, &id, &err) && profile_add_run(p, &(struct profile_run){ 0 }, &id, &err) &&
			profile_add_thread(p, &(struct profile_thread){ 0, 7, 7, 0, 0, 0 }, &threads[0], &err) &&
			profile_add_thread(p, &(struct profile_thread){ 0, 8, 8, 0, 0, 0 }, &threads[1], &err),
		&err);
	body = location_of(p, "body", 0x1000);
	leaf = location_of(p, "last", 0x2000);
	other = location_of(p, "after", 0x3000);
	for (int i = 0; i < DEPTH; i++)
		must(profile_add_stack(p, deep, body, &deep, &err), &err);
	must(profile_add_stack(p, deep, leaf, &deep, &err) && profile_add_stack(p, 0, other, &quiet, &err), &err);
	for (int64_t i = 0; i < TIMES; i++)
		must(profile_add_sample(p, deep, threads[0], (int64_t[]){ 1, 1000 }, i * ms, &err) &&
				profile_add_sample(p, quiet, threads[1], (int64_t[]){ 1, 1000 }, i * ms, &err),
			&err);
	must(profile_finish(p, &err), &err);
	id = location_of(p, "early", 0);
	for (int64_t i = 0; i < CHANGES; i++)
		generations[i] = (struct profile_generation){ body, id, (TIMES + i) * ms, (TIMES + i) * ms };
	for (int64_t i = 0; i < TIMES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "leaf%d", (int)i);
		generations[CHANGES + i] =
			(struct profile_generation){ leaf, location_of(p, name, 0), (i + 1) * ms, (i + 1) * ms };
	}
	generations[CHANGES + TIMES] = (struct profile_generation){ other, location_of(p, "before", 0),
		OTHERS_CHANGE * ms, OTHERS_CHANGE * ms };
	must(profile_place_generations(p, &symbols, generations, CHANGES + TIMES + 1, &doubtful, &err), &err);
	for (size_t i = 0; i < p->event_count; i++) {
		const struct profile_sample *sample = &p->samples[p->events[i].sample];
		int64_t at = p->events[i].time_ns / ms;
		char name[16];

		snprintf(name, sizeof(name), "leaf%d", (int)at);
		if (sample->thread == threads[1])
			assert_string_equal(name_of_frame(p, sample->stack), at < OTHERS_CHANGE ? "before" : "after");
		else if (at < TIMES / 2)
			assert_string_equal(name_of_frame(p, sample->stack), name);
		else if (at == TIMES - 1)
			assert_string_equal(name_of_frame(p, sample->stack), "last");
	}
	assert_true(doubtful > 0.05 && doubtful < 0.25);
	must(profile_validate(p, &err), &err);
	profile_destroy(p);
}

/* Times are foreign. */
static void times_out_of_order_are_put_in_order(void **state)
{
	struct recorded made = record_generations();
	struct profile *p = made.profile;
	double doubtful;
	struct error err;

	made.generations[1].from_ns = INT64_MIN;
	made.generations[1].until_ns = 5 * ms;
	must(profile_place_generations(p, &nobody, made.generations, 3, &doubtful, &err), &err);
	assert_string_equal(name_of_frame(p, p->samples[p->events[9].sample].stack), "a");
	assert_string_equal(name_of_frame(p, p->samples[p->events[12].sample].stack), "c");
	profile_destroy(p);
}

static void failures_of_memory_are_told(void **state)
{
	for (size_t i = 0;; i++) {
		struct recorded made = record_generations();
		double doubtful;
		struct error err;
		bool ok;

		failing_malloc_after(i);
		ok = profile_place_generations(made.profile, &nobody, made.generations, 3, &doubtful, &err);
		failing_malloc_after(SIZE_MAX);
		profile_destroy(made.profile);
		if (ok)
			return;
		assert_int_equal(err.code, ERROR_MEMORY);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_get_what_stood_there_at_their_time),
		cmocka_unit_test(an_unknown_time_is_doubtful),
		cmocka_unit_test(files_keep_generations),
		cmocka_unit_test(one_user_pays_for_depth_and_changes),
		cmocka_unit_test(times_out_of_order_are_put_in_order),
		cmocka_unit_test(failures_of_memory_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
