/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/json_functions.h"

#include "render/format.h"
#include "render/json_text.h"
#include "render/question.h"
#include "render/summary.h"

#include <math.h>

/* Values are written with the text before them: the key as `,"q_self":`, or a separator. */
static bool put_id(const struct diff *diff, struct buffer *out, const char *before, uint32_t id)
{
	buffer_append_string(out, before);
	return json_text_string(out, diff_string(diff, id));
}

static void put_word(struct buffer *out, const char *before, const char *word)
{
	buffer_append_string(out, before);
	buffer_append_byte(out, '"');
	buffer_append_string(out, word);
	buffer_append_byte(out, '"');
}

/* Writes a measured value, rounded to whole units. No measurement reaches 2^63. */
static void put_measured(struct buffer *out, double value)
{
	if (isfinite(value) && fabs(value) < 9e18)
		json_text_integer(out, llround(value));
	else
		json_text_number(out, value);
}

/* Writes a value in the metric's unit, whose key lacks its end: those of times are called base_ns, all others base. */
static void end_key(const struct diff *diff, struct buffer *out)
{
	if (diff->is_time)
		JSON_TEXT(out, "_ns");
	JSON_TEXT(out, "\":");
}

static void put_figure(const struct diff *diff, struct buffer *out, const char *before, double value)
{
	buffer_append_string(out, before);
	end_key(diff, out);
	put_measured(out, value);
}

static void json_functions_put_number(struct buffer *out, const char *before, double value)
{
	buffer_append_string(out, before);
	json_text_number(out, value);
}

static void json_functions_put_points(const struct diff *diff, struct buffer *out, const char *before, double delta)
{
	json_functions_put_number(out, before, summary_points(diff, delta));
}

/* Writes [low, high] in points; null without evidence. */
static void json_functions_put_interval(
	const struct diff *diff, struct buffer *out, const char *before, const struct diff_estimate *e)
{
	buffer_append_string(out, before);
	if (!isfinite(e->ci_low) || !isfinite(e->ci_high)) {
		JSON_TEXT(out, "null");
		return;
	}
	json_functions_put_points(diff, out, "[", e->ci_low);
	json_functions_put_points(diff, out, ",", e->ci_high);
	JSON_TEXT(out, "]");
}

static bool put_identity(const struct render_input *input, const struct diff_function *f, struct buffer *out)
{
	const struct diff *diff = input->diff;
	char id[PROFILE_FUNCTION_ID_DIGITS + 1];
	bool ok = put_id(diff, out, "{\"name\":", f->name) && put_id(diff, out, ",\"shown\":", f->shown) &&
		  put_id(diff, out, ",\"module\":", f->module) && put_id(diff, out, ",\"file\":", f->file);

	question_id(diff, f, id);
	put_word(out, ",\"id\":", id);
	JSON_TEXT(out, ",\"line\":");
	if (f->line)
		json_text_integer(out, f->line);
	else
		JSON_TEXT(out, "null");
	ok = ok && put_id(diff, out, ",\"key\":", f->key);
	put_word(out, ",\"origin\":", profile_origin_name(f->origin));
	JSON_TEXT(out, ",\"origin_rule\":");
	json_text_integer(out, f->origin_rule);
	if (input->origin_rule_text && f->origin_rule) {
		const char *text = input->origin_rule_text(f->origin_rule);

		JSON_TEXT(out, ",\"origin_reason\":");
		if (text)
			ok = ok && json_text_string(out, text);
		else
			JSON_TEXT(out, "null");
	}
	JSON_TEXT(out, ",\"interrupt\":");
	if (f->interrupt)
		JSON_TEXT(out, "true");
	else
		JSON_TEXT(out, "false");
	if (f->compiles)
		JSON_TEXT(out, ",\"compiles\":true");
	put_word(out, ",\"language\":", profile_languages[f->language].name);
	put_word(out, ",\"name_source\":", profile_name_source_name(f->name_source));
	return ok;
}

/* Returns one word for a function: a proven state of its self time goes before that of its total time. */
static enum diff_state overall_state(const struct diff_function *f)
{
	if (summary_proven(f->self.state))
		return f->self.state;
	if (summary_proven(f->total.state))
		return f->total.state;
	if (f->self.state == DIFF_STATE_MOVED || f->total.state == DIFF_STATE_MOVED)
		return DIFF_STATE_MOVED;
	if (f->self.state == DIFF_STATE_UNPROVEN || f->total.state == DIFF_STATE_UNPROVEN)
		return DIFF_STATE_UNPROVEN;
	return DIFF_STATE_SAME;
}

