/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/elapsed.h"

#include "diff/constants.h"
#include "diff/metric.h"
#include "diff/verdict/size.h"
#include "diff/verdict/waiting.h"
#include "diff/words.h"

#include <math.h>
#include <string.h>

enum { ELAPSED_SENTENCE_BYTES = 8192 };

/* ---- Figures ---- */

static double sum_waiting(const struct diff *diff, enum diff_side side)
{
	double sum = 0;

	for (int i = 0; i < PROFILE_WAIT_COUNT; i++)
		if (!waiting_is_apart(diff, (enum profile_wait_class)i))
			sum += side == DIFF_BASE ? diff->waits[i].total.base : diff->waits[i].total.head;
	return sum;
}

static bool is_reason(const struct diff *diff, double part)
{
	return diff_state_is_difference(diff->total.state) && part / diff->total.delta >= elapsed_reason_share;
}

void elapsed_measure(struct diff_build *build)
{
	struct diff *diff = build->diff;
	struct diff_elapsed *elapsed = &diff->elapsed;
	double ratio[DIFF_SIDES]; /* of time in which threads run to CPU time: 1 / p */

	if (diff->whole || !metric_is_elapsed(build->profiles[DIFF_HEAD], build->metric[DIFF_HEAD]))
		return;
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct profile *profile = build->profiles[side];
		double total = side == DIFF_BASE ? diff->total.base : diff->total.head;

		elapsed->cpu[side] = (double)profile_sum(profile, profile_find_metric(profile, "cpu", "nanoseconds")) *
				     (side == DIFF_HEAD ? diff->scale.factor : 1);
		elapsed->waiting[side] = sum_waiting(diff, (enum diff_side)side);
		if (!(elapsed->cpu[side] > 0))
			return;
		ratio[side] = (total - elapsed->waiting[side]) / elapsed->cpu[side];
	}
	elapsed->is_known = true;
	elapsed->by_waiting = elapsed->waiting[DIFF_HEAD] - elapsed->waiting[DIFF_BASE];
	elapsed->by_cpu =
		(elapsed->cpu[DIFF_HEAD] - elapsed->cpu[DIFF_BASE]) * (ratio[DIFF_BASE] + ratio[DIFF_HEAD]) / 2;
	elapsed->by_together =
		(ratio[DIFF_HEAD] - ratio[DIFF_BASE]) * (elapsed->cpu[DIFF_BASE] + elapsed->cpu[DIFF_HEAD]) / 2;
	elapsed->is_by_together = is_reason(diff, elapsed->by_together);
}

bool elapsed_needs_waits(const struct diff *diff)
{
	return diff->elapsed.is_by_together || is_reason(diff, diff->elapsed.by_waiting);
}

/* Returns the class of waits that is most of the difference. */
static enum profile_wait_class greatest_class(const struct diff *diff)
{
	enum profile_wait_class greatest = PROFILE_WAIT_NONE;
	double most = elapsed_reason_share * fabs(diff->elapsed.by_waiting);

	for (int i = 0; i < PROFILE_WAIT_COUNT; i++) {
		double delta = diff->waits[i].total.delta * (diff->elapsed.by_waiting > 0 ? 1 : -1);

		if (waiting_is_apart(diff, (enum profile_wait_class)i) || delta < most)
			continue;
		greatest = (enum profile_wait_class)i;
		most = delta;
	}
	return greatest;
}

void elapsed_find_overlap(struct diff *diff, const struct diff *waits)
{
	enum profile_wait_class class = greatest_class(diff);
	const struct diff_estimate *of_clock, *of_threads;

	if (!is_reason(diff, diff->elapsed.by_waiting) || class == PROFILE_WAIT_NONE)
		return;
	of_clock = &diff->waits[class].total;
	of_threads = &waits->waits[class].total;
	if (!(fmax(of_threads->ci_low / of_clock->delta, of_threads->ci_high / of_clock->delta) < elapsed_reason_share))
		return;
	diff->elapsed.is_overlapped = true;
	diff->elapsed.overlapped = class;
	diff->elapsed.overlapped_waiting[DIFF_BASE] = of_threads->base;
	diff->elapsed.overlapped_waiting[DIFF_HEAD] = of_threads->head;
}

/* ---- Words ---- */

/* Appends "1.2 s → 1.3 s per run". */
static void append_durations(const struct diff_build *build, const double values[DIFF_SIDES], struct buffer *text)
{
	double basis = size_basis(build);

	size_append_duration(values[DIFF_BASE] / basis, text);
	buffer_append_string(text, " → ");
	size_append_duration(values[DIFF_HEAD] / basis, text);
	buffer_append_string(text, words_scale(build->diff->scale.mode));
}

static void verdict_elapsed_append_reason(const struct diff_build *build, struct buffer *text)
{
	const struct diff *diff = build->diff;
	const struct diff_elapsed *elapsed = &diff->elapsed;

	if (elapsed->is_by_together) {
		buffer_printf(text, ": %s of it in parallel", elapsed->by_together > 0 ? "less" : "more");
	} else if (elapsed->is_overlapped) {
		buffer_printf(text, ": %s of the waiting at the same time, all threads together wait %s ",
			elapsed->by_waiting > 0 ? "less" : "more", profile_wait_info(elapsed->overlapped)->reason);
		append_durations(build, elapsed->overlapped_waiting, text);
	} else if (is_reason(diff, elapsed->by_waiting) && diff->named_wait == PROFILE_NONE) {
		buffer_printf(text, ": it waits %s", elapsed->by_waiting > 0 ? "longer" : "less");
		waiting_append_most(diff, elapsed->by_waiting, text);
	}
}

bool elapsed_say(struct diff_build *build, const struct diff *waits, struct error *err)
{
	struct diff *diff = build->diff;
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(ELAPSED_SENTENCE_BYTES);

	if (!diff->elapsed.is_known)
		return true;
	buffer_append_string(&text, diff_string(diff, diff->verdict_text));
	buffer_append_string(&text, "; CPU time ");
	append_durations(build, diff->elapsed.cpu, &text);
	verdict_elapsed_append_reason(build, &text);
	if (waits && waits->named_wait != PROFILE_NONE) {
		buffer_append_string(&text, "; ");
		waiting_append_named(waits, &text);
	}
	if (!buffer_ok(&text, err))
		return false;
	build_text(diff, &diff->verdict_text, "%s", (const char *)text.data);
	return true;
}
