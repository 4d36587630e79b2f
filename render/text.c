/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/format.h"
#include "render/render.h"
#include "render/summary.h"
#include "render/table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
	DEFAULT_WIDTH = 100,
	MIN_WIDTH = 40,
	MAX_WIDTH = 1000,
	DEFAULT_ROWS = 20,
	MAX_ROWS = 10000,
	MAX_MOVED = 10,
	MAX_FORMER_BYTES = 1 << 24
};

struct text_writer {
	const struct render_input *input;
	const struct diff *diff;
	const char *unit;
	size_t width, rows;
	bool colour;
	struct buffer *out;
};

/* ---- Prose ---- */

/* Breaks at spaces; a word that is wider than the line stands alone. `indent` is of the second line on. */
static void write_paragraph(const struct text_writer *w, const char *text, size_t indent)
{
	size_t column = 0;

	while (*text) {
		const char *end = text + strcspn(text, " ");
		CLEANUP(buffer_deinit) struct buffer word = { 0 };
		size_t columns;

		buffer_init(&word, (size_t)1 << 20);
		for (const char *at = text; at < end;)
			unicode_append(&word, unicode_clean(unicode_next(&at)));
		buffer_append(&word, "", 0);
		if (word.failed) {
			w->out->failed = true;
			return;
		}
		columns = unicode_text_width(word.data);
		if (column > 0 && column + 1 + columns > w->width) {
			buffer_printf(w->out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > 0) {
			buffer_append_byte(w->out, ' ');
			column++;
		}
		buffer_append(w->out, word.data, word.size);
		column += columns;
		text = end + (*end == ' ');
	}
	buffer_append_byte(w->out, '\n');
}

static void write_sentences(const struct text_writer *w, void (*say)(const struct diff *, struct buffer *))
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, (size_t)1 << 20);
	say(w->diff, &text);
	buffer_append(&text, "", 0);
	if (text.failed)
		w->out->failed = true;
	else
		write_paragraph(w, text.data, 0);
}

static void write_heading(const struct text_writer *w, const char *text)
{
	buffer_printf(w->out, "\n%s", table_style_on(TABLE_BOLD, w->colour));
	write_paragraph(w, text, 0);
	buffer_append_string(w->out, table_style_off(TABLE_BOLD, w->colour));
}

/* ---- Which recordings ---- */

static void write_side(const struct text_writer *w, enum diff_side side, const char *label)
{
	const char *command = summary_command(w->input, side), *name = w->input->names[side];
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, (size_t)1 << 20);
	buffer_append_string(&text, label);
	if (command[0])
		buffer_printf(&text, "%s, ", command);
	if (name && name[0] && name != command)
		buffer_printf(&text, "%s, ", name);
	if (w->input->profiles[side])
		summary_quality(w->input->profiles[side], &text);
	buffer_append_byte(&text, '.');
	if (text.failed)
		w->out->failed = true;
	else
		write_paragraph(w, text.data, 6);
}

static bool write_warnings(const struct text_writer *w)
{
	const struct diff *diff = w->diff;

	if (diff->warning_count == 0)
		return true;
	write_heading(w, "Warnings");
	for (size_t i = 0; i < diff->warning_count; i++) {
		CLEANUP(buffer_deinit) struct buffer text = { 0 };

		buffer_init(&text, (size_t)1 << 20);
		buffer_printf(&text, "- %s%s", diff_string(diff, diff->warnings[i].text),
			diff->warnings[i].blocks_gate ? " (limits are not judged on this)" : "");
		if (text.failed)
			return false;
		write_paragraph(w, text.data, 2);
	}
	return true;
}

/* ---- Figures of an estimate ---- */

struct figures {
	struct format_text base, head, delta, percent, points, interval;
};

static struct figures make_figures(const struct text_writer *w, const struct diff_estimate *e)
{
	return (struct figures){
		.base = format_value(e->base, w->unit),
		.head = format_value(e->head, w->unit),
		.delta = format_delta(e->delta, w->unit),
		.percent = format_signed_percent(summary_percent_of_base(e)),
		.points = format_points(summary_points(w->diff, e->delta)),
		.interval = format_interval(summary_points(w->diff, e->ci_low), summary_points(w->diff, e->ci_high)),
	};
}

