/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes functions line by line as text: both versions aligned, with the share of each line. */
#include "render/document.h"
#include "render/format.h"
#include "render/lines.h"
#include "render/summary.h"

#include <stdlib.h>
#include <string.h>

enum { SHARE_COLUMNS = 8, CHANGE_COLUMNS = 8, LEAST_NUMBER_COLUMNS = 4, LEAST_TEXT_COLUMNS = 16 };

static const char nothing[] = ".";

/* A function as it is written. */
struct lines_writer {
	struct document *w;
	const struct listing *listing;
	const struct listing_function *listed;
	int numbers[DIFF_SIDES]; /* columns of the numbers of a side; 0: it has none */
	size_t text_width;
};

/* ---- What a function is ---- */

static void append_bounds(const struct listing *listing, const struct listing_text *text, struct buffer *out)
{
	const char *file = listing_string(listing, text->file);

	if (file[0])
		buffer_printf(out, "%s", file);
	if (text->first_line)
		buffer_printf(out, "%s%u to %u", file[0] ? ", lines " : "lines ", text->first_line, text->last_line);
	if (file[0] || text->first_line)
		buffer_append_string(out, ": ");
}

static void lines_text_put_side(const struct lines_writer *l, enum diff_side side, const char *label)
{
	struct buffer *words = &l->w->words;

	if (!(l->w->diff->functions[l->listed->function].raw_total[side] > 0))
		return;
	buffer_printf(words, "  %s", label);
	append_bounds(l->listing, &l->listed->text[side], words);
	lines_append_place(l->w->input, l->listed, side, words);
	document_put(l->w, DOCUMENT_INDENTED, ".");
}

/* Appends "+2.2 points (1.9 to 2.5), more". */
static void lines_text_append_change(const struct diff *diff, const struct diff_estimate *e, struct buffer *out)
{
	struct format_text points = format_points(summary_points(diff, e->delta));
	struct format_text interval =
		format_interval(summary_points(diff, e->ci_low), summary_points(diff, e->ci_high));

	buffer_printf(out, ", %s points", points.text);
	if (interval.text[0])
		buffer_printf(out, " (%s)", interval.text);
	buffer_printf(out, ", %s%s", diff_state_is_difference(e->state) ? "proven " : "", diff_state_name(e->state));
}

static void put_heading(const struct lines_writer *l)
{
	struct document *w = l->w;
	const struct diff_function *f = &w->diff->functions[l->listed->function];

	profile_shorten_name(diff_string(w->diff, f->shown), w->width > 60 ? w->width - 40 : 20, &w->words);
	if (w->diff->sides == DIFF_SIDES) {
		buffer_printf(&w->words, ": base %s, head %s",
			format_percent(format_share(f->total.base, w->diff->total.base)).text,
			format_percent(format_share(f->total.head, w->diff->total.head)).text);
		lines_text_append_change(w->diff, &f->total, &w->words);
	} else {
		buffer_printf(&w->words, ": %s, with all that it calls %s",
			format_percent(format_share(f->self.head, w->diff->total.head)).text,
			format_percent(format_share(f->total.head, w->diff->total.head)).text);
	}
	document_put(w, DOCUMENT_HEADING, "");
}

static void put_places(const struct lines_writer *l)
{
	const struct listing_text *base = &l->listed->text[DIFF_BASE], *head = &l->listed->text[DIFF_HEAD];

	if (l->w->diff->sides != DIFF_SIDES) {
		lines_text_put_side(l, DIFF_HEAD, "");
	} else if (base->place == head->place && base->proof == head->proof && base->file == head->file &&
		   base->first_line == head->first_line && base->last_line == head->last_line &&
		   l->listing->revision[DIFF_BASE] == l->listing->revision[DIFF_HEAD]) {
		lines_text_put_side(l, DIFF_HEAD, "base and head: ");
	} else {
		lines_text_put_side(l, DIFF_BASE, "base: ");
		lines_text_put_side(l, DIFF_HEAD, "head: ");
	}
}

