/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a comparison as text or Markdown: what it says first, and tables of origins, functions and measurements. */
#include "render/changes.h"
#include "render/groups.h"
#include "render/headline.h"
#include "render/lines.h"
#include "render/parts.h"
#include "render/question.h"
#include "render/requests.h"

#include <string.h>

enum { MAX_MOVED = 10, MAX_OUTLIERS = 10 };

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

static struct format_text points_of(const struct document *d, const struct diff_estimate *e)
{
	return format_points(summary_points(d->diff, e->delta));
}

static struct format_text interval_of(const struct document *d, const struct diff_estimate *e)
{
	return format_interval(summary_points(d->diff, e->ci_low), summary_points(d->diff, e->ci_high));
}

/* ---- Ledger by origin ---- */

static void add_ledger_row(const struct document *d, struct table *table, const char *title,
	const struct diff_estimate *e, enum table_style style)
{
	const struct diff_estimate *total = &d->diff->total;

	TABLE_ADD(table, style, title, format_value(e->base, d->unit).text,
		format_percent(format_share(e->base, total->base)).text, format_value(e->head, d->unit).text,
		format_percent(format_share(e->head, total->head)).text, format_delta(e->delta, d->unit).text,
		format_change(e->base, e->head).text, points_of(d, e).text, interval_of(d, e).text);
}

static void add_origin(
	const struct document *d, struct table *table, const char *title, const struct diff_origin *origin)
{
	struct diff_estimate e = summary_beside(origin);

	if (summary_has_beside(origin))
		add_ledger_row(d, table, title, &e, TABLE_PLAIN);
}

static void put_ledger(struct document *d)
{
	const struct table_column columns[] = {
		{ .title = "origin", .left = true },
		{ .title = "base", .drop = 1 },
		{ .title = "share", .drop = 3, .only = DOCUMENT_TEXT },
		{ .title = "head", .drop = 1 },
		{ .title = "share", .drop = 3, .only = DOCUMENT_TEXT },
		{ .title = "Δ" },
		{ .title = "change", .drop = 2 },
		{ .title = "points" },
		/* Exact counts have no intervals. */
		{ .title = "95 % interval", .drop = 4, .has_dash = true, .hidden = d->diff->is_exact },
	};
	CLEANUP(table_deinit) struct table table = DOCUMENT_TABLE(d, columns);

	for (size_t i = 0; i < PROFILE_ORIGIN_COUNT; i++)
		add_origin(d, &table, profile_origin_name(summary_origins[i]), &d->diff->origins[summary_origins[i]]);
	add_ledger_row(d, &table, "total", &d->diff->total, TABLE_MAIN);
	add_origin(d, &table, summary_interrupts_title, &d->diff->interrupts);
	if (summary_has_run_queue(d->diff))
		add_ledger_row(
			d, &table, summary_run_queue_title, &d->diff->waits[PROFILE_WAIT_RUN_QUEUE].total, TABLE_PLAIN);
	add_origin(d, &table, summary_compilation_title, &d->diff->compilation);
	buffer_append_string(&d->words, document_is_text(d) ? "By origin of the code" : "");
	document_table(d, &table);
	if (document_is_text(d))
		summary_points_words(d->diff, &d->words);
	document_put(d, DOCUMENT_PARAGRAPH, "");
	if (summary_has_beside(&d->diff->interrupts))
		document_put(d, DOCUMENT_NOTE, summary_interrupts_words);
	if (summary_has_run_queue(d->diff)) {
		buffer_append_string(&d->words, summary_run_queue_words);
		summary_machine_words(d->input, " ", &d->words);
		document_put(d, DOCUMENT_NOTE, "");
	}
	if (summary_has_beside(&d->diff->compilation))
		document_put(d, DOCUMENT_NOTE, summary_compilation_words);
	if (summary_has_interpreter(d->diff))
		document_put(d, DOCUMENT_NOTE, summary_interpreter_words);
}

/* ---- Whole runs ---- */

