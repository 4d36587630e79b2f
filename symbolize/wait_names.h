/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/*
 * Returns what a thread waits for in functions of the kernel and of the C library, for recordings that tell no more
 * than the stack. Everything else that knows classes knows more: a system call, its descriptor.
 *
 * Returns PROFILE_WAIT_NONE for functions that say nothing, such as schedule(). `name` is as the binary has it:
 * epoll_wait, __x64_sys_poll, __libc_accept and __GI___nanosleep are known by what remains without their prefixes.
 */
enum profile_wait_class wait_class_of_function(const char *name);

/*
 * The meaning of a futex: whether it is a lock or a condition, or a timer.
 *
 * Model: what waits is built in layers, each from the one below. The C library makes mutexes and condition variables of
 * futexes; run times make locks of condition variables (HotSpot's monitors, CPython's GIL); libraries make queues of
 * such locks. The highest layer whose function is in the stack knows what the thread waits for; in one layer the
 * function nearest to the leaf does. Without any function that is known the futex stays a lock.
 */
struct wait_means {
	enum profile_wait_class wait_class; /* PROFILE_WAIT_NONE: nothing is known */
	unsigned int layer;
};

/*
 * Returns what a function waits with. `is_of_system`: it is the C library's, else it is known by its full name alone.
 */
struct wait_means wait_means_of_function(const char *name, bool is_of_system);
