/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines are followed through histories that are written here as git writes them. */
#include "diff/commits/trace.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LOG = 1 << 14 };

struct log {
	char bytes[MAX_LOG];
	size_t size;
	unsigned int commits;
};

static void add(struct log *log, const char *bytes, size_t size)
{
	assert_true(log->size + size <= MAX_LOG);
	memcpy(log->bytes + log->size, bytes, size);
	log->size += size;
}

/* A commit that changes `path`, which was `old_path`; the newest comes first. */
static void commit(struct log *log, const char *old_path, const char *path, const char *hunks)
{
	char text[4096];
	int size = snprintf(text, sizeof(text),
		"%c%040x%c%c%s%c%c\n:100644 100644 1 2 R090%c%s%c%s%c%cdiff --git a/%s b/%s\n%s", 0, ++log->commits, 0,
		0, "subject", 0, 0, 0, old_path, 0, path, 0, 0, old_path, path, hunks);

	assert_true(size > 0 && (size_t)size < sizeof(text));
	add(log, text, (size_t)size);
}

static struct repository_history *parse(const struct log *log)
{
	struct repository_history *history = NULL;
	struct error err;

	assert_true(repository_parse_log(log->bytes, log->size, &history, &err));
	return history;
}

/* One function, lines 10 to 20 of a.c in head. */
static const struct line_range function = { "a.c", 10, 10, 20 };

static struct trace trace_of(const struct log *log, enum diff_side side)
{
	struct repository_history *history = parse(log);
	struct trace trace = { 0 };
	struct error err;

	assert_true(trace_lines(history, side, &function, 1, &trace, &err));
	repository_history_destroy(history);
	return trace;
}

static void assert_changes(
	const struct log *log, enum diff_side side, const struct trace_change *expected, size_t count)
{
	struct trace trace = trace_of(log, side);
	size_t found;
	const struct trace_change *changes = trace_changes_of(&trace, 0, &found);

	assert_int_equal(found, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(changes[i].commit, expected[i].commit);
		assert_int_equal(changes[i].line, expected[i].line);
		assert_int_equal(changes[i].is_other, expected[i].is_other);
	}
	trace_deinit(&trace);
}

#define ASSERT_CHANGES(log, side, ...)                                                                                 \
	assert_changes(log, side, (const struct trace_change[]){ __VA_ARGS__ },                                        \
		sizeof((const struct trace_change[]){ __VA_ARGS__ }) / sizeof(struct trace_change))
#define ASSERT_NONE(log, side) assert_changes(log, side, NULL, 0)

/* The line that a commit made has the number of head, whatever later commits did above it. */
static void test_shifts(void **state)
{
	struct log log = { .size = 0 };

	commit(&log, "a.c", "a.c", "@@ -2,0 +3,4 @@\n+int w;\n+int x;\n+int y;\n+int z;\n");
	commit(&log, "a.c", "a.c", "@@ -8 +8 @@\n-fast(value);\n+slow(value);\n");
	ASSERT_CHANGES(&log, DIFF_HEAD, { 1, 0, 12, 0, false }, { 1, 0, 12, 0, true });
}

/* In base, what it removed has the number of base. */
static void test_base(void **state)
{
	struct log log = { .size = 0 };

	commit(&log, "a.c", "a.c", "@@ -15 +15,2 @@\n-fast(value);\n+slow(value);\n+slower(value);\n");
	commit(&log, "a.c", "a.c", "@@ -3,2 +2,0 @@\n-int x;\n-int y;\n");
	ASSERT_CHANGES(&log, DIFF_BASE, { 0, 0, 17, 0, false }, { 0, 0, 17, 0, true }, { 0, 0, 17, 0, true });
}

static void test_elsewhere(void **state)
{
	struct log log = { .size = 0 };
	struct trace trace;

	commit(&log, "a.c", "a.c",
		"@@ -9 +9 @@\n-fast(value);\n+slow(value);\n@@ -21 +21 @@\n-fast(value);\n+slow(value);\n");
	commit(&log, "b.c", "b.c", "@@ -15 +15 @@\n-fast(value);\n+slow(value);\n");
	ASSERT_NONE(&log, DIFF_HEAD);
	trace = trace_of(&log, DIFF_HEAD);
	assert_false(trace.is_executed[0]);
	assert_false(trace.is_executed[1]);
	trace_deinit(&trace);
}

