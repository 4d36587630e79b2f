/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/model.h"

/*
 * The source lines of functions with their times, by the diff's attribution: what counts for a function counts for one
 * of its lines. A location in inlined code is at a line of each function that it is in. A function that
 * was renamed has its lines of both sides under its later name. Lines are part of no identity:
 * the lines of two versions are paired by diff/listing/, or by diff_changed_line().
 */

/* A line of a function on one side. Values are scaled, in the metric's unit. */
struct diff_place {
	uint32_t function;   /* of the diff */
	uint32_t of;         /* the function of the profile that was met at this line first; PROFILE_NONE: not known */
	uint32_t file, line; /* file: string of the profile; "" and 0: not known */
	double self;         /* the line itself, with the interpreter that runs it */
	double inlined;      /* the line itself, and code that was inlined at it */
	double total;        /* with all that was called from it; once per stack, however often the line is on it */
	double samples;      /* behind `total`; NAN: it is not known how many there are */
};

/* Some lines and what is on top of them, as a trie of the lines that stacks have: each once, the outermost first. */
struct diff_chain {
	uint32_t parent; /* a smaller id; 0: none */
	uint32_t place;
};

/* The lines of some functions in all stacks of one side. */
struct diff_lines {
	struct diff_place *places; /* owned; in the order in which stacks have them */
	size_t place_count;
	struct diff_chain *chains; /* owned; 0 is the chain without lines */
	size_t chain_count;
	uint32_t *stack_chains; /* owned; [stack of the profile] its chain; 0 also where the diff has no such stack */
	/*
	 * [stack of the profile] what samples that end there were executing: owners[first_owner[stack]] up to
	 * owners[first_owner[stack + 1]]. The first one is the line itself (PROFILE_NONE: it is not wanted), then come
	 * those that it was inlined at. Both owned.
	 */
	uint32_t *owners, *first_owner;
	double *stack_values; /* owned; [stack of the profile] scaled value of the samples that end there */
};

/*
 * Finds the lines of the functions that are wanted ([function of the diff]) on one side, in one pass over the stacks of
 * its profile, which is the one that the diff was made of.
 */
void diff_lines_create(const struct diff *diff, enum diff_side side, const struct profile *profile, const bool *wanted,
	struct diff_lines **lines);
void diff_lines_destroy(struct diff_lines *lines);

static inline void diff_lines_cleanup(struct diff_lines **lines)
{
	diff_lines_destroy(*lines);
}

/*
 * Returns whether a line is in the file that defines its function: code of a macro, and of a file that was included, is
 * not.
 */
static inline bool diff_place_is_own(const struct profile *profile, const struct diff_place *place)
{
	return place->of != PROFILE_NONE && place->file == profile->functions[place->of].file;
}

/* ---- The line that changed most ---- */

/* A source line of a function with its self value on both sides, in scaled units. */
struct diff_line {
	uint32_t line; /* in head; 0: lines are not known */
	double base, head;
};

/*
 * The line of a function whose self value differs most between the sides, or has most where there is one side; of the
 * lines that are in the function's own file. Lines of base and head are paired in their order of numbers where the
 * function's code has as many sampled lines, else by number.
 */
void diff_changed_line(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES], uint32_t function,
	struct diff_line *line);

/* The same of each function whose own change is proven, in a diff of two sides: [function] the line; 0 for all others.
 */
void diff_changed_lines(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES], uint32_t *lines);

/* Appends where that is: "json.py:41"; nothing where no line is known. Not cleaned. */
void diff_append_place(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES], uint32_t function,
	struct buffer *out);
