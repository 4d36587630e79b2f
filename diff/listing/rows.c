/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the rows of a function: its lines of both sides aligned, with their time, less what nobody wants to see. */
#include "diff/listing/align.h"
#include "diff/listing/lister.h"

#include <math.h>
#include <string.h>

/* Rows on both sides of one with time, or of a change, that are shown; and a gap stands for no fewer than that. */
enum { CONTEXT = 2, LEAST_GAP = 2 };

static const size_t most_text_bytes = (size_t)1 << 30;

bool lister_add_row(struct listing_function *listed, size_t *capacity, struct listing_row **row, struct error *err)
{
	if (!ARRAY_RESERVE(&listed->rows, capacity, listed->row_count + 1, 3 * (size_t)LISTING_MOST_ROWS, err))
		return false;
	*row = &listed->rows[listed->row_count++];
	**row = (struct listing_row){ 0 };
	return true;
}

void lister_add_time(struct lister *lister, enum diff_side side, uint32_t place, struct listing_row *row, size_t number)
{
	const struct diff_place *from = &lister->places[side].lines->places[place];
	struct listing_time *time = &row->time[side];

	time->self += from->self;
	time->inlined += from->inlined;
	time->total += from->total;
	time->samples += from->samples;
	lister->places[side].rows[place] = (uint32_t)number;
}

/* ---- Alignment ---- */

/* Numbers lines by their text; one without a text is like no other. */
static bool number_texts(
	const struct lister_side *side, struct string_table *texts, uint32_t *numbers, size_t *next, struct error *err)
{
	for (size_t i = 0; i < side->count; i++) {
		const struct text_line *line = text_line_at(&side->source->text, side->numbers[i]);

		numbers[i] = UINT32_MAX;
		if (line && !string_table_add(texts, line->text, line->size, &numbers[i], err))
			return false;
		*next += !line;
	}
	return true;
}

static void number_rest(uint32_t *numbers, size_t count, size_t *next)
{
	for (size_t i = 0; i < count; i++)
		if (numbers[i] == UINT32_MAX)
			numbers[i] = (uint32_t)(*next)++;
}

static bool match_texts(const struct lister_side sides[DIFF_SIDES], uint32_t *match, struct error *err)
{
	const struct lister_side *base = &sides[DIFF_BASE], *head = &sides[DIFF_HEAD];
	CLEANUP(cleanup_free) uint32_t *of_base = memory_alloc((base->count + 1) * sizeof(*of_base));
	CLEANUP(cleanup_free) uint32_t *of_head = memory_alloc((head->count + 1) * sizeof(*of_head));
	struct string_table *texts = NULL;
	size_t unknown = 0, next;
	bool done;

	texts = string_table_begin(most_text_bytes);
	done = number_texts(base, texts, of_base, &unknown, err) && number_texts(head, texts, of_head, &unknown, err);
	if (done) {
		next = string_table_count(texts);
		number_rest(of_base, base->count, &next);
		number_rest(of_head, head->count, &next);
		done = align_lines(&(struct align_side){ of_base, base->count },
			&(struct align_side){ of_head, head->count }, next, match, err);
	}
	string_table_destroy(texts);
	return done;
}

/* Returns how far a line is from the definition of its function, or from its first line. */
static int64_t listing_rows_distance(const struct lister_side *side, size_t line)
{
	return (int64_t)side->numbers[line] - (side->definition ? side->definition : side->numbers[0]);
}

static void match_distances(const struct lister_side sides[DIFF_SIDES], uint32_t *match)
{
	const struct lister_side *base = &sides[DIFF_BASE], *head = &sides[DIFF_HEAD];
	size_t j = 0;

	for (size_t i = 0; i < base->count; i++) {
		while (j < head->count && listing_rows_distance(head, j) < listing_rows_distance(base, i))
			j++;
		match[i] = j < head->count && listing_rows_distance(head, j) == listing_rows_distance(base, i)
				   ? (uint32_t)j
				   : UINT32_MAX;
	}
}

/* ---- Rows ---- */

struct listing_rows {
	struct lister *lister;
	struct listing_function *listed;
	struct lister_side sides[DIFF_SIDES];
	size_t capacity;
	bool has_texts; /* on all sides that have lines */
};

static void rows_deinit(struct listing_rows *rows)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		lister_side_deinit(&rows->sides[side]);
}

