/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "foreign_fixture.h"
#include "profile/foreign/foreign.h"
#include "tests/unit/profile/profile_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

/* READS | speedscope | its own files, py-spy's; sampled and evented | weights in their units */

/* Profiles that are JSON: CPU profiles of V8, and speedscope's files. */

#define FRAME(name, url, line)                                                                                         \
	"\"callFrame\":{\"functionName\":\"" name "\",\"scriptId\":\"1\",\"url\":\"" url "\",\"lineNumber\":" #line    \
	",\"columnNumber\":4}"
#define NODES                                                                                                          \
	"{\"nodes\":[{\"id\":1," FRAME("(root)", "", -1) ",\"hitCount\":0,\"children\":[2,5]},{\"id\":2," FRAME(       \
		"main", "file:///srv/w.js", 0) ",\"hitCount\":1,\"children\":[3,4]},{\"id\":3," FRAME("get size",      \
		"file:///srv/w.js", 7) ",\"hitCount\":1},{\"id\":4," FRAME("", "node:fs",                              \
		9) ",\"hitCount\":0},{\"id\":5," FRAME("(idle)", "", -1) ",\"hitCount\":1}]"

static const char cpuprofile[] = NODES ",\"startTime\":1000,\"endTime\":1100,\"samples\":[3,2,3,5],"
				       "\"timeDeltas\":[10,20,-5,40]}";

#define SCHEMA "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
#define FRAMES                                                                                                         \
	"\"shared\":{\"frames\":[{\"name\":\"main\"},{\"name\":\"parse\",\"file\":\"/srv/w.py\",\"line\":8,\"col\":null}]}"

static const char sampled[] =
	SCHEMA "\"exporter\":\"py-spy@0.4.0\",\"profiles\":[{\"type\":\"sampled\",\"name\":\"Thread 7 \\\"worker\\\"\","
	       "\"samples\":[[0],[0,1],[0,1]],\"weights\":[0.01,0.02,0.01],\"unit\":\"seconds\"}]," FRAMES "}";
