/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * READS | folded stacks | FlameGraph, inferno, py-spy, austin, profiling.sampling, difffolded.pl | counts, also with nine decimals, an exponent or behind a tab; files and lines that these tools write into frames; differences are refused
 */
#include "profile_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

static struct profile *read_text(const char *text)
{
	return read_profile(text, strlen(text));
}

static void expect_values(const struct profile *profile, uint32_t value_type, const char *expected)
{
	CLEANUP(buffer_deinit) struct buffer out = { 0 };
	struct error err;

	buffer_init(&out, 1 << 28);
	assert_true(profile_write_folded(profile, value_type, &out, &err));
	assert_string_equal(out.data ? out.data : "", expected);
}

static void expect_folded(const struct profile *profile, const char *expected)
{
	expect_values(profile, PROFILE_NONE, expected);
}

static void what_is_read_is_written_sorted_and_added_up(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "main;a 3\n", "main;a 3\n" },
		{ "main;a 3", "main;a 3\n" },
		{ "main;b 1\nmain;a 2\nmain;b 4\n", "main;a 2\nmain;b 5\n" },
		{ "main;a 3\r\nmain;b 4\r\n", "main;a 3\nmain;b 4\n" },
		{ "\n\nmain;a 3\n\n", "main;a 3\n" },
		{ "# made by a script\nmain;a 3\n", "main;a 3\n" },
		{ "main;a 3  \n", "main;a 3\n" },
		{ "main;a  3\n", "main;a 3\n" },
		{ "main;a\t3\nmain;b \t 4\t\r\n", "main;a 3\nmain;b 4\n" },
		{ "main;a\t3 4\nmain;b 5\n", "main;a\t3 4\nmain;b 5\n" },
		/* Numbers as awk and R write them. */
		{ "main;a 1e+06\nmain;b 2E3\nmain;c 1.5e2\nmain;d 30e-1\nmain;e 0e9\n",
			"main;a 1000000\nmain;b 2000\nmain;c 150\nmain;d 3\nmain;e 0\n" },
		{ "main;a -0\n", "main;a 0\n" },
		{ "main;operator new(unsigned long) 3\n", "main;operator new(unsigned long) 3\n" },
		{ "my server;std::map<int, int>::find(int const&) const 7\n",
			"my server;std::map<int, int>::find(int const&) const 7\n" },
		{ "main;sys_read_[k];vfs_read_[k] 3\n", "main;sys_read_[k];vfs_read_[k] 3\n" },
		{ "main;outer;inner_[i];innermost_[i];callee 3\n", "main;outer;inner_[i];innermost_[i];callee 3\n" },
		{ "main_[i];a 3\n", "main;a 3\n" },
		{ "java;run_[j] 3\n", "java;run 3\n" },
		{ "main;a_[x] 3\n", "main;a_[x] 3\n" },
		{ "main;;a 3\n", "main;[unnamed];a 3\n" },
		{ "main;_[k] 3\n", "main;[unnamed]_[k] 3\n" },
		{ "main;a; 3\n", "main;a 3\n" },
		{ "main;a 5000000000\n", "main;a 5000000000\n" },
		{ "main;a 9223372036854775807\n", "main;a 9223372036854775807\n" },
		{ "main;a 0\n", "main;a 0\n" },
		{ "\n 6\n", " 6\n" },
		{ "b;a 1\n 6\n!;a 2\n", " 6\n!;a 2\nb;a 1\n" },
		{ "a;a;a 3\na 1\n", "a 1\na;a;a 3\n" },
		{ "caf\xc3\xa9;\xff\xfe 3\n", "caf\xc3\xa9;\xff\xfe 3\n" },
		/* py-spy: the line is no part of the name. */
		{ "<module> (app.py:15);digest (shop/index.py:8) 3\n<module> (app.py:15);digest (shop/index.py:9) 4\n",
			"py::<module>:app.py;py::digest:shop/index.py 7\n" },
		/* Numbers of processes and threads are no functions. */
		{ "process 7:\"/usr/bin/python3 app.py\";thread (8): MainThread;digest (a.py:8) 3\n"
		  "process 9:\"/usr/bin/python3 app.py\";thread (9): MainThread;digest (a.py:9) 4\n",
			"python3;py::digest:a.py 7\n" },
		{ "P7;T0:7;a.py:f:8 1\nP9;T9;a.py:f:9 2\n", "py::f:a.py 3\n" },
		{ "f(int:8) 1\nf (a:) 1\nf (:8) 1\nf (a:b8) 1\n(a:8) 1\n:8) 1\nf (a:1234567890) 1\n",
			"(a:8) 1\n:8) 1\nf (:8) 1\nf (a:) 1\nf (a:1234567890) 1\nf (a:b8) 1\nf(int:8) 1\n" },
		/* What a line shares with the one before it, up to a frame that is inlined in one of them only. */
		{ "main;a;b;c 1\nmain;a;b_[i];c 2\nmain;a 3\nmain;a;b 4\n",
			"main;a 3\nmain;a;b 4\nmain;a;b;c 1\nmain;a;b_[i];c 2\n" },
		{ "main;a;b_[i] 1\nmain;a;b 2\nmain;ab 3\nmain;a;b_[i];c 4\nx;a;b 5\n",
			"main;a;b 2\nmain;a;b_[i] 1\nmain;a;b_[i];c 4\nmain;ab 3\nx;a;b 5\n" },
		{ "a;b;c;d 1\na;b;c;d 2\na;b;c;d;e 4\na;b;c 8\na;b;c;dd 16\n",
			"a;b;c 8\na;b;c;d 3\na;b;c;d;e 4\na;b;c;dd 16\n" },
		/* Only one of the lines ends in two numbers: it is a name with a number. */
		{ "main;worker 7 12\nmain;a 3\n", "main;a 3\nmain;worker 7 12\n" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(profile_cleanup) struct profile *profile = read_text(cases[i].in);

		expect_folded(profile, cases[i].out);
	}
}

