/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/listing/listing.h"

/* What the tests open pages of; the tests know what is in them. */
struct kind {
	const char *name;
	struct profile *(*profile)(int side); /* that of a side; owned by the caller */
	enum {
		KIND_BOTH,
		KIND_SINGLE,     /* of head alone */
		KIND_EMPTY_BASE, /* head, beside a base without a sample */
		KIND_EMPTY_HEAD, /* that profile as base, beside a head without a sample */
	} sides;
	const char *title; /* NULL: from the command */
	/* Its lines; owned by the caller. NULL: none. */
	struct listing *(*listing)(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES]);
};

/* NULL when there is none of that name. */
const struct kind *kind_find(const char *name);

/* One a line. */
void kind_list(void);

/* ---- Profiles of kinds that have a file of their own ---- */

/* Functions of known bottlenecks; tests/viewer/browser/bottlenecks.js knows them. */
struct profile *kinds_bottlenecks(int side);

/* A program of Python, with the frames of its interpreter, a C extension and the standard library. */
struct profile *kinds_python(int side);

/* A service that answers requests: those of head take longer, and it calls out. */
struct profile *kinds_requests(int side);

/* Says that an event with this name happened five times. */
void kinds_requests_of_event(struct profile *profile, const char *event);

/* Threads that wait for known times; tests/viewer/waiting.test.js knows them. */
struct profile *kinds_waits(int side);

/* The same beside other programs that want the CPUs, in head more than in base. */
struct profile *kinds_waits_busy(int side);

/* Functions line by line; tests/viewer/lines.test.js knows them. The large one has a function of 5,000 lines beside. */
struct profile *kinds_lines(int side);
struct profile *kinds_lines_large(int side);
struct listing *kinds_lines_listing(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES]);

/* One stack of 2,000 different functions; head's leaf takes half as much again. */
struct profile *kinds_large_deep(int side);

/* 200,000 functions below 200 callers. */
struct profile *kinds_large_functions(int side);

/* A run of 50 frames that has nearly all the time, and changes 40 rows below it. */
struct profile *kinds_trunks(int side);

/* 10,000 threads with a timeline. */
struct profile *kinds_large_threads(int side);

/* 4,500 frames in a timeline, and a thread that was sampled every tenth millisecond. */
struct profile *kinds_large_deep_timeline(int side);

/* A timeline of a million events, 200 threads and stacks of up to 2,000 frames. */
struct profile *kinds_large_timeline(int side);

/* A tree of a million nodes over 20,000 functions; each side lacks the time of a quarter of them. */
struct profile *kinds_large_huge(int side);
