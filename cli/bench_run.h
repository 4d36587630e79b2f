/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/source_simulated.h"
#include "cli/streams.h"
#include "sampler/sampler.h"
#include "symbolize/symbolize.h"

/*
 * Runs of a command for `bench`. Its standard input and output are /dev/null; what it says on standard error goes to a
 * file without a name, whose end is shown when it fails.
 */

struct bench_runner {
	struct sampler_options sampler;
	struct source_simulated_options simulated;
	bool simulates;                         /* as `simulated` says, in place of sampling */
	bool benchmarks;                        /* the commands are suites, whose benchmarks are told apart */
	const struct symbolize_options *naming; /* borrowed */
	FILE *null;                             /* owned: standard input and output of every run */
	FILE *errors;                           /* owned: standard error of the run at hand */
	int streams[CHILD_STREAMS];             /* borrowed: these, as child_take_streams() takes them */
	FILE *notices;                          /* owned: the recorder's notices of the run at hand */
	FILE *profiles;                         /* owned: the profiles of all runs, one behind the other */
};

COMMON_MUST_CHECK
bool bench_runner_init(struct bench_runner *runner, const struct symbolize_options *naming, struct error *err);
void bench_runner_deinit(struct bench_runner *runner);

/*
 * Runs the command once without recording it; `what` it is, as "warm-up run 2 of base", stands in messages. A failure
 * or a signal to us is an error; bench_print_stderr() shows the rest.
 */
COMMON_MUST_CHECK
bool bench_run(struct bench_runner *runner, const struct bench_command *command, const char *what, struct error *err);

/*
 * Runs and records it, in a process of its own: a command starts with the peak memory of whoever started it, which
 * therefore has to stay small, and must not grow from run to run.
 */
COMMON_MUST_CHECK
bool bench_record(struct bench_runner *runner, const struct bench_command *command, const char *what,
	struct bench_record *record, struct error *err);

/* Prints what the last run wrote to its standard error, on ours: if that is much, its first lines and its last ones. */
void bench_print_stderr(const struct bench_runner *runner);

/* Prints the recorder's notices of the last run, on standard error. */
void bench_print_notices(const struct bench_runner *runner);
