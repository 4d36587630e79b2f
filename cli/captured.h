/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"
#include "profile/profile.h"

#include <signal.h>
#include <sys/types.h>

/*
 * Children of a watch, each of which runs one of the program's own commands in the watch's directory: whatever becomes
 * of a recording or a comparison, the watch goes on, and what they read and keep in memory ends with them. What they
 * write to the standard streams is kept in memory, and a child that does not end in time is ended with all that it has
 * started.
 */
struct captured {
	pid_t pid;                     /* 0: none runs */
	int out, said;                 /* owned: standard output and error, files in memory; of a child that runs */
	int64_t end_ns;                /* CLOCK_BOOTTIME by which it has to have ended */
	struct store_secrets *forgets; /* borrowed: what is wiped in the child's copy of the memory; NULL: nothing */
};

/* The outcome of a child. */
struct captured_outcome {
	int code;                /* of its end; 128 and the signal that ended it, as shells have it */
	struct buffer out, said; /* NUL-terminated, cleaned of what a terminal would obey; lines stay */
};

/* Starts a child; `mask`: the signals that are blocked in work(context), whose result is the exit code. */
COMMON_MUST_CHECK
bool captured_start(struct captured *child, int directory, const sigset_t *mask, double deadline_s,
	int (*work)(void *context), void *context, struct error *err);

/* Returns whether the child has ended, of which there is one; `outcome` is then the caller's. Does not wait. */
bool captured_ended(struct captured *child, struct captured_outcome *outcome);

/* Waits until it has ended. */
void captured_wait(struct captured *child, struct captured_outcome *outcome);

/* Asks a child to end, if there is one. */
void captured_signal(const struct captured *child, int number);

void captured_outcome_deinit(struct captured_outcome *outcome);

/* Runs a command of the program in a child, by its words without "kelvin"; NULL ends them. Its exit code. */
int captured_run_command(const char *const *words);
