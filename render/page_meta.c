/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page's block of what holds for the whole report: metric, verdict, facts, warnings. */
#include "render/commit_lines.h"
#include "render/document.h"
#include "render/json_members.h"
#include "render/json_text.h"
#include "render/page_data.h"
#include "render/question.h"
#include "render/requests.h"
#include "render/summary.h"

#include <math.h>
#include <string.h>

enum { MAX_WORDS_BYTES = 1 << 20 };

static const double ns_per_us = 1e3;

static void put_words(struct buffer *out, const char *key, const struct buffer *words)
{
	out->failed |= words->failed;
	json_text_member(out, key, words->data);
}

static void put_sentences(
	const struct diff *diff, const char *key, void (*say)(const struct diff *, struct buffer *), struct buffer *out)
{
	CLEANUP(buffer_deinit) struct buffer words = { 0 };

	buffer_init(&words, MAX_WORDS_BYTES);
	say(diff, &words);
	put_words(out, key, &words);
}

static void put_total(const struct diff_estimate *e, struct buffer *out)
{
	json_text_begin(out, "total", '{');
	json_text_member_number(out, "base", e->base);
	json_text_member_number(out, "head", e->head);
	json_text_member_number(out, "delta", e->delta);
	json_text_member_number(out, "low", e->ci_low);
	json_text_member_number(out, "high", e->ci_high);
	json_text_member_number(out, "q", e->q);
	json_text_member_number(out, "detectable", e->detectable);
	json_text_member(out, "state", diff_state_name(e->state));
	json_text_close(out, '}');
}

/* Only a report of waits has words for its metrics: the page calls others by what they measure. */
static void page_meta_put_metrics(const struct render_input *input, bool has_waits, struct buffer *out)
{
	const struct profile *head = input->profiles[DIFF_HEAD];
	struct page_metric list[PROFILE_MAX_VALUE_TYPES];
	size_t count = page_data_metrics(input, list);

	json_text_begin(out, "metrics", '[');
	for (size_t i = 0; i < count; i++) {
		uint32_t index = list[i].index[DIFF_HEAD];

		json_text_open(out, '{');
		json_text_member(out, "name", list[i].type);
		json_text_member(out, "words", has_waits ? profile_metric(head, index).words : list[i].type);
		json_text_member(out, "unit", list[i].unit);
		json_text_flag(out, "isCount", list[i].index[DIFF_BASE] == 0 && index == 0);
		json_text_flag(out, "tested", list[i].is_tested);
		json_text_close(out, '}');
	}
	json_text_close(out, ']');
}

/* ---- Recordings ---- */

static void put_threads(const struct profile *profile, struct buffer *out)
{
	json_text_begin(out, "threads", '[');
	for (size_t i = 0; i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];

		json_text_open(out, '[');
		json_text_integer(out, thread->run);
		json_text_integer(out, thread->pid);
		json_text_integer(out, thread->tid);
		json_text_string(out, profile_string(profile, thread->process_name));
		json_text_string(out, profile_string(profile, thread->name));
		json_text_close(out, ']');
	}
	json_text_close(out, ']');
}

static void page_meta_put_labels(const struct profile *profile, struct buffer *out)
{
	json_text_begin(out, "labels", '[');
	for (size_t i = 0; i < profile->label_count; i++) {
		json_text_open(out, '[');
		json_text_string(out, profile_string(profile, profile->labels[i].key));
		json_text_string(out, profile_string(profile, profile->labels[i].value));
		json_text_close(out, ']');
	}
	json_text_close(out, ']');
}

static void page_meta_put_quality(const struct profile *p, struct buffer *out)
{
	CLEANUP(buffer_deinit) struct buffer sampled = { 0 }, losses = { 0 }, verified = { 0 };
	int64_t duration_ns = 0;

	for (size_t i = 0; i < p->run_count; i++)
		duration_ns = saturating_add(duration_ns, p->runs[i].duration_ns);
	buffer_init(&sampled, MAX_WORDS_BYTES);
	buffer_init(&losses, MAX_WORDS_BYTES);
	buffer_init(&verified, MAX_WORDS_BYTES);
	summary_sampled(p, &sampled);
	summary_losses(p, " · ", &losses);
	/* How stacks and names compare with those of other libraries; "": the recording was not verified. */
	summary_verified(p, "", &verified);
	json_text_member_integer(out, "runs", (int64_t)p->run_count);
	json_text_member_integer(out, "durationNs", duration_ns);
	put_words(out, "sampledWords", &sampled);
	put_words(out, "lossWords", &losses);
	put_words(out, "verified", &verified);
}

