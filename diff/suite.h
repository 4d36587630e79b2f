/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/model.h"

/*
 * Compares two profiles benchmark by benchmark. Benchmarks are the phases of executions (profile/phases.h); those of
 * base and head with the same name are one.
 *
 * A benchmark is judged by the time of one iteration, as its harness measured it, never by the time of a run: a suite
 * may run for a fixed time. It is a row of the one model of evidence (evidence/evidence.h), of which executions are the
 * profiles and iterations the work. Benchmarks without such times (simulations: exact counts; programs that tell no
 * iterations) are judged by the totals of their profiles, as diff_create() judges them.
 *
 * The benchmarks of a suite are one family of tests at the false discovery rate q (Benjamini and Hochberg 1995).
 * Functions are tested only in benchmarks that are proven to differ, R of m, at the rate q R / m, so that the rate
 * holds over all benchmarks and functions (Benjamini and Bogomolov 2014).
 */

/* Benchmarks of a single side are in all that there is. */
enum diff_presence { DIFF_IN_BOTH, DIFF_ADDED, DIFF_REMOVED };

enum { DIFF_ALL_BENCHMARKS = UINT32_MAX };

/* Strings are ids in the suite's `strings`. */
struct diff_benchmark {
	uint32_t uri; /* as the harness gives it: "tests/test_x.py::test_parse[10]"; relative to the root of its side */
	uint32_t name; /* as people say it: the part behind the last "::", longer where two would be alike */
	enum diff_presence presence;
	/* REGRESSED, IMPROVED, UNCHANGED (equal within the precision), MINOR (proven, but not beyond it), PLACEMENT
	 * (it differs, but all code that ran is the same) or INCONCLUSIVE */
	enum diff_verdict verdict;
	/*
	 * Time of an iteration in nanoseconds, the lower quartile of its rounds, or the total in the metric's unit
	 * (suite.is_measured): means over the executions, of times the geometric ones, which `change` is the ratio of.
	 * NAN: the side does not have it.
	 */
	double value[DIFF_SIDES];
	/* of head in parts of base, 0.1: 10 % more, beside suite.common; the 95 % interval holds however often it is
	 * looked at */
	double change, change_low, change_high;
	double p, q; /* NAN: not tested, or exact counts */
	size_t executions[DIFF_SIDES];
	uint64_t rounds[DIFF_SIDES], iterations[DIFF_SIDES]; /* in all executions; 0: not known */
	/*
	 * Values are of a round in place of an iteration: the harness marks rounds and tells no iterations, and all
	 * executions of both sides ended by themselves with as many rounds, more than one.
	 */
	bool by_rounds;
	/*
	 * CPU time of an iteration in nanoseconds, as samples tell it: the share of the time for which the benchmark
	 * had a CPU, times what its harness measured; means over the executions. NAN: not known.
	 */
	double cpu[DIFF_SIDES];
	/*
	 * CPU time in parts of the time that was recorded: what is missing to 1, a benchmark of one thread waited, for
	 * itself or for a CPU. More than 1 with threads; NAN: not known.
	 */
	double cpu_share[DIFF_SIDES];
	double cpu_change, cpu_change_low, cpu_change_high; /* as `change`; NAN: not known */
	/*
	 * It would be proven to differ, if it did not have a CPU for another share of its time: it waited, for itself
	 * or because other programs ran. It is INCONCLUSIVE.
	 */
	bool is_contradicted;
	/* its code is the same and its binary linked anew, but it differs by more than placement does: INCONCLUSIVE */
	bool is_beyond_placement;
	/* whether the code of all functions that ran in it is the same: SAME, CHANGED, or UNKNOWN of some of its time
	 */
	enum diff_code code;
	double layout_rsd; /* standard deviation between the layouts of a side, in parts of the mean; NAN: not known */
	uint64_t more_executions; /* INCONCLUSIVE: about so many more a side would decide it; 0: not known */
};

/* Returns how often a side did what the values are of; 0: not known. */
static inline uint64_t diff_benchmark_times(const struct diff_benchmark *benchmark, enum diff_side side)
{
	return benchmark->by_rounds ? benchmark->rounds[side] : benchmark->iterations[side];
}

static inline const char *diff_benchmark_unit(const struct diff_benchmark *benchmark)
{
	return benchmark->by_rounds ? "round" : "iteration";
}

struct diff_suite_options {
	struct diff_options diff;
	double precision; /* a change of this part of base, or less, does not matter; 0: 0.01 */
	/*
	 * Executions go on until what is seen of them decides (diff_suite_look_after()), and those of a benchmark may
	 * end before those of others do. False: how many there are was known before.
	 */
	bool is_watched;
};

/*
 * Looks at executions that go on: after 3, 5, 8, 12, 18, ..., each time after half as many more as there were. The
 * p-values of a look are multiplied by what evidence_look_adjustment() says, and intervals are as much wider: all looks
 * together then keep the rate, whenever a benchmark's executions end. Exact counts have no chance in them, so looks
 * do not matter.
 */

/* Returns whether there is a look after so many executions. */
bool diff_suite_is_look(uint64_t executions);

/* Returns the number of the look that executions are judged at which ended after so many, from 1 on. */
unsigned int diff_suite_look_after(uint64_t executions);