static enum table_style state_style(enum diff_state state)
{
	switch (state) {
	case DIFF_STATE_MORE:
	case DIFF_STATE_NEW:
		return TABLE_RED;
	case DIFF_STATE_LESS:
	case DIFF_STATE_GONE:
		return TABLE_BLUE;
	case DIFF_STATE_UNPROVEN:
		return TABLE_DIM;
	case DIFF_STATE_SAME:
	case DIFF_STATE_MOVED:
		return TABLE_PLAIN;
	}
	return TABLE_PLAIN;
}

/* ---- Ledger by origin ---- */

/* The order in which a reader asks: my code, its libraries, the system. */
static const enum profile_origin ledger_order[PROFILE_ORIGIN_COUNT] = {
	PROFILE_ORIGIN_USER,
	PROFILE_ORIGIN_LIBRARY,
	PROFILE_ORIGIN_SYSTEM,
	PROFILE_ORIGIN_UNKNOWN,
};

static void add_ledger_row(const struct text_writer *w, struct table *table, const char *title, const struct diff_estimate *e)
{
	struct figures f = make_figures(w, e);
	struct format_text base_share = format_percent(format_share(e->base, w->diff->total.base));
	struct format_text head_share = format_percent(format_share(e->head, w->diff->total.head));
	const char *cells[] = { title, f.base.text, base_share.text, f.head.text, head_share.text, f.delta.text, f.percent.text,
		f.points.text, f.interval.text };

	table_add(table, cells, TABLE_PLAIN);
}

static bool write_ledger(const struct text_writer *w, struct error *err)
{
	static const struct table_column columns[] = {
		{ .title = "origin", .left = true },
		{ .title = "base", .drop = 1 },
		{ .title = "share", .drop = 3 },
		{ .title = "head", .drop = 1 },
		{ .title = "share", .drop = 3 },
		{ .title = "Δ" },
		{ .title = "Δ %", .drop = 2 },
		{ .title = "points" },
		{ .title = "95 % interval", .drop = 4 },
	};
	CLEANUP(table_deinit) struct table table = { 0 };

	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < PROFILE_ORIGIN_COUNT; i++) {
		const struct diff_origin *origin = &w->diff->origins[ledger_order[i]];
		struct diff_estimate e = {
			.base = origin->base, .head = origin->head, .delta = origin->delta, .ci_low = NAN, .ci_high = NAN
		};

		if (origin->base != 0 || origin->head != 0)
			add_ledger_row(w, &table, profile_origin_name(ledger_order[i]), &e);
	}
	add_ledger_row(w, &table, "total", &w->diff->total);
	write_heading(w, "Where the difference lies, by origin of the code");
	return table_write(&table, w->width, w->colour, w->out, err);
}

/* ---- Changes ---- */

static const char same_code_mark[] = "°", short_of_proof_mark[] = "*";

static void add_change(const struct text_writer *w, struct table *table, const struct diff_function *f, bool is_total)
{
	const struct diff_estimate *e = is_total ? &f->total : &f->self, *other = is_total ? &f->self : &f->total;
	struct figures figures = make_figures(w, e);
	char state[24];
	struct format_text other_base = format_value(other->base, w->unit), other_head = format_value(other->head, w->unit);
	const char *cells[] = { diff_string(w->diff, f->name), diff_string(w->diff, f->module), profile_origin_name(f->origin),
		figures.base.text, figures.head.text, figures.delta.text, figures.percent.text, figures.points.text,
		figures.interval.text, other_base.text, other_head.text, state };

	snprintf(state, sizeof(state), "%s%s", diff_state_name(e->state),
		summary_same_code(f, e->state) ? same_code_mark
		: summary_short_of_proof(e)    ? short_of_proof_mark
					       : "");
	table_add(table, cells, state_style(e->state));
}

static bool any_same_code(const struct diff *diff, const struct summary_list *list, bool is_total)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct diff_function *f = &diff->functions[list->ids[i]];

		if (summary_same_code(f, is_total ? f->total.state : f->self.state))
			return true;
	}
	return false;
}

