/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/foreign.h"
#include "render/report.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

static const int64_t second_ns = 1000000000;

/* The stack of functions from the root on. A mark before a name tells its origin: '.' the system's, '+' a library's. */
static uint32_t add_stack(struct profile *profile, const char *names)
{
	char copy[256], *rest = NULL;
	uint32_t stack = 0;
	struct error err;

	snprintf(copy, sizeof(copy), "%s", names);
	for (char *name = strtok_r(copy, ";", &rest); name; name = strtok_r(NULL, ";", &rest)) {
		struct profile_function function = { .origin = name[0] == '.'   ? PROFILE_ORIGIN_SYSTEM
							       : name[0] == '+' ? PROFILE_ORIGIN_LIBRARY
										: PROFILE_ORIGIN_USER };
		struct profile_line line = { 0 };
		uint32_t location;

		name += function.origin != PROFILE_ORIGIN_USER;
		assert_true(profile_intern(profile, name, &function.name, &err));
		assert_true(profile_add_function(profile, &function, &line.function, &err));
		assert_true(profile_add_location_of_lines(profile, PROFILE_NONE, &line, 1, &location, &err));
		assert_true(profile_add_stack(profile, stack, location, &stack, &err));
	}
	return stack;
}

static uint32_t add_wait(
	struct profile *profile, const char *names, enum profile_wait_class wait_class, int64_t seconds)
{
	int64_t values[PROFILE_MAX_VALUE_TYPES];
	uint32_t stack;
	struct error err;

	assert_true(profile_add_wait_stack(profile, add_stack(profile, names), wait_class, &stack, &err));
	profile_wait_fill(profile, wait_class, seconds * second_ns, values);
	assert_true(profile_add_sample(profile, stack, 0, values, seconds, &err));
	assert_true(profile_weigh_event(profile, seconds * second_ns, &err));
	return stack;
}

static void add_release(struct profile *profile, uint32_t waiter, const char *releaser, int64_t seconds)
{
	struct profile_release release = { waiter, PROFILE_NONE, 0, seconds * second_ns };
	struct error err;

	release.releaser = releaser ? add_stack(profile, releaser) : 0;
	assert_true(profile_add_release(profile, &release, &err));
}

static uint32_t add_lock(struct profile *profile, const char *name, int32_t pid)
{
	struct profile_lock lock = { .pid = pid };
	uint32_t id;
	struct error err;

	assert_true(profile_intern(profile, name, &lock.name, &err));
	assert_true(profile_intern(profile, name[0] ? "server" : "", &lock.module, &err));
	assert_true(profile_add_lock(profile, &lock, &id, &err));
	return id;
}

static void add_wait_for(struct profile *profile, uint32_t lock, enum profile_wait_class wait_class, const char *waiter,
	const char *releaser, int64_t seconds)
{
	struct profile_release release = { add_wait(profile, waiter, wait_class, seconds), lock,
		add_stack(profile, releaser), seconds * second_ns };
	struct error err;

	assert_true(profile_add_release(profile, &release, &err));
}

/* A server: its cache is locked by whoever refills it, and its workers have little to do. */
static struct profile *make_server(void)
{
	struct profile *profile = NULL;
	struct error err;
	uint32_t id, locked;

	assert_true(profile_create(&profile, &err));
	assert_true(profile_add_value_type(profile, "cpu", "nanoseconds", &err));
	assert_true(profile_add_wait_values(profile, &err));
	assert_true(profile_add_run(profile, &(struct profile_run){ .duration_ns = 60 * second_ns }, &id, &err));
	assert_true(profile_add_thread(profile, &(struct profile_thread){ .pid = 1 }, &id, &err));
	assert_true(profile_add_sample(
		profile, add_stack(profile, "main;serve"), 0, (int64_t[]){ 1, second_ns, 0, 0, second_ns }, 0, &err));
	locked = add_wait(profile, "main;serve;get;+lock;.futex_wait", PROFILE_WAIT_LOCK, 8);
	/* The same function again: its time counts once. */
	add_wait(profile, "main;serve;serve;get;+lock;.futex_wait", PROFILE_WAIT_LOCK, 2);
	add_wait(profile, "main;serve;get;+lock;.futex_wait", PROFILE_WAIT_RUN_QUEUE, 1);
	add_wait(profile, "main;serve;fetch;.recv", PROFILE_WAIT_NETWORK, 5);
	add_wait(profile, "main;work;.poll", PROFILE_WAIT_IDLE, 40);
	add_wait(profile, ".start;+pool;.futex_wait", PROFILE_WAIT_OTHER, 4);
	add_release(profile, locked, "main;refill;+unlock;.futex_wake", 6);
	add_release(profile, locked, "main;other;refill;.futex_wake", 1);
	add_release(profile, locked, "main;drop;+unlock;.futex_wake", 1);
	add_release(profile, locked, NULL, 3);
	assert_true(profile_finish(profile, &err));
	assert_true(profile_validate(profile, &err));
	return profile;
}