static void lines_that_are_none_are_named(void **state)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ "main;a 3\nmain;b\n", "line 2: no count" },
		{ "main;a 3\nmain;b x\n", "line 2: no count" },
		{ "main;a 3\nmain;b -1\n", "line 2: its count is below 0: this is a difference" },
		{ "main;a -3\n", "line 1: its count is below 0: this is a difference" },
		{ "main;a -1.5e3\n", "line 1: its count is below 0: this is a difference" },
		{ "main;a 3\nmain;b 1e\n", "line 2: no count" },
		{ "main;a 3\nmain;b 1e5x\n", "line 2: no count" },
		{ "main;a 3\nmain;b 1e0001\n", "line 2: no count" },
		{ "main;a 3\nmain;b --1\n", "line 2: no count" },
		{ "main;a 3\nmain;b 1e19\n", "line 2: its count is too large" },
		{ "main;a 3\nmain;b 18446744073709551616\n", "line 2: its count is too large" },
		{ "main;a 3\nmain;b 9223372036854775808\n", "line 2: its count is too large" },
		{ "main;a 3 4\nmain;b 5 6\n", "difference" },
		{ "main;a\t3\t4\nmain;b\t5\t6\n", "difference" },
		{ "main;a 9223372036854775807\nmain;b 1\n", "63 bits" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		expect_refused(cases[i].text, strlen(cases[i].text), ERROR_FORMAT, cases[i].words);
}

static void kernel_and_inlined_frames_are_known(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *profile = read_text("main;outer;inner_[i];sys_read_[k];helper_[i] 3\n");
	const struct profile_location *outer = &profile->locations[1], *kernel = &profile->locations[2];

	assert_int_equal(profile->stack_count, 4);
	assert_int_equal(outer->line_count, 2);
	assert_string_equal(
		profile_string(profile, profile->functions[profile->lines[outer->first_line].function].name), "inner");
	assert_int_equal(outer->mapping, PROFILE_NONE);
	assert_int_equal(kernel->line_count, 2);
	assert_int_equal(profile->mappings[kernel->mapping].kind, PROFILE_MAPPING_KERNEL);
	assert_string_equal(
		profile_string(profile, profile->functions[profile->lines[kernel->first_line].function].key),
		"helper`[kernel.kallsyms]");
}

