/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/listing/align.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { NO_LINE = UINT32_MAX };

/* ---- Properties ---- */

/* Equal lines only, each once, in order: however long it took, that holds. Returns how many lines are matched. */
static size_t check(const struct align_side *base, const struct align_side *head, const uint32_t *match)
{
	size_t count = 0;
	uint32_t next = 0;

	for (size_t i = 0; i < base->count; i++) {
		if (match[i] == NO_LINE)
			continue;
		assert_true(match[i] >= next && match[i] < head->count);
		assert_int_equal(base->lines[i], head->lines[match[i]]);
		next = match[i] + 1;
		count++;
	}
	return count;
}

static size_t align(const struct align_side *base, const struct align_side *head, size_t numbers, uint32_t *match)
{
	struct error err;

	if (!align_lines(base, head, numbers, match, &err))
		fail_msg("%s", err.message);
	return check(base, head, match);
}

/* Letters are lines. */
static void expect(const char *base, const char *head, const char *expected)
{
	uint32_t lines[2][64], match[64];
	struct align_side sides[2] = { { lines[0], strlen(base) }, { lines[1], strlen(head) } };
	char found[65] = "";

	for (size_t i = 0; base[i]; i++)
		lines[0][i] = (uint8_t)base[i];
	for (size_t i = 0; head[i]; i++)
		lines[1][i] = (uint8_t)head[i];
	align(&sides[0], &sides[1], 256, match);
	for (size_t i = 0; base[i]; i++)
		found[i] = match[i] == NO_LINE ? '-' : (char)('0' + match[i]);
	assert_string_equal(found, expected);
}

static void lines_are_aligned_as_people_see_them(void **state)
{
	expect("", "", "");
	expect("abc", "", "---");
	expect("", "abc", "");
	expect("abc", "abc", "012");
	expect("abc", "xabyc", "124");
	expect("abcd", "abd", "01-2");
	/* a function that was moved over another one: one of them stands still */
	expect("abcdef", "defabc", "---012");
	/* `}` is not unique: the lines around it decide */
	expect("a}b}c}", "a}x}c}", "01-345");
	/* no line is unique */
	expect("ababab", "bababa", "-01234");
	expect("aabb", "bbaa", "--01");
}

static uint32_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(*state >> 33);
}

/* A text and a version of it, of lines of which many are equal or few. */
static void edited(uint64_t *random, uint32_t kinds, struct align_side sides[2], uint32_t *lines[2], size_t count)
{
	sides[0] = (struct align_side){ lines[0], count };
	sides[1] = (struct align_side){ lines[1], 0 };
	for (size_t i = 0; i < count; i++) {
		lines[0][i] = next_random(random) % kinds;
		switch (next_random(random) % 16) {
		case 0: /* left out */
			break;
		case 1: /* one more */
			lines[1][sides[1].count++] = next_random(random) % kinds;
			/* fallthrough */
		default:
			lines[1][sides[1].count++] = lines[0][i];
		}
	}
}

static void alignments_are_right_and_nearly_the_longest(void **state)
{
	enum { LINES = 300 };
	static const uint32_t kinds[] = { 2, 5, 40, 300, 100000 };
	uint64_t random = 1;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		for (size_t round = 0; round < 40; round++) {
			uint32_t base[LINES], head[2 * LINES], match[LINES], best[LINES + 1][2] = { 0 };
			struct align_side sides[2];
			size_t found, longest = 0;

			edited(&random, kinds[k], sides, (uint32_t *[]){ base, head }, LINES);
			found = align(&sides[0], &sides[1], 100000, match);
			/* The longest common subsequence, by the book. */
			memset(best, 0, sizeof(best));
			for (size_t j = sides[1].count; j-- > 0;)
				for (size_t i = LINES; i-- > 0;) {
					uint32_t *at = &best[i][j % 2];

					*at = best[i + 1][j % 2] > best[i][(j + 1) % 2] ? best[i + 1][j % 2]
											: best[i][(j + 1) % 2];
					if (base[i] == head[j] && best[i + 1][(j + 1) % 2] + 1 > *at)
						*at = best[i + 1][(j + 1) % 2] + 1;
				}
			longest = best[0][0];
			/* Anchors may cost a few lines; Myers' script alone is the shortest. */
			assert_true(found <= longest && found * 100 >= longest * 90);
		}
}

/* Generated code: fifty thousand lines of few kinds, or of none in common. */
static void long_functions_take_no_longer_than_their_lines(void **state)
{
	enum { LINES = 50000 };
	uint32_t *base = malloc(LINES * sizeof(*base)), *head = malloc(2 * LINES * sizeof(*head));
	uint32_t *match = malloc(LINES * sizeof(*match));
	struct align_side sides[2];
	clock_t start = clock();
	uint64_t random = 7;

	for (uint32_t kinds = 2; kinds < 2000; kinds *= 6) {
		edited(&random, kinds, sides, (uint32_t *[]){ base, head }, LINES);
		assert_true(align(&sides[0], &sides[1], 2000, match) > LINES / 2);
		for (size_t i = 0; i < LINES; i++)
			head[i] = next_random(&random) % kinds;
		sides[1].count = LINES;
		assert_true(align(&sides[0], &sides[1], 2000, match) > 0);
	}
	for (uint32_t i = 0; i < LINES; i++) {
		base[i] = i % 100;
		head[i] = 100 + i % 100;
	}
	assert_int_equal(align(&sides[0], &sides[1], 2000, match), 0);
	/* It takes a second or two with sanitizers; quadratic time would be minutes. */
	assert_true(clock() - start < (clock_t)60 * CLOCKS_PER_SEC);
	free(base);
	free(head);
	free(match);
}