static void test_renamed_file(void **state)
{
	struct log log = { .size = 0 };

	commit(&log, "old.c", "a.c", "@@ -1 +1 @@\n-int x;\n+int y;\n");
	commit(&log, "old.c", "old.c", "@@ -12 +12 @@\n-fast(value);\n+slow(value);\n");
	ASSERT_CHANGES(&log, DIFF_HEAD, { 1, 0, 12, 0, false }, { 1, 0, 12, 0, true });
}

/* Code that moves keeps who made it; a short line moves with those around it. */
static void test_moved(void **state)
{
	struct log log = { .size = 0 };
	static const char moves[] =
		"@@ -9,0 +10,3 @@\n+total += weight(value, limit);\n+go();\n+count = next_count(total, limit);\n"
		"@@ -30,3 +32,0 @@\n-total += weight(value, limit);\n-go();\n-count = next_count(total, limit);\n";

	commit(&log, "a.c", "a.c", moves);
	commit(&log, "a.c", "a.c", "@@ -31 +31 @@\n-halt();\n+go();\n");
	ASSERT_CHANGES(&log, DIFF_HEAD, { 1, 0, 11, 0, false }, { 1, 0, 11, 0, true });
}

static void test_layout(void **state)
{
	struct log log = { .size = 0 };
	struct trace trace;

	commit(&log, "a.c", "a.c", "@@ -12 +12,2 @@\n-slow(value, limit);\n+slow(value,\n+     limit);\n");
	commit(&log, "a.c", "a.c", "@@ -14 +14 @@\n-\tx = 1; /* one */\n+    x = 1; // 1\n");
	ASSERT_NONE(&log, DIFF_HEAD);
	trace = trace_of(&log, DIFF_HEAD);
	assert_true(trace.is_executed[0] && trace.is_executed[1]);
	trace_deinit(&trace);
}

/* A revert, and a line that came and went. */
static void test_taken_back(void **state)
{
	struct log log = { .size = 0 };

	commit(&log, "a.c", "a.c", "@@ -12 +12 @@\n-slow(value);\n+fast(value);\n");
	commit(&log, "a.c", "a.c", "@@ -12 +12 @@\n-fast(value);\n+slow(value);\n");
	ASSERT_NONE(&log, DIFF_HEAD);
	ASSERT_NONE(&log, DIFF_BASE);
	/* Before both, somebody made it: that one it is. */
	commit(&log, "a.c", "a.c", "@@ -12 +12 @@\n-first(value);\n+fast(value);\n");
	ASSERT_CHANGES(&log, DIFF_HEAD, { 2, 0, 12, 0, false }, { 2, 0, 12, 0, true });
}

static void test_kept(void **state)
{
	struct log log = { .size = 0 };
	struct trace trace;
	const struct trace_kept *kept;
	size_t count;

	commit(&log, "a.c", "a.c", "@@ -4,2 +3,0 @@\n-int x;\n-int y;\n@@ -15 +13,0 @@\n-gone(value);\n");
	trace = trace_of(&log, DIFF_HEAD);
	kept = trace_kept_of(&trace, 0, &count);
	assert_int_equal(count, 11);
	assert_int_equal(kept[0].line, 10);
	assert_int_equal(kept[0].other_line, 12);
	assert_int_equal(kept[4].line, 14);
	assert_int_equal(kept[4].other_line, 17);
	trace_deinit(&trace);
}

static void test_no_memory(void **state)
{
	struct log log = { .size = 0 };
	struct repository_history *history;
	struct trace trace = { 0 };
	struct error err;

	commit(&log, "a.c", "a.c", "@@ -12 +12 @@\n-slow(value);\n+fast(value);\n");
	commit(&log, "old.c", "a.c", "@@ -12 +12 @@\n-fast(value);\n+slow(value);\n");
	history = parse(&log);
	for (int side = 0; side < DIFF_SIDES; side++)
		while (failing_malloc_in_child())
			failing_malloc_end(
				trace_lines(history, (enum diff_side)side, &function, 1, &trace, &err), &err);
	repository_history_destroy(history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shifts),
		cmocka_unit_test(test_base),
		cmocka_unit_test(test_elsewhere),
		cmocka_unit_test(test_renamed_file),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_taken_back),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
