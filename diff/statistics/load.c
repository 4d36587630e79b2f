/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/load.h"

#include "diff/constants.h"
#include "diff/probability/probability.h"
#include "diff/statistics/basis.h"
#include "diff/statistics/units.h"

#include <math.h>
#include <string.h>

/*
 * Relative standard deviation of a function's time between two processes of equal code and load, beyond counting, so
 * that one large function alone is no proof. Several runs on each side average it out.
 */
static const double process_rsd = 0.15, run_rsd = 0.05;

/*
 * A function agrees with the factor if its ratio is within this of the factor, allowing for two standard
 * deviations of counting noise.
 */
static const double agreeing_ratio = 1.35;
static const double counting_sigmas = 2;

/* The prior of the controls' variance is worth this many controls. */
static const double prior_controls = 5;

/* The variance of a median divided by that of a mean. */
static const double median_cost = M_PI / 2;

/*
 * If the functions that agree have less than this share of either side's time, most of the time is in code that
 * changed.
 */
static const double min_agreeing_share = 0.5;

/*
 * The readings per second and at equal load contradict each other if they point in opposite directions and both differ
 * from 1 by more than this ratio; the reading at equal load must exceed it by one standard deviation of the factor.
 */
static const double contradicting_ratio = 1.1;

/* Functions in which threads wait: their cost depends on how often the threads wake up. */
static const char *const *const waits =
	GLOBS("*sys_epoll_*wait*", "*sys_*poll", "*sys_*poll_time*", "*sys_*select*", "*sys_*nanosleep*", "*sys_futex*",
		"*sys_rt_sigtimedwait*", "*sys_io_uring_enter", "*sys_pause", "*sys_wait*", "*sys_accept*",
		"epoll_wait", "epoll_pwait*", "poll", "ppoll", "select", "pselect", "nanosleep", "clock_nanosleep*");

enum load_kind { KIND_OWN_SAME, KIND_OWN, KIND_SAME, KIND_ALL };

/*
 * The time of a function: by itself (`self`), and with all library and system code up to the next function of the
 * user's code (`own`).
 */
struct function_time {
	double self[DIFF_SIDES], own[DIFF_SIDES];
};

struct function_times {
	const struct diff_build *build;
	struct function_time *items; /* [function] raw */
	double all[DIFF_SIDES];      /* time of the program without waiting */
};

double load_seconds(const struct profile *profile)
{
	double seconds = 0;

	for (size_t i = 0; i < profile->run_count; i++) {
		if (profile->runs[i].duration_ns <= 0)
			return 0;
		seconds += (double)profile->runs[i].duration_ns / 1e9;
	}
	return seconds;
}

/* ---- The times of functions ---- */

static bool waits_in(const struct diff *diff, const struct diff_function *f)
{
	const char *name = diff_string(diff, f->name);

	if (diff_wait_class(diff, f) != PROFILE_WAIT_NONE)
		return true;
	return f->origin == PROFILE_ORIGIN_SYSTEM && glob_matches_any(waits, name);
}

static void statistics_load_find_waits(const struct diff *diff, bool **is_wait)
{
	*is_wait = memory_alloc((diff->function_count + 1) * sizeof(**is_wait));
	for (size_t i = 0; i < diff->function_count; i++)
		(*is_wait)[i] = waits_in(diff, &diff->functions[i]);
}

static void load_add_node(struct function_times *times, uint32_t node, uint32_t owner)
{
	const struct diff *diff = times->build->diff;

	for (int side = 0; side < DIFF_SIDES; side++) {
		double self = diff->node_self[side][node];

		times->all[side] += self;
		times->items[diff->nodes[node].function].self[side] += self;
		if (owner != PROFILE_NONE)
			times->items[owner].own[side] += self;
	}
}

