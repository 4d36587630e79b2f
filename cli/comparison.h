/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/naming.h"
#include "cli/output.h"
#include "cli/question.h"
#include "diff/diff.h"

/* The options and steps that `diff` and `bench` share: the options of a comparison, its outputs and the exit code. */

/* The help of the exit codes. */
#define COMPARISON_EXIT_HELP                                                                                           \
	"Exit codes: 0 not regressed: improved, unchanged, mixed, minor, machine or placement (with --fail-on: no\n"   \
	"limit exceeded); 1 regressed, of a suite also where only one benchmark is (with --fail-on: a limit\n"         \
	"exceeded); 2 usage or input error; 3 inconclusive, of a suite also where only one benchmark is and none\n"    \
	"regressed (see --inconclusive).\n"

struct comparison {
	struct diff_options diff;
	struct diff_gate *gates; /* owned */
	size_t gate_count, gate_capacity;
	double precision;      /* of benchmarks, in parts of base; 0: the default */
	const char *benchmark; /* borrowed: the only one that is shown; NULL: all */
	enum { INCONCLUSIVE_APART, INCONCLUSIVE_PASSES, INCONCLUSIVE_FAILS } inconclusive;
	struct question question; /* of `diff` */
	struct outputs outputs;
	struct lines lines;
	struct naming naming;
	struct commit_range range;
};

void comparison_deinit(struct comparison *comparison);

/* The options of a struct comparison: its outputs, with their heading; all other options. */
extern const struct options_row comparison_output_rows[], comparison_rows[];

/* Opens the range of --commits, if there is one: behind lines_prepare(). ERROR_*: as texts_repository(). */
COMMON_MUST_CHECK
bool comparison_open_range(struct comparison *comparison, struct error *err);

/* Returns the exit code if the comparison is inconclusive. */
int comparison_inconclusive_code(const struct comparison *comparison);

/* Compares the sides, writes every output and sets the exit code. `names`: the user's names of the sides. */
COMMON_MUST_CHECK
bool comparison_run(struct comparison *comparison, const struct profile *const profiles[DIFF_SIDES],
	const char *const names[DIFF_SIDES], int *code, struct error *err);

/* Does the same for what the user asks about: the verdict and the exit code are those of the part. */
COMMON_MUST_CHECK
bool comparison_answer(struct comparison *comparison, const struct profile *const profiles[DIFF_SIDES],
	const char *const names[DIFF_SIDES], int *code, struct error *err);
/* Behind the outputs: measures the first suspect, if the user asked. */
COMMON_MUST_CHECK
bool comparison_confirm(const struct comparison *comparison, struct error *err);

/* ---- Benchmarks ---- */

/* Returns whether the sides are compared benchmark by benchmark. Tells where only one side has some. */
bool comparison_has_suites(const struct profile *const profiles[DIFF_SIDES], const char *const names[DIFF_SIDES]);

/* Returns the options of a suite; they borrow from `comparison`. `is_watched` as in struct diff_suite_options. */
struct diff_suite_options comparison_suite_options(const struct comparison *comparison, bool is_watched);

/* Compares the sides benchmark by benchmark, writes every output and sets the exit code. */
COMMON_MUST_CHECK
bool comparison_run_suite(struct comparison *comparison, const struct profile *const profiles[DIFF_SIDES],
	const char *const names[DIFF_SIDES], bool is_watched, int *code, struct error *err);
