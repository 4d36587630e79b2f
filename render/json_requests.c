/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/json_requests.h"

#include "render/json_text.h"

#include <stdlib.h>

/* Workers that come and go may be thousands. */
enum { MOST_PROCESSES = 100 };

static json_t *rate(double count, double per_s)
{
	/* A rate of 0 is that of no requests, or not known. */
	return count > 0 && !(per_s > 0) ? json_null() : json_number(per_s);
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

/* Returns the processes that answered most. */
static json_t *processes(const struct profile *profile)
{
	const struct profile_requests *requests = &profile->requests;
	CLEANUP(cleanup_free)
	const struct profile_exchanges **answered = calloc(requests->exchange_count + 1, sizeof(*answered));
	json_t *array = json_array();
	size_t count = 0;

	if (!answered || !array) {
		json_decref(array);
		return NULL;
	}
	for (size_t i = 0; i < requests->exchange_count; i++)
		if (requests->exchanges[i].kind == PROFILE_EXCHANGE_ANSWERED && requests->exchanges[i].pid > 0 &&
			requests->exchanges[i].count > 0)
			answered[count++] = &requests->exchanges[i];
	qsort(answered, count, sizeof(*answered), by_count);
	for (size_t i = 0; i < count && i < MOST_PROCESSES; i++)
		if (json_array_append_new(
			    array, json_pack("{s:I, s:i, s:o, s:I}", "run", (json_int_t)answered[i]->run + 1, "pid",
					   (int)answered[i]->pid, "name",
					   json_valid_string(profile_string(profile, answered[i]->process_name)),
					   "count", (json_int_t)answered[i]->count)) != 0) {
			json_decref(array);
			return NULL;
		}
	return array;
}

/* ---- Members ---- */

json_t *json_requests(const struct render_input *input, enum diff_side side)
{
	const struct diff_requests *r = &input->diff->requests[side];
	json_t *calls_out, *answered;

	if (r->source == PROFILE_WORK_UNKNOWN)
		return json_null();
	calls_out = json_pack("{s:o, s:o, s:o, s:o}", "count", json_whole(r->calls_out), "per_s",
		rate(r->calls_out, r->calls_out_per_s), "p50_ns", json_whole(r->calls_out_p50_ns), "p99_ns",
		json_whole(r->calls_out_p99_ns));
	answered = processes(input->profiles[side]);
	return json_pack("{s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "source",
		profile_work_source_name(r->source), "event", json_valid_string(diff_string(input->diff, r->event)),
		"one_in", (json_int_t)r->one_in, "count", json_whole(r->count), "per_s", rate(r->count, r->per_s),
		"p50_ns", json_whole(r->p50_ns), "p90_ns", json_whole(r->p90_ns), "p99_ns", json_whole(r->p99_ns),
		"calls_out", calls_out, "processes", answered);
}

json_t *json_latency(const struct diff *diff)
{
	const struct diff_requests *base = &diff->requests[DIFF_BASE], *head = &diff->requests[DIFF_HEAD];

	if (!diff->latency.is_known)
		return json_null();
	return json_pack("{s:o, s:o, s:o, s:o, s:s}", "base_p50_ns", json_whole(base->p50_ns), "head_p50_ns",
		json_whole(head->p50_ns), "base_p99_ns", json_whole(base->p99_ns), "head_p99_ns",
		json_whole(head->p99_ns), "verdict", diff_state_name(diff->latency.state));
}

static json_t *function_name(const struct diff *diff, uint32_t function)
{
	return function < diff->function_count ? json_valid_string(diff_string(diff, diff->functions[function].name))
					       : json_null();
}

json_t *json_cause(const struct diff *diff)
{
	const struct diff_cause *cause = &diff->cause;
	json_t *callers;

	if (cause->function >= diff->function_count)
		return json_null();
	callers = json_array();
	for (size_t i = 0; i < cause->caller_count; i++)
		if (json_array_append_new(callers, function_name(diff, cause->callers[i])) != 0) {
			json_decref(callers);
			return NULL;
		}
	return json_pack("{s:o, s:o, s:b, s:o, s:o, s:o}", "function", function_name(diff, cause->function), "module",
		json_valid_string(diff_string(diff, diff->functions[cause->function].module)), "is_self",
		(int)cause->is_self, "part", json_number(cause->share), "callers", callers, "leaf",
		function_name(diff, cause->leaf));
}
