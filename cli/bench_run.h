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

struct bench_command {
	const char *text;    /* borrowed, as the user wrote it */
	char *words;         /* owned: what argv points into */
	char **argv;         /* owned */
	const char *pattern; /* borrowed: what `text` was with {layout} in it; NULL: it had none */
	uint32_t layout;     /* that stands there now */
};

/* Words parted by blanks; by_shell, or with anything in it that a shell would see more in, it is handed to /bin/sh -c.
 */
COMMON_MUST_CHECK
bool bench_command_parse(const char *text, bool by_shell, struct bench_command *command, struct error *err);
void bench_command_deinit(struct bench_command *command);

struct bench_runner {
	struct sampler_options sampler;
	struct source_simulated_options simulated;
	bool simulates;                         /* as `simulated` says, in place of sampling */
	bool benchmarks;                        /* the commands are suites, whose benchmarks are told apart */
	const struct symbolize_options *naming; /* borrowed */
	FILE *null;                             /* owned: standard input and output of every run */
	FILE *errors;                           /* owned: standard error of the run at hand */
	int streams[STREAM_COUNT];              /* borrowed: these, as streams_redirect() takes them */
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

/* The place of a run's profile in `profiles`. */
struct bench_record {
	uint64_t offset, size;
	int64_t wall_ns; /* of the run as it was recorded: a simulated one takes longer than the command would */
	uint32_t layout; /* that it is of, for its profile to tell; 0: none */
};

/*
 * Runs and records it, in a process of its own: a command starts with the peak memory of whoever started it, which
 * therefore has to stay small, and must not grow from run to run.
 */
COMMON_MUST_CHECK
bool bench_record(struct bench_runner *runner, const struct bench_command *command, const char *what,
	struct bench_record *record, struct error *err);

/* Reads a run's profile back. */
COMMON_MUST_CHECK
bool bench_read(const struct bench_runner *runner, const struct bench_record *record, struct profile **profile,
	struct error *err);

/* Reads runs back as one profile, in their order. */
COMMON_MUST_CHECK
bool bench_read_all(const struct bench_runner *runner, const struct bench_record *records, uint64_t count,
	struct profile **profile, struct error *err);

/* Prints what the last run wrote to its standard error, on ours: if that is much, its first lines and its last ones. */
void bench_print_stderr(const struct bench_runner *runner);

/* Prints the recorder's notices of the last run, on standard error. */
void bench_print_notices(const struct bench_runner *runner);