/* ---- Rows ---- */

static void put_share(struct buffer *out, double value, double total, bool is_known)
{
	struct format_text share = format_percent(format_share(value, total));

	buffer_printf(out, "%*s  ", SHARE_COLUMNS, !is_known || !(value > 0) ? nothing : share.text);
}

static void lines_text_put_number(struct buffer *out, int columns, uint32_t line, bool is_known)
{
	if (columns == 0)
		return;
	if (is_known && line > 0)
		buffer_printf(out, "%*u ", columns, line);
	else
		buffer_printf(out, "%*s ", columns, "");
}

static void lines_text_put_change(const struct lines_writer *l, const struct lines_part *part, struct buffer *out)
{
	double points = summary_points(l->w->diff, part->row->total.delta);
	const char *mark = part->has_change ? lines_mark(part->row) : "";

	buffer_printf(out, "%*s %s ", CHANGE_COLUMNS,
		part->has_change && points != 0 ? format_points(points).text : nothing, mark[0] ? mark : " ");
}

static enum table_style style_of(const struct lines_part *part)
{
	if (!part->has_change || !diff_state_is_difference(part->row->total.state))
		return TABLE_PLAIN;
	return part->row->total.delta > 0 ? TABLE_RED : TABLE_BLUE;
}

static void trim_line(struct buffer *out)
{
	while (!out->failed && out->size > 0 && out->data[out->size - 1] == ' ')
		out->size--;
}

static void lines_text_put_part(const struct lines_writer *l, const struct lines_part *part)
{
	struct buffer *out = l->w->out;
	const struct diff *diff = l->w->diff;
	const struct listing_time *times = part->row->time;
	enum table_style style = style_of(part);

	buffer_append_string(out, table_style_on(style, l->w->colour));
	if (diff->sides == DIFF_SIDES) {
		put_share(out, times[DIFF_BASE].total, diff->total.base, part->has[DIFF_BASE]);
		put_share(out, times[DIFF_HEAD].total, diff->total.head, part->has[DIFF_HEAD]);
		lines_text_put_change(l, part, out);
	} else {
		put_share(out, times[DIFF_HEAD].self, diff->total.head, true);
		put_share(out, times[DIFF_HEAD].total, diff->total.head, true);
	}
	for (int side = 0; side < DIFF_SIDES; side++)
		lines_text_put_number(out, l->numbers[side], part->row->line[side], part->has[side]);
	if (diff->sides == DIFF_SIDES)
		buffer_printf(out, "%c ", part->sign);
	lines_append_source(out, lines_part_text(l->listing, part), l->text_width);
	trim_line(out);
	buffer_append_string(out, table_style_off(style, l->w->colour));
	buffer_append_byte(out, '\n');
}

static void put_columns(const struct lines_writer *l)
{
	struct buffer *out = l->w->out;
	bool has_two = l->w->diff->sides == DIFF_SIDES;

	buffer_append_string(out, table_style_on(TABLE_DIM, l->w->colour));
	buffer_printf(
		out, "%*s  %*s", SHARE_COLUMNS, has_two ? "base" : "self", SHARE_COLUMNS, has_two ? "head" : "total");
	if (has_two)
		buffer_printf(out, "  %*s", CHANGE_COLUMNS, "points");
	buffer_append_string(out, table_style_off(TABLE_DIM, l->w->colour));
	buffer_append_byte(out, '\n');
}

