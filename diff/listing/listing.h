/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/lines.h"
#include "diff/listing/assembly.h"

/*
 * Functions line by line: the source text of both versions, aligned, with the time of each line. The last step of a
 * comparison: it adds nothing to the diff, and lines are part of no identity.
 *
 * Lines of two versions of a function are aligned by unique lines as anchors (patience diff) and, between these, by the
 * shortest edit script (Myers 1986, "An O(ND) difference algorithm and its variations"), both on text without trailing
 * blanks. Without text, lines have the same row if they are as far from the definition.
 *
 * A row is coloured only where its function is proven to differ, and by its own test: the rows of all listed functions
 * are one family at the diff's rate q (Benjamini and Hochberg 1995). Where samples have no precise addresses, a line
 * may have the time of the one before it ("± one line").
 */

/* The source of a text. */
enum listing_place {
	LISTING_NOWHERE,
	LISTING_KEPT,       /* the profile has it */
	LISTING_EMBEDDED,   /* likewise, from the debug information */
	LISTING_REVISION,   /* the repository, at a revision */
	LISTING_DEBUGINFOD, /* a server of debug information */
	LISTING_DISK,       /* the disk now */
};
enum { LISTING_PLACE_COUNT = 6 };

/* Returns "kept by the recording", "in the repository at %s", … without the revision. Static. */
const char *listing_place_words(enum listing_place place);

/* Opens texts that the profiles do not have (diff/texts/texts.h). */
struct listing_opener {
	/*
	 * The whole file, as a descriptor that can be read from its start, which belongs to the caller; -1: it is not
	 * there. `build_id`: of the binary that the function is in; "". Called for each place from LISTING_REVISION on.
	 */
	int (*open)(
		void *context, enum diff_side side, enum listing_place place, const char *path, const char *build_id);
	void *context;
	const char *revision[DIFF_SIDES]; /* of LISTING_REVISION, for people; NULL: there is none */
};

struct listing_options {
	/* as --list has it (profile/function_pattern.h); NULL: none are chosen by name */
	const char *functions;
	size_t proven;     /* beside these, as many functions whose difference is proven, the largest first */
	size_t largest;    /* and as many of those with the greatest totals */
	bool all_lines;    /* of a function also lines without time, as far as there is text; else those near changes */
	bool assembly;     /* the instructions of lines, where profiles have the code */
	size_t line_bytes; /* of a line that are kept, a mark stands for the rest; 0: LISTING_LINE_BYTES */
	const struct listing_opener *opener; /* NULL: texts that the profiles have only */
};

/* The text of a function on one side. Lines are numbers of the file, from 1. */
struct listing_text {
	enum listing_place place;
	enum profile_source_proof proof;
	uint32_t file;                  /* string of the listing: its path as the profile has it; 0: not known */
	uint32_t first_line, last_line; /* of the function: its definition to its end; 0: not known */
};

/* Scaled, in the metric's unit, as of functions. */
struct listing_time {
	double self;    /* the line itself was executing */
	double inlined; /* the line itself, or code that was inlined at it */
	double total;   /* with all that was called from it; a stack counts once */
	double samples; /* behind the total; NAN: not known */
};

struct listing_row {
	uint32_t line[DIFF_SIDES]; /* 0: the side has no such line */
	uint32_t text[DIFF_SIDES]; /* string of the listing: without the line's end; 0: not known, or empty */
	uint32_t file; /* string of the listing: where the lines are, if not in the function's file; 0: there */
	struct listing_time time[DIFF_SIDES];
	struct diff_estimate total; /* with its interval, q and state; `same` where the function is not proven */
	bool is_changed;            /* the texts differ, or one side alone has the line */
	bool is_gap;                /* lines that are left out: no line, no time */
	/* Its instructions: listing.instructions[side] from this one on. */
	uint32_t first_instruction[DIFF_SIDES], instruction_count[DIFF_SIDES];
	/* The numbers of those left out, beyond the most of a line: how many, and the time in them. */
	uint32_t more_instructions[DIFF_SIDES];
	double more_time[DIFF_SIDES];
};

struct listing_function {
	uint32_t function; /* of the diff */
	bool is_named;     /* options.functions means it */
	struct listing_text text[DIFF_SIDES];
	struct listing_row *rows; /* owned */
	size_t row_count;
	/* Lines in other files than the function's: code of macros and of included files. They are rows behind the
	 * last. */
	size_t elsewhere_count;
};

struct listing {
	struct string_table *strings;       /* owned */
	struct listing_function *functions; /* owned; in the order of the diff */
	size_t function_count;
	size_t left_out; /* functions that options.functions names, beyond the greatest number that is listed */
	bool is_precise[DIFF_SIDES]; /* samples have precise addresses: no time is a line too far */
	struct listing_instruction *instructions[DIFF_SIDES]; /* owned: by row, then by address */
	size_t instruction_counts[DIFF_SIDES];
	bool has_assembly;             /* options.assembly asked for it */
	uint32_t revision[DIFF_SIDES]; /* string: that of LISTING_REVISION, for people; 0: none */
	/*
	 * The lines of these functions in the stacks of each side, and [place] the row of each, counted over all
	 * functions (PROFILE_NONE: it has none). Owned; NULL: there is no such side.
	 */
	struct diff_lines *lines[DIFF_SIDES];
	uint32_t *place_rows[DIFF_SIDES];
};

/* The most bytes of a line that a listing keeps, unless more are asked for. */
enum { LISTING_LINE_BYTES = 400 };

/* The most functions that one listing has. */
enum { LISTING_MOST_FUNCTIONS = 200, LISTING_MOST_ROWS = 1 << 17 };

/*
 * Lists functions of a diff; `profiles` are those that it was made of. ERROR_USAGE: the expression is malformed;
 * ERROR_NOT_FOUND: it means no function, with some that are similar.
 */
COMMON_MUST_CHECK
bool listing_create(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES],
	const struct listing_options *options, struct listing **listing, struct error *err);
void listing_destroy(struct listing *listing);

/*
 * Marks the rows that are of use without the whole text: shown[row]. These are the first, those with time and changed
 * ones, with a few around them, and gaps. Without all_lines, a listing has no others.
 */
void listing_mark_shown(const struct listing_function *listed, bool *shown);

static inline void listing_cleanup(struct listing **listing)
{
	listing_destroy(*listing);
}

static inline const char *listing_string(const struct listing *listing, uint32_t id)
{
	return string_table_get(listing->strings, id);
}
