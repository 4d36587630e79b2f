/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/index.h"
#include "profile_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

static struct profile *folded(const char *text)
{
	return read_profile(text, strlen(text));
}

static void merge(struct profile *into, const struct profile *from)
{
	struct error err;

	if (!profile_merge(into, from, &err))
		fail_msg("%s", err.message);
	assert_true(profile_validate(into, &err));
}

static char *folded_of(const struct profile *profile)
{
	struct buffer out;
	struct error err;

	buffer_init(&out, 1 << 20);
	assert_true(profile_write_folded(profile, PROFILE_NONE, &out, &err));
	return out.data;
}

static void a_merge_into_nothing_is_a_copy(void **state)
{
	CLEANUP(profile_cleanup) struct profile *made = sample_profile(), *copy = NULL;
	struct error err;

	assert_true(profile_create(&copy, &err));
	merge(copy, made);
	assert_profiles_equal(made, copy);
}

static void values_add_and_runs_stay_runs(void **state)
{
	CLEANUP(profile_cleanup) struct profile *into = sample_profile(), *from = sample_profile();
	size_t mappings = into->mapping_count, functions = into->function_count, locations = into->location_count,
	       stacks = into->stack_count, events = into->event_count;
	int64_t count = profile_sum(into, 0), cpu = profile_sum(into, 1);

	merge(into, from);
	assert_int_equal(into->run_count, 2 * from->run_count);
	assert_int_equal(into->thread_count, 2 * from->thread_count);
	assert_int_equal(into->sample_count, 2 * from->sample_count);
	assert_int_equal(into->mapping_count, mappings);
	assert_int_equal(into->function_count, functions);
	assert_int_equal(into->location_count, locations);
	assert_int_equal(into->stack_count, stacks);
	assert_int_equal(profile_sum(into, 0), 2 * count);
	assert_int_equal(profile_sum(into, 1), 2 * cpu);
	assert_true(into->has_timeline);
	assert_int_equal(into->event_count, 2 * events);
	assert_int_equal(into->quality.samples, 2 * from->quality.samples);
	assert_int_equal(into->quality.stops[PROFILE_STOP_ROOT], 2 * from->quality.stops[PROFILE_STOP_ROOT]);
	assert_int_equal(into->verification.stacks[PROFILE_COMPARISON_LONGER],
		2 * from->verification.stacks[PROFILE_COMPARISON_LONGER]);
	assert_int_equal(into->verification.names_equal, 2 * from->verification.names_equal);
	assert_int_equal(into->verification.difference_count, 2 * from->verification.difference_count);
	assert_int_equal(into->lock_count, 2 * from->lock_count);
	/* A wait for no lock is one in both; the locks are those of different processes. */
	assert_int_equal(into->release_count, 3);
	assert_int_equal(into->releases[2].weight_ns, 2 * from->releases[1].weight_ns);
	assert_true(into->releases[0].lock == 1 && into->releases[1].lock == 3);
	assert_int_equal(into->runs[3].cpu_ns, from->runs[1].cpu_ns);
	assert_string_equal(profile_string(into, into->runs[3].name), "suite::parse");
	assert_int_equal(into->threads[into->samples[into->sample_count - 1].thread].run, 3);
}

/* All six orders of three profiles with stacks in common say the same. */
static void order_does_not_matter(void **state)
{
	static const char *const texts[] = { "main;a 1\nmain;b;c 2\n", "main;b;c 4\nmain;d_[k] 8\n",
		"main;a 16\nother 32\n" };
	static const int orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		CLEANUP(profile_cleanup) struct profile *into = folded(texts[orders[i][0]]);
		CLEANUP(cleanup_free) char *text = NULL;

		for (int k = 1; k < 3; k++) {
			CLEANUP(profile_cleanup) struct profile *from = folded(texts[orders[i][k]]);

			merge(into, from);
		}
		text = folded_of(into);
		assert_string_equal(text, "main;a 17\nmain;b;c 6\nmain;d_[k] 8\nother 32\n");
		assert_int_equal(into->run_count, 3);
	}
}

