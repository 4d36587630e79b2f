/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/probability/probability.h"
#include "profile/profile.h"

/*
 * Returns whether run i of base and run i of head are runs of whole commands that were made one after the other, as
 * `bench` makes them: before both runs of the next pair. Runs of several layouts are no pairs, since these differ by
 * more.
 */
bool pairs_were_made(const struct profile *base, const struct profile *head);

/*
 * Pairs of runs that vary wildly. On a machine where other programs come and go a few runs take a third more, or twice
 * as much: their variance says little of the others, and Student's t proves nothing. Ranks do not mind. A pair that is
 * an outlier among the differences (Iglewicz and Hoaglin 1993), which does not depend on where their middle lies, is
 * what tells such runs.
 *
 * False: there is no such pair, or there are fewer than 7 pairs, of which ranks would prove nothing, or more than
 * SIGNED_RANK_MOST, whose mean is normal. `differences` are logarithms of head over base.
 */
bool pairs_by_ranks(const double *differences, size_t count, struct signed_rank *result);
