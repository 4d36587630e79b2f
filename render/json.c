/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the members of a report in JSON (docs/json.md). */
#include "render/groups.h"
#include "render/json_members.h"
#include "render/json_text.h"
#include "render/lines.h"
#include "render/page_data.h"
#include "render/question.h"
#include "render/summary.h"

#include <math.h>
#include <string.h>

/*
 * Schemas kelvin.diff/1 and kelvin.report/1; docs/json.md describes each member. Members may be added, never changed.
 */

struct json_writer {
	const struct render_input *input;
	const struct diff *diff;
	const struct diff_suite *suite; /* whose verdict and warnings are written; NULL: the diff's are */
	struct buffer *out;
};

/* ---- Values ---- */

static void put_name(const struct json_writer *w, const char *key, uint32_t id)
{
	json_text_member(w->out, key, diff_string(w->diff, id));
}

static void put_known(const struct json_writer *w, const char *key, bool is_known, uint64_t value)
{
	json_text_member_known(w->out, key, is_known, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

static void put_amount(const struct json_writer *w, const char *key, uint64_t value)
{
	put_known(w, key, true, value);
}

static void json_put_points(const struct json_writer *w, const char *key, double delta)
{
	json_text_member_number(w->out, key, summary_points(w->diff, delta));
}

/* Returns the key of a value in the metric's unit: that of a metric which is no time has none of "_ns". */
static const char *unit_key(const struct json_writer *w, const char *key, char plain[static 16])
{
	snprintf(plain, 16, "%.*s", (int)(strlen(key) - strlen("_ns")), key);
	return w->diff->is_time ? key : plain;
}

static void put_measure(const struct json_writer *w, const char *key, double value)
{
	char plain[16];

	json_text_member_whole(w->out, unit_key(w, key, plain), value);
}

static void json_open_member(const struct json_writer *w, const char *key)
{
	json_text_begin(w->out, key, '{');
}

static void json_close_member(const struct json_writer *w)
{
	json_text_close(w->out, '}');
}

/* ---- Recordings ---- */

static void put_stops(const struct profile_quality *quality, struct buffer *out)
{
	json_text_begin(out, "stops", '{');
	for (int i = 0; i < PROFILE_STOP_COUNT; i++)
		if (quality->stops[i] > 0)
			json_text_member_integer(
				out, profile_stop_name((enum profile_stop)i), (int64_t)quality->stops[i]);
	json_text_close(out, '}');
}

/* Counts of --verify, if the recording was verified. */
static void json_put_verified(const struct json_writer *w, const struct profile *profile)
{
	const struct profile_verification *verification = &profile->verification;

	if (!verification->is_there)
		return;
	json_open_member(w, "verified");
	json_open_member(w, "stacks");
	put_amount(w, "compared", profile_verification_stacks(verification));
	for (int i = 0; i < PROFILE_COMPARISON_COUNT; i++)
		put_amount(w, profile_comparison_name((enum profile_comparison)i), verification->stacks[i]);
	json_close_member(w);
	json_open_member(w, "names");
	put_amount(w, "compared", verification->names_equal + verification->names_other);
	put_amount(w, "equal", verification->names_equal);
	put_amount(w, "other", verification->names_other);
	json_close_member(w);
	json_close_member(w);
}

/* Returns the time that passed, as its threads' switches tell it (record --elapsed). */
static double elapsed_time(const struct profile *profile)
{
	uint32_t elapsed = profile_find_metric(profile, PROFILE_ELAPSED, "nanoseconds");

	return elapsed == PROFILE_NONE ? NAN : (double)profile_sum(profile, elapsed);
}

static void put_quality(const struct json_writer *w, const struct profile *profile)
{
	const struct profile_quality *quality = &profile->quality;
	double duration_ns = 0;
	bool recorded = summary_quality_recorded(profile);

	for (size_t i = 0; i < profile->run_count; i++)
		duration_ns += (double)profile->runs[i].duration_ns;
	put_amount(w, "runs", profile->run_count);
	json_text_member_whole(w->out, "duration_ns", duration_ns);
	json_text_member_whole(w->out, "elapsed_ns", elapsed_time(profile));
	json_text_member_whole(w->out, "samples", summary_samples(profile));
	put_known(w, "lost", recorded, quality->lost);
	put_known(w, "throttled", recorded, quality->throttled);
	put_known(w, "lost_sideband", recorded, quality->lost_sideband);
	json_text_member_number(w->out, "whole_stacks_pct", summary_whole_percent(profile));
	put_stops(quality, w->out);
}

void json_fact(const struct profile *profile, const struct profile_fact *fact, struct buffer *out)
{
	uint32_t value = profile_fact_get(&profile->facts, fact);

	switch (fact->type) {
	case PROFILE_FACT_STRING:
		json_text_member(out, fact->name, profile_string(profile, value));
		return;
	case PROFILE_FACT_NUMBER:
		json_text_member_integer(out, fact->name, value);
		return;
	case PROFILE_FACT_THOUSANDTHS:
		json_text_member_number(out, fact->name, value ? value / 1000.0 : NAN);
		return;
	case PROFILE_FACT_FLAG:
		json_text_flag(out, fact->name, value);
		return;
	}
}

static void put_labels(const struct profile *profile, struct buffer *out)
{
	json_text_begin(out, "labels", '{');
	for (size_t i = 0; i < profile->label_count; i++) {
		json_text_string(out, profile_string(profile, profile->labels[i].key));
		buffer_append_byte(out, ':');
		json_text_string(out, profile_string(profile, profile->labels[i].value));
	}
	json_text_close(out, '}');
}

static void put_recording(const struct json_writer *w, const char *key, enum diff_side side)
{
	const struct profile *profile = w->input->profiles[side];
	size_t fact_count;
	const struct profile_fact *facts = profile_facts(&fact_count);

	json_open_member(w, key);
	json_text_member(w->out, "name", w->input->names[side]);
	for (size_t i = 0; profile && i < fact_count; i++)
		if (!facts[i].is_rare || profile_fact_get(&profile->facts, &facts[i]) != 0)
			json_fact(profile, &facts[i], w->out);
	if (profile && profile->label_count > 0) {
		put_labels(profile, w->out);
	}
	if (profile) {
		json_put_verified(w, profile);
		put_quality(w, profile);
		json_requests(w->input, side, w->out);
	}
	json_close_member(w);
}

/* ---- The comparison as a whole ---- */

/*
 * Writes the names of all metrics that can be shown, or compared: not samples where there are none, or where they are
 * not known.
 */
static void put_metrics(const struct json_writer *w)
{
	struct page_metric found[PROFILE_MAX_VALUE_TYPES];
	size_t found_count = page_data_metrics(w->input, found);

	json_open_member(w, "metric");
	put_name(w, "name", w->diff->metric);
	put_name(w, "unit", w->diff->unit);
	json_close_member(w);
	json_text_begin(w->out, "metrics", '[');
	for (size_t i = 0; i < found_count; i++)
		if (found[i].index[DIFF_HEAD] >= profile_first_metric(w->input->profiles[DIFF_HEAD]))
			json_text_string(w->out, found[i].type);
	json_text_close(w->out, ']');
}

static void put_scale(const struct json_writer *w)
{
	const struct diff *diff = w->diff;
	bool known = diff->scale.other_factor > 0;

	json_open_member(w, "scale");
	json_text_member(w->out, "mode", diff_scale_mode_name(diff->scale.mode));
	json_text_member_number(w->out, "factor", diff->scale.factor);
	/* The factor may be no estimate. */
	json_text_member_interval(w->out, "factor_ci", diff->scale.factor_low, diff->scale.factor_high);
	json_text_member(w->out, "load", diff->scale.load_is_unknown ? "unknown" : "known");
	json_text_member(w->out, "length", diff->scale.length_is_unknown ? "unknown" : "known");
	json_text_member_if(w->out, "other_mode", known ? diff_scale_mode_name(diff->scale.other_mode) : "");
	json_text_member_number(w->out, "other_factor", known ? diff->scale.other_factor : NAN);
	put_name(w, "text", diff->scale_text);
	json_text_member_if(w->out, "requests_doubt", diff_string(diff, diff->requests_doubt));
	json_close_member(w);
}

static void put_totals(const struct json_writer *w)
{
	const struct diff_estimate *e = &w->diff->total;
	char plain[16];

	json_open_member(w, "totals");
	put_measure(w, "base_ns", w->diff->raw_total[DIFF_BASE]);
	put_measure(w, "head_ns", w->diff->raw_total[DIFF_HEAD]);
	json_text_member_number(w->out, unit_key(w, "delta_ns", plain), e->delta);
	json_text_member_number(w->out, "delta_pct_of_base", summary_percent_of_base(e));
	json_put_points(w, "delta_pct_points", e->delta);
	json_text_member_interval(
		w->out, "ci", summary_points(w->diff, e->ci_low), summary_points(w->diff, e->ci_high));
	json_text_member_number(w->out, "q", e->q);
	json_put_points(w, "detectable_pct_points", e->detectable);
	json_text_member(w->out, "state", diff_state_name(e->state));
	json_close_member(w);
}

static void put_evidence(const struct json_writer *w)
{
	const struct diff_evidence *e = &w->diff->evidence;

	json_open_member(w, "evidence");
	json_text_member(w->out, "mode", diff_evidence_mode_name(e->mode));
	put_amount(w, "runs_base", e->runs[DIFF_BASE]);
	put_amount(w, "runs_head", e->runs[DIFF_HEAD]);
	json_text_member_number(w->out, "q", e->q);
	json_open_member(w, "variance");
	for (int i = 0; i < DIFF_VARIANCE_COUNT; i++)
		json_text_member_number(w->out, diff_variance_name((enum diff_variance)i), e->variance[i]);
	json_close_member(w);
	json_close_member(w);
}

static void put_warnings(const struct json_writer *w)
{
	const struct string_table *strings = w->suite ? w->suite->strings : w->diff->strings;
	const struct diff_warning *all = w->suite ? w->suite->warnings : w->diff->warnings;
	size_t warning_count = w->suite ? w->suite->warning_count : w->diff->warning_count;

	json_text_begin(w->out, "warnings", '[');
	for (size_t i = 0; i < warning_count; i++) {
		json_text_open(w->out, '{');
		json_text_member(w->out, "text", string_table_get(strings, all[i].text));
		json_text_flag(w->out, "blocks_gate", all[i].blocks_gate);
		json_close_member(w);
	}
	json_text_close(w->out, ']');
}

/* Writes the members of an origin, or of what is beside the origins and not part of the totals. */
static void put_origin(const struct json_writer *w, const struct diff_origin *o, double delta)
{
	char plain[16];

	if (w->diff->sides == DIFF_SIDES) {
		put_measure(w, "base_ns", o->raw[DIFF_BASE]);
		put_measure(w, "head_ns", o->raw[DIFF_HEAD]);
		json_text_member_number(w->out, unit_key(w, "delta_ns", plain), delta);
		json_put_points(w, "delta_pct_points", delta);
	} else {
		put_measure(w, "self_ns", o->raw[DIFF_HEAD]);
		json_text_member_number(
			w->out, "self_pct", format_share(o->raw[DIFF_HEAD], w->diff->raw_total[DIFF_HEAD]));
	}
}

static void put_origins(const struct json_writer *w)
{
	json_text_begin(w->out, "origins", '[');
	for (int i = 0; i < PROFILE_ORIGIN_COUNT; i++) {
		json_text_open(w->out, '{');
		json_text_member(w->out, "origin", profile_origin_name((enum profile_origin)i));
		put_origin(w, &w->diff->origins[i], w->diff->origins[i].delta);
		json_close_member(w);
	}
	json_text_close(w->out, ']');
	json_open_member(w, "interrupts");
	put_origin(w, &w->diff->interrupts, w->diff->interrupts.delta);
	json_close_member(w);
	json_open_member(w, "compilation");
	put_origin(w, &w->diff->compilation, w->diff->compilation.delta);
	json_close_member(w);
	if (summary_has_run_queue(w->diff)) {
		const struct diff_estimate *e = &w->diff->waits[PROFILE_WAIT_RUN_QUEUE].total;

		json_open_member(w, "run_queue");
		put_origin(w, &w->diff->run_queue, e->delta);
		json_text_member(w->out, "state", diff_state_name(e->state));
		json_close_member(w);
	}
}

static void put_layouts(const struct json_writer *w)
{
	const struct diff_layouts *layouts = &w->diff->layouts;

	if (layouts->count[DIFF_BASE] + layouts->count[DIFF_HEAD] == 0 && layouts->same_code_functions == 0) {
		json_text_member_null(w->out, "layouts");
		return;
	}
	json_open_member(w, "layouts");
	put_amount(w, "base", layouts->count[DIFF_BASE]);
	put_amount(w, "head", layouts->count[DIFF_HEAD]);
	json_text_member_number(w->out, "spread_pct", layouts->rsd * 100);
	put_amount(w, "same_code_functions", layouts->same_code_functions);
	json_text_member_number(w->out, "same_code_spread_pct", layouts->same_code_rsd * 100);
	json_close_member(w);
}

static void put_pair_of(const struct json_writer *w, const char *key, const double values[static DIFF_SIDES])
{
	json_text_member_interval(w->out, key, values[DIFF_BASE], values[DIFF_HEAD]);
}

/* Why more or less time passes on the clock; null of other metrics. */
static void put_elapsed(const struct json_writer *w)
{
	const struct diff_elapsed *elapsed = &w->diff->elapsed;

	if (!elapsed->is_known) {
		json_text_member_null(w->out, "elapsed");
		return;
	}
	json_open_member(w, "elapsed");
	put_pair_of(w, "cpu_ns", elapsed->cpu);
	put_pair_of(w, "waiting_ns", elapsed->waiting);
	json_text_member_number(w->out, "by_cpu_ns", elapsed->by_cpu);
	json_text_member_number(w->out, "by_waiting_ns", elapsed->by_waiting);
	json_text_member_number(w->out, "by_parallel_ns", elapsed->by_together);
	if (elapsed->is_overlapped) {
		json_open_member(w, "overlapped");
		json_text_member(w->out, "class", profile_wait_info(elapsed->overlapped)->name);
		put_pair_of(w, "waiting_ns", elapsed->overlapped_waiting);
		json_close_member(w);
	} else {
		json_text_member_null(w->out, "overlapped");
	}
	json_close_member(w);
}

/* Writes the result of comparing base with base; null without such runs. */
static void put_control(const struct json_writer *w)
{
	const struct diff_control *control = &w->diff->control;

	if (!control->is_known) {
		json_text_member_null(w->out, "control");
		return;
	}
	json_open_member(w, "control");
	json_text_member(w->out, "verdict", diff_verdict_name(control->verdict));
	json_text_member_number(w->out, "delta_pct", control->change * 100);
	json_text_member_pair(w->out, "ci", control->change_low * 100, control->change_high * 100);
	json_close_member(w);
}

/* Writes classes, files and modules that have another name in head, where there are any. */
static void put_renamings(const struct json_writer *w)
{
	const struct diff *diff = w->diff;

	if (diff->renaming_count == 0)
		return;
	json_text_begin(w->out, "renamings", '[');
	for (size_t i = 0; i < diff->renaming_count; i++) {
		json_text_open(w->out, '{');
		json_text_member(w->out, "base", diff_string(diff, diff->renamings[i].shown[DIFF_BASE]));
		json_text_member(w->out, "head", diff_string(diff, diff->renamings[i].shown[DIFF_HEAD]));
		put_amount(w, "functions", diff->renamings[i].functions);
		json_close_member(w);
	}
	json_text_close(w->out, ']');
}

/* ---- Commits ---- */

static void put_suspect(const struct json_writer *w, size_t number)
{
	const struct commits *commits = w->input->commits;
	const struct commits_suspect *suspect = &commits->suspects[number];
	const struct repository_commit *commit = &commits->history->commits[suspect->commit];

	json_text_open(w->out, '{');
	json_text_member(w->out, "id", commit->id);
	json_text_member(w->out, "subject", string_table_get(commits->history->strings, commit->subject));
	json_text_begin(w->out, "functions", '[');
	for (size_t i = 0; i < suspect->function_count; i++)
		json_text_string(
			w->out, diff_string(commits->diff, commits->diff->functions[suspect->functions[i]].name));
	json_text_close(w->out, ']');
	json_text_member_number(w->out, "share_pct", suspect->share * 100);
	put_amount(w, "rank", number + 1);
	json_text_flag(w->out, "executed", true);
	json_close_member(w);
}

/* Writes the commits that can be the cause, and those that cannot. */
static void put_commits(const struct json_writer *w)
{
	const struct commits *commits = w->input->commits;

	if (!commits)
		return;
	json_text_member(w->out, "commits_text", string_table_get(commits->strings, commits->verdict_text));
	json_text_begin(w->out, "commits", '[');
	for (size_t i = 0; i < commits->suspect_count; i++)
		put_suspect(w, i);
	json_text_close(w->out, ']');
	json_text_begin(w->out, "commits_not_executed", '[');
	for (size_t i = 0; i < commits->history->commit_count; i++)
		if (!commits->is_executed[i])
			json_text_string(w->out, commits->history->commits[i].id);
	json_text_close(w->out, ']');
}

/* ---- Documents ---- */

static void put_verdict(const struct json_writer *w)
{
	const struct diff_suite *suite = w->suite;
	bool needs = !suite && w->diff->needs_times_samples > 0;

	json_text_member(w->out, "verdict", diff_verdict_name(suite ? suite->verdict : w->diff->verdict));
	json_text_member(w->out, "verdict_text",
		suite ? diff_suite_string(suite, suite->verdict_text) : diff_string(w->diff, w->diff->verdict_text));
	json_text_flag(w->out, "gate_failed", suite ? suite->gate_failed : w->diff->gate_failed);
	json_text_member_number(w->out, "needs_times_samples", needs ? w->diff->needs_times_samples : NAN);
}

static void put_diff(const struct json_writer *w)
{
	put_verdict(w);
	json_cause(w->diff, w->out);
	put_scale(w);
	json_latency(w->diff, w->out);
	put_totals(w);
	put_evidence(w);
	json_runs(w->input, w->out);
	json_instances(w->input, w->out);
	put_layouts(w);
	put_elapsed(w);
	put_control(w);
	json_open_member(w, "recordings");
	put_recording(w, "base", DIFF_BASE);
	put_recording(w, "head", DIFF_HEAD);
	json_close_member(w);
	put_renamings(w);
	put_commits(w);
}

static void put_report(const struct json_writer *w)
{
	json_open_member(w, "totals");
	json_text_member_whole(w->out, w->diff->is_time ? "ns" : "total", w->diff->raw_total[DIFF_HEAD]);
	json_close_member(w);
	put_recording(w, "recording", DIFF_HEAD);
}

/* Writes the last member, one function a line, since there are many. */
static void put_functions(const struct json_writer *w, const struct waits *waits)
{
	size_t all = w->diff->function_count, count = question_rows(w->input, all);

	count = count < all ? count : all;
	json_text_left_out(w->out, "functions", all - count);
	json_text_list(w->out, "functions");
	for (size_t i = 0; i < count && !w->out->failed; i++) {
		/* The comma is set here: bytes that were passed on do not show that one is due. */
		buffer_append_string(w->out, i ? ",\n  " : "\n  ");
		json_function(w->input, waits, i, w->out);
		buffer_pass_on(w->out);
	}
	buffer_append_string(w->out, count ? "\n ]\n}\n" : "]\n}\n");
}

static void put_members(const struct json_writer *w, const struct waits *waits)
{
	bool compared = w->diff->sides == DIFF_SIDES;
	const struct profile *head = w->input->profiles[DIFF_HEAD];

	json_text_open(w->out, '{');
	json_text_member(w->out, "schema", compared ? "kelvin.diff/1" : "kelvin.report/1");
	json_text_member(w->out, "tool", w->input->tool);
	put_metrics(w);
	(compared ? put_diff : put_report)(w);
	put_warnings(w);
	put_origins(w);
	if (waits)
		json_waits(w->diff, waits, w->out);
	if (!compared && head)
		json_put_verified(w, head);
}

/* Appends members with a line for each value, but for the end of the object. */
static void append_lines(struct buffer *out, const char *members)
{
	static const char open[] = "{[", close[] = "}]";
	size_t depth = 0;
	bool in_text = false;

	for (const char *at = members; *at; at++) {
		bool is_open = !in_text && strchr(open, *at), is_close = !in_text && strchr(close, *at);
		bool is_empty = is_open && strchr(close, at[1]) && at[1];

		depth -= is_close;
		if (is_close && !strchr(open, at[-1]))
			buffer_printf(out, "\n%*s", (int)depth, "");
		buffer_append_byte(out, (uint8_t)*at);
		depth += is_open;
		if ((is_open && !is_empty) || (!in_text && *at == ','))
			buffer_printf(out, "\n%*s", (int)depth, "");
		if (!in_text && *at == ':')
			buffer_append_byte(out, ' ');
		if (in_text && *at == '\\')
			buffer_append_byte(out, (uint8_t) * ++at);
		else if (*at == '"')
			in_text = !in_text;
	}
}

bool json_document(
	const struct render_input *input, const struct render_suite *suite, struct buffer *out, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer members = { 0 };
	struct json_writer w = { input, input->diff, suite ? suite->suite : NULL, &members };
	CLEANUP(waits_cleanup) struct waits *waits = NULL;

	waits_create(input->diff, input->profiles, &waits);
	buffer_init(&members, (size_t)1 << 30);
	put_members(&w, waits);
	if (!buffer_ok(&members, err))
		return false;
	append_lines(out, members.data);
	w.out = out;
	if (suite)
		json_benchmarks(suite, suite->suite->is_measured || w.diff->is_time, out);
	if (w.diff->sides == DIFF_SIDES)
		json_changes(w.diff, out);
	if (lines_are_asked(input))
		lines_json(input, out);
	question_json(input, out);
	groups_json(input, out);
	put_functions(&w, waits);
	return buffer_ok(out, err);
}

bool render_json(const struct render_input *input, struct buffer *out, struct error *err)
{
	return json_document(input, NULL, out, err);
}