/* What the whole profile says is of its runs from the moment that it has those of another machine. */
static void each_run_keeps_its_instance_and_its_cpu(void **state)
{
	CLEANUP(profile_cleanup) struct profile *into = folded("main 1\n"), *from = folded("main 2\n"), *back = NULL;
	CLEANUP(profile_cleanup) struct profile *unknown = folded("main 3\n");
	CLEANUP(buffer_deinit) struct buffer file = { 0 };
	struct error err;

	assert_true(profile_set_label(into, PROFILE_LABEL_HOST, "node-1", &err));
	assert_true(profile_set_label(into, "pod", "api-1", &err));
	assert_true(profile_set_label(from, PROFILE_LABEL_HOST, "node-2", &err));
	assert_true(profile_intern(into, "Xeon", &into->facts.cpu_model, &err));
	assert_true(profile_intern(from, "EPYC", &from->facts.cpu_model, &err));
	assert_string_equal(profile_run_instance(into, 0), "api-1");
	assert_int_equal(into->runs[0].instance, 0);
	merge(into, from);
	merge(into, unknown);
	assert_int_equal(into->facts.cpu_model, 0);
	file = written_profile(into);
	back = read_profile(file.data, file.size);
	assert_string_equal(profile_run_instance(back, 0), "api-1");
	assert_string_equal(profile_run_instance(back, 1), "node-2");
	assert_string_equal(profile_run_instance(back, 2), "");
	assert_string_equal(profile_run_cpu_model(back, 0), "Xeon");
	assert_string_equal(profile_run_cpu_model(back, 1), "EPYC");
	assert_string_equal(profile_run_cpu_model(back, 2), "");
}

static void what_is_merged_survives_a_file(void **state)
{
	CLEANUP(profile_cleanup) struct profile *into = sample_profile(), *from = sample_profile(), *back = NULL;
	CLEANUP(buffer_deinit) struct buffer file = { 0 };

	merge(into, from);
	file = written_profile(into);
	back = read_profile(file.data, file.size);
	assert_profiles_equal(into, back);
}

static void a_profile_without_times_takes_the_timeline_away(void **state)
{
	CLEANUP(profile_cleanup) struct profile *into = sample_profile(), *from = sample_profile();

	from->has_timeline = false;
	from->event_count = 0;
	merge(into, from);
	assert_false(into->has_timeline);
	assert_int_equal(into->event_count, 0);
}

static void facts_that_differ_become_unknown(void **state)
{
	CLEANUP(profile_cleanup) struct profile *into = sample_profile(), *from = sample_profile();
	struct error err;

	assert_true(profile_intern(from, "another CPU", &from->facts.cpu_model, &err));
	from->facts.cpu_count = 64;
	from->period = 5;
	merge(into, from);
	assert_int_equal(into->facts.cpu_model, 0);
	assert_int_equal(into->facts.cpu_count, 0);
	assert_int_equal(into->period, 0);
	assert_string_equal(profile_string(into, into->facts.kernel), "6.18");
}

static void requests_of_the_same_source_are_added(void **state)
{
	CLEANUP(profile_cleanup) struct profile *into = sample_profile(), *from = sample_profile();
	uint64_t answered = profile_requests_total(into, PROFILE_EXCHANGE_ANSWERED);
	double first = profile_requests_between(from, 1, PROFILE_EXCHANGE_ANSWERED, 0, 1500000000);

	from->requests.one_in = 16;
	merge(into, from);
	assert_int_equal(profile_requests_total(into, PROFILE_EXCHANGE_ANSWERED), 2 * answered);
	assert_int_equal(profile_requests_total(into, PROFILE_EXCHANGE_CALLED_OUT),
		2 * profile_requests_total(from, PROFILE_EXCHANGE_CALLED_OUT));
	assert_int_equal(into->requests.one_in, 16);
	/* Runs stay apart. */
	for (uint32_t run = 1; run < 4; run += 2)
		assert_true(profile_requests_between(into, run, PROFILE_EXCHANGE_ANSWERED, 0, 1500000000) == first);
}

