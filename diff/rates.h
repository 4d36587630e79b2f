/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/model.h"

/*
 * Fills `per_s` with how many requests a second a side answered, or sent where it answered none, in equal parts of its
 * longest run, whose length is set. Returns their number; 0 where nothing tells when they were.
 */
enum { DIFF_MOST_RATES = 300 };
size_t diff_request_rates(const struct diff *diff, const struct profile *profile, enum diff_side side,
	double per_s[static DIFF_MOST_RATES], int64_t *length_ns);
