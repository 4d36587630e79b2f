/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile_fixture.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

static struct profile *empty(void)
{
	struct profile *profile = NULL;
	struct error err;

	assert_true(profile_create(&profile, &err));
	return profile;
}

static uint32_t add_file(struct profile *profile, const char *path, const char *md5, enum profile_source_proof proof)
{
	struct profile_source_file file = { .has_md5 = md5 != NULL, .proof = proof };
	struct error err;
	uint32_t id;

	if (md5)
		memcpy(file.md5, md5, sizeof(file.md5));
	assert_true(profile_intern(profile, path, &file.path, &err));
	assert_true(profile_add_source_file(profile, &file, &id, &err));
	return id;
}

static void add_text(struct profile *profile, uint32_t file, uint32_t first_line, const char *text)
{
	struct error err;

	if (!profile_add_source_text(profile, file, first_line, text, &err))
		fail_msg("%s", err.message);
	if (!profile_validate(profile, &err))
		fail_msg("%s", err.message);
}

/* All lines of a file with their numbers: `3:c 4:d`; texts are separated by `|`. */
static char *lines_of(const struct profile *profile, uint32_t file)
{
	struct buffer out;

	buffer_init(&out, 1 << 20);
	buffer_append(&out, "", 0);
	for (size_t i = 0; i < profile->source_text_count; i++) {
		const struct profile_source_text *text = &profile->source_texts[i];
		const char *at = profile_string(profile, text->text);

		if (text->file != file)
			continue;
		if (out.size)
			buffer_append_string(&out, "| ");
		for (uint32_t line = text->first_line; at; line++) {
			size_t size = strcspn(at, "\n");

			buffer_printf(&out, "%u:%.*s ", line, (int)size, at);
			at = at[size] ? at + size + 1 : NULL;
		}
	}
	buffer_append(&out, "", 1);
	return out.data;
}

static void expect_lines(const struct profile *profile, uint32_t file, const char *expected)
{
	char *lines = lines_of(profile, file);

	assert_string_equal(lines, expected);
	free(lines);
}

static void lines_are_kept_once_and_in_order(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = empty();
	uint32_t other = add_file(profile, "b.c", NULL, PROFILE_SOURCE_MAY_DIFFER),
		 file = add_file(profile, "a.c", NULL, PROFILE_SOURCE_NOT_NEWER);

	add_text(profile, file, 10, "j\nk");
	add_text(profile, other, 1, "other");
	add_text(profile, file, 3, "c\nd");
	expect_lines(profile, file, "3:c 4:d | 10:j 11:k ");
	add_text(profile, file, 5, "e");
	expect_lines(profile, file, "3:c 4:d | 5:e | 10:j 11:k ");
	/* It lies before, in and behind what is there. */
	add_text(profile, file, 2, "b\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl");
	expect_lines(profile, file, "2:b | 3:c 4:d | 5:e | 6:f 7:g 8:h 9:i | 10:j 11:k | 12:l ");
	expect_lines(profile, other, "1:other ");
	assert_int_equal(profile->source_files[file].proof, PROFILE_SOURCE_NOT_NEWER);
	assert_false(profile->source_files[file].is_mixed);
}

static void lines_that_differ_stay_and_are_said_to(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = empty();
	uint32_t file = add_file(profile, "a.c", "0123456789abcdef", PROFILE_SOURCE_SAME_BYTES);

	add_text(profile, file, 3, "c\nd\ne");
	add_text(profile, file, 4, "D\ne\nf");
	expect_lines(profile, file, "3:c 4:d 5:e | 6:f ");
	assert_true(profile->source_files[file].is_mixed);
	assert_false(profile->source_files[file].has_md5);
	assert_int_equal(profile->source_files[file].proof, PROFILE_SOURCE_MAY_DIFFER);
	/* What is said of it later changes nothing. */
	assert_int_equal(add_file(profile, "a.c", "0123456789abcdef", PROFILE_SOURCE_SAME_BYTES), file);
	assert_false(profile->source_files[file].has_md5);
	assert_int_equal(profile->source_files[file].proof, PROFILE_SOURCE_MAY_DIFFER);
}