/* Measures how wide the numbers of lines are, and what is left for text. */
static void lines_text_measure(struct lines_writer *l)
{
	size_t used = 2 * (SHARE_COLUMNS + 2) + (l->w->diff->sides == DIFF_SIDES ? CHANGE_COLUMNS + 5 : 0);

	for (int side = 0; side < DIFF_SIDES; side++) {
		uint32_t most = 0;

		for (size_t i = 0; i < l->listed->row_count; i++)
			most = l->listed->rows[i].line[side] > most ? l->listed->rows[i].line[side] : most;
		l->numbers[side] = most > 0 ? snprintf(NULL, 0, "%u", most) : 0;
		if (most > 0 && l->numbers[side] < LEAST_NUMBER_COLUMNS)
			l->numbers[side] = LEAST_NUMBER_COLUMNS;
		used += l->numbers[side] > 0 ? (size_t)l->numbers[side] + 1 : 0;
	}
	l->text_width = used + LEAST_TEXT_COLUMNS < l->w->width ? l->w->width - used : LEAST_TEXT_COLUMNS;
}

/* Appends the file of the rows that follow, if they are not in that of the function. */
static void put_file(const struct lines_writer *l, const struct listing_row *row)
{
	buffer_printf(&l->w->words, "  in %s:", listing_string(l->listing, row->file));
	document_put(l->w, DOCUMENT_INDENTED, "");
}

/* ---- Instructions ---- */

/* Columns before the address, in that of a side stands the time. */
static void lines_text_put_time(const struct lines_writer *l, enum diff_side side, double time)
{
	const struct diff *diff = l->w->diff;
	bool has_two = diff->sides == DIFF_SIDES;
	int columns = has_two ? CHANGE_COLUMNS + 3 : 0;

	if (has_two && side == DIFF_HEAD)
		put_share(l->w->out, 0, 1, false);
	put_share(l->w->out, time, side == DIFF_BASE ? diff->total.base : diff->total.head, true);
	if (!has_two || side == DIFF_BASE)
		buffer_printf(l->w->out, "%*s  ", SHARE_COLUMNS, "");
	for (int i = 0; i < DIFF_SIDES; i++)
		columns += l->numbers[i] > 0 ? l->numbers[i] + 1 : 0;
	buffer_printf(l->w->out, "%*s", columns, "");
}

static void put_instruction(
	const struct lines_writer *l, enum diff_side side, const struct listing_instruction *instruction)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };
	struct buffer *out = l->w->out;

	buffer_init(&text, (size_t)1 << 20);
	if (l->w->diff->sides == DIFF_SIDES)
		buffer_append_string(&text, side == DIFF_BASE ? "base " : "head ");
	buffer_printf(&text, "%llx  %s", (unsigned long long)instruction->address,
		listing_string(l->listing, instruction->text));
	if (instruction->target) {
		buffer_append_string(&text, "  → ");
		profile_shorten_name(listing_string(l->listing, instruction->target), 60, &text);
	}
	buffer_append(&text, "", 1);
	if (text.failed) {
		out->failed = true;
		return;
	}
	buffer_append_string(out, table_style_on(TABLE_DIM, l->w->colour));
	lines_text_put_time(l, side, instruction->time);
	lines_append_source(out, text.data, l->text_width);
	trim_line(out);
	buffer_append_string(out, table_style_off(TABLE_DIM, l->w->colour));
	buffer_append_byte(out, '\n');
}

static void put_gap(const struct lines_writer *l, const char *words)
{
	int columns = 2 * (SHARE_COLUMNS + 2) + (l->w->diff->sides == DIFF_SIDES ? CHANGE_COLUMNS + 3 : 0);

	for (int i = 0; i < DIFF_SIDES; i++)
		columns += l->numbers[i] > 0 ? l->numbers[i] + 1 : 0;
	buffer_printf(l->w->out, "%*s%s\n", columns, "", words);
}