static const struct {
	const char *name, *unit;
} run_figures[DIFF_RUN_FIGURE_COUNT] = {
	[DIFF_RUN_WALL] = { "wall-clock time", "nanoseconds" },
	[DIFF_RUN_CPU] = { "CPU time", "nanoseconds" },
	[DIFF_RUN_MEMORY] = { "peak memory", "bytes" },
};

/* Says the outliers of one figure and side. */
static void put_outliers_of(struct document *d, const struct diff_outlier *outliers, size_t count)
{
	const char *unit = run_figures[outliers->figure].unit;

	buffer_printf(&d->words,
		"outliers, which are included: %s of %s, median %s:", run_figures[outliers->figure].name,
		diff_side_name(outliers->side), format_value(outliers->median, unit).text);
	for (size_t i = 0; i < count && i < MAX_OUTLIERS; i++)
		buffer_printf(&d->words, "%s run %zu %s", i > 0 ? "," : "", outliers[i].run + 1,
			format_value(outliers[i].value, unit).text);
	if (count > MAX_OUTLIERS)
		buffer_printf(&d->words, " and %zu more", count - MAX_OUTLIERS);
	document_put(d, DOCUMENT_ITEM, "");
}

/* Outliers of one figure and side follow each other. */
static void put_outliers(struct document *d)
{
	const struct diff_outlier *all = d->diff->runs.outliers;
	size_t count = d->diff->runs.outlier_count, end;

	for (size_t i = 0; i < count; i = end) {
		for (end = i + 1; end < count && all[end].figure == all[i].figure && all[end].side == all[i].side;)
			end++;
		put_outliers_of(d, &all[i], end - i);
	}
}

/* Writes figures of whole runs, as far as the recordings have them. */
static void put_runs(struct document *d)
{
	static const struct table_column columns[] = { { .title = "per run", .left = true }, { .title = "base" },
		{ .title = "head" }, { .title = "change" }, { .title = "95 % interval", .has_dash = true } };
	CLEANUP(table_deinit) struct table table = DOCUMENT_TABLE(d, columns);

	for (int i = 0; i < DIFF_RUN_FIGURE_COUNT; i++) {
		const struct diff_run_summary *s = &d->diff->runs.figures[i];

		if (d->diff->runs.known[i])
			TABLE_ADD(&table, TABLE_PLAIN, run_figures[i].name,
				format_value(s->mean[DIFF_BASE], run_figures[i].unit).text,
				format_value(s->mean[DIFF_HEAD], run_figures[i].unit).text,
				format_change(s->mean[DIFF_BASE], s->mean[DIFF_BASE] * (1 + s->change)).text,
				format_percent_interval(100 * s->change_low, 100 * s->change_high).text);
	}
	document_table(d, &table);
}

/* ---- Changes ---- */

static const char same_code_mark[] = "°", short_of_proof_mark[] = "*";

/*
 * Appends the names of the change of a row of total times, and what is waited for in it; else the name of the function.
 */
static void append_change_names(const struct document *d, const struct diff_function *f, bool is_total,
	struct buffer *name, struct buffer *because)
{
	const struct diff_change *change = is_total ? change_of(d->diff, (uint32_t)(f - d->diff->functions)) : NULL;

	buffer_init(name, d->words.max_bytes);
	buffer_init(because, d->words.max_bytes);
	if (change && change_has_names(change))
		change_append_names(d->diff, change, name);
	else
		buffer_append_string(name, diff_string(d->diff, f->shown));
	if (change)
		change_append_waits(d->diff, change, because);
	else if (!is_total)
		buffer_append_string(because, diff_cause(d->diff, f));
	d->out->failed = d->out->failed || name->failed || because->failed;
}

