/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/*
 * Compares two walks of one stack, given as addresses from the leaf on; callers have their return addresses. `*common`
 * is the number of equal frames before the first difference, or before the end of one walk.
 */
enum profile_comparison verify_compare(
	const uint64_t *ours, size_t our_count, const uint64_t *reference, size_t reference_count, size_t *common);
