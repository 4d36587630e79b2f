/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds equal lines among those that a commit removed and added. */
#include "diff/commits/moves.h"

#include <stdlib.h>

enum { MAX_TEXTS = 1 << 28, MOST_PLACES = 64 };
/* A short line was moved with the AROUND lines in front and behind where ENOUGH_EQUALS of them are equal. */
enum { AROUND = 4, ENOUGH_EQUALS = 2 };

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

static bool moves_add_texts(struct moved_text **texts, size_t *count, size_t *capacity, const uint32_t *from,
	size_t hunk, uint32_t first_line, uint32_t lines, struct error *err)
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
	moves->history = history;
	for (size_t i = commit->first_hunk; i < commit->first_hunk + commit->hunk_count; i++) {
		const struct repository_hunk *hunk = &history->hunks[i];
		if (!moves_add_texts(&moves->removed, &moves->removed_count, &moves->removed_capacity,
			    history->texts + hunk->old_text, i, hunk->old_line, hunk->old_count, err) ||
			!moves_add_texts(&moves->added, &moves->added_count, &moves->added_capacity,
				history->texts + hunk->new_text, i, hunk->new_line, hunk->new_count, err))
			return false;
	}
	if (moves->removed_count > 0)
		qsort(moves->removed, moves->removed_count, sizeof(*moves->removed), by_text);
	if (moves->added_count > 0)
		qsort(moves->added, moves->added_count, sizeof(*moves->added), by_text);
	return true;
}

/* Returns the first of the lines with a text, from a hunk on. */
static size_t commits_moves_find(const struct moved_text *texts, size_t count, uint32_t text, size_t hunk)
{
	return BISECT(count, i, texts[i].text < text || (texts[i].text == text && texts[i].hunk < hunk));
}

/* One side of a hunk. */
struct block {
	const uint32_t *texts;
	uint32_t line, count;
};

static struct block old_block(const struct moves *moves, const struct repository_hunk *hunk)
{
	return (struct block){ moves->history->texts + hunk->old_text, hunk->old_line, hunk->old_count };
}

static struct block new_block(const struct moves *moves, const struct repository_hunk *hunk)
{
	return (struct block){ moves->history->texts + hunk->new_text, hunk->new_line, hunk->new_count };
}

/* Returns whether enough of the lines around two places are equal, so that the code was moved as a whole. */
static bool is_among_equals(const struct block *a, uint32_t a_offset, const struct block *b, uint32_t b_offset)
{
	unsigned int equal = 0;

	for (uint32_t k = 1; k <= AROUND; k++) {
		if (k <= a_offset && k <= b_offset && a->texts[a_offset - k])
			equal += a->texts[a_offset - k] == b->texts[b_offset - k];
		if (a_offset + k < a->count && b_offset + k < b->count && a->texts[a_offset + k])
			equal += a->texts[a_offset + k] == b->texts[b_offset + k];
	}
	return equal >= ENOUGH_EQUALS;
}

static uint32_t moves_distance(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

/* Returns the other side of a hunk of the commit. */
static struct block other_block(const struct moves *moves, size_t hunk, bool is_old)
{
	const struct repository_hunk *h = &moves->history->hunks[hunk];

	return is_old ? old_block(moves, h) : new_block(moves, h);
}

/*
 * Finds a line on the other side of the commit (`is_old`: among those that it removed): in the same hunk the one that
 * is as far into it, else any that cannot be chance.
 */
static bool find_equal(const struct moves *moves, const struct repository_hunk *hunk, const struct block *block,
	uint32_t offset, bool is_old, struct move_place *place)
{
	const struct moved_text *texts = is_old ? moves->removed : moves->added;
	size_t count = is_old ? moves->removed_count : moves->added_count;
	size_t number = (size_t)(hunk - moves->history->hunks), first;
	uint32_t text = block->texts[offset], best = UINT32_MAX;

	for (size_t i = commits_moves_find(texts, count, text, number);
		i < count && texts[i].text == text && texts[i].hunk == number; i++) {
		struct block other = other_block(moves, number, is_old);
		uint32_t away = moves_distance(texts[i].line - other.line, offset);

		if (away >= best)
			break;
		best = away;
		*place = (struct move_place){ hunk->file, texts[i].line };
	}
	first = commits_moves_find(texts, count, text, 0);
	for (size_t i = first; best == UINT32_MAX && i < count && i < first + MOST_PLACES && texts[i].text == text;
		i++) {
		struct block other = other_block(moves, texts[i].hunk, is_old);

		if (!(text & 1) && !is_among_equals(block, offset, &other, texts[i].line - other.line))
			continue;
		best = 0;
		*place = (struct move_place){ moves->history->hunks[texts[i].hunk].file, texts[i].line };
	}
	return best != UINT32_MAX;
}

bool moves_origin(
	const struct moves *moves, const struct repository_hunk *hunk, uint32_t offset, struct move_place *place)
{
	struct block block = new_block(moves, hunk);

	return find_equal(moves, hunk, &block, offset, true, place);
}

bool moves_is_kept(const struct moves *moves, const struct repository_hunk *hunk, uint32_t offset)
{
	struct block block = old_block(moves, hunk);
	struct move_place ignored;

	return find_equal(moves, hunk, &block, offset, false, &ignored);
}