static void files_are_found_and_completed(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = empty();
	uint32_t file = add_file(profile, "a.c", NULL, PROFILE_SOURCE_MAY_DIFFER);

	assert_int_equal(profile_find_source_file(profile, profile->source_files[file].path), file);
	assert_int_equal(profile_find_source_file(profile, 0), PROFILE_NONE);
	assert_int_equal(add_file(profile, "a.c", "0123456789abcdef", PROFILE_SOURCE_NOT_NEWER), file);
	assert_true(profile->source_files[file].has_md5);
	assert_int_equal(profile->source_files[file].proof, PROFILE_SOURCE_NOT_NEWER);
	assert_int_equal(add_file(profile, "a.c", NULL, PROFILE_SOURCE_MAY_DIFFER), file);
	assert_int_equal(profile->source_files[file].proof, PROFILE_SOURCE_NOT_NEWER);
	assert_int_equal(add_file(profile, "a.c", "another md5 bytes", PROFILE_SOURCE_SAME_BYTES), file);
	assert_true(profile->source_files[file].is_mixed);
}

static void each_proof_has_words(void **state)
{
	for (int i = 0; i < PROFILE_SOURCE_PROOF_COUNT; i++)
		assert_true(strlen(profile_source_proof_words((enum profile_source_proof)i)) > 0);
}

static void long_texts_are_several(void **state)
{
	enum { LINES = 3000, LINE_BYTES = 50 };
	CLEANUP(profile_cleanup) struct profile *profile = empty();
	CLEANUP(cleanup_free)
	char *text = malloc(LINES * LINE_BYTES + 1), *line = malloc(2 * PROFILE_MAX_SOURCE_TEXT_BYTES + 1);
	uint32_t file = add_file(profile, "a.c", NULL, PROFILE_SOURCE_MAY_DIFFER), next = 1;

	memset(text, 'x', LINES * LINE_BYTES);
	for (size_t i = 1; i < LINES; i++)
		text[i * LINE_BYTES - 1] = '\n';
	text[LINES * LINE_BYTES] = '\0';
	add_text(profile, file, 1, text);
	assert_int_equal(profile->source_text_count, 3);
	for (size_t i = 0; i < profile->source_text_count; i++) {
		assert_int_equal(profile->source_texts[i].first_line, next);
		next += profile_count_lines(profile_string(profile, profile->source_texts[i].text));
	}
	assert_int_equal(next, LINES + 1);
	/* A line that is longer than a text is cut. */
	memset(line, 'y', 2 * PROFILE_MAX_SOURCE_TEXT_BYTES);
	line[2 * PROFILE_MAX_SOURCE_TEXT_BYTES] = '\0';
	add_text(profile, file, next, line);
	assert_int_equal(profile->source_text_count, 4);
	assert_int_equal(
		string_table_size(profile->strings, profile->source_texts[3].text), PROFILE_MAX_SOURCE_TEXT_BYTES);
}

static void there_is_a_most_of_texts_and_bytes(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = empty(), *many = empty();
	CLEANUP(cleanup_free) char *line = malloc(PROFILE_MAX_SOURCE_TEXT_BYTES + 1);
	uint32_t file = add_file(profile, "a.c", NULL, PROFILE_SOURCE_MAY_DIFFER),
		 spread = add_file(many, "a.c", NULL, PROFILE_SOURCE_MAY_DIFFER);
	struct error err;

	memset(line, 'y', PROFILE_MAX_SOURCE_TEXT_BYTES);
	line[PROFILE_MAX_SOURCE_TEXT_BYTES] = '\0';
	for (uint32_t i = 0; i < 300; i++)
		assert_true(profile_add_source_text(profile, file, 1 + i, line, &err));
	assert_int_equal(profile->source_text_count, PROFILE_MAX_MERGED_SOURCE_BYTES / PROFILE_MAX_SOURCE_TEXT_BYTES);
	assert_true(profile_validate(profile, &err));
	for (uint32_t i = 0; i < PROFILE_MAX_SOURCE_TEXTS + 10; i++)
		assert_true(profile_add_source_text(many, spread, 1 + 2 * i, "x", &err));
	assert_int_equal(many->source_text_count, PROFILE_MAX_SOURCE_TEXTS);
	assert_true(profile_validate(many, &err));
}

