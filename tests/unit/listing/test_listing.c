/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/listing/listing.h"

#include "tests/unit/diff/lined_fixture.h"
#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- Two versions of a function ---- */

enum { RUNS = 5 };

static const char base_text[] = "int parse(int n)\n{\n\tstart(n);\n\twhile (n--)\n\t\tfast(n);\n\treturn n;\n}\n";
static const char head_text[] =
	"/* new */\n\nint parse(int n)\n{\n\tstart(n);\n\twhile (n--)\n\t\tslow(n, 1);\n\tlog(n);\n\treturn n;\n}\n";

/* parse() is the same but for a line that is slower, and one that is new; rest() is the same. */
static struct profile *version(bool is_head)
{
	struct profile *profile = lined_profile();
	struct error err;

	for (int run = 0; run < RUNS; run++) {
		if (run > 0)
			lined_run(profile);
		lined_add(profile, "main=1@2;rest=1@2", 10000 + run * 7);
		if (is_head) {
			lined_add(profile, "main=1@3;parse=3@5", 1000 + run);
			lined_add(profile, "main=1@3;parse=3@7", 3000 + run);
			lined_add(profile, "main=1@3;parse=3@7;slow=1@2", 1000 + run);
			lined_add(profile, "main=1@3;parse=3@macros.h:9", 100 + run);
		} else {
			lined_add(profile, "main=1@3;parse=1@3", 1000 + run);
			lined_add(profile, "main=1@3;parse=1@5", 1000 + run);
			lined_add(profile, "main=1@3;parse=1@macros.h:9", 100 + run);
		}
	}
	assert_true(profile_finish(profile, &err));
	return profile;
}

static void keep(struct profile *profile, const char *path, const char *text, enum profile_source_proof proof)
{
	struct profile_source_file file = { .proof = proof };
	struct error err;
	uint32_t id;

	assert_true(profile_intern(profile, path, &file.path, &err));
	assert_true(profile_add_source_file(profile, &file, &id, &err));
	assert_true(profile_add_source_text(profile, id, 1, text, &err));
}

struct pair {
	struct profile *profiles[DIFF_SIDES];
	struct diff *diff;
	struct listing *listing;
};

static void pair_deinit(struct pair *pair)
{
	listing_destroy(pair->listing);
	diff_destroy(pair->diff);
	profile_destroy(pair->profiles[DIFF_BASE]);
	profile_destroy(pair->profiles[DIFF_HEAD]);
}

static struct pair pair_of(bool has_text)
{
	struct pair pair = { .profiles = { version(false), version(true) } };
	struct error err;

	if (has_text) {
		keep(pair.profiles[DIFF_BASE], "parse.c", base_text, PROFILE_SOURCE_NOT_NEWER);
		keep(pair.profiles[DIFF_HEAD], "parse.c", head_text, PROFILE_SOURCE_MAY_DIFFER);
	}
	if (!diff_create(pair.profiles[DIFF_BASE], pair.profiles[DIFF_HEAD], NULL, &pair.diff, &err))
		fail_msg("%s", err.message);
	return pair;
}

static void list(struct pair *pair, const struct listing_options *options)
{
	struct error err;

	if (!listing_create(pair->diff, (const struct profile *const *)pair->profiles, options, &pair->listing, &err))
		fail_msg("%s", err.message);
}

/* A row as "5/7 *\t\tfast(n);|\t\tslow(n, 1);". */
static void expect_row(const struct pair *pair, size_t number, const char *expected)
{
	const struct listing_function *listed = &pair->listing->functions[0];
	const struct listing_row *row = &listed->rows[number];
	char text[256];

	assert_true(number < listed->row_count);
	snprintf(text, sizeof(text), "%u/%u%s%s %s|%s", row->line[DIFF_BASE], row->line[DIFF_HEAD],
		row->is_changed ? " *" : "", row->is_gap ? " ..." : "",
		listing_string(pair->listing, row->text[DIFF_BASE]),
		listing_string(pair->listing, row->text[DIFF_HEAD]));
	assert_string_equal(text, expected);
}

