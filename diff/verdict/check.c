/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/check.h"

#include "diff/constants.h"
#include "diff/verdict/cause.h"

#include <math.h>

static bool holds_estimate(const struct diff_estimate *e)
{
	double room = check_rounding * (fabs(e->base) + fabs(e->head));

	if (!isfinite(e->ci_low) || !isfinite(e->ci_high))
		return true;
	return e->ci_low <= e->delta + room && e->ci_high >= e->delta - room;
}

static const char *check_estimate(const struct diff_estimate *e)
{
	enum proven_way way = proven_way_of(e->state);

	if (!holds_estimate(e))
		return "an estimate lies outside its interval";
	if (way == PROVEN_NEITHER)
		return NULL;
	if ((int)way * e->delta <= 0)
		return "a proven difference has the other direction";
	if (isfinite(e->ci_low) && isfinite(e->ci_high) && e->ci_low <= 0 && e->ci_high >= 0)
		return "a proven difference has an interval with 0";
	return NULL;
}

/* The totals of an interpreter's functions are those of what it runs. */
static bool verdict_check_is_proven(const struct diff_function *f)
{
	return proven_way_of(f->self.state) ||
	       (proven_way_of(f->total.state) && f->interprets == PROFILE_LANGUAGE_NATIVE);
}

static const char *check_functions(const struct diff *diff)
{
	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];
		const char *self = check_estimate(&f->self), *total = check_estimate(&f->total);

		if (self || total)
			return self ? self : total;
		if (diff->verdict == DIFF_UNCHANGED && verdict_check_is_proven(f))
			return "a function is proven to have changed, and the verdict is unchanged";
	}
	return NULL;
}

static enum proven_way way_of_verdict(enum diff_verdict verdict)
{
	switch (verdict) {
	case DIFF_REGRESSED:
		return PROVEN_MORE;
	case DIFF_IMPROVED:
		return PROVEN_LESS;
	case DIFF_UNCHANGED:
	case DIFF_INCONCLUSIVE:
	case DIFF_MIXED:
	case DIFF_MINOR:
	case DIFF_MACHINE:
	case DIFF_PLACEMENT:
		break;
	}
	return PROVEN_NEITHER;
}

static const char *check_cause(const struct diff *diff, enum proven_way way)
{
	const struct diff_cause *cause = &diff->cause;
	const struct diff_function *f;

	if (cause->function == PROFILE_NONE)
		return NULL;
	f = &diff->functions[cause->function];
	if (way == PROVEN_NEITHER)
		return "a cause is named without a direction";
	if (proven_way_of(f->self.state) != way && proven_way_of(f->total.state) != way)
		return "the cause is not proven in the direction of the verdict";
	if ((int)way * cause_estimate(diff, cause, way)->delta <= 0)
		return "the cause has another direction than the verdict";
	return cause->share > 0 && cause->share <= 1 ? NULL : "the cause's share is no share";
}

const char *verdict_check(const struct diff *diff)
{
	enum proven_way way = way_of_verdict(diff->verdict), of_total = proven_way_of(diff->total.state);
	const char *broken = check_estimate(&diff->total);

	if (!broken)
		broken = check_functions(diff);
	if (!broken)
		broken = check_cause(diff, way);
	if (broken)
		return broken;
	/* Limits that the user set decide whatever else is proven; without a count of the work, so may functions. */
	if (!diff->gate_failed && !diff->scale.load_is_unknown && way && of_total && way != of_total)
		return "the total is proven to have changed against the verdict";
	return NULL;
}
