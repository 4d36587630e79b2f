/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the members of a report in JSON (docs/json.md). */
#include "render/format.h"
#include "render/groups.h"
#include "render/json_changes.h"
#include "render/json_commits.h"
#include "render/json_document.h"
#include "render/json_functions.h"
#include "render/json_layouts.h"
#include "render/json_requests.h"
#include "render/json_runs.h"
#include "render/json_text.h"
#include "render/lines.h"
#include "render/page_data.h"
#include "render/question.h"
#include "render/report.h"
#include "render/summary.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/*
 * Schemas kelvin.diff/1 and kelvin.report/1; docs/json.md describes each member. Members may be added, never changed.
 */

struct json_writer {
	const struct render_input *input;
	const struct diff *diff;
	const struct diff_suite *suite; /* whose verdict and warnings are written; NULL: the diff's are */
	const struct waits *waits;      /* NULL: there are none */
	bool failed;                    /* out of memory: sticky */
};

/* ---- Values ---- */

static inline void decref_cleanup(json_t **json)
{
	json_decref(*json);
}

/* Takes ownership of `value`; NULL marks a failure. */
static void document_put(struct json_writer *w, json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new(object, name, value) != 0)
		w->failed = true;
}

static void document_push(struct json_writer *w, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value) != 0)
		w->failed = true;
}

static json_t *id_string(const struct json_writer *w, uint32_t id)
{
	return json_valid_string(diff_string(w->diff, id));
}

/* Returns a measured value, rounded to whole units. No measurement reaches 2^63. */
static json_t *measured(double value)
{
	if (!isfinite(value))
		return json_null();
	return fabs(value) < 9e18 ? json_integer((json_int_t)llround(value)) : json_real(value);
}

