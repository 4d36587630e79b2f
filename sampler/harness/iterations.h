/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/harness/results.h"

/*
 * Finds how many iterations the rounds of a window have, and what was measured in it.
 *
 * A harness tells the time of each round, and in its results one number of iterations for all of them, beside quartiles
 * of the time of an iteration. Two models are tried: all rounds have the same number (pytest-codspeed, divan); or the
 * number grows by a constant from round to round (criterion's linear sampling), and the file has its mean. A model
 * holds if the rounds, divided so, have the quartiles of the file. If neither does, as where rounds are parts of a
 * sample (criterion's iter_batched), or where one round holds all (tinybench), the file alone is believed: then nothing
 * is known of single rounds, no warm-up is left out, and rounds count as independent of each other.
 */

/* `stats` NULL: the harness left no results, and a round counts as one iteration. */
COMMON_MUST_CHECK
bool iterations_measure(struct harness_window *window, const struct results_stats *stats, struct error *err);
