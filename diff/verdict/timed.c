/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/timed.h"

#include "diff/constants.h"
#include "diff/statistics/scale.h"
#include "diff/words.h"

#include <math.h>
#include <string.h>

enum { MAX_FIXED = 3 };

struct timed_harness {
	const char *name;
	const char *const *functions; /* globs of their names */
	const char *fixed[MAX_FIXED]; /* options that fix the number of iterations if their value ends in 'x' */
	const char *recipe;
	bool analyses; /* it analyses its measurements after the iterations, and that time would be taken for load */
};

static const struct timed_harness harnesses[] = {
	{ "Google Benchmark", GLOBS("benchmark::internal::*", "benchmark::RunSpecifiedBenchmarks*"),
		{ "--benchmark_min_time=" }, "run a fixed number of iterations with --benchmark_min_time=1000x",
		false },
	{ "Criterion", GLOBS("criterion::*"), { NULL },
		"Criterion has no option for a fixed number of iterations, so call the function in a loop of your own",
		true },
	{ "Go's testing package", GLOBS("testing.(\\*B).*"), { "-benchtime=", "-benchtime ", "-test.benchtime=" },
		"run a fixed number of iterations with -benchtime=1000x", false },
};

/* Returns whether the command fixes how often the work is done: "-benchtime=100x". */
static bool is_fixed(const struct timed_harness *harness, const char *command)
{
	for (size_t i = 0; i < MAX_FIXED && harness->fixed[i]; i++) {
		const char *value = strstr(command, harness->fixed[i]);
		size_t digits = value ? strspn(value + strlen(harness->fixed[i]), "0123456789") : 0;

		if (digits > 0 && value[strlen(harness->fixed[i]) + digits] == 'x')
			return true;
	}
	return false;
}

static bool runs_under(const struct diff_build *build, const struct timed_harness *harness)
{
	const struct diff *diff = build->diff;
	double most[DIFF_SIDES] = { 0 };

	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];

		if (!glob_matches_any(harness->functions, diff_string(diff, f->name)))
			continue;
		for (int side = 0; side < DIFF_SIDES; side++)
			most[side] = fmax(most[side], f->raw_total[side]);
	}
	for (int side = 0; side < DIFF_SIDES; side++)
		if (most[side] < timed_least_harness_share * diff->raw_total[side] ||
			is_fixed(harness, profile_string(build->profiles[side], build->profiles[side]->facts.command)))
			return false;
	return true;
}

/* ---- Programs that are not known ---- */

static bool last_equally_long(const struct diff_build *build)
{
	double least = INFINITY, most = 0;

	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct profile *profile = build->profiles[side];

		for (size_t i = 0; i < profile->run_count; i++) {
			least = fmin(least, (double)profile->runs[i].duration_ns);
			most = fmax(most, (double)profile->runs[i].duration_ns);
		}
	}
	return least >= timed_least_wall_ns && most <= timed_most_wall_ratio * least;
}

/*
 * Returns whether some functions take more and others less, or the total differs: a program that ends when its work is
 * done would have taken another time.
 */
static bool did_other_work(const struct diff *diff)
{
	double more = 0, less = 0, points = build_points_of(diff) / 100;

	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_estimate *e = &diff->functions[i].self;

		if (!diff_state_is_difference(e->state))
			continue;
		*(e->delta > 0 ? &more : &less) += fabs(e->delta);
	}
	return fmin(more, less) >= timed_least_moved_points * points ||
	       (diff_state_is_difference(diff->total.state) &&
		       fabs(diff->total.delta) >= timed_least_total_change * diff->total.base);
}

/* Returns whether the command is a load generator that was given a duration. */
static bool is_generator(const char *command)
{
	static const char *const names[] = { "wrk", "wrk2", "sysbench" };
	size_t size = strcspn(command, " ");
	const char *slash = memrchr(command, '/', size), *name = slash ? slash + 1 : command;

	size -= (size_t)(name - command);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == size && memcmp(name, names[i], size) == 0)
			return true;
	if (size == 2 && memcmp(name, "ab", size) == 0)
		return strstr(name, " -t ") && !strstr(name, " -n ");
	return size == 3 && memcmp(name, "hey", size) == 0 && strstr(name, " -z ");
}

/* ---- In words ---- */

/* Appends the result by the other reading: ", and at equal load (--scale robust) head takes 34.0 % more CPU time". */
static void word_other_reading(const struct diff_build *build, char *out, size_t size)
{
	const struct diff_scale *scale = &build->diff->scale;
	const double *raw = build->diff->raw_total;
	char ratio[WORDS_CHANGE];

	out[0] = '\0';
	if (scale->other_mode != DIFF_SCALE_ROBUST || !(scale->other_factor > 0) || !build->load.is_known)
		return;
	words_ratio(build->diff, raw[DIFF_BASE], raw[DIFF_HEAD] * scale->other_factor, ratio);
	snprintf(out, size, " (at equal load, --scale robust, head takes %s %s)", ratio, words_metric(build->diff));
}

static const char work[] = "or give the iterations of each side as --scale work=BASE:HEAD";

bool timed_by_design(const struct diff_build *build, char *text, size_t size)
{
	const struct profile *base = build->profiles[DIFF_BASE], *head = build->profiles[DIFF_HEAD];
	char other[WORDS_CHANGE + 80];

	if (build->diff->scale.mode != DIFF_SCALE_PER_RUN || !scale_whole_commands(base) || !scale_whole_commands(head))
		return false;
	word_other_reading(build, other, sizeof(other));
	for (size_t i = 0; i < sizeof(harnesses) / sizeof(harnesses[0]); i++) {
		if (!runs_under(build, &harnesses[i]))
			continue;
		snprintf(text, size,
			"time per run does not tell which side is faster, because %s repeats its work for a fixed time%s; %s, %s",
			harnesses[i].name, harnesses[i].analyses ? "" : other, harnesses[i].recipe, work);
		return true;
	}
	if (is_generator(profile_string(base, base->facts.command)) &&
		is_generator(profile_string(head, head->facts.command))) {
		snprintf(text, size,
			"time per run does not tell which side is faster, because the command repeats its requests for a fixed time%s; give the requests of each side as --scale work=BASE:HEAD",
			other);
		return true;
	}
	return false;
}

bool timed_by_looks(const struct diff_build *build, char *text, size_t size)
{
	const struct profile *base = build->profiles[DIFF_BASE], *head = build->profiles[DIFF_HEAD];
	char other[WORDS_CHANGE + 80];

	if (build->diff->is_exact || build->diff->scale.mode != DIFF_SCALE_PER_RUN || !scale_whole_commands(base) ||
		!scale_whole_commands(head) || !last_equally_long(build) || !did_other_work(build->diff))
		return false;
	word_other_reading(build, other, sizeof(other));
	snprintf(text, size,
		"all runs of both sides took %.1f s, as those of a program that repeats its work for a fixed time: if this one does, time per run does not tell which side is faster%s; let it do a fixed amount of work, %s",
		(double)base->runs[0].duration_ns / 1e9, other, work);
	return true;
}