static void add_change(const struct document *d, struct table *table, const struct diff_function *f, bool is_total)
{
	const struct diff_estimate *e = is_total ? &f->total : &f->self, *other = is_total ? &f->self : &f->total;
	const char *mark = summary_same_code(f, e->state) ? same_code_mark
			   : summary_short_of_proof(e)    ? short_of_proof_mark
							  : "";
	char state[24], id[PROFILE_FUNCTION_ID_DIGITS + 1];
	CLEANUP(buffer_deinit) struct buffer name = { 0 }, because = { 0 };

	append_change_names(d, f, is_total, &name, &because);
	snprintf(state, sizeof(state), "%s%s", diff_state_name(e->state), mark);
	TABLE_ADD(table, state_style(e->state), name.data, parts_id(d, f, id),
		format_module(diff_string(d->diff, f->shown_in)), profile_origin_name(f->origin),
		format_value(e->base, d->unit).text, format_value(e->head, d->unit).text,
		format_delta(e->delta, d->unit).text, format_change(e->base, e->head).text, points_of(d, e).text,
		interval_of(d, e).text, format_value(other->base, d->unit).text,
		format_value(other->head, d->unit).text, state, because.data);
}

/* Explains the marks beside the states. */
static void put_marks(struct document *d, const struct summary_list *list, bool is_total)
{
	bool same_code = false, short_of_proof = false;

	for (size_t i = 0; i < list->count; i++) {
		const struct diff_function *f = &d->diff->functions[list->ids[i]];
		const struct diff_estimate *e = is_total ? &f->total : &f->self;

		same_code = same_code || summary_same_code(f, e->state);
		short_of_proof = short_of_proof || summary_short_of_proof(e);
	}
	if (same_code) {
		buffer_printf(&d->words, "%s ", same_code_mark);
		(is_total ? summary_same_code_total : summary_same_code_self)(d->diff, &d->words);
		document_put(d, DOCUMENT_NOTE, "");
	}
	if (short_of_proof) {
		buffer_printf(&d->words, "%s ", short_of_proof_mark);
		document_put(d, DOCUMENT_NOTE, summary_short_of_proof_words);
	}
}

static void put_changes(struct document *d, enum summary_order order)
{
	bool is_total = order == SUMMARY_TOTAL_CHANGES;
	/* Self values have reasons where the profiles tell of bottlenecks; total values where threads wait. */
	bool has_reasons = is_total ? d->diff->waiting != DIFF_WAITING_NONE : d->diff->bottlenecks_explain;
	const struct table_column columns[] = {
		{ .title = "function", .left = true, .flexible = true, .is_name = true },
		{ .title = "id", .left = true, .only = DOCUMENT_TEXT },
		{ .title = "module", .left = true, .flexible = true, .is_text = true, .drop = 6 },
		{ .title = "origin", .left = true, .drop = 5, .only = DOCUMENT_TEXT },
		{ .title = "base", .drop = 2 },
		{ .title = "head", .drop = 2 },
		{ .title = "Δ" },
		{ .title = "change", .drop = 3 },
		{ .title = "points" },
		{ .title = "95 % interval", .drop = 4, .has_dash = true, .hidden = d->diff->is_exact },
		{ .title = is_total ? "base self" : "base total", .drop = 7, .only = DOCUMENT_TEXT },
		{ .title = is_total ? "head self" : "head total", .drop = 7, .only = DOCUMENT_TEXT },
		{ .title = "state", .left = true, .drop = 1 },
		{ .title = is_total ? "waiting for" : "because of",
			.left = true,
			.flexible = is_total,
			.is_text = true,
			.drop = 2,
			.hidden = !has_reasons },
	};
	CLEANUP(table_deinit) struct table table = DOCUMENT_TABLE(d, columns);
	CLEANUP(summary_list_deinit) struct summary_list list = parts_list(d, order, d->half);

	if (list.count == 0)
		return;
	for (size_t i = 0; i < list.count; i++)
		add_change(d, &table, &d->diff->functions[list.ids[i]], is_total);
	summary_heading(d->diff, order, &d->words);
	document_table(d, &table);
	if (list.proven_left_out > 0) {
		buffer_printf(&d->words, "%s more that are proven", format_count((double)list.proven_left_out).text);
		document_put(d, DOCUMENT_MORE, "");
	}
	put_marks(d, &list, is_total);
}

/*
 * Appends the earlier name of a renamed function. For code that was inlined or split off, appends where it went or came
 * from.
 */
static void append_former(const struct diff *diff, const struct diff_function *f, struct buffer *out)
{
	const char *other = diff_string(diff, diff->functions[f->moved_to].shown);

	if (diff_tier_is_rename(f->tier))
		buffer_append_string(out, other);
	else
		buffer_printf(out, "%s %s", f->total.delta > 0 ? "(part of)" : "(now in)", other);
}