static bool any_short_of_proof(const struct diff *diff, const struct summary_list *list, bool is_total)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct diff_function *f = &diff->functions[list->ids[i]];

		if (summary_short_of_proof(is_total ? &f->total : &f->self))
			return true;
	}
	return false;
}

/* What the marks at a state say. */
static void write_marks(const struct text_writer *w, const struct summary_list *list, bool is_total)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	if (any_same_code(w->diff, list, is_total))
		write_paragraph(w, "  ° the same code: it was placed elsewhere, or had other work to do", 2);
	if (!any_short_of_proof(w->diff, list, is_total))
		return;
	buffer_init(&text, 1024);
	buffer_printf(&text, "%s %s", short_of_proof_mark, summary_short_of_proof_words);
	if (text.failed)
		w->out->failed = true;
	else
		write_paragraph(w, text.data, 2);
}

static bool write_changes(
	const struct text_writer *w, enum summary_order order, size_t limit, const char *heading, struct error *err)
{
	bool is_total = order == SUMMARY_TOTAL_CHANGES;
	const struct table_column columns[] = {
		{ .title = "function", .left = true, .flexible = true },
		{ .title = "module", .left = true, .flexible = true, .drop = 6 },
		{ .title = "origin", .left = true, .drop = 5 },
		{ .title = "base", .drop = 2 },
		{ .title = "head", .drop = 2 },
		{ .title = "Δ" },
		{ .title = "Δ %", .drop = 3 },
		{ .title = "points" },
		{ .title = "95 % interval", .drop = 4 },
		{ .title = is_total ? "base self" : "base total", .drop = 7 },
		{ .title = is_total ? "head self" : "head total", .drop = 7 },
		{ .title = "state", .left = true, .drop = 1 },
	};
	CLEANUP(table_deinit) struct table table = { 0 };
	CLEANUP(summary_list_deinit) struct summary_list list = { 0 };

	if (!summary_list(w->diff, order, limit, &list, err))
		return false;
	if (list.count == 0)
		return true;
	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < list.count; i++)
		add_change(w, &table, &w->diff->functions[list.ids[i]], is_total);
	write_heading(w, heading);
	if (!table_write(&table, w->width, w->colour, w->out, err))
		return false;
	if (list.proven_left_out > 0)
		buffer_printf(w->out, "  and %s more\n", format_count((double)list.proven_left_out).text);
	write_marks(w, &list, is_total);
	return true;
}

/* A rename's former name; of code that was inlined, split off or taken in, where it went or came from. */
static void append_former(const struct diff *diff, const struct diff_function *f, struct buffer *out)
{
	const char *other = diff_string(diff, diff->functions[f->moved_to].name);

	if (f->tier == DIFF_TIER_MOVED)
		buffer_append_string(out, other);
	else
		buffer_printf(out, "%s %s", f->total.head > 0 ? "(part of)" : "(now in)", other);
}

static bool write_moved(const struct text_writer *w, struct error *err)
{
	static const struct table_column columns[] = {
		{ .title = "function", .left = true, .flexible = true },
		{ .title = "was", .left = true, .flexible = true },
		{ .title = "base", .drop = 2 },
		{ .title = "head", .drop = 1 },
		{ .title = "Δ" },
	};
	CLEANUP(table_deinit) struct table table = { 0 };
	CLEANUP(summary_list_deinit) struct summary_list list = { 0 };

	if (!summary_list(w->diff, SUMMARY_MOVED, MAX_MOVED, &list, err))
		return false;
	if (list.count == 0)
		return true;
	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < list.count; i++) {
		const struct diff_function *f = &w->diff->functions[list.ids[i]];
		struct figures figures = make_figures(w, &f->total);
		CLEANUP(buffer_deinit) struct buffer former = { 0 };

		buffer_init(&former, MAX_FORMER_BYTES);
		append_former(w->diff, f, &former);
		if (!buffer_ok(&former, err))
			return false;
		const char *cells[] = { diff_string(w->diff, f->name), former.data ? former.data : "", figures.base.text,
			figures.head.text, figures.delta.text };

		table_add(&table, cells, TABLE_PLAIN);
	}
	write_heading(w, "Moved or renamed, total time");
	return table_write(&table, w->width, w->colour, w->out, err);
}