/* Appends a row of one line of each side; SIZE_MAX: of none. */
static bool listing_rows_add_row(struct listing_rows *rows, size_t base, size_t head, bool is_equal, struct error *err)
{
	const size_t lines[DIFF_SIDES] = { base, head };
	struct string_table *strings = rows->lister->listing->strings;
	struct listing_row *row;

	if (!lister_add_row(rows->listed, &rows->capacity, &row, err))
		return false;
	for (int i = 0; i < DIFF_SIDES; i++) {
		struct lister_side *side = &rows->sides[i];
		const struct text_line *text;

		if (lines[i] == SIZE_MAX)
			continue;
		row->line[i] = side->numbers[lines[i]];
		side->rows[lines[i]] = (uint32_t)(rows->listed->row_count - 1);
		text = side->source ? text_line_at(&side->source->text, row->line[i]) : NULL;
		if (text && !text_intern_shown(strings, text, lister_line_bytes(rows->lister), &row->text[i], err))
			return false;
	}
	/* What only one side can show is no change of the text. */
	row->is_changed = rows->lister->diff->sides == DIFF_SIDES && rows->has_texts && !is_equal;
	return true;
}

static struct align_text shown_text(const struct lister_side *side, size_t line)
{
	const struct text_line *text = side->source ? text_line_at(&side->source->text, side->numbers[line]) : NULL;

	return text ? (struct align_text){ text->text, text->size } : (struct align_text){ "", 0 };
}

/* Appends lines that were replaced, opposite each other. */
static bool add_hunk(
	struct listing_rows *rows, const size_t from[DIFF_SIDES], const size_t to[DIFF_SIDES], struct error *err)
{
	size_t counts[DIFF_SIDES] = { to[DIFF_BASE] - from[DIFF_BASE], to[DIFF_HEAD] - from[DIFF_HEAD] };
	CLEANUP(cleanup_free)
	struct align_text *texts = memory_alloc((counts[DIFF_BASE] + counts[DIFF_HEAD] + 1) * sizeof(*texts));
	CLEANUP(cleanup_free) uint32_t *pair = memory_alloc((counts[DIFF_BASE] + 1) * sizeof(*pair));
	size_t head = from[DIFF_HEAD];

	for (size_t i = 0; i < counts[DIFF_BASE] + counts[DIFF_HEAD]; i++)
		texts[i] = i < counts[DIFF_BASE]
				   ? shown_text(&rows->sides[DIFF_BASE], from[DIFF_BASE] + i)
				   : shown_text(&rows->sides[DIFF_HEAD], from[DIFF_HEAD] + i - counts[DIFF_BASE]);
	/* Without texts, lines that have no partner by their distance have none. */
	memset(pair, 0xff, counts[DIFF_BASE] * sizeof(*pair));
	if (rows->has_texts)
		align_pair(texts, counts[DIFF_BASE], texts + counts[DIFF_BASE], counts[DIFF_HEAD], pair);
	for (size_t i = 0; i < counts[DIFF_BASE]; i++) {
		size_t partner = pair[i] == UINT32_MAX ? SIZE_MAX : from[DIFF_HEAD] + pair[i];

		for (; partner != SIZE_MAX && head < partner; head++)
			if (!listing_rows_add_row(rows, SIZE_MAX, head, false, err))
				return false;
		head += partner != SIZE_MAX;
		if (!listing_rows_add_row(rows, from[DIFF_BASE] + i, partner, false, err))
			return false;
	}
	for (; head < to[DIFF_HEAD]; head++)
		if (!listing_rows_add_row(rows, SIZE_MAX, head, false, err))
			return false;
	return true;
}

static bool listing_rows_add_rows(struct listing_rows *rows, const uint32_t *match, struct error *err)
{
	size_t from[DIFF_SIDES] = { 0, 0 }, counts[DIFF_SIDES];

	for (int side = 0; side < DIFF_SIDES; side++)
		counts[side] = rows->sides[side].count;
	for (size_t i = 0; i < counts[DIFF_BASE]; i++) {
		if (match[i] == UINT32_MAX)
			continue;
		if (!add_hunk(rows, from, (const size_t[]){ i, match[i] }, err) ||
			!listing_rows_add_row(rows, i, match[i], true, err))
			return false;
		from[DIFF_BASE] = i + 1;
		from[DIFF_HEAD] = match[i] + 1;
	}
	return add_hunk(rows, from, counts, err);
}

/* Places are in order of lines, and so are the lines. */
static void listing_rows_add_times(struct listing_rows *rows, enum diff_side number)
{
	struct lister_side *side = &rows->sides[number];
	size_t line = 0;

	for (size_t i = 0; i < side->place_count; i++) {
		uint32_t place = side->places[i];
		uint32_t at = rows->lister->places[number].lines->places[place].line;

		while (line < side->count && side->numbers[line] < at)
			line++;
		if (line == side->count || side->numbers[line] != at)
			continue;
		lister_add_time(rows->lister, number, place, &rows->listed->rows[side->rows[line]], side->rows[line]);
	}
}

/* ---- Gaps ---- */

static bool is_of_use(const struct listing_row *row)
{
	return row->is_changed || row->time[DIFF_BASE].total > 0 || row->time[DIFF_HEAD].total > 0;
}