struct report {
	struct profile *profile;
	struct diff *diff;
	struct waits *waits;
	struct render_input input;
};

static struct report report_of(struct profile *profile, const char *metric, bool compared)
{
	struct report report = { .profile = profile };
	struct diff_options options = { .metric = metric };
	struct error err;

	if (!(compared ? diff_create(report.profile, report.profile, &options, &report.diff, &err)
		       : diff_create_single(report.profile, &options, &report.diff, &err)))
		fail_msg("%s", err.message);
	report.input = (struct render_input){ .diff = report.diff, .profiles = { [DIFF_HEAD] = report.profile } };
	if (compared)
		report.input.profiles[DIFF_BASE] = report.profile;
	waits_create(report.diff, report.input.profiles, &report.waits);
	return report;
}

static struct report make_report(const char *metric, bool compared)
{
	return report_of(make_server(), metric, compared);
}

static void report_deinit(struct report *report)
{
	waits_destroy(report->waits);
	diff_destroy(report->diff);
	profile_destroy(report->profile);
}

static size_t function_of(const struct diff *diff, const char *name)
{
	for (size_t i = 0; i < diff->function_count; i++)
		if (strcmp(diff_string(diff, diff->functions[i].name), name) == 0)
			return i;
	fail_msg("no function %s", name);
	return 0;
}

static void check_sums(const struct report *report, const char *function, const int64_t *in, const int64_t *at)
{
	size_t number = function_of(report->diff, function);

	for (int i = 0; i < PROFILE_WAIT_COUNT; i++) {
		if (waits_in(report->waits, DIFF_HEAD, number)[i] != in[i] * second_ns ||
			waits_at(report->waits, DIFF_HEAD, number)[i] != at[i] * second_ns)
			fail_msg("%s: %s", function, profile_wait_info((enum profile_wait_class)i)->name);
	}
}

static void waits_belong_to_their_stacks_and_have_one_place(void **state)
{
	static const char *const metrics[] = { "wall", "off-cpu", "idle" };
	static const int64_t none[PROFILE_WAIT_COUNT] = { 0 };
	enum { LOCK = PROFILE_WAIT_LOCK, NETWORK = PROFILE_WAIT_NETWORK, QUEUE = PROFILE_WAIT_RUN_QUEUE };
	static const int64_t
		of_main[PROFILE_WAIT_COUNT] = { [LOCK] = 10, [NETWORK] = 5, [PROFILE_WAIT_IDLE] = 40, [QUEUE] = 1 },
		of_serve[PROFILE_WAIT_COUNT] = { [LOCK] = 10, [NETWORK] = 5, [QUEUE] = 1 },
		of_get[PROFILE_WAIT_COUNT] = { [LOCK] = 10, [QUEUE] = 1 },
		of_fetch[PROFILE_WAIT_COUNT] = { [NETWORK] = 5 },
		of_work[PROFILE_WAIT_COUNT] = { [PROFILE_WAIT_IDLE] = 40 },
		of_pool[PROFILE_WAIT_COUNT] = { [PROFILE_WAIT_OTHER] = 4 };

	for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
		struct report report = make_report(metrics[i], false);
		const int64_t *total = waits_total(report.waits, DIFF_HEAD);

		assert_int_equal(total[PROFILE_WAIT_LOCK], 10 * second_ns);
		assert_int_equal(total[PROFILE_WAIT_IDLE], 40 * second_ns);
		assert_int_equal(waits_total(report.waits, DIFF_BASE)[PROFILE_WAIT_LOCK], 0);
		check_sums(&report, "main", of_main, none);
		check_sums(&report, "serve", of_serve, none);
		check_sums(&report, "get", of_get, of_get);
		check_sums(&report, "lock", of_get, none);
		check_sums(&report, "fetch", of_fetch, of_fetch);
		check_sums(&report, "work", of_work, of_work);
		check_sums(&report, "start", of_pool, none);
		check_sums(&report, "pool", of_pool, of_pool);
		report_deinit(&report);
	}
}

