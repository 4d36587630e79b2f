/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page's block of what holds for the whole report: metric, verdict, facts, warnings. */
#include "render/commit_lines.h"
#include "render/document.h"
#include "render/page_data.h"
#include "render/question.h"
#include "render/requests.h"
#include "render/summary.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SENTENCE_BYTES = 4096 };

static const double ns_per_s = 1e9, ns_per_us = 1e3;

/* Names are any bytes, but JSON is UTF-8: U+FFFD replaces what is not. */
static json_t *meta_text(const char *string)
{
	json_t *made = json_string(string);
	struct buffer clean;

	if (made)
		return made;
	buffer_init(&clean, 1 << 24);
	page_data_append_utf8(&clean, string);
	made = json_string_nocheck(clean.data ? clean.data : "");
	buffer_deinit(&clean);
	return made;
}

/* An unknown value is null, since JSON has no NaN. */
static json_t *meta_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *pair(double base, double head)
{
	return json_pack("[oo]", meta_number(base), meta_number(head));
}

static json_t *page_meta_estimate(const struct diff_estimate *e)
{
	return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:s}", "base", meta_number(e->base), "head",
		meta_number(e->head), "delta", meta_number(e->delta), "low", meta_number(e->ci_low), "high",
		meta_number(e->ci_high), "q", meta_number(e->q), "detectable", meta_number(e->detectable), "state",
		diff_state_name(e->state));
}

/* Only a report of waits has words for its metrics: the page calls others by what they measure. */
static json_t *page_meta_metrics(const struct render_input *input, bool has_waits)
{
	const struct profile *head = input->profiles[DIFF_HEAD];
	struct page_metric list[PROFILE_MAX_VALUE_TYPES];
	size_t count = page_data_metrics(input, list);
	json_t *array = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(
			array, json_pack("{s:o,s:o,s:o,s:b,s:b}", "name", meta_text(list[i].type), "words",
				       meta_text(has_waits ? profile_metric(head, list[i].index[DIFF_HEAD]).words
							   : list[i].type),
				       "unit", meta_text(list[i].unit), "isCount",
				       list[i].index[DIFF_BASE] == 0 && list[i].index[DIFF_HEAD] == 0, "tested",
				       list[i].is_tested));
	return array;
}

static json_t *threads(const struct profile *profile)
{
	json_t *array = json_array();

	for (size_t i = 0; i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];

		json_array_append_new(array, json_pack("[iiioo]", (int)thread->run, thread->pid, thread->tid,
						     meta_text(profile_string(profile, thread->process_name)),
						     meta_text(profile_string(profile, thread->name))));
	}
	return array;
}

static json_t *page_meta_stops(const struct profile_quality *quality)
{
	json_t *object = json_object();

	for (int i = 0; i < PROFILE_STOP_COUNT; i++)
		if (quality->stops[i])
			json_object_set_new(object, profile_stop_name((enum profile_stop)i),
				json_integer((json_int_t)quality->stops[i]));
	return object;
}

/*
 * Returns a sentence on how stacks and names compare with those of other libraries; "" if the recording was not
 * verified.
 */
static json_t *page_meta_verified(const struct profile *p)
{
	struct buffer sentence;
	json_t *value;

	buffer_init(&sentence, MAX_SENTENCE_BYTES);
	summary_verified(p, "", &sentence);
	value = meta_text(sentence.data && !sentence.failed ? sentence.data : "");
	buffer_deinit(&sentence);
	return value;
}

static json_t *page_meta_fact_value(const struct profile *profile, const struct profile_fact *fact)
{
	uint32_t value = profile_fact_get(&profile->facts, fact);

	switch (fact->type) {
	case PROFILE_FACT_STRING:
		return meta_text(profile_string(profile, value));
	case PROFILE_FACT_NUMBER:
		return json_integer(value);
	case PROFILE_FACT_THOUSANDTHS:
		return json_real(value / 1000.0);
	case PROFILE_FACT_FLAG:
		return json_boolean(value);
	}
	return json_null();
}

