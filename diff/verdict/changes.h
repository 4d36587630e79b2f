/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Makes one change of the proven differences that are one and the same, seen from further up or down the stack:
 * `lookup` → `pthread_mutex_lock` → `futex_wait` (struct diff_change). The model, on the union tree:
 *
 * A function has one difference: that of its total if it is proven, else that of its self time. Where the program is
 * in it all the time, or it is an interpreter that runs others, only its self time is its own.
 *
 * Two functions have the same difference if nine tenths of the larger one are at both: of the nodes of the inner
 * function that are below the outer one. Of several such functions above it, a function follows the innermost, and
 * of several below it, a function leads to the one that has most of its difference. A chain is what these links join.
 *
 * A change is of others, and not counted, if other changes say all of it: that of a function in which the program is
 * all the time; that of code of the system, or of a class of waits, of which nine tenths are below the user's functions
 * and libraries that are listed themselves; of exact counts, that of functions whose own code does nothing else. Where
 * there is nothing else in a direction, it is counted.
 */

/* Fills changes, change_functions and change_count, instead of earlier ones. Needs the states and wait_sites. */
void changes_collect(struct diff_build *build);

/* The change that the verdict names is listed first, however large others are. Needs the cause and the named wait. */
void changes_put_named_first(struct diff *diff);

/* Puts the functions' final ids in place. new_ids: [function] */
void changes_reorder(struct diff *diff, const uint32_t *new_ids);