void listing_mark_shown(const struct listing_function *listed, bool *shown)
{
	size_t count = listed->row_count;

	for (size_t i = 0, last = SIZE_MAX; i < count; i++) {
		last = is_of_use(&listed->rows[i]) ? i : last;
		/* The first row is the definition. */
		shown[i] = i == 0 || listed->rows[i].is_gap || (last != SIZE_MAX && i - last <= CONTEXT);
	}
	for (size_t i = count, next = SIZE_MAX; i-- > 0;) {
		next = is_of_use(&listed->rows[i]) ? i : next;
		shown[i] |= next != SIZE_MAX && next - i <= CONTEXT;
	}
	for (size_t i = 0, end; i < count; i = end + 1) {
		for (end = i; end < count && !shown[end];)
			end++;
		if (end - i < LEAST_GAP)
			memset(shown + i, true, end - i);
	}
}

/* Replaces rows that do not stay by gaps; moved[row]: where it is then. */
static void fold(struct listing_function *listed, const bool *kept, uint32_t *moved)
{
	size_t count = 0;

	for (size_t i = 0; i < listed->row_count; i++) {
		if (kept[i]) {
			listed->rows[count] = listed->rows[i];
			moved[i] = (uint32_t)count++;
		} else if (i == 0 || kept[i - 1]) {
			listed->rows[count++] = (struct listing_row){ .is_gap = true };
		}
	}
	listed->row_count = count;
}

static void fold_rows(struct listing_rows *rows)
{
	struct listing_function *listed = rows->listed;
	CLEANUP(cleanup_free) bool *kept = memory_zeroed(listed->row_count + 1, sizeof(*kept));
	CLEANUP(cleanup_free) uint32_t *moved = memory_alloc((listed->row_count + 1) * sizeof(*moved));

	listing_mark_shown(listed, kept);
	fold(listed, kept, moved);
	for (int side = 0; side < DIFF_SIDES; side++)
		for (size_t i = 0; i < rows->sides[side].place_count; i++) {
			uint32_t *row = &rows->lister->places[side].rows[rows->sides[side].places[i]];

			*row = *row == PROFILE_NONE ? PROFILE_NONE : moved[*row];
		}
}

/* ---- All of it ---- */

/* Rows are counted over all functions, from here on. */
static void renumber(struct listing_rows *rows)
{
	struct lister *lister = rows->lister;

	for (int side = 0; side < DIFF_SIDES; side++)
		for (size_t i = 0; i < rows->sides[side].place_count; i++) {
			uint32_t *row = &lister->places[side].rows[rows->sides[side].places[i]];

			*row += *row == PROFILE_NONE ? 0 : (uint32_t)lister->row_count;
		}
}

/* Totals of a row are compared as those of a function; what is proven of them is judged later. */
static void listing_rows_estimate(const struct lister *lister, struct listing_row *row)
{
	row->total = (struct diff_estimate){
		.base = row->time[DIFF_BASE].total,
		.head = row->time[DIFF_HEAD].total,
		.delta = row->time[DIFF_HEAD].total - row->time[DIFF_BASE].total,
		.ci_low = NAN,
		.ci_high = NAN,
		.q = NAN,
		.detectable = NAN,
		.state = DIFF_STATE_SAME,
	};
	if (lister->diff->sides != DIFF_SIDES)
		row->time[DIFF_BASE].samples = NAN;
}

static bool match_lines(struct listing_rows *rows, uint32_t *match, struct error *err)
{
	const struct lister_side *base = &rows->sides[DIFF_BASE], *head = &rows->sides[DIFF_HEAD];

	rows->has_texts = (base->count == 0 || base->source) && (head->count == 0 || head->source);
	memset(match, 0xff, base->count * sizeof(*match));
	if (base->count == 0 || head->count == 0)
		return true;
	if (rows->has_texts)
		return match_texts(rows->sides, match, err);
	match_distances(rows->sides, match);
	return true;
}

bool lister_make_rows(struct lister *lister, struct listing_function *listed, struct error *err)
{
	CLEANUP(rows_deinit) struct listing_rows rows = { .lister = lister, .listed = listed };
	CLEANUP(cleanup_free) uint32_t *match = NULL;

	for (int side = (int)lister_first_side(lister); side < DIFF_SIDES; side++)
		if (!lister_side_find(lister, (enum diff_side)side, listed, &rows.sides[side], err))
			return false;
	match = memory_zeroed(rows.sides[DIFF_BASE].count + 1, sizeof(*match));
	if (!match_lines(&rows, match, err) || !listing_rows_add_rows(&rows, match, err))
		return false;
	for (int side = (int)lister_first_side(lister); side < DIFF_SIDES; side++)
		listing_rows_add_times(&rows, (enum diff_side)side);
	if (!lister->options->all_lines)
		fold_rows(&rows);
	renumber(&rows);
	if (!lister_add_elsewhere(lister, listed, rows.sides, &rows.capacity, err))
		return false;
	for (size_t i = 0; i < listed->row_count; i++)
		listing_rows_estimate(lister, &listed->rows[i]);
	lister->row_count += listed->row_count;
	return true;
}