static json_t *page_meta_labels(const struct profile *profile)
{
	json_t *array = json_array();

	for (size_t i = 0; i < profile->label_count; i++)
		json_array_append_new(
			array, json_pack("[oo]", meta_text(profile_string(profile, profile->labels[i].key)),
				       meta_text(profile_string(profile, profile->labels[i].value))));
	return array;
}

/* Returns what the report is of; "" if neither a title nor labels say it. */
static json_t *title(const struct render_input *input)
{
	CLEANUP(buffer_deinit) struct buffer words = { 0 };

	buffer_init(&words, (size_t)1 << 20);
	question_title(input, &words);
	return words.failed ? NULL : meta_text(words.data ? words.data : "");
}

static json_t *page_meta_recording(const struct profile *p, const char *name)
{
	size_t fact_count;
	const struct profile_fact *facts = profile_facts(&fact_count);
	const struct profile_quality *q = &p->quality;
	int64_t duration_ns = 0;
	json_t *object;

	for (size_t i = 0; i < p->run_count; i++)
		duration_ns = saturating_add(duration_ns, p->runs[i].duration_ns);
	object = json_pack("{s:o,s:i,s:I,s:o,s:o,s:I,s:o,s:o,s:f,s:f,s:b,s:b,s:I,s:o,s:o}", "name",
		meta_text(name ? name : ""), "runs", (int)p->run_count, "durationNs", (json_int_t)duration_ns,
		"samples", isfinite(summary_samples(p)) ? json_integer((json_int_t)summary_samples(p)) : json_null(),
		"lost", summary_quality_recorded(p) ? json_integer((json_int_t)q->lost) : json_null(), "throttled",
		(json_int_t)q->throttled, "stops", page_meta_stops(q), "wholePercent",
		meta_number(summary_whole_percent(p)), "openPercent", profile_quality_open_percent(q),
		"framelessPercent", profile_quality_frameless_percent(q), "hasTimeline", p->has_timeline, "isExact",
		profile_metric(p, p->default_value_type).is_exact, "period", (json_int_t)p->period, "threads",
		threads(p), "verified", page_meta_verified(p));
	json_object_set_new(object, "labels", page_meta_labels(p));
	for (size_t i = 0; i < fact_count; i++)
		json_object_set_new(object, facts[i].name, page_meta_fact_value(p, &facts[i]));
	return object;
}

static json_t *ledger_row(const struct diff_origin *o)
{
	return json_pack("{s:o,s:o,s:o,s:o}", "raw", pair(o->raw[DIFF_BASE], o->raw[DIFF_HEAD]), "base",
		meta_number(o->base), "head", meta_number(o->head), "delta", meta_number(o->delta));
}

static json_t *ledger(const struct diff *diff)
{
	json_t *object = json_object();

	for (int i = 0; i < PROFILE_ORIGIN_COUNT; i++)
		json_object_set_new(object, profile_origin_name((enum profile_origin)i), ledger_row(&diff->origins[i]));
	return object;
}

static json_t *page_meta_evidence(const struct diff_evidence *e)
{
	return json_pack("{s:s,s:[II],s:[II],s:o,s:o,s:i,s:i,s:b}", "mode", diff_evidence_mode_name(e->mode), "runs",
		(json_int_t)e->runs[DIFF_BASE], (json_int_t)e->runs[DIFF_HEAD], "blocks",
		(json_int_t)e->blocks[DIFF_BASE], (json_int_t)e->blocks[DIFF_HEAD], "q", meta_number(e->q), "floorRsd",
		meta_number(e->floor_rsd), "aaFlags", (int)e->aa_false_flags, "aaFunctions", (int)e->aa_functions,
		"aaDone", e->aa_done);
}

static void add_commit_line(void *array, struct buffer *words, bool is_suspect)
{
	CLEANUP(buffer_deinit) struct buffer line = { 0 };

	(void)is_suspect;
	buffer_init(&line, words->max_bytes);
	document_text_words(&line, words->data ? words->data : "");
	buffer_append(&line, "", 0);
	json_array_append_new(array, line.failed || words->failed ? NULL : meta_text(line.data));
}

