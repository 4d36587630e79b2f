/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Aligns two sequences of lines: unique lines as anchors, and Myers' greedy algorithm between them. */
#include "diff/listing/align.h"

#include <string.h>

enum { NO_LINE = UINT32_MAX, MOST_LEVELS = 32 };

/* The number of times that a line occurs in the part at hand, and its places in head. */
struct occurrence {
	uint32_t base, head, at;
};

/* A line that is unique in both. */
struct anchor {
	uint32_t base, head;
	uint32_t before; /* index of the anchor before it in the longest rising sequence that ends here */
};

struct align {
	const uint32_t *base, *head;
	uint32_t *match;
	struct occurrence *occurrences; /* owned; [number], all 0 between uses */
	int32_t *trace;                 /* owned; how far each number of edits leads on each diagonal, as a triangle */
};

/* Lines of both sides that are aligned with each other. */
struct listing_align_part {
	uint32_t base, base_end, head, head_end;
};

static void align_deinit(struct align *align)
{
	free(align->occurrences);
	free(align->trace);
}

/* Takes equal lines from both ends. */
static void trim(const struct align *align, struct listing_align_part *part)
{
	while (part->base < part->base_end && part->head < part->head_end &&
		align->base[part->base] == align->head[part->head])
		align->match[part->base++] = part->head++;
	while (part->base < part->base_end && part->head < part->head_end &&
		align->base[part->base_end - 1] == align->head[part->head_end - 1])
		align->match[--part->base_end] = --part->head_end;
}

/* ---- The shortest edit script ---- */

static int32_t *trace_of(const struct align *align, int32_t edits)
{
	return align->trace + (size_t)edits * ((size_t)edits + 1) / 2;
}

/* Returns how far `edits` lead on a diagonal; only every other diagonal is reached. */
static int32_t traced(const struct align *align, int32_t edits, int32_t diagonal)
{
	return trace_of(align, edits)[(diagonal + edits) / 2];
}

/* Returns whether the last of the edits is a line of head that was added. */
static bool comes_by_head(const struct align *align, int32_t edits, int32_t diagonal)
{
	return diagonal == -edits ||
	       (diagonal != edits && traced(align, edits - 1, diagonal - 1) < traced(align, edits - 1, diagonal + 1));
}

/* Matches the lines on the way to where the edits led. */
static void listing_align_trace_back(
	const struct align *align, const struct listing_align_part *part, int32_t edits, int32_t diagonal)
{
	int32_t x = traced(align, edits, diagonal);

	for (;; edits--) {
		bool by_head = edits > 0 && comes_by_head(align, edits, diagonal);
		int32_t from = edits == 0 ? 0
			       : by_head  ? traced(align, edits - 1, diagonal + 1)
					  : traced(align, edits - 1, diagonal - 1) + 1;

		for (; x > from; x--)
			align->match[part->base + (uint32_t)x - 1] = part->head + (uint32_t)(x - diagonal) - 1;
		if (edits == 0)
			return;
		diagonal += by_head ? 1 : -1;
		x = by_head ? x : x - 1;
	}
}

/* Goes on over equal lines. */
static int32_t slide(const struct align *align, const struct listing_align_part *part, int32_t x, int32_t diagonal)
{
	int32_t width = (int32_t)(part->base_end - part->base), height = (int32_t)(part->head_end - part->head);

	while (x < width && x - diagonal < height &&
		align->base[part->base + (uint32_t)x] == align->head[part->head + (uint32_t)(x - diagonal)])
		x++;
	return x;
}

/*
 * Aligns the front of a part by at most ALIGN_MOST_EDITS, and moves the part behind what was aligned. Points beyond the
 * part's ends are reached too, and lead nowhere.
 */