static void there_is_a_most_of_files(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = empty();
	struct error err;
	char path[32];

	for (uint32_t i = 0; i < PROFILE_MAX_SOURCE_FILES; i++) {
		snprintf(path, sizeof(path), "%u.c", i);
		assert_int_equal(add_file(profile, path, NULL, PROFILE_SOURCE_MAY_DIFFER), i);
	}
	assert_int_equal(add_file(profile, "more.c", NULL, PROFILE_SOURCE_MAY_DIFFER), PROFILE_NONE);
	assert_true(profile_add_source_text(profile, PROFILE_NONE, 1, "text", &err));
	assert_int_equal(profile->source_text_count, 0);
}

static void what_is_no_place_is_refused(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = empty();
	uint32_t file = add_file(profile, "a.c", NULL, PROFILE_SOURCE_MAY_DIFFER);
	struct error err;

	assert_false(profile_add_source_text(profile, file, 0, "text", &err));
	assert_int_equal(err.code, ERROR_FORMAT);
	assert_false(profile_add_source_text(profile, file + 1, 1, "text", &err));
	assert_false(profile_add_source_text(profile, file, UINT32_MAX, "text\ntext", &err));
	assert_int_equal(profile->source_text_count, 0);
}

/* ---- Merging ---- */

static void runs_of_one_build_share_their_texts(void **state)
{
	CLEANUP(profile_cleanup) struct profile *into = sample_profile(), *from = sample_profile();
	uint32_t files = (uint32_t)into->source_file_count, texts = (uint32_t)into->source_text_count;
	struct error err;

	add_text(from, 0, 17, "static\nint main(void)");
	assert_true(profile_merge(into, from, &err));
	assert_int_equal(into->source_file_count, files);
	assert_int_equal(into->source_text_count, texts + 1);
	expect_lines(into, 0, "4:\tx \xff++; | 17:static | 18:int main(void) 19:{ 20:\tinlined(); 21:} ");
	assert_int_equal(into->source_files[0].proof, PROFILE_SOURCE_SAME_BYTES);
	assert_true(into->source_files[0].is_md5_of_build);
	assert_true(profile_validate(into, &err));
}

static void runs_of_two_builds_may_differ(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *into = sample_profile(), *from = sample_profile(), *third = sample_profile(), *back = NULL;
	CLEANUP(buffer_deinit) struct buffer file = { 0 };
	struct error err;

	from->source_files[0].md5[3] ^= 1;
	assert_true(profile_merge(into, from, &err));
	assert_true(into->source_files[0].is_mixed);
	assert_false(into->source_files[0].has_md5);
	assert_int_equal(into->source_files[0].proof, PROFILE_SOURCE_MAY_DIFFER);
	/* It stays so when it is written and read, and when the first build comes again. */
	file = written_profile(into);
	back = read_profile(file.data, file.size);
	assert_profiles_equal(into, back);
	assert_true(profile_merge(back, third, &err));
	assert_true(back->source_files[0].is_mixed);
	assert_false(back->source_files[0].has_md5);
}

static void merging_takes_lines_in_other_files_along(void **state)
{
	CLEANUP(profile_cleanup) struct profile *into = empty(), *from = sample_profile();
	uint32_t unrelated;
	size_t others = 0;
	struct error err;

	assert_true(profile_intern(into, "so that ids of strings are others", &unrelated, &err));
	assert_true(profile_merge(into, from, &err));
	for (size_t i = 0; i < into->line_count; i++)
		if (into->lines[i].file) {
			assert_string_equal(profile_string(into, into->lines[i].file), "/src/macros.h");
			others++;
		}
	assert_int_equal(others, 1);
}

/* ---- Hostile files ---- */

static void no_texts_order(struct profile *p)
{
	struct profile_source_text text = p->source_texts[0];

	p->source_texts[0] = p->source_texts[1];
	p->source_texts[1] = text;
}

static void overlap(struct profile *p)
{
	p->source_texts[0].first_line = p->source_texts[1].first_line;
}

