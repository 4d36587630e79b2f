/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page's block of functions line by line: where their texts are from, and the rows with texts and times. */
#include "render/lines.h"
#include "render/page_data.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * The most bytes of one side: what a page holds of texts beside everything else. The functions come in the order of the
 * diff, so those that changed most have theirs.
 */
static const size_t max_text_bytes = (size_t)2 << 20;
enum { ROW_IS_CHANGED = 1 << 3, ROW_IS_GAP = 1 << 4 };
_Static_assert(DIFF_STATE_COUNT <= (int)ROW_IS_CHANGED, "three bits tell a state");

/* Strings, each once, numbered from 1 in the order of first use; 0 is none. */
struct page_texts {
	uint32_t *numbers; /* [string id of the listing]; owned */
	size_t count;
	struct buffer bytes; /* UTF-8, with a NUL behind each */
};

/* The state while lines are written. Rows are those of all functions, one function after the other. */
struct page_lines {
	const struct render_input *input;
	const struct listing *listing; /* of it */
	size_t first_side;
	struct page_texts texts;
	bool *is_cut[DIFF_SIDES]; /* [function] its text has no room; owned */
};

static void page_lines_deinit(struct page_lines *lines)
{
	free(lines->texts.numbers);
	buffer_deinit(&lines->texts.bytes);
	for (size_t side = 0; side < DIFF_SIDES; side++)
		free(lines->is_cut[side]);
}

static void page_lines_init(struct page_lines *lines, const struct render_input *input)
{
	const struct listing *listing = input->listing;
	bool ok = true;

	*lines = (struct page_lines){
		.input = input, .listing = listing, .first_side = input->diff->sides == 1 ? DIFF_HEAD : DIFF_BASE
	};
	buffer_init(&lines->texts.bytes, (size_t)1 << 30);
	lines->texts.numbers = memory_zeroed((size_t)string_table_count(listing->strings) + 1, sizeof(uint32_t));
	for (size_t side = 0; side < DIFF_SIDES; side++) {
		lines->is_cut[side] = memory_zeroed(listing->function_count + 1, sizeof(bool));
		ok = ok && lines->is_cut[side];
	}
}

/* ---- Strings ---- */

static void page_lines_append_text(struct page_texts *texts, const char *text)
{
	page_data_append_utf8(&texts->bytes, text);
	buffer_append_byte(&texts->bytes, 0);
	texts->count++;
}

/* Returns the number of words that are no string of the listing; they are few. */
static uint32_t words_number(struct page_texts *texts, const char *words)
{
	page_lines_append_text(texts, words);
	return (uint32_t)texts->count;
}

static uint32_t page_lines_text_number(struct page_lines *lines, uint32_t string)
{
	struct page_texts *texts = &lines->texts;

	if (string == 0)
		return 0;
	if (!texts->numbers[string]) {
		page_lines_append_text(texts, listing_string(lines->listing, string));
		texts->numbers[string] = (uint32_t)texts->count;
	}
	return texts->numbers[string];
}

/* Finds the functions whose text on a side has no room any more. */
static void cut_texts(struct page_lines *lines, size_t side)
{
	size_t bytes = 0;

	for (size_t i = 0; i < lines->listing->function_count; i++) {
		const struct listing_function *f = &lines->listing->functions[i];
		size_t more = 0;

		for (size_t row = 0; row < f->row_count; row++)
			if (f->rows[row].text[side])
				more += strlen(listing_string(lines->listing, f->rows[row].text[side])) + 1;
		lines->is_cut[side][i] = bytes + more > max_text_bytes;
		bytes += lines->is_cut[side][i] ? 0 : more;
	}
}

/* ---- Functions ---- */

static void page_lines_append_place(struct buffer *out, struct page_lines *lines, size_t function, size_t side)
{
	const struct listing_function *listed = &lines->input->listing->functions[function];
	const struct listing_text *text = &listed->text[side];
	CLEANUP(buffer_deinit) struct buffer words = { 0 };

	buffer_init(&words, max_text_bytes);
	lines_append_place(lines->input, listed, (enum diff_side)side, &words);
	out->failed = out->failed || words.failed;
	buffer_append_byte(out, text->place != LISTING_NOWHERE);
	buffer_append_varint(out, words_number(&lines->texts, words.data ? words.data : ""));
	buffer_append_varint(out, page_lines_text_number(lines, text->file));
	buffer_append_varint(out, text->first_line);
	buffer_append_varint(out, text->last_line);
	buffer_append_byte(out, lines->is_cut[side][function]);
}