static void requests_that_something_else_counted_are_not_added(void **state)
{
	enum { OTHER_SOURCE, OTHER_EVENT, NOT_COUNTED, COUNTED_AFTER, CASES };

	for (int i = 0; i < CASES; i++) {
		CLEANUP(profile_cleanup) struct profile *into = sample_profile(), *from = sample_profile();

		if (i == OTHER_SOURCE)
			from->requests.source = PROFILE_WORK_SOCKETS;
		else if (i == OTHER_EVENT)
			from->requests.event = from->facts.tool;
		else
			profile_forget_requests(i == NOT_COUNTED ? from : into);
		merge(into, from);
		assert_int_equal(into->requests.source, PROFILE_WORK_UNKNOWN);
		assert_int_equal(profile_requests_total(into, PROFILE_EXCHANGE_ANSWERED), 0);
		assert_int_equal(into->requests.latency_count + into->requests.reading_count, 0);
		/* They stay unknown, whatever is added. */
		merge(into, from);
		assert_int_equal(into->requests.exchange_count, 0);
	}
}

static void add_type(struct profile *profile, const char *type, const char *unit)
{
	struct error err;

	assert_true(profile_add_value_type(profile, type, unit, &err));
}

static void add_sample_on(struct profile *profile, uint32_t stack, const int64_t *values)
{
	struct profile_run run = { 0 };
	struct profile_thread thread = { 0 };
	struct error err;
	uint32_t id;

	assert_true(profile_add_run(profile, &run, &thread.run, &err) &&
		    profile_add_thread(profile, &thread, &id, &err) &&
		    profile_add_sample(profile, stack, id, values, -1, &err));
}

static void add_sample(struct profile *profile, const int64_t *values)
{
	add_sample_on(profile, 0, values);
}

static void value_types_are_matched_by_name(void **state)
{
	CLEANUP(profile_cleanup) struct profile *into = NULL, *from = NULL;
	struct error err;

	assert_true(profile_create(&into, &err) && profile_create(&from, &err));
	add_type(into, "cpu", "nanoseconds");
	add_type(into, "misses", "count");
	add_type(from, "misses", "count");
	add_type(from, "cpu", "nanoseconds");
	add_sample(into, (int64_t[]){ 1, 10, 100 });
	add_sample(from, (int64_t[]){ 2, 200, 20 });
	merge(into, from);
	assert_int_equal(profile_sum(into, 0), 3);
	assert_int_equal(profile_sum(into, 1), 30);
	assert_int_equal(profile_sum(into, 2), 300);
}

/* A file may name one twice, whatever that means; none may be lost. */
static void equal_value_types_are_kept_apart(void **state)
{
	struct profile *profiles[2];
	struct error err;

	for (int i = 0; i < 2; i++) {
		assert_true(profile_create(&profiles[i], &err));
		add_type(profiles[i], "x", "count");
		add_type(profiles[i], "x", "count");
		add_sample(profiles[i], (int64_t[]){ 1, 10, 100 });
	}
	merge(profiles[0], profiles[1]);
	assert_int_equal(profile_sum(profiles[0], 1), 20);
	assert_int_equal(profile_sum(profiles[0], 2), 200);
	profile_destroy(profiles[0]);
	profile_destroy(profiles[1]);
}

static void other_value_types_are_refused(void **state)
{
	static const char *const types[][2] = { { "cpu", "microseconds" }, { "wall", "nanoseconds" }, { NULL, NULL } };

	for (size_t i = 0; i < 3; i++) {
		CLEANUP(profile_cleanup) struct profile *into = sample_profile(), *from = NULL;
		struct error err = { 0 };
		size_t samples = into->sample_count;

		assert_true(profile_create(&from, &err));
		if (types[i][0])
			add_type(from, types[i][0], types[i][1]);
		add_sample(from, (int64_t[]){ 1, 2 });
		assert_false(profile_merge(into, from, &err));
		assert_int_equal(err.code, ERROR_FORMAT);
		assert_non_null(strstr(err.message, "record both alike"));
		assert_int_equal(into->sample_count, samples);
	}
}