static void expect_time(const struct pair *pair, size_t number, double base, double head)
{
	const struct listing_row *row = &pair->listing->functions[0].rows[number];

	if (fabs(row->time[DIFF_BASE].total / LINED_SAMPLE_NS / RUNS - base) > 20 ||
		fabs(row->time[DIFF_HEAD].total / LINED_SAMPLE_NS / RUNS - head) > 20)
		fail_msg("row %zu: %g and %g instead of %g and %g", number,
			row->time[DIFF_BASE].total / LINED_SAMPLE_NS / RUNS,
			row->time[DIFF_HEAD].total / LINED_SAMPLE_NS / RUNS, base, head);
}

static void two_versions_stand_side_by_side(void **state)
{
	CLEANUP(pair_deinit) struct pair pair = pair_of(true);
	const struct listing_function *listed;

	list(&pair, &(struct listing_options){ .functions = "^parse$", .all_lines = true });
	assert_int_equal(pair.listing->function_count, 1);
	listed = &pair.listing->functions[0];
	assert_string_equal(diff_string(pair.diff, pair.diff->functions[listed->function].name), "parse");
	assert_int_equal(listed->text[DIFF_BASE].first_line, 1);
	assert_int_equal(listed->text[DIFF_BASE].last_line, 7);
	assert_int_equal(listed->text[DIFF_HEAD].first_line, 3);
	assert_int_equal(listed->text[DIFF_HEAD].last_line, 10);
	assert_int_equal(listed->text[DIFF_HEAD].place, LISTING_KEPT);
	assert_int_equal(listed->text[DIFF_BASE].proof, PROFILE_SOURCE_NOT_NEWER);
	assert_int_equal(listed->text[DIFF_HEAD].proof, PROFILE_SOURCE_MAY_DIFFER);
	expect_row(&pair, 0, "1/3 int parse(int n)|int parse(int n)");
	expect_row(&pair, 2, "3/5 \tstart(n);|\tstart(n);");
	expect_time(&pair, 2, 1000, 1000);
	expect_row(&pair, 4, "5/7 * \t\tfast(n);|\t\tslow(n, 1);");
	expect_time(&pair, 4, 1000, 4000);
	expect_row(&pair, 5, "0/8 * |\tlog(n);");
	expect_row(&pair, 7, "7/10 }|}");
	assert_int_equal(listed->row_count, 9);
	assert_int_equal(listed->elsewhere_count, 1);
	expect_row(&pair, 8, "9/9 |");
	assert_string_equal(listing_string(pair.listing, listed->rows[8].file), "macros.h");
}

/* Rows have the values of their lines whether they were tested or not, and the proof of a comparison of the whole. */
static void rows_of_proven_functions_are_tested(void **state)
{
	CLEANUP(pair_deinit) struct pair pair = pair_of(true);
	const struct listing_row *rows;

	list(&pair, &(struct listing_options){ .functions = "^parse$", .all_lines = true });
	rows = pair.listing->functions[0].rows;
	for (size_t i = 0; i < pair.listing->functions[0].row_count; i++) {
		assert_true(fabs(rows[i].total.base - rows[i].time[DIFF_BASE].total) < 1);
		assert_true(fabs(rows[i].total.head - rows[i].time[DIFF_HEAD].total) < 1);
	}
	assert_int_equal(rows[4].total.state, DIFF_STATE_MORE);
	assert_true(rows[4].total.q < 0.05 && rows[4].total.ci_low > 0 && rows[4].total.ci_low < rows[4].total.delta &&
		    rows[4].total.delta < rows[4].total.ci_high);
	assert_false(diff_state_is_difference(rows[2].total.state));
	assert_false(diff_state_is_difference(rows[8].total.state));
	/* Nothing was sampled there. */
	assert_int_equal(rows[0].total.state, DIFF_STATE_SAME);
	assert_true(isnan(rows[0].total.q));
}