static void who_ended_waits_is_told_by_place(void **state)
{
	struct report report = make_report("off-cpu", false);
	const struct waits_releaser *by;
	size_t count;

	by = waits_releasers(report.waits, DIFF_HEAD, function_of(report.diff, "get"), &count);
	assert_int_equal(count, 2);
	assert_string_equal(by[0].name, "refill");
	assert_int_equal(by[0].ns, 7 * second_ns);
	assert_string_equal(by[1].name, "drop");
	assert_int_equal(by[1].ns, second_ns);
	(void)waits_releasers(report.waits, DIFF_HEAD, function_of(report.diff, "fetch"), &count);
	assert_int_equal(count, 0);
	(void)waits_releasers(report.waits, DIFF_BASE, function_of(report.diff, "get"), &count);
	assert_int_equal(count, 0);
	report_deinit(&report);
}

static char *terminated(struct buffer *out)
{
	buffer_append_byte(out, '\0');
	assert_false(out->failed);
	return out->data;
}

/* The text of a report, which lies in the buffer. */
static const char *text_of(const struct report *report, struct buffer *out)
{
	struct error err;

	buffer_init(out, 1 << 20);
	assert_true(render_text(&report->input, NULL, out, &err));
	return terminated(out);
}

static void assert_says(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("'%s' is not in:\n%s", words, text);
}

static void the_text_says_what_threads_waited_for(void **state)
{
	struct report report = make_report("off-cpu", false);
	CLEANUP(buffer_deinit) struct buffer out = { 0 };
	const char *text = text_of(&report, &out);

	assert_says(text,
		"\nwaiting: 20.0 s, 333 ms per second: lock 50.0 %, network 25.0 %, other 20.0 %, run queue 5.0 %; idle\n40.0 s not counted.\n");
	assert_says(text, "Where threads wait\n");
	assert_says(text, "  get       lock       11.0 s      183 ms  55.0 %  refill 87.5 %\n");
	assert_says(text, "  fetch     network    5.00 s     83.3 ms  25.0 %\n");
	assert_null(strstr(text, "  work  "));
	report_deinit(&report);
}

static void the_picture_has_a_colour_for_each_class(void **state)
{
	struct report report = make_report("wall", false);
	CLEANUP(buffer_deinit) struct buffer out = { 0 };
	const char *svg;
	struct error err;

	buffer_init(&out, 1 << 20);
	assert_true(render_svg(&report.input, NULL, &out, &err));
	svg = terminated(&out);
	assert_says(svg, "<title>[waiting: lock] 8.00 s, 38.1 %</title><rect");
	assert_says(svg, "fill=\"#9e270f\"/><text");
	assert_says(svg, ">[waiting: network]</text>\n");
	assert_says(svg, "colour shows the origin of the code, or what threads wait for");
	assert_null(strstr(svg, "[waiting: idle]"));
	assert_null(strstr(svg, "[waiting: timer]"));
	report_deinit(&report);
}

