/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/metric.h"

#include "diff/constants.h"
#include "diff/statistics/basis.h"

#include <string.h>

static const char *type_name(const struct profile *profile, uint32_t index)
{
	return profile_string(profile, profile->value_types[index].type);
}

static const char *unit_name(const struct profile *profile, uint32_t index)
{
	return profile_string(profile, profile->value_types[index].unit);
}

/* Selects value type `index` of side `from` as the metric, if the other side has it too. */
static bool match_both(struct diff_build *build, enum diff_side from, uint32_t index)
{
	enum diff_side other = from == DIFF_BASE ? DIFF_HEAD : DIFF_BASE;
	const struct profile *profile = build->profiles[from];
	uint32_t found;

	if (index < profile_first_metric(profile) || index >= profile->value_type_count)
		return false;
	build->metric[from] = index;
	if (!build->profiles[other])
		return true;
	found = profile_find_metric(build->profiles[other], type_name(profile, index), unit_name(profile, index));
	if (found == PROFILE_NONE)
		return false;
	build->metric[other] = found;
	return true;
}

/* The names of a profile's metrics, for a message; of many, those that fit. */
struct metric_names {
	char text[300];
};

static struct metric_names list_metrics(const struct profile *profile, bool valued)
{
	CLEANUP(buffer_deinit) struct buffer list = BUFFER_INIT((size_t)1 << 20);
	struct metric_names names = { "" };

	profile_list_metrics(profile, valued, &list);
	if (list.data)
		snprintf(names.text, sizeof(names.text), "%s", list.data);
	return names;
}

static bool diff_metric_choose_named(struct diff_build *build, struct error *err)
{
	const char *name = build->options.metric;

	for (int side = 0; side < DIFF_SIDES; side++) {
		if (!build->profiles[side] || profile_named_metric(build->profiles[side], name) != PROFILE_NONE)
			continue;
		return error_set(err, ERROR_USAGE, "%s has no metric '%.60s'; it has: %s",
			build_two_sided(build) ? diff_side_name(side) : "the profile", name,
			list_metrics(build->profiles[side], false).text);
	}
	if (!match_both(build, DIFF_HEAD, profile_named_metric(build->profiles[DIFF_HEAD], name)))
		return error_set(err, ERROR_USAGE,
			"metric '%.60s' has different units in base and head; choose another one with --metric", name);
	return true;
}

/* Prefers the default of head. Profiles without a common measure can still be compared by their sample counts. */
static bool choose_default(struct diff_build *build, struct error *err)
{
	const struct profile *head = build->profiles[DIFF_HEAD], *base = build->profiles[DIFF_BASE];

	if (match_both(build, DIFF_HEAD, head->default_value_type))
		return true;
	if (base && match_both(build, DIFF_BASE, base->default_value_type))
		return true;
	if (match_both(build, DIFF_HEAD, 0))
		return true;
	if (!base)
		return error_set(err, ERROR_EMPTY, "the profile has no value type; record it again");
	return error_set(err, ERROR_USAGE, "base and head have no metric in common: base has %.180s, head has %.180s",
		list_metrics(base, false).text, list_metrics(head, false).text);
}

static bool diff_metric_fail_empty(const struct diff_build *build, enum diff_side side, struct error *err)
{
	const struct profile *profile = build->profiles[side];
	struct metric_names valued = list_metrics(profile, true);
	const char *name = build_two_sided(build) ? diff_side_name(side) : "the profile",
		   *type = type_name(profile, build->metric[side]);

	if (!valued.text[0])
		return error_set(err, ERROR_EMPTY, "none of the %zu samples of %s has a value; record it again",
			profile->sample_count, name);
	return error_set(err, ERROR_EMPTY,
		"none of the %zu samples of %s has a value for %.60s; choose another metric with --metric: %s",
		profile->sample_count, name, type, valued.text);
}

static bool diff_metric_sum_side(struct diff_build *build, enum diff_side side, struct error *err)
{
	const struct profile *profile = build->profiles[side];
	uint32_t counts = profile_metric(profile, build->metric[side]).counts;
	double total = 0, samples = 0;

	build->counts[side] = counts == PROFILE_NONE ? 0 : counts;
	for (size_t i = 0; i < profile->sample_count; i++) {
		double value = build_value(build, side, i);

		total += value;
		if (value > 0)
			samples += (double)profile->values[i * profile->value_type_count + build->counts[side]];
	}
	if (build->diff->whole) {
		build->diff->raw_total[side] = total;
		build->sample_weight[side] = basis_of(build->diff)->sample_weight[side];
		return true;
	}
	if (profile->sample_count == 0)
		return error_set(err, ERROR_EMPTY, "%s has no samples; record it again while the program is busy",
			build_two_sided(build) ? diff_side_name(side) : "the profile");
	if (total <= 0)
		return diff_metric_fail_empty(build, side, err);
	build->diff->raw_total[side] = total;
	build->sample_weight[side] = counts == PROFILE_NONE ? 0 : samples > 0 ? total / samples : 1;
	return true;
}