static bool any_change(const struct diff *diff)
{
	for (size_t i = 0; i < diff->function_count; i++) {
		if (summary_proven(diff->functions[i].self.state) || summary_proven(diff->functions[i].total.state))
			return true;
	}
	return false;
}

static bool write_two_sided(const struct text_writer *w, struct error *err)
{
	size_t half = (w->rows + 1) / 2;

	buffer_append_string(w->out, table_style_on(TABLE_BOLD, w->colour));
	write_sentences(w, summary_verdict);
	buffer_append_string(w->out, table_style_off(TABLE_BOLD, w->colour));
	if (w->diff->gate_failed)
		write_paragraph(w, "A limit given with --fail-on was exceeded.", 0);
	write_sentences(w, summary_scale);
	write_sentences(w, summary_evidence);
	write_side(w, DIFF_BASE, "base: ");
	write_side(w, DIFF_HEAD, "head: ");
	if (!write_ledger(w, err))
		return false;
	if (!any_change(w->diff))
		write_heading(w, "No function's difference is proven.");
	if (!write_changes(w, SUMMARY_SELF_INCREASES, half, "Takes more time, in the function itself", err) ||
		!write_changes(w, SUMMARY_SELF_DECREASES, half, "Takes less time, in the function itself", err) ||
		!write_changes(w, SUMMARY_TOTAL_CHANGES, half, "Takes more or less time, with all it calls", err) ||
		!write_moved(w, err))
		return false;
	return true;
}

/* ---- One side ---- */

static bool write_facts(const struct text_writer *w)
{
	const struct profile *profile = w->input->profiles[DIFF_HEAD];
	const char *words[] = { "event ", "stacks by ", "CPU ", "kernel " };
	uint32_t ids[4];
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	if (!profile)
		return true;
	ids[0] = profile->facts.event;
	ids[1] = profile->facts.call_graph;
	ids[2] = profile->facts.cpu_model;
	ids[3] = profile->facts.kernel;
	buffer_init(&text, (size_t)1 << 20);
	for (size_t i = 0; i < 4; i++) {
		if (profile_string(profile, ids[i])[0])
			buffer_printf(&text, "%s%s%s", text.size ? ", " : "", words[i], profile_string(profile, ids[i]));
	}
	if (profile->facts.frequency_hz)
		buffer_printf(&text, "%s%" PRIu32 " Hz", text.size ? ", " : "", profile->facts.frequency_hz);
	if (profile->facts.cpu_limit_milli)
		buffer_printf(&text, "%slimited to %g CPUs", text.size ? ", " : "", profile->facts.cpu_limit_milli / 1000.0);
	if (profile_string(profile, profile->facts.container)[0])
		buffer_printf(&text, "%scontainer %.12s", text.size ? ", " : "", profile_string(profile, profile->facts.container));
	if (profile->facts.user_only)
		buffer_printf(&text, "%swithout the kernel's part", text.size ? ", " : "");
	if (text.failed)
		return false;
	if (text.size > 0)
		write_paragraph(w, text.data, 0);
	return true;
}

static bool write_origins(const struct text_writer *w, struct error *err)
{
	static const struct table_column columns[] = { { .title = "origin", .left = true }, { .title = "time" },
		{ .title = "share" } };
	CLEANUP(table_deinit) struct table table = { 0 };

	table_init(&table, columns, 3);
	for (size_t i = 0; i < PROFILE_ORIGIN_COUNT; i++) {
		double value = w->diff->origins[ledger_order[i]].head;
		struct format_text time = format_value(value, w->unit);
		struct format_text share = format_percent(format_share(value, w->diff->total.head));
		const char *cells[] = { profile_origin_name(ledger_order[i]), time.text, share.text };

		if (value != 0)
			table_add(&table, cells, TABLE_PLAIN);
	}
	if (table.row_count == 0)
		return true;
	write_heading(w, "Where the time went, by origin of the code");
	return table_write(&table, w->width, w->colour, w->out, err);
}

