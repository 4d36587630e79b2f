/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/probability/step_up.h"

#include "common/common.h"

#include <math.h>
#include <stdlib.h>

static int step_up_by_p(const void *a, const void *b)
{
	const struct step_up_member *x = a, *y = b;

	return x->p != y->p ? ORDER(x->p, y->p) : ORDER(x->id, y->id);
}

void step_up(struct step_up_member *members, size_t count)
{
	double least = 1;

	if (count > 0)
		qsort(members, count, sizeof(*members), step_up_by_p);
	for (size_t i = count; i-- > 0;) {
		least = fmin(least, members[i].p * (double)count / (double)(i + 1));
		members[i].q = least;
	}
}
