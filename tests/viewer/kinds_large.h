/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/diff.h"

/* Profiles of sizes that hurt; see kinds.h. */

/* One stack of 2,000 different functions; head's leaf takes half as much again. */
void kinds_large_deep(struct profile *profiles[DIFF_SIDES]);

/* 200,000 functions below 200 callers. */
void kinds_large_functions(struct profile *profiles[DIFF_SIDES]);

/* 10,000 threads with a timeline. */
void kinds_large_threads(struct profile *profiles[DIFF_SIDES]);

/* 4,500 frames in a timeline, and a thread that was sampled every tenth millisecond. */
void kinds_large_deep_timeline(struct profile *profiles[DIFF_SIDES]);

/* A timeline of a million events, 200 threads and stacks of up to 2,000 frames. */
void kinds_large_timeline(struct profile *profiles[DIFF_SIDES]);

/* A tree of a million nodes over 20,000 functions; in the diff, each side lacks the time of a quarter of them. */
void kinds_large_huge(struct profile *profiles[DIFF_SIDES]);
void kinds_large_huge_diff(struct profile *profiles[DIFF_SIDES]);
