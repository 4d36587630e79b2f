/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Threads that are idle by their life: workers of a pool without tasks, threads that look after something now and then.
 * Neither a system call nor a name tells that they wait for work; that they do nothing else does.
 *
 * Model: a site is a path of functions, from a thread's first one to that which waits, without those of the C library
 * and the kernel, and a class. All waits at a site are idle if the threads that wait there at all
 *
 *	- spend at least 90 % of their time there. A thread that also works has tasks, which its waits hold up;
 *	- lived for at least half of the recording. A thread that is made for one request waits at one site, too;
 *	- have others beside them in their process. A program of one thread waits for what it was started for.
 *
 * A timer's site is judged by the path instead: 90 % of the lives of its threads are below the function that sleeps,
 * and it waits there for no work (an event loop, a client). Such a thread sleeps between its chores, however long these
 * take; so it is of one class in every run, however busy the machine.
 *
 * Waiting for a CPU is no part of what threads spend their time with, though of how long they lived: other programs
 * decide how long it is. Sites are judged as a whole, not thread by thread, so that the threads of one pool are of one
 * class. Of classes, the model is about conditions, timers, and the network in processes that are known to call nobody.
 * A mutex is never idle, since somebody holds it.
 *
 * What it cannot tell: a pool with less than a tenth of its threads' time in tasks, all of whose waiting is within the
 * tasks and at one site. Rules of waits can (`keep function Job::run*`).
 */

struct profile;

/*
 * Gives waits that are idle by their threads' lives the class idle, in all profiles: those that are compared with each
 * other. A site that occurs in several of them is idle if it is so in each, lest an unchanged pool becomes a change.
 * `kept`, by profile, by stack without its last frame: what stays as it is, because a rule says so; NULL: nothing. On
 * failure the profiles may only be destroyed.
 */
COMMON_MUST_CHECK
bool profile_find_idle_lives(struct profile *const *profiles, const bool *const *kept, size_t count, struct error *err);
