/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <time.h>

/*
 * A recorder needs little CPU time, but needs it before its rings are full: on a machine with a hundred busy threads a
 * CPU its turn would come too late, and attaching would take minutes. While it records it therefore goes first, where
 * that is permitted, unless it was itself started with another priority than the usual. At its end it still goes before
 * most others, but not for long: who waits for a recording should not wait behind all that is being recorded, nor be in
 * their way while large files are read.
 */
struct priority {
	bool is_real_time, is_nice, is_timed;
	timer_t timer; /* of the end, while is_timed */
};

/* Of the calling thread. Real time where it may be had, else the best of the usual; a child that is forked later may
 * have that too.
 */
void priority_raise(struct priority *priority);
/* After priority_raise(): for the next tenth of a second of the process's CPU time. Threads that are started then have
 * it too. */
void priority_hurry(struct priority *priority);
void priority_restore(struct priority *priority);
