/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/bench/runs.h"

#include "common/common.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum {
	DEFAULT_RUNS = 10,
	DEFAULT_RUNS_A_LAYOUT = 3,
	DEFAULT_TIME_LIMIT_S = 600, /* where runs are made until all is decided */
};

static const size_t max_file_bytes = (size_t)2 << 30;
static const double notable_difference = 0.1, least_clock_ns = 20e6;

void bench_goal_complete(struct bench_goal *goal, uint64_t layouts, bool simulates, bool benchmarks)
{
	uint64_t runs_a_layout = simulates ? 1 : DEFAULT_RUNS_A_LAYOUT;

	goal->until_decided = benchmarks && !simulates && goal->runs == 0 && layouts == 0;
	if (goal->until_decided && goal->time_limit_s == 0)
		goal->time_limit_s = DEFAULT_TIME_LIMIT_S;
	if (goal->runs == 0)
		goal->runs = layouts > 0 ? runs_a_layout * layouts : simulates ? 1 : DEFAULT_RUNS;
}

void bench_runs_begin(struct bench_runs *runs)
{
	runs->pairs = 0;
	memset(runs->wall_ns, 0, sizeof(runs->wall_ns));
	runs->start_ns = clock_read_ns(CLOCK_MONOTONIC);
}

void bench_runs_deinit(struct bench_runs *runs)
{
	for (int arm = 0; arm < BENCH_ARMS; arm++)
		free(runs->records[arm]);
}

bool bench_runs_add(struct bench_runs *runs, enum bench_arm arm, const struct bench_record *record, struct error *err)
{
	if (!ARRAY_RESERVE(&runs->records[arm], &runs->capacity[arm], runs->pairs + 1, BENCH_MOST_RUNS, err))
		return false;
	runs->records[arm][runs->pairs] = *record;
	runs->wall_ns[arm] += (double)record->wall_ns;
	return true;
}

static double elapsed_s(const struct bench_runs *runs)
{
	return (double)(clock_read_ns(CLOCK_MONOTONIC) - runs->start_ns) / 1e9;
}

/* Returns whether one more pair, which takes as long as those before it, would end after the limit. */
static bool is_out_of_time(const struct bench_runs *runs)
{
	double limit_s = runs->goal->time_limit_s, pairs = (double)runs->pairs;

	return limit_s > 0 && runs->pairs > 0 && elapsed_s(runs) * (pairs + 1) / pairs > limit_s;
}

bool bench_runs_are_enough(const struct bench_runs *runs)
{
	const struct bench_goal *goal = runs->goal;

	if (runs->pairs >= BENCH_MOST_RUNS || is_out_of_time(runs))
		return true;
	if (goal->until_decided)
		return runs->benchmarks > 0 && runs->undecided == 0;
	return runs->pairs >= goal->runs &&
	       fmin(runs->wall_ns[BENCH_BASE], runs->wall_ns[BENCH_HEAD]) >= goal->min_time_s * 1e9;
}

void bench_runs_describe(const struct bench_runs *runs, const char *what, char *text, size_t size)
{
	double done = (double)runs->pairs, pairs = (double)runs->goal->runs, measured;

	if (runs->pairs == 0 || (runs->goal->until_decided && runs->benchmarks == 0)) {
		snprintf(text, size, "%s", what);
		return;
	}
	if (runs->goal->until_decided) {
		snprintf(text, size, "%s, %zu of %zu benchmarks are not decided yet", what, runs->undecided,
			runs->benchmarks);
		return;
	}
	measured = fmin(runs->wall_ns[BENCH_BASE], runs->wall_ns[BENCH_HEAD]) / 1e9;
	if (measured > 0 && runs->goal->min_time_s > 0)
		pairs = fmax(pairs, ceil(runs->goal->min_time_s / measured * done));
	snprintf(text, size, "%s, %.0f %% done, about %.0f s left", what, done / pairs * 100,
		ceil(elapsed_s(runs) / done * fmax(pairs - done, 0)));
}

/* ---- Their profiles ---- */

