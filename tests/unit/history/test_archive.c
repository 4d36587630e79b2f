/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/history.h"
#include "tests/unit/diff/synthetic_fixture.h"
#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/profile.h"

#include <string.h>

enum { MOST_ALLOCATIONS = 3000, PROFILES = 3 };

static struct profile *profile_of(int number)
{
	static const char *const lines[PROFILES] = { "main#1;parse#2 30\nmain#1;write!libc.so 5\n",
		"main#1;parse#3 20\nmain#1;lex 7\n", "main#1;lex;parse#3 1\n" };
	struct profile *profile = synthetic_profile(lines[number]);
	struct error err;

	profile->runs[0].start_unix_ns = 1000 + number;
	profile->runs[0].duration_ns = 5000000000;
	profile->facts.kernel = profile_id(profile, "Linux 6.1");
	profile->facts.frequency_hz = 997;
	must(profile_set_label(profile, "version", number ? "42" : "41", &err), &err);
	return profile;
}

static struct summary_set *filled_set(void)
{
	struct summary_set *set;
	struct error err;

	must(summary_set_create(&set, &err), &err);
	for (int i = 0; i < PROFILES; i++) {
		struct profile *profile = profile_of(i);
		char name[] = { (char)('a' + i), '\0' };
		const struct summary_options options = { .name = name, .id = { 7, (uint64_t)i } };

		must(history_summarize(set, profile, &options, &err), &err);
		profile_destroy(profile);
	}
	return set;
}

static const uint8_t tags[PROFILES][SUMMARY_TAG_BYTES] = { { 1 }, { 2 }, { 3 } };

static struct buffer written(const struct summary_set *set)
{
	const size_t all[PROFILES] = { 0, 1, 2 };
	struct buffer out;
	struct error err;

	buffer_init(&out, 1 << 20);
	must(summary_archive_write(set, all, PROFILES, tags, &out, &err), &err);
	return out;
}

static void assert_same_string(const struct summary_set *a, uint32_t x, const struct summary_set *b, uint32_t y)
{
	assert_string_equal(summary_string(a, x), summary_string(b, y));
}

static void assert_same_rows(
	const struct summary_set *a, const struct summary *x, const struct summary_set *b, const struct summary *y)
{
	assert_int_equal(x->row_count, y->row_count);
	for (size_t i = 0; i < x->row_count; i++) {
		const struct summary_function *f = &a->functions[x->rows[i].function];
		uint32_t key =
			string_table_find(b->strings, summary_string(a, f->key), string_table_size(a->strings, f->key));
		const struct summary_row *row = NULL;

		for (uint32_t j = 0; j < b->function_count; j++)
			if (b->functions[j].key == key)
				row = summary_row_of(y, j);
		assert_non_null(row);
		assert_true(row->self == x->rows[i].self && row->total == x->rows[i].total);
		assert_true(row->self_error == x->rows[i].self_error && row->total_error == x->rows[i].total_error);
		assert_int_equal(row->fingerprint, x->rows[i].fingerprint);
		assert_same_string(a, f->name, b, b->functions[row->function].name);
		assert_same_string(a, f->module, b, b->functions[row->function].module);
		assert_int_equal(f->origin, b->functions[row->function].origin);
	}
}

static void assert_same(
	const struct summary_set *a, const struct summary *x, const struct summary_set *b, const struct summary *y)
{
	assert_same_string(a, x->name, b, y->name);
	assert_memory_equal(x->id, y->id, sizeof(x->id));
	assert_int_equal(x->start_unix_ns, y->start_unix_ns);
	assert_int_equal(x->duration_ns, y->duration_ns);
	assert_same_string(a, x->facts.kernel, b, y->facts.kernel);
	assert_int_equal(x->facts.frequency_hz, y->facts.frequency_hz);
	assert_string_equal(summary_label(a, x, "version"), summary_label(b, y, "version"));
	assert_same_string(a, x->metric, b, y->metric);
	assert_true(x->total == y->total && x->total_error == y->total_error && x->samples == y->samples);
	assert_true(x->is_time == y->is_time && x->is_exact == y->is_exact && x->runs == y->runs);
	assert_int_equal(x->binary_count, y->binary_count);
	for (size_t i = 0; i < x->binary_count; i++) {
		assert_same_string(a, x->binaries[i].module, b, y->binaries[i].module);
		assert_int_equal(x->binaries[i].is_program, y->binaries[i].is_program);
	}
	assert_same_rows(a, x, b, y);
}

static struct summary_set *empty_set(void)
{
	struct summary_set *set;
	struct error err;

	must(summary_set_create(&set, &err), &err);
	return set;
}

static void what_was_written_is_read(void **state)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = filled_set();
	CLEANUP(summary_set_cleanup) struct summary_set *again = empty_set();
	CLEANUP(buffer_deinit) struct buffer bytes = written(set);
	struct error err;

	must(summary_read(again, bytes.data, bytes.size, &err), &err);
	assert_int_equal(again->count, PROFILES);
	for (size_t i = 0; i < PROFILES; i++)
		assert_same(set, &set->items[i], again, &again->items[i]);
}