static void rows_of_other_functions_are_not(void **state)
{
	CLEANUP(pair_deinit) struct pair pair = pair_of(true);

	list(&pair, &(struct listing_options){ .functions = "^rest$", .all_lines = true });
	for (size_t i = 0; i < pair.listing->functions[0].row_count; i++) {
		assert_int_equal(pair.listing->functions[0].rows[i].total.state, DIFF_STATE_SAME);
		assert_true(isnan(pair.listing->functions[0].rows[i].total.q));
	}
}

static void lines_without_time_are_folded(void **state)
{
	CLEANUP(pair_deinit) struct pair pair = pair_of(true);
	char longer[4096] = "int parse(int n)\n{\n";

	for (int i = 0; i < 100; i++)
		strcat(longer, "\tnothing();\n");
	strcat(longer, "}\n");
	keep(pair.profiles[DIFF_BASE], "rest.c", longer, PROFILE_SOURCE_NOT_NEWER);
	keep(pair.profiles[DIFF_HEAD], "rest.c", longer, PROFILE_SOURCE_NOT_NEWER);
	list(&pair, &(struct listing_options){ .functions = "^rest$" });
	expect_row(&pair, 0, "1/1 int parse(int n)|int parse(int n)");
	expect_time(&pair, 1, 10000, 10000);
	expect_row(&pair, 3, "4/4 \tnothing();|\tnothing();");
	expect_row(&pair, 4, "0/0 ... |");
	assert_int_equal(pair.listing->functions[0].row_count, 5);
}

static void without_text_lines_are_paired_by_their_distance_from_the_definition(void **state)
{
	CLEANUP(pair_deinit) struct pair pair = pair_of(false);

	list(&pair, &(struct listing_options){ .functions = "parse" });
	assert_int_equal(pair.listing->functions[0].text[DIFF_BASE].place, LISTING_NOWHERE);
	expect_row(&pair, 0, "3/5 |");
	expect_row(&pair, 1, "5/7 |");
	expect_time(&pair, 1, 1000, 4000);
	assert_int_equal(pair.listing->functions[0].row_count, 3);
}

static void functions_that_are_proven_to_differ_come_by_themselves(void **state)
{
	CLEANUP(pair_deinit) struct pair pair = pair_of(true);

	list(&pair, &(struct listing_options){ .proven = 1 });
	assert_int_equal(pair.listing->function_count, 1);
	assert_string_equal(
		diff_string(pair.diff, pair.diff->functions[pair.listing->functions[0].function].name), "parse");
	listing_destroy(pair.listing);
	list(&pair, &(struct listing_options){ .largest = 2, .proven = 3, .functions = "par" });
	assert_int_equal(pair.listing->function_count, 4);
}

/* The self times of all rows are those of the functions: no line is lost. */
static void rows_add_up_to_their_functions(void **state)
{
	CLEANUP(pair_deinit) struct pair pair = pair_of(true);

	list(&pair, &(struct listing_options){ .functions = "." });
	assert_int_equal(pair.listing->function_count, pair.diff->function_count);
	for (size_t i = 0; i < pair.listing->function_count; i++) {
		const struct listing_function *listed = &pair.listing->functions[i];
		const struct diff_function *f = &pair.diff->functions[listed->function];
		double self[DIFF_SIDES] = { 0, 0 };

		for (size_t r = 0; r < listed->row_count; r++)
			for (int side = 0; side < DIFF_SIDES; side++)
				self[side] += listed->rows[r].time[side].self;
		assert_true(fabs(self[DIFF_BASE] - f->self.base) < 1 && fabs(self[DIFF_HEAD] - f->self.head) < 1);
	}
}

static void one_profile_is_listed_alone(void **state)
{
	struct pair pair = { .profiles = { NULL, version(true) } };
	struct error err;

	keep(pair.profiles[DIFF_HEAD], "parse.c", head_text, PROFILE_SOURCE_SAME_BYTES);
	assert_true(diff_create_single(pair.profiles[DIFF_HEAD], NULL, &pair.diff, &err));
	list(&pair, &(struct listing_options){ .functions = "parse", .all_lines = true });
	expect_row(&pair, 4, "0/7 |\t\tslow(n, 1);");
	expect_time(&pair, 4, 0, 4000);
	pair_deinit(&pair);
}