static void no_line(struct profile *p)
{
	p->source_texts[0].first_line = 0;
}

static void last_line(struct profile *p)
{
	p->source_texts[1].first_line = UINT32_MAX;
}

static void no_file(struct profile *p)
{
	p->source_texts[2].file = 2;
}

static void no_string(struct profile *p)
{
	p->source_texts[2].text = string_table_count(p->strings) + 100;
}

static void no_text(struct profile *p)
{
	struct error err;

	assert_true(string_table_add(p->strings, "a\0b", 3, &p->source_texts[2].text, &err));
}

static void too_long(struct profile *p)
{
	CLEANUP(cleanup_free) char *line = calloc(1, PROFILE_MAX_SOURCE_TEXT_BYTES + 2);
	struct error err;

	memset(line, 'x', PROFILE_MAX_SOURCE_TEXT_BYTES + 1);
	assert_true(profile_intern(p, line, &p->source_texts[2].text, &err));
}

static void no_proof(struct profile *p)
{
	p->source_files[0].proof = (enum profile_source_proof)PROFILE_SOURCE_PROOF_COUNT;
}

static void md5_of_nothing(struct profile *p)
{
	p->source_files[0].has_md5 = false;
}

static void same_path(struct profile *p)
{
	p->source_files[1].path = p->source_files[0].path;
}

static void no_path(struct profile *p)
{
	p->source_files[1].path = string_table_count(p->strings) + 100;
}

static void no_line_file(struct profile *p)
{
	p->lines[0].file = string_table_count(p->strings) + 100;
}

static void contradictions_are_refused(void **state)
{
	static void (*const breaks[])(struct profile *) = { no_texts_order, overlap, no_line, last_line, no_file,
		no_string, too_long, no_proof, md5_of_nothing, same_path, no_path, no_line_file };

	for (size_t i = 0; i < sizeof(breaks) / sizeof(*breaks); i++) {
		CLEANUP(profile_cleanup) struct profile *profile = sample_profile();
		CLEANUP(buffer_deinit) struct buffer file = { 0 };
		struct error err;

		breaks[i](profile);
		assert_false(profile_validate(profile, &err));
		assert_int_equal(err.code, ERROR_FORMAT);
		file = written_profile(profile);
		expect_refused(file.data, file.size, ERROR_FORMAT, "");
	}
}

/* A reader cuts strings there: what a program makes is checked. */
static void texts_have_no_nul(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = sample_profile();
	struct error err;

	no_text(profile);
	assert_false(profile_validate(profile, &err));
	assert_non_null(strstr(err.message, "is no text"));
}

/* ---- Memory ---- */

static bool merges(const struct profile *from, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *into = NULL;

	return profile_create(&into, err) && profile_merge(into, from, err) && profile_merge(into, from, err);
}

static void every_failed_allocation_is_an_error(void **state)
{
	CLEANUP(profile_cleanup) struct profile *from = sample_profile();
	struct error err;
	bool ok = false;

	for (size_t n = 0; !ok; n++) {
		assert_true(n < 2000);
		failing_malloc_after(n);
		ok = merges(from, &err);
		failing_malloc_after(SIZE_MAX);
		assert_true(ok || err.code == ERROR_MEMORY);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_kept_once_and_in_order),
		cmocka_unit_test(lines_that_differ_stay_and_are_said_to),
		cmocka_unit_test(files_are_found_and_completed),
		cmocka_unit_test(each_proof_has_words),
		cmocka_unit_test(long_texts_are_several),
		cmocka_unit_test(there_is_a_most_of_texts_and_bytes),
		cmocka_unit_test(there_is_a_most_of_files),
		cmocka_unit_test(what_is_no_place_is_refused),
		cmocka_unit_test(runs_of_one_build_share_their_texts),
		cmocka_unit_test(runs_of_two_builds_may_differ),
		cmocka_unit_test(merging_takes_lines_in_other_files_along),
		cmocka_unit_test(contradictions_are_refused),
		cmocka_unit_test(texts_have_no_nul),
		cmocka_unit_test(every_failed_allocation_is_an_error),
	};

	return cmocka_run_group_tests_name("sources", tests, NULL, NULL);
}