void load_find_waiting(const struct diff *diff, bool **waiting)
{
	CLEANUP(cleanup_free) bool *is_wait = NULL;

	*waiting = memory_zeroed(diff->node_count + 1, sizeof(**waiting));
	statistics_load_find_waits(diff, &is_wait);
	for (uint32_t node = 1; node < diff->node_count; node++)
		(*waiting)[node] = (*waiting)[diff->nodes[node].parent] || is_wait[diff->nodes[node].function];
}

/*
 * Assigns each node's time to the nearest function of the user's code above it. Time in waits and interrupts is
 * assigned to none.
 */
static void sum_times(struct function_times *times)
{
	const struct diff *diff = times->build->diff;
	CLEANUP(cleanup_free) uint32_t *owners = memory_alloc((diff->node_count + 1) * sizeof(*owners));
	CLEANUP(cleanup_free) bool *waiting = NULL;

	load_find_waiting(diff, &waiting);
	owners[0] = PROFILE_NONE;
	for (uint32_t node = 1; node < diff->node_count; node++) {
		const struct diff_node *n = &diff->nodes[node];

		owners[node] =
			diff->functions[n->function].origin == PROFILE_ORIGIN_USER ? n->function : owners[n->parent];
		if (!waiting[node] && !(n->flags & DIFF_NODE_INTERRUPT))
			load_add_node(times, node, owners[node]);
	}
}

/* Returns the values of a function as a control of a kind; NULL: it is not of that kind. */
static const double *statistics_load_values_of(
	const struct function_times *times, enum load_kind kind, uint32_t function)
{
	const struct diff_function *f = &times->build->diff->functions[function];
	bool own = kind == KIND_OWN_SAME || kind == KIND_OWN, same = kind == KIND_OWN_SAME || kind == KIND_SAME;

	if (f->interrupt || (same && f->code != DIFF_CODE_SAME) || (kind == KIND_OWN && f->code == DIFF_CODE_CHANGED))
		return NULL;
	return own ? times->items[function].own : times->items[function].self;
}

static double statistics_load_samples_of(const struct function_times *times, const double *values, enum diff_side side)
{
	return build_samples(times->build, side, values[side]);
}

/* ---- The factor ---- */

struct load_controls {
	struct weighted_value *ratios; /* owned: logarithms of base over head */
	size_t count;
	double shares[DIFF_SIDES]; /* share of the program's time */
};

static void load_collect_controls(
	const struct function_times *times, enum load_kind kind, struct load_controls *controls)
{
	const struct diff *diff = times->build->diff;
	double rsd = units_have_runs(times->build) ? run_rsd : process_rsd;

	controls->count = 0;
	controls->shares[DIFF_BASE] = controls->shares[DIFF_HEAD] = 0;
	for (uint32_t i = 0; i < diff->function_count; i++) {
		const double *values = statistics_load_values_of(times, kind, i);
		double base = values ? statistics_load_samples_of(times, values, DIFF_BASE) : 0;
		double head = values ? statistics_load_samples_of(times, values, DIFF_HEAD) : 0;

		if (base < diff_min_ratio_samples || head < diff_min_ratio_samples)
			continue;
		controls->ratios[controls->count++] = (struct weighted_value){
			.value = log(values[DIFF_BASE] / values[DIFF_HEAD]),
			.weight = 1 / (1 / base + 1 / head + 2 * rsd * rsd),
		};
		for (int side = 0; side < DIFF_SIDES; side++)
			controls->shares[side] += times->all[side] > 0 ? values[side] / times->all[side] : 0;
	}
}

static bool is_small(const struct load_controls *controls)
{
	return fmax(controls->shares[DIFF_BASE], controls->shares[DIFF_HEAD]) < diff_min_control_share;
}

static enum load_kind load_choose_controls(const struct function_times *times, struct load_controls *controls)
{
	for (int kind = 0; kind < KIND_ALL; kind++) {
		load_collect_controls(times, (enum load_kind)kind, controls);
		if (controls->count >= DIFF_MIN_CONTROLS && !is_small(controls))
			return (enum load_kind)kind;
	}
	load_collect_controls(times, KIND_ALL, controls);
	return KIND_ALL;
}