/* Without a count of samples on both sides, it is not known how large chance is. */
static void match_counts(struct diff_build *build)
{
	if (build_two_sided(build) && !(build->sample_weight[DIFF_BASE] > 0 && build->sample_weight[DIFF_HEAD] > 0))
		build->sample_weight[DIFF_BASE] = build->sample_weight[DIFF_HEAD] = 0;
}

bool metric_is_elapsed(const struct profile *profile, uint32_t value_type)
{
	return value_type == profile_find_metric(profile, PROFILE_ELAPSED, "nanoseconds");
}

/* Returns the part of a side's metric that is waiting. */
static enum diff_waiting waiting_of(const struct profile *profile, uint32_t metric)
{
	struct profile_wait_values values = profile_wait_values(profile);

	if (!profile_has_waits(profile))
		return DIFF_WAITING_NONE;
	if (metric == values.wall || metric_is_elapsed(profile, metric))
		return DIFF_WAITING_PART;
	return metric == values.off_cpu || metric == values.idle ? DIFF_WAITING_ALL : DIFF_WAITING_NONE;
}

/*
 * Returns whether a side's values count what the program did. Of the profiles that were not sampled, those of what is
 * in use show one moment of a program that goes on, and times depend on the machine.
 */
static bool counts_work(const struct profile *profile, uint32_t value_type)
{
	struct profile_metric metric = profile_metric(profile, value_type);

	return metric.is_exact && metric.is_counted && metric.kind != PROFILE_METRIC_IN_USE;
}

static bool diff_metric_is_exact(const struct diff_build *build)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		if (build->profiles[side] && !counts_work(build->profiles[side], build->metric[side]))
			return false;
	return true;
}

bool metric_choose(struct diff_build *build, struct error *err)
{
	struct diff *diff = build->diff;
	const struct profile *head = build->profiles[DIFF_HEAD];
	struct profile_metric metric;

	if (!(build->options.metric ? diff_metric_choose_named(build, err) : choose_default(build, err)))
		return false;
	for (int side = 0; side < DIFF_SIDES; side++) {
		if (build->profiles[side] && !diff_metric_sum_side(build, (enum diff_side)side, err))
			return false;
	}
	if (diff->whole && !(diff->raw_total[DIFF_BASE] > 0) && !(diff->raw_total[DIFF_HEAD] > 0))
		return error_set(err, ERROR_EMPTY, "no sample of this part has a value for %.60s",
			diff_string(diff->whole, diff->whole->metric));
	match_counts(build);
	diff->is_exact = diff_metric_is_exact(build);
	if (diff->is_exact)
		build->sample_weight[DIFF_BASE] = build->sample_weight[DIFF_HEAD] = 0;
	if (diff->whole)
		build->options.min_effect_points = basis_of(diff)->min_effect_points;
	else if (!(build->options.min_effect_points > 0))
		build->options.min_effect_points =
			diff->is_exact ? metric_default_min_exact_points : metric_default_min_effect_points;
	if (!diff->whole) {
		diff->basis->min_effect_points = build->options.min_effect_points;
		memcpy(diff->basis->sample_weight, build->sample_weight, sizeof(build->sample_weight));
	}
	diff->evidence.uncounted = !build_is_counted(build) && !diff->is_exact;
	metric = profile_metric(head, build->metric[DIFF_HEAD]);
	diff->is_duration = metric.is_duration;
	diff->is_counted = metric.is_counted;
	/* A number that its file does not name is taken for samples. */
	diff->is_time = !diff->is_exact && (metric.kind == PROFILE_METRIC_TIME || metric.kind == PROFILE_METRIC_OTHER);
	diff->waiting = waiting_of(head, build->metric[DIFF_HEAD]);
	diff->is_idle = diff->waiting == DIFF_WAITING_ALL && build->metric[DIFF_HEAD] == profile_wait_values(head).idle;
	build_text(diff, &diff->metric_words, "%s", metric.words);
	build_text(diff, &diff->metric, "%s", type_name(head, build->metric[DIFF_HEAD]));
	build_text(diff, &diff->unit, "%s", unit_name(head, build->metric[DIFF_HEAD]));
	return true;
}

enum profile_metric_kind metric_kind(const struct diff_build *build)
{
	return profile_metric(build->profiles[DIFF_HEAD], build->metric[DIFF_HEAD]).kind;
}

bool metric_is_time(const struct diff_build *build)
{
	return metric_kind(build) == PROFILE_METRIC_TIME;
}

const char *metric_noun(const struct diff_build *build)
{
	return metric_is_time(build) ? "time" : diff_string(build->diff, build->diff->metric);
}

const char *metric_less(const struct diff_build *build)
{
	return (!metric_is_time(build) || build->diff->is_exact) && build->diff->is_counted ? "fewer" : "less";
}
