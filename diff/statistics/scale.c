/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/scale.h"

#include "diff/metric.h"
#include "diff/probability/probability.h"
#include "diff/statistics/basis.h"
#include "diff/statistics/load.h"
#include "diff/statistics/work.h"
#include "diff/words.h"

#include <math.h>
#include <string.h>

/* With fewer functions than this, the median is no typical function. */
enum { FEW_FUNCTIONS = 3 };

bool scale_whole_commands(const struct profile *profile)
{
	for (size_t i = 0; i < profile->run_count; i++) {
		if (!profile->runs[i].whole_command)
			return false;
	}
	return profile->run_count > 0;
}

static double runs_of(const struct profile *profile)
{
	return profile->run_count ? (double)profile->run_count : 1;
}

static bool rate_factor(const struct diff_build *build, double *factor, struct error *err)
{
	double base = load_seconds(build->profiles[DIFF_BASE]), head = load_seconds(build->profiles[DIFF_HEAD]);

	if (base <= 0 || head <= 0)
		return error_set(err, ERROR_USAGE,
			"--scale rate needs the recording's length, which %s does not hold; use --scale robust or share",
			base <= 0 ? "base" : "head");
	*factor = base / head;
	return true;
}

static void choose_load(struct diff *diff, const struct load *load)
{
	double half = tail_normal_95 * sqrt(load->variance);

	diff->scale.factor = load->factor;
	diff->scale.factor_low = load->factor * exp(-half);
	diff->scale.factor_high = load->factor * exp(half);
	diff->scale.load_is_unknown = !load->is_known;
}

bool scale_has_load(const struct diff_build *build)
{
	return build_is_counted(build) && !build->diff->is_exact && metric_kind(build) != PROFILE_METRIC_IN_USE &&
	       build->diff->waiting == DIFF_WAITING_NONE;
}

/* Returns whether the metric follows the load: CPU time and waiting do, what is in use does not. */
static bool follows_load(const struct diff_build *build)
{
	return scale_has_load(build) || build->diff->waiting != DIFF_WAITING_NONE;
}

/* Returns whether values are numbers of samples, which say nothing of time or events unless each stands for as much. */
static bool samples_are_counted(const struct diff_build *build)
{
	return !build->diff->is_exact && build->metric[DIFF_BASE] == 0 && build->metric[DIFF_HEAD] == 0;
}

/* Returns how many samples of base one of head stands for; 0: one side alone says it, or each in a unit of its own. */
static double sample_ratio(const struct diff_build *build)
{
	const struct profile *base = build->profiles[DIFF_BASE], *head = build->profiles[DIFF_HEAD];
	const struct profile_value_type *b = &base->period_type, *h = &head->period_type;

	if (!samples_are_counted(build))
		return 1;
	if (base->period > 0 && head->period > 0 &&
		strcmp(profile_string(base, b->type), profile_string(head, h->type)) == 0 &&
		strcmp(profile_string(base, b->unit), profile_string(head, h->unit)) == 0)
		return (double)head->period / (double)base->period;
	if (base->facts.frequency_hz > 0 && head->facts.frequency_hz > 0)
		return (double)base->facts.frequency_hz / (double)head->facts.frequency_hz;
	return base->period > 0 || head->period > 0 || base->facts.frequency_hz > 0 || head->facts.frequency_hz > 0 ? 0
														    : 1;
}

static bool side_has_length(const struct profile *profile)
{
	return load_seconds(profile) > 0 || scale_whole_commands(profile);
}

const char *scale_length_words(const struct diff_build *build)
{
	bool base = side_has_length(build->profiles[DIFF_BASE]), head = side_has_length(build->profiles[DIFF_HEAD]);

	if (!build->diff->scale.length_is_unknown)
		return "";
	if (base && head)
		return "the files of both sides do not say in the same unit how often they were sampled";
	return base   ? "head's files do not say for how long they were recorded"
	       : head ? "base's files do not say for how long they were recorded"
		      : "no file says for how long it was recorded";
}

void scale_length_warning(const struct diff_build *build, char out[static SCALE_LENGTH_WORDS])
{
	snprintf(out, SCALE_LENGTH_WORDS,
		"%s: totals are not compared; --scale per-run compares them, if both were recorded alike",
		scale_length_words(build));
}

/* Returns whether totals can be compared at all, by what the files say of their length and of their samples. */
static bool lengths_are_known(const struct diff_build *build)
{
	return side_has_length(build->profiles[DIFF_BASE]) && side_has_length(build->profiles[DIFF_HEAD]) &&
	       build->sample_ratio > 0;
}