/* ---- Whether the factor can be believed ---- */

/* Returns the share of a side's time, among functions with enough samples, whose ratio agrees with the factor. */
static double agreeing_share(
	const struct function_times *times, enum load_kind kind, double factor, enum diff_side side)
{
	const struct diff *diff = times->build->diff;
	bool own = kind == KIND_OWN_SAME || kind == KIND_OWN;
	double agreeing = 0, judged = 0;

	for (uint32_t i = 0; i < diff->function_count; i++) {
		const double *values = own ? times->items[i].own : times->items[i].self;
		double base = statistics_load_samples_of(times, values, DIFF_BASE),
		       head = statistics_load_samples_of(times, values, DIFF_HEAD), off;

		if (base + head < 2 * diff_min_ratio_samples)
			continue;
		judged += values[side];
		off = fabs(log(fmax(values[DIFF_BASE], times->build->sample_weight[DIFF_BASE])) -
			   log(fmax(values[DIFF_HEAD], times->build->sample_weight[DIFF_HEAD])) - log(factor));
		if (off <= log(agreeing_ratio) + counting_sigmas * sqrt(1 / fmax(base, 1) + 1 / fmax(head, 1)))
			agreeing += values[side];
	}
	return judged > 0 ? agreeing / judged : 0;
}

/*
 * Returns whether the readings contradict each other: the program takes more per second but less at equal load, or the
 * other way round. One of them is then wrong about the load.
 */
static bool contradicts(const struct diff_build *build, double factor, double variance)
{
	double base = load_seconds(build->profiles[DIFF_BASE]), head = load_seconds(build->profiles[DIFF_HEAD]);
	double raw = log(build->diff->raw_total[DIFF_HEAD] / build->diff->raw_total[DIFF_BASE]);
	double robust = raw + log(factor), rate = raw + log(base / head);

	if (!(base > 0) || !(head > 0))
		return false;
	return robust * rate < 0 && fabs(rate) > log(contradicting_ratio) &&
	       fabs(robust) > log(contradicting_ratio) + sqrt(variance);
}

static enum load_doubt doubt_of(const struct function_times *times, enum load_kind kind,
	const struct load_controls *controls, const struct load *load)
{
	if (controls->count < DIFF_MIN_CONTROLS)
		return LOAD_FEW_CONTROLS;
	if (is_small(controls))
		return LOAD_SMALL_CONTROLS;
	if (agreeing_share(times, kind, load->factor, DIFF_BASE) < min_agreeing_share)
		return LOAD_BASE_CHANGED;
	if (agreeing_share(times, kind, load->factor, DIFF_HEAD) < min_agreeing_share)
		return LOAD_HEAD_CHANGED;
	return contradicts(times->build, load->factor, load->variance) ? LOAD_CONTRADICTION : LOAD_KNOWN;
}

/*
 * Returns the variance of the factor. If the load is unknown, any single control may be the right one, so their full
 * scatter counts.
 */
static double factor_variance(struct load_controls *controls, double median, bool is_known)
{
	double variance, scatter, sum = 0, squares = 0;

	for (size_t i = 0; i < controls->count; i++) {
		sum += controls->ratios[i].weight;
		squares += controls->ratios[i].weight * controls->ratios[i].weight;
	}
	variance = weighted_median_variance(controls->ratios, controls->count, median);
	scatter = squares > 0 ? variance * sum * sum / squares : 0;
	/* A few controls that agree by chance are hardly more certain than their weights say. */
	if (sum > 0)
		variance = (prior_controls * median_cost / sum + (double)controls->count * variance) /
			   (prior_controls + (double)controls->count);
	return is_known ? variance : fmax(variance, scatter);
}

/*
 * Returns the typical ratio of single functions. Runs of the same work differ by the machine's speed, which each
 * function of unchanged code shows: these are more than the functions of the user's code. An interpreter's functions
 * are left out, since they do the work of a script whose code is not known.
 */
