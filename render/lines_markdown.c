/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the lines of the functions that are proven to differ into a comment: as fenced diffs with times. */
#include "render/document.h"
#include "render/format.h"
#include "render/lines.h"
#include "render/summary.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FUNCTIONS = 3, MOST_LINES = 40, TEXT_COLUMNS = 110, SHARE_COLUMNS = 7, CONTEXT = 1 };

static void lines_markdown_append_share(struct buffer *out, double value, double total, bool is_known)
{
	struct format_text share = format_percent(format_share(value, total));

	buffer_printf(out, "%*s ", SHARE_COLUMNS, !is_known || !(value > 0) ? "." : share.text);
}

/* "-   1.2 %       .     if (fast_match(p + i)) break;" */
static void lines_markdown_append_part(
	const struct render_input *input, const struct lines_part *part, struct buffer *out)
{
	const struct listing_time *times = part->row->time;
	const char *mark = part->has_change ? lines_mark(part->row) : "";

	buffer_append_byte(out, (uint8_t)part->sign);
	lines_markdown_append_share(out, times[DIFF_BASE].total, input->diff->total.base, part->has[DIFF_BASE]);
	lines_markdown_append_share(out, times[DIFF_HEAD].total, input->diff->total.head, part->has[DIFF_HEAD]);
	buffer_printf(out, "%s ", mark[0] ? mark : " ");
	lines_append_source(out, lines_part_text(input->listing, part), TEXT_COLUMNS);
	while (!out->failed && out->size > 0 && out->data[out->size - 1] == ' ')
		out->size--;
	buffer_append_byte(out, '\n');
}

/* Rows that are proven to differ, those that were changed beside them, and a row around each. */
static void mark_rows(const struct listing_function *listed, bool *wanted)
{
	size_t count = listed->row_count;

	memset(wanted, false, count);
	for (size_t i = 0; i < count; i++) {
		const struct listing_row *row = &listed->rows[i];
		bool has_time = row->time[DIFF_BASE].total > 0 || row->time[DIFF_HEAD].total > 0;

		if (row->is_gap || (!diff_state_is_difference(row->total.state) && !(row->is_changed && has_time)))
			continue;
		for (size_t at = i < CONTEXT ? 0 : i - CONTEXT; at <= i + CONTEXT && at < count; at++)
			wanted[at] |= !listed->rows[at].is_gap;
		for (size_t at = i; at-- > 0 && listed->rows[at].is_changed && i - at < MOST_LINES / 4;)
			wanted[at] = true;
		for (size_t at = i + 1; at < count && listed->rows[at].is_changed && at - i < MOST_LINES / 4; at++)
			wanted[at] = true;
	}
}

static void lines_markdown_append_rows(
	const struct render_input *input, const struct listing_function *listed, struct buffer *out)
{
	CLEANUP(cleanup_free) bool *wanted = memory_alloc(listed->row_count + 1);
	size_t lines = 0;
	bool is_open = false; /* a gap is still to be marked */

	if (!wanted) {
		out->failed = true;
		return;
	}
	mark_rows(listed, wanted);
	for (size_t i = 0; i < listed->row_count; i++) {
		struct lines_part parts[DIFF_SIDES];
		size_t count;

		if (!wanted[i]) {
			is_open = true;
			continue;
		}
		if (lines >= MOST_LINES) {
			is_open = true;
			break;
		}
		if (is_open && lines > 0)
			buffer_append_string(out, " …\n");
		is_open = false;
		count = lines_split(input->diff, &listed->rows[i], parts);
		for (size_t part = 0; part < count; part++, lines++)
			lines_markdown_append_part(input, &parts[part], out);
	}
	if (is_open)
		buffer_append_string(out, " …\n");
}

/* Appends where the head's text is, else base's: "`parse` in src/http.c, lines 38 to 52; kept by the recording, …" */
static void append_heading(
	const struct render_input *input, const struct listing_function *listed, struct buffer *words)
{
	enum diff_side side = listed->text[DIFF_HEAD].place != LISTING_NOWHERE ? DIFF_HEAD : DIFF_BASE;
	const struct listing_text *text = &listed->text[side];
	const char *file = listing_string(input->listing, text->file), *slash = strrchr(file, '/');

	document_name(words, diff_string(input->diff, input->diff->functions[listed->function].shown));
	buffer_printf(words, " (%s:%u", slash ? slash + 1 : file, text->first_line);
	for (int at = 0; at < DIFF_SIDES; at++) {
		if (listed->text[at].first_line == 0)
			continue;
		buffer_printf(words, "; %s: ", diff_side_name(at));
		lines_append_place(input, listed, (enum diff_side)at, words);
	}
	buffer_append_string(words, ")");
}

void lines_markdown(struct document *d)
{
	const struct listing_function *found[MOST_FUNCTIONS];
	size_t count = d->diff->sides == DIFF_SIDES ? lines_proven(d->input, found, MOST_FUNCTIONS) : 0;

	if (count == 0)
		return;
	document_put(d, DOCUMENT_PARAGRAPH,
		DOCUMENT_BOLD
		"Lines that changed" DOCUMENT_BOLD
		" (base and head: the line with all that it calls, in percent of the total; ▲ ▼: proven)");
	for (size_t i = 0; i < count; i++) {
		CLEANUP(buffer_deinit) struct buffer rows = { 0 };

		buffer_init(&rows, DOCUMENT_MAX_BYTES);
		lines_markdown_append_rows(d->input, found[i], &rows);
		append_heading(d->input, found[i], &d->words);
		document_put(d, DOCUMENT_PARAGRAPH, "");
		d->out->failed |= rows.failed;
		if (rows.data)
			document_code(d, "diff", rows.data);
	}
	if (lines_are_imprecise(d->input))
		document_put(d, DOCUMENT_PARAGRAPH, lines_imprecise_words);
}