/*
 * Returns the mode for a program that is compared as --scale auto. The load is a question only where a program was
 * watched for a time: a command that ran from start to end did its work. It is counted, or unknown; it is never
 * guessed. Nor is the length of a recording: where a file does not say it, shares are left.
 */
static enum diff_scale_mode default_mode(const struct diff_build *build, struct diff_scale *scale)
{
	const struct profile *base = build->profiles[DIFF_BASE], *head = build->profiles[DIFF_HEAD];
	bool calls_are_known;

	if (build->diff->is_exact || metric_kind(build) == PROFILE_METRIC_IN_USE ||
		(scale_whole_commands(base) && scale_whole_commands(head) && build->sample_ratio > 0))
		return DIFF_SCALE_PER_RUN;
	if (follows_load(build) && build->work_is_usable && build->sample_ratio > 0)
		return DIFF_SCALE_PER_REQUEST;
	scale->length_is_unknown = !lengths_are_known(build);
	(void)load_calls_change(build, &calls_are_known);
	scale->load_is_unknown = scale->length_is_unknown || (follows_load(build) && !calls_are_known);
	if (scale->length_is_unknown)
		return DIFF_SCALE_SHARE;
	return follows_load(build) && load_seconds(base) > 0 && load_seconds(head) > 0 ? DIFF_SCALE_RATE
										       : DIFF_SCALE_PER_RUN;
}

static bool request_factor(const struct diff_build *build, double *factor, struct error *err)
{
	double base = build->diff->requests[DIFF_BASE].count, head = build->diff->requests[DIFF_HEAD].count;

	if (!(base > 0) || !(head > 0))
		return error_set(err, ERROR_USAGE,
			"--scale per-request needs the requests of both sides, and %s counted none; 'kelvin doctor' says whether they can be counted, 'kelvin record --requests N' states them",
			base > 0 ? "head" : "base");
	*factor = base / head;
	return true;
}

/* A part has the scale of the whole. */
static void scale_like(struct diff_build *build)
{
	struct diff *diff = build->diff;
	const struct diff *whole = diff->whole;

	diff->scale = whole->scale;
	build->load = whole->basis->load;
	build->work_is_usable = whole->basis->work_is_usable;
	build_text(diff, &diff->requests_doubt, "%s", diff_string(whole, whole->requests_doubt));
}

static bool choose_factor(struct diff_build *build, struct error *err)
{
	struct diff *diff = build->diff;
	const struct profile *base = build->profiles[DIFF_BASE], *head = build->profiles[DIFF_HEAD];
	const double *work = build->options.work;

	switch (diff->scale.mode) {
	case DIFF_SCALE_AUTO:
	case DIFF_SCALE_ROBUST:
		choose_load(diff, &build->load);
		return true;
	case DIFF_SCALE_PER_RUN:
		diff->scale.factor = runs_of(base) / runs_of(head);
		return true;
	case DIFF_SCALE_SHARE:
		diff->scale.factor = diff->raw_total[DIFF_BASE] / diff->raw_total[DIFF_HEAD];
		return true;
	case DIFF_SCALE_RATE:
		return rate_factor(build, &diff->scale.factor, err);
	case DIFF_SCALE_PER_REQUEST:
		return request_factor(build, &diff->scale.factor, err);
	case DIFF_SCALE_WORK:
		if (!(work[DIFF_BASE] > 0) || !(work[DIFF_HEAD] > 0))
			return error_set(err, ERROR_USAGE,
				"--scale work needs the units of work of both sides, for example work=1000:1200");
		diff->scale.factor = work[DIFF_BASE] / work[DIFF_HEAD];
		return true;
	}
	return true;
}

bool scale_choose(struct diff_build *build, struct error *err)
{
	struct diff *diff = build->diff;
	enum diff_scale_mode mode = build->options.scale;

	if (diff->whole) {
		scale_like(build);
		return true;
	}
	work_compare(build, &build->work_is_usable);
	diff->basis->work_is_usable = build->work_is_usable;
	build->sample_ratio = sample_ratio(build);
	diff->scale = (struct diff_scale){ .factor = 1, .factor_low = NAN, .factor_high = NAN };
	diff->scale.mode = mode == DIFF_SCALE_AUTO ? default_mode(build, &diff->scale) : mode;
	if (!choose_factor(build, err))
		return false;
	if (diff->scale.mode != DIFF_SCALE_SHARE && diff->scale.mode != DIFF_SCALE_ROBUST && build->sample_ratio > 0)
		diff->scale.factor *= build->sample_ratio;
	return true;
}

/* ---- In words ---- */

/* Returns the subject of the sentence about the factor: the functions whose ratios it is made of. */
static const char *ratios_words(const struct diff_build *build)
{
	if (build->load.functions == 0)
		return "all functions";
	return build->load.functions < FEW_FUNCTIONS ? "the few functions with enough samples" : "the typical function";
}

