/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/commits/paths.h"
#include "diff/commits/range.h"
#include "diff/model.h"
#include "diff/repository/repository.h"

/*
 * Which commits of a range can be the cause of what is proven. A commit can be it only if it changed lines of code that
 * was sampled. The lines of each function of head are carried back through the commits to base, one by one, and those
 * of base forward to head, so that it is known which commit made a line, and which removed one. Code that was only
 * moved, laid out anew, or commented is no change; nor is what a later commit of the range took back.
 *
 * A proven change is of a chain of calls (diff.changes). It is blamed on the commits that changed the innermost of its
 * functions, and less and less on those that changed their callers; within a function, the more the nearer the changed
 * lines are to those whose time has changed. A function whose machine code is the same is nobody's fault.
 *
 * Source: the idea of ranking by touched functions is FBDetect's (SOSP 2024); docs/decisions/86-which-commit.md.
 */

struct commits_suspect {
	size_t commit;       /* in the history */
	double share;        /* of the proven change in its direction: 0.68 */
	uint32_t *functions; /* owned: of the diff, those whose lines it changed, the largest share first */
	size_t function_count;
};

struct commits {
	const struct repository_history *history; /* borrowed */
	const struct diff *diff;                  /* borrowed: the functions are its */
	struct commits_suspect *suspects;         /* owned; the first suspect first */
	size_t suspect_count;
	bool *is_executed; /* owned; [commit] whether it changed lines of a function that was sampled */
	size_t not_executed_count;
	uint32_t verdict_text;        /* string of `strings`: one sentence */
	struct string_table *strings; /* owned */
};

/* The places of files in the repository at each side's commit, and their texts there. */
struct commits_sources {
	/* [string of that side's profile] the path of a file, borrowed; NULL: it is not in the repository */
	const char *const *paths[DIFF_SIDES];
	/* The text of a file, borrowed until the next call; NULL: not known. It is foreign. */
	const char *(*text)(void *context, enum diff_side side, const char *path, size_t *size);
	void *context;
};

/* Ranks the commits of a diff of two sides. The history is of all files that `paths` names. */
COMMON_MUST_CHECK
bool commits_rank(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES],
	const struct repository_history *history, const struct commits_sources *sources, struct commits **commits,
	struct error *err);
void commits_destroy(struct commits *commits);

static inline void commits_cleanup(struct commits **commits)
{
	commits_destroy(*commits);
}
