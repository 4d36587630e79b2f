/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/format.h"
#include "render/json_members.h"
#include "render/json_text.h"
#include "render/question.h"
#include "render/summary.h"

#include <math.h>

/* Writes the key of a value in the metric's unit: those of times are called base_ns, all others base. */
static void put_unit_key(const struct diff *diff, struct buffer *out, const char *key)
{
	json_text_key(out, key);
	if (diff->is_time && !out->failed) {
		out->size -= 2;
		buffer_append_string(out, "_ns\":");
	}
}

static void put_figure(const struct diff *diff, struct buffer *out, const char *key, double value)
{
	put_unit_key(diff, out, key);
	json_text_whole(out, value);
}

static void json_functions_put_delta(const struct diff *diff, struct buffer *out, const char *key, double delta)
{
	put_unit_key(diff, out, key);
	json_text_number(out, delta);
}

static void json_functions_put_points(const struct diff *diff, struct buffer *out, const char *key, double delta)
{
	json_text_member_number(out, key, summary_points(diff, delta));
}

/* Writes [low, high] in points; null without evidence. */
static void json_functions_put_interval(
	const struct diff *diff, struct buffer *out, const char *key, const struct diff_estimate *e)
{
	json_text_member_interval(out, key, summary_points(diff, e->ci_low), summary_points(diff, e->ci_high));
}

