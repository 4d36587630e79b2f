/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/*
 * The scheduling priority of a recorder. It needs little CPU time, but needs it before its rings are full: on a machine
 * with a hundred busy threads for each CPU its turn would come too late, and attaching would take minutes. While it
 * records it therefore has a high priority, if that is permitted and it was started with the normal one. At the end it
 * keeps an increased priority for a short time only: the user should not wait behind everything that is being recorded,
 * and the target should not be delayed while large files are read.
 *
 * A recorder that needs much CPU time is not let before others: the increased priority is for half of a CPU, of which
 * two seconds can be saved up, and is given back when they are used. Other programs may make work for the recorder.
 */
struct priority {
	bool is_real_time, is_nice, is_timed;
	bool is_counted;                        /* the members below hold a time */
	int64_t seen_ns, seen_cpu_ns, saved_ns; /* at the last priority_is_spent(); CPU time that may be used by then */
	timer_t timer;                          /* the timer that ends the increased priority, while is_timed */
};

/*
 * Raises the calling thread's priority: real time if that is permitted and wanted, else the best nice value. A child
 * that is forked later may inherit it.
 */
void priority_raise(struct priority *priority, bool may_be_real_time);

/*
 * Counts the CPU time that the process has used by `cpu_ns`, at the time `now_ns`, both in ns since any moment. True
 * once, when it has used more than it may with an increased priority, which is then the usual one again. Call it
 * every second or more often.
 */
bool priority_is_spent(struct priority *priority, int64_t now_ns, int64_t cpu_ns);

/*
 * Call it after priority_raise(): keeps an increased priority for the next tenth of a second of the process's CPU time.
 * Threads that are started then inherit it.
 */
void priority_hurry(struct priority *priority);
void priority_restore(struct priority *priority);
