/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/diff.h"
#include "repository/repository.h"

/*
 * Which commits of a range can be the cause of what is proven. A commit can be it only if it changed lines of code that
 * was sampled; it is suspected as much as the proven change of the functions whose lines it changed, which commits that
 * changed the same function share. Ranges of lines are carried back through the commits, from head to base. A commit
 * and its revert cancel each other. Source: the idea of ranking by touched functions is FBDetect's (SOSP 2024).
 */

struct commits_suspect {
	size_t commit;       /* in the history */
	double share;        /* of the proven change: 0.68 */
	uint32_t *functions; /* owned: of the diff, those whose lines it changed, the largest share first */
	size_t function_count;
};

struct commits {
	const struct repository_history *history; /* borrowed */
	struct commits_suspect *suspects;         /* owned; the first suspect first */
	size_t suspect_count;
	bool *is_executed; /* owned; [commit] whether it changed lines of a function that was sampled */
	size_t not_executed_count;
	uint32_t verdict_text;        /* string of `strings`: one sentence */
	struct string_table *strings; /* owned */
};

/*
 * Ranks the commits. `paths` ([function of the diff]; NULL: not in the repository): the path of its file in the
 * repository at head.
 */
COMMON_MUST_CHECK
bool commits_rank(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES],
	const struct repository_history *history, const char *const *paths, struct commits **commits,
	struct error *err);
void commits_destroy(struct commits *commits);
