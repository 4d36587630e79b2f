/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/options.h"
#include "cli/texts.h"
#include "cli/worker.h"
#include "diff/diff.h"

/*
 * `--commits A..B`: the process with rights runs git, and the one that reads the profiles asks it for what git wrote.
 * What is found never decides whether there is a result: where git fails later on, it is told, and the result has no
 * commits.
 */

struct commit_range {
	const char *text;    /* borrowed: "v1.2..HEAD"; NULL: nobody asked */
	const char *confirm; /* borrowed: the command of --confirm (cli/confirm.h); NULL: nobody asked */
	const struct repository *repository; /* borrowed */
	char suspect[REPOSITORY_ID_BYTES];   /* the first, a commit of the range; "": there is none */
	char from[REPOSITORY_ID_BYTES], to[REPOSITORY_ID_BYTES];
};

/* The options of a struct commit_range: --commits, --confirm. --repo is that of texts. */
extern const struct options_row commit_range_rows[];

/*
 * Finds both commits in the repository of the texts, which must stay open, and tells what is odd of them. Does nothing
 * where nobody asked. ERROR_USAGE: the range is malformed; ERROR_NOT_FOUND: the repository, or a revision.
 */
COMMON_MUST_CHECK
bool commit_range_open(struct commit_range *range, struct texts *texts, struct error *err);

/* Returns whether the bytes that a worker asks by are a question of this kind; and the answer, a descriptor, or -1. */
bool commit_range_is_asked(const void *bytes, size_t size);
int commit_range_answer(struct commit_range *range, const void *bytes, size_t size);

/* The commits, and what they point into. */
struct commit_findings {
	struct repository_history *history; /* owned */
	struct commits *commits;            /* owned; NULL: there are none, which has been told */
};

/* Ranks the commits. `worker`: in which this runs; NULL: in the process that has opened the range. */
void commit_range_rank(struct commit_range *range, const struct worker *worker, const struct diff *diff,
	const struct profile *const profiles[DIFF_SIDES], struct commit_findings *findings);
void commit_findings_deinit(struct commit_findings *findings);