/* ---- What cannot be listed ---- */

static void expect_refused(const char *expression, enum error_code code, const char *words)
{
	CLEANUP(pair_deinit) struct pair pair = pair_of(false);
	struct error err;

	assert_false(listing_create(pair.diff, (const struct profile *const *)pair.profiles,
		&(struct listing_options){ .functions = expression }, &pair.listing, &err));
	assert_int_equal(err.code, code);
	if (!strstr(err.message, words))
		fail_msg("'%s' is not in '%s'", words, err.message);
}

static void what_cannot_be_listed_is_an_error(void **state)
{
	expect_refused("a(", ERROR_USAGE, "--list 'a(': this is no regular expression");
	expect_refused("nothing_like_it", ERROR_NOT_FOUND,
		"--list 'nothing_like_it': no function that was sampled is called so");
	expect_refused("parsed", ERROR_NOT_FOUND, "similar names: 'parse'");
}

/* ---- Texts from elsewhere ---- */

/* Places that have a text, as files in memory. */
struct places {
	const char *texts[DIFF_SIDES][LISTING_PLACE_COUNT];
	size_t size; /* of the texts; 0: by their end */
	size_t asked;
};

static int open_place(
	void *context, enum diff_side side, enum listing_place place, const char *path, const char *build_id)
{
	struct places *places = context;
	const char *text = places->texts[side][place];
	int fd;

	places->asked++;
	if (!text || strcmp(path, "parse.c") != 0)
		return -1;
	fd = memfd_create("text", MFD_CLOEXEC);
	assert_true(fd >= 0);
	for (size_t at = 0, size = places->size ? places->size : strlen(text); at < size;)
		at += (size_t)write(fd, text + at, size - at);
	return fd;
}

static void knows_md5(struct profile *profile, const char *text)
{
	struct profile_source_file file = { .has_md5 = true, .is_md5_of_build = true };
	struct error err;
	uint32_t id;

	assert_true(profile_intern(profile, "parse.c", &file.path, &err));
	md5(text, strlen(text), file.md5);
	assert_true(profile_add_source_file(profile, &file, &id, &err));
}

static void expect_text(
	const struct pair *pair, enum diff_side side, enum listing_place place, enum profile_source_proof proof)
{
	assert_int_equal(pair->listing->functions[0].text[side].place, place);
	assert_int_equal(pair->listing->functions[0].text[side].proof, proof);
}

static void the_text_with_the_md5_of_the_build_is_the_one(void **state)
{
	CLEANUP(pair_deinit) struct pair pair = pair_of(false);
	struct places places = { 0 };
	const struct listing_opener opener = { .open = open_place, .context = &places };

	knows_md5(pair.profiles[DIFF_BASE], base_text);
	places.texts[DIFF_BASE][LISTING_REVISION] = head_text;
	places.texts[DIFF_BASE][LISTING_DISK] = base_text;
	places.texts[DIFF_HEAD][LISTING_DEBUGINFOD] = head_text;
	places.texts[DIFF_HEAD][LISTING_DISK] = base_text;
	list(&pair, &(struct listing_options){ .functions = "^parse$", .opener = &opener, .all_lines = true });
	expect_text(&pair, DIFF_BASE, LISTING_DISK, PROFILE_SOURCE_SAME_BYTES);
	expect_text(&pair, DIFF_HEAD, LISTING_DEBUGINFOD, PROFILE_SOURCE_NOT_NEWER);
	expect_row(&pair, 4, "5/7 * \t\tfast(n);|\t\tslow(n, 1);");
}