static void lines_text_put_instructions(
	const struct lines_writer *l, enum diff_side side, const struct listing_row *row)
{
	const struct listing_instruction *at = l->listing->instructions[side];

	for (uint32_t i = 0; i < row->instruction_count[side]; i++) {
		const struct listing_instruction *instruction = &at[row->first_instruction[side] + i];

		if (instruction->is_behind_gap)
			put_gap(l, "…");
		put_instruction(l, side, instruction);
	}
	if (row->more_instructions[side] > 0) {
		struct format_text share = format_percent(format_share(
			row->more_time[side], side == DIFF_BASE ? l->w->diff->total.base : l->w->diff->total.head));
		char words[80];

		snprintf(words, sizeof(words), "… and %u more instructions, %s", row->more_instructions[side],
			share.text);
		put_gap(l, words);
	}
}

static void lines_text_put_rows(const struct lines_writer *l)
{
	const struct listing_function *listed = l->listed;
	CLEANUP(cleanup_free) bool *shown = memory_alloc(listed->row_count + 1);
	uint32_t file = 0;

	if (!shown) {
		l->w->out->failed = true;
		return;
	}
	listing_mark_shown(listed, shown);
	for (size_t i = 0; i < listed->row_count; i++) {
		const struct listing_row *row = &listed->rows[i];
		struct lines_part parts[DIFF_SIDES];
		size_t count;

		if (row->is_gap || !shown[i]) {
			if (i == 0 || (shown[i - 1] && !listed->rows[i - 1].is_gap))
				buffer_printf(l->w->out, "%*s\n", SHARE_COLUMNS + 2, "…");
			continue;
		}
		if (row->file != file)
			put_file(l, row);
		file = row->file;
		count = lines_split(l->w->diff, row, parts);
		for (size_t part = 0; part < count; part++)
			lines_text_put_part(l, &parts[part]);
		for (int side = 0; side < DIFF_SIDES; side++)
			lines_text_put_instructions(l, (enum diff_side)side, row);
	}
}

/* ---- All of it ---- */

static void put_assembly_words(struct document *w)
{
	const struct listing *listing = w->input->listing;

	if (!listing->has_assembly)
		return;
	if (listing->instruction_counts[DIFF_BASE] + listing->instruction_counts[DIFF_HEAD] == 0)
		document_put(w, DOCUMENT_PARAGRAPH,
			"No instructions are known: the recordings have kept no code of these functions. Record with --sources, on x86-64, and have libZydis installed here.");
	else if (lines_are_imprecise(w->input))
		document_put(w, DOCUMENT_PARAGRAPH,
			"Below a line: the instructions that samples were taken at. Without precise addresses, one often has the time of the one before it, which is shown too and may be of another line.");
	else
		document_put(w, DOCUMENT_PARAGRAPH, "Below a line: the instructions that samples were taken at.");
}

static void put_legend(struct document *w)
{
	const char *metric = diff_string(w->diff, w->diff->metric_words);

	if (w->diff->sides == DIFF_SIDES)
		buffer_printf(&w->words,
			"base, head: the line with all that it calls, in percent of each side's %s; points: the difference. ▲ ▼: proven, by a test of all lines of the listed functions that are proven to differ (q below %g).",
			metric, w->diff->evidence.q);
	else
		buffer_printf(
			&w->words, "self: the line itself; total: with all that it calls; in percent of %s.", metric);
	buffer_append_byte(w->out, '\n');
	document_put(w, DOCUMENT_PARAGRAPH, "");
	if (lines_are_imprecise(w->input))
		document_put(w, DOCUMENT_PARAGRAPH, lines_imprecise_words);
	put_assembly_words(w);
	lines_append_left_out(w->input, &w->words);
	document_put(w, DOCUMENT_PARAGRAPH, "");
}

void lines_text(struct document *w)
{
	const struct listing *listing = w->input->listing;

	for (size_t i = 0; i < listing->function_count; i++) {
		struct lines_writer l = { .w = w, .listing = listing, .listed = &listing->functions[i] };

		if (!l.listed->is_named)
			continue;
		lines_text_measure(&l);
		put_heading(&l);
		put_places(&l);
		if (l.listed->row_count == 0)
			continue;
		put_columns(&l);
		lines_text_put_rows(&l);
	}
	put_legend(w);
}
