/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/page_data.h"
#include "report_fixture.h"
#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

/* ---- A listing made by hand ---- */

static uint32_t string_of(struct listing *listing, const char *text, size_t size)
{
	struct error err;
	uint32_t id;

	assert_true(string_table_add(listing->strings, text, size, &id, &err));
	return id;
}

/* One function a count of rows; each row is a line with the same text. */
static struct listing *listing_of(const size_t *rows, size_t count, const char *text, size_t size)
{
	struct listing *listing = calloc(1, sizeof(*listing));
	struct error err;

	assert_non_null(listing);
	assert_true(string_table_create((size_t)1 << 26, &listing->strings, &err));
	listing->functions = calloc(count, sizeof(*listing->functions));
	assert_non_null(listing->functions);
	listing->function_count = count;
	/* Of profiles without samples. */
	for (size_t side = 0; side < DIFF_SIDES; side++) {
		listing->lines[side] = calloc(1, sizeof(*listing->lines[side]));
		assert_non_null(listing->lines[side]);
	}
	for (size_t i = 0; i < count; i++) {
		struct listing_function *f = &listing->functions[i];

		*f = (struct listing_function){
			.function = (uint32_t)i, .rows = calloc(rows[i], sizeof(*f->rows)), .row_count = rows[i]
		};
		assert_non_null(f->rows);
		for (size_t side = 0; side < DIFF_SIDES; side++)
			f->text[side] = (struct listing_text){ LISTING_KEPT, PROFILE_SOURCE_MAY_DIFFER,
				string_of(listing, "a.c", 3), 1, (uint32_t)rows[i] };
		for (size_t row = 0; row < rows[i]; row++)
			f->rows[row] = (struct listing_row){ .line = { (uint32_t)row + 1, (uint32_t)row + 5 },
				.text = { 0, string_of(listing, text, size) },
				.time[DIFF_HEAD] = { 1, 2, 3, 4 },
				.total.state = DIFF_STATE_MORE,
				.is_changed = true };
	}
	return listing;
}

static struct buffer block_of(const struct listing *listing)
{
	struct fixture fixture = fixture_create(FIXTURE_SHOP);
	struct buffer out;
	struct error err;

	fixture.input.listing = listing;
	assert_true(page_data_has_lines(&fixture.input));
	buffer_init(&out, (size_t)1 << 30);
	assert_true(page_data_lines(&fixture.input, &out, &err));
	fixture_destroy(&fixture);
	return out;
}

/* ---- Reading it back, as the viewer does ---- */

static uint64_t number(const struct buffer *block, size_t *at)
{
	uint64_t value = 0;

	for (int shift = 0;; shift += 7) {
		uint8_t byte = (uint8_t)block->data[(*at)++];

		value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return value;
	}
}

/* Whether the text of each function has no room on a side, and where its rows begin. */
static size_t read_functions(const struct buffer *block, bool is_cut[][DIFF_SIDES], size_t *rows)
{
	size_t at = 0, count = number(block, &at);

	at += DIFF_SIDES;
	*rows = 0;
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(number(block, &at), i);
		for (size_t side = 0; side < DIFF_SIDES; side++) {
			assert_int_equal(block->data[at++], 1);
			assert_true(number(block, &at) > 0);
			assert_true(number(block, &at) > 0);
			number(block, &at);
			number(block, &at);
			is_cut[i][side] = block->data[at++];
		}
		*rows += number(block, &at);
		number(block, &at);
	}
	return at;
}

static void columns_have_all_rows(void **state)
{
	static const size_t rows[] = { 3, 2 };
	CLEANUP(listing_cleanup) struct listing *listing = listing_of(rows, 2, "int x;", 6);
	CLEANUP(buffer_deinit) struct buffer block = block_of(listing);
	bool is_cut[2][DIFF_SIDES];
	size_t count, at = read_functions(&block, is_cut, &count), text;

	assert_int_equal(count, 5);
	/* Lines of base: 1, then steps of 1; the second function begins anew. One more than a zigzag. */
	for (size_t i = 0; i < count; i++)
		assert_int_equal(number(&block, &at), 3);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(number(&block, &at), i == 0 || i == 3 ? 11 : 3);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(number(&block, &at), 0);
	text = number(&block, &at);
	assert_true(text > 0);
	for (size_t i = 1; i < count; i++)
		assert_int_equal(number(&block, &at), text);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(number(&block, &at), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal((uint8_t)block.data[at++], DIFF_STATE_MORE | 8);
	/* Self, inlined and total of base, then of head, and both ends of the interval. */
	for (size_t column = 0; column < 8; column++)
		for (size_t i = 0; i < count; i++, at += sizeof(double)) {
			double value;

			memcpy(&value, block.data + at, sizeof(value));
			assert_true(value == (column < 3 || column > 5 ? 0 : (double)column - 2));
		}
	assert_int_equal(number(&block, &at), 1 + 1 + 2 * DIFF_SIDES);
	count = number(&block, &at);
	assert_int_equal(count, block.size - at);
	(void)state;
}

/* 2 MB of a side are kept, those of the first functions: one that has no room leaves it to those behind it. */
static void texts_are_bounded(void **state)
{
	static const size_t rows[] = { 200, 200, 20 };
	CLEANUP(cleanup_free) char *text = malloc(10000);
	CLEANUP(listing_cleanup) struct listing *listing = NULL;
	CLEANUP(buffer_deinit) struct buffer block = { 0 };
	bool is_cut[3][DIFF_SIDES];
	size_t count;

	assert_non_null(text);
	memset(text, 'x', 10000);
	listing = listing_of(rows, 3, text, 7000);
	block = block_of(listing);
	read_functions(&block, is_cut, &count);
	assert_false(is_cut[0][DIFF_HEAD]);
	assert_true(is_cut[1][DIFF_HEAD]);
	assert_false(is_cut[2][DIFF_HEAD]);
	assert_false(is_cut[1][DIFF_BASE]);
	(void)state;
}

static void without_memory_the_process_ends(void **state)
{
	static const size_t rows[] = { 3, 2 };
	CLEANUP(listing_cleanup) struct listing *listing = listing_of(rows, 2, "int x;", 6);
	struct fixture fixture = fixture_create(FIXTURE_SHOP);
	bool (*const blocks[])(const struct render_input *, struct buffer *, struct error *) = { page_data_lines,
		page_data_line_stacks };

	fixture.input.listing = listing;
	for (size_t block = 0; block < sizeof(blocks) / sizeof(blocks[0]); block++) {
		struct buffer out;
		struct error err;

		buffer_init(&out, (size_t)1 << 30);
		while (failing_malloc_in_child())
			failing_malloc_end(blocks[block](&fixture.input, &out, &err), &err);
	}
	fixture_destroy(&fixture);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_have_all_rows),
		cmocka_unit_test(texts_are_bounded),
		cmocka_unit_test(without_memory_the_process_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
