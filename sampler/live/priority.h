/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <time.h>

/*
 * The scheduling priority of a recorder. It needs little CPU time, but needs it before its rings are full: on a machine
 * with a hundred busy threads for each CPU its turn would come too late, and attaching would take minutes. While it
 * records it therefore has a high priority, if that is permitted and it was started with the normal one. At the end it
 * keeps an increased priority for a short time only: the user should not wait behind everything that is being recorded,
 * and the target should not be delayed while large files are read.
 */
struct priority {
	bool is_real_time, is_nice, is_timed;
	timer_t timer; /* the timer that ends the increased priority, while is_timed */
};

/*
 * Raises the calling thread's priority: real time if permitted, else the best nice value. A child that is forked later
 * may inherit it.
 */
void priority_raise(struct priority *priority);
/*
 * Call it after priority_raise(): keeps an increased priority for the next tenth of a second of the process's CPU time.
 * Threads that are started then inherit it.
 */
void priority_hurry(struct priority *priority);
void priority_restore(struct priority *priority);