static void put_measurements(const struct diff *diff, const struct diff_function *f, struct buffer *out)
{
	put_word(out, ",\"tier\":", diff_tier_name(f->tier));
	put_word(out, ",\"code\":", diff_code_name(f->code));
	if (f->is_placement)
		JSON_TEXT(out, ",\"placement\":true");
	if (diff->layouts.count[DIFF_BASE] > 1 && isfinite(f->layout_rsd)) {
		JSON_TEXT(out, ",\"layout_spread_pct\":");
		json_text_number(out, f->layout_rsd * 100);
	}
	JSON_TEXT(out, ",\"moved_to\":");
	if (f->moved_to == PROFILE_NONE)
		JSON_TEXT(out, "null");
	else
		json_text_integer(out, f->moved_to);
	put_figure(diff, out, ",\"base_self", f->raw_self[DIFF_BASE]);
	put_figure(diff, out, ",\"head_self", f->raw_self[DIFF_HEAD]);
	put_figure(diff, out, ",\"base_total", f->raw_total[DIFF_BASE]);
	put_figure(diff, out, ",\"head_total", f->raw_total[DIFF_HEAD]);
}

static void put_differences(const struct diff *diff, const struct diff_function *f, struct buffer *out)
{
	JSON_TEXT(out, ",\"delta_self");
	end_key(diff, out);
	json_text_number(out, f->self.delta);
	JSON_TEXT(out, ",\"delta_total");
	end_key(diff, out);
	json_text_number(out, f->total.delta);
	json_functions_put_number(out, ",\"delta_self_pct_of_base\":", summary_percent_of_base(&f->self));
	json_functions_put_number(out, ",\"delta_total_pct_of_base\":", summary_percent_of_base(&f->total));
	json_functions_put_points(diff, out, ",\"delta_self_pct_points\":", f->self.delta);
	json_functions_put_points(diff, out, ",\"delta_total_pct_points\":", f->total.delta);
}

static void put_evidence(const struct diff *diff, const struct diff_function *f, struct buffer *out)
{
	json_functions_put_interval(diff, out, ",\"ci_self\":", &f->self);
	json_functions_put_interval(diff, out, ",\"ci_total\":", &f->total);
	json_functions_put_number(out, ",\"q_self\":", f->self.q);
	json_functions_put_number(out, ",\"q_total\":", f->total.q);
	json_functions_put_points(diff, out, ",\"detectable_self_pct_points\":", f->self.detectable);
	json_functions_put_points(diff, out, ",\"detectable_total_pct_points\":", f->total.detectable);
	put_word(out, ",\"state\":", diff_state_name(overall_state(f)));
	put_word(out, ",\"state_self\":", diff_state_name(f->self.state));
	put_word(out, ",\"state_total\":", diff_state_name(f->total.state));
}

static void put_single(const struct diff *diff, const struct diff_function *f, struct buffer *out)
{
	double whole = diff->raw_total[DIFF_HEAD];

	put_figure(diff, out, ",\"self", f->raw_self[DIFF_HEAD]);
	put_figure(diff, out, ",\"total", f->raw_total[DIFF_HEAD]);
	json_functions_put_number(out, ",\"self_pct\":", format_share(f->raw_self[DIFF_HEAD], whole));
	json_functions_put_number(out, ",\"total_pct\":", format_share(f->raw_total[DIFF_HEAD], whole));
}

/* ---- Waits ---- */

static bool any_wait(const struct waits *waits, enum diff_side side, size_t function)
{
	const int64_t *sums = waits_in(waits, side, function);
	int64_t all = 0;

	for (int i = 0; i < PROFILE_WAIT_COUNT; i++)
		all |= sums[i];
	return all != 0;
}

/* Writes {"lock":9850000000,"io":1480000000}: the classes that occur. */
static void put_classes(const int64_t *sums, struct buffer *out)
{
	const char *separator = "";

	JSON_TEXT(out, "{");
	for (int i = 0; i < PROFILE_WAIT_COUNT; i++) {
		if (sums[i] == 0)
			continue;
		put_word(out, separator, profile_wait_info((enum profile_wait_class)i)->name);
		JSON_TEXT(out, ":");
		json_text_integer(out, sums[i]);
		separator = ",";
	}
	JSON_TEXT(out, "}");
}