/* One place waits longer, for one lock. */
static void a_comment_lists_places_that_changed(void **state)
{
	CLEANUP(profile_cleanup) struct profile *base = make_server(), *head = make_server();
	struct render_input input = { .profiles = { base, head } };
	CLEANUP(buffer_deinit) struct buffer out = { 0 };
	struct diff_options options = { .metric = "wall" };
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	const char *comment;
	struct error err;

	add_wait_for(head, add_lock(head, "cache_mutex", 1), PROFILE_WAIT_LOCK, "main;serve;get;+lock;.futex_wait",
		"main;refill;.futex_wake", 30);
	assert_true(profile_finish(head, &err));
	assert_true(diff_create(base, head, &options, &diff, &err));
	input.diff = diff;
	buffer_init(&out, 1 << 20);
	assert_true(render_markdown(&input, &out, &err));
	comment = terminated(&out);
	assert_says(comment, "**Where threads wait**\n\n| place | waiting | base | head |");
	assert_says(comment, "<code>get</code>");
	assert_says(comment,
		" | for a lock, most for <code>cache&#95;mutex</code> | 10.0 s | 40.0 s | +30.0 s | 4.00× | "
		"<code>refill</code> |\n");
	assert_null(strstr(comment, "fetch</code> | for the"));
}

static uint32_t function_named(const struct diff *diff, const char *name)
{
	uint32_t i = 0;

	while (strcmp(diff_string(diff, diff->functions[i].shown), name) != 0)
		i++;
	return i;
}

/* As if it were proven: the change is `put` → `+lock` → `.futex_wait`, at the place that has changed most. */
static void the_headline_lists_a_change_with_its_lock(void **state)
{
	CLEANUP(profile_cleanup) struct profile *base = make_server(), *head = make_server();
	CLEANUP(buffer_deinit) struct buffer out = { 0 }, text = { 0 };
	struct render_text_options whole = { 0 };
	struct render_input input = { .profiles = { base, head } };
	struct diff_options options = { .metric = "wall" };
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	struct diff_change change = { .count = 2, .caller = PROFILE_NONE, .wait_sites = { 0 }, .wait_count = 1 };
	struct error err;

	add_wait_for(head, add_lock(head, "log_mutex", 2), PROFILE_WAIT_LOCK, "main;serve;put;+lock;.futex_wait",
		"main;drop;.futex_wake", 300);
	assert_true(profile_finish(head, &err));
	assert_true(diff_create(base, head, &options, &diff, &err));
	input.diff = diff;
	change.function = function_named(diff, "put");
	free(diff->changes);
	free(diff->change_functions);
	diff->changes = calloc(1, sizeof(change));
	diff->change_functions = calloc(2, sizeof(*diff->change_functions));
	assert_true(diff->changes && diff->change_functions);
	diff->changes[0] = change;
	diff->change_functions[0] = change.function;
	diff->change_functions[1] = function_named(diff, "futex_wait");
	diff->change_count = 1;
	diff->named_wait = PROFILE_NONE;
	buffer_init(&out, 1 << 20);
	buffer_init(&text, 1 << 20);
	assert_true(render_markdown(&input, &out, &err));
	assert_says(terminated(&out),
		"\nProven:\n\n- <code>put</code> → <code>futex&#95;wait</code> is new: &#43;300 s, &#43;93.75 points; "
		"waiting for lock <code>log&#95;mutex</code>, held by <code>drop</code>\n");
	assert_true(render_text(&input, &whole, &text, &err));
	assert_says(terminated(&text),
		"\nProven:\n- put → futex_wait is new: +300 s, +93.75 points; waiting for lock log_mutex, held by drop\n");
	/* What the verdict itself says is not listed again. */
	diff->named_wait = 0;
	buffer_deinit(&text);
	buffer_init(&text, 1 << 20);
	assert_true(render_text(&input, &whole, &text, &err));
	assert_null(strstr(terminated(&text), "roven:"));
}

static void idle_waits_are_shown_when_they_are_asked_for(void **state)
{
	struct report report = make_report("idle", false);
	CLEANUP(buffer_deinit) struct buffer out = { 0 };
	const char *text = text_of(&report, &out);

	assert_says(text, "Where threads are idle\n");
	assert_says(text, "  work      idle       40.0 s      667 ms  100 %");
	assert_null(strstr(text, "refill"));
	report_deinit(&report);
}

