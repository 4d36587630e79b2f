/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The numbers by which two functions are one. None asks whether they take as much time: all are conventions, tried on
 * the names and profiles of tests/ (docs/decisions/122-one-matching.md). Shares are parts of 1, unless said otherwise.
 */

/* ---- detail.c ---- */

/* Leading frames that are left out have nearly all of a side's time below them, and next to none themselves. */
static const double detail_least_led = 0.9;
static const double detail_most_self = 0.02;
/* By this part of that time the frames behind them are of functions that the other side has. */
static const double detail_least_behind = 0.5;

/* ---- frames.c ---- */

/*
 * A function is moved if its callees have taken its difference from, or left it to, the places right below the frames
 * that are above it: at least a share of it, and below one function (the partner) at least another share. Counting
 * noise of so many standard deviations is allowed.
 */
static const double frames_min_found_share = 0.7, frames_min_partner_share = 0.4, frames_counting_sigmas = 2;

/* ---- moved.c ---- */

static const double moved_min_samples = 10; /* fewest samples of a function that is considered */
static const double moved_time_tolerance =
	0.3;                          /* largest difference between a function's time and what its caller gained */
static const double moved_sigmas = 3; /* allowance for counting noise beyond the tolerances */
static const double moved_min_callers = 0.6;     /* least share of each function's time below shared callers */
static const double moved_min_callees = 0.6;     /* least share of callees' time in the same functions */
static const double moved_min_few_callees = 0.8; /* the same where that time is small */
/* functions with less than this share of time in callees are leaves */
static const double moved_leaf_share = 0.3;
/* one callee says little: more of the callees' time than this must not be in a single one */
static const double moved_most_of_one_callee = 0.8;
/* of leaves: adler32 and crc32, another checksum in the same place, have 0.6 of their letters in common */
static const double moved_min_name_similarity = 0.7;
/* largest change of the caller's total, as a share of the time that was inlined or split off */
static const double moved_flat_share = 0.5;
/*
 * A compiler at run time inlines differently in every process: a function's self time may then count as its caller's or
 * its callee's. A difference of self time that these neighbours make up for has moved between them.
 */
static const double moved_min_neighbours_share = 0.7;

/* ---- renumber.c ---- */

/*
 * What a difference costs, the most telling first. Shares are in parts of 1. They are weights of judgement, in the
 * order of docs/decisions/122-one-matching.md, whose tests hold what they decide.
 */
static const double renumber_code_cost = 4;    /* machine code is known and another; half of it: not known */
static const double renumber_file_cost = 2;    /* times the part of the file's path that is another */
static const double renumber_callers_cost = 2; /* times the share of callers that are others */
static const double renumber_callees_cost = 2; /* likewise */
static const double renumber_self_cost = 0.5;  /* times the difference of self time in parts of the total */
static const double renumber_name_cost = 1;    /* the name is another, where names tell functions apart */
static const double renumber_number_cost =
	0.1; /* likewise where only numbers differ, and the sides have other numbers */
static const double renumber_order_cost = 0.5;    /* of as many functions with lines, another is at this place */
static const double renumber_module_cost = 1;     /* the module is another one */
static const double renumber_refused = 1e6;       /* the cost of functions that are not one */
static const double renumber_least_margin = 0.25; /* by which an assignment has to be better than another one */
static const double renumber_margin_noises = 2;   /* in addition, in terms of what counting noise makes of a cost */
static const double renumber_least_overlap = 0.2; /* of callers, and of callees that take most of the time */
