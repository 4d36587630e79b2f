/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/watch/watch.h"
#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

static void names_are_read_as_they_are_written(void **state)
{
	static const char *const good[] = { "2026-11-26T08-00-00Z.pb.gz", "2026-11-26T08-00-00Z-2.pb.gz",
		"2026-11-26T08-00-00Z.pb.gz.part", "deploy-2026-11-26T08-10-00Z.html",
		"deploy-2026-11-26T08-10-00Z-12.json", "1970-01-01T00-00-00Z.pb.gz", "9999-12-31T23-59-59Z.pb.gz" };
	static const char *const bad[] = { "", ".", "..", "2026-11-26T08-00-00Z", "2026-11-26T08-00-00Z.pb",
		"2026-11-26T08:00:00Z.pb.gz", "2026-11-26T08-00-00Z-1.pb.gz", "2026-11-26T08-00-00Z-0.pb.gz",
		"2026-11-26T08-00-00Z-02.pb.gz", "2026-11-26T08-00-00Z--2.pb.gz", "2026-11-26T08-00-00Z-.pb.gz",
		"2026-11-26T08-00-00Z-99999999999999999999.pb.gz", " 2026-11-26T08-00-00Z.pb.gz",
		"2026-1-26T08-00-00Z.pb.gz", "2026-13-26T08-00-00Z.pb.gz", "2026-02-30T08-00-00Z.pb.gz",
		"2026-11-26T08-00-60Z.pb.gz", "deploy-2026-11-26T08-10-00Z.pb.gz", "2026-11-26T08-00-00Z.html",
		"deploy-.html", "before.pb.gz", "2026-11-26T08-00-00Z.pb.gz.part.part", "+2026-11-26T08-00-00Z.pb.gz",
		"12026-11-26T08-00-00Z.pb.gz" };
	char name[WATCH_NAME_BYTES];
	struct watch_file file;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(watch_file_parse(good[i], &file));
		watch_file_name(&file, name);
		assert_string_equal(name, good[i]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (watch_file_parse(bad[i], &file))
			fail_msg("%s is a watch's", bad[i]);
}

static void add(struct watch_files *files, enum watch_file_kind kind, int64_t unix_s)
{
	struct error err;

	assert_true(watch_files_add(
		files, &(struct watch_file){ .kind = kind, .unix_s = unix_s, .number = 1, .bytes = 10 }, &err));
}

/* Profiles each 10 s, and deploys at 1,005 and 2,005 with their reports. */
static void fill(struct watch_files *files, int64_t profiles)
{
	for (int64_t i = profiles; i-- > 0;)
		add(files, WATCH_PROFILE, 10 * i);
	for (int64_t deploy = 1005; deploy <= 2005; deploy += 1000) {
		add(files, WATCH_REPORT, deploy);
		add(files, WATCH_REPORT_JSON, deploy);
	}
	watch_files_sort(files);
}

static size_t expire(struct watch_files *files, size_t most_files, uint64_t most_bytes)
{
	const struct watch_bounds bounds = { most_files, most_bytes };
	struct error err;
	size_t expired;

	assert_true(watch_files_expired(files, &bounds, &expired, &err));
	return expired;
}

static bool is_left(const struct watch_files *files, size_t expired, enum watch_file_kind kind, int64_t unix_s)
{
	for (size_t i = expired; i < files->count; i++)
		if (files->items[i].kind == kind && files->items[i].unix_s == unix_s)
			return true;
	return false;
}

static void all_is_kept_while_there_is_room(void **state)
{
	CLEANUP(watch_files_deinit) struct watch_files files = { 0 };

	fill(&files, 300);
	assert_int_equal(expire(&files, 302, 0), 0);
	watch_files_sort(&files);
	assert_int_equal(expire(&files, 302, 3040), 0);
	watch_files_sort(&files);
	assert_int_equal(expire(&files, 302, 3039), 1);
	assert_int_equal(files.items[0].unix_s, 0);
	watch_files_deinit(&files);
	assert_int_equal(expire(&files, 0, 1), 0);
}

static void profiles_beside_deploys_stay_longest(void **state)
{
	CLEANUP(watch_files_deinit) struct watch_files files = { 0 };
	size_t expired;

	fill(&files, 300);
	expired = expire(&files, 60, 0);
	/* 2 reports; 20 profiles beside each deploy; the 10 newest; 8 of the others. */
	assert_int_equal(files.count - expired, 62);
	for (int64_t deploy = 1005; deploy <= 2005; deploy += 1000) {
		assert_true(is_left(&files, expired, WATCH_REPORT, deploy));
		assert_true(is_left(&files, expired, WATCH_REPORT_JSON, deploy));
		for (int64_t unix_s = deploy - 95; unix_s <= deploy + 95; unix_s += 10)
			assert_true(is_left(&files, expired, WATCH_PROFILE, unix_s));
	}
	for (int64_t unix_s = 2820; unix_s < 3000; unix_s += 10)
		assert_true(is_left(&files, expired, WATCH_PROFILE, unix_s));
	assert_false(is_left(&files, expired, WATCH_PROFILE, 2810));
	watch_files_sort(&files);
	/* The older deploy goes as a whole before anything of the later one, and the newest last. */
	expired = expire(&files, 31, 0);
	assert_false(is_left(&files, expired, WATCH_REPORT, 1005));
	assert_false(is_left(&files, expired, WATCH_REPORT_JSON, 1005));
	assert_false(is_left(&files, expired, WATCH_PROFILE, 1000));
	assert_true(is_left(&files, expired, WATCH_PROFILE, 2000));
	watch_files_sort(&files);
	expired = expire(&files, 10, 0);
	assert_int_equal(files.count - expired, 10);
	assert_true(is_left(&files, expired, WATCH_PROFILE, 2900));
	watch_files_sort(&files);
	expired = expire(&files, 1, 0);
	assert_true(is_left(&files, expired, WATCH_PROFILE, 2990));
}

/* Random directories: the bounds hold, and what goes is never newer than what stays of the same rank. */
static void bounds_hold(void **state)
{
	srand(2);
	for (int round = 0; round < 300; round++) {
		CLEANUP(watch_files_deinit) struct watch_files files = { 0 };
		size_t parts = 0, left = 0, most = 1 + (size_t)rand() % 100;
		size_t expired;

		for (int i = rand() % 200; i > 0; i--) {
			enum watch_file_kind kind = rand() % 10 ? WATCH_PROFILE : (enum watch_file_kind)(rand() % 4);

			add(&files, kind, rand() % 1000);
			parts += kind == WATCH_PART;
		}
		watch_files_sort(&files);
		expired = expire(&files, most, rand() % 2 ? 0 : (uint64_t)rand() % 2000);
		for (size_t i = expired; i < files.count; i++)
			left += files.items[i].kind != WATCH_REPORT_JSON;
		assert_true(left <= most || left == parts);
		for (size_t i = 0; i < expired; i++)
			assert_int_not_equal(files.items[i].kind, WATCH_PART);
	}
}

static void memory_may_be_short(void **state)
{
	CLEANUP(watch_files_deinit) struct watch_files files = { 0 };
	const struct watch_bounds bounds = { 1, 0 };
	struct watch_file file = { .number = 1 };
	struct error err;
	size_t expired;

	failing_malloc_after(0);
	assert_false(watch_files_add(&files, &file, &err));
	assert_int_equal(err.code, ERROR_MEMORY);
	assert_false(watch_files_expired(&files, &bounds, &expired, &err));
	assert_int_equal(err.code, ERROR_MEMORY);
	failing_malloc_after(SIZE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_read_as_they_are_written),
		cmocka_unit_test(all_is_kept_while_there_is_room),
		cmocka_unit_test(profiles_beside_deploys_stay_longest),
		cmocka_unit_test(bounds_hold),
		cmocka_unit_test(memory_may_be_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