static void threads_lead_and_names_cannot_break_lines(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct profile_run run = { 0 };
	struct profile_thread thread = { 0 };
	struct profile_function function = { 0 };
	struct profile_line line = { 0 };
	struct error err;
	uint32_t location, stack;

	assert_true(profile_create(&profile, &err) && profile_intern(profile, "a;b\nc\rd", &function.name, &err) &&
		    profile_intern(profile, "com;m", &thread.process_name, &err) &&
		    profile_add_function(profile, &function, &line.function, &err) &&
		    profile_add_location_of_lines(profile, PROFILE_NONE, &line, 1, &location, &err) &&
		    profile_add_stack(profile, 0, location, &stack, &err) &&
		    profile_add_run(profile, &run, &thread.run, &err) &&
		    profile_add_thread(profile, &thread, &thread.run, &err) &&
		    profile_add_sample(profile, stack, 0, (int64_t[]){ 2 }, -1, &err));
	expect_folded(profile, "com:m;a:b c d 2\n");
}

enum {
	ORDER_NAMES = 6,
	ORDER_DEPTH = 3,
	ORDER_PROCESSES = 4,
	ORDER_LINES = ORDER_PROCESSES * (1 + 6 + 36 + 216),
	ORDER_BYTES = 32
};

/* In the order of bytes in front of a `;` and behind it. */
static const char *const order_names[ORDER_NAMES] = { "a", "a b", "aa", "a<", "b", "a:" };
static const char *const order_processes[ORDER_PROCESSES] = { "", "a", "a:", "a b" };

struct order {
	struct profile *profile;
	uint32_t locations[ORDER_NAMES];
	char lines[ORDER_LINES][ORDER_BYTES];
	size_t line_count;
};

/* A stack, whose line so far is `line`, and all that go on from it. */
static void add_order(struct order *order, uint32_t thread, uint32_t stack, const char *line, int depth)
{
	struct error err;

	assert_true(profile_add_sample(order->profile, stack, thread, (int64_t[]){ 1 }, -1, &err));
	snprintf(order->lines[order->line_count++], ORDER_BYTES, "%s", line);
	for (size_t i = 0; depth < ORDER_DEPTH && i < ORDER_NAMES; i++) {
		char longer[2 * ORDER_BYTES];
		uint32_t child;

		snprintf(longer, sizeof(longer), "%s%s%s", line, line[0] ? ";" : "", order_names[i]);
		assert_true(profile_add_stack(order->profile, stack, order->locations[i], &child, &err));
		add_order(order, thread, child, longer, depth + 1);
	}
}

static int compare_order(const void *left, const void *right)
{
	return strcmp(left, right);
}

static void append_order(struct order *order, struct buffer *expected)
{
	qsort(order->lines, order->line_count, ORDER_BYTES, compare_order);
	for (size_t i = 0, count; i < order->line_count; i += count) {
		for (count = 1; i + count < order->line_count && strcmp(order->lines[i], order->lines[i + count]) == 0;)
			count++;
		buffer_printf(expected, "%s %zu\n", order->lines[i], count);
	}
}

static void lines_are_in_the_order_of_their_bytes(void **state)
{
	struct order *order = calloc(1, sizeof(*order));
	struct profile_run run = { 0 };
	CLEANUP(buffer_deinit) struct buffer expected = { 0 };
	struct error err;

	buffer_init(&expected, 1 << 28);
	assert_true(order && profile_create(&order->profile, &err) &&
		    profile_add_run(order->profile, &run, &(uint32_t){ 0 }, &err));
	for (size_t i = 0; i < ORDER_NAMES; i++) {
		struct profile_function function = { 0 };
		struct profile_line line = { 0 };

		assert_true(profile_intern(order->profile, order_names[i], &function.name, &err) &&
			    profile_add_function(order->profile, &function, &line.function, &err) &&
			    profile_add_location_of_lines(
				    order->profile, PROFILE_NONE, &line, 1, &order->locations[i], &err));
	}
	for (size_t i = 0; i < ORDER_PROCESSES; i++) {
		struct profile_thread thread = { 0 };
		uint32_t id;

		assert_true(profile_intern(order->profile, order_processes[i], &thread.process_name, &err) &&
			    profile_add_thread(order->profile, &thread, &id, &err));
		add_order(order, id, 0, order_processes[i], 0);
	}
	append_order(order, &expected);
	assert_int_equal(order->line_count, ORDER_LINES);
	expect_folded(order->profile, expected.data);
	profile_destroy(order->profile);
	free(order);
}

