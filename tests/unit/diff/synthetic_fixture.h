/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/diff.h"

/*
 * Profiles made by hand. A stack is written root first: "main;parse;^lex;read!libc.so#7".
 *   ^name    inlined into the frame before it
 *   !module  its module ("prog" when none is given; "kernel" is the kernel, "python3.11" an interpreter)
 *   #n       its code's fingerprint
 *   ~name    what the compiler called it before (linkage name differs, key the same)
 * A sample is one millisecond of CPU time. Failure to build one fails the test.
 */
struct synthetic {
	struct profile *profile;
	uint32_t thread; /* of the run at hand */
};

enum { SYNTHETIC_SAMPLE_NS = 1000000 };

/* Without a run yet. */
struct synthetic synthetic_create(void);

/* Starts another run; samples that follow are its. duration_ms 0: not known. */
void synthetic_run(struct synthetic *synthetic, bool whole_command, double duration_ms);

/* The id of a stack. */
uint32_t synthetic_stack(struct synthetic *synthetic, const char *frames);

/* `count` samples without time, or, with time_ms >= 0, each one an event at that time. */
void synthetic_add(struct synthetic *synthetic, uint32_t stack, int64_t count, double time_ms);

/* Finishes and hands the profile over. */
struct profile *synthetic_finish(struct synthetic *synthetic);

/* A whole profile of one attached run without timeline: lines "stack count". */
struct profile *synthetic_profile(const char *lines);

/* The same of several whole commands: each run has all lines' counts. */
struct profile *synthetic_runs(const char *lines, size_t runs);

/* Samples of a stack in each run of base and of head. */
struct synthetic_change {
	const char *frames; /* borrowed; NULL: the end of a list */
	int64_t base, head;
};

/* One side of a list of them as runs of whole commands that differ by a hundredth each, as those of the other side do.
 */
enum { SYNTHETIC_CHANGE_RUNS = 5, SYNTHETIC_MOST_CHANGES = 12 };
struct profile *synthetic_changes(const struct synthetic_change changes[SYNTHETIC_MOST_CHANGES], enum diff_side side);

/* Compares, and fails the test with the message when that fails. */
struct diff *synthetic_diff(const struct profile *base, const struct profile *head, const struct diff_options *options);

/* The same of profiles that nobody needs behind it: it destroys them. */
struct diff *synthetic_compare(struct profile *base, struct profile *head, const struct diff_options *options);

/* Fails the test when the words are not in the verdict's sentence. */
void synthetic_assert_says(const struct diff *diff, const char *words);

/* The function of that name; fails the test when it is not there. */
const struct diff_function *synthetic_function(const struct diff *diff, const char *name);