static const char evented[] = SCHEMA FRAMES
	",\"profiles\":[{\"type\":\"evented\",\"name\":\"a\",\"unit\":\"milliseconds\",\"startValue\":5,\"endValue\":20,"
	"\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":5},{\"type\":\"O\",\"frame\":1,\"at\":7.5},"
	"{\"type\":\"C\",\"frame\":1,\"at\":9},{\"type\":\"C\",\"frame\":0,\"at\":20}]}]}";

static struct profile *read_text(const char *text)
{
	return read_profile(text, strlen(text));
}

/*
 * A sample lasts until the next one in time, which is not always the next one in the file; the last one to the end of
 * the recording.
 */
static void samples_of_v8_last_until_the_next_one(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = read_text(cpuprofile);
	const struct profile_function *function = &profile->functions[1];

	(void)state;
	expect_stacks(profile, 0,
		"(idle) 1\nJS:main file:///srv/w.js:1:5 1\nJS:main file:///srv/w.js:1:5;JS:get size file:///srv/w.js:8:5 2\n");
	expect_stacks(profile, 1,
		"(idle) 35000\nJS:main file:///srv/w.js:1:5 35000\n"
		"JS:main file:///srv/w.js:1:5;JS:get size file:///srv/w.js:8:5 20000\n");
	assert_int_equal(profile->quality.samples, 4);
	assert_int_equal(profile->runs[0].duration_ns, 100000);
	assert_string_equal(profile_string(profile, function->key), "get size file:///srv/w.js`[jit]");
	assert_int_equal(function->start_line, 8);
}

/* Whatever the order of the samples in the file, the same moments give the same times, which are those of the clock. */
static void times_are_those_of_the_clock(void **state)
{
	static const char *const orders[] = {
		"\"samples\":[3,2,3,5],\"timeDeltas\":[10,20,30,10]}", /* at 1010, 1030, 1060, 1070 */
		"\"samples\":[2,3,3,5],\"timeDeltas\":[30,-20,50,10]}",
		"\"samples\":[5,3,2,3],\"timeDeltas\":[70,-10,-30,-20]}",
		"\"samples\":[3,5,3,2],\"timeDeltas\":[10,60,-10,-30]}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		CLEANUP(buffer_deinit) struct buffer text;
		CLEANUP(profile_cleanup) struct profile *profile = NULL;

		buffer_init(&text, 1 << 16);
		buffer_printf(&text, "%s,\"startTime\":1000,\"endTime\":1100,%s", NODES, orders[i]);
		profile = read_text(text.data);
		expect_stacks(profile, 1,
			"(idle) 30000\nJS:main file:///srv/w.js:1:5 30000\n"
			"JS:main file:///srv/w.js:1:5;JS:get size file:///srv/w.js:8:5 30000\n");
	}
	expect_refused(NODES ",\"samples\":[2,2],\"timeDeltas\":[9e18,9e18]}",
		strlen(NODES ",\"samples\":[2,2],\"timeDeltas\":[9e18,9e18]}"), ERROR_FORMAT, "more than 63 bits");
}

/* Then each hit stands for an equal part of the time. */
static void hits_are_samples_where_no_times_are_told(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = read_text(NODES ",\"startTime\":0,\"endTime\":300}");

	(void)state;
	assert_int_equal(profile_sum(profile, 0), 3);
	assert_int_equal(profile_sum(profile, 1), 300000);
}

static void stacks_with_weights_are_read(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = read_text(sampled);

	(void)state;
	expect_stacks(profile, 1, "main 10000000\nmain;py::parse:/srv/w.py 30000000\n");
	assert_string_equal(profile_string(profile, profile->threads[0].name), "worker");
	assert_string_equal(profile_string(profile, profile->value_types[1].type), "time");
	assert_string_equal(profile_string(profile, profile->facts.tool), "py-spy@0.4.0");
	assert_int_equal(profile->lines[1].line, 8);
}

static void what_is_open_takes_the_time(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = read_text(evented);

	(void)state;
	expect_stacks(profile, 1, "main 13500000\nmain;py::parse:/srv/w.py 1500000\n");
}

static void what_is_never_closed_lasts_to_the_end(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *profile = read_text(SCHEMA FRAMES
		",\"profiles\":[{\"unit\":\"none\",\"endValue\":9,\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":2}]}]}");

	(void)state;
	assert_int_equal(profile_sum(profile, profile->default_value_type), 7);
}

static void units_are_value_types(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *profile = read_text(SCHEMA FRAMES
		",\"profiles\":[{\"type\":\"sampled\",\"unit\":\"bytes\",\"samples\":[[0]],\"weights\":[7]},"
		"{\"type\":\"sampled\",\"unit\":\"microseconds\",\"samples\":[[1]],\"weights\":[3]},"
		"{\"type\":\"sampled\",\"unit\":\"nanoseconds\",\"samples\":[[1]],\"weights\":[5]}]}");

	(void)state;
	assert_int_equal(profile->value_type_count, 3);
	assert_int_equal(profile->default_value_type, 1);
	assert_int_equal(profile_sum(profile, 1), 7);
	assert_int_equal(profile_sum(profile, 2), 3005);
}

static void expect_weights(const char *profiles, const char *unit, const char *folded)
{
	CLEANUP(buffer_deinit) struct buffer text;
	CLEANUP(profile_cleanup) struct profile *profile = NULL;

	buffer_init(&text, 1 << 16);
	buffer_printf(&text, "%s%s,\"profiles\":[%s]}", SCHEMA, FRAMES, profiles);
	profile = read_text(text.data);
	assert_string_equal(profile_string(profile, profile->value_types[profile->default_value_type].unit), unit);
	expect_stacks(profile, profile->default_value_type, folded);
}