static void put_identity(const struct render_input *input, const struct diff_function *f, struct buffer *out)
{
	const struct diff *diff = input->diff;
	char id[PROFILE_FUNCTION_ID_DIGITS + 1];

	question_id(diff, f, id);
	json_text_member(out, "name", diff_string(diff, f->name));
	json_text_member(out, "shown", diff_string(diff, f->shown));
	json_text_member(out, "module", diff_string(diff, f->module));
	json_text_member(out, "file", diff_string(diff, f->file));
	json_text_member_word(out, "id", id);
	json_text_member_known(out, "line", f->line > 0, f->line);
	json_text_member(out, "key", diff_string(diff, f->key));
	json_text_member_word(out, "origin", profile_origin_name(f->origin));
	json_text_member_integer(out, "origin_rule", f->origin_rule);
	if (input->origin_rule_text && f->origin_rule) {
		const char *text = input->origin_rule_text(f->origin_rule);

		json_text_member_if(out, "origin_reason", text ? text : "");
	}
	json_text_flag(out, "interrupt", f->interrupt);
	if (f->compiles)
		json_text_flag(out, "compiles", true);
	json_text_member_word(out, "language", profile_languages[f->language].name);
	json_text_member_word(out, "name_source", profile_name_source_name(f->name_source));
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

/* Writes the functions of a group, which nothing tells apart from build to build. */
static void json_functions_put_members(const struct diff *diff, uint32_t function, struct buffer *out)
{
	size_t first = BISECT(diff->member_count, at, diff->members[at].function < function);

	json_text_list(out, "members");
	for (size_t i = first; i < diff->member_count && diff->members[i].function == function; i++) {
		const struct diff_member *member = &diff->members[i];

		json_text_open(out, '{');
		json_text_member(out, "name", diff_string(diff, member->name));
		json_text_member_word(out, "side", diff_side_name(member->side));
		put_figure(diff, out, "self", member->raw_self);
		put_figure(diff, out, "total", member->raw_total);
		json_text_close(out, '}');
	}
	json_text_end_list(out);
}

static void put_measurements(const struct diff *diff, const struct diff_function *f, struct buffer *out)
{
	json_text_member_word(out, "tier", diff_tier_name(f->tier));
	if (f->tier == DIFF_TIER_GROUP)
		json_functions_put_members(diff, (uint32_t)(f - diff->functions), out);
	json_text_member_word(out, "code", diff_code_name(f->code));
	if (f->is_placement)
		json_text_flag(out, "placement", true);
	if (diff->layouts.count[DIFF_BASE] > 1 && isfinite(f->layout_rsd))
		json_text_member_number(out, "layout_spread_pct", f->layout_rsd * 100);
	json_text_member_known(out, "moved_to", f->moved_to != PROFILE_NONE, f->moved_to);
	put_figure(diff, out, "base_self", f->raw_self[DIFF_BASE]);
	put_figure(diff, out, "head_self", f->raw_self[DIFF_HEAD]);
	put_figure(diff, out, "base_total", f->raw_total[DIFF_BASE]);
	put_figure(diff, out, "head_total", f->raw_total[DIFF_HEAD]);
}

static void put_differences(const struct diff *diff, const struct diff_function *f, struct buffer *out)
{
	json_functions_put_delta(diff, out, "delta_self", f->self.delta);
	json_functions_put_delta(diff, out, "delta_total", f->total.delta);
	json_text_member_number(out, "delta_self_pct_of_base", summary_percent_of_base(&f->self));
	json_text_member_number(out, "delta_total_pct_of_base", summary_percent_of_base(&f->total));
	json_functions_put_points(diff, out, "delta_self_pct_points", f->self.delta);
	json_functions_put_points(diff, out, "delta_total_pct_points", f->total.delta);
}

static void put_proof(const struct diff *diff, const struct diff_function *f, struct buffer *out)
{
	json_functions_put_interval(diff, out, "ci_self", &f->self);
	json_functions_put_interval(diff, out, "ci_total", &f->total);
	json_text_member_number(out, "q_self", f->self.q);
	json_text_member_number(out, "q_total", f->total.q);
	json_functions_put_points(diff, out, "detectable_self_pct_points", f->self.detectable);
	json_functions_put_points(diff, out, "detectable_total_pct_points", f->total.detectable);
	json_text_member_word(out, "state", diff_state_name(overall_state(f)));
	json_text_member_word(out, "state_self", diff_state_name(f->self.state));
	json_text_member_word(out, "state_total", diff_state_name(f->total.state));
}

static void put_single(const struct diff *diff, const struct diff_function *f, struct buffer *out)
{
	double whole = diff->raw_total[DIFF_HEAD];

	put_figure(diff, out, "self", f->raw_self[DIFF_HEAD]);
	put_figure(diff, out, "total", f->raw_total[DIFF_HEAD]);
	json_text_member_number(out, "self_pct", format_share(f->raw_self[DIFF_HEAD], whole));
	json_text_member_number(out, "total_pct", format_share(f->raw_total[DIFF_HEAD], whole));
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
	json_text_open(out, '{');
	for (int i = 0; i < PROFILE_WAIT_COUNT; i++)
		if (sums[i] != 0)
			json_text_member_integer(out, profile_wait_info((enum profile_wait_class)i)->name, sums[i]);
	json_text_close(out, '}');
}

static void put_waits_side(const struct diff *diff, const struct waits *waits, size_t function, enum diff_side side,
	bool is_released_by, struct buffer *out)
{
	size_t count;
	const struct waits_releaser *releasers = waits_releasers(waits, side, function, &count);

	if (diff->sides == DIFF_SIDES)
		json_text_key(out, diff_side_name(side));
	if (is_released_by)
		json_releasers(releasers, count, out);
	else
		put_classes(waits_in(waits, side, function), out);
}

/* Writes a member of one profile's function, or of both sides in an object. */
static void put_waits_of_sides(
	const struct diff *diff, const struct waits *waits, size_t function, bool is_released_by, struct buffer *out)
{
	bool compared = diff->sides == DIFF_SIDES;

	json_text_key(out, is_released_by ? "released_by" : "waits");
	if (compared) {
		json_text_open(out, '{');
		put_waits_side(diff, waits, function, DIFF_BASE, is_released_by, out);
	}
	put_waits_side(diff, waits, function, DIFF_HEAD, is_released_by, out);
	if (compared)
		json_text_close(out, '}');
}

static void put_waits_of_function(
	const struct diff *diff, const struct waits *waits, size_t function, struct buffer *out)
{
	size_t base, head;

	if (!any_wait(waits, DIFF_BASE, function) && !any_wait(waits, DIFF_HEAD, function))
		return;
	put_waits_of_sides(diff, waits, function, false, out);
	(void)waits_releasers(waits, DIFF_BASE, function, &base);
	(void)waits_releasers(waits, DIFF_HEAD, function, &head);
	if (base + head > 0)
		put_waits_of_sides(diff, waits, function, true, out);
}

/* ---- Bottlenecks ---- */

static void put_class(const char *key, enum profile_bottleneck bottleneck, struct buffer *out)
{
	json_text_member_if(out, key, bottleneck == PROFILE_BOTTLENECK_NONE ? "" : profile_bottleneck_name(bottleneck));
}

/* Writes one word for one profile; of two an object. Left out of a function that has no class. */
static void put_bottleneck(const struct diff *diff, const struct diff_function *f, struct buffer *out)
{
	struct diff_bottleneck classes = diff_function_bottleneck(diff, f);

	if (!classes.side[DIFF_BASE] && !classes.side[DIFF_HEAD])
		return;
	if (diff->sides < DIFF_SIDES) {
		put_class("bottleneck", classes.side[DIFF_HEAD], out);
		return;
	}
	json_text_begin(out, "bottleneck", '{');
	put_class("base", classes.side[DIFF_BASE], out);
	put_class("head", classes.side[DIFF_HEAD], out);
	put_class("change", classes.change, out);
	json_text_close(out, '}');
}

void json_function(const struct render_input *input, const struct waits *waits, size_t number, struct buffer *out)
{
	const struct diff *diff = input->diff;
	const struct diff_function *function = &diff->functions[number];

	json_text_open(out, '{');
	put_identity(input, function, out);
	if (diff->sides == DIFF_SIDES) {
		put_measurements(diff, function, out);
		put_differences(diff, function, out);
		put_proof(diff, function, out);
	} else {
		put_single(diff, function, out);
	}
	put_bottleneck(diff, function, out);
	if (waits)
		put_waits_of_function(diff, waits, number, out);
	json_text_close(out, '}');
}
