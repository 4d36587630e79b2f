/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/lines.h"
#include "diff/listing/listing.h"
#include "diff/listing/sources.h"

/* The state that the steps of making a listing share. */

/* Places of one side, in the order of their functions; those of a function's own file first, in order of lines. */
struct lister_places {
	struct diff_lines *lines; /* owned; NULL: the diff has no such side */
	uint32_t *order;          /* owned: places */
	uint32_t *first;          /* owned; [function] its first one in `order`; [function_count]: the end */
	/* owned; [place] its row, counted over all functions of the listing; PROFILE_NONE: it has none */
	uint32_t *rows;
};

struct lister {
	const struct diff *diff;
	const struct profile *const *profiles; /* [side] */
	const struct listing_options *options;
	struct listing *listing; /* owned until it is done */
	struct lister_places places[DIFF_SIDES];
	struct listing_sources sources[DIFF_SIDES];
	size_t row_count; /* of all functions so far */
};

/* Returns how many bytes of a line are kept. */
static inline size_t lister_line_bytes(const struct lister *lister)
{
	return lister->options->line_bytes ? lister->options->line_bytes : LISTING_LINE_BYTES;
}

static inline enum diff_side lister_first_side(const struct lister *lister)
{
	return lister->diff->sides == DIFF_SIDES ? DIFF_BASE : DIFF_HEAD;
}

/* ---- One function ---- */

/* The lines of one side of a function, in order. */
struct lister_side {
	const uint32_t *places; /* borrowed, of lister_places.order: those in the function's own file */
	size_t place_count;
	const uint32_t *others; /* borrowed: those in other files */
	size_t other_count;
	const char *build_id; /* borrowed; "" */
	uint32_t definition;  /* its line; 0: not known */
	const struct listing_source *source;
	uint32_t *numbers; /* owned: of its lines, rising; with text all from its definition to its end */
	uint32_t *rows;    /* owned: of these lines */
	size_t count;
};

void lister_side_deinit(struct lister_side *side);

/* Finds what one side has of a function: its file, its text, its lines. Fills listed->text[side]. */
COMMON_MUST_CHECK
bool lister_side_find(struct lister *lister, enum diff_side side, struct listing_function *listed,
	struct lister_side *found, struct error *err);

/* Makes the rows of a function, and says which rows places have. */
COMMON_MUST_CHECK
bool lister_make_rows(struct lister *lister, struct listing_function *listed, struct error *err);

/* Appends rows for places in other files. */
COMMON_MUST_CHECK
bool lister_add_elsewhere(struct lister *lister, struct listing_function *listed,
	const struct lister_side sides[DIFF_SIDES], size_t *capacity, struct error *err);

/* Tests the rows of functions that are proven to differ, all together. */
COMMON_MUST_CHECK
bool lister_judge_rows(struct lister *lister, struct error *err);

/* Finds the instructions of all rows, of a listing that is complete. */
COMMON_MUST_CHECK
bool listing_disassemble(struct listing *listing, const struct profile *const profiles[DIFF_SIDES], struct error *err);

/* Appends an empty row; `*row` is borrowed until the next one. */
COMMON_MUST_CHECK
bool lister_add_row(struct listing_function *listed, size_t *capacity, struct listing_row **row, struct error *err);

/* Adds the time of a place to a row, and remembers the row. `number`: of the row over all functions. */
void lister_add_time(
	struct lister *lister, enum diff_side side, uint32_t place, struct listing_row *row, size_t number);