/* ---- Against git ---- */

static size_t read_lines(FILE *file, char lines[][256], size_t most)
{
	size_t count = 0;

	while (count < most && fgets(lines[count], sizeof(lines[count]), file))
		count++;
	return count;
}

enum { MOST_LINES = 1024 };

static uint32_t number_of(char lines[2][MOST_LINES][256], size_t side, size_t line, size_t base_count)
{
	for (size_t i = 0; i < base_count; i++)
		if (strcmp(lines[0][i], lines[side][line]) == 0)
			return (uint32_t)i;
	for (size_t i = 0; i < line; i++)
		if (strcmp(lines[1][i], lines[side][line]) == 0)
			return (uint32_t)(MOST_LINES + i);
	return (uint32_t)(MOST_LINES + line);
}

/* Real files that are alike in part: about as few lines change as git's patience diff says. */
static void real_files_change_in_no_more_lines_than_git_says(void **state)
{
	static char lines[2][MOST_LINES][256];
	static const char *const pairs[][2] = { { "diff/listing/rows.c", "diff/listing/side.c" },
		{ "render/suite_document.c", "render/history_document.c" },
		{ "diff/listing/align.c", "diff/listing/align.c" } };

	for (size_t p = 0; p < sizeof(pairs) / sizeof(pairs[0]); p++) {
		uint32_t numbers[2][MOST_LINES], match[MOST_LINES];
		struct align_side sides[2];
		char command[1024];
		size_t changed, said[2];
		FILE *file;

		for (size_t side = 0; side < 2; side++) {
			snprintf(command, sizeof(command), "%s/%s", SOURCE_DIRECTORY, pairs[p][side]);
			file = fopen(command, "r");
			assert_non_null(file);
			sides[side] = (struct align_side){ numbers[side], read_lines(file, lines[side], MOST_LINES) };
			fclose(file);
		}
		for (size_t side = 0; side < 2; side++)
			for (size_t i = 0; i < sides[side].count; i++)
				numbers[side][i] = number_of(lines, side, i, sides[0].count);
		changed = sides[0].count + sides[1].count - 2 * align(&sides[0], &sides[1], 2 * MOST_LINES, match);
		snprintf(command, sizeof(command),
			"git -c core.quotePath=false diff --no-index --patience --numstat '%s/%s' '%s/%s'",
			SOURCE_DIRECTORY, pairs[p][0], SOURCE_DIRECTORY, pairs[p][1]);
		file = popen(command, "r");
		assert_non_null(file);
		if (fscanf(file, "%zu %zu", &said[0], &said[1]) != 2)
			said[0] = said[1] = 0;
		pclose(file);
		if (changed * 100 > (said[0] + said[1]) * 105)
			fail_msg("%s: %zu lines changed, and %zu by git", pairs[p][0], changed, said[0] + said[1]);
	}
}

/* ---- Lines that were replaced ---- */

static void expect_pairs(const char *const *base, const char *const *head, const char *expected)
{
	struct align_text texts[2][16] = { 0 };
	size_t counts[2] = { 0, 0 };
	char found[17] = "";
	uint32_t pair[16];

	for (; base[counts[0]]; counts[0]++)
		texts[0][counts[0]] = (struct align_text){ base[counts[0]], strlen(base[counts[0]]) };
	for (; head[counts[1]]; counts[1]++)
		texts[1][counts[1]] = (struct align_text){ head[counts[1]], strlen(head[counts[1]]) };
	align_pair(texts[0], counts[0], texts[1], counts[1], pair);
	for (size_t i = 0; i < counts[0]; i++)
		found[i] = pair[i] == NO_LINE ? '-' : (char)('0' + pair[i]);
	assert_string_equal(found, expected);
}

#define LINES(...)                                                                                                     \
	(const char *const[])                                                                                          \
	{                                                                                                              \
		__VA_ARGS__, NULL                                                                                      \
	}

static void replaced_lines_stand_opposite_the_likest(void **state)
{
	expect_pairs(LINES("if (fast_match(p + i))"), LINES("if (regexec(&re, p + i, 0, NULL, 0) == 0)"), "0");
	expect_pairs(LINES("	x = parse(a);"), LINES("	check(a);", "	x = parse(a, 1);"), "1");
	expect_pairs(LINES("a();", "	x = parse(a);", "}"), LINES("	x = parse(a, 1);"), "-0-");
	expect_pairs(LINES("return one;", "return two;"), LINES("return two_of_them;", "return;"), "01");
	expect_pairs(LINES("a", "b", "c"), LINES("x", "y", "z"), "012");
	expect_pairs(LINES("a"), (const char *const[]){ NULL }, "-");
}

static void without_memory_the_process_ends(void **state)
{
	uint32_t base[] = { 0, 1, 2, 3, 1, 1, 4 }, head[] = { 0, 3, 2, 1, 5, 1, 4 }, match[7];

	struct error err;

	while (failing_malloc_in_child())
		failing_malloc_end(
			align_lines(&(struct align_side){ base, 7 }, &(struct align_side){ head, 7 }, 6, match, &err),
			&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_aligned_as_people_see_them),
		cmocka_unit_test(alignments_are_right_and_nearly_the_longest),
		cmocka_unit_test(long_functions_take_no_longer_than_their_lines),
		cmocka_unit_test(real_files_change_in_no_more_lines_than_git_says),
		cmocka_unit_test(replaced_lines_stand_opposite_the_likest),
		cmocka_unit_test(without_memory_the_process_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