static void page_meta_put_recording(const struct profile *p, const char *name, struct buffer *out)
{
	size_t fact_count;
	const struct profile_fact *facts = profile_facts(&fact_count);

	json_text_open(out, '{');
	json_text_member(out, "name", name);
	page_meta_put_quality(p, out);
	json_text_flag(out, "hasTimeline", p->has_timeline);
	json_text_member_integer(out, "period", (int64_t)p->period);
	put_threads(p, out);
	page_meta_put_labels(p, out);
	for (size_t i = 0; i < fact_count; i++)
		json_fact(p, &facts[i], out);
	json_text_close(out, '}');
}

static void put_recordings(const struct render_input *input, struct buffer *out)
{
	json_text_begin(out, "recordings", '[');
	for (size_t side = input->diff->sides == 1 ? DIFF_HEAD : DIFF_BASE; side < DIFF_SIDES; side++)
		page_meta_put_recording(input->profiles[side], input->names[side], out);
	json_text_close(out, ']');
}

/* ---- What the verdict rests on ---- */

static void put_ledger_row(const char *key, const struct diff_origin *o, struct buffer *out)
{
	json_text_begin(out, key, '{');
	json_text_member_pair(out, "raw", o->raw[DIFF_BASE], o->raw[DIFF_HEAD]);
	json_text_member_number(out, "base", o->base);
	json_text_member_number(out, "head", o->head);
	json_text_member_number(out, "delta", o->delta);
	json_text_close(out, '}');
}

static void page_meta_put_ledger(const struct diff *diff, struct buffer *out)
{
	json_text_begin(out, "ledger", '{');
	for (int i = 0; i < PROFILE_ORIGIN_COUNT; i++)
		put_ledger_row(profile_origin_name((enum profile_origin)i), &diff->origins[i], out);
	json_text_close(out, '}');
	put_ledger_row("interrupts", &diff->interrupts, out);
	json_text_member(out, "interruptsWords", summary_interrupts_words);
	put_ledger_row("runQueue", &diff->run_queue, out);
	json_text_member(out, "runQueueTitle", summary_run_queue_title);
	json_text_member(out, "runQueueWords", summary_run_queue_words);
	put_ledger_row("compilation", &diff->compilation, out);
	json_text_member(out, "compilationWords", summary_compilation_words);
}

static void page_meta_put_evidence(const struct diff_evidence *e, struct buffer *out)
{
	json_text_begin(out, "evidence", '{');
	json_text_member(out, "mode", diff_evidence_mode_name(e->mode));
	json_text_member_pair(out, "runs", (double)e->runs[DIFF_BASE], (double)e->runs[DIFF_HEAD]);
	json_text_member_number(out, "q", e->q);
	json_text_close(out, '}');
}

/* Writes how head is scaled. The page shows both readings of the load if they disagree. */
static void page_meta_put_scale(const struct diff *diff, struct buffer *out)
{
	bool has_other = diff->sides == 2 && diff->scale.other_factor > 0;

	json_text_member_number(out, "factor", diff->sides == 2 ? diff->scale.factor : 1);
	json_text_member(out, "scale", diff_scale_mode_name(diff->scale.mode));
	json_text_member(out, "scaleWords", diff_scale_words(diff->scale.mode));
	json_text_member_number(out, "otherFactor", has_other ? diff->scale.other_factor : NAN);
	json_text_member(out, "otherWords", diff_scale_words(diff->scale.other_mode));
}

static void add_commit_line(void *context, struct buffer *words, bool is_suspect)
{
	CLEANUP(buffer_deinit) struct buffer line = { 0 };
	struct buffer *out = context;

	(void)is_suspect;
	buffer_init(&line, words->max_bytes);
	document_text_words(&line, words->data ? words->data : "");
	out->failed |= line.failed || words->failed;
	json_text_string(out, line.data);
}

/* Writes what `diff --commits` has found, and what limits all this. */
static void put_remarks(const struct render_input *input, struct buffer *out)
{
	const struct diff *diff = input->diff;

	json_text_begin(out, "commits", '[');
	if (input->commits)
		commit_lines(input->commits, add_commit_line, out);
	json_text_close(out, ']');
	json_text_begin(out, "warnings", '[');
	for (size_t i = 0; i < diff->warning_count; i++)
		json_text_string(out, diff_string(diff, diff->warnings[i].text));
	json_text_close(out, ']');
}

