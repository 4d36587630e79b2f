/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a report as text: of one profile here, of two by text_diff.c. */
#include "render/format.h"
#include "render/groups.h"
#include "render/lines.h"
#include "render/question.h"
#include "render/requests.h"
#include "render/summary.h"
#include "render/table.h"
#include "render/text_writer.h"

#include <inttypes.h>
#include <string.h>

/* Appends a fact as the report shows it; nothing if it is not known. */
static void render_text_append_fact(const struct profile *profile, const struct profile_fact *fact, struct buffer *text)
{
	CLEANUP(buffer_deinit) struct buffer value = { 0 };

	if (!fact->prefix || profile_fact_get(&profile->facts, fact) == 0)
		return;
	buffer_init(&value, (size_t)1 << 20);
	profile_fact_words(profile, fact, &value);
	text->failed |= value.failed;
	if (!text->failed)
		buffer_printf(text, "%s%s%.*s", text->size ? ", " : "", fact->prefix,
			fact->shown_chars ? fact->shown_chars : -1, value.data ? value.data : "");
}

static bool render_text_write_facts(const struct text_writer *w, struct error *err)
{
	const struct profile *profile = w->input->profiles[DIFF_HEAD];
	size_t count;
	const struct profile_fact *facts = profile_facts(&count);
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	if (!profile)
		return true;
	buffer_init(&text, (size_t)1 << 20);
	for (size_t i = 0; i < count; i++)
		render_text_append_fact(profile, &facts[i], &text);
	if (!buffer_ok(&text, err))
		return false;
	if (text.size > 0)
		text_paragraph(w, text.data, 0);
	return true;
}

/* Adds a row of what is beside the program's own work, if there is any. */
static void add_beside(
	const struct text_writer *w, struct table *table, const char *title, const struct diff_origin *origin)
{
	struct format_text time = format_value(origin->head, w->unit);
	struct format_text share = format_percent(format_share(origin->head, w->diff->total.head));
	const char *cells[] = { title, time.text, share.text };

	if (origin->head > 0)
		table_add(table, cells, TABLE_PLAIN);
}

static bool write_origins(const struct text_writer *w, struct error *err)
{
	const char *value_title = w->diff->is_duration ? "time" : "value";
	const struct table_column columns[] = { { .title = "origin", .left = true }, { .title = value_title },
		{ .title = "share" } };
	CLEANUP(table_deinit) struct table table = { 0 };

	table_init(&table, columns, 3);
	for (size_t i = 0; i < PROFILE_ORIGIN_COUNT; i++) {
		double value = w->diff->origins[summary_origins[i]].head;
		struct format_text time = format_value(value, w->unit);
		struct format_text share = format_percent(format_share(value, w->diff->total.head));
		const char *cells[] = { profile_origin_name(summary_origins[i]), time.text, share.text };

		if (value != 0)
			table_add(&table, cells, TABLE_PLAIN);
	}
	if (table.row_count == 0)
		return true;
	add_beside(w, &table, summary_interrupts_title, &w->diff->interrupts);
	add_beside(w, &table, summary_compilation_title, &w->diff->compilation);
	text_heading(w, "By origin of the code");
	if (!table_write(&table, w->width, w->colour, w->out, err))
		return false;
	if (summary_has_interpreter(w->diff))
		text_paragraph(w, summary_interpreter_words, 2);
	return true;
}

