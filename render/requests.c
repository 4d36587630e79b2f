/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/requests.h"

#include "render/format.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* From this ratio on, the latencies of two sides look as if they differed. */
static const double seems_different = 1.1;

static bool has_work(const struct diff *diff, enum diff_side side)
{
	return diff->requests[side].source != PROFILE_WORK_UNKNOWN && diff->requests[side].count > 0;
}

static bool has_calls_out(const struct diff *diff, enum diff_side side)
{
	return diff->requests[side].source != PROFILE_WORK_UNKNOWN && diff->requests[side].calls_out > 0;
}

bool render_has_requests(const struct diff *diff, enum diff_side side)
{
	return has_work(diff, side) || has_calls_out(diff, side);
}

static const char *work_noun(const struct diff_requests *requests)
{
	return requests->source == PROFILE_WORK_EVENT ? "units of work" : "requests";
}

/* Appends what counted them, where it is not the sockets: " (as stated)". */
static void render_requests_append_source(
	const struct diff *diff, const struct diff_requests *requests, struct buffer *out)
{
	if (requests->source == PROFILE_WORK_EVENT)
		buffer_printf(out, " (%s)", diff_string(diff, requests->event));
	else if (requests->source == PROFILE_WORK_STATED)
		buffer_append_string(out, " (as stated)");
}

/* ---- Two sides ---- */

/* Appends "17.0 → 103 ms", "170 µs → 1.03 ms". */
static void append_times(double base_ns, double head_ns, struct buffer *out)
{
	struct format_text base = format_value(base_ns, "nanoseconds"), head = format_value(head_ns, "nanoseconds");
	char *base_unit = strrchr(base.text, ' ');
	const char *head_unit = strrchr(head.text, ' ');

	if (base_unit && head_unit && strcmp(base_unit, head_unit) == 0)
		*base_unit = '\0';
	buffer_printf(out, "%s → %s", base.text, head.text);
}

static bool both_known(double base, double head)
{
	return isfinite(base) && isfinite(head);
}

static void append_latencies(const double p50[DIFF_SIDES], const double p99[DIFF_SIDES], struct buffer *out)
{
	buffer_append_string(out, "p50 ");
	append_times(p50[DIFF_BASE], p50[DIFF_HEAD], out);
	if (!both_known(p99[DIFF_BASE], p99[DIFF_HEAD]))
		return;
	buffer_append_string(out, ", p99 ");
	append_times(p99[DIFF_BASE], p99[DIFF_HEAD], out);
}

static bool seem_different(double base, double head)
{
	return base > seems_different * head || head > seems_different * base;
}

/* Returns how much a side did: the rate, or the number where one of the lengths is not known. */
static struct format_text amount(const struct diff_requests *requests, bool is_rate)
{
	return is_rate ? format_rate(requests->per_s) : format_count(requests->count);
}

static bool same_source(const struct diff *diff)
{
	const struct diff_requests *base = &diff->requests[DIFF_BASE], *head = &diff->requests[DIFF_HEAD];

	return base->source == head->source && base->event == head->event;
}

static void append_amounts(const struct diff *diff, struct buffer *out)
{
	const struct diff_requests *base = &diff->requests[DIFF_BASE], *head = &diff->requests[DIFF_HEAD];
	bool is_rate = base->per_s > 0 && head->per_s > 0;
	struct format_text before = amount(base, is_rate), after = amount(head, is_rate);

	buffer_printf(out, "%s %s%s before", before.text, work_noun(base), is_rate ? " a second" : "");
	if (!same_source(diff))
		render_requests_append_source(diff, base, out);
	buffer_printf(out, ", %s", after.text);
	if (strcmp(work_noun(base), work_noun(head)) != 0)
		buffer_printf(out, " %s", work_noun(head));
	buffer_append_string(out, " after");
	render_requests_append_source(diff, head, out);
	if (base->one_in > 1 || head->one_in > 1)
		buffer_append_string(out, ", estimated from a part of the connections");
}

/* Appends the amount of work where one side only has one. */
static void append_lone_amount(const struct diff *diff, enum diff_side side, struct buffer *out)
{
	const struct diff_requests *requests = &diff->requests[side],
				   *other = &diff->requests[side == DIFF_BASE ? DIFF_HEAD : DIFF_BASE];
	bool is_rate = requests->per_s > 0;
	const char *is_none = other->source == PROFILE_WORK_UNKNOWN ? "not counted" : "none";

	buffer_printf(out, "%s %s%s %s", amount(requests, is_rate).text, work_noun(requests),
		is_rate ? " a second" : "", side == DIFF_BASE ? "before" : "after");
	render_requests_append_source(diff, requests, out);
	buffer_printf(out, "; %s %s.", is_none, side == DIFF_BASE ? "after" : "before");
}