static void edit(const struct align *align, struct listing_align_part *part)
{
	int32_t width = (int32_t)(part->base_end - part->base), height = (int32_t)(part->head_end - part->head);
	int32_t best_edits = 0, best = 0, furthest = -1;

	for (int32_t edits = 0; edits <= ALIGN_MOST_EDITS && furthest < width + height; edits++) {
		for (int32_t diagonal = -edits; diagonal <= edits; diagonal += 2) {
			int32_t x = edits == 0 ? 0
				    : comes_by_head(align, edits, diagonal)
					    ? traced(align, edits - 1, diagonal + 1)
					    : traced(align, edits - 1, diagonal - 1) + 1;

			x = slide(align, part, x, diagonal);
			trace_of(align, edits)[(diagonal + edits) / 2] = x;
			if (x > width || x - diagonal > height || 2 * x - diagonal <= furthest)
				continue;
			furthest = 2 * x - diagonal;
			best_edits = edits;
			best = diagonal;
		}
	}
	listing_align_trace_back(align, part, best_edits, best);
	part->base += (uint32_t)traced(align, best_edits, best);
	part->head += (uint32_t)(traced(align, best_edits, best) - best);
}

/* ---- Anchors ---- */

/* Lists the lines that are unique in both sides of a part, in the order of base. */
static size_t find_anchors(const struct align *align, const struct listing_align_part *part, struct anchor *anchors)
{
	struct occurrence *of = align->occurrences;
	size_t count = 0;

	for (uint32_t i = part->base; i < part->base_end; i++)
		of[align->base[i]].base++;
	for (uint32_t i = part->head; i < part->head_end; i++) {
		of[align->head[i]].head++;
		of[align->head[i]].at = i;
	}
	for (uint32_t i = part->base; i < part->base_end; i++) {
		const struct occurrence *line = &of[align->base[i]];

		if (line->base == 1 && line->head == 1)
			anchors[count++] = (struct anchor){ i, line->at, NO_LINE };
	}
	for (uint32_t i = part->base; i < part->base_end; i++)
		of[align->base[i]] = (struct occurrence){ 0 };
	for (uint32_t i = part->head; i < part->head_end; i++)
		of[align->head[i]] = (struct occurrence){ 0 };
	return count;
}

/*
 * Keeps the longest sequence of anchors that rises on both sides, by patience sorting: piles[n] is the anchor with the
 * least line of head among those that end a sequence of n + 1. Returns how many are kept, at the front.
 */
static size_t keep_rising(struct anchor *anchors, size_t count, uint32_t *piles)
{
	size_t length = 0;
	uint32_t at;

	for (size_t i = 0; i < count; i++) {
		size_t low = BISECT(length, k, anchors[piles[k]].head < anchors[i].head);

		anchors[i].before = low > 0 ? piles[low - 1] : NO_LINE;
		piles[low] = (uint32_t)i;
		length = low == length ? length + 1 : length;
	}
	at = length > 0 ? piles[length - 1] : NO_LINE;
	/* Anchors are in order, so that each is written behind those that are still to be read. */
	for (size_t i = length; i-- > 0; at = anchors[at].before)
		piles[i] = at;
	for (size_t i = 0; i < length; i++)
		anchors[i] = anchors[piles[i]];
	return length;
}

static void align_part(const struct align *align, struct listing_align_part part, int level);

static void align_between(const struct align *align, const struct listing_align_part *part,
	const struct anchor *anchors, size_t count, int level)
{
	uint32_t base = part->base, head = part->head;

	for (size_t i = 0; i < count; i++) {
		align_part(align, (struct listing_align_part){ base, anchors[i].base, head, anchors[i].head }, level);
		align->match[anchors[i].base] = anchors[i].head;
		base = anchors[i].base + 1;
		head = anchors[i].head + 1;
	}
	align_part(align, (struct listing_align_part){ base, part->base_end, head, part->head_end }, level);
}

static void align_part(const struct align *align, struct listing_align_part part, int level)
{
	CLEANUP(cleanup_free) struct anchor *anchors = NULL;
	CLEANUP(cleanup_free) uint32_t *piles = NULL;
	size_t count;

	trim(align, &part);
	if (part.base == part.base_end || part.head == part.head_end)
		return;
	if (level < MOST_LEVELS) {
		anchors = memory_alloc((part.base_end - part.base) * sizeof(*anchors));
		piles = memory_alloc((part.base_end - part.base) * sizeof(*piles));
		count = find_anchors(align, &part, anchors);
		count = keep_rising(anchors, count, piles);
		if (count > 0) {
			align_between(align, &part, anchors, count, level + 1);
			return;
		}
	}
	while (part.base < part.base_end && part.head < part.head_end)
		edit(align, &part);
}

