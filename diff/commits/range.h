/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/model.h"
#include "diff/repository/repository.h"

/*
 * `--commits A..B`: the process with rights runs git, and the one that reads the profiles asks it for what git wrote.
 * What is found never decides whether there is a result: where git fails later on, it is told, and the result has no
 * commits.
 */

struct commits;

struct commit_range {
	const char *text;    /* borrowed: "v1.2..HEAD"; NULL: nobody asked */
	const char *confirm; /* borrowed: the command of --confirm (cli/confirm.h); NULL: nobody asked */
	/* Tells the user a line, with its newline. */
	void (*say)(const char *format, ...) __attribute__((format(printf, 1, 2)));
	/*
	 * Asks the process that has opened the range: a descriptor, which is the caller's, or -1 and `err`. NULL: that
	 * is this process.
	 */
	int (*ask)(void *context, const void *bytes, size_t size, struct error *err);
	void *context;
	const struct repository *repository; /* borrowed */
	char suspect[REPOSITORY_ID_BYTES];   /* the first, a commit of the range; "": there is none */
	char from[REPOSITORY_ID_BYTES], to[REPOSITORY_ID_BYTES];
};

/* Checks what the user has written. Does nothing where nobody asked, as commit_range_open(). ERROR_USAGE. */
COMMON_MUST_CHECK
bool commit_range_check(const struct commit_range *range, struct error *err);

/*
 * Finds both commits in the repository, which lies at the directory and must stay open, and tells what is odd of them.
 * ERROR_NOT_FOUND: a revision.
 */
COMMON_MUST_CHECK
bool commit_range_open(
	struct commit_range *range, const struct repository *repository, const char *directory, struct error *err);

/* Returns whether the bytes that somebody asks by are a question of this kind; and the answer, a descriptor, or -1. */
bool commit_range_is_asked(const void *bytes, size_t size);
int commit_range_answer(struct commit_range *range, const void *bytes, size_t size);

/* The commits, and what they point into. */
struct commit_findings {
	struct repository_history *history; /* owned */
	struct commits *commits;            /* owned; NULL: there are none, which has been told */
};

/* Ranks the commits. */
void commit_range_rank(struct commit_range *range, const struct diff *diff,
	const struct profile *const profiles[DIFF_SIDES], struct commit_findings *findings);
void commit_findings_deinit(struct commit_findings *findings);