static bool put_releasers(const struct waits *waits, enum diff_side side, size_t function, struct buffer *out)
{
	enum { MOST_RELEASERS = 5 };
	size_t count;
	const struct waits_releaser *releasers = waits_releasers(waits, side, function, &count);

	JSON_TEXT(out, "[");
	for (size_t i = 0; i < count && i < MOST_RELEASERS; i++) {
		if (i > 0)
			JSON_TEXT(out, ",");
		JSON_TEXT(out, "{\"function\":");
		if (!json_text_string(out, releasers[i].name))
			return false;
		JSON_TEXT(out, ",\"ns\":");
		json_text_integer(out, releasers[i].ns);
		JSON_TEXT(out, "}");
	}
	JSON_TEXT(out, "]");
	return true;
}

/* Writes a member of one profile's function, or of both sides in an object. */
static bool put_waits_of_sides(const struct render_input *input, const struct waits *waits, size_t function,
	bool is_released_by, struct buffer *out)
{
	bool compared = input->diff->sides == DIFF_SIDES;

	if (is_released_by)
		JSON_TEXT(out, ",\"released_by\":");
	else
		JSON_TEXT(out, ",\"waits\":");
	for (int side = compared ? DIFF_BASE : DIFF_HEAD; side < DIFF_SIDES; side++) {
		if (compared && side == DIFF_BASE)
			JSON_TEXT(out, "{\"base\":");
		else if (compared)
			JSON_TEXT(out, ",\"head\":");
		if (!is_released_by)
			put_classes(waits_in(waits, (enum diff_side)side, function), out);
		else if (!put_releasers(waits, (enum diff_side)side, function, out))
			return false;
	}
	if (compared)
		JSON_TEXT(out, "}");
	return true;
}

static bool json_functions_put_waits(
	const struct render_input *input, const struct waits *waits, size_t function, struct buffer *out)
{
	size_t base, head;

	if (!any_wait(waits, DIFF_BASE, function) && !any_wait(waits, DIFF_HEAD, function))
		return true;
	if (!put_waits_of_sides(input, waits, function, false, out))
		return false;
	(void)waits_releasers(waits, DIFF_BASE, function, &base);
	(void)waits_releasers(waits, DIFF_HEAD, function, &head);
	return base + head == 0 || put_waits_of_sides(input, waits, function, true, out);
}

/* ---- Bottlenecks ---- */

static void put_class(enum profile_bottleneck bottleneck, struct buffer *out)
{
	if (bottleneck == PROFILE_BOTTLENECK_NONE)
		JSON_TEXT(out, "null");
	else
		put_word(out, "", profile_bottleneck_name(bottleneck));
}

/* Writes one word for one profile; of two an object. Left out of a function that has no class. */
static void put_bottleneck(const struct diff *diff, const struct diff_function *f, struct buffer *out)
{
	struct diff_bottleneck classes = diff_function_bottleneck(diff, f);

	if (!classes.side[DIFF_BASE] && !classes.side[DIFF_HEAD])
		return;
	JSON_TEXT(out, ",\"bottleneck\":");
	if (diff->sides < DIFF_SIDES) {
		put_class(classes.side[DIFF_HEAD], out);
		return;
	}
	JSON_TEXT(out, "{\"base\":");
	put_class(classes.side[DIFF_BASE], out);
	JSON_TEXT(out, ",\"head\":");
	put_class(classes.side[DIFF_HEAD], out);
	JSON_TEXT(out, ",\"change\":");
	put_class(classes.change, out);
	JSON_TEXT(out, "}");
}

bool json_function(const struct render_input *input, const struct waits *waits, size_t number, struct buffer *out)
{
	const struct diff_function *function = &input->diff->functions[number];

	if (!put_identity(input, function, out))
		return false;
	if (input->diff->sides == DIFF_SIDES) {
		put_measurements(input->diff, function, out);
		put_differences(input->diff, function, out);
		put_evidence(input->diff, function, out);
	} else {
		put_single(input->diff, function, out);
	}
	put_bottleneck(input->diff, function, out);
	if (waits && !json_functions_put_waits(input, waits, number, out))
		return false;
	JSON_TEXT(out, "}");
	return true;
}