static void our_own_files_become_folded(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = sample_profile();

	expect_folded(profile, "server;main;JS:*f a.js:1;ns::outer();ns::inlined(int)_[i] 3\n"
			       "server;main;ns::outer();ns::inlined(int)_[i];deflate 3\n"
			       "server;main;ns::outer();ns::inlined(int)_[i];deflate;do_syscall_64_[k] 3\n");
}

/* A name of 8 MB, and a stack of 65,536 frames, are read; one frame more is refused. */
static void huge_lines_are_bounded(void **state)
{
	enum { NAME = 1 << 23, FRAMES = 1 << 16 };
	CLEANUP(buffer_deinit) struct buffer text = { 0 };
	struct profile *profile;

	buffer_init(&text, 1 << 26);
	memset(buffer_reserve(&text, NAME), 'x', NAME);
	buffer_commit(&text, NAME);
	buffer_append_string(&text, " 1\n");
	for (int i = 1; i < FRAMES; i++)
		buffer_append_string(&text, "f;");
	buffer_append_string(&text, "f 2\n");
	profile = read_profile(text.data, text.size);
	assert_int_equal(profile_sum(profile, 0), 3);
	assert_int_equal(profile->stack_count, 2 + FRAMES);
	profile_destroy(profile);
	text.size -= 4;
	buffer_append_string(&text, "f;f 2\n");
	expect_refused(text.data, text.size, ERROR_FORMAT, "line 2: more than 65,536 frames");
}

/* A text that comes in pieces of chance. */
struct drip {
	const struct buffer *text;
	size_t at, most;
	uint64_t random;
	bool fails; /* at its end */
};

static bool drip_read(void *context, void *into, size_t room, size_t *got, struct error *err)
{
	struct drip *drip = context;
	size_t left = drip->text->size - drip->at, size;

	if (left == 0 && drip->fails)
		return error_set(err, ERROR_SYSTEM, "cannot read drip: it ran dry");
	drip->random = drip->random * 6364136223846793005u + 1442695040888963407u;
	size = 1 + (size_t)(drip->random >> 33) % drip->most;
	size = size < room ? size : room;
	*got = size < left ? size : left;
	memcpy(into, drip->text->data + drip->at, *got);
	drip->at += *got;
	return true;
}

static bool read_drip(struct drip *drip, size_t head_bytes, struct profile **profile, struct error *err)
{
	const struct text_source text = { drip->text->data, head_bytes, drip_read, drip };

	drip->at = head_bytes;
	return profile_read_folded(&text, "drip", ARRAY_MAX_IDS, profile, err);
}

/* Deep stacks that share much with the one before, comments, Windows' line ends, and one line longer than any piece. */
static void fill_text(struct buffer *text)
{
	enum { LINES = 20000, LONG_NAME = 3 << 20 };

	for (int i = 0; i < LINES; i++) {
		for (int depth = 0; depth < 20; depth++)
			buffer_printf(text, "f%d%s;", i >> (20 - depth), depth % 5 == 4 ? "_[i]" : "");
		buffer_printf(text, "leaf%d%s %d%s\n", i, i % 7 ? "" : "_[k]", 1 + i % 3, i % 11 ? "" : "\r");
		if (i % 1000 == 0)
			buffer_append_string(text, "# a comment\n\n");
		if (i == LINES / 2) {
			memset(buffer_reserve(text, LONG_NAME), 'x', LONG_NAME);
			buffer_commit(text, LONG_NAME);
			buffer_append_string(text, " 7\n");
		}
	}
	buffer_append_string(text, "the;last;line 5");
}

