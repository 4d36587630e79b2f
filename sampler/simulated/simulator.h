/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <limits.h>

/* Valgrind with our tool: where it is, what it can run, how it is called, and what it says. */

enum { SIMULATOR_CACHES = 3 };

/* Caches in the order I1, D1, LL. */
struct simulator_cache {
	uint64_t bytes, ways, line_bytes;
};

/* Sets 32 kB, 8 ways for both first levels; 8 MB, 16 ways for the last; lines of 64 bytes, on every machine. */
void simulator_default_caches(struct simulator_cache caches[SIMULATOR_CACHES]);

/*
 * Takes the caches for options.h: I1,D1,LL, each SIZE[:WAYS[:LINE]], as "32k:8,32k:8,8M:16:64"; an empty one, and what
 * one leaves out, is the default. ERROR_USAGE for sizes that no cache has.
 */
bool simulator_take_caches(void *caches, const char *text, struct error *err);

struct simulator {
	char library[PATH_MAX]; /* the directory of the tool, of what starts it, and of what it reads */
};

/* Finds it. ERROR_NOT_FOUND says what to install. */
COMMON_MUST_CHECK
bool simulator_find(struct simulator *simulator, struct error *err);

/*
 * Fails unless the command can be simulated. ERROR_NOT_FOUND or ERROR_PERMISSION with system_errno, as execvp() would
 * have failed; ERROR_UNSUPPORTED: a 32-bit program, or one with another user's rights.
 */
COMMON_MUST_CHECK
bool simulator_check_command(const char *command, struct error *err);

/* One execution of a command. */
struct simulator_call {
	const char *directory; /* gets counts/ and log/, which must be there */
	const struct simulator_cache *caches;
	char *const *command;
	bool counts_parts; /* nothing is counted until the program asks for it by its client requests */
	bool folds_recursion;
};

/* Replaces the calling process, a child of ours. Returns only on failure, with errno set. */
void simulator_execute(const struct simulator *simulator, const struct simulator_call *call);

/* Returns whether the processes of this machine can have the same addresses in every run; containers may forbid it. */
bool simulator_can_fix_addresses(void);

/* Appends what the user should know of what valgrind said in `directory`, line by line. */
void simulator_explain(const char *directory, struct buffer *notices);
