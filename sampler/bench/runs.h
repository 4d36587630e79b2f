/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"
#include "sampler/bench/plan.h"

#include <stdio.h>

/* The runs of a bench so far, and when they are enough. */

enum { BENCH_MOST_RUNS = 10000 };

struct bench_goal {
	uint64_t runs;                   /* of each arm */
	double min_time_s, time_limit_s; /* of a side's runs in total; of all that is done; 0: there is none */
	bool until_decided;              /* until every benchmark is decided, for want of a number of runs */
};

/* Sets what the user has not. `layouts` 0: they are not told apart. */
void bench_goal_complete(struct bench_goal *goal, uint64_t layouts, bool simulates, bool benchmarks);

/* The place of a run's profile in the file of all, where they are one behind the other. */
struct bench_record {
	uint64_t offset, size;
	int64_t wall_ns; /* of the run as it was recorded: a simulated one takes longer than the command would */
	uint32_t layout; /* that it is of, for its profile to tell; 0: none */
};

struct bench_runs {
	const struct bench_goal *goal;            /* borrowed */
	FILE *profiles;                           /* borrowed: the file */
	struct bench_record *records[BENCH_ARMS]; /* owned: [run] */
	size_t capacity[BENCH_ARMS];
	double wall_ns[BENCH_ARMS];
	uint64_t pairs; /* turns that are done: one run of each arm */
	int64_t start_ns;
	size_t benchmarks, undecided; /* at the last look, of those that both sides have; 0 before the first */
};

/* Begins to count, with none; what was run before was a warm-up. */
void bench_runs_begin(struct bench_runs *runs);
void bench_runs_deinit(struct bench_runs *runs);

/* Adds the run of an arm to the turn at hand; `pairs` is the caller's to count. */
COMMON_MUST_CHECK
bool bench_runs_add(struct bench_runs *runs, enum bench_arm arm, const struct bench_record *record, struct error *err);

bool bench_runs_are_enough(const struct bench_runs *runs);

/* Describes what is done, `what`, with the time that is left, from how long a pair took so far. */
void bench_runs_describe(const struct bench_runs *runs, const char *what, char *text, size_t size);

/* Reads a run's profile back; or all of an arm as one profile, in their order. */
COMMON_MUST_CHECK
bool bench_runs_read(
	const struct bench_runs *runs, enum bench_arm arm, uint64_t run, struct profile **profile, struct error *err);
COMMON_MUST_CHECK
bool bench_runs_read_all(
	const struct bench_runs *runs, enum bench_arm arm, struct profile **profile, struct error *err);

/* Fails unless the first run of base has the metric: a slip of the pen must not cost all the runs. */
COMMON_MUST_CHECK
bool bench_runs_check_metric(const struct bench_runs *runs, const char *metric, struct error *err);

/*
 * The time of a run on the clock, and on CPUs: nanoseconds. In one that was recorded with its elapsed time
 * (docs/elapsed.md), what it waited for a CPU is not counted, which is the machine's; of others the clock is that of
 * the whole command.
 */
struct bench_clock {
	double elapsed, cpu;
	bool is_recorded; /* the run was recorded with its elapsed time */
};

/*
 * Finds out whether both differ by more than 10 % in the last turn: the command waits, or its threads run at the same
 * time, so that CPU time is not what its users wait for. Runs of less than 20 ms are too short to tell. `clock` is that
 * of a side of which it is so.
 */
COMMON_MUST_CHECK
bool bench_runs_clock(const struct bench_runs *runs, struct bench_clock *clock, bool *differs, struct error *err);

/* Leaves out the first of two turns, or the second one. */
void bench_runs_keep_turn(struct bench_runs *runs, const struct bench_turn *turn, bool is_second);