static struct profile *one_place(enum profile_mapping_kind kind, const char *build_id, const char *name, int64_t count)
{
	struct profile_mapping mapping = { .kind = kind };
	struct profile_function function = { 0 };
	struct profile_line line = { 0 };
	struct profile *profile;
	struct error err;
	uint32_t in, location, stack;

	assert_true(profile_create(&profile, &err) && profile_intern(profile, "x", &mapping.path, &err) &&
		    profile_intern(profile, build_id, &mapping.build_id, &err) &&
		    profile_intern(profile, name, &function.name, &err) &&
		    profile_add_mapping(profile, &mapping, &in, &err) &&
		    profile_add_function(profile, &function, &line.function, &err) &&
		    profile_add_location(profile, in, 0x1000, &location, &err) &&
		    profile_set_lines(profile, location, &line, 1, &err) &&
		    profile_add_stack(profile, 0, location, &stack, &err));
	add_sample_on(profile, stack, &count);
	return profile;
}

/* Code made at run time, and a kernel after a reboot: the same address is another function. Of a binary it is the same.
 */
static void an_address_means_what_it_did_in_its_own_recording(void **state)
{
	static const struct {
		enum profile_mapping_kind kind;
		const char *build_id, *folded;
	} cases[] = {
		{ PROFILE_MAPPING_JIT, "", "first 1\nsecond 2\n" },
		{ PROFILE_MAPPING_ANON, "", "first 1\nsecond 2\n" },
		{ PROFILE_MAPPING_KERNEL, "", "first_[k] 1\nsecond_[k] 2\n" },
		{ PROFILE_MAPPING_FILE, "", "first 1\nsecond 2\n" },
		{ PROFILE_MAPPING_FILE, "ab", "first 3\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(profile_cleanup) struct profile *into = one_place(cases[i].kind, cases[i].build_id, "first", 1);
		CLEANUP(profile_cleanup)
		struct profile *from = one_place(cases[i].kind, cases[i].build_id, "second", 2);
		CLEANUP(cleanup_free) char *text = NULL;

		merge(into, from);
		text = folded_of(into);
		assert_string_equal(text, cases[i].folded);
	}
}

/* One build of a library knows the fingerprint of its unnamed code, the other does not: what is known wins. */
static void a_fingerprint_that_comes_later_makes_the_key(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct profile_function function = { 0 };
	struct error err;
	uint32_t first, second;

	assert_true(profile_create(&profile, &err) &&
		    profile_intern(profile, "libz.so.1.2.13+0x5d80", &function.name, &err) &&
		    profile_intern(profile, "libz.so", &function.module, &err) &&
		    profile_add_function(profile, &function, &first, &err));
	assert_string_equal(profile_string(profile, profile->functions[first].key), "[unnamed]`libz.so");
	function.fingerprint = 0xab;
	assert_true(profile_add_function(profile, &function, &second, &err));
	assert_int_equal(first, second);
	assert_string_equal(profile_string(profile, profile->functions[first].key), "[code 00000000000000ab]`libz.so");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_merge_into_nothing_is_a_copy),
		cmocka_unit_test(values_add_and_runs_stay_runs),
		cmocka_unit_test(order_does_not_matter),
		cmocka_unit_test(each_run_keeps_its_instance_and_its_cpu),
		cmocka_unit_test(what_is_merged_survives_a_file),
		cmocka_unit_test(a_profile_without_times_takes_the_timeline_away),
		cmocka_unit_test(requests_of_the_same_source_are_added),
		cmocka_unit_test(requests_that_something_else_counted_are_not_added),
		cmocka_unit_test(facts_that_differ_become_unknown),
		cmocka_unit_test(value_types_are_matched_by_name),
		cmocka_unit_test(equal_value_types_are_kept_apart),
		cmocka_unit_test(other_value_types_are_refused),
		cmocka_unit_test(an_address_means_what_it_did_in_its_own_recording),
		cmocka_unit_test(a_fingerprint_that_comes_later_makes_the_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
