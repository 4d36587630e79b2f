/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words and choices of listings that text, JSON and Markdown share. */
#include "render/lines.h"

#include "render/summary.h"

#include <math.h>
#include <string.h>

enum { TAB_COLUMNS = 4 };

const char lines_imprecise_words[] =
	"± one line: samples have no precise addresses, so a line may have time of the one before it.";

bool lines_are_asked(const struct render_input *input)
{
	for (size_t i = 0; input->listing && i < input->listing->function_count; i++)
		if (input->listing->functions[i].is_named)
			return true;
	return false;
}

void lines_append_place(const struct render_input *input, const struct listing_function *listed, enum diff_side side,
	struct buffer *out)
{
	const struct listing_text *text = &listed->text[side];
	const char *revision = listing_string(input->listing, input->listing->revision[side]);

	if (text->place == LISTING_NOWHERE) {
		buffer_append_string(out, text->first_line ? "its text was not found" : "no lines are known");
		return;
	}
	buffer_append_string(out, listing_place_words(text->place));
	if (text->place == LISTING_REVISION && revision[0])
		buffer_printf(out, " at %s", revision);
	buffer_printf(out, ", %s", profile_source_proof_words(text->proof));
}

bool lines_are_imprecise(const struct render_input *input)
{
	return !input->listing->is_precise[DIFF_HEAD] ||
	       (input->diff->sides == DIFF_SIDES && !input->listing->is_precise[DIFF_BASE]);
}

void lines_append_left_out(const struct render_input *input, struct buffer *out)
{
	size_t count = input->listing->left_out;

	if (count > 0)
		buffer_printf(out,
			"%zu more function%s match%s; the first %d, with the most time, are listed. Narrow the expression to see others.",
			count, count == 1 ? "" : "s", count == 1 ? "es" : "", LISTING_MOST_FUNCTIONS);
}

const char *lines_mark(const struct listing_row *row)
{
	if (!diff_state_is_difference(row->total.state))
		return "";
	return row->total.delta > 0 ? "▲" : "▼";
}

size_t lines_split(const struct diff *diff, const struct listing_row *row, struct lines_part parts[DIFF_SIDES])
{
	bool has_base = row->line[DIFF_BASE] > 0, has_head = row->line[DIFF_HEAD] > 0;

	if (diff->sides != DIFF_SIDES || !row->is_changed) {
		parts[0] = (struct lines_part){ row, { has_base, has_head }, ' ', true };
		return 1;
	}
	if (!has_base || !has_head) {
		parts[0] = (struct lines_part){ row, { has_base, has_head }, has_base ? '-' : '+', true };
		return 1;
	}
	/* What was saved is told beside the line that took the time. */
	parts[0] = (struct lines_part){ row, { true, false }, '-', row->total.delta < 0 };
	parts[1] = (struct lines_part){ row, { false, true }, '+', !(row->total.delta < 0) };
	return 2;
}

const char *lines_part_text(const struct listing *listing, const struct lines_part *part)
{
	const uint32_t *texts = part->row->text;

	/* Of one line on both sides, either has the text. */
	return listing_string(listing, part->has[DIFF_HEAD] && texts[DIFF_HEAD] ? texts[DIFF_HEAD]
				       : part->has[DIFF_BASE]                   ? texts[DIFF_BASE]
										: 0);
}

static size_t columns_of(uint32_t code, size_t column)
{
	return code == '\t' ? TAB_COLUMNS - column % TAB_COLUMNS : unicode_width(unicode_clean(code));
}

static bool render_lines_fits(const char *text, size_t width)
{
	size_t column = 0;

	while (*text && column <= width)
		column += columns_of(unicode_next(&text), column);
	return column <= width;
}

void lines_append_source(struct buffer *out, const char *text, size_t width)
{
	bool is_whole = render_lines_fits(text, width);
	size_t column = 0;

	while (*text) {
		uint32_t code = unicode_next(&text);
		size_t columns = columns_of(code, column);

		if (!is_whole && column + columns + 1 > width) {
			unicode_append(out, 0x2026);
			return;
		}
		for (size_t i = 0; code == '\t' && i < columns; i++)
			buffer_append_byte(out, ' ');
		if (code != '\t')
			unicode_append(out, unicode_clean(code));
		column += columns;
	}
}

/* ---- Proven functions ---- */

static bool has_shown_change(const struct listing_function *listed)
{
	for (size_t i = 0; i < listed->row_count; i++)
		if (diff_state_is_difference(listed->rows[i].total.state))
			return true;
	return false;
}

static bool render_lines_has_text(const struct listing_function *listed)
{
	return listed->text[DIFF_BASE].place != LISTING_NOWHERE || listed->text[DIFF_HEAD].place != LISTING_NOWHERE;
}

/*
 * Returns whether a function changed by itself, or is what the verdict names: callers of others have no lines to show.
 */
static bool is_of_lines(const struct diff *diff, const struct listing_function *listed)
{
	return diff_state_is_difference(diff->functions[listed->function].self.state) ||
	       listed->function == diff->cause.function;
}

/* Returns whether a function comes before another one. */
static bool render_lines_is_before(
	const struct diff *diff, const struct listing_function *a, const struct listing_function *b)
{
	const struct diff_function *f = &diff->functions[a->function], *g = &diff->functions[b->function];

	if (a->function == diff->cause.function || b->function == diff->cause.function)
		return a->function == diff->cause.function;
	return fabs(f->self.delta) > fabs(g->self.delta);
}

size_t lines_proven(const struct render_input *input, const struct listing_function **found, size_t most)
{
	const struct listing *listing = input->listing;
	size_t count = 0;

	for (size_t i = 0; listing && i < listing->function_count; i++) {
		const struct listing_function *listed = &listing->functions[i];
		size_t at = count;

		if (!render_lines_has_text(listed) || !has_shown_change(listed) || !is_of_lines(input->diff, listed))
			continue;
		for (; at > 0 && render_lines_is_before(input->diff, listed, found[at - 1]); at--)
			if (at < most)
				found[at] = found[at - 1];
		if (at < most)
			found[at] = listed;
		count += count < most;
	}
	return count;
}
