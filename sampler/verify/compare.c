/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/verify/compare.h"

enum profile_comparison verify_compare(
	const uint64_t *ours, size_t our_count, const uint64_t *reference, size_t reference_count, size_t *common)
{
	size_t i = 0;

	while (i < our_count && i < reference_count && ours[i] == reference[i])
		i++;
	*common = i;
	if (i == our_count && i == reference_count)
		return PROFILE_COMPARISON_EQUAL;
	if (i == reference_count)
		return PROFILE_COMPARISON_LONGER;
	return i == our_count ? PROFILE_COMPARISON_SHORTER : PROFILE_COMPARISON_OTHER;
}
