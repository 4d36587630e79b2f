/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/model.h"

/*
 * The waits of threads: for what, in which functions, and who ended them. It is of all waits of a recording, whatever
 * the metric is that is shown. All values are nanoseconds as they were recorded.
 *
 * A wait belongs to all functions of its stack, and has one site in the program: the innermost function of the user's
 * own code. Where there is none it is the innermost one that is not the system's, else the innermost one at all. The
 * same holds of the function that ended a wait.
 */
struct waits;

/* Adds up the waits. NULL in `*waits`: no side has waits. */
void waits_create(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES], struct waits **waits);
void waits_destroy(struct waits *waits);

static inline void waits_cleanup(struct waits **waits)
{
	waits_destroy(*waits);
}

/* Waiting time by class; all are 0 on a side without waits. */
typedef int64_t waits_sums[PROFILE_WAIT_COUNT];

/* Returns the waits of all threads together. */
const int64_t *waits_total(const struct waits *waits, enum diff_side side);

/* Returns all waits in a function of the diff and what it calls; recursion counts once. */
const int64_t *waits_in(const struct waits *waits, enum diff_side side, size_t function);

/* Returns the waits whose site is the function. */
const int64_t *waits_at(const struct waits *waits, enum diff_side side, size_t function);

/* A function that ended waits, or, of a lock, one that waited. */
struct waits_releaser {
	uint32_t site;             /* function of the diff: the site of the waits; of a lock: which lock it is */
	uint32_t key;              /* which function it is, among those of the list */
	const char *name, *module; /* borrowed from the profile or the diff; not cleaned */
	int64_t ns;                /* how long these waits were */
};

/* Returns those who ended waits whose site is the function, by falling time; `*count` of them. */
const struct waits_releaser *waits_releasers(
	const struct waits *waits, enum diff_side side, size_t function, size_t *count);

/* Waits that end in one node, of one lock, ended by one function. */
struct waits_release {
	uint32_t node; /* of the diff: the frame of their class; 0 if the wait has no sample */
	uint32_t lock; /* index in the profile's locks; PROFILE_NONE: none */
	uint32_t by;   /* function of the profile: the site of what ended them; PROFILE_NONE: not known */
	int64_t ns;    /* how long these waits were */
};

/* Returns them by falling time; `*count` of them. */
const struct waits_release *waits_releases(const struct waits *waits, enum diff_side side, size_t *count);

/*
 * A lock, or all locks with one name in one module, such as those of several processes of a program. Idle waits do not
 * count.
 */
struct waits_lock {
	const char *name, *module; /* borrowed from the profile; "": it is in no named variable */
	uint32_t number;           /* in the order in which the recording met them, from 1 */
	int64_t ns;                /* how long threads waited for it */
	const struct waits_releaser *callers, *releasers; /* sites of waits, and who ended them; by falling time */
	size_t caller_count, releaser_count;
};

/* Returns the locks of a side, by falling time; `*count` of them. */
const struct waits_lock *waits_locks(const struct waits *waits, enum diff_side side, size_t *count);

/* Returns the lock of the other side with this one's name and module; NULL: there is none, or this one has no name. */
const struct waits_lock *waits_find_lock(const struct waits *waits, enum diff_side side, const struct waits_lock *lock);

/* Appends the name of a lock: "cache_mutex", "lock 3 (no name)". */
void waits_lock_words(const struct waits_lock *lock, struct buffer *out);

/* The divisor that makes a time of waits one of a request, a run or a second; 0: none of them is known. */
struct waits_rate {
	double count;
	const char *words; /* "per request", "per run", "per second". Static */
	double answer_ns;  /* of requests: how long one takes on average; NAN: not known */
};

struct waits_rate waits_rate(const struct waits *waits, enum diff_side side);
