/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/repository/repository.h"

/* Which lines a commit only moved: it removed a line with the same code elsewhere. */

/* A line that a commit removed, or made. */
struct move_place {
	uint32_t file; /* of the history */
	uint32_t line;
};

struct moved_text {
	uint32_t text;
	size_t hunk; /* of the history */
	uint32_t line;
};

struct moves {
	struct moved_text *removed, *added; /* owned; by text, then in their order */
	size_t removed_count, added_count, removed_capacity, added_capacity;
	const struct repository_history *history; /* borrowed */
};

void moves_clear(struct moves *moves);
void moves_deinit(struct moves *moves);

/* Reads a commit's hunks. */
COMMON_MUST_CHECK
bool moves_find(struct moves *moves, const struct repository_history *history, const struct repository_commit *commit,
	struct error *err);

/*
 * Finds where the code of a line that a hunk made was before: in the same hunk, else elsewhere if it says so much that
 * this is no chance, or as the lines around it do. `offset`: of the line in the hunk. False: it is new.
 */
bool moves_origin(
	const struct moves *moves, const struct repository_hunk *hunk, uint32_t offset, struct move_place *place);

/* Likewise, whether the code of a line that a hunk removed is somewhere behind the commit. */
bool moves_is_kept(const struct moves *moves, const struct repository_hunk *hunk, uint32_t offset);