static bool write_top(const struct text_writer *w, enum summary_order order, const char *heading, struct error *err)
{
	static const struct table_column columns[] = {
		{ .title = "function", .left = true, .flexible = true },
		{ .title = "module", .left = true, .flexible = true, .drop = 2 },
		{ .title = "origin", .left = true, .drop = 1 },
		{ .title = "self" },
		{ .title = "self %", .drop = 3 },
		{ .title = "total" },
		{ .title = "total %", .drop = 3 },
	};
	CLEANUP(table_deinit) struct table table = { 0 };
	CLEANUP(summary_list_deinit) struct summary_list list = { 0 };

	if (!summary_list(w->diff, order, w->rows, &list, err))
		return false;
	if (list.count == 0)
		return true;
	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < list.count; i++) {
		const struct diff_function *f = &w->diff->functions[list.ids[i]];
		struct format_text self = format_value(f->self.head, w->unit), total = format_value(f->total.head, w->unit);
		struct format_text self_share = format_percent(format_share(f->self.head, w->diff->total.head));
		struct format_text total_share = format_percent(format_share(f->total.head, w->diff->total.head));
		const char *cells[] = { diff_string(w->diff, f->name), diff_string(w->diff, f->module),
			profile_origin_name(f->origin), self.text, self_share.text, total.text, total_share.text };

		table_add(&table, cells, TABLE_PLAIN);
	}
	write_heading(w, heading);
	return table_write(&table, w->width, w->colour, w->out, err);
}

/* "5.84 s of CPU time.", "235 page faults." */
static void write_total(const struct text_writer *w)
{
	struct format_text total = format_value(w->diff->total.head, w->unit);
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	/* The line before says it. */
	if (strcmp(summary_metric(w->diff), "samples") == 0 && w->input->profiles[DIFF_HEAD] &&
		summary_samples(w->input->profiles[DIFF_HEAD]) == w->diff->total.head)
		return;
	buffer_init(&text, (size_t)1 << 20);
	if (strcmp(w->unit, "count") != 0) {
		buffer_printf(&text, "%s of %s.", total.text, summary_metric(w->diff));
	} else {
		buffer_printf(&text, "%s ", total.text);
		for (const char *at = summary_metric(w->diff); *at; at++)
			buffer_append_byte(&text, *at == '-' ? ' ' : (uint8_t)*at);
		buffer_append_byte(&text, '.');
	}
	if (text.failed)
		w->out->failed = true;
	else
		write_paragraph(w, text.data, 0);
}

static bool write_one_sided(const struct text_writer *w, struct error *err)
{
	write_side(w, DIFF_HEAD, "");
	write_total(w);
	return write_facts(w) && write_origins(w, err) && write_top(w, SUMMARY_SELF, "Functions by their own time", err) &&
	       write_top(w, SUMMARY_TOTAL, "Functions by time with all they call", err);
}

static size_t clamp(unsigned int value, size_t fallback, size_t least, size_t most)
{
	size_t chosen = value ? value : fallback;

	return chosen < least ? least : chosen > most ? most : chosen;
}

bool render_text(const struct render_input *input, const struct render_text_options *options, struct buffer *out, struct error *err)
{
	static const struct render_text_options defaults = { 0 };
	struct text_writer w = { .input = input, .diff = input->diff, .out = out };
	bool done;

	options = options ? options : &defaults;
	w.unit = diff_string(input->diff, input->diff->unit);
	w.width = clamp(options->width, DEFAULT_WIDTH, MIN_WIDTH, MAX_WIDTH);
	w.rows = clamp(options->rows, DEFAULT_ROWS, 1, MAX_ROWS);
	w.colour = options->colour;
	if (input->title && input->title[0])
		write_paragraph(&w, input->title, 0);
	done = input->diff->sides == DIFF_SIDES ? write_two_sided(&w, err) : write_one_sided(&w, err);
	if (!done)
		return false;
	if (!write_warnings(&w))
		return error_set_memory(err);
	return buffer_ok(out, err);
}