bool align_lines(const struct align_side *base, const struct align_side *head, size_t line_numbers, uint32_t *match,
	struct error *err)
{
	size_t diagonals = ALIGN_MOST_EDITS + 2;
	CLEANUP(align_deinit)
	struct align align = {
		.base = base->lines,
		.head = head->lines,
		.match = match,
		.occurrences = memory_zeroed(line_numbers + 1, sizeof(*align.occurrences)),
		.trace = memory_alloc(diagonals * diagonals * sizeof(*align.trace)),
	};

	if (base->count > ALIGN_MOST_LINES || head->count > ALIGN_MOST_LINES)
		return error_set(err, ERROR_LIMIT, "a function has %zu lines, more than can be aligned", base->count);
	memset(match, 0xff, base->count * sizeof(*match));
	align_part(&align, (struct listing_align_part){ 0, (uint32_t)base->count, 0, (uint32_t)head->count }, 0);
	return true;
}

/* ---- Lines that were replaced ---- */

/* Beyond this many pairs, lines are paired in their order. */
enum { MOST_PAIRS = 1 << 14, WHOLE = 1000 };

static bool listing_align_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct align_text without_indentation(struct align_text line)
{
	while (line.size > 0 && listing_align_is_blank(*line.text)) {
		line.text++;
		line.size--;
	}
	return line;
}

/*
 * Returns what two lines have in common at their beginning and end, in parts of the longer one. The same indentation is
 * half as much again: the lines do their work as often.
 */
static uint32_t likeness(struct align_text whole_a, struct align_text whole_b)
{
	struct align_text a = without_indentation(whole_a), b = without_indentation(whole_b);
	size_t least = a.size < b.size ? a.size : b.size, most = a.size < b.size ? b.size : a.size;
	size_t front = 0, back = 0, indent = whole_a.size - a.size;
	bool is_alike = indent == whole_b.size - b.size && memcmp(whole_a.text, whole_b.text, indent) == 0;

	while (front < least && a.text[front] == b.text[front])
		front++;
	while (back < least - front && a.text[a.size - 1 - back] == b.text[b.size - 1 - back])
		back++;
	return (most > 0 ? (uint32_t)((front + back) * WHOLE / most) : 0) + (is_alike ? WHOLE / 2 : 0);
}

void align_pair(const struct align_text *base, size_t base_count, const struct align_text *head, size_t head_count,
	uint32_t *pair)
{
	size_t row = head_count + 1;
	CLEANUP(cleanup_free) uint32_t *best = NULL;

	for (size_t i = 0; i < base_count; i++)
		pair[i] = i < head_count ? (uint32_t)i : NO_LINE;
	if (base_count == 0 || head_count == 0 || base_count > MOST_PAIRS / head_count ||
		(base_count == 1 && head_count == 1))
		return;
	best = memory_zeroed((base_count + 1) * row, sizeof(*best));
	/* best[i][j]: of the lines from i and j on. A pair of any two lines is worth a little. */
	for (size_t i = base_count; i-- > 0;)
		for (size_t j = head_count; j-- > 0;) {
			uint32_t *at = &best[i * row + j], paired = at[row + 1] + 1 + likeness(base[i], head[j]);

			*at = at[row] > at[1] ? at[row] : at[1];
			*at = paired >= *at ? paired : *at;
		}
	for (size_t i = 0, j = 0; i < base_count;) {
		const uint32_t *at = &best[i * row + j];

		pair[i] = NO_LINE;
		if (j < head_count && *at == at[row + 1] + 1 + likeness(base[i], head[j]))
			pair[i++] = (uint32_t)j++;
		else if (j < head_count && *at == at[1])
			j++;
		else
			i++;
	}
}
