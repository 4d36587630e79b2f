/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/history/series_fixture.h"

#include "tests/unit/support/profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const int64_t hour_ns = (int64_t)3600 * 1000000000, start_ns = (int64_t)1790000000 * 1000000000;
static const double sample_ns = 1e6;

static double uniform(uint64_t *state)
{
	/* xorshift64* (Vigna 2016). */
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return ((double)((*state * UINT64_C(2685821657736338717)) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
	return sqrt(-2 * log(uniform(state))) * cos(2 * M_PI * uniform(state));
}

static double poisson(uint64_t *state, double mean)
{
	double limit = exp(-mean), product = uniform(state);
	double count = 0;

	if (mean > 50)
		return fmax(0, floor(mean + sqrt(mean) * normal(state) + 0.5));
	for (; product > limit; count++)
		product *= uniform(state);
	return count;
}

static uint32_t string_of(struct summary_set *set, const char *text)
{
	struct error err;
	uint32_t id;

	must(string_table_add(set->strings, text, strlen(text), &id, &err), &err);
	return id;
}

static void add_functions(struct summary_set *set, size_t count)
{
	struct error err;

	for (size_t i = 0; i < count; i++) {
		char name[32], key[40];
		uint32_t id;

		snprintf(name, sizeof(name), "f%zu", i);
		snprintf(key, sizeof(key), "%s`app", name);
		must(summary_add_function(set,
			     &(struct summary_function){ .key = string_of(set, key),
				     .name = string_of(set, name),
				     .shown = string_of(set, name),
				     .module = string_of(set, "app"),
				     .origin = PROFILE_ORIGIN_USER },
			     &id, &err),
			&err);
	}
}

/* Shares fall as 1, 1/2, 1/3, ... */
static double share_of(const struct fixture *fixture, size_t function)
{
	double sum = 0;

	for (size_t i = 1; i <= fixture->functions; i++)
		sum += 1 / (double)i;
	return 1 / (double)(function + 1) / sum;
}

static bool is_in(const struct fixture_effect *effect, size_t profile)
{
	return profile >= effect->from && (effect->to == 0 || profile < effect->to);
}

static double effect_on(const struct fixture *fixture, size_t function, size_t profile, uint64_t *fingerprint)
{
	double factor = 1;

	*fingerprint = 1000 + function;
	for (size_t i = 0; i < fixture->effect_count; i++) {
		const struct fixture_effect *effect = &fixture->effects[i];

		if (effect->function != function || !is_in(effect, profile))
			continue;
		factor *= effect->slope != 0 ? 1 + effect->slope * (double)(profile - effect->from) : effect->factor;
		*fingerprint += effect->keeps_code ? 0 : 100000 * (i + 1);
	}
	return factor;
}

static size_t version_of(const struct fixture *fixture, size_t profile)
{
	size_t version = 1;

	if (fixture->deploy_every)
		return profile / fixture->deploy_every + 1;
	for (size_t i = 0; i < fixture->effect_count; i++)
		version += profile >= fixture->effects[i].from;
	return version;
}

static void describe(struct summary_set *set, const struct fixture *fixture, struct summary *summary, size_t profile)
{
	char text[48];

	snprintf(text, sizeof(text), "p%03zu.pb.gz", profile);
	summary->name = string_of(set, text);
	summary->id[0] = profile + 1;
	summary->start_unix_ns = start_ns + (int64_t)profile * (fixture->interval_ns ? fixture->interval_ns : hour_ns);
	summary->duration_ns = 30 * (int64_t)1000000000;
	summary->facts.command = string_of(set, "app --serve");
	summary->facts.event = string_of(set, "cpu-clock");
	summary->metric = string_of(set, "cpu");
	summary->unit = string_of(set, "nanoseconds");
	summary->is_time = summary->is_duration = true;
	summary->runs = 1;
	if (fixture->knows_version) {
		snprintf(text, sizeof(text), "%zu", version_of(fixture, profile));
		summary->labels[0] =
			(struct profile_label){ string_of(set, PROFILE_LABEL_VERSION), string_of(set, text) };
		summary->label_count = 1;
	}
}

static void add_profile(
	struct summary_set *set, const struct fixture *fixture, size_t profile, uint64_t *state, double *moods)
{
	double load = fixture->load_spread > 1 ? 1 + (fixture->load_spread - 1) * uniform(state) : 1;
	double r = fixture->correlation;
	struct summary *summary;
	struct error err;

	must(summary_add_empty(set, &summary, &err), &err);
	describe(set, fixture, summary, profile);
	for (uint32_t f = 0; f < fixture->functions; f++) {
		uint64_t fingerprint;
		double factor = effect_on(fixture, f, profile, &fingerprint), count;

		moods[f] = r * moods[f] + sqrt(1 - r * r) * normal(state);
		count = poisson(
			state, fixture->samples * load * share_of(fixture, f) * factor * exp(fixture->rsd * moods[f]));
		if (count == 0)
			continue;
		summary->total += count * sample_ns;
		summary->samples += (uint64_t)count;
		must(summary_add_row(set,
			     &(struct summary_row){ .function = f,
				     .fingerprint = fingerprint,
				     .self = count * sample_ns,
				     .total = count * sample_ns,
				     .self_error = (float)(sqrt(count) * sample_ns),
				     .total_error = (float)(sqrt(count) * sample_ns) },
			     &err),
			&err);
	}
	if (fixture->counts_requests) {
		summary->work = PROFILE_WORK_SOCKETS;
		summary->requests = 1000 * load;
		summary->total_error = sqrt((double)summary->samples) * sample_ns;
	}
	must(summary_finish(set, &err), &err);
}

struct summary_set *fixture_set(const struct fixture *fixture)
{
	uint64_t state = fixture->seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
	double moods[4096] = { 0 };
	struct summary_set *set;
	struct error err;

	assert_true(fixture->functions <= 4096);
	must(summary_set_create(&set, &err), &err);
	add_functions(set, fixture->functions);
	for (size_t f = 0; f < fixture->functions; f++)
		moods[f] = normal(&state);
	for (size_t i = 0; i < fixture->profiles; i++)
		add_profile(set, fixture, i, &state, moods);
	return set;
}

struct history *fixture_history(const struct summary_set *set)
{
	struct history *history;
	struct error err;

	must(history_create(set, NULL, &history, &err), &err);
	return history;
}