bool bench_runs_read(
	const struct bench_runs *runs, enum bench_arm arm, uint64_t run, struct profile **profile, struct error *err)
{
	const struct bench_record *record = &runs->records[arm][run];
	CLEANUP(buffer_deinit) struct buffer bytes = BUFFER_INIT(max_file_bytes);
	char *room;

	room = buffer_reserve(&bytes, record->size);
	if (!room)
		return buffer_ok(&bytes, err);
	for (size_t done = 0; done < record->size;) {
		ssize_t got =
			pread(fileno(runs->profiles), room + done, record->size - done, (off_t)(record->offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return error_set_errno(err, got < 0 ? errno : EIO, "cannot read a run back");
		done += (size_t)got;
	}
	buffer_commit(&bytes, record->size);
	if (!foreign_read(bytes.data, bytes.size, "a run", profile, err))
		return false;
	for (size_t i = 0; i < (*profile)->run_count; i++)
		(*profile)->runs[i].layout = record->layout;
	return true;
}

bool bench_runs_read_all(const struct bench_runs *runs, enum bench_arm arm, struct profile **profile, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *all = NULL;

	for (uint64_t run = 0; run < runs->pairs; run++) {
		CLEANUP(profile_cleanup) struct profile *next = NULL;

		if (!bench_runs_read(runs, arm, run, &next, err))
			return false;
		if (!all)
			all = TAKE(next);
		else if (!profile_merge(all, next, err))
			return error_prefix(err, "cannot join the runs");
	}
	*profile = TAKE(all);
	return true;
}

bool bench_runs_check_metric(const struct bench_runs *runs, const char *metric, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *first = NULL;

	if (!bench_runs_read(runs, BENCH_BASE, 0, &first, err))
		return false;
	for (uint32_t i = 0; i < first->value_type_count; i++)
		if (strcmp(profile_string(first, first->value_types[i].type), metric) == 0)
			return true;
	return error_set(err, ERROR_USAGE, "the runs have no metric '%.60s'; they have '%s'", metric,
		profile_string(first, first->value_types[first->default_value_type].type));
}

/* ---- The time on the clock, and on CPUs ---- */

static double sum_elapsed(const struct profile *run, uint32_t elapsed)
{
	double sum = 0;

	for (size_t i = 0; i < run->sample_count; i++)
		if (profile_wait_class_of_stack(run, run->samples[i].stack) != PROFILE_WAIT_RUN_QUEUE)
			sum += (double)run->values[i * run->value_type_count + elapsed];
	return sum;
}

static struct bench_clock clock_of(const struct profile *run)
{
	uint32_t elapsed = profile_find_metric(run, PROFILE_ELAPSED, "nanoseconds");
	struct bench_clock clock = { 0 };

	for (size_t i = 0; i < run->run_count; i++) {
		clock.elapsed += (double)run->runs[i].wall_ns;
		clock.cpu += (double)run->runs[i].cpu_ns;
	}
	clock.is_recorded = elapsed != PROFILE_NONE;
	if (clock.is_recorded)
		clock.elapsed = sum_elapsed(run, elapsed);
	return clock;
}

bool bench_runs_clock(const struct bench_runs *runs, struct bench_clock *clock, bool *differs, struct error *err)
{
	*differs = false;
	for (enum bench_arm arm = BENCH_BASE; arm <= BENCH_HEAD && !*differs; arm++) {
		CLEANUP(profile_cleanup) struct profile *run = NULL;

		if (!bench_runs_read(runs, arm, runs->pairs - 1, &run, err))
			return false;
		*clock = clock_of(run);
		*differs = clock->elapsed >= least_clock_ns && clock->cpu > 0 &&
			   fabs(log(clock->elapsed / clock->cpu)) > log1p(notable_difference);
	}
	return true;
}

void bench_runs_keep_turn(struct bench_runs *runs, const struct bench_turn *turn, bool is_second)
{
	runs->pairs = 1;
	for (size_t i = 0; i < turn->count; i++) {
		struct bench_record *records = runs->records[turn->arms[i]];

		records[0] = records[is_second];
		runs->wall_ns[turn->arms[i]] = (double)records[0].wall_ns;
	}
}
