/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/frame_text.h"

#include "tests/unit/support/unit_test.h"

#include <string.h>

static struct profile_frame_span span_of(const char *text)
{
	return (struct profile_frame_span){ text, strlen(text) };
}

static void expect_span(struct profile_frame_span span, const char *expected, const char *whole)
{
	if (span.size != strlen(expected) || memcmp(span.text, expected, span.size) != 0)
		fail_msg("'%.*s' instead of '%s' in '%s'", (int)span.size, span.text, expected, whole);
}

static void the_line_is_no_part_of_the_name(void **state)
{
	static const struct {
		const char *text, *name, *file;
		uint32_t line;
	} cases[] = {
		{ "main", "main", "", 0 },
		{ "", "", "", 0 },
		{ "std::vector<int>::at(unsigned long) const", "std::vector<int>::at(unsigned long) const", "", 0 },
		/* py-spy, also with native frames */
		{ "digest (shop/index.py:8)", "py::digest:shop/index.py", "shop/index.py", 8 },
		{ "find (<frozen importlib._bootstrap>:1176)", "py::find:<frozen importlib._bootstrap>",
			"<frozen importlib._bootstrap>", 1176 },
		{ "compress (deflate.c:12)", "compress (deflate.c)", "deflate.c", 12 },
		{ "read (libc.so.6)", "read (libc.so.6)", "", 0 },
		/* profiling.sampling, austin */
		{ "w.py:Shop.digest:7", "py::Shop.digest:w.py", "w.py", 7 },
		{ "/usr/lib/python3.14/json/encoder.py:JSONEncoder.encode:202",
			"py::JSONEncoder.encode:/usr/lib/python3.14/json/encoder.py",
			"/usr/lib/python3.14/json/encoder.py", 202 },
		{ "<frozen runpy>:_run_code:87", "py::_run_code:<frozen runpy>", "<frozen runpy>", 87 },
		{ "w.py:Shop.parse.<locals>.<genexpr>:4", "py::Shop.parse.<locals>.<genexpr>:w.py", "w.py", 4 },
		{ "~:<GC>:0", "<GC>", "", 0 },
		{ "<native>", "<native>", "", 0 },
		/* rbspy */
		{ "each - /srv/app/shop.rb:31", "each - /srv/app/shop.rb", "/srv/app/shop.rb", 31 },
		/* stackcollapse-perf.pl --srcline, jfrconv --lines, a line and a column */
		{ "std::sort:sort.cc:12", "std::sort", "sort.cc", 12 },
		{ "java/util/HashMap.get:556", "java/util/HashMap.get", "", 556 },
		{ "run:server.js:12:3", "run", "server.js", 12 },
		{ "std::get:12", "std::get", "", 12 },
		/* V8's place of a function is in its name; its reader knows that. */
		{ "JS:*run /srv/w.js:12:3", "JS:*run /srv/w.js:12:3", "", 12 },
		/* What only looks like a line. */
		{ "f(int:8)", "f(int:8)", "", 0 },
		{ "f (:8)", "f (:8)", "", 0 },
		{ ":8", ":8", "", 0 },
		{ "worker 7", "worker 7", "", 0 },
		{ "f:1234567890", "f:1234567890", "", 0 },
		{ "py::run:/srv/w.py", "py::run:/srv/w.py", "", 0 },
	};
	CLEANUP(buffer_deinit) struct buffer scratch = { 0 };

	(void)state;
	buffer_init(&scratch, 1 << 16);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile_frame_text parts = profile_frame_split(span_of(cases[i].text), &scratch);

		expect_span(parts.name, cases[i].name, cases[i].text);
		expect_span(parts.file, cases[i].file, cases[i].text);
		assert_int_equal(parts.line, cases[i].line);
	}
}

static void processes_and_threads_are_no_functions(void **state)
{
	static const struct {
		const char *stack, *rest;
		int32_t pid, tid;
		const char *process, *thread;
	} cases[] = {
		{ "main;work", "main;work", 0, 0, "", "" },
		{ "process 7:\"/usr/bin/python3 app.py\";thread (8): a b;f", "f", 7, 8, "python3", "a b" },
		{ "thread (8);f", "f", 0, 8, "", "" },
		{ "tid:8;f;g", "f;g", 0, 8, "", "" },
		{ "P7;T0:8;f", "f", 7, 8, "", "" },
		{ "P7;T8;f", "f", 7, 8, "", "" },
		{ "[worker one tid=8];f", "f", 0, 8, "", "worker one" },
		{ "[tid=8];f", "f", 0, 8, "", "" },
		{ "java-7/8;f", "f", 7, 8, "java", "java" },
		{ "my-app-?/8;f", "f", 0, 8, "my-app", "my-app" },
		/* A thread without a function. */
		{ "tid:8", "", 0, 8, "", "" },
		{ "P7;T8", "", 7, 8, "", "" },
		/* Functions. */
		{ "P7;work", "P7;work", 0, 0, "", "" },
		{ "tid:8x;f", "tid:8x;f", 0, 0, "", "" },
		{ "[unknown];f", "[unknown];f", 0, 0, "", "" },
		{ "thread 8;f", "thread 8;f", 0, 0, "", "" },
		{ "kworker/2;f", "kworker/2;f", 0, 0, "", "" },
		{ "", "", 0, 0, "", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile_frame_owner owner;
		struct profile_frame_span stack = span_of(cases[i].stack);
		size_t skipped = profile_frame_owner(stack, &owner);

		expect_span((struct profile_frame_span){ stack.text + skipped, stack.size - skipped }, cases[i].rest,
			cases[i].stack);
		if (skipped == 0)
			continue;
		assert_int_equal(owner.pid, cases[i].pid);
		assert_int_equal(owner.tid, cases[i].tid);
		expect_span(owner.process, cases[i].process, cases[i].stack);
		expect_span(owner.thread, cases[i].thread, cases[i].stack);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_is_no_part_of_the_name),
		cmocka_unit_test(processes_and_threads_are_no_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