static void put_moved(struct document *d)
{
	static const struct table_column columns[] = {
		{ .title = "function", .left = true, .flexible = true, .is_name = true },
		{ .title = "was", .left = true, .flexible = true, .is_name = true },
		{ .title = "base", .drop = 2 },
		{ .title = "head", .drop = 1 },
		{ .title = "Δ" },
	};
	CLEANUP(table_deinit) struct table table = DOCUMENT_TABLE(d, columns);
	CLEANUP(summary_list_deinit) struct summary_list list = parts_list(d, SUMMARY_MOVED, MAX_MOVED);

	for (size_t i = 0; i < list.count; i++) {
		const struct diff_function *f = &d->diff->functions[list.ids[i]];
		CLEANUP(buffer_deinit) struct buffer former = { 0 };

		buffer_init(&former, d->words.max_bytes);
		append_former(d->diff, f, &former);
		table.failed |= former.failed;
		TABLE_ADD(&table, TABLE_PLAIN, diff_string(d->diff, f->shown), former.data,
			format_value(f->total.base, d->unit).text, format_value(f->total.head, d->unit).text,
			format_delta(f->total.delta, d->unit).text);
	}
	summary_heading(d->diff, SUMMARY_MOVED, &d->words);
	document_table(d, &table);
}

/* Functions of a kind that have other names: how many, and the one with the most time. */
struct report_diff_others {
	size_t count;
	uint32_t largest;
};

static void note_other(const struct diff *diff, uint32_t function, struct report_diff_others *others)
{
	if (others->count++ == 0 || diff->functions[function].total.head > diff->functions[others->largest].total.head)
		others->largest = function;
}

/* Appends the name that a function has in base, if that is another one. */
static void append_base_name(const struct diff *diff, uint32_t function, struct buffer *words)
{
	size_t first = BISECT(diff->member_count, at, diff->members[at].function < function);

	if (first == diff->member_count || diff->members[first].function != function ||
		diff->members[first].side != DIFF_BASE)
		return;
	document_name(words, diff_string(diff, diff->members[first].name));
	buffer_append_string(words, " → ");
}

/* Says once that functions are numbered anew, and that the library takes others for the CPU. */
static void put_renumbered(struct document *d)
{
	const struct diff *diff = d->diff;
	struct report_diff_others numbered = { 0 }, of_cpu = { 0 };
	CLEANUP(buffer_deinit) struct buffer name = BUFFER_INIT(d->words.max_bytes);

	for (uint32_t i = 0; i < diff->function_count; i++)
		if (diff->functions[i].tier == DIFF_TIER_RENUMBERED)
			note_other(diff, i,
				profile_key_is_of_cpu(diff_string(diff, diff->functions[i].key)) ? &of_cpu : &numbered);
	if (numbered.count > 0) {
		profile_shown_template(diff_string(diff, diff->functions[numbered.largest].key), &name);
		d->words.failed |= name.failed;
		document_name(&d->words, name.data ? name.data : "");
		if (numbered.count > 1)
			buffer_printf(&d->words, " and others: %s functions are numbered anew",
				format_count((double)numbered.count).text);
		else
			buffer_append_string(&d->words, ": it is numbered anew");
		document_put(d, DOCUMENT_ITEM, "");
	}
	if (of_cpu.count > 0) {
		append_base_name(diff, of_cpu.largest, &d->words);
		document_name(&d->words, diff_string(diff, diff->functions[of_cpu.largest].name));
		buffer_append_string(&d->words, of_cpu.count > 1 ? " and others" : "");
		buffer_append_string(&d->words, ": the CPU's choice, not the program's");
		document_put(d, DOCUMENT_ITEM, "");
	}
}