static void append_work(const struct diff *diff, struct buffer *out)
{
	const struct diff_requests *base = &diff->requests[DIFF_BASE], *head = &diff->requests[DIFF_HEAD];

	if (!has_work(diff, DIFF_BASE) || !has_work(diff, DIFF_HEAD)) {
		append_lone_amount(diff, has_work(diff, DIFF_BASE) ? DIFF_BASE : DIFF_HEAD, out);
		return;
	}
	append_amounts(diff, out);
	if (both_known(base->p50_ns, head->p50_ns)) {
		buffer_append_string(out, "; ");
		append_latencies(
			(double[]){ base->p50_ns, head->p50_ns }, (double[]){ base->p99_ns, head->p99_ns }, out);
		if (diff->latency.state == DIFF_STATE_UNPROVEN &&
			(seem_different(base->p50_ns, head->p50_ns) || seem_different(base->p99_ns, head->p99_ns)))
			buffer_append_string(out, " (not proven to differ)");
	}
	buffer_append_byte(out, '.');
	if (base->is_by_connection)
		buffer_append_string(out, " A connection counts as one request, as most exchanges are handshakes.");
	if (diff_string(diff, diff->requests_doubt)[0])
		buffer_printf(out, " Costs are not compared per request: %s.", diff_string(diff, diff->requests_doubt));
}

static void append_calls_out(const struct diff *diff, struct buffer *out)
{
	const struct diff_requests *base = &diff->requests[DIFF_BASE], *head = &diff->requests[DIFF_HEAD];
	bool is_rate = base->calls_out_per_s > 0 || head->calls_out_per_s > 0;
	struct format_text before = is_rate ? format_rate(base->calls_out_per_s) : format_count(base->calls_out),
			   after = is_rate ? format_rate(head->calls_out_per_s) : format_count(head->calls_out);

	buffer_printf(out, "Calls out: %s → %s%s", before.text, after.text, is_rate ? " a second" : "");
	if (both_known(base->calls_out_p50_ns, head->calls_out_p50_ns)) {
		buffer_append_string(out, "; ");
		append_latencies((double[]){ base->calls_out_p50_ns, head->calls_out_p50_ns },
			(double[]){ base->calls_out_p99_ns, head->calls_out_p99_ns }, out);
	}
	buffer_append_byte(out, '.');
}

void render_requests_words(const struct diff *diff, struct buffer *out)
{
	bool has_any = has_work(diff, DIFF_BASE) || has_work(diff, DIFF_HEAD);

	if (has_any)
		append_work(diff, out);
	if (!has_calls_out(diff, DIFF_BASE) && !has_calls_out(diff, DIFF_HEAD))
		return;
	if (has_any)
		buffer_append_byte(out, ' ');
	append_calls_out(diff, out);
}

/* ---- One side ---- */

static void append_within(const char *before, const char *part, double ns, struct buffer *out)
{
	if (isfinite(ns))
		buffer_printf(out, "%s%s within %s", before, part, format_value(ns, "nanoseconds").text);
}

static void append_rate(double per_s, struct buffer *out)
{
	if (per_s > 0)
		buffer_printf(out, ", %s a second", format_rate(per_s).text);
}

void render_requests_report_words(const struct diff *diff, struct buffer *out)
{
	const struct diff_requests *requests = &diff->requests[DIFF_HEAD];

	if (has_work(diff, DIFF_HEAD)) {
		buffer_printf(out, "%s: %s%s", requests->source == PROFILE_WORK_EVENT ? "Units of work" : "Requests",
			format_count(requests->count).text,
			requests->source == PROFILE_WORK_SOCKETS ? " answered" : "");
		render_requests_append_source(diff, requests, out);
		append_rate(requests->per_s, out);
		if (requests->one_in > 1)
			buffer_printf(out, ", estimated from one request in %" PRIu32, requests->one_in);
		append_within("; ", "half", requests->p50_ns, out);
		append_within(", ", "90 %", requests->p90_ns, out);
		append_within(", ", "99 %", requests->p99_ns, out);
		buffer_append_byte(out, '.');
	}
	if (!has_calls_out(diff, DIFF_HEAD))
		return;
	buffer_printf(
		out, "%sCalls out: %s", has_work(diff, DIFF_HEAD) ? " " : "", format_count(requests->calls_out).text);
	append_rate(requests->calls_out_per_s, out);
	append_within("; ", "half", requests->calls_out_p50_ns, out);
	append_within(", ", "99 %", requests->calls_out_p99_ns, out);
	buffer_append_byte(out, '.');
}