bool text_top(const struct text_writer *w, enum summary_order order, struct error *err)
{
	static const struct table_column columns[] = {
		{ .title = "function", .left = true, .flexible = true, .is_name = true },
		{ .title = "id", .left = true },
		{ .title = "module", .left = true, .flexible = true, .drop = 2 },
		{ .title = "origin", .left = true, .drop = 1 },
		{ .title = "self" },
		{ .title = "self %", .drop = 3 },
		{ .title = "total" },
		{ .title = "total %", .drop = 3 },
		/* The bottleneck of the self values, only where the profile tells of bottlenecks. */
		{ .title = "bottleneck", .left = true, .drop = 1 },
	};
	CLEANUP(table_deinit) struct table table = { 0 };
	CLEANUP(summary_list_deinit) struct summary_list list = { 0 };

	if (!summary_list(w->diff, order, w->rows, &list, err))
		return false;
	if (list.count == 0)
		return true;
	table_init(&table, columns,
		sizeof(columns) / sizeof(columns[0]) - (order != SUMMARY_SELF || !w->diff->has_bottlenecks));
	for (size_t i = 0; i < list.count; i++) {
		const struct diff_function *f = &w->diff->functions[list.ids[i]];
		enum profile_bottleneck bottleneck = diff_function_bottleneck(w->diff, f).side[DIFF_HEAD];
		struct format_text self = format_value(f->self.head, w->unit),
				   total = format_value(f->total.head, w->unit);
		struct format_text self_share = format_percent(format_share(f->self.head, w->diff->total.head));
		struct format_text total_share = format_percent(format_share(f->total.head, w->diff->total.head));
		char id[PROFILE_FUNCTION_ID_DIGITS + 1];
		const char *cells[] = { diff_string(w->diff, f->shown), text_id(w, f, id),
			format_module(diff_string(w->diff, f->shown_in)), profile_origin_name(f->origin), self.text,
			self_share.text, total.text, total_share.text, profile_bottleneck_name(bottleneck) };

		table_add(&table, cells, TABLE_PLAIN);
	}
	text_list_heading(w, order);
	return table_write(&table, w->width, w->colour, w->out, err);
}

/* Writes "5.84 s of CPU time.", "235 page faults." */
static void write_total(const struct text_writer *w)
{
	struct format_text total = format_value(w->diff->total.head, w->unit);
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	/* The line before says it already. */
	if (strcmp(diff_string(w->diff, w->diff->metric), "samples") == 0 && w->input->profiles[DIFF_HEAD] &&
		summary_samples(w->input->profiles[DIFF_HEAD]) == w->diff->total.head)
		return;
	buffer_init(&text, (size_t)1 << 20);
	if (!w->diff->is_counted) {
		buffer_printf(&text, "%s of %s.", total.text, diff_string(w->diff, w->diff->metric_words));
	} else {
		buffer_printf(&text, "%s ", total.text);
		summary_measure(w->diff, &text);
		buffer_append_byte(&text, '.');
	}
	if (text.failed)
		w->out->failed = true;
	else
		text_paragraph(w, text.data, 0);
}

/* Appends the stacks and names that differ from those of another library, frame by frame. */
static void write_differences(const struct text_writer *w)
{
	const struct profile *profile = w->input->profiles[DIFF_HEAD];

	if (!profile || profile->verification.difference_count == 0)
		return;
	text_heading(w, "What libunwind and libdw see otherwise");
	for (uint32_t i = 0; i < profile->verification.difference_count; i++)
		text_lines(w, profile_string(profile, profile->verification.differences[i]));
}

static bool render_text_write_one_sided(const struct text_writer *w, struct error *err)
{
	text_side(w, DIFF_HEAD, "");
	write_total(w);
	if (render_has_requests(w->diff, DIFF_HEAD))
		text_sentences(w, render_requests_report_words);
	text_waits(w, DIFF_HEAD, "");
	if (!render_text_write_facts(w, err) || !groups_text(w, err) || !question_text(w, err) ||
		!write_origins(w, err) || !text_waiting_functions(w, err) || !text_top(w, SUMMARY_SELF, err) ||
		!text_top(w, SUMMARY_TOTAL, err))
		return false;
	write_differences(w);
	return true;
}

/* The lines that somebody asked for are the whole answer, behind the verdict. */
static bool render_text_write_lines(const struct text_writer *w, struct error *err)
{
	if (w->diff->sides == DIFF_SIDES)
		text_verdict(w);
	return lines_text(w, err);
}

bool render_text(const struct render_input *input, const struct render_text_options *options, struct buffer *out,
	struct error *err)
{
	struct text_writer w = text_writer_make(options, out);
	CLEANUP(waits_cleanup) struct waits *waits = NULL;
	bool done;

	if (!waits_create(input, &waits, err))
		return false;
	text_writer_take(&w, input);
	w.waits = waits;
	text_title(&w);
	text_question(&w);
	if (lines_are_asked(input))
		done = render_text_write_lines(&w, err);
	else
		done = input->diff->sides == DIFF_SIDES ? text_two_sided(&w, err)
							: render_text_write_one_sided(&w, err);
	return done &&
	       text_warnings(&w, input->diff->strings, input->diff->warnings, input->diff->warning_count, err) &&
	       buffer_ok(out, err);
}