static void a_text_that_is_another_version_may_differ(void **state)
{
	CLEANUP(pair_deinit) struct pair pair = pair_of(false);
	struct places places = { 0 };
	const struct listing_opener opener = { .open = open_place, .context = &places };

	knows_md5(pair.profiles[DIFF_BASE], "something else");
	places.texts[DIFF_BASE][LISTING_REVISION] = base_text;
	places.texts[DIFF_BASE][LISTING_DISK] = head_text;
	places.texts[DIFF_HEAD][LISTING_DISK] = head_text;
	list(&pair, &(struct listing_options){ .functions = "^parse$", .opener = &opener });
	/* None has the MD5: the first one is shown. */
	expect_text(&pair, DIFF_BASE, LISTING_REVISION, PROFILE_SOURCE_MAY_DIFFER);
	expect_text(&pair, DIFF_HEAD, LISTING_DISK, PROFILE_SOURCE_MAY_DIFFER);
}

static void kept_lines_come_before_all_others(void **state)
{
	CLEANUP(pair_deinit) struct pair pair = pair_of(true);
	struct places places = { .texts = { { [LISTING_DISK] = head_text }, { [LISTING_DISK] = base_text } } };
	const struct listing_opener opener = { .open = open_place, .context = &places };

	list(&pair, &(struct listing_options){ .functions = "^parse$", .opener = &opener });
	expect_text(&pair, DIFF_BASE, LISTING_KEPT, PROFILE_SOURCE_NOT_NEWER);
	expect_text(&pair, DIFF_HEAD, LISTING_KEPT, PROFILE_SOURCE_MAY_DIFFER);
}

/* No text of any bytes and no number of a line is more than a listing without it. */
static void hostile_texts_are_lines_or_nothing(void **state)
{
	static const char *const texts[] = { "", "\n", "\r\r\r\n\n", "\xff\xfe\n\x1b[31m\n\xe2\x80\xae", "x" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		CLEANUP(pair_deinit) struct pair pair = pair_of(false);
		struct places places = { .texts = { { [LISTING_DISK] = texts[i] }, { [LISTING_DISK] = texts[i] } } };
		const struct listing_opener opener = { .open = open_place, .context = &places };

		list(&pair, &(struct listing_options){ .functions = ".", .opener = &opener, .all_lines = true });
		assert_true(pair.listing->functions[0].row_count > 0);
	}
}

static void a_file_that_is_no_text_is_not_shown(void **state)
{
	CLEANUP(pair_deinit) struct pair pair = pair_of(false);
	struct places places = { .texts = { { 0 }, { [LISTING_DISK] = "a\nb\nc\nd\n\0e\nf\ng\n" } }, .size = 16 };
	const struct listing_opener opener = { .open = open_place, .context = &places };

	list(&pair, &(struct listing_options){ .functions = "^parse$", .opener = &opener });
	expect_text(&pair, DIFF_HEAD, LISTING_NOWHERE, PROFILE_SOURCE_MAY_DIFFER);
}

static void without_memory_the_process_ends(void **state)
{
	CLEANUP(pair_deinit) struct pair pair = pair_of(true);
	struct error err;

	while (failing_malloc_in_child())
		failing_malloc_end(listing_create(pair.diff, (const struct profile *const *)pair.profiles,
					   &(struct listing_options){ .functions = "parse" }, &pair.listing, &err),
			&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_versions_stand_side_by_side),
		cmocka_unit_test(rows_of_proven_functions_are_tested),
		cmocka_unit_test(rows_of_other_functions_are_not),
		cmocka_unit_test(lines_without_time_are_folded),
		cmocka_unit_test(without_text_lines_are_paired_by_their_distance_from_the_definition),
		cmocka_unit_test(functions_that_are_proven_to_differ_come_by_themselves),
		cmocka_unit_test(rows_add_up_to_their_functions),
		cmocka_unit_test(one_profile_is_listed_alone),
		cmocka_unit_test(what_cannot_be_listed_is_an_error),
		cmocka_unit_test(the_text_with_the_md5_of_the_build_is_the_one),
		cmocka_unit_test(a_text_that_is_another_version_may_differ),
		cmocka_unit_test(kept_lines_come_before_all_others),
		cmocka_unit_test(hostile_texts_are_lines_or_nothing),
		cmocka_unit_test(a_file_that_is_no_text_is_not_shown),
		cmocka_unit_test(without_memory_the_process_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
