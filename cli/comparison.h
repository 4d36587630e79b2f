/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/naming.h"
#include "cli/output.h"
#include "diff/suite.h"

/* What `diff` and `bench` share: the options of a comparison, its outputs and the exit code. */

enum {
	COMPARISON_SCALE = OPTIONS_LONG_ONLY,
	COMPARISON_METRIC,
	COMPARISON_MIN_EFFECT,
	COMPARISON_FAIL_ON,
	COMPARISON_IGNORE_WARNINGS,
	COMPARISON_INCONCLUSIVE,
	COMPARISON_PRECISION,
	COMPARISON_LAST, /* options of a single command count up from here */
};

/* Rows of getopt_long()'s table. */
#define COMPARISON_OPTIONS                                                                                             \
	OUTPUT_OPTIONS, { "markdown", optional_argument, NULL, OUTPUT_OPTION + OUTPUT_MARKDOWN },                      \
		{ "scale", required_argument, NULL, COMPARISON_SCALE },                                                \
		{ "metric", required_argument, NULL, COMPARISON_METRIC },                                              \
		{ "min-effect", required_argument, NULL, COMPARISON_MIN_EFFECT },                                      \
		{ "fail-on", required_argument, NULL, COMPARISON_FAIL_ON },                                            \
		{ "ignore-warnings", no_argument, NULL, COMPARISON_IGNORE_WARNINGS },                                  \
		{ "inconclusive", required_argument, NULL, COMPARISON_INCONCLUSIVE },                                  \
		{ "precision", required_argument, NULL, COMPARISON_PRECISION }, NAMING_OPTIONS, NAMING_PROFILE_OPTIONS

/* The help text of these options, from "Output" on. */
#define COMPARISON_OUTPUT_HELP                                                                                         \
	"Output, several at once; without FILE, or with '-', to standard output:\n"                                    \
	"  -o, --output FILE           a self-contained HTML page\n"                                                   \
	"      --text [FILE]           text (the default when no output is named)\n"                                   \
	"      --json [FILE]           schema kelvin.diff/1\n"                                                         \
	"      --markdown [FILE]       for a pull request\n"                                                           \
	"      --svg [FILE]            a static flame graph\n"
#define COMPARISON_OPTION_HELP                                                                                                  \
	"      --scale MODE            auto, per-run, per-request, robust, share, rate or work=BASE:HEAD (default: auto)\n"     \
	"      --metric NAME           which value to compare: cpu, off-cpu, wall, idle or samples (default: the profiles'\n"   \
	"                              own)\n"                                                                                  \
	"      --min-effect POINTS     smallest difference that matters, in points of the total (default: 0.1, of exact\n"      \
	"                              counts 0.005)\n"                                                                         \
	"      --precision PERCENT     of benchmarks: a change of this part of base, or less, does not matter (default: 1)\n"   \
	"      --fail-on RULE          limit: total>2%, function>5% or function:NAME>1%, of base; repeatable\n"                 \
	"      --ignore-warnings       checks --fail-on even when the recordings are hardly comparable\n"                       \
	"      --inconclusive RESULT   pass or fail: exits with 0 or 1 when inconclusive (default: with 3)\n" OPTIONS_MODE_HELP \
		NAMING_HELP NAMING_PROFILE_HELP
#define COMPARISON_EXIT_HELP                                                                                           \
	"Exit codes: 0 not regressed: improved, unchanged, mixed, minor or machine (with --fail-on: no limit\n"        \
	"exceeded);\n"                                                                                                 \
	"1 regressed (with --fail-on: a limit exceeded); 2 usage or input error;\n"                                    \
	"3 inconclusive (see --inconclusive).\n"

struct comparison {
	struct diff_options diff;
	struct diff_gate *gates; /* owned */
	size_t gate_count, gate_capacity;
	double precision;      /* of benchmarks, in parts of base; 0: the default */
	const char *benchmark; /* borrowed: the only one that is shown; NULL: all */
	enum { INCONCLUSIVE_APART, INCONCLUSIVE_PASSES, INCONCLUSIVE_FAILS } inconclusive;
	struct outputs outputs;
	struct naming naming;
};

void comparison_deinit(struct comparison *comparison);

/* Handles one of the options above, whose value is in `optarg`. */
COMMON_MUST_CHECK
bool comparison_take(struct comparison *comparison, struct options_switch *options, int option, struct error *err);

/* The exit code if the comparison is inconclusive. */
int comparison_inconclusive_code(const struct comparison *comparison);

/* Compares the sides, writes every output and sets the exit code. `names`: the user's names of the sides. */
COMMON_MUST_CHECK
bool comparison_run(struct comparison *comparison, const struct profile *const profiles[DIFF_SIDES],
	const char *const names[DIFF_SIDES], int *code, struct error *err);

/* ---- Benchmarks ---- */

/* Whether the sides are compared benchmark by benchmark. Tells where only one side has some. */
bool comparison_has_suites(const struct profile *const profiles[DIFF_SIDES], const char *const names[DIFF_SIDES]);

/* The options of a suite; they borrow from `comparison`. `look` as in struct diff_suite_options. */
struct diff_suite_options comparison_suite_options(const struct comparison *comparison, unsigned int look);

/* Writes every output of a suite, or of the benchmark that the user chose, and sets the exit code. */
COMMON_MUST_CHECK
bool comparison_write_suite(const struct comparison *comparison, const struct diff_suite *suite,
	const char *const names[DIFF_SIDES], int *code, struct error *err);

/* Compares the sides benchmark by benchmark, writes every output and sets the exit code. */
COMMON_MUST_CHECK
bool comparison_run_suite(const struct comparison *comparison, const struct profile *const profiles[DIFF_SIDES],
	const char *const names[DIFF_SIDES], unsigned int look, int *code, struct error *err);
