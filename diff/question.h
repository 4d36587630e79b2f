/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/file_pairs.h"
#include "diff/groups.h"
#include "diff/neighbours.h"

/*
 * A question about a profile or a comparison: about which part of the samples, and who calls some functions. `report`
 * and `diff` share its options.
 */
enum { QUESTION_MOST_WHERE = 8, QUESTION_WHERE_BYTES = 1024 };
struct question {
	struct profile_selection selection; /* borrowed texts */
	struct profile_where where[QUESTION_MOST_WHERE];
	char where_texts[QUESTION_MOST_WHERE][QUESTION_WHERE_BYTES];
	const char *by; /* borrowed: the key of groups; NULL: none */
	bool callers, callees;
	/* The outputs: whether text has ids, and how long lists and the text may be; 0: as long as they are. */
	bool has_ids;
	uint64_t top, max_lines;
};

/* Adds a condition, as "thread=worker" (--where). */
COMMON_MUST_CHECK
bool question_add_where(struct question *question, const char *text, struct error *err);

/* Returns whether anything is asked, other than how long the answer may be. */
bool question_is_asked(const struct question *question);

/* Returns whether it is about the benchmarks of suites and nothing else, which the list of benchmarks answers. */
bool question_is_of_benchmarks(const struct question *question, const struct profile *profile);

/* Checks the options together. ERROR_USAGE: an option that needs another one. */
COMMON_MUST_CHECK
bool question_check(const struct question *question, struct error *err);

/* The answer to it. */
struct answer {
	struct diff *whole;                   /* owned: of all samples */
	struct diff *part;                    /* owned: of those that are asked about */
	struct profile *profiles[DIFF_SIDES]; /* owned: those of the part */
	struct profile *joined[DIFF_SIDES]; /* owned: all samples, where the whole was made of other runs; else NULL */
	const struct profile *all[DIFF_SIDES]; /* borrowed: those of all samples, where these are shown */
	struct diff_file_pairs *files;         /* owned: of the whole; NULL: nobody asks about files of two sides */
	struct diff_groups *groups;            /* owned; NULL: nobody asks */
	struct diff_neighbours *neighbours;    /* owned; NULL: nobody asks */
	bool *meant;                           /* owned: [function of the part] whose they are; NULL likewise */
};

/*
 * Compares, or looks at, what is asked about; profiles[DIFF_BASE] is NULL of a single profile. ERROR_NOT_FOUND: no
 * function is called so. The answer is to be released in any case.
 */
COMMON_MUST_CHECK
bool question_answer(const struct question *question, const struct profile *const profiles[DIFF_SIDES],
	const struct diff_options *options, struct answer *answer, struct error *err);
void answer_deinit(struct answer *answer);