static void page_lines_append_functions(struct buffer *out, struct page_lines *lines)
{
	const struct listing *listing = lines->listing;

	buffer_append_varint(out, listing->function_count);
	for (size_t side = lines->first_side; side < DIFF_SIDES; side++)
		buffer_append_byte(out, listing->is_precise[side]);
	for (size_t i = 0; i < listing->function_count; i++) {
		const struct listing_function *f = &listing->functions[i];

		buffer_append_varint(out, f->function);
		for (size_t side = lines->first_side; side < DIFF_SIDES; side++)
			page_lines_append_place(out, lines, i, side);
		buffer_append_varint(out, f->row_count);
		buffer_append_varint(out, f->elsewhere_count);
	}
}

/* ---- Columns of rows ---- */

/* The number after the step from the last line of the function that there was; 0: no line. */
static void page_lines_append_lines(struct buffer *out, const struct page_lines *lines, size_t side)
{
	for (size_t i = 0; i < lines->listing->function_count; i++) {
		const struct listing_function *f = &lines->listing->functions[i];
		int64_t last = 0;

		for (size_t row = 0; row < f->row_count; row++) {
			int64_t line = f->rows[row].line[side], step = line - last;

			buffer_append_varint(out, line ? (((uint64_t)step << 1) ^ (uint64_t)(step >> 63)) + 1 : 0);
			last = line ? line : last;
		}
	}
}

static void append_row_texts(struct buffer *out, struct page_lines *lines, size_t side)
{
	for (size_t i = 0; i < lines->listing->function_count; i++)
		for (size_t row = 0; row < lines->listing->functions[i].row_count; row++)
			buffer_append_varint(out, lines->is_cut[side][i]
							  ? 0
							  : page_lines_text_number(lines,
								    lines->listing->functions[i].rows[row].text[side]));
}

static void append_files_and_flags(struct buffer *out, struct page_lines *lines)
{
	const struct listing *listing = lines->listing;

	for (size_t i = 0; i < listing->function_count; i++)
		for (size_t row = 0; row < listing->functions[i].row_count; row++)
			buffer_append_varint(out, page_lines_text_number(lines, listing->functions[i].rows[row].file));
	for (size_t i = 0; i < listing->function_count; i++)
		for (size_t row = 0; row < listing->functions[i].row_count; row++) {
			const struct listing_row *r = &listing->functions[i].rows[row];

			buffer_append_byte(
				out, (uint8_t)((unsigned int)r->total.state | (r->is_changed ? ROW_IS_CHANGED : 0) |
					       (r->is_gap ? ROW_IS_GAP : 0)));
		}
}

/* Appends a column of one double of each row. */
static void append_doubles(struct buffer *out, const struct page_lines *lines, size_t offset)
{
	for (size_t i = 0; i < lines->listing->function_count; i++)
		for (size_t row = 0; row < lines->listing->functions[i].row_count; row++) {
			uint64_t bits;

			memcpy(&bits, (const char *)&lines->listing->functions[i].rows[row] + offset, sizeof(bits));
			for (int shift = 0; shift < 64; shift += 8)
				buffer_append_byte(out, (uint8_t)(bits >> shift));
		}
}

static void page_lines_append_rows(struct buffer *out, struct page_lines *lines)
{
	static const size_t times[] = { offsetof(struct listing_time, self), offsetof(struct listing_time, inlined),
		offsetof(struct listing_time, total) };
	static const size_t estimates[] = { offsetof(struct listing_row, total.ci_low),
		offsetof(struct listing_row, total.ci_high) };

	for (size_t side = lines->first_side; side < DIFF_SIDES; side++)
		page_lines_append_lines(out, lines, side);
	for (size_t side = lines->first_side; side < DIFF_SIDES; side++)
		append_row_texts(out, lines, side);
	append_files_and_flags(out, lines);
	for (size_t side = lines->first_side; side < DIFF_SIDES; side++)
		for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
			append_doubles(out, lines,
				offsetof(struct listing_row, time) + side * sizeof(struct listing_time) + times[i]);
	for (size_t i = 0; lines->first_side == DIFF_BASE && i < sizeof(estimates) / sizeof(estimates[0]); i++)
		append_doubles(out, lines, estimates[i]);
}

bool page_data_has_lines(const struct render_input *input)
{
	return input->listing && input->listing->function_count > 0;
}

bool page_data_lines(const struct render_input *input, struct buffer *out, struct error *err)
{
	CLEANUP(page_lines_deinit) struct page_lines lines = { 0 };

	page_lines_init(&lines, input);
	for (size_t side = lines.first_side; side < DIFF_SIDES; side++)
		cut_texts(&lines, side);
	page_lines_append_functions(out, &lines);
	page_lines_append_rows(out, &lines);
	if (!buffer_ok(&lines.texts.bytes, err))
		return false;
	buffer_append_varint(out, lines.texts.count);
	buffer_append_varint(out, lines.texts.bytes.size);
	if (lines.texts.bytes.size > 0)
		buffer_append(out, lines.texts.bytes.data, lines.texts.bytes.size);
	return buffer_ok(out, err);
}
