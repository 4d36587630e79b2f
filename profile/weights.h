/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

struct profile;

/*
 * The meaning of numbers without a name: counts of samples, multiples of a sampling period, or other amounts (of time,
 * bytes), of which nobody knows how many samples they were added up from.
 *
 * Model. `n` numbers are above 0, one for each stack, and `sum` is their sum.
 * - Multiples: that n numbers have a common divisor of g or more by chance has a probability of about g^(1-n) (the sum
 * of k^-n over all k >= g). The divisor is the period where that is below 10^-9, and the numbers are not those of
 * someone who rounds: their sum is a million, or they are thirty. A power of two from 4 to 4,096 is no period but the
 * alignment of memory: such numbers are bytes.
 * - Amounts: a sampler meets stacks of all rates, evenly on a logarithmic scale, so that it meets a stack c times with
 * a probability in proportion to 1/c (Benford's law for counts), and most stacks a few times only. A sum of N above a
 * million is as rare as 10^6 / N. Numbers of which so few are small that both together have a probability below 10^-3
 * are amounts (such sums are the rule among amounts, and taking those for counts proves what is chance), if their sum
 * is a million at least; quotients by a divisor, ten thousand, unless the divisor is the period of a clock. So are
 * those whose sum is 10^9, which a sampler at 1 kHz makes of 32 CPUs in 9 hours.
 * - Else they are counts. Numbers of a few lines and a small sum, which could be either, are taken for what the format
 * is for.
 */
enum weights_kind { WEIGHTS_COUNTS, WEIGHTS_MULTIPLES, WEIGHTS_AMOUNTS };

/*
 * Decides on the numbers from every `stride`th of `values`, `count` of them; zeros are ignored. `*period`: the divisor
 * for WEIGHTS_MULTIPLES, else 1.
 */
enum weights_kind weights_kind(const int64_t *values, size_t count, size_t stride, int64_t *period);

/* Returns the greatest common divisor of all numbers; 0 if all are 0. */
int64_t weights_divisor(const int64_t *values, size_t count, size_t stride);

/*
 * Returns whether a period may be that of a clock in nanoseconds: a whole number of ticks a second, from 1 to 10,000.
 */
bool weights_is_clock_period(int64_t period);

/*
 * The numbers of one file alone may look like counts, and those of another one of the same kind like amounts. Gives
 * both profiles the same value types, if their numbers have no name in the file (profile->weight_is_unnamed): where
 * those of one are amounts, those of the other are amounts too, in the finer of both units. To be called before
 * profiles are merged or compared. ERROR_LIMIT: numbers do not fit the finer unit; on failure the profiles may only be
 * destroyed.
 */
COMMON_MUST_CHECK
bool weights_unify(struct profile *a, struct profile *b, struct error *err);

/*
 * Decides what the numbers of value type `weight` are, in a profile that has no other count of samples. Value type 0
 * becomes their quotients by the period, or stays 1 for each entry and is marked as not known in counts_of.
 */
void weights_settle(struct profile *profile, uint32_t weight);
