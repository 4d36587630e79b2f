/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/model.h"

/*
 * Processes and threads that tools write as the first frame of their stacks, as folded stacks do: `java;main;run`,
 * `worker-12;run`. They are no functions: what they are called becomes the process and the thread of the samples, and
 * the stacks begin behind them.
 *
 * A frame is one by its position and its form. It is the first of its stacks, alone at its place, and stands in none of
 * them further on. And
 *
 *	numbered	it is called by a number as no function is, `worker-12`, `Thread-7`, `app-100/101`, or in a form
 *			of profile_frame_owner();
 *	entered		it "calls" the function in which a program or a thread begins, as `java` does in
 *			`java;_start;main` and `java;__clone3;start_thread`, which nothing calls. Where nearly all of
 *			the time is below such frames, the tool writes one in front of each stack, and each first frame
 *			is one.
 *
 * A plain word before others, as `app` in `app;main;run`, may be a function, also where it is the only one whose file
 * is not told: it stays one, and a comparison leaves it out where the other side calls a process so
 * (diff/match/detail.h). So does what is in brackets, since tools write `[unknown]` for functions as well. Where the
 *profile tells processes, as recordings do, there is nothing to find.
 *
 * Replaces `*profile` where there is such a frame.
 */
COMMON_MUST_CHECK
bool owners_take(struct profile **profile, struct error *err);