/* Writes the texts of the rules that decided origins, by their number, and what names of functions come from. */
static void put_rule_texts(const struct render_input *input, struct buffer *out)
{
	const struct diff *diff = input->diff;
	uint8_t seen[(UINT16_MAX + 1) / 8] = { 0 };
	char key[16];

	json_text_begin(out, "ruleTexts", '{');
	for (size_t i = 0; input->origin_rule_text && i < diff->function_count; i++) {
		uint16_t rule = diff->functions[i].origin_rule;

		if (seen[rule / 8] & 1 << rule % 8)
			continue;
		seen[rule / 8] |= (uint8_t)(1 << rule % 8);
		snprintf(key, sizeof(key), "%u", rule);
		json_text_member(out, key, input->origin_rule_text(rule));
	}
	json_text_close(out, '}');
	json_text_begin(out, "nameSources", '[');
	for (int i = 0; i < PROFILE_NAME_SOURCE_COUNT; i++)
		json_text_string(out, profile_name_source_name((enum profile_name_source)i));
	json_text_close(out, ']');
}

/* ---- Requests ---- */

/* Writes the latencies of a side's answers by bucket, from the first that has some to the last; null: there are none.
 */
static void put_latencies(const struct render_input *input, enum diff_side side, struct buffer *out)
{
	const struct diff_requests *requests = &input->diff->requests[side];
	uint64_t counts[PROFILE_LATENCY_BUCKETS] = { 0 };
	int first = 0, end = PROFILE_LATENCY_BUCKETS;

	if (requests->source != PROFILE_WORK_UNKNOWN && isfinite(requests->p50_ns))
		profile_latency_counts(input->profiles[side], PROFILE_EXCHANGE_ANSWERED, counts);
	while (end > 0 && counts[end - 1] == 0)
		end--;
	while (first < end && counts[first] == 0)
		first++;
	if (first == end) {
		json_text_null(out);
		return;
	}
	json_text_open(out, '{');
	json_text_member_integer(out, "first", first);
	json_text_begin(out, "counts", '[');
	for (int i = first; i < end; i++)
		json_text_integer(out, (int64_t)counts[i]);
	json_text_close(out, ']');
	json_text_member_number(out, "p50", requests->p50_ns);
	json_text_member_number(out, "p99", requests->p99_ns);
	json_text_close(out, '}');
}

/* Writes how many requests a second there were over time; null where nothing tells when they were. */
static void put_request_rates(const struct render_input *input, enum diff_side side, struct buffer *out)
{
	double per_s[DIFF_MOST_RATES];
	int64_t length_ns;
	size_t count = diff_request_rates(input->diff, input->profiles[side], side, per_s, &length_ns);

	if (count == 0) {
		json_text_null(out);
		return;
	}
	json_text_open(out, '{');
	json_text_member_number(out, "endUs", (double)length_ns / ns_per_us);
	json_text_begin(out, "perSecond", '[');
	for (size_t i = 0; i < count; i++)
		json_text_number(out, round(100 * per_s[i]) / 100);
	json_text_close(out, ']');
	json_text_close(out, '}');
}

/* Writes what the sides did, in words, and how long their answers took; null where nothing was counted. */
static void put_requests(const struct render_input *input, struct buffer *out)
{
	const struct diff *diff = input->diff;
	bool is_diff = diff->sides == DIFF_SIDES;
	int first = is_diff ? DIFF_BASE : DIFF_HEAD;

	if (!render_has_requests(diff, DIFF_HEAD) && !(is_diff && render_has_requests(diff, DIFF_BASE))) {
		json_text_member_null(out, "requests");
		return;
	}
	json_text_begin(out, "requests", '{');
	put_sentences(diff, "words", is_diff ? render_requests_words : render_requests_report_words, out);
	json_text_member(
		out, "state", is_diff && diff->latency.is_known ? diff_state_name(diff->latency.state) : "unproven");
	json_text_begin(out, "latencies", '[');
	for (int side = first; side < DIFF_SIDES; side++)
		put_latencies(input, (enum diff_side)side, out);
	json_text_close(out, ']');
	json_text_begin(out, "rates", '[');
	for (int side = first; side < DIFF_SIDES; side++)
		put_request_rates(input, (enum diff_side)side, out);
	json_text_close(out, ']');
	json_text_close(out, '}');
}

/* ---- Waits ---- */

