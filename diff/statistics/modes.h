/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/statistics/experiment.h"

/*
 * Modes: what a run-time compiler decides anew in every process.
 *
 * Model: V8 and HotSpot run each function in one of several tiers and inline it or not, depending on when their
 * samplers and queues run. A function that is inlined has neither a frame nor a name: its self time is that of the
 * function it is inlined into, and what it calls is called from there. So a decision moves time between functions that
 * call each other, and does not make any: what a compiled function has more, those above and below it have less, or
 * compiled code whose name nobody knows. Other
 * functions have no such bound: those of the run time that compiled code calls (an iterator, a comparison) are not
 * called at all if a better tier inlines them, and memory that is not allocated is neither cleared nor collected.
 */

/*
 * Fills row.by_tier and row.shift of every row, if the program is compiled at run time. `shift` is the part of the
 * row's difference that decisions may have moved: the self time that compiled functions above and below it have more or
 * less in the other direction. To a total it counts, of those below, what they have more or less where those above call
 * them directly; and to a node what its function has at other nodes. INFINITY: there is no bound.
 */
void modes_mark_rows(const struct diff_build *build, struct experiment *experiment);

/* Returns a row's result without the part of the difference that decisions may have moved. */
struct row_result modes_without_shift(struct row_result result, double shift);