static void describe_robust(struct diff_build *build)
{
	struct diff *diff = build->diff;
	const struct profile *base = build->profiles[DIFF_BASE], *head = build->profiles[DIFF_HEAD];
	bool rate = load_seconds(base) > 0 && load_seconds(head) > 0;
	const char *per = rate ? " per second" : runs_of(base) == 1 && runs_of(head) == 1 ? "" : " per run";
	double longer = rate ? load_seconds(head) / load_seconds(base) : runs_of(head) / runs_of(base);
	double load = (1 / diff->scale.factor) / longer;

	if (fabs(load - 1) < 0.005) {
		build_text(diff, &diff->scale_text, "head is multiplied by %.3f to compare both sides at equal load",
			diff->scale.factor);
		return;
	}
	build_text(diff, &diff->scale_text,
		"we assume that head had %.2f times the load, because %s took %.2f times as %s %s%s in head (95 %% interval %.2f to %.2f); if the load was the same, compare with kelvin diff --scale %s",
		load, ratios_words(build), load, diff->is_counted ? "many" : "much", words_metric(diff), per,
		1 / diff->scale.factor_high / longer, 1 / diff->scale.factor_low / longer, rate ? "rate" : "per-run");
}

/* Describes a difference that nearly every function shows. */
static void describe_common(struct diff_build *build)
{
	static const double least_reported = 0.01;
	const struct evidence_factor *factor = &basis_of(build->diff)->factor;
	double change = expm1(factor->mean);

	if (fabs(change) < least_reported || fabs(factor->mean) < tail_normal_95 * sqrt(factor->variance))
		return;
	build_text(build->diff, &build->diff->scale_text,
		"nearly every function took %.1f %% %s time%s in head, which may be the %smachine; functions count as changed where they differ from that",
		fabs(change) * 100, change > 0 ? "more" : "less", words_scale(build->diff->scale.mode),
		diff_load_is_open(build->diff) ? "load or the " : "");
}

void scale_describe(struct diff_build *build)
{
	struct diff *diff = build->diff;
	double factor = diff->scale.factor;

	if (diff->whole) {
		build_text(diff, &diff->scale_text, "%s", diff_string(diff->whole, diff->whole->scale_text));
		return;
	}
	diff->scale_text = 0;
	if (build->sample_ratio > 0 && build->sample_ratio != 1 && diff->scale.mode != DIFF_SCALE_SHARE &&
		diff->scale.mode != DIFF_SCALE_ROBUST) {
		build_text(diff, &diff->scale_text,
			"head is multiplied by %.3f %s, of which a factor of %.3g is what one of its samples stands for in samples of base",
			factor, diff_scale_words(diff->scale.mode), build->sample_ratio);
		return;
	}
	if (fabs(factor - 1) < 5e-4) {
		describe_common(build);
		return;
	}
	switch (diff->scale.mode) {
	case DIFF_SCALE_AUTO:
	case DIFF_SCALE_ROBUST:
		describe_robust(build);
		return;
	case DIFF_SCALE_PER_RUN:
		build_text(diff, &diff->scale_text,
			"%zu run%s of base and %zu of head; head is multiplied by %.3f to compare one run with one run",
			build->profiles[DIFF_BASE]->run_count, build->profiles[DIFF_BASE]->run_count == 1 ? "" : "s",
			build->profiles[DIFF_HEAD]->run_count, factor);
		return;
	case DIFF_SCALE_SHARE:
		build_text(diff, &diff->scale_text,
			"head is multiplied by %.3f to have base's total: shares are compared, so a change in the total does not show",
			factor);
		return;
	case DIFF_SCALE_RATE:
		build_text(diff, &diff->scale_text, "head is multiplied by %.3f to compare equal lengths of recording",
			factor);
		return;
	case DIFF_SCALE_PER_REQUEST:
		build_text(diff, &diff->scale_text,
			"head is multiplied by %.3f to compare equal numbers of requests (base %.0f, head %.0f)",
			factor, diff->requests[DIFF_BASE].count, diff->requests[DIFF_HEAD].count);
		return;
	case DIFF_SCALE_WORK:
		build_text(diff, &diff->scale_text,
			"head is multiplied by %.3f to compare equal amounts of work (base %g units, head %g)", factor,
			build->options.work[DIFF_BASE], build->options.work[DIFF_HEAD]);
		return;
	}
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
				"--scale '%.60s': give the units of work of base and head, for example work=1000:1200",
				text);
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
	return error_set(err, ERROR_USAGE,
		"--scale '%.60s': unknown mode; use auto, per-run, robust, share, rate or work=BASE:HEAD", text);
}
