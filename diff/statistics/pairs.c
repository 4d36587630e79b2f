/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/pairs.h"

#include "diff/statistics/layouts.h"

/* Returns whether both runs of pair i were made before `next_ns`. */
static bool is_pair(const struct profile_run *base, const struct profile_run *head, int64_t next_ns)
{
	return base->whole_command && head->whole_command && base->start_unix_ns > 0 && head->start_unix_ns > 0 &&
	       base->start_unix_ns < next_ns && head->start_unix_ns < next_ns;
}

bool pairs_were_made(const struct profile *base, const struct profile *head)
{
	int64_t next_ns = INT64_MAX;

	if (base->run_count < 2 || base->run_count != head->run_count || layouts_count(base) > 1 ||
		layouts_count(head) > 1)
		return false;
	for (size_t i = base->run_count; i-- > 0;) {
		const struct profile_run *b = &base->runs[i], *h = &head->runs[i];

		if (!is_pair(b, h, next_ns))
			return false;
		next_ns = b->start_unix_ns < h->start_unix_ns ? b->start_unix_ns : h->start_unix_ns;
	}
	return true;
}