static void pieces_are_as_good_as_the_whole(void **state)
{
	static const struct {
		size_t most, head_bytes;
	} cases[] = { { 4 << 20, 0 }, { 4 << 20, 16 }, { 100000, 5000000 }, { 70001, 1 }, { 1999, 100000 } };
	CLEANUP(buffer_deinit) struct buffer text = { 0 }, whole = { 0 };
	struct profile *profile;
	struct error err;

	buffer_init(&text, 1 << 28);
	buffer_init(&whole, 1 << 28);
	fill_text(&text);
	profile = read_profile(text.data, text.size);
	assert_true(profile_write_folded(profile, PROFILE_NONE, &whole, &err));
	buffer_append_byte(&whole, '\0');
	profile_destroy(profile);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct drip drip = { .text = &text, .most = cases[i].most };

		assert_true(read_drip(&drip, cases[i].head_bytes, &profile, &err));
		expect_folded(profile, whole.data);
		profile_destroy(profile);
	}
}

static void pieces_name_what_is_wrong(void **state)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };
	struct drip drip = { .text = &text, .most = 1000, .fails = true };
	struct profile *profile;
	struct error err;

	buffer_init(&text, 1 << 28);
	for (int i = 0; i < 1000; i++)
		buffer_append_string(&text, "main;a 1\n");
	assert_false(read_drip(&drip, 0, &profile, &err));
	assert_string_equal(err.message, "cannot read drip: it ran dry");
	buffer_append_string(&text, "main;a\n");
	assert_false(read_drip(&drip, 0, &profile, &err));
	assert_non_null(strstr(err.message, "cannot read drip: line 1001: no count at its end"));
}

static void lines_of_python_are_lines(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = read_text("digest (shop/index.py:8) 3\n");
	const struct profile_line *line = &profile->lines[profile->locations[profile->stacks[1].location].first_line];
	const struct profile_function *function = &profile->functions[line->function];

	assert_int_equal(line->line, 8);
	assert_string_equal(profile_string(profile, function->file), "shop/index.py");
	assert_string_equal(profile_string(profile, function->key), "py::digest:shop/index.py`");
}

