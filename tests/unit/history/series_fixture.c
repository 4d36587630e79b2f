/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/history/series_fixture.h"

#include "diff/evidence/constants.h"
#include "tests/calibration/program.h"
#include "tests/unit/support/profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const int64_t hour_ns = (int64_t)3600 * 1000000000, start_ns = (int64_t)1790000000 * 1000000000;
static const double sample_ns = 1e6;
enum { FIXTURE_MOST_FUNCTIONS = 4096 };

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
double fixture_share(const struct fixture *fixture, size_t function)
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
	snprintf(text, sizeof(text), "pid %zu (app)", fixture->of_start ? profile / fixture->of_start + 1 : 0);
	summary->facts.command = string_of(set, fixture->of_start ? text : "app --serve");
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

/* Draws by how much each function varies. */
static void draw_spreads(const struct fixture *fixture, uint64_t *state, double *spreads)
{
	for (size_t f = 0; f < fixture->functions; f++) {
		double left = uniform(state);
		int k = 0;

		while (fixture->draws_spreads && k + 1 < EVIDENCE_OTHER_SPREADS &&
			left > evidence_spread_priors[EVIDENCE_OTHER][k])
			left -= evidence_spread_priors[EVIDENCE_OTHER][k++];
		spreads[f] = fixture->draws_spreads ? evidence_spreads[k] : fixture->rsd;
	}
}

/* What the functions of a history are like, beside the fixture. */
struct fixture_functions {
	double moods[FIXTURE_MOST_FUNCTIONS], spreads[FIXTURE_MOST_FUNCTIONS];
};

static void add_profile(struct summary_set *set, const struct fixture *fixture, size_t profile, uint64_t *state,
	struct fixture_functions *functions)
{
	double load = fixture->load_spread > 1 ? 1 + (fixture->load_spread - 1) * uniform(state) : 1;
	double r = fixture->correlation;
	bool is_new = fixture->of_start == 0 || profile % fixture->of_start == 0;
	double *moods = functions->moods;
	struct summary *summary;
	struct error err;

	must(summary_add_empty(set, &summary, &err), &err);
	describe(set, fixture, summary, profile);
	for (uint32_t f = 0; f < fixture->functions; f++) {
		uint64_t fingerprint;
		double factor = effect_on(fixture, f, profile, &fingerprint), count;

		if (is_new)
			moods[f] = r * moods[f] + sqrt(1 - r * r) * normal(state);
		count = poisson(state, fixture->samples * load * fixture_share(fixture, f) * factor *
					       exp(functions->spreads[f] * moods[f]));
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
	if (fixture->has_main)
		must(summary_add_row(set,
			     &(struct summary_row){ .function = (uint32_t)fixture->functions,
				     .fingerprint = 1,
				     .total = summary->total,
				     .self_error = 1,
				     .total_error = 1 },
			     &err),
			&err);
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
	static struct fixture_functions functions;
	struct summary_set *set;
	struct error err;

	assert_true(fixture->functions <= FIXTURE_MOST_FUNCTIONS);
	must(summary_set_create(&set, &err), &err);
	add_functions(set, fixture->functions + fixture->has_main);
	draw_spreads(fixture, &state, functions.spreads);
	for (size_t f = 0; f < fixture->functions; f++)
		functions.moods[f] = normal(&state);
	for (size_t i = 0; i < fixture->profiles; i++)
		add_profile(set, fixture, i, &state, &functions);
	return set;
}

/* ---- Of recorded rows ---- */

/* A profile between two of a program's restarts, or a little beyond: few were recorded, and none comes twice. */
struct recorded_between {
	const struct calibration_program *program;
	size_t of[2];
	double part;
};

static size_t draw_restart(const struct calibration_program *program, uint64_t *state)
{
	size_t starts = 0, chosen, of = 0;

	for (size_t i = 0; i < program->recording_count; i++)
		starts += program->recordings[i].condition == CALIBRATION_RESTART;
	chosen = (size_t)(uniform(state) * (double)starts);
	while (program->recordings[of].condition != CALIBRATION_RESTART || chosen-- > 0)
		of++;
	return of;
}

static double between(const struct recorded_between *b, double first, double second)
{
	return fmax(0, first + b->part * (second - first));
}

static double row_between(const struct recorded_between *b, size_t row)
{
	const double *samples = b->program->rows[row].samples;

	return between(b, samples[b->of[0]], samples[b->of[1]]);
}

/* Adds a profile like one of the program's restarts. */
static void add_recorded(struct summary_set *set, const struct fixture *fixture,
	const struct calibration_program *program, size_t profile, uint64_t *state)
{
	const struct fixture_effect *effect = fixture->effect_count > 0 ? &fixture->effects[0] : NULL;
	CLEANUP(cleanup_free) double *callees = memory_alloc((program->row_count + 1) * sizeof(*callees));
	struct recorded_between b = { program, { draw_restart(program, state), draw_restart(program, state) },
		1.6 * uniform(state) - .3 };
	double added = 0, total = 0;
	struct summary *summary;
	struct error err;

	must(summary_add_empty(set, &summary, &err), &err);
	describe(set, fixture, summary, profile);
	if (effect && is_in(effect, profile)) {
		double own = row_between(&b, 2 * effect->function);

		added = poisson(state, own * effect->factor) - own;
	}
	for (uint32_t f = 0; 2 * f + 1 < program->row_count; f++) {
		double own = row_between(&b, 2 * f), all = row_between(&b, 2 * f + 1);
		bool is_changed = effect && effect->function == f && is_in(effect, profile);
		/* What has nearly all of the time calls the changed function. */
		double self = is_changed ? own + added : poisson(state, own), beside = -1;

		/* Callers of the same have the same. */
		for (uint32_t g = 0; g < f && beside < 0; g++)
			if (row_between(&b, 2 * g + 1) - row_between(&b, 2 * g) == all - own)
				beside = callees[g];
		callees[f] = beside < 0 ? poisson(state, fmax(all - own, 0)) : beside;
		beside = callees[f];
		if (!is_changed && all > .95 * program->recordings[b.of[0]].total && added != 0)
			beside = fmax(beside + added, 0);
		total += self;
		if (self + beside > 0)
			must(summary_add_row(set,
				     &(struct summary_row){ .function = f,
					     .self = self * sample_ns,
					     .total = (self + beside) * sample_ns,
					     .self_error = 1,
					     .total_error = 1 },
				     &err),
				&err);
	}
	summary->total = total * sample_ns;
	summary->samples = (uint64_t)total;
	if (fixture->counts_requests && program->is_service) {
		summary->work = PROFILE_WORK_SOCKETS;
		summary->requests = between(&b, program->recordings[b.of[0]].work, program->recordings[b.of[1]].work);
		summary->total_error = 1;
	}
	summary->whole_commands = !program->is_service;
	must(summary_finish(set, &err), &err);
}

struct summary_set *fixture_recorded_set(const struct fixture *fixture, const struct calibration_program *program)
{
	uint64_t state = fixture->seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
	struct summary_set *set;
	struct error err;

	must(summary_set_create(&set, &err), &err);
	add_functions(set, program->row_count / 2);
	for (uint32_t f = 0; f < set->function_count; f++)
		if (program->rows[2 * f].class == EVIDENCE_COMPILED)
			set->functions[f].language = PROFILE_LANGUAGE_JAVASCRIPT;
	for (size_t i = 0; i < fixture->profiles; i++)
		add_recorded(set, fixture, program, i, &state);
	return set;
}

struct history *fixture_history(const struct summary_set *set)
{
	struct history *history;
	struct error err;

	must(history_create(set, NULL, &history, &err), &err);
	return history;
}