/* Returns what `diff --commits` has found. */
static json_t *commits(const struct render_input *input)
{
	json_t *array = json_array();

	if (array && input->commits)
		commit_lines(input->commits, add_commit_line, array);
	return array;
}

static json_t *page_meta_warnings(const struct diff *diff)
{
	json_t *array = json_array();

	for (size_t i = 0; i < diff->warning_count; i++)
		json_array_append_new(array, meta_text(diff_string(diff, diff->warnings[i].text)));
	return array;
}

static json_t *rule_texts(const struct render_input *input)
{
	json_t *object = json_object();
	const struct diff *diff = input->diff;
	char key[16];

	for (size_t i = 0; input->origin_rule_text && i < diff->function_count; i++) {
		snprintf(key, sizeof(key), "%u", diff->functions[i].origin_rule);
		if (!json_object_get(object, key))
			json_object_set_new(
				object, key, meta_text(input->origin_rule_text(diff->functions[i].origin_rule)));
	}
	return object;
}

static json_t *name_sources(void)
{
	json_t *array = json_array();

	for (int i = 0; i < PROFILE_NAME_SOURCE_COUNT; i++)
		json_array_append_new(array, json_string(profile_name_source_name((enum profile_name_source)i)));
	return array;
}

static json_t *sentences(const struct diff *diff, void (*say)(const struct diff *, struct buffer *))
{
	CLEANUP(buffer_deinit) struct buffer words = { 0 };

	buffer_init(&words, (size_t)1 << 20);
	say(diff, &words);
	buffer_append(&words, "", 0);
	return words.failed ? NULL : meta_text(words.data);
}

/*
 * Returns the latencies of a side's answers by bucket, from the first that has some to the last; null where there are
 * none.
 */
static json_t *latencies(const struct render_input *input, enum diff_side side)
{
	const struct diff_requests *requests = &input->diff->requests[side];
	uint64_t counts[PROFILE_LATENCY_BUCKETS];
	json_t *array;
	int first = 0, end = PROFILE_LATENCY_BUCKETS;

	if (requests->source == PROFILE_WORK_UNKNOWN || !isfinite(requests->p50_ns))
		return json_null();
	profile_latency_counts(input->profiles[side], PROFILE_EXCHANGE_ANSWERED, counts);
	while (end > 0 && counts[end - 1] == 0)
		end--;
	while (first < end && counts[first] == 0)
		first++;
	if (first == end)
		return json_null();
	array = json_array();
	for (int i = first; i < end; i++)
		json_array_append_new(array, json_integer((json_int_t)counts[i]));
	return json_pack("{s:i,s:o,s:o,s:o}", "first", first, "counts", array, "p50", meta_number(requests->p50_ns),
		"p99", meta_number(requests->p99_ns));
}

/* Returns the time of the longest run, in nanoseconds. */
static int64_t longest_run(const struct profile *profile)
{
	int64_t longest = 0;

	for (size_t run = 0; run < profile->run_count; run++)
		if (profile->runs[run].duration_ns > longest)
			longest = profile->runs[run].duration_ns;
	return longest;
}

/* Returns the mean rate, in 1/s, of the runs that last until then. */
static double rate_between(
	const struct profile *profile, enum profile_exchange_kind kind, int64_t from_ns, int64_t until_ns)
{
	double sum = 0;
	int runs = 0;

	for (uint32_t run = 0; run < profile->run_count; run++) {
		if (profile->runs[run].duration_ns < until_ns)
			continue;
		sum += profile_requests_between(profile, run, kind, from_ns, until_ns);
		runs++;
	}
	return runs > 0 ? sum / runs / ((double)(until_ns - from_ns) / ns_per_s) : 0;
}

/*
 * Returns how many requests a second a side answered, or sent where it answered none, in equal parts of its longest
 * run; null where nothing tells when they were.
 */
