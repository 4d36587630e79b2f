/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/json_members.h"
#include "render/json_text.h"

#include <math.h>
#include <stdlib.h>

/* Workers that come and go may be thousands. */
enum { MOST_PROCESSES = 100 };

static void put_rate(double count, double per_s, struct buffer *out)
{
	/* A rate of 0 is that of no requests, or not known. */
	json_text_member_number(out, "per_s", count > 0 && !(per_s > 0) ? NAN : per_s);
}

/* ---- Processes ---- */

static int by_count(const void *left, const void *right)
{
	const struct profile_exchanges *const *a = left, *const *b = right;

	if ((*a)->count != (*b)->count)
		return (*a)->count > (*b)->count ? -1 : 1;
	/* They stand in order of run and process. */
	return ORDER(*a, *b);
}

static void put_process(const struct profile *profile, const struct profile_exchanges *exchanges, struct buffer *out)
{
	json_text_open(out, '{');
	json_text_member_integer(out, "run", (int64_t)exchanges->run + 1);
	json_text_member_integer(out, "pid", exchanges->pid);
	json_text_member(out, "name", profile_string(profile, exchanges->process_name));
	json_text_member_integer(out, "count", (int64_t)exchanges->count);
	json_text_close(out, '}');
}

/* Writes the processes that answered most. */
static void put_processes(const struct profile *profile, struct buffer *out)
{
	const struct profile_requests *requests = &profile->requests;
	CLEANUP(cleanup_free)
	const struct profile_exchanges **answered = memory_zeroed(requests->exchange_count + 1, sizeof(*answered));
	size_t count = 0;

	if (!answered) {
		out->failed = true;
		return;
	}
	for (size_t i = 0; i < requests->exchange_count; i++)
		if (requests->exchanges[i].kind == PROFILE_EXCHANGE_ANSWERED && requests->exchanges[i].pid > 0 &&
			requests->exchanges[i].count > 0)
			answered[count++] = &requests->exchanges[i];
	qsort(answered, count, sizeof(*answered), by_count);
	json_text_begin(out, "processes", '[');
	for (size_t i = 0; i < count && i < MOST_PROCESSES; i++)
		put_process(profile, answered[i], out);
	json_text_close(out, ']');
}

/* ---- Members ---- */

void json_requests(const struct render_input *input, enum diff_side side, struct buffer *out)
{
	const struct diff_requests *r = &input->diff->requests[side];

	if (r->source == PROFILE_WORK_UNKNOWN) {
		json_text_member_null(out, "requests");
		return;
	}
	json_text_begin(out, "requests", '{');
	json_text_member(out, "source", profile_work_source_name(r->source));
	json_text_member(out, "event", diff_string(input->diff, r->event));
	json_text_member_integer(out, "one_in", r->one_in);
	json_text_member_whole(out, "count", r->count);
	put_rate(r->count, r->per_s, out);
	json_text_member_whole(out, "p50_ns", r->p50_ns);
	json_text_member_whole(out, "p90_ns", r->p90_ns);
	json_text_member_whole(out, "p99_ns", r->p99_ns);
	json_text_begin(out, "calls_out", '{');
	json_text_member_whole(out, "count", r->calls_out);
	put_rate(r->calls_out, r->calls_out_per_s, out);
	json_text_member_whole(out, "p50_ns", r->calls_out_p50_ns);
	json_text_member_whole(out, "p99_ns", r->calls_out_p99_ns);
	json_text_close(out, '}');
	put_processes(input->profiles[side], out);
	json_text_close(out, '}');
}

void json_latency(const struct diff *diff, struct buffer *out)
{
	const struct diff_requests *base = &diff->requests[DIFF_BASE], *head = &diff->requests[DIFF_HEAD];

	if (!diff->latency.is_known) {
		json_text_member_null(out, "latency");
		return;
	}
	json_text_begin(out, "latency", '{');
	json_text_member_whole(out, "base_p50_ns", base->p50_ns);
	json_text_member_whole(out, "head_p50_ns", head->p50_ns);
	json_text_member_whole(out, "base_p99_ns", base->p99_ns);
	json_text_member_whole(out, "head_p99_ns", head->p99_ns);
	json_text_member(out, "verdict", diff_state_name(diff->latency.state));
	json_text_close(out, '}');
}

static void put_function_name(const struct diff *diff, uint32_t function, struct buffer *out)
{
	if (function < diff->function_count)
		json_text_string(out, diff_string(diff, diff->functions[function].name));
	else
		json_text_null(out);
}

void json_cause(const struct diff *diff, struct buffer *out)
{
	const struct diff_cause *cause = &diff->cause;

	json_text_key(out, "cause");
	if (cause->function >= diff->function_count) {
		json_text_null(out);
		return;
	}
	json_text_open(out, '{');
	json_text_key(out, "function");
	put_function_name(diff, cause->function, out);
	json_text_member(out, "module", diff_string(diff, diff->functions[cause->function].module));
	json_text_flag(out, "is_self", cause->is_self);
	json_text_member_number(out, "part", cause->share);
	json_text_begin(out, "callers", '[');
	for (size_t i = 0; i < cause->caller_count; i++)
		put_function_name(diff, cause->callers[i], out);
	json_text_close(out, ']');
	json_text_key(out, "leaf");
	put_function_name(diff, cause->leaf, out);
	json_text_close(out, '}');
}