static void summaries_are_found_by_their_tags_and_added_in_any_order(void **state)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = filled_set();
	CLEANUP(summary_set_cleanup) struct summary_set *again = empty_set();
	CLEANUP(buffer_deinit) struct buffer bytes = written(set);
	CLEANUP(summary_archive_cleanup) struct summary_archive *archive = NULL;
	struct error err;

	must(summary_archive_open(bytes.data, bytes.size, again, &archive, &err), &err);
	assert_int_equal(summary_archive_count(archive), PROFILES);
	assert_int_equal(summary_archive_find(archive, (const uint8_t[SUMMARY_TAG_BYTES]){ 9 }), SIZE_MAX);
	for (size_t i = PROFILES; i-- > 0;) {
		assert_int_equal(summary_archive_find(archive, tags[i]), i);
		assert_memory_equal(summary_archive_tag(archive, i), tags[i], SUMMARY_TAG_BYTES);
		must(summary_archive_add(archive, i, &err), &err);
		assert_same(set, &set->items[i], again, &again->items[again->count - 1]);
	}
}

static void one_summary_brings_no_more_than_its_own(void **state)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = filled_set();
	CLEANUP(summary_set_cleanup) struct summary_set *again = empty_set();
	CLEANUP(buffer_deinit) struct buffer bytes = { 0 };
	struct error err;

	buffer_init(&bytes, 1 << 20);
	must(summary_write(set, 0, &bytes, &err) && summary_read(again, bytes.data, bytes.size, &err), &err);
	assert_int_equal(again->count, 1);
	assert_int_equal(again->function_count, 3);
	assert_int_equal(string_table_find(again->strings, "lex", 3), UINT32_MAX);
	assert_same(set, &set->items[0], again, &again->items[0]);
}

static void bytes_that_end_early_are_refused(void **state)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = filled_set();
	CLEANUP(summary_set_cleanup) struct summary_set *again = empty_set();
	CLEANUP(buffer_deinit) struct buffer bytes = written(set);

	for (size_t size = 0; size < bytes.size; size++) {
		struct error err = { 0 };

		assert_false(summary_read(again, bytes.data, size, &err));
		assert_int_equal(err.code, ERROR_FORMAT);
		assert_int_equal(again->count, 0);
	}
}

static void another_version_is_told_apart(void **state)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = filled_set();
	CLEANUP(summary_set_cleanup) struct summary_set *again = empty_set();
	CLEANUP(buffer_deinit) struct buffer bytes = written(set);
	struct error err;

	bytes.data[4]++;
	assert_false(summary_read(again, bytes.data, bytes.size, &err));
	assert_int_equal(err.code, ERROR_UNSUPPORTED);
}

/* Any byte may be wrong: what is read then has sums that are finite and functions that are there, or nothing is. */
static void damaged_bytes_harm_nobody(void **state)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = filled_set();
	CLEANUP(buffer_deinit) struct buffer bytes = written(set);

	for (size_t at = 8; at < bytes.size; at++)
		for (unsigned int bit = 0; bit < 8; bit++) {
			CLEANUP(summary_set_cleanup) struct summary_set *again = empty_set();
			struct error err;

			bytes.data[at] ^= (char)(1U << bit);
			if (!summary_read(again, bytes.data, bytes.size, &err))
				assert_true(err.code == ERROR_FORMAT || err.code == ERROR_UNSUPPORTED);
			for (size_t i = 0; i < again->count; i++)
				for (size_t j = 0; j < again->items[i].row_count; j++)
					assert_true(again->items[i].rows[j].function < again->function_count &&
						    again->items[i].rows[j].total <= 1e30);
			bytes.data[at] ^= (char)(1U << bit);
		}
}

static bool writes_and_reads(const struct summary_set *set, struct error *err)
{
	const size_t all[PROFILES] = { 0, 1, 2 };
	CLEANUP(summary_set_cleanup) struct summary_set *again = NULL;
	CLEANUP(buffer_deinit) struct buffer bytes = { 0 };

	buffer_init(&bytes, 1 << 20);
	return summary_archive_write(set, all, PROFILES, tags, &bytes, err) && summary_set_create(&again, err) &&
	       summary_read(again, bytes.data, bytes.size, err);
}

static void without_memory_the_process_ends(void **state)
{
	CLEANUP(summary_set_cleanup) struct summary_set *set = filled_set();
	struct error err;

	while (failing_malloc_in_child())
		failing_malloc_end(writes_and_reads(set, &err), &err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read),
		cmocka_unit_test(summaries_are_found_by_their_tags_and_added_in_any_order),
		cmocka_unit_test(one_summary_brings_no_more_than_its_own),
		cmocka_unit_test(bytes_that_end_early_are_refused),
		cmocka_unit_test(another_version_is_told_apart),
		cmocka_unit_test(damaged_bytes_harm_nobody),
		cmocka_unit_test(without_memory_the_process_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
