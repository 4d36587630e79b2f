/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "suites_fixture.h"
#include "tests/unit/support/profile.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- By hand ---- */

struct profile *suites_profile(void)
{
	struct profile *profile;
	struct error err;

	must(profile_create(&profile, &err) && profile_add_value_type(profile, "cpu", "nanoseconds", &err), &err);
	profile->has_timeline = false;
	return profile;
}

void suites_add_execution(struct profile *profile)
{
	struct profile_run run = { .whole_command = true, .duration_ns = 1000000000 };
	struct error err;
	uint32_t id;

	must(profile_add_run(profile, &run, &id, &err), &err);
}

uint32_t suites_add(struct profile *profile, const char *uri, double median_ns, uint64_t iterations)
{
	struct profile_run run = { .name = profile_id(profile, uri), .exit_status = -1 };
	struct error err;
	uint32_t id;

	if (median_ns > 0)
		run.measured = (struct profile_measured){ .rounds = 100,
			.iterations = iterations,
			.median_ns = median_ns,
			.mean_ns = median_ns,
			.stdev_ns = median_ns * 0.01,
			.error_ns = median_ns * 0.001 };
	must(profile_add_run(profile, &run, &id, &err), &err);
	return id;
}

static uint32_t function_of(struct profile *profile, const char *name)
{
	struct profile_function function = {
		.name = profile_id(profile, name),
		.module = profile_id(profile, "bench"),
		.origin = PROFILE_ORIGIN_USER,
		.origin_rule = 1,
		.name_source = PROFILE_NAME_DWARF,
	};
	struct error err;
	uint32_t id;

	must(profile_add_function(profile, &function, &id, &err), &err);
	return id;
}

void suites_add_sample(struct profile *profile, uint32_t run, const char *stack, int64_t count, int64_t value)
{
	struct profile_mapping mapping = { .path = profile_id(profile, "/srv/bench"),
		.build_id = profile_id(profile, "aa") };
	struct profile_thread thread = { .run = run, .pid = 7, .tid = 7 };
	char *frames = strdup(stack), *rest = frames;
	uint32_t leaf = 0, location, of, by;
	struct error err;

	must(profile_add_mapping(profile, &mapping, &of, &err) && profile_add_thread(profile, &thread, &by, &err),
		&err);
	for (char *frame = strsep(&rest, ";"); frame; frame = strsep(&rest, ";")) {
		char *at = strchr(frame, '@');
		struct profile_line line = { .line = at ? (uint32_t)atoi(at + 1) : 0 };

		if (at)
			*at = '\0';
		line.function = function_of(profile, frame);
		must(profile_add_location_of_lines(profile, of, &line, 1, &location, &err) &&
				profile_add_stack(profile, leaf, location, &leaf, &err),
			&err);
	}
	free(frames);
	must(profile_add_sample(profile, leaf, by, (int64_t[]){ count, value }, -1, &err), &err);
}

/* ---- By chance ---- */

struct suites suites_create(unsigned long seed, size_t benchmarks)
{
	struct suites suites = { .rng = gsl_rng_alloc(gsl_rng_mt19937),
		.benchmarks = benchmarks,
		.least_rsd = 0.003,
		.most_rsd = 0.02,
		.speed_rsd = 0.005,
		.round_rsd = 0.03 };

	gsl_rng_set(suites.rng, seed);
	return suites;
}

void suites_deinit(struct suites *suites)
{
	gsl_rng_free(suites->rng);
}

void suites_draw_rsds(struct suites *suites, double *rsds)
{
	for (size_t i = 0; i < suites->benchmarks; i++)
		rsds[i] = suites->least_rsd * pow(suites->most_rsd / suites->least_rsd, gsl_rng_uniform(suites->rng));
}

/* Rounds that resemble the one before by 0.5: their mean varies as that of a third of them. */
static struct profile_measured measure(struct suites *suites, double expected_ns)
{
	enum { ROUNDS = 200 };
	double error = suites->round_rsd * sqrt(3.0 / ROUNDS);
	double value = expected_ns * exp(gsl_ran_gaussian(suites->rng, error));

	return (struct profile_measured){ ROUNDS, ROUNDS * 10, value, value * 1.01, value * suites->round_rsd,
		value * error };
}

struct profile *suites_record(
	struct suites *suites, const double *rsds, size_t executions, size_t changed, double times)
{
	struct profile *profile = suites_profile();
	struct error err;
	char uri[64];
	uint32_t id;

	for (size_t e = 0; e < executions; e++) {
		double speed = gsl_ran_gaussian(suites->rng, suites->speed_rsd);

		suites_add_execution(profile);
		for (size_t i = 0; i < suites->benchmarks; i++) {
			struct profile_run run = { .exit_status = -1 };
			double off = speed + gsl_ran_gaussian(suites->rng, rsds[i]);

			if (suites->left_out && suites->left_out[i])
				continue;
			snprintf(uri, sizeof(uri), "bench/test_all.py::test_%zu", i);
			run.name = profile_id(profile, uri);
			if (gsl_rng_uniform(suites->rng) < suites->bursts)
				off += 0.02 + 0.08 * gsl_rng_uniform(suites->rng);
			run.measured =
				measure(suites, 1000.0 * (double)(i + 1) * exp(off) * (i == changed ? times : 1));
			must(profile_add_run(profile, &run, &id, &err), &err);
		}
	}
	return profile;
}

struct diff_suite *suites_compare(
	const struct profile *base, const struct profile *head, const struct diff_suite_options *options)
{
	struct diff_suite *suite;
	struct error err;

	must(diff_suite_create(base, head, options, &suite, &err), &err);
	return suite;
}

void suites_assert_says(const struct diff_suite *suite, const char *words)
{
	const char *text = diff_suite_string(suite, suite->verdict_text);

	if (!strstr(text, words))
		fail_msg("'%s' does not say '%s'", text, words);
}

void suites_assert_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-9 * fabs(expected) + 1e-12))
		fail_msg("%.12g is not %.12g", value, expected);
}

const struct diff_benchmark *suites_find(const struct diff_suite *suite, const char *name)
{
	struct error err;
	uint32_t id = 0;

	must(diff_suite_find(suite, name, &id, &err), &err);
	return &suite->benchmarks[id];
}