/* Two lines of comments more above all functions are none of a function, whatever tool wrote the file. */
static void lines_are_no_part_of_functions(void **state)
{
	static const char *const versions[][2] = {
		{ "thread (1): a;main (w.py:15);digest (w.py:8) 7\n",
			"thread (2): a;main (w.py:17);digest (w.py:10) 7\n" },
		{ "tid:1;w.py:main:15;w.py:digest:8 7\n", "tid:2;w.py:main:17;w.py:digest:10 7\n" },
		{ "P1;T0:1;/a/w.py:main:15;/a/w.py:digest:8 7\n", "P2;T0:2;/a/w.py:main:17;/a/w.py:digest:10 7\n" },
		{ "app-1/1;main:w.c:15;digest:w.c:8 7\n", "app-2/2;main:w.c:17;digest:w.c:10 7\n" },
		{ "[a tid=1];a/W.main:15;a/W.digest:8 7\n", "[a tid=2];a/W.main:17;a/W.digest:10 7\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct profile *profiles[2] = { read_text(versions[i][0]), read_text(versions[i][1]) };

		assert_int_equal(profiles[0]->function_count, profiles[1]->function_count);
		for (size_t k = 0; k < profiles[0]->function_count; k++)
			assert_string_equal(profile_string(profiles[0], profiles[0]->functions[k].key),
				profile_string(profiles[1], profiles[1]->functions[k].key));
		assert_int_equal(profiles[0]->stack_count, 3);
		profile_destroy(profiles[0]);
		profile_destroy(profiles[1]);
	}
}

/* Of a metric, its values, and only stacks that have one. */
static void a_metric_has_its_values(void **state)
{
	struct profile *profile = read_text("main;work 3\nmain;lock 2\n");
	struct profile_thread thread = { 0 };
	CLEANUP(profile_cleanup) struct profile *waits = NULL;
	struct error err;
	uint32_t stack, by;

	assert_int_equal(profile_find_metric(profile, "off-cpu", NULL), PROFILE_NONE);
	profile_destroy(profile);
	assert_true(profile_create(&waits, &err));
	assert_true(profile_add_value_type(waits, "cpu", "nanoseconds", &err));
	assert_true(profile_add_wait_values(waits, &err));
	assert_true(profile_add_run(waits, &(struct profile_run){ 0 }, &thread.run, &err));
	assert_true(profile_add_thread(waits, &thread, &by, &err));
	for (int i = 0; i < PROFILE_WAIT_COUNT; i += PROFILE_WAIT_IDLE - PROFILE_WAIT_LOCK) {
		int64_t values[PROFILE_MAX_VALUE_TYPES];

		profile_wait_fill(waits, (enum profile_wait_class)i, 1000 + i, values);
		assert_true(profile_add_wait_stack(waits, 0, (enum profile_wait_class)i, &stack, &err));
		assert_true(profile_add_sample(waits, stack, by, values, -1, &err));
	}
	assert_true(profile_finish(waits, &err));
	expect_folded(waits, "[waiting: idle] 1\n[waiting: lock] 1\n");
	expect_values(waits, profile_find_metric(waits, "off-cpu", NULL), "[waiting: lock] 1000\n");
	expect_values(waits, profile_find_metric(waits, "wall", "nanoseconds"), "[waiting: lock] 1000\n");
	expect_values(waits, profile_find_metric(waits, "idle", NULL), "[waiting: idle] 1005\n");
	expect_values(waits, profile_find_metric(waits, "cpu", NULL), "");
	assert_int_equal(profile_find_metric(waits, "idle", "bytes"), PROFILE_NONE);
}

/* Weights may be seconds, or percent: exact in parts of one, and no samples. */
static void decimals_are_kept(void **state)
{
	static const struct {
		const char *in, *out, *unit;
	} cases[] = {
		{ "a 12.5\nb 3\n", "a 12.5\nb 3\n", "1/1000000" },
		{ "b 3\na 12.5\na 0.000001\n", "a 12.500001\nb 3\n", "1/1000000" },
		{ "a 1.25\nb 0.123456789\nc 1.5\n", "a 1.25\nb 0.123456789\nc 1.5\n", "1/1000000000" },
		{ "a 0.050\n", "a 0.05\n", "1/1000000" },
		{ "a 0.30000000000000004\n", "a 0.3\n", "1/1000000" },
		{ "a 14.2343983248722834234\n", "a 14.234398324\n", "1/1000000000" },
		{ "a 1.25e-3\nb 5e-10\nc 1.5e0\n", "a 0.00125\nc 1.5\n", "1/1000000" },
		{ "a 1.23456789012e3\n", "a 1234.56789012\n", "1/1000000000" },
		{ "a 2.0\nb 3.\nc 1.000\n", "a 2\nb 3\nc 1\n", NULL },
	};
	static const char *const refused[] = { "a 92233720368547758070\n", "a 9223372036854775807\nb 0.5\n",
		"a 9223372036855.5\n", "a 1\nb 99999999999999999999.5\n" };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CLEANUP(profile_cleanup) struct profile *profile = read_text(cases[i].in);

		assert_int_equal(profile->value_type_count, cases[i].unit ? 2 : 1);
		assert_int_equal(profile_first_metric(profile), cases[i].unit ? 1 : 0);
		expect_values(profile, cases[i].unit ? 1 : 0, cases[i].out);
		if (!cases[i].unit)
			continue;
		assert_string_equal(profile_string(profile, profile->value_types[1].unit), cases[i].unit);
		assert_int_equal(profile_metric(profile, 1).kind, PROFILE_METRIC_OTHER);
	}
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		expect_refused(refused[i], strlen(refused[i]), ERROR_FORMAT, "its count is too large");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_read_is_written_sorted_and_added_up),
		cmocka_unit_test(lines_that_are_none_are_named),
		cmocka_unit_test(decimals_are_kept),
		cmocka_unit_test(kernel_and_inlined_frames_are_known),
		cmocka_unit_test(lines_of_python_are_lines),
		cmocka_unit_test(lines_are_no_part_of_functions),
		cmocka_unit_test(threads_lead_and_names_cannot_break_lines),
		cmocka_unit_test(lines_are_in_the_order_of_their_bytes),
		cmocka_unit_test(our_own_files_become_folded),
		cmocka_unit_test(a_metric_has_its_values),
		cmocka_unit_test(huge_lines_are_bounded),
		cmocka_unit_test(pieces_are_as_good_as_the_whole),
		cmocka_unit_test(pieces_name_what_is_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
