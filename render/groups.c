/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists groups of samples with their verdicts, as text, Markdown and JSON. */
#include "render/groups.h"

#include "diff/diff.h"
#include "render/format.h"
#include "render/json_text.h"
#include "render/markdown_writer.h"
#include "render/question.h"
#include "render/summary.h"
#include "render/table.h"
#include "render/text_writer.h"

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

struct group_figures {
	struct format_text base, head, share, delta, change, interval, samples;
};

static struct group_figures figures_of(const struct render_input *input, const struct diff_group *group)
{
	const struct diff *diff = input->diff;
	const char *unit = diff_string(diff, diff->unit);
	double samples = group->samples[DIFF_BASE] + group->samples[DIFF_HEAD];

	return (struct group_figures){
		.base = format_value(group->time.base, unit),
		.head = format_value(group->time.head, unit),
		.share = format_percent(format_share(group->time.head, diff->total.head)),
		.delta = format_delta(group->time.delta, unit),
		.change = format_change(group->time.base, group->time.head),
		.interval = summary_interval_of_base(&group->time),
		.samples = isnan(samples) ? (struct format_text){ "" } : format_count(samples),
	};
}

static void append_top(const struct diff *diff, const struct diff_group *group, struct buffer *out)
{
	for (size_t i = 0; i < group->top_count; i++)
		buffer_printf(out, "%s%s", i ? ", " : "", diff_string(diff, diff->functions[group->top[i]].shown));
}

/* ---- Text ---- */

enum { COLUMNS = 10 };

static const struct table_column columns[COLUMNS] = {
	{ .title = "", .left = true, .flexible = true },
	{ .title = "base" },
	{ .title = "head" },
	{ .title = "share", .drop = 2 },
	{ .title = "Δ" },
	{ .title = "change", .drop = 3 },
	{ .title = "95 % interval", .drop = 4 },
	{ .title = "samples", .drop = 5 },
	{ .title = "state", .left = true },
	{ .title = "most of it in", .left = true, .flexible = true, .drop = 6 },
};

static void render_groups_add_row(const struct text_writer *w, struct table *table, const struct diff_group *group)
{
	struct group_figures figures = figures_of(w->input, group);
	bool compared = w->diff->sides == DIFF_SIDES;
	CLEANUP(buffer_deinit) struct buffer top;

	buffer_init(&top, SIZE_MAX / 2);
	append_top(w->diff, group, &top);
	buffer_append_byte(&top, '\0');
	const char *cells[COLUMNS] = { diff_group_value(groups_of(w->input), group), compared ? figures.base.text : "",
		figures.head.text, figures.share.text, compared ? figures.delta.text : "",
		compared ? figures.change.text : "", compared ? figures.interval.text : "", figures.samples.text,
		compared ? diff_state_name(group->time.state) : "", top.failed ? "" : (const char *)top.data };

	table_add(table, cells, TABLE_PLAIN);
}

bool groups_text(const struct text_writer *w, struct error *err)
{
	const struct diff_groups *groups = groups_of(w->input);
	CLEANUP(table_deinit) struct table table = { 0 };
	struct table_column titled[COLUMNS];
	char heading[200];
	size_t rows;

	if (!groups)
		return true;
	memcpy(titled, columns, sizeof(titled));
	titled[0].title = groups->key;
	titled[0].is_name = strcmp(groups->key, "function") == 0;
	if (w->diff->sides != DIFF_SIDES)
		titled[2].title = w->diff->is_duration ? "time" : "value";
	rows = render_groups_rows_of(w->input, USUAL_ROWS);
	table_init(&table, titled, COLUMNS);
	for (size_t i = 0; i < rows; i++)
		render_groups_add_row(w, &table, &groups->items[i]);
	snprintf(heading, sizeof(heading), "By %s", groups->key);
	text_heading(w, heading);
	if (!table_write(&table, w->width, w->colour, w->out, err))
		return false;
	if (groups->count > rows)
		buffer_printf(w->out, "  and %s more\n", format_count((double)(groups->count - rows)).text);
	return true;
}

/* ---- Markdown ---- */

static void render_groups_emit_row(struct markdown_writer *w, const struct diff_group *group)
{
	const struct diff *diff = w->diff;
	struct group_figures figures = figures_of(w->input, group);
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, MARKDOWN_MAX_BYTES);
	buffer_append_string(&text, "| ");
	markdown_name(&text, diff_group_value(groups_of(w->input), group));
	buffer_printf(&text, " | %s | %s | %s | %s | %s | %s |", figures.base.text, figures.head.text,
		figures.delta.text, figures.change.text,
		figures.interval.text[0] ? figures.interval.text : format_unknown, diff_state_name(group->time.state));
	for (size_t i = 0; i < group->top_count; i++) {
		buffer_append_string(&text, i ? ", " : " ");
		markdown_name(&text, diff_string(diff, diff->functions[group->top[i]].shown));
	}
	buffer_append_string(&text, " |\n");
	markdown_emit(w, &text);
}

