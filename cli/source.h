/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/sampler.h"
#include "symbolize/symbolize.h"

/*
 * A source makes a profile. Commands know sources by this interface alone; a source of another kind is one more file
 * with a constructor and a struct source_functions.
 *
 *	source_live.h   samples a target: record, bench
 *	source_benchmarks.h  likewise, and tells benchmarks apart: record --benchmarks
 *	source_simulated.h  counts what a command executes: simulate, bench --simulate
 *	source_file.h   reads a file, whatever is in it (a profile, perf.data, FILE.part): report, diff, recover
 *
 * A source only reads: it hands over addresses, or names that another tool has found. source_name() does the rest, in
 * the same way for all. Between the two the caller may look at what was read, and leave it.
 */

struct source;

/* The stage that source_read() came to, of sources that start or watch a target. */
enum source_stage {
	SOURCE_CREATING,
	SOURCE_STARTING, /* a command may not be found or not be executable: err->system_errno */
	SOURCE_RUNNING,
	SOURCE_FINISHING, /* what was recorded is being handed over, or has been */
};

/* The result of source_read(). Owned by the caller. */
struct source_result {
	struct recording recording;
	struct buffer notices; /* what the user should know, line by line */
	enum source_stage stage;
	struct error no_benchmarks; /* why there are none, where they were to be told apart; ERROR_NONE otherwise */
	struct symbolize_kept_sources sources; /* source text in the profile */
	double answer_us; /* how long answers to the harness of benchmarks took, the median; 0: there were none */
};

static inline void source_result_deinit(struct source_result *result)
{
	recording_deinit(&result->recording);
	buffer_deinit(&result->notices);
}

struct source_functions {
	/*
	 * Fills `result`, which is empty. After a failure its recording holds what sampler_finish() sets then.
	 */
	bool (*read)(struct source *source, struct source_result *result, struct error *err);
	/*
	 * Ends what naming had to come before: replaces the profile of `result`, whose locations are named. NULL: what
	 * was read is the profile.
	 */
	bool (*complete)(struct source *source, struct source_result *result, struct error *err);
	void (*destroy)(struct source *source);
};

/* The first member of every kind of source. */
struct source {
	const struct source_functions *functions;
	const char *name;  /* for messages; borrowed */
	int fd;            /* that it reads, owned unless it is standard input; -1: none */
	bool is_named;     /* its locations have names; only origins may be missing */
	bool is_read_once; /* false: commands may read it again later, so its resolved frames are kept on disk */
	bool is_live;      /* what it has sampled or counted ran just now: its source is looked for */
	bool is_command;   /* ... and was started here */
};

/*
 * Makes one profile. A source that samples can be read again, which makes the next run; a file is read once. The
 * result is the caller's, source_result_deinit(), also after a failure.
 */
COMMON_MUST_CHECK
bool source_read(struct source *source, struct source_result *result, struct error *err);

/*
 * Names what was read, as `options` wants it (cli/naming.h), completes it where its kind needs that, and compares it
 * with other libraries where that was asked for. Names of another tool get their origins.
 */
COMMON_MUST_CHECK
bool source_name(struct source *source, const struct symbolize_options *options, struct source_result *result,
	struct error *err);

/* Does the same for a profile that has names, read from a file of that name by somebody else. */
COMMON_MUST_CHECK
bool source_name_given(
	const char *name, const struct symbolize_options *options, struct profile *profile, struct error *err);

/* Returns the exit code of the command line after source_read() of a command failed at that stage. */
int source_failure_code(enum source_stage stage, const struct error *err);

void source_destroy(struct source *source);

static inline void source_cleanup(struct source **source)
{
	source_destroy(*source);
}
