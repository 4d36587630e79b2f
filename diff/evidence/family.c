/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"
#include "diff/evidence/constants.h"
#include "diff/evidence/evidence.h"
#include "diff/probability/probability.h"

#include <math.h>
#include <stdlib.h>

bool evidence_is_hypothesis(double samples, double part)
{
	return samples >= evidence_least_samples && part >= evidence_least_part;
}

double evidence_question_adjustment(void)
{
	return step_up_default_q / evidence_total_rate;
}

double evidence_look_adjustment(unsigned int look)
{
	return look > 0 ? (double)look * (look + 1) : 1;
}

/* Equal counts are beside each other, the greatest p first. */
static int by_counts(const void *a, const void *b)
{
	const struct evidence_member *const *x = a, *const *y = b;

	for (int side = 0; side < EVIDENCE_SIDES; side++)
		if ((*x)->samples[side] != (*y)->samples[side])
			return ORDER((*x)->samples[side], (*y)->samples[side]);
	return (*x)->p != (*y)->p ? ORDER((*y)->p, (*x)->p) : ORDER(*x, *y);
}

static bool is_same_hypothesis(const struct evidence_member *a, const struct evidence_member *b)
{
	return a->samples[0] == b->samples[0] && a->samples[1] == b->samples[1];
}

/* Makes a test of each hypothesis, whose id is that of the first member in order. Weights have a mean of 1. */
static size_t list_hypotheses(struct evidence_member *const *members, size_t count, struct step_up_member *hypotheses)
{
	size_t used = 0;
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		if (i > 0 && is_same_hypothesis(members[i - 1], members[i]))
			continue;
		hypotheses[used++] =
			(struct step_up_member){ .p = members[i]->p / members[i]->part, .id = (uint32_t)i };
		sum += members[i]->part;
	}
	for (size_t i = 0; i < used; i++)
		hypotheses[i].p *= sum / (double)used;
	return used;
}

void evidence_family(struct evidence_member *members, size_t count)
{
	CLEANUP(cleanup_free) struct evidence_member **order = memory_alloc((count + 1) * sizeof(*order));
	CLEANUP(cleanup_free)
	struct step_up_member *hypotheses = memory_alloc((count + 1) * sizeof(*hypotheses));
	size_t used;

	for (size_t i = 0; i < count; i++)
		order[i] = &members[i];
	if (count > 0)
		qsort(order, count, sizeof(*order), by_counts);
	used = list_hypotheses(order, count, hypotheses);
	step_up(hypotheses, used);
	for (size_t i = 0; i < used; i++) {
		const struct evidence_member *first = order[hypotheses[i].id];

		/* A weight above 1 must not prove what the row's own interval leaves open. */
		for (size_t at = hypotheses[i].id; at < count && is_same_hypothesis(order[at], first); at++)
			order[at]->q = fmin(fmax(hypotheses[i].q, first->p), 1);
	}
}