void groups_markdown(struct markdown_writer *w)
{
	const struct diff_groups *groups = groups_of(w->input);
	CLEANUP(buffer_deinit) struct buffer heading = { 0 };

	if (!groups || groups->count == 0)
		return;
	buffer_init(&heading, MARKDOWN_MAX_BYTES);
	buffer_append_string(&heading, "**By ");
	markdown_name(&heading, groups->key);
	buffer_append_string(&heading, "**\n\n| ");
	markdown_name(&heading, groups->key);
	buffer_append_string(&heading, " | base | head | Δ | change | 95 % interval | state | most of it in |\n"
				       "|:--|--:|--:|--:|--:|--:|:--|:--|\n");
	markdown_emit(w, &heading);
	for (size_t i = 0; i < render_groups_rows_of(w->input, USUAL_ROWS); i++)
		render_groups_emit_row(w, &groups->items[i]);
	markdown_emit_string(w, "\n");
}

/* ---- JSON ---- */

static void render_groups_put_number(struct buffer *out, const char *name, const char *suffix, double value)
{
	buffer_printf(out, ",\"%s%s\":", name, suffix);
	json_text_number(out, value);
}

static void render_groups_put_compared(
	const struct render_input *input, const struct diff_group *group, struct buffer *out)
{
	const struct diff *diff = input->diff;
	const struct diff_estimate *e = &group->time;
	const char *suffix = diff->is_time ? "_ns" : "";

	buffer_printf(out, ",\"verdict\":\"%s\"", diff_state_name(e->state));
	render_groups_put_number(out, "base", suffix, group->raw[DIFF_BASE]);
	render_groups_put_number(out, "head", suffix, group->raw[DIFF_HEAD]);
	render_groups_put_number(out, "delta_pct", "", e->base > 0 ? 100 * e->delta / e->base : NAN);
	if (isfinite(e->ci_low) && isfinite(e->ci_high) && e->base > 0) {
		buffer_append_string(out, ",\"ci\":[");
		json_text_number(out, 100 * e->ci_low / e->base);
		buffer_append_byte(out, ',');
		json_text_number(out, 100 * e->ci_high / e->base);
		buffer_append_byte(out, ']');
	} else {
		buffer_append_string(out, ",\"ci\":null");
	}
	render_groups_put_number(out, "q", "", e->q);
	render_groups_put_number(out, "base_count", "", group->samples[DIFF_BASE]);
	render_groups_put_number(out, "head_count", "", group->samples[DIFF_HEAD]);
}

static bool put_group(const struct render_input *input, const struct diff_group *group, struct buffer *out)
{
	const struct diff *diff = input->diff;

	buffer_append_string(out, "{\"key\":");
	if (!json_text_string(out, groups_of(input)->key))
		return false;
	buffer_append_string(out, ",\"value\":");
	if (!json_text_string(out, diff_group_value(groups_of(input), group)))
		return false;
	if (diff->sides == DIFF_SIDES) {
		render_groups_put_compared(input, group, out);
	} else {
		render_groups_put_number(out, "total", diff->is_time ? "_ns" : "", group->raw[DIFF_HEAD]);
		render_groups_put_number(out, "pct", "", format_share(group->time.head, diff->total.head));
		render_groups_put_number(out, "count", "", group->samples[DIFF_HEAD]);
	}
	buffer_append_string(out, ",\"top\":[");
	for (size_t i = 0; i < group->top_count; i++) {
		buffer_append_string(out, i ? "," : "");
		if (!json_text_string(out, diff_string(diff, diff->functions[group->top[i]].name)))
			return false;
	}
	buffer_append_string(out, "]}");
	return true;
}

bool groups_json(const struct render_input *input, struct buffer *out)
{
	const struct diff_groups *groups = groups_of(input);
	size_t rows;

	if (!groups)
		return true;
	rows = render_groups_rows_of(input, groups->count);
	buffer_append_string(out, ",\n \"groups\": [");
	for (size_t i = 0; i < rows; i++) {
		buffer_append_string(out, i ? ",\n  " : "\n  ");
		if (!put_group(input, &groups->items[i], out))
			return false;
	}
	buffer_append_string(out, rows ? "\n ]" : "]");
	if (rows < groups->count)
		buffer_printf(out, ",\n \"groups_left_out\": %zu", groups->count - rows);
	return true;
}
