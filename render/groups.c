/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists groups of samples with their verdicts, in documents and as JSON. */
#include "render/groups.h"

#include "diff/diff.h"
#include "render/document.h"
#include "render/format.h"
#include "render/json_text.h"
#include "render/question.h"
#include "render/summary.h"

#include <math.h>
#include <string.h>

enum { USUAL_ROWS = 20 };

static const struct diff_groups *groups_of(const struct render_input *input)
{
	return input->question ? input->question->groups : NULL;
}

static size_t render_groups_rows_of(const struct render_input *input, size_t usual)
{
	size_t rows = question_rows(input, usual), count = groups_of(input)->count;

	return rows < count ? rows : count;
}

static void render_groups_add_row(struct document *d, struct table *table, const struct diff_group *group)
{
	const struct diff *diff = d->diff;
	const struct diff_estimate *e = &group->time;
	double samples = group->samples[DIFF_BASE] + group->samples[DIFF_HEAD];
	CLEANUP(buffer_deinit) struct buffer top = { 0 };

	buffer_init(&top, d->words.max_bytes);
	for (size_t i = 0; i < group->top_count; i++) {
		buffer_append_string(&top, i ? ", " : "");
		document_name(&top, diff_string(diff, diff->functions[group->top[i]].shown));
	}
	table->failed |= top.failed;
	TABLE_ADD(table, TABLE_PLAIN, diff_group_value(groups_of(d->input), group), format_value(e->base, d->unit).text,
		format_value(e->head, d->unit).text, format_percent(format_share(e->head, diff->total.head)).text,
		format_delta(e->delta, d->unit).text, format_change(e->base, e->head).text,
		summary_interval_of_base(e).text, isnan(samples) ? "" : format_count(samples).text,
		diff_state_name(e->state), top.data);
}

void groups_put(struct document *d)
{
	const struct diff_groups *groups = groups_of(d->input);
	bool is_single = d->diff->sides != DIFF_SIDES, of_functions = groups && strcmp(groups->key, "function") == 0;
	const struct table_column columns[] = {
		{ .title = groups ? groups->key : "",
			.left = true,
			.flexible = true,
			.is_name = of_functions,
			.is_code = !of_functions },
		{ .title = "base", .hidden = is_single },
		{ .title = !is_single             ? "head"
			   : d->diff->is_duration ? "time"
						  : "value" },
		{ .title = "share", .drop = 2, .only = DOCUMENT_TEXT },
		{ .title = "Δ", .hidden = is_single },
		{ .title = "change", .drop = 3, .hidden = is_single },
		{ .title = "95 % interval", .drop = 4, .has_dash = true, .hidden = is_single },
		{ .title = "samples", .drop = 5, .only = DOCUMENT_TEXT },
		{ .title = "state", .left = true, .hidden = is_single },
		{ .title = "most of it in", .left = true, .flexible = true, .is_text = true, .drop = 6 },
	};
	CLEANUP(table_deinit) struct table table = DOCUMENT_TABLE(d, columns);
	size_t rows = groups ? render_groups_rows_of(d->input, USUAL_ROWS) : 0;

	for (size_t i = 0; i < rows; i++)
		render_groups_add_row(d, &table, &groups->items[i]);
	if (!groups)
		return;
	buffer_printf(&d->words, "By " DOCUMENT_CODE "%s" DOCUMENT_END, groups->key);
	if (groups->count == 0) {
		document_put(d, DOCUMENT_HEADING, "");
		document_put(d, DOCUMENT_NOTE, "Nothing was recorded of it.");
	}
	document_table(d, &table);
	if (groups->count > rows) {
		buffer_printf(&d->words, "%s more", format_count((double)(groups->count - rows)).text);
		document_put(d, DOCUMENT_MORE, "");
	}
}

/* ---- JSON ---- */

static void render_groups_put_compared(const struct diff *diff, const struct diff_group *group, struct buffer *out)
{
	const struct diff_estimate *e = &group->time;
	bool has_base = e->base > 0;

	json_text_member(out, "verdict", diff_state_name(e->state));
	json_text_member_number(out, diff->is_time ? "base_ns" : "base", group->raw[DIFF_BASE]);
	json_text_member_number(out, diff->is_time ? "head_ns" : "head", group->raw[DIFF_HEAD]);
	json_text_member_number(out, "delta_pct", has_base ? 100 * e->delta / e->base : NAN);
	json_text_member_interval(
		out, "ci", has_base ? 100 * e->ci_low / e->base : NAN, has_base ? 100 * e->ci_high / e->base : NAN);
	json_text_member_number(out, "q", e->q);
	json_text_member_number(out, "base_count", group->samples[DIFF_BASE]);
	json_text_member_number(out, "head_count", group->samples[DIFF_HEAD]);
}

static void put_group(const struct render_input *input, const struct diff_group *group, struct buffer *out)
{
	const struct diff *diff = input->diff;

	json_text_open(out, '{');
	json_text_member(out, "key", groups_of(input)->key);
	json_text_member(out, "value", diff_group_value(groups_of(input), group));
	if (diff->sides == DIFF_SIDES) {
		render_groups_put_compared(diff, group, out);
	} else {
		json_text_member_number(out, diff->is_time ? "total_ns" : "total", group->raw[DIFF_HEAD]);
		json_text_member_number(out, "pct", format_share(group->time.head, diff->total.head));
		json_text_member_number(out, "count", group->samples[DIFF_HEAD]);
	}
	json_text_begin(out, "top", '[');
	for (size_t i = 0; i < group->top_count; i++)
		json_text_string(out, diff_string(diff, diff->functions[group->top[i]].name));
	json_text_close(out, ']');
	json_text_close(out, '}');
}

void groups_json(const struct render_input *input, struct buffer *out)
{
	const struct diff_groups *groups = groups_of(input);
	size_t rows;

	if (!groups)
		return;
	rows = render_groups_rows_of(input, groups->count);
	json_text_list(out, "groups");
	for (size_t i = 0; i < rows; i++) {
		json_text_line(out, 2);
		put_group(input, &groups->items[i], out);
	}
	json_text_end_list(out);
	json_text_left_out(out, "groups", groups->count - rows);
}