static json_t *render_json_count(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

/* Returns [low, high] in points; null without evidence. */
static json_t *document_interval(struct json_writer *w, const struct diff_estimate *e)
{
	json_t *array;

	if (!isfinite(e->ci_low) || !isfinite(e->ci_high))
		return json_null();
	array = json_array();
	document_push(w, array, json_number(summary_points(w->diff, e->ci_low)));
	document_push(w, array, json_number(summary_points(w->diff, e->ci_high)));
	return array;
}

/* ---- Recordings ---- */

static json_t *json_stops(struct json_writer *w, const struct profile_quality *quality)
{
	json_t *object = json_object();

	for (int i = 0; i < PROFILE_STOP_COUNT; i++) {
		if (quality->stops[i] > 0)
			document_put(w, object, profile_stop_name((enum profile_stop)i),
				render_json_count(quality->stops[i]));
	}
	return object;
}

/* Counts of --verify, if the recording was verified. */
static json_t *json_verified(struct json_writer *w, const struct profile *profile)
{
	const struct profile_verification *verification = &profile->verification;
	json_t *object = json_object(), *stacks = json_object(), *names = json_object();

	document_put(w, stacks, "compared", render_json_count(profile_verification_stacks(verification)));
	for (int i = 0; i < PROFILE_COMPARISON_COUNT; i++)
		document_put(w, stacks, profile_comparison_name((enum profile_comparison)i),
			render_json_count(verification->stacks[i]));
	document_put(w, names, "compared", render_json_count(verification->names_equal + verification->names_other));
	document_put(w, names, "equal", render_json_count(verification->names_equal));
	document_put(w, names, "other", render_json_count(verification->names_other));
	document_put(w, object, "stacks", stacks);
	document_put(w, object, "names", names);
	return object;
}

/* Returns the time that passed, as its threads' switches tell it (record --elapsed). */
static json_t *elapsed_time(const struct profile *profile)
{
	uint32_t elapsed = profile_find_metric(profile, PROFILE_ELAPSED, "nanoseconds");

	return elapsed == PROFILE_NONE ? json_null() : measured((double)profile_sum(profile, elapsed));
}

static void put_quality(struct json_writer *w, json_t *object, const struct profile *profile)
{
	const struct profile_quality *quality = &profile->quality;
	double duration_ns = 0;
	bool recorded = summary_quality_recorded(profile);

	for (size_t i = 0; i < profile->run_count; i++)
		duration_ns += (double)profile->runs[i].duration_ns;
	document_put(w, object, "runs", render_json_count(profile->run_count));
	document_put(w, object, "duration_ns", measured(duration_ns));
	document_put(w, object, "elapsed_ns", elapsed_time(profile));
	document_put(w, object, "samples", measured(summary_samples(profile)));
	document_put(w, object, "lost", recorded ? render_json_count(quality->lost) : json_null());
	document_put(w, object, "throttled", recorded ? render_json_count(quality->throttled) : json_null());
	document_put(w, object, "lost_sideband", recorded ? render_json_count(quality->lost_sideband) : json_null());
	document_put(w, object, "whole_stacks_pct", json_number(summary_whole_percent(profile)));
	document_put(w, object, "stops", json_stops(w, quality));
}

static json_t *json_fact_value(const struct profile *profile, const struct profile_fact *fact)
{
	uint32_t value = profile_fact_get(&profile->facts, fact);

	switch (fact->type) {
	case PROFILE_FACT_STRING:
		return json_valid_string(profile_string(profile, value));
	case PROFILE_FACT_NUMBER:
		return render_json_count(value);
	case PROFILE_FACT_THOUSANDTHS:
		return value ? json_number(value / 1000.0) : json_null();
	case PROFILE_FACT_FLAG:
		return json_boolean(value);
	}
	return json_null();
}

static json_t *json_labels(struct json_writer *w, const struct profile *profile)
{
	json_t *object = json_object();

	for (size_t i = 0; i < profile->label_count; i++)
		document_put(w, object, profile_string(profile, profile->labels[i].key),
			json_valid_string(profile_string(profile, profile->labels[i].value)));
	return object;
}

static json_t *json_recording(struct json_writer *w, enum diff_side side)
{
	const struct profile *profile = w->input->profiles[side];
	size_t fact_count;
	const struct profile_fact *facts = profile_facts(&fact_count);
	json_t *object = json_object();

	document_put(w, object, "name", json_valid_string(w->input->names[side] ? w->input->names[side] : ""));
	if (!profile)
		return object;
	for (size_t i = 0; i < fact_count; i++)
		if (!facts[i].is_rare || profile_fact_get(&profile->facts, &facts[i]) != 0)
			document_put(w, object, facts[i].name, json_fact_value(profile, &facts[i]));
	if (profile->label_count > 0)
		document_put(w, object, "labels", json_labels(w, profile));
	if (profile->verification.is_there)
		document_put(w, object, "verified", json_verified(w, profile));
	put_quality(w, object, profile);
	document_put(w, object, "requests", json_requests(w->input, side));
	return object;
}

/* ---- The comparison as a whole ---- */

static json_t *metric(struct json_writer *w)
{
	json_t *object = json_object();

	document_put(w, object, "name", id_string(w, w->diff->metric));
	document_put(w, object, "unit", id_string(w, w->diff->unit));
	return object;
}

/*
 * Returns the names of all metrics that can be shown, or compared: not samples where there are none, or where they are
 * not known.
 */
static json_t *json_metrics(struct json_writer *w)
{
	struct page_metric found[PROFILE_MAX_VALUE_TYPES];
	size_t found_count = page_data_metrics(w->input, found);
	json_t *array = json_array();

	for (size_t i = 0; i < found_count; i++)
		if (found[i].index[DIFF_HEAD] >= profile_first_metric(w->input->profiles[DIFF_HEAD]))
			document_push(w, array, json_valid_string(found[i].type));
	return array;
}

/* Returns the classes of a side that occur, with their time. */
static json_t *waits_of_side(struct json_writer *w, enum diff_side side)
{
	const int64_t *total = waits_total(w->waits, side);
	json_t *array = json_array();

	for (int i = 0; i < PROFILE_WAIT_COUNT; i++) {
		json_t *object;

		if (total[i] == 0)
			continue;
		object = json_object();
		document_put(
			w, object, "class", json_valid_string(profile_wait_info((enum profile_wait_class)i)->name));
		document_put(w, object, "ns", json_integer(total[i]));
		document_push(w, array, object);
	}
	return array;
}

static json_t *json_waits(struct json_writer *w)
{
	json_t *object;

	if (w->diff->sides != DIFF_SIDES)
		return waits_of_side(w, DIFF_HEAD);
	object = json_object();
	document_put(w, object, "base", waits_of_side(w, DIFF_BASE));
	document_put(w, object, "head", waits_of_side(w, DIFF_HEAD));
	return object;
}

/* Returns the functions with the largest times: where threads waited for a lock, or who let it go. */
static json_t *functions_of_lock(struct json_writer *w, const struct waits_releaser *functions, size_t function_count)
{
	enum { MOST_FUNCTIONS = 5 };
	json_t *array = json_array();

	for (size_t i = 0; i < function_count && i < MOST_FUNCTIONS; i++) {
		json_t *object = json_object();

		document_put(w, object, "function", json_valid_string(functions[i].name));
		document_put(w, object, "ns", json_integer(functions[i].ns));
		document_push(w, array, object);
	}
	return array;
}

static void json_put_lock(struct json_writer *w, json_t *object, const struct waits_lock *lock)
{
	document_put(w, object, "ns", json_integer(lock->ns));
	document_put(w, object, "callers", functions_of_lock(w, lock->callers, lock->caller_count));
	document_put(w, object, "released_by", functions_of_lock(w, lock->releasers, lock->releaser_count));
}

static json_t *lock_identity(struct json_writer *w, const struct waits_lock *lock)
{
	json_t *object = json_object();

	document_put(w, object, "name", json_valid_string(lock->name));
	document_put(w, object, "module", json_valid_string(lock->module));
	return object;
}

/* null: nobody waited for it on that side. */
static json_t *lock_of_side(struct json_writer *w, const struct waits_lock *lock)
{
	json_t *object;

	if (!lock)
		return json_null();
	object = json_object();
	json_put_lock(w, object, lock);
	return object;
}

enum { MOST_LOCKS = 100 };

static json_t *locks_of_report(struct json_writer *w)
{
	size_t lock_count;
	const struct waits_lock *locks = waits_locks(w->waits, DIFF_HEAD, &lock_count);
	json_t *array = json_array();

	for (size_t i = 0; i < lock_count && i < MOST_LOCKS; i++) {
		json_t *object = lock_identity(w, &locks[i]);

		json_put_lock(w, object, &locks[i]);
		document_push(w, array, object);
	}
	return array;
}

static json_t *lock_of_diff(struct json_writer *w, const struct waits_lock *base, const struct waits_lock *head)
{
	json_t *object = lock_identity(w, head ? head : base);

	document_put(w, object, "base", lock_of_side(w, base));
	document_put(w, object, "head", lock_of_side(w, head));
	return object;
}

/* Locks by name: the first of head, and then those of the first of base that were not among these. */
static json_t *locks_of_diff(struct json_writer *w)
{
	size_t lock_count, named = 0;
	const struct waits_lock *locks = waits_locks(w->waits, DIFF_HEAD, &lock_count), *last = NULL;
	json_t *array = json_array();

	for (size_t i = 0; i < lock_count && named < MOST_LOCKS; i++) {
		if (!locks[i].name[0])
			continue;
		last = &locks[i];
		document_push(w, array, lock_of_diff(w, waits_find_lock(w->waits, DIFF_BASE, last), last));
		named++;
	}
	locks = waits_locks(w->waits, DIFF_BASE, &lock_count);
	for (size_t i = named = 0; i < lock_count && named < MOST_LOCKS; i++) {
		const struct waits_lock *head = waits_find_lock(w->waits, DIFF_HEAD, &locks[i]);

		if (!locks[i].name[0])
			continue;
		if (!head || head > last)
			document_push(w, array, lock_of_diff(w, &locks[i], head));
		named++;
	}
	return array;
}

/* Locks without a name cannot be told to be the same on both sides. */
static json_t *nameless_locks(struct json_writer *w, enum diff_side side)
{
	size_t lock_count, nameless = 0;
	const struct waits_lock *locks = waits_locks(w->waits, side, &lock_count);
	json_t *object = json_object();
	int64_t all_ns = 0;

	for (size_t i = 0; i < lock_count; i++) {
		if (locks[i].name[0])
			continue;
		nameless++;
		all_ns = saturating_add(all_ns, locks[i].ns);
	}
	document_put(w, object, "count", render_json_count(nameless));
	document_put(w, object, "ns", json_integer(all_ns));
	return object;
}

static void put_locks(struct json_writer *w, json_t *root)
{
	json_t *nameless;

	if (w->diff->sides != DIFF_SIDES) {
		document_put(w, root, "locks", locks_of_report(w));
		return;
	}
	nameless = json_object();
	document_put(w, nameless, "base", nameless_locks(w, DIFF_BASE));
	document_put(w, nameless, "head", nameless_locks(w, DIFF_HEAD));
	document_put(w, root, "locks", locks_of_diff(w));
	document_put(w, root, "nameless_locks", nameless);
}

static void json_put_waits(struct json_writer *w, json_t *root)
{
	document_put(w, root, "waits", json_waits(w));
	put_locks(w, root);
}

/* Returns [low, high]; null if the factor is not an estimate. */
static json_t *factor_interval(struct json_writer *w)
{
	json_t *array;

	if (!isfinite(w->diff->scale.factor_low) || !isfinite(w->diff->scale.factor_high))
		return json_null();
	array = json_array();
	document_push(w, array, json_number(w->diff->scale.factor_low));
	document_push(w, array, json_number(w->diff->scale.factor_high));
	return array;
}

static json_t *scale(struct json_writer *w)
{
	bool known = w->diff->scale.other_factor > 0;
	json_t *object = json_object();

	document_put(w, object, "mode", json_valid_string(diff_scale_mode_name(w->diff->scale.mode)));
	document_put(w, object, "factor", json_number(w->diff->scale.factor));
	document_put(w, object, "factor_ci", factor_interval(w));
	document_put(w, object, "load", json_valid_string(w->diff->scale.load_is_unknown ? "unknown" : "known"));
	document_put(w, object, "length", json_valid_string(w->diff->scale.length_is_unknown ? "unknown" : "known"));
	document_put(w, object, "controls", render_json_count(w->diff->scale.controls));
	document_put(w, object, "other_mode",
		known ? json_valid_string(diff_scale_mode_name(w->diff->scale.other_mode)) : json_null());
	document_put(w, object, "other_factor", known ? json_number(w->diff->scale.other_factor) : json_null());
	document_put(w, object, "text", id_string(w, w->diff->scale_text));
	document_put(w, object, "requests_doubt",
		w->diff->requests_doubt ? id_string(w, w->diff->requests_doubt) : json_null());
	return object;
}

/* Puts a value in the metric's unit: that of a metric which is no time has a key without "_ns". */
static void json_put_value(struct json_writer *w, json_t *object, const char *key, json_t *value)
{
	char plain[16];

	snprintf(plain, sizeof(plain), "%.*s", (int)(strlen(key) - strlen("_ns")), key);
	document_put(w, object, w->diff->is_time ? key : plain, value);
}

static json_t *totals(struct json_writer *w)
{
	const struct diff_estimate *e = &w->diff->total;
	json_t *object = json_object();

	json_put_value(w, object, "base_ns", measured(w->diff->raw_total[DIFF_BASE]));
	json_put_value(w, object, "head_ns", measured(w->diff->raw_total[DIFF_HEAD]));
	json_put_value(w, object, "delta_ns", json_number(e->delta));
	document_put(w, object, "delta_pct_of_base", json_number(summary_percent_of_base(e)));
	document_put(w, object, "delta_pct_points", json_number(summary_points(w->diff, e->delta)));
	document_put(w, object, "ci", document_interval(w, e));
	document_put(w, object, "q", json_number(e->q));
	document_put(w, object, "detectable_pct_points", json_number(summary_points(w->diff, e->detectable)));
	document_put(w, object, "state", json_valid_string(diff_state_name(e->state)));
	return object;
}

static json_t *json_evidence(struct json_writer *w)
{
	const struct diff_evidence *e = &w->diff->evidence;
	json_t *object = json_object();

	document_put(w, object, "mode", json_valid_string(diff_evidence_mode_name(e->mode)));
	document_put(w, object, "runs_base", render_json_count(e->runs[DIFF_BASE]));
	document_put(w, object, "runs_head", render_json_count(e->runs[DIFF_HEAD]));
	document_put(w, object, "blocks",
		render_json_count(
			e->blocks[DIFF_BASE] < e->blocks[DIFF_HEAD] ? e->blocks[DIFF_BASE] : e->blocks[DIFF_HEAD]));
	document_put(w, object, "blocks_base", render_json_count(e->blocks[DIFF_BASE]));
	document_put(w, object, "blocks_head", render_json_count(e->blocks[DIFF_HEAD]));
	document_put(w, object, "q", json_number(e->q));
	document_put(w, object, "floor_rsd", json_number(e->floor_rsd));
	document_put(w, object, "floor_changed_rsd", json_number(e->floor_changed_rsd));
	document_put(w, object, "by_ranks", json_boolean(e->by_ranks));
	document_put(w, object, "aa_false_flags", e->aa_done ? render_json_count(e->aa_false_flags) : json_null());
	document_put(w, object, "aa_functions", e->aa_done ? render_json_count(e->aa_functions) : json_null());
	return object;
}

static json_t *json_warnings(struct json_writer *w)
{
	const struct string_table *strings = w->suite ? w->suite->strings : w->diff->strings;
	const struct diff_warning *all = w->suite ? w->suite->warnings : w->diff->warnings;
	size_t warning_count = w->suite ? w->suite->warning_count : w->diff->warning_count;
	json_t *array = json_array();

	for (size_t i = 0; i < warning_count; i++) {
		json_t *object = json_object();

		document_put(w, object, "text", json_valid_string(string_table_get(strings, all[i].text)));
		document_put(w, object, "blocks_gate", json_boolean(all[i].blocks_gate));
		document_push(w, array, object);
	}
	return array;
}

static json_t *origins(struct json_writer *w)
{
	json_t *array = json_array();

	for (int i = 0; i < PROFILE_ORIGIN_COUNT; i++) {
		const struct diff_origin *origin = &w->diff->origins[i];
		json_t *object = json_object();

		document_put(w, object, "origin", json_valid_string(profile_origin_name((enum profile_origin)i)));
		if (w->diff->sides == DIFF_SIDES) {
			json_put_value(w, object, "base_ns", measured(origin->raw[DIFF_BASE]));
			json_put_value(w, object, "head_ns", measured(origin->raw[DIFF_HEAD]));
			json_put_value(w, object, "delta_ns", json_number(origin->delta));
			document_put(
				w, object, "delta_pct_points", json_number(summary_points(w->diff, origin->delta)));
		} else {
			json_put_value(w, object, "self_ns", measured(origin->raw[DIFF_HEAD]));
			document_put(w, object, "self_pct",
				json_number(format_share(origin->raw[DIFF_HEAD], w->diff->raw_total[DIFF_HEAD])));
		}
		document_push(w, array, object);
	}
	return array;
}

/*
 * Time of interrupts in the program's threads, or of a run-time compiler: beside the origins and not part of the
 * totals.
 */
static json_t *beside(struct json_writer *w, const struct diff_origin *o)
{
	json_t *object = json_object();

	if (w->diff->sides == DIFF_SIDES) {
		json_put_value(w, object, "base_ns", measured(o->raw[DIFF_BASE]));
		json_put_value(w, object, "head_ns", measured(o->raw[DIFF_HEAD]));
		json_put_value(w, object, "delta_ns", json_number(o->delta));
		document_put(w, object, "delta_pct_points", json_number(summary_points(w->diff, o->delta)));
	} else {
		json_put_value(w, object, "self_ns", measured(o->raw[DIFF_HEAD]));
		document_put(w, object, "self_pct",
			json_number(format_share(o->raw[DIFF_HEAD], w->diff->raw_total[DIFF_HEAD])));
	}
	return object;
}

/* Likewise, in a comparison, of threads that could run and waited for a CPU. */
static json_t *run_queue(struct json_writer *w)
{
	const struct diff_estimate *e = &w->diff->waits[PROFILE_WAIT_RUN_QUEUE].total;
	json_t *object = json_object();

	json_put_value(w, object, "base_ns", measured(w->diff->run_queue.raw[DIFF_BASE]));
	json_put_value(w, object, "head_ns", measured(w->diff->run_queue.raw[DIFF_HEAD]));
	json_put_value(w, object, "delta_ns", json_number(e->delta));
	document_put(w, object, "delta_pct_points", json_number(summary_points(w->diff, e->delta)));
	document_put(w, object, "state", json_valid_string(diff_state_name(e->state)));
	return object;
}

/* ---- Documents ---- */

static void put_verdict(struct json_writer *w, json_t *root)
{
	const struct diff_suite *suite = w->suite;

	document_put(
		w, root, "verdict", json_valid_string(diff_verdict_name(suite ? suite->verdict : w->diff->verdict)));
	document_put(w, root, "verdict_text",
		suite ? json_valid_string(diff_suite_string(suite, suite->verdict_text))
		      : id_string(w, w->diff->verdict_text));
	document_put(w, root, "gate_failed", json_boolean(suite ? suite->gate_failed : w->diff->gate_failed));
	document_put(w, root, "needs_times_samples",
		!suite && w->diff->needs_times_samples > 0 ? json_number(w->diff->needs_times_samples) : json_null());
}

static void put_diff(struct json_writer *w, json_t *root)
{
	json_t *recordings = json_object();

	document_put(w, recordings, "base", json_recording(w, DIFF_BASE));
	document_put(w, recordings, "head", json_recording(w, DIFF_HEAD));
	put_verdict(w, root);
	document_put(w, root, "cause", json_cause(w->diff));
	document_put(w, root, "scale", scale(w));
	document_put(w, root, "latency", json_latency(w->diff));
	document_put(w, root, "totals", totals(w));
	document_put(w, root, "evidence", json_evidence(w));
	document_put(w, root, "runs", json_runs(w->input));
	document_put(w, root, "instances", json_instances(w->input));
	document_put(w, root, "layouts", json_layouts(&w->diff->layouts));
	document_put(w, root, "elapsed", json_elapsed(&w->diff->elapsed));
	document_put(w, root, "control", json_control(&w->diff->control));
	document_put(w, root, "recordings", recordings);
	if (!w->input->commits)
		return;
	document_put(w, root, "commits_text",
		json_valid_string(string_table_get(w->input->commits->strings, w->input->commits->verdict_text)));
	document_put(w, root, "commits", json_commits(w->input->commits));
	document_put(w, root, "commits_not_executed", json_commits_not_executed(w->input->commits));
}

static void put_report(struct json_writer *w, json_t *root)
{
	json_t *sums = json_object();

	document_put(w, sums, w->diff->is_time ? "ns" : "total", measured(w->diff->raw_total[DIFF_HEAD]));
	document_put(w, root, "totals", sums);
	document_put(w, root, "recording", json_recording(w, DIFF_HEAD));
}

/* Twelve digits are more than was measured, and the same on every machine. */
static bool document_dump(const json_t *json, size_t flags, struct buffer *out)
{
	return json_dump_callback(json, json_text_write, out, flags | JSON_REAL_PRECISION(12)) == 0;
}

/* Writes the last member, one function a line, since there are many. */
static void json_write_functions(struct json_writer *w, struct buffer *out)
{
	size_t all = w->diff->function_count, count = question_rows(w->input, all);

	count = count < all ? count : all;
	if (count < all)
		buffer_printf(out, ",\n \"functions_left_out\": %zu", all - count);
	buffer_append_string(out, ",\n \"functions\": [");
	for (size_t i = 0; i < count && !w->failed && !out->failed; i++) {
		buffer_append_string(out, i ? ",\n  " : "\n  ");
		if (!json_function(w->input, w->waits, i, out))
			w->failed = true;
		buffer_pass_on(out);
	}
	buffer_append_string(out, count ? "\n ]\n}\n" : "]\n}\n");
}

static void put_document(struct json_writer *w, json_t *root)
{
	bool compared = w->diff->sides == DIFF_SIDES;
	const struct profile *head = w->input->profiles[DIFF_HEAD];

	document_put(w, root, "schema", json_valid_string(compared ? "kelvin.diff/1" : "kelvin.report/1"));
	document_put(w, root, "tool", json_valid_string(w->input->tool ? w->input->tool : ""));
	document_put(w, root, "metric", metric(w));
	document_put(w, root, "metrics", json_metrics(w));
	if (compared)
		put_diff(w, root);
	else
		put_report(w, root);
	document_put(w, root, "warnings", json_warnings(w));
	document_put(w, root, "origins", origins(w));
	document_put(w, root, "interrupts", beside(w, &w->diff->interrupts));
	document_put(w, root, "compilation", beside(w, &w->diff->compilation));
	if (summary_has_run_queue(w->diff))
		document_put(w, root, "run_queue", run_queue(w));
	if (w->waits)
		json_put_waits(w, root);
	if (!compared && head && head->verification.is_there)
		document_put(w, root, "verified", json_verified(w, head));
}

bool json_document(const struct render_input *input, const struct diff_suite *suite, const struct buffer *members,
	struct buffer *out, struct error *err)
{
	struct json_writer w = { .input = input, .diff = input->diff, .suite = suite };
	CLEANUP(decref_cleanup) json_t *root = json_object();
	CLEANUP(waits_cleanup) struct waits *waits = NULL;

	if (!waits_create(input->diff, input->profiles, &waits, err))
		return false;
	w.waits = waits;
	put_document(&w, root);
	if (w.failed)
		return error_set_memory(err);
	if (!document_dump(root, JSON_INDENT(1), out) && !out->failed)
		return error_set_memory(err);
	/*
	 * The closing brace and the line end before it are removed, so that the members with a line for each of their
	 * entries can be added to the object.
	 */
	if (!out->failed)
		out->size -= strlen("\n}");
	if (members)
		buffer_append(out, members->data, members->size);
	if (input->diff->sides == DIFF_SIDES && !json_changes(input->diff, out))
		w.failed = true;
	if (lines_are_asked(input) && !lines_json(input, out, err))
		return false;
	if (!question_json(input, out) || !groups_json(input, out))
		w.failed = true;
	json_write_functions(&w, out);
	if (w.failed && !out->failed)
		return error_set_memory(err);
	return buffer_ok(out, err);
}

bool render_json(const struct render_input *input, struct buffer *out, struct error *err)
{
	return json_document(input, NULL, NULL, out, err);
}
