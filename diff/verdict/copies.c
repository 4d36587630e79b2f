/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/copies.h"

#include <stdlib.h>
#include <string.h>

/* Times in whole seconds are rounded: recordings of two machines may have started in the same second. */
static const int64_t second_ns = 1000000000;

struct dated_run {
	int64_t start_ns, duration_ns;
	enum diff_side side;
};

static int by_date(const void *a, const void *b)
{
	const struct dated_run *x = a, *y = b;

	return x->start_ns != y->start_ns ? ORDER(x->start_ns, y->start_ns) : ORDER(x->duration_ns, y->duration_ns);
}

static size_t copies_collect_runs(const struct diff_build *build, struct dated_run *runs)
{
	size_t count = 0;

	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct profile *profile = build->profiles[side];

		for (size_t i = 0; i < profile->run_count; i++)
			if (profile->runs[i].start_unix_ns % second_ns != 0)
				runs[count++] = (struct dated_run){ profile->runs[i].start_unix_ns,
					profile->runs[i].duration_ns, (enum diff_side)side };
	}
	return count;
}

void copies_name(const struct diff_build *build, char *text, size_t size)
{
	size_t count = build->profiles[DIFF_BASE]->run_count + build->profiles[DIFF_HEAD]->run_count;
	CLEANUP(cleanup_free) struct dated_run *runs = memory_alloc((count + 1) * sizeof(*runs));
	bool on_both = false, on_one[DIFF_SIDES] = { false };

	count = copies_collect_runs(build, runs);
	qsort(runs, count, sizeof(*runs), by_date);
	for (size_t i = 1; i < count; i++) {
		if (by_date(&runs[i - 1], &runs[i]) != 0)
			continue;
		if (runs[i - 1].side != runs[i].side)
			on_both = true;
		else
			on_one[runs[i].side] = true;
	}
	text[0] = '\0';
	if (on_both)
		snprintf(text, size, "base and head contain the same recording; was one file given for both?");
	else if (on_one[DIFF_BASE] || on_one[DIFF_HEAD])
		snprintf(text, size,
			"%s contains the same recording more than once; a copy is not another run and proves nothing",
			on_one[DIFF_BASE] ? "base" : "head");
}
