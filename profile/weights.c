/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/weights.h"

#include "profile/index.h"
#include "profile/model.h"

#include <math.h>

/* Thresholds of the model in weights.h. */
static const double negligible_log = -20.72, unlikely_log = -6.908; /* logarithms of 10^-9, 10^-3 */
static const double long_recording = 1e6, least_sum_of_quotients = 1e4, most_samples = 1e9;
enum { LEAST_UNROUNDED = 30 };

static const double most_clock_hz = 10000, ns_per_second = 1e9;

/* Bytes: of words, of malloc()'s objects, up to pages. */
static const int64_t least_alignment = 4, greatest_alignment = 4096;

enum { DECADES = 19 };

/* Statistics over all numbers. Decade d holds those below 10^(d+1). */
struct weights_survey {
	size_t count, below[DECADES];
	int64_t divisor;
	double sum, greatest;
};

static int64_t greatest_divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static struct weights_survey survey_weights(const int64_t *values, size_t count, size_t stride, int64_t divisor)
{
	struct weights_survey survey = { 0 };

	for (size_t i = 0; i < count; i++) {
		int64_t value = values[i * stride] / divisor;
		double limit = 10;

		if (value <= 0)
			continue;
		survey.count++;
		survey.divisor = survey.divisor == 1 ? 1 : greatest_divisor(value, survey.divisor);
		survey.sum += (double)value;
		survey.greatest = fmax(survey.greatest, (double)value);
		for (int decade = 0; decade < DECADES; decade++, limit *= 10)
			survey.below[decade] += (double)value < limit;
	}
	return survey;
}

/* Returns the sum of 1/c over c from 1 to `limit` - 1; `limit` is at least 10. */
static double harmonic(double limit)
{
	static const double euler_gamma = 0.5772156649;

	return log(limit - 1) + euler_gamma + 1 / (2 * (limit - 1));
}

/*
 * Returns the logarithm of an upper bound on the probability that at most `found` of `n` counts lie where a share
 * `expected` of them is expected (Chernoff 1952): -n times the divergence of the two shares.
 */
static double log_tail(double n, double found, double expected)
{
	double share = found / n;

	if (share >= expected)
		return 0;
	return -n * ((share > 0 ? share * log(share / expected) : 0) + (1 - share) * log((1 - share) / (1 - expected)));
}

static bool lacks_small_counts(const struct weights_survey *survey)
{
	double rarity_log = -log(fmax(survey->sum / long_recording, 1));
	double limit = 10, all = harmonic(fmax(survey->greatest, limit) + 1);

	/* Right below the greatest number nearly all are expected, so that one that is above is no sign. */
	for (int decade = 0; decade < DECADES && 2 * limit < survey->greatest; decade++, limit *= 10)
		if (rarity_log + log_tail((double)survey->count, (double)survey->below[decade], harmonic(limit) / all) <
			unlikely_log)
			return true;
	return false;
}

static bool are_multiples(const struct weights_survey *survey)
{
	double chance_log = -((double)survey->count - 1) * log((double)survey->divisor);

	return survey->count > 1 && chance_log < negligible_log &&
	       (survey->sum >= long_recording || survey->count >= LEAST_UNROUNDED);
}

static bool are_amounts(const struct weights_survey *survey, double least)
{
	return survey->sum >= most_samples || (survey->sum >= least && lacks_small_counts(survey));
}

static bool is_alignment(int64_t divisor)
{
	return divisor >= least_alignment && divisor <= greatest_alignment && (divisor & (divisor - 1)) == 0;
}

enum weights_kind weights_kind(const int64_t *values, size_t count, size_t stride, int64_t *period)
{
	struct weights_survey survey = survey_weights(values, count, stride, 1), quotients;

	*period = 1;
	if (!are_multiples(&survey))
		return are_amounts(&survey, long_recording) ? WEIGHTS_AMOUNTS : WEIGHTS_COUNTS;
	if (is_alignment(survey.divisor))
		return WEIGHTS_AMOUNTS;
	quotients = survey_weights(values, count, stride, survey.divisor);
	if (!weights_is_clock_period(survey.divisor) && are_amounts(&quotients, least_sum_of_quotients))
		return WEIGHTS_AMOUNTS;
	*period = survey.divisor;
	return WEIGHTS_MULTIPLES;
}

int64_t weights_divisor(const int64_t *values, size_t count, size_t stride)
{
	return survey_weights(values, count, stride, 1).divisor;
}

bool weights_is_clock_period(int64_t period)
{
	double hz = period > 0 ? round(ns_per_second / (double)period) : 0;

	return hz >= 1 && hz <= most_clock_hz && fabs(ns_per_second / hz - (double)period) < 1;
}

void weights_settle(struct profile *profile, uint32_t weight)
{
	size_t width = profile->value_type_count;
	int64_t period;
	/* Without samples there are no values to point into. */
	enum weights_kind kind = weights_kind(
		profile->values + (profile->sample_count ? weight : 0), profile->sample_count, width, &period);
	bool known = kind == WEIGHTS_MULTIPLES;

	for (size_t i = 0; known && i < profile->sample_count; i++)
		profile->values[i * width] = profile->values[i * width + weight] / period;
	profile->counts_of[0] = profile->counts_of[weight] = known ? 0 : PROFILE_NONE;
	if (kind == WEIGHTS_MULTIPLES && profile->period == 0) {
		profile->period = period;
		profile->period_type = profile->value_types[weight];
	}
}

/* ---- Files that are looked at together ---- */

/* Returns how a profile has its numbers: [samples] alone, or in parts of one as value type 1. */
static int64_t parts_of_weight(const struct profile *profile)
{
	return profile_unit_parts(profile_string(profile, profile->value_types[1].unit));
}

/* Numbers that are counts become amounts: how many samples they were added up from is not known. */
static bool weights_from_counts(struct profile *profile, struct error *err)
{
	if (!ARRAY_RESERVE(&profile->values, &profile->index->value_capacity, 2 * profile->sample_count + 1,
		    SIZE_MAX / 64, err))
		return false;
	for (size_t i = profile->sample_count; i-- > 0;) {
		profile->values[2 * i + 1] = profile->values[i];
		profile->values[2 * i] = 1;
	}
	profile->value_type_count = 2;
	profile->default_value_type = 1;
	profile->counts_of[0] = profile->counts_of[1] = PROFILE_NONE;
	profile->quality.samples = profile->sample_count;
	return profile_intern(profile, "weight", &profile->value_types[1].type, err) &&
	       profile_intern(profile, "", &profile->value_types[1].unit, err);
}

static bool weights_take_unit(struct profile *profile, const struct profile *other, struct error *err)
{
	int64_t times = parts_of_weight(other) / parts_of_weight(profile);

	if (times <= 1)
		return true;
	for (size_t i = 0; i < profile->sample_count; i++)
		if (__builtin_mul_overflow(profile->values[2 * i + 1], times, &profile->values[2 * i + 1]))
			return error_set(err, ERROR_LIMIT, "a weight is too large for the decimals of the other file");
	return profile_intern(
		profile, profile_string(other, other->value_types[1].unit), &profile->value_types[1].unit, err);
}

bool weights_unify(struct profile *a, struct profile *b, struct error *err)
{
	if (!a->weight_is_unnamed || !b->weight_is_unnamed || (a->value_type_count == 1 && b->value_type_count == 1))
		return true;
	if (a->value_type_count == 1 && !weights_from_counts(a, err))
		return false;
	if (b->value_type_count == 1 && !weights_from_counts(b, err))
		return false;
	return weights_take_unit(a, b, err) && weights_take_unit(b, a, err);
}