static json_t *rates(const struct render_input *input, enum diff_side side)
{
	enum { MOST_PARTS = 300, LEAST_PART_MS = 500, NS_PER_MS = 1000000 };
	const struct profile *profile = input->profiles[side];
	const struct diff_requests *requests = &input->diff->requests[side];
	enum profile_exchange_kind kind = requests->count > 0 ? PROFILE_EXCHANGE_ANSWERED : PROFILE_EXCHANGE_CALLED_OUT;
	int64_t length_ns = longest_run(profile), parts = length_ns / ((int64_t)LEAST_PART_MS * NS_PER_MS);
	json_t *array;

	if (profile->requests.reading_count == 0 || parts < 1)
		return json_null();
	if (parts > MOST_PARTS)
		parts = MOST_PARTS;
	array = json_array();
	for (int64_t i = 0; i < parts; i++) {
		int64_t from_ns = i * (length_ns / parts), until_ns = from_ns + length_ns / parts;

		json_array_append_new(
			array, json_real(round(100 * rate_between(profile, kind, from_ns, until_ns)) / 100));
	}
	return json_pack("{s:f,s:o}", "endUs", (double)length_ns / ns_per_us, "perSecond", array);
}

/* Returns what the sides did, in words, and how long their answers took; null where nothing was counted. */
static json_t *requests(const struct render_input *input)
{
	const struct diff *diff = input->diff;
	bool is_diff = diff->sides == DIFF_SIDES;
	json_t *sides, *in_time;

	if (!render_has_requests(diff, DIFF_HEAD) && !(is_diff && render_has_requests(diff, DIFF_BASE)))
		return json_null();
	sides = json_array();
	in_time = json_array();
	for (size_t side = is_diff ? DIFF_BASE : DIFF_HEAD; side < DIFF_SIDES; side++) {
		json_array_append_new(sides, latencies(input, (enum diff_side)side));
		json_array_append_new(in_time, rates(input, (enum diff_side)side));
	}
	return json_pack("{s:o,s:s,s:o,s:o}", "words",
		sentences(diff, is_diff ? render_requests_words : render_requests_report_words), "state",
		is_diff && diff->latency.is_known ? diff_state_name(diff->latency.state) : "unproven", "latencies",
		sides, "rates", in_time);
}

_Static_assert(PROFILE_WAIT_COUNT < 16, "they and CPU time are as many as CLASSES of render/viewer/model/waiting.js");

/* All that the page knows of the classes, in the order of their numbers there: 0 is time on a CPU. */
static json_t *wait_classes(void)
{
	json_t *array = json_array();
	char colour[8];

	json_array_append_new(array, json_pack("{s:s,s:s,s:s,s:b}", "words", profile_wait_value_words("cpu"), "reason",
					     "", "colour", "", "isIdle", false));
	for (int i = 0; i < PROFILE_WAIT_COUNT; i++) {
		const struct profile_wait_info *info = profile_wait_info((enum profile_wait_class)i);

		snprintf(colour, sizeof(colour), "#%06x", info->colour);
		json_array_append_new(array, json_pack("{s:s,s:s,s:s,s:b}", "words", info->words, "reason",
						     info->reason, "colour", colour, "isIdle", info->is_idle));
	}
	return array;
}

/* Returns the classes of waits, and which functions are their frames, by number; null where there are none. */
static json_t *page_meta_waits(const struct render_input *input)
{
	const struct diff *diff = input->diff;
	json_t *frames = json_array();

	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];
		enum profile_wait_class wait_class = diff_wait_class(diff, f);

		if (wait_class != PROFILE_WAIT_NONE)
			json_array_append_new(frames, json_pack("[ii]", (int)i, (int)wait_class + 1));
	}
	if (json_array_size(frames) == 0) {
		json_decref(frames);
		return json_null();
	}
	return json_pack("{s:o,s:o,s:b}", "classes", wait_classes(), "frames", frames, "hasReleases",
		page_data_has_releases(input));
}

