/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/*
 * Two walks of one stack, as addresses from the leaf on: of callers the return addresses. `*common` is how many frames
 * are equal before the walks part, or before one of them ends.
 */
enum profile_comparison verify_compare(
	const uint64_t *ours, size_t our_count, const uint64_t *reference, size_t reference_count, size_t *common);
