/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/scale.h"

#include "diff/median.h"
#include "diff/metric.h"

#include <math.h>
#include <string.h>

/* Fewer samples than this on a side make a ratio that says nothing. */
static const double min_ratio_samples = 5;

/* Functions of unchanged code carry the factor alone when there are so many, of so much of base's time. */
enum { MIN_CONTROLS = 3 };
static const double min_control_share = 0.2;

/* What a ratio is off by beyond counting, so that one large function does not outweigh all others. */
static const double ratio_rsd = 0.05;

bool scale_whole_commands(const struct profile *profile)
{
	for (size_t i = 0; i < profile->run_count; i++) {
		if (!profile->runs[i].whole_command)
			return false;
	}
	return profile->run_count > 0;
}

double scale_seconds(const struct profile *profile)
{
	double seconds = 0;

	for (size_t i = 0; i < profile->run_count; i++) {
		if (profile->runs[i].duration_ns <= 0)
			return 0;
		seconds += (double)profile->runs[i].duration_ns / 1e9;
	}
	return seconds;
}

static double runs_of(const struct profile *profile)
{
	return profile->run_count ? (double)profile->run_count : 1;
}

static size_t collect_ratios(const struct diff_build *build, bool controls_only, struct weighted_value *ratios, double *share)
{
	const struct diff *diff = build->diff;
	size_t count = 0;
	double covered = 0;

	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];
		double base = f->raw_self[DIFF_BASE] / build->sample_weight[DIFF_BASE];
		double head = f->raw_self[DIFF_HEAD] / build->sample_weight[DIFF_HEAD];

		if (f->interrupt || base < min_ratio_samples || head < min_ratio_samples ||
			(controls_only && f->code != DIFF_CODE_SAME))
			continue;
		ratios[count++] = (struct weighted_value){
			.value = log(f->raw_self[DIFF_BASE] / f->raw_self[DIFF_HEAD]),
			.weight = 1 / (1 / base + 1 / head + 2 * ratio_rsd * ratio_rsd),
		};
		covered += f->raw_self[DIFF_BASE];
	}
	*share = covered / diff->raw_total[DIFF_BASE];
	return count;
}

bool scale_robust(struct diff_build *build, struct error *err)
{
	const struct diff *diff = build->diff;
	CLEANUP(cleanup_free) struct weighted_value *ratios = malloc((diff->function_count + 1) * sizeof(*ratios));
	double share;
	size_t count;

	if (!ratios)
		return error_set_memory(err);
	count = collect_ratios(build, true, ratios, &share);
	build->robust_controls = count;
	if (count < MIN_CONTROLS || share < min_control_share) {
		build->robust_controls = 0;
		count = collect_ratios(build, false, ratios, &share);
	}
	build->robust_factor = diff->raw_total[DIFF_BASE] / diff->raw_total[DIFF_HEAD];
	build->robust_variance = 0;
	build->robust_functions = count;
	if (count > 0) {
		double median = weighted_median(ratios, count);

		build->robust_factor = exp(median);
		build->robust_variance = weighted_median_variance(ratios, count, median);
	}
	return true;
}

static bool rate_factor(const struct diff_build *build, double *factor, struct error *err)
{
	double base = scale_seconds(build->profiles[DIFF_BASE]), head = scale_seconds(build->profiles[DIFF_HEAD]);

	if (base <= 0 || head <= 0)
		return error_set(err, ERROR_USAGE,
			"--scale rate: %s does not say how long it was recorded; use --scale robust or share",
			base <= 0 ? "base" : "head");
	*factor = base / head;
	return true;
}

bool scale_choose(struct diff_build *build, struct error *err)
{
	struct diff *diff = build->diff;
	const struct profile *base = build->profiles[DIFF_BASE], *head = build->profiles[DIFF_HEAD];
	enum diff_scale_mode mode = build->options.scale;
	const double *work = build->options.work;

	if (mode == DIFF_SCALE_AUTO)
		mode = scale_whole_commands(base) && scale_whole_commands(head) ? DIFF_SCALE_PER_RUN : DIFF_SCALE_ROBUST;
	diff->scale = (struct diff_scale){ .mode = mode, .factor = 1 };
	switch (mode) {
	case DIFF_SCALE_AUTO:
	case DIFF_SCALE_ROBUST:
		diff->scale.factor = build->robust_factor;
		diff->scale.controls = build->robust_controls;
		return true;
	case DIFF_SCALE_PER_RUN:
		diff->scale.factor = runs_of(base) / runs_of(head);
		return true;
	case DIFF_SCALE_SHARE:
		diff->scale.factor = diff->raw_total[DIFF_BASE] / diff->raw_total[DIFF_HEAD];
		return true;
	case DIFF_SCALE_RATE:
		return rate_factor(build, &diff->scale.factor, err);
	case DIFF_SCALE_WORK:
		if (!(work[DIFF_BASE] > 0) || !(work[DIFF_HEAD] > 0))
			return error_set(err, ERROR_USAGE, "--scale work needs the units of work of both sides, as work=1000:1200");
		diff->scale.factor = work[DIFF_BASE] / work[DIFF_HEAD];
		return true;
	}
	return true;
}