struct diff_suite {
	struct string_table *strings;               /* owned */
	size_t sides;                               /* 1: only head */
	const struct profile *profiles[DIFF_SIDES]; /* borrowed: they must live as long as the suite */
	struct diff_suite_options options;          /* with the defaults filled in */
	/* strings: the folder of each side's checkout, which URIs leave out, where harnesses wrote whole paths; else ""
	 */
	uint32_t roots[DIFF_SIDES];
	/* as in struct diff; "time per iteration" in nanoseconds where harnesses measured */
	uint32_t metric, metric_words, unit;
	/*
	 * Values are times of an iteration that harnesses measured. Else they are totals: of an iteration where the
	 * iterations of all runs of the benchmark are known, else of an execution.
	 */
	bool is_measured;
	bool is_exact;
	bool is_counted; /* the metric is a number of things */
	/* in the order in which they should be read: regressed, improved, inconclusive, minor, added, removed,
	 * unchanged; within these by |change|, then by URI */
	struct diff_benchmark *benchmarks; /* owned */
	size_t benchmark_count;
	size_t verdicts[DIFF_VERDICT_COUNT]; /* how many of those in both have each verdict */
	size_t added, removed;
	size_t executions[DIFF_SIDES];
	size_t layouts[DIFF_SIDES];  /* 0: runs tell of none, or one side has only one */
	struct diff_control control; /* of the suite: its verdict is that of base compared with other runs of base */
	/*
	 * What all benchmarks have in common in head beside base, in parts, as another machine makes it: `change` of
	 * each is beside that. With its 95 % interval.
	 */
	double common, common_low, common_high;
	/* REGRESSED, IMPROVED, or MIXED by its benchmarks; INCONCLUSIVE if one is; else UNCHANGED or MINOR */
	enum diff_verdict verdict;
	bool gate_failed;
	/* string: one sentence: "2 of 48 benchmarks are slower: test_parse by 12 % (9 to 15 %), …" */
	uint32_t verdict_text;
	/* first what differs in the environment (CPU, kernel, compiler, harness, libraries), then what else limits the
	 * comparison; owned */
	struct diff_warning *warnings;
	size_t warning_count;
	struct diff_suite_private *details; /* owned */
};

/*
 * Compares all benchmarks; functions are left to diff_suite_explain(). `base` is NULL for a list of one side's
 * benchmarks. ERROR_EMPTY: a side has no benchmarks.
 */
COMMON_MUST_CHECK
bool diff_suite_create(const struct profile *base, const struct profile *head, const struct diff_suite_options *options,
	struct diff_suite **suite, struct error *err);
void diff_suite_destroy(struct diff_suite *suite);

static inline void diff_suite_cleanup(struct diff_suite **suite)
{
	diff_suite_destroy(*suite);
}

static inline const char *diff_suite_string(const struct diff_suite *suite, uint32_t id)
{
	return string_table_get(suite->strings, id);
}

/* Returns "regressed", …, or "added" and "removed". */
const char *diff_benchmark_verdict_name(const struct diff_benchmark *benchmark);

/* The benchmark with this URI or, if only one has it, this name. ERROR_NOT_FOUND lists some that are similar. */
COMMON_MUST_CHECK
bool diff_suite_find(const struct diff_suite *suite, const char *name, uint32_t *benchmark, struct error *err);

/*
 * The functions of one benchmark, or of all that both sides have together (DIFF_ALL_BENCHMARKS). Values are scaled to
 * the number of iterations that an execution of base makes on average (of head, where base is not there), so they are
 * comparable per run. Functions of a benchmark that is not proven to differ are not searched for changes: they are
 * shown, at a rate (1e-9) at which none is proven but by evidence beyond any chance. Of the gates, those on functions
 * are judged. The verdict of the diff and its sentence are those of the benchmark, or of the suite for all together.
 * ERROR_EMPTY: no sample fell into the benchmark.
 */
struct diff_part {
	struct profile *profiles[DIFF_SIDES]; /* owned; base is NULL if it is one-sided */
	struct diff *diff;                    /* owned; one-sided for a benchmark that only one side has */
};

COMMON_MUST_CHECK
bool diff_suite_explain(const struct diff_suite *suite, uint32_t benchmark, struct diff_part *part, struct error *err);
void diff_part_deinit(struct diff_part *part);

/*
 * Returns the function of a benchmark's diff that explains its change: the one whose own difference in that direction
 * is proven and the largest, else the innermost one that with all that it calls is proven to have most of the change,
 * as a function has whose time is in many small ones of the run time. PROFILE_NONE: there is none, or the benchmark is
 * not proven to differ.
 */
uint32_t diff_suite_because(const struct diff_suite *suite, uint32_t benchmark, const struct diff *diff);

/*
 * Returns the difference by which a function explains a change: its own if that is proven, else with all that it calls.
 */
const struct diff_estimate *diff_suite_reason(const struct diff_function *function);

/*
 * Makes the outcome of limits on the total for a single benchmark, as the suite judges them for all: proven growth
 * beyond one fails. Appends which limit it is, line by line.
 */
void diff_suite_judge_one(const struct diff_suite *suite, const struct diff_benchmark *benchmark, bool *failed,
	enum diff_verdict *verdict, struct buffer *said);

/*
 * Judges the control of `kelvin bench`: base against other runs of base, by the options of the comparison but for its
 * limits. What is proven there is proven of no change. `are_suites`: benchmark by benchmark.
 */
COMMON_MUST_CHECK
bool diff_control_judge(const struct diff_suite_options *options, const struct profile *base,
	const struct profile *again, bool are_suites, struct diff_control *control, struct error *err);