_Static_assert(PROFILE_WAIT_COUNT < 16, "they and CPU time are as many as CLASSES of render/viewer/model/waiting.js");

static void put_wait_class(const char *words, const char *reason, const char *colour, bool is_idle, struct buffer *out)
{
	json_text_open(out, '{');
	json_text_member(out, "words", words);
	json_text_member(out, "reason", reason);
	json_text_member(out, "colour", colour);
	json_text_flag(out, "isIdle", is_idle);
	json_text_close(out, '}');
}

/* Writes all that the page knows of the classes, in the order of their numbers there: 0 is time on a CPU. */
static void put_wait_classes(struct buffer *out)
{
	json_text_begin(out, "classes", '[');
	put_wait_class(profile_wait_value_words("cpu"), "", "", false, out);
	for (int i = 0; i < PROFILE_WAIT_COUNT; i++) {
		const struct profile_wait_info *info = profile_wait_info((enum profile_wait_class)i);
		char colour[8];

		snprintf(colour, sizeof(colour), "#%06x", info->colour);
		put_wait_class(info->words, info->reason, colour, info->is_idle, out);
	}
	json_text_close(out, ']');
}

static bool has_wait_frames(const struct diff *diff)
{
	for (size_t i = 0; i < diff->function_count; i++)
		if (diff_wait_class(diff, &diff->functions[i]) != PROFILE_WAIT_NONE)
			return true;
	return false;
}

/* Writes the classes of waits, and which functions are their frames, by number; null where there are none. */
static void page_meta_put_waits(const struct render_input *input, struct buffer *out)
{
	const struct diff *diff = input->diff;

	if (!has_wait_frames(diff)) {
		json_text_member_null(out, "waits");
		return;
	}
	json_text_begin(out, "waits", '{');
	put_wait_classes(out);
	json_text_begin(out, "frames", '[');
	for (size_t i = 0; i < diff->function_count; i++) {
		enum profile_wait_class wait_class = diff_wait_class(diff, &diff->functions[i]);

		if (wait_class == PROFILE_WAIT_NONE)
			continue;
		json_text_open(out, '[');
		json_text_integer(out, (int64_t)i);
		json_text_integer(out, (int64_t)wait_class + 1);
		json_text_close(out, ']');
	}
	json_text_close(out, ']');
	json_text_flag(out, "hasReleases", page_data_has_releases(input));
	json_text_close(out, '}');
}

bool page_data_meta(const struct render_input *input, struct buffer *out, struct error *err)
{
	const struct diff *diff = input->diff;
	CLEANUP(buffer_deinit) struct buffer title = { 0 };

	/* The subject of the report; "" if neither a title nor labels tell it. */
	buffer_init(&title, MAX_WORDS_BYTES);
	question_title(input, &title);
	json_text_open(out, '{');
	json_text_member_integer(out, "format", 4);
	json_text_member(out, "tool", input->tool ? input->tool : "kelvin");
	put_words(out, "title", &title);
	json_text_member_integer(out, "sides", (int64_t)diff->sides);
	json_text_member(out, "metric", diff_string(diff, diff->metric));
	json_text_member(out, "unit", diff_string(diff, diff->unit));
	json_text_member_pair(out, "rawTotal", diff->raw_total[DIFF_BASE], diff->raw_total[DIFF_HEAD]);
	put_total(&diff->total, out);
	page_meta_put_scale(diff, out);
	json_text_member(out, "verdict", diff_verdict_name(diff->verdict));
	json_text_member(out, "verdictText", diff_string(diff, diff->verdict_text));
	put_sentences(diff, "evidenceText", summary_evidence, out);
	json_text_member(out, "sameCodeWords", diff_same_code_words(diff, true));
	json_text_member(out, "scaleText", diff_string(diff, diff->scale_text));
	page_meta_put_evidence(&diff->evidence, out);
	page_meta_put_ledger(diff, out);
	put_remarks(input, out);
	put_recordings(input, out);
	put_rule_texts(input, out);
	page_meta_put_metrics(input, has_wait_frames(diff), out);
	page_meta_put_waits(input, out);
	put_requests(input, out);
	json_text_flag(out, "hasBottlenecks", diff->has_bottlenecks);
	json_text_flag(out, "hasLines", page_data_has_lines(input));
	json_text_flag(out, "bottlenecksExplain", diff->bottlenecks_explain);
	json_text_close(out, '}');
	return buffer_ok(out, err);
}
