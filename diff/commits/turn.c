/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Turns histories round: the oldest commit comes first, and each takes away what it made. */
#include "diff/commits/turn.h"

#include <stdlib.h>
#include <string.h>

static void *turn_copy_of(const void *items, size_t count, size_t size)
{
	void *copy = memory_alloc((count + 1) * size);

	if (copy && count > 0)
		memcpy(copy, items, count * size);
	return copy;
}

static void turn_hunk(struct repository_hunk *hunk)
{
	struct repository_hunk old = *hunk;

	hunk->old_line = old.new_line;
	hunk->old_count = old.new_count;
	hunk->old_text = old.new_text;
	hunk->new_line = old.old_line;
	hunk->new_count = old.old_count;
	hunk->new_text = old.old_text;
}

void turn_history(const struct repository_history *history, struct repository_history *turned)
{
	size_t count = history->commit_count;

	*turned = *history;
	turned->commits = turn_copy_of(history->commits, count, sizeof(*turned->commits));
	turned->hunks = turn_copy_of(history->hunks, history->hunk_count, sizeof(*turned->hunks));
	turned->files = turn_copy_of(history->files, history->file_count, sizeof(*turned->files));
	for (size_t i = 0; i < count; i++)
		turned->commits[i] = history->commits[count - 1 - i];
	for (size_t i = 0; i < history->hunk_count; i++)
		turn_hunk(&turned->hunks[i]);
	for (size_t i = 0; i < history->file_count; i++)
		turned->files[i] = (struct repository_file){ history->files[i].new_path, history->files[i].old_path };
}

void turned_history_deinit(struct repository_history *turned)
{
	free(turned->commits);
	free(turned->hunks);
	free(turned->files);
}