static double typical_factor(
	const struct function_times *times, enum load_kind kind, struct load_controls *controls, double factor)
{
	if (kind == KIND_OWN)
		return factor;
	load_collect_controls(times, KIND_SAME, controls);
	if (controls->count < DIFF_MIN_CONTROLS || is_small(controls))
		load_collect_controls(times, KIND_ALL, controls);
	return controls->count > 0 ? exp(weighted_median(controls->ratios, controls->count)) : factor;
}

static void load_estimate(const struct function_times *times, struct load_controls *controls, struct load *load)
{
	const struct diff *diff = times->build->diff;
	enum load_kind kind = load_choose_controls(times, controls);
	double median;

	*load = (struct load){ .factor = diff->raw_total[DIFF_BASE] / diff->raw_total[DIFF_HEAD],
		.functions = controls->count };
	if (controls->count > 0) {
		load->controls = kind == KIND_OWN_SAME || kind == KIND_SAME ? controls->count : 0;
		median = weighted_median(controls->ratios, controls->count);
		load->factor = exp(median);
		load->variance = factor_variance(controls, median, true);
		/* weighted_median_variance() has overwritten the values. */
		load_collect_controls(times, kind, controls);
		load->doubt = doubt_of(times, kind, controls, load);
		load->variance = factor_variance(controls, median, load->doubt == LOAD_KNOWN);
	} else {
		load->doubt = LOAD_FEW_CONTROLS;
	}
	load->typical = typical_factor(times, kind, controls, load->factor);
}

void load_measure(struct diff_build *build)
{
	size_t count = build->diff->function_count;
	CLEANUP(cleanup_free) struct function_time *items = memory_zeroed(count + 1, sizeof(*items));
	CLEANUP(cleanup_free) struct weighted_value *ratios = memory_alloc((count + 1) * sizeof(*ratios));
	struct function_times times = { .build = build, .items = items };
	struct load_controls controls = { .ratios = ratios };

	if (build->diff->whole) {
		build->load = basis_of(build->diff)->load;
		return;
	}
	sum_times(&times);
	load_estimate(&times, &controls, &build->load);
	build->diff->basis->load = build->load;
}

/* ---- Rates ---- */

static double load_log_ratio(const struct diff_build *build, double base, double head)
{
	double seconds = load_seconds(build->profiles[DIFF_BASE]) / load_seconds(build->profiles[DIFF_HEAD]);
	double ratio = head / base * seconds;

	return isfinite(ratio) && ratio > 0 ? log(ratio) : 0;
}

double load_rate_change(const struct diff_build *build)
{
	return load_log_ratio(build, build->diff->requests[DIFF_BASE].count, build->diff->requests[DIFF_HEAD].count);
}

double load_calls_change(const struct diff_build *build, bool *is_known)
{
	const struct diff_requests *requests = build->diff->requests;

	*is_known = requests[DIFF_BASE].count == 0 && requests[DIFF_HEAD].count == 0 &&
		    fmin(requests[DIFF_BASE].calls_out, requests[DIFF_HEAD].calls_out) >= diff_min_requests;
	return *is_known ? load_log_ratio(build, requests[DIFF_BASE].calls_out, requests[DIFF_HEAD].calls_out) : 0;
}

const char *load_doubt_words(enum load_doubt doubt)
{
	switch (doubt) {
	case LOAD_KNOWN:
		return "";
	case LOAD_FEW_CONTROLS:
		return "fewer than three functions were sampled often enough on both sides to compare their load";
	case LOAD_SMALL_CONTROLS:
		return "the functions that both sides have are a small part of the time";
	case LOAD_BASE_CHANGED:
		return "most of base's time is in functions that changed against the others";
	case LOAD_HEAD_CHANGED:
		return "most of head's time is in functions that changed against the others";
	case LOAD_CONTRADICTION:
		return "the time per second and the time at equal load changed in opposite directions";
	}
	return "";
}