static void json_has_waits_of_functions(void **state)
{
	struct report report = make_report("wall", false);
	CLEANUP(buffer_deinit) struct buffer out = { 0 };
	const char *json;
	struct error err;

	buffer_init(&out, 1 << 20);
	assert_true(render_json(&report.input, &out, &err));
	json = terminated(&out);
	assert_says(json, "\"metrics\": [\n  \"samples\",\n  \"cpu\",\n  \"off-cpu\",\n  \"idle\",\n  \"wall\"\n ]");
	assert_says(json, "\"waits\": [\n  {\n   \"class\": \"lock\",\n   \"ns\": 10000000000\n  }");
	assert_says(json, "\"class\": \"run-queue\"");
	assert_says(json,
		"\"waits\":{\"lock\":10000000000,\"run-queue\":1000000000},"
		"\"released_by\":[{\"function\":\"refill\",\"ns\":7000000000},{\"function\":\"drop\",\"ns\":1000000000}]}");
	report_deinit(&report);
}

static void a_comparison_has_both_sides(void **state)
{
	struct report report = make_report("wall", true);
	CLEANUP(buffer_deinit) struct buffer out = { 0 }, text = { 0 };
	struct error err;

	buffer_init(&out, 1 << 20);
	buffer_init(&text, 1 << 20);
	assert_true(render_json(&report.input, &out, &err));
	assert_says(
		terminated(&out), "\"waits\":{\"base\":{\"network\":5000000000},\"head\":{\"network\":5000000000}}}");
	assert_true(render_text(&report.input, NULL, &text, &err));
	assert_says(terminated(&text), "\nbase: waiting: 20.0 s, 333 ms per second: lock 50.0 %");
	assert_says(text.data, "\nhead: waiting: 20.0 s, 333 ms per second: lock 50.0 %");
	/* Waiting for a CPU is beside the total, with the same figures in text and JSON. */
	assert_says(out.data, "\"run_queue\": {\n  \"base_ns\": 1000000000,\n  \"head_ns\": 1000000000,");
	assert_says(text.data, "\n  waiting for a CPU  1.00 s");
	assert_says(text.data, "not in the\n  total, nor in the verdict on the program.");
	assert_true(report.diff->raw_total[DIFF_HEAD] == 20 * (double)second_ns);
	report_deinit(&report);
}

/* What does not wait is shown as before. */
static void a_recording_of_cpu_time_has_none(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	struct waits *waits;
	struct error err;

	assert_true(foreign_read("main;work 5\n", 12, "folded", &profile, &err));
	assert_true(diff_create_single(profile, &(struct diff_options){ 0 }, &diff, &err));
	waits_create(diff, (const struct profile *const[DIFF_SIDES]){ NULL, profile }, &waits);
	assert_null(waits);
}

static void without_memory_the_process_ends(void **state)
{
	struct report report = make_report("off-cpu", true);
	struct buffer out;
	struct error err;

	buffer_init(&out, 1 << 20);
	while (failing_malloc_in_child())
		failing_malloc_end(
			render_text(&report.input, NULL, &out, &err) && render_json(&report.input, &out, &err), &err);
	report_deinit(&report);
}

/* Two processes have a lock of the same name; two locks have no name; threads are idle at one. */
static struct profile *make_locks(void)
{
	struct profile *profile = make_server();
	uint32_t first = add_lock(profile, "cache_mutex", 1), second = add_lock(profile, "cache_mutex", 2);
	struct error err;

	add_wait_for(profile, first, PROFILE_WAIT_LOCK, "main;get_a;.futex_wait", "main;refill;.futex_wake", 3);
	add_wait_for(profile, second, PROFILE_WAIT_LOCK, "main;get_b;.futex_wait", "main;drop;.futex_wake", 4);
	add_wait_for(profile, add_lock(profile, "", 1), PROFILE_WAIT_LOCK, "main;get_c;.futex_wait", "main;drop", 1);
	add_wait_for(profile, add_lock(profile, "", 1), PROFILE_WAIT_LOCK, "main;get_c;get_d", "main;drop", 2);
	add_wait_for(profile, add_lock(profile, "queue", 1), PROFILE_WAIT_IDLE, "main;work;.futex_wait", "main;add", 9);
	assert_true(profile_finish(profile, &err));
	assert_true(profile_validate(profile, &err));
	return profile;
}