/* ---- In words ---- */

static const char *metric_words(const struct diff *diff)
{
	const char *name = diff_string(diff, diff->metric);

	return strcmp(name, "cpu") == 0 ? "CPU time" : name;
}

/* What the factor rests on. */
static const char *ratios_words(const struct diff_build *build)
{
	if (build->diff->scale.controls)
		return "functions whose code did not change";
	if (build->robust_functions == 0)
		return "all";
	return build->robust_functions < MIN_CONTROLS ? "the few functions that were sampled often enough" : "its typical function";
}

static bool describe_robust(struct diff_build *build, struct error *err)
{
	struct diff *diff = build->diff;
	const struct profile *base = build->profiles[DIFF_BASE], *head = build->profiles[DIFF_HEAD];
	bool rate = scale_seconds(base) > 0 && scale_seconds(head) > 0;
	const char *per = runs_of(base) == 1 && runs_of(head) == 1 ? "" : " per run";
	double longer = rate ? scale_seconds(head) / scale_seconds(base) : runs_of(head) / runs_of(base);
	double load = (1 / diff->scale.factor) / longer;

	if (fabs(load - 1) < 0.005)
		return build_text(diff, err, &diff->scale_text, "head scaled by %.3f to equal load", diff->scale.factor);
	return build_text(diff, err, &diff->scale_text,
		"head used %.2f × the %s%s in %s, which is taken for load; if the load was the same, everything takes %s %s%s",
		load, metric_words(diff), rate ? " per second" : per, ratios_words(build), load > 1 ? "more" : metric_less(build),
		metric_noun(build), rate ? ": see --scale rate" : ": see --scale per-run");
}

static bool describe_speed(struct diff_build *build, double speed_rsd, struct error *err)
{
	struct diff *diff = build->diff;
	double runs = (double)build->profiles[DIFF_BASE]->run_count / (double)build->profiles[DIFF_HEAD]->run_count;
	double speed = runs / diff->scale.factor;

	return build_text(diff, err, &diff->scale_text,
		"nearly every function took %.1f %% %s time per run in head; the machine's speed varied by %.1f %% from run to run, which explains that: divided out",
		fabs(speed - 1) * 100, speed > 1 ? "more" : "less", speed_rsd * 100);
}

bool scale_describe(struct diff_build *build, double speed_rsd, struct error *err)
{
	struct diff *diff = build->diff;
	double factor = diff->scale.factor;

	diff->scale_text = 0;
	if (fabs(factor - 1) < 5e-4)
		return true;
	switch (diff->scale.mode) {
	case DIFF_SCALE_AUTO:
	case DIFF_SCALE_ROBUST:
		return describe_robust(build, err);
	case DIFF_SCALE_PER_RUN:
		if (build->speed_divided_out)
			return describe_speed(build, speed_rsd, err);
		return build_text(diff, err, &diff->scale_text, "%zu run%s of base and %zu of head: head scaled by %.3f to as many",
			build->profiles[DIFF_BASE]->run_count, build->profiles[DIFF_BASE]->run_count == 1 ? "" : "s",
			build->profiles[DIFF_HEAD]->run_count, factor);
	case DIFF_SCALE_SHARE:
		return build_text(diff, err, &diff->scale_text,
			"head scaled by %.3f to base's total: shares are compared, a change of the whole does not show", factor);
	case DIFF_SCALE_RATE:
		return build_text(diff, err, &diff->scale_text, "head scaled by %.3f to as many seconds as base", factor);
	case DIFF_SCALE_WORK:
		return build_text(diff, err, &diff->scale_text, "head scaled by %.3f to as much work as base (%g and %g units)",
			factor, build->options.work[DIFF_BASE], build->options.work[DIFF_HEAD]);
	}
	return true;
}

/* ---- --scale ---- */

static bool parse_work(const char *text, double work[DIFF_SIDES])
{
	char *end;

	work[DIFF_BASE] = strtod(text, &end);
	if (end == text || *end != ':')
		return false;
	text = end + 1;
	work[DIFF_HEAD] = strtod(text, &end);
	return end != text && *end == '\0' && isfinite(work[0]) && isfinite(work[1]) && work[0] > 0 && work[1] > 0;
}

bool diff_scale_parse(const char *text, enum diff_scale_mode *mode, double work[DIFF_SIDES], struct error *err)
{
	double parsed[DIFF_SIDES];

	if (strncmp(text, "work=", 5) == 0) {
		if (!parse_work(text + 5, parsed))
			return error_set(err, ERROR_USAGE,
				"--scale '%.60s': want the units of work of base and head, as work=1000:1200", text);
		*mode = DIFF_SCALE_WORK;
		memcpy(work, parsed, sizeof(parsed));
		return true;
	}
	for (int m = DIFF_SCALE_AUTO; m < DIFF_SCALE_WORK; m++) {
		if (strcmp(text, diff_scale_mode_name((enum diff_scale_mode)m)) == 0) {
			*mode = (enum diff_scale_mode)m;
			return true;
		}
	}
	return error_set(err, ERROR_USAGE, "--scale '%.60s' is none of auto, per-run, robust, share, rate, work=BASE:HEAD", text);
}