static json_t *meta_describe(const struct render_input *input)
{
	const struct diff *diff = input->diff;
	json_t *meta = json_object(), *recordings = json_array(), *of_waits = page_meta_waits(input);

	for (size_t side = diff->sides == 1 ? DIFF_HEAD : DIFF_BASE; side < DIFF_SIDES; side++)
		json_array_append_new(recordings, page_meta_recording(input->profiles[side], input->names[side]));
	json_object_set_new(meta, "format", json_integer(4));
	json_object_set_new(meta, "tool", meta_text(input->tool ? input->tool : "kelvin"));
	json_object_set_new(meta, "title", title(input));
	json_object_set_new(meta, "sides", json_integer((json_int_t)diff->sides));
	json_object_set_new(meta, "metric", meta_text(diff_string(diff, diff->metric)));
	json_object_set_new(meta, "unit", meta_text(diff_string(diff, diff->unit)));
	json_object_set_new(meta, "rawTotal", pair(diff->raw_total[DIFF_BASE], diff->raw_total[DIFF_HEAD]));
	json_object_set_new(meta, "total", page_meta_estimate(&diff->total));
	json_object_set_new(meta, "factor", meta_number(diff->sides == 2 ? diff->scale.factor : 1));
	json_object_set_new(meta, "scale", json_string(diff_scale_mode_name(diff->scale.mode)));
	json_object_set_new(meta, "scaleWords", json_string(diff_scale_words(diff->scale.mode)));
	/* The page shows both readings of the load if they disagree. */
	json_object_set_new(meta, "otherFactor",
		diff->sides == 2 && diff->scale.other_factor > 0 ? meta_number(diff->scale.other_factor) : json_null());
	json_object_set_new(meta, "otherWords", json_string(diff_scale_words(diff->scale.other_mode)));
	json_object_set_new(meta, "controls", json_integer((json_int_t)diff->scale.controls));
	json_object_set_new(meta, "verdict", json_string(diff_verdict_name(diff->verdict)));
	json_object_set_new(meta, "verdictText", meta_text(diff_string(diff, diff->verdict_text)));
	json_object_set_new(meta, "evidenceText", sentences(diff, summary_evidence));
	json_object_set_new(meta, "sameCodeWords", meta_text(diff_same_code_words(diff, true)));
	json_object_set_new(meta, "scaleText", meta_text(diff_string(diff, diff->scale_text)));
	json_object_set_new(meta, "evidence", page_meta_evidence(&diff->evidence));
	json_object_set_new(meta, "ledger", ledger(diff));
	json_object_set_new(meta, "interrupts", ledger_row(&diff->interrupts));
	json_object_set_new(meta, "interruptsWords", json_string(summary_interrupts_words));
	json_object_set_new(meta, "runQueue", ledger_row(&diff->run_queue));
	json_object_set_new(meta, "runQueueTitle", json_string(summary_run_queue_title));
	json_object_set_new(meta, "runQueueWords", json_string(summary_run_queue_words));
	json_object_set_new(meta, "compilation", ledger_row(&diff->compilation));
	json_object_set_new(meta, "compilationWords", json_string(summary_compilation_words));
	json_object_set_new(meta, "commits", commits(input));
	json_object_set_new(meta, "warnings", page_meta_warnings(diff));
	json_object_set_new(meta, "recordings", recordings);
	json_object_set_new(meta, "ruleTexts", rule_texts(input));
	json_object_set_new(meta, "nameSources", name_sources());
	json_object_set_new(meta, "metrics", page_meta_metrics(input, json_is_object(of_waits)));
	json_object_set_new(meta, "waits", of_waits);
	json_object_set_new(meta, "requests", requests(input));
	json_object_set_new(meta, "hasBottlenecks", json_boolean(diff->has_bottlenecks));
	json_object_set_new(meta, "hasLines", json_boolean(page_data_has_lines(input)));
	json_object_set_new(meta, "bottlenecksExplain", json_boolean(diff->bottlenecks_explain));
	return meta;
}

bool page_data_meta(const struct render_input *input, struct buffer *out, struct error *err)
{
	json_t *meta = meta_describe(input);
	char *bytes = NULL;

	if (!meta)
		return error_set_memory(err);
	bytes = json_dumps(meta, JSON_COMPACT | JSON_REAL_PRECISION(9));
	if (bytes)
		buffer_append_string(out, bytes);
	else
		error_set_memory(err);
	free(bytes);
	json_decref(meta);
	return bytes && buffer_ok(out, err);
}