/* Lists what has another name with all functions in it, and functions with other numbers: each once. */
static void put_renamings(struct document *d)
{
	const struct diff *diff = d->diff;
	bool any = diff->renaming_count > 0;

	for (size_t i = 0; i < diff->function_count && !any; i++)
		any = diff->functions[i].tier == DIFF_TIER_RENUMBERED;
	if (any)
		document_put(d, DOCUMENT_HEADING, "Under other names in head");
	for (size_t i = 0; i < diff->renaming_count; i++) {
		const struct diff_renaming *renaming = &diff->renamings[i];

		document_name(&d->words, diff_string(diff, renaming->shown[DIFF_BASE]));
		buffer_append_string(&d->words, " → ");
		document_name(&d->words, diff_string(diff, renaming->shown[DIFF_HEAD]));
		buffer_printf(&d->words, ": %s functions", format_count((double)renaming->functions).text);
		document_put(d, DOCUMENT_ITEM, "");
	}
	put_renumbered(d);
	document_put(d, DOCUMENT_GAP, "");
}

static bool any_change(const struct diff *diff)
{
	for (size_t i = 0; i < diff->function_count; i++) {
		if (summary_proven(diff->functions[i].self.state) || summary_proven(diff->functions[i].total.state))
			return true;
	}
	return false;
}

/* ---- The first lines ---- */

/* Writes an item for each change that is proven beside the one that the verdict names. */
static void put_others(struct document *d)
{
	const struct diff_change *others[HEADLINE_OTHERS];
	size_t count = headline_others(d->diff, others);

	if (count == 0)
		return;
	document_put(d, DOCUMENT_PARAGRAPH, headline_others_words(d->diff));
	for (size_t i = 0; i < count; i++) {
		headline_other(d->diff, others[i], &d->words);
		document_put(d, DOCUMENT_ITEM, "");
	}
	document_put(d, DOCUMENT_GAP, "");
}

static void put_compared_side(struct document *d, enum diff_side side, const char *label)
{
	parts_side(d, &(struct parts_recording){ label, summary_command(d->input, side), d->input->names[side],
			      d->input->profiles[side], 0 });
	parts_waits(d, side, label);
}

/* Says how all this was measured. */
static void put_basis(struct document *d)
{
	bool is_text = document_is_text(d);
	enum document_block block = is_text ? DOCUMENT_PARAGRAPH : DOCUMENT_ITEM;

	if (is_text) {
		buffer_append_byte(d->out, '\n');
	} else {
		document_put(d, DOCUMENT_FOLD, "How this was measured");
		summary_points_words(d->diff, &d->words);
		document_put(d, block, "");
	}
	summary_scale(d->diff, &d->words);
	document_put(d, block, "");
	summary_evidence(d->diff, &d->words);
	document_put(d, block, "");
	if (!is_text)
		put_outliers(d);
	put_compared_side(d, DIFF_BASE, "base: ");
	put_compared_side(d, DIFF_HEAD, "head: ");
	document_put(d, DOCUMENT_GAP, "");
	document_put(d, DOCUMENT_FOLD_END, "");
}

/* A comment has first what a reviewer decides by; on a terminal, where the end is read first, warnings are last. */
void parts_compared(struct document *d)
{
	bool is_text = document_is_text(d);

	render_requests_words(d->diff, &d->words);
	document_put(d, DOCUMENT_PARAGRAPH, "");
	put_others(d);
	parts_commits(d);
	headline_next(d->input, &d->words);
	document_put(d, DOCUMENT_PARAGRAPH, "");
	groups_put(d);
	if (!is_text)
		lines_markdown(d);
	question_put(d);
	if (is_text)
		put_basis(d);
	else
		parts_warnings(d, d->diff->strings, d->diff->warnings, d->diff->warning_count);
	put_ledger(d);
	if (!is_text) {
		put_runs(d);
		parts_waiting_places(d);
	} else if (!any_change(d->diff)) {
		document_put(d, DOCUMENT_HEADING, "No function is proven to have changed.");
	}
	put_changes(d, SUMMARY_SELF_INCREASES);
	put_changes(d, SUMMARY_SELF_DECREASES);
	put_changes(d, SUMMARY_TOTAL_CHANGES);
	if (is_text) {
		put_moved(d);
		put_renamings(d);
		parts_waiting_changes(d);
	} else {
		put_basis(d);
	}
}