static void check_lock(const struct waits_lock *lock, const char *words, int64_t seconds, size_t callers)
{
	struct buffer text;

	buffer_init(&text, 256);
	waits_lock_words(lock, &text);
	buffer_append_byte(&text, '\0');
	assert_string_equal(text.data, words);
	buffer_deinit(&text);
	assert_int_equal(lock->ns, seconds * second_ns);
	assert_int_equal(lock->caller_count, callers);
}

static void locks_of_one_name_are_one_and_nameless_ones_are_not(void **state)
{
	struct report report = report_of(make_locks(), "wall", true);
	size_t count;
	const struct waits_lock *locks = waits_locks(report.waits, DIFF_HEAD, &count);

	assert_int_equal(count, 3);
	check_lock(&locks[0], "cache_mutex", 7, 2);
	assert_string_equal(locks[0].module, "server");
	assert_string_equal(locks[0].callers[0].name, "get_b");
	assert_int_equal(locks[0].callers[0].ns, 4 * second_ns);
	assert_string_equal(locks[0].callers[1].name, "get_a");
	assert_int_equal(locks[0].releaser_count, 2);
	assert_string_equal(locks[0].releasers[0].name, "drop");
	check_lock(&locks[1], "lock 4 (no name)", 2, 1);
	check_lock(&locks[2], "lock 3 (no name)", 1, 1);
	assert_string_equal(waits_find_lock(report.waits, DIFF_BASE, &locks[0])->name, "cache_mutex");
	assert_null(waits_find_lock(report.waits, DIFF_BASE, &locks[1]));
	report_deinit(&report);
}

static void a_comparison_lists_the_locks_of_both_sides(void **state)
{
	CLEANUP(profile_cleanup) struct profile *base = make_locks(), *head = make_server();
	struct render_input input = { .profiles = { base, head } };
	CLEANUP(buffer_deinit) struct buffer out = { 0 };
	struct diff_options options = { .metric = "wall" };
	CLEANUP(diff_cleanup) struct diff *diff = NULL;
	const char *json;
	struct error err;

	assert_true(diff_create(base, head, &options, &diff, &err));
	input.diff = diff;
	buffer_init(&out, 1 << 20);
	assert_true(render_json(&input, &out, &err));
	json = terminated(&out);
	assert_says(json, "\"locks\": [\n  {\n   \"name\": \"cache_mutex\",\n   \"module\": \"server\",\n"
			  "   \"base\": {\n    \"ns\": 7000000000,\n    \"callers\": [\n     {\n"
			  "      \"function\": \"get_b\",\n      \"ns\": 4000000000\n     },");
	assert_says(json, "\n   \"head\": null\n  }\n ],");
	assert_says(
		json, "\"base\": {\n   \"count\": 2,\n   \"ns\": 3000000000\n  },\n  \"head\": {\n   \"count\": 0,");
	out.size = 0;
	assert_true(render_text(&input, &(struct render_text_options){ .width = 120 }, &out, &err));
	assert_says(terminated(&out), "Locks that threads wait for\n");
	assert_says(out.data, "  cache_mutex  server  7.00 s     0  -7.00 s  -100 %  drop 57.1 %\n");
	/* Locks without a name are not compared. */
	assert_null(strstr(out.data, "no name"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_belong_to_their_stacks_and_have_one_place),
		cmocka_unit_test(locks_of_one_name_are_one_and_nameless_ones_are_not),
		cmocka_unit_test(who_ended_waits_is_told_by_place),
		cmocka_unit_test(the_text_says_what_threads_waited_for),
		cmocka_unit_test(the_picture_has_a_colour_for_each_class),
		cmocka_unit_test(a_comment_lists_places_that_changed),
		cmocka_unit_test(the_headline_lists_a_change_with_its_lock),
		cmocka_unit_test(idle_waits_are_shown_when_they_are_asked_for),
		cmocka_unit_test(json_has_waits_of_functions),
		cmocka_unit_test(a_comparison_lists_the_locks_of_both_sides),
		cmocka_unit_test(a_comparison_has_both_sides),
		cmocka_unit_test(a_recording_of_cpu_time_has_none),
		cmocka_unit_test(without_memory_the_process_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