/* However small the weights, and in whatever order they come, each stack has the sum of its own. */
static void fractions_are_of_their_stacks(void **state)
{
	static const char *const stacks = "\"samples\":[[0],[0,1],[0],[0,1],[0],[0,1]]";
	CLEANUP(buffer_deinit) struct buffer text;

	(void)state;
	buffer_init(&text, 1 << 12);
	buffer_printf(&text, "{\"unit\":\"none\",%s,\"weights\":[0.4,0.6,0.4,0.6,0.4,0.6]}", stacks);
	expect_weights(text.data, "1/1000000", "main 1.2\nmain;py::parse:/srv/w.py 1.8\n");
	text.size = 0;
	buffer_printf(&text, "{\"unit\":\"none\",%s,\"weights\":[4e-6,0.0,4e-6,0.5,4e-6,0]}", stacks);
	expect_weights(text.data, "1/1000000", "main 0.000012\nmain;py::parse:/srv/w.py 0.5\n");
	text.size = 0;
	buffer_printf(&text, "{\"unit\":\"nanoseconds\",%s,\"weights\":[0.4,0.6,0.4,0.6,0.4,0.6]}", stacks);
	expect_weights(text.data, "nanoseconds", "main 1\nmain;py::parse:/srv/w.py 2\n");
	text.size = 0;
	buffer_printf(&text, "{\"unit\":\"none\",%s,\"weights\":[4.0,6e0,4,6,4,6]}", stacks);
	expect_weights(text.data, "", "main 12\nmain;py::parse:/srv/w.py 18\n");
	/* Moments of events have fractions too. */
	expect_weights("{\"unit\":\"none\",\"endValue\":2,\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":0.75}]}",
		"1/1000000", "main 1.25\n");
}

/* The order of events tells who calls whom; a time that steps back says nothing, and is said. */
static void times_of_events_never_step_back(void **state)
{
	static const char text[] = SCHEMA FRAMES
		",\"profiles\":[{\"unit\":\"milliseconds\",\"name\":\"p\",\"startValue\":0,\"endValue\":10,\"events\":["
		"{\"type\":\"O\",\"frame\":0,\"at\":0},{\"type\":\"O\",\"frame\":1,\"at\":5},"
		"{\"type\":\"C\",\"frame\":1,\"at\":3},{\"type\":\"C\",\"frame\":0,\"at\":10}]}]}";
	CLEANUP(profile_cleanup) struct profile *profile = read_text(text), *ordered = read_text(evented);

	(void)state;
	expect_stacks(profile, 1, "main 10000000\n");
	assert_int_equal(profile->runs[0].duration_ns, 10000000);
	assert_int_equal(profile->notes.count, 1);
	assert_string_equal(profile_string(profile, profile->notes.texts[0]),
		"1 of the 4 events in 'p' is earlier than the event before, by up to 2 milliseconds of 10 in all: it is taken to have come at the same moment");
	assert_int_equal(ordered->notes.count, 0);
	assert_int_equal(ordered->runs[0].duration_ns, 15000000);
}

