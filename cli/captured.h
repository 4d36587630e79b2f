/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"
#include "profile/profile.h"

#include <signal.h>
#include <sys/types.h>

/*
 * Runs one of the program's own commands in a child, for a watch or an assistant: whatever becomes of the command, the
 * caller goes on, and what it reads and keeps in memory ends with it. What it writes to the standard streams is kept in
 * memory, and a child that does not end in time is ended with all that it has started.
 */
struct captured {
	pid_t pid;                     /* 0: none runs */
	int out, said;                 /* owned: standard output and error, files in memory; of a child that runs */
	int alive;                     /* owned: a channel that the child closes when it ends */
	int64_t end_ns;                /* CLOCK_BOOTTIME by which it has to have ended */
	struct store_secrets *forgets; /* borrowed: what is wiped in the child's copy of the memory; NULL: nothing */
};

enum { CAPTURED_MOST_BYTES = 16 << 20 }; /* of each of the two that are kept */

enum captured_ending { CAPTURED_ENDED, CAPTURED_LATE, CAPTURED_UNWANTED };

/* The outcome of a child. */
struct captured_outcome {
	enum captured_ending ending;
	int status;              /* as waitpid(2) gives it */
	int code;                /* of its end; 128 and the signal that ended it, as shells have it */
	struct buffer out, said; /* NUL-terminated, cleaned of what a terminal would obey; lines stay */
};

/*
 * Starts a child in that directory; `mask`: the signals that are blocked in work(context), whose result is the exit
 * code; NULL: those that are blocked here.
 */
COMMON_MUST_CHECK
bool captured_start(struct captured *child, int directory, const sigset_t *mask, double deadline_s,
	int (*work)(void *context), void *context, struct error *err);

/* Returns whether the child has ended, of which there is one; `outcome` is then the caller's. Does not wait. */
bool captured_ended(struct captured *child, struct captured_outcome *outcome);

/* Waits until it has ended; a child whose outcome nobody wants any more (`is_unwanted`, may be NULL) is ended. */
void captured_wait(struct captured *child, bool (*is_unwanted)(void), struct captured_outcome *outcome);

/* Asks a child to end, if there is one. */
void captured_signal(const struct captured *child, int number);

void captured_outcome_deinit(struct captured_outcome *outcome);

/* Runs a command of the program in a child, by its words without "kelvin"; NULL ends them. Its exit code. */
int captured_run_command(const char *const *words);
