/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds equal lines among those that a commit removed and added. */
#include "commits/moves.h"

#include <stdlib.h>

enum { MAX_TEXTS = 1 << 28 };

void moves_clear(struct moves *moves)
{
	moves->removed_count = moves->added_count = 0;
}

void moves_deinit(struct moves *moves)
{
	free(moves->removed);
	free(moves->added);
}

static int by_text(const void *left, const void *right)
{
	const struct moved_text *a = left, *b = right;

	if (a->text != b->text)
		return ORDER(a->text, b->text);
	return a->hunk != b->hunk ? ORDER(a->hunk, b->hunk) : ORDER(a->line, b->line);
}

static bool add_texts(struct moved_text **texts, size_t *count, size_t *capacity, const uint32_t *from, size_t hunk,
	uint32_t first_line, uint32_t lines, struct error *err)
{
	if (!ARRAY_RESERVE(texts, capacity, *count + lines, MAX_TEXTS, err))
		return false;
	for (uint32_t i = 0; i < lines; i++)
		if (from[i])
			(*texts)[(*count)++] = (struct moved_text){ from[i], hunk, first_line + i };
	return true;
}

bool moves_find(struct moves *moves, const struct repository_history *history, const struct repository_commit *commit,
	struct error *err)
{
	moves->hunks = history->hunks;
	for (size_t i = commit->first_hunk; i < commit->first_hunk + commit->hunk_count; i++) {
		const struct repository_hunk *hunk = &history->hunks[i];
		const uint32_t *texts = history->texts + hunk->first_text;

		if (!add_texts(&moves->removed, &moves->removed_count, &moves->removed_capacity, texts, i,
			    hunk->old_line, hunk->old_count, err) ||
			!add_texts(&moves->added, &moves->added_count, &moves->added_capacity, texts + hunk->old_count,
				i, hunk->new_line, hunk->new_count, err))
			return false;
	}
	if (moves->removed_count > 0)
		qsort(moves->removed, moves->removed_count, sizeof(*moves->removed), by_text);
	if (moves->added_count > 0)
		qsort(moves->added, moves->added_count, sizeof(*moves->added), by_text);
	return true;
}

/* The first of the lines with a text, from a hunk on. */
static size_t find(const struct moved_text *texts, size_t count, uint32_t text, size_t hunk)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct moved_text *at = &texts[middle];

		if (at->text < text || (at->text == text && at->hunk < hunk))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint32_t distance(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

/* Of several in the hunk, the one that is as far into it. */
static bool find_within(const struct moves *moves, const struct repository_hunk *hunk, uint32_t offset, uint32_t text,
	struct move_place *place)
{
	size_t number = (size_t)(hunk - moves->hunks);
	uint32_t best = UINT32_MAX;

	for (size_t i = find(moves->removed, moves->removed_count, text, number);
		i < moves->removed_count && moves->removed[i].text == text && moves->removed[i].hunk == number; i++) {
		uint32_t away = distance(moves->removed[i].line - hunk->old_line, offset);

		if (away >= best)
			break;
		best = away;
		*place = (struct move_place){ hunk->file, moves->removed[i].line };
	}
	return best != UINT32_MAX;
}

bool moves_origin(const struct moves *moves, const struct repository_hunk *hunk, uint32_t offset, uint32_t text,
	struct move_place *place)
{
	size_t i;

	if (find_within(moves, hunk, offset, text, place))
		return true;
	i = find(moves->removed, moves->removed_count, text, 0);
	if (!(text & 1) || i >= moves->removed_count || moves->removed[i].text != text)
		return false;
	*place = (struct move_place){ moves->hunks[moves->removed[i].hunk].file, moves->removed[i].line };
	return true;
}

bool moves_is_kept(const struct moves *moves, const struct repository_hunk *hunk, uint32_t text)
{
	size_t number = (size_t)(hunk - moves->hunks);
	size_t i = find(moves->added, moves->added_count, text, text & 1 ? 0 : number);

	return i < moves->added_count && moves->added[i].text == text && (text & 1 || moves->added[i].hunk == number);
}