static void what_contradicts_itself_is_refused(void **state)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ NODES ",\"samples\":[9],\"timeDeltas\":[1]}", "node 9, which is missing" },
		{ NODES ",\"samples\":[2,2],\"timeDeltas\":[1]}", "2 samples, but 1 times" },
		{ "{\"nodes\":[{\"id\":1," FRAME("a", "", 1) ",\"children\":[7]}],\"samples\":[1],\"timeDeltas\":[1]}",
			"no tree: 7 is missing" },
		{ "{\"nodes\":[{\"id\":1," FRAME("a", "", 1) ",\"children\":[2]},{\"id\":2," FRAME(
			  "b", "", 1) ",\"children\":[1]}],\"samples\":[1],\"timeDeltas\":[1]}",
			"its own caller" },
		{ "{\"nodes\":[{\"id\":1," FRAME("a", "", 1) ",\"children\":[1]}],\"samples\":[1],\"timeDeltas\":[1]}",
			"its own caller" },
		{ "{\"nodes\":[{\"id\":1," FRAME("a", "", 1) "},{\"id\":1," FRAME("b", "", 1) "}]}", "the same id" },
		{ "{\"nodes\":[{\"id\":1," FRAME("a", "", 1) ",\"hitCount\":-1}]}", "counts no samples, but -1" },
		{ SCHEMA FRAMES ",\"profiles\":[{\"unit\":\"none\",\"samples\":[[2]],\"weights\":[1]}]}",
			"none of those" },
		{ SCHEMA FRAMES ",\"profiles\":[{\"unit\":\"none\",\"samples\":[[-1]],\"weights\":[1]}]}",
			"none of those" },
		{ SCHEMA FRAMES ",\"profiles\":[{\"unit\":\"none\",\"samples\":[[0]],\"weights\":[]}]}",
			"fewer weights" },
		{ SCHEMA FRAMES ",\"profiles\":[{\"unit\":\"none\",\"samples\":[[0]],\"weights\":[1,2]}]}",
			"more weights" },
		{ SCHEMA FRAMES ",\"profiles\":[{\"unit\":\"none\",\"samples\":[[0]],\"weights\":[-1]}]}",
			"a difference of two profiles" },
		{ SCHEMA FRAMES ",\"profiles\":[{\"unit\":\"seconds\",\"samples\":[[0]],\"weights\":[-1e-10]}]}",
			"a difference of two profiles" },
		{ SCHEMA FRAMES ",\"profiles\":[{\"unit\":\"none\",\"samples\":[[0]],\"weights\":[1e19]}]}",
			"too large" },
		{ SCHEMA FRAMES ",\"profiles\":[{\"unit\":\"hours\"}]}", "none of speedscope's" },
		{ SCHEMA FRAMES ",\"profiles\":[{\"unit\":\"none\"}]}", "neither samples with weights nor events" },
		{ SCHEMA FRAMES ",\"profiles\":[{\"events\":[{\"type\":\"C\",\"frame\":0,\"at\":1}]}]}", "innermost" },
		{ SCHEMA FRAMES ",\"profiles\":[{\"events\":[{\"type\":\"X\",\"frame\":0,\"at\":1}]}]}",
			"neither opens" },
		{ SCHEMA "\"profiles\":[{\"events\":[{\"type\":\"O\",\"at\":1}]}]}", "none of those" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_refused(cases[i].text, strlen(cases[i].text), ERROR_FORMAT, cases[i].words);
}

static void every_file_that_was_cut_is_refused(void **state)
{
	static const char *const whole[] = { cpuprofile, sampled, evented };

	(void)state;
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		for (size_t size = 1; size < strlen(whole[i]); size++)
			expect_refused(whole[i], size, ERROR_NONE, "cannot read");
}

static void every_failed_allocation_is_an_error(void **state)
{
	read_with_failing_allocations(cpuprofile);
	read_with_failing_allocations(sampled);
	read_with_failing_allocations(evented);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_of_v8_last_until_the_next_one),
		cmocka_unit_test(times_are_those_of_the_clock),
		cmocka_unit_test(hits_are_samples_where_no_times_are_told),
		cmocka_unit_test(stacks_with_weights_are_read),
		cmocka_unit_test(what_is_open_takes_the_time),
		cmocka_unit_test(what_is_never_closed_lasts_to_the_end),
		cmocka_unit_test(units_are_value_types),
		cmocka_unit_test(fractions_are_of_their_stacks),
		cmocka_unit_test(times_of_events_never_step_back),
		cmocka_unit_test(what_contradicts_itself_is_refused),
		cmocka_unit_test(every_file_that_was_cut_is_refused),
		cmocka_unit_test(every_failed_allocation_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
