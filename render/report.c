/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a report as text or as Markdown: of one profile here, of two by report_diff.c. */
#include "render/groups.h"
#include "render/lines.h"
#include "render/parts.h"
#include "render/question.h"
#include "render/requests.h"

#include <string.h>

/* Appends a fact as the report shows it; nothing if it is not known. */
static void render_report_append_fact(
	const struct profile *profile, const struct profile_fact *fact, struct buffer *words)
{
	CLEANUP(buffer_deinit) struct buffer value = { 0 };

	if (!fact->prefix || profile_fact_get(&profile->facts, fact) == 0)
		return;
	buffer_init(&value, words->max_bytes);
	profile_fact_words(profile, fact, &value);
	words->failed |= value.failed;
	buffer_printf(words, "%s%s%.*s", words->size ? ", " : "", fact->prefix,
		fact->shown_chars ? fact->shown_chars : -1, value.data ? value.data : "");
}

static void put_facts(struct document *d)
{
	const struct profile *profile = d->input->profiles[DIFF_HEAD];
	size_t count;
	const struct profile_fact *facts = profile_facts(&count);

	for (size_t i = 0; profile && i < count; i++)
		render_report_append_fact(profile, &facts[i], &d->words);
	document_put(d, DOCUMENT_PARAGRAPH, "");
}

/* Adds a row of the program's own work, or of what is beside it, if there is any. */
static void add_one_origin(const struct document *d, struct table *table, const char *title, double value)
{
	if (value != 0)
		TABLE_ADD(table, TABLE_PLAIN, title, format_value(value, d->unit).text,
			format_percent(format_share(value, d->diff->total.head)).text);
}

static void put_origins(struct document *d)
{
	const struct table_column columns[] = { { .title = "origin", .left = true },
		{ .title = d->diff->is_duration ? "time" : "value" }, { .title = "share" } };
	CLEANUP(table_deinit) struct table table = DOCUMENT_TABLE(d, columns);

	for (size_t i = 0; i < PROFILE_ORIGIN_COUNT; i++)
		add_one_origin(
			d, &table, profile_origin_name(summary_origins[i]), d->diff->origins[summary_origins[i]].head);
	if (table.row_count == 0)
		return;
	add_one_origin(d, &table, summary_interrupts_title, d->diff->interrupts.head);
	add_one_origin(d, &table, summary_compilation_title, d->diff->compilation.head);
	buffer_append_string(&d->words, "By origin of the code");
	document_table(d, &table);
	if (summary_has_interpreter(d->diff))
		document_put(d, DOCUMENT_NOTE, summary_interpreter_words);
}

/* Writes "5.84 s of CPU time.", "235 page faults." */
static void put_total(struct document *d)
{
	/* The line before says it already. */
	if (strcmp(diff_string(d->diff, d->diff->metric), "samples") == 0 && d->input->profiles[DIFF_HEAD] &&
		summary_samples(d->input->profiles[DIFF_HEAD]) == d->diff->total.head)
		return;
	buffer_printf(&d->words, "%s ", format_value(d->diff->total.head, d->unit).text);
	if (d->diff->is_counted)
		summary_measure(d->diff, &d->words);
	else
		buffer_printf(&d->words, "of %s", diff_string(d->diff, d->diff->metric_words));
	document_put(d, DOCUMENT_PARAGRAPH, ".");
}

/* Appends lines, cleaned, that stand as they are. */
static void put_lines(struct document *d, const char *lines)
{
	uint32_t code = 0;

	while (*lines) {
		code = unicode_next(&lines);
		unicode_append(d->out, code == '\n' ? code : unicode_clean(code));
	}
	if (code != '\n')
		buffer_append_byte(d->out, '\n');
}

/* Writes the stacks and names that differ from those of another library, frame by frame. */
static void put_differences(struct document *d)
{
	const struct profile *profile = d->input->profiles[DIFF_HEAD];

	if (!profile || profile->verification.difference_count == 0)
		return;
	document_put(d, DOCUMENT_HEADING, "What libunwind and libdw see otherwise");
	for (uint32_t i = 0; i < profile->verification.difference_count; i++)
		put_lines(d, profile_string(profile, profile->verification.differences[i]));
}

static void put_one_sided(struct document *d)
{
	parts_side(d, &(struct parts_recording){ "", summary_command(d->input, DIFF_HEAD), d->input->names[DIFF_HEAD],
			      d->input->profiles[DIFF_HEAD], 0 });
	put_total(d);
	if (render_has_requests(d->diff, DIFF_HEAD))
		render_requests_report_words(d->diff, &d->words);
	document_put(d, DOCUMENT_PARAGRAPH, "");
	parts_waits(d, DIFF_HEAD, "");
	put_facts(d);
	groups_put(d);
	question_put(d);
	put_origins(d);
	parts_waiting_functions(d);
	parts_top(d, SUMMARY_SELF);
	parts_top(d, SUMMARY_TOTAL);
	put_differences(d);
}

static void put_title(struct document *d, enum document_block block)
{
	summary_title(d->input, &d->words);
	document_put(d, block, "");
	question_sentences(d->input, &d->words);
	document_put(d, DOCUMENT_PARAGRAPH, "");
}

bool render_text(const struct render_input *input, const struct render_text_options *options, struct buffer *out,
	struct error *err)
{
	CLEANUP(document_deinit) struct document d = document_text(options, out);
	CLEANUP(waits_cleanup) struct waits *waits = NULL;
	bool is_diff = input->diff->sides == DIFF_SIDES;

	waits_create(input->diff, input->profiles, &waits);
	document_take(&d, input);
	d.waits = waits;
	put_title(&d, DOCUMENT_PARAGRAPH);
	if (is_diff) {
		summary_verdict(d.diff, &d.words);
		parts_verdict(&d, d.diff->gate_failed);
	}
	/* The lines that somebody asked for are the whole answer, behind the verdict. */
	if (lines_are_asked(input))
		lines_text(&d);
	else
		(is_diff ? parts_compared : put_one_sided)(&d);
	parts_warnings(&d, d.diff->strings, d.diff->warnings, d.diff->warning_count);
	return document_finish(&d, err);
}

bool render_markdown(const struct render_input *input, struct buffer *out, struct error *err)
{
	CLEANUP(document_deinit) struct document d = { 0 };

	if (input->diff->sides != DIFF_SIDES)
		return error_set(err, ERROR_USAGE,
			"Markdown is written for a diff of two profiles; for one, use --text or --json");
	d = document_markdown("kelvin-diff", out);
	document_take(&d, input);
	summary_verdict(d.diff, &d.words);
	document_put(&d, DOCUMENT_VERDICT, "");
	put_title(&d, DOCUMENT_HEADING);
	parts_verdict(&d, d.diff->gate_failed);
	parts_compared(&d);
	return document_finish(&d, err);
}
