/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/changes.h"

#include "diff/constants.h"
#include "diff/probability/probability.h"

#include <math.h>
#include <stdlib.h>

/* A function whose code did not change at the point has to show ten times as much. */
static const double same_code_factor = 10;

static uint64_t fingerprint_near(
	const struct history *history, const struct tested_rows *rows, uint32_t function, size_t from, size_t to)
{
	bool is_backwards = from > to;

	for (size_t i = from; i != to; i += is_backwards ? (size_t)-1 : 1) {
		const struct summary_row *row =
			summary_row_of(series_summary(history, rows->series, is_backwards ? i - 1 : i), function);

		if (row && row->fingerprint)
			return row->fingerprint;
	}
	return 0;
}

static bool is_absent(const struct tested_row *row, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		if (row->values[i] > 0)
			return false;
	}
	return true;
}

enum history_code code_at(const struct history *history, const struct tested_rows *rows, const struct tested_row *row,
	size_t from, size_t at, size_t to)
{
	uint64_t before, after;

	if (row->function == HISTORY_WHOLE)
		return HISTORY_CODE_UNKNOWN;
	if (is_absent(row, from, at))
		return HISTORY_CODE_NEW;
	if (is_absent(row, at, to))
		return HISTORY_CODE_GONE;
	before = fingerprint_near(history, rows, row->function, at, from);
	after = fingerprint_near(history, rows, row->function, at, to);
	if (!before || !after)
		return HISTORY_CODE_UNKNOWN;
	return before == after ? HISTORY_CODE_SAME : HISTORY_CODE_CHANGED;
}

/* A deploy is a reason to expect a change, ten times as good as none. */
static const double deploy_weight = 10;

/* Returns the weight of a test at a deploy, or of a search: their mean over the tests of a row is 1. */
static double weight_of_test(bool is_deploy, size_t deploys)
{
	double sum = deploy_weight * (double)deploys + 1;

	return (is_deploy ? deploy_weight : 1) * ((double)deploys + 1) / sum;
}

/*
 * A change of the code is a reason to expect a change of the cost, which other points lack. What a function calls may
 * have changed where the program did.
 */
static double prior_factor(
	const struct history *history, const struct tested_rows *rows, const struct history_candidate *candidate)
{
	const struct tested_row *row = &rows->items[candidate->row];
	enum history_code code = code_at(history, rows, row, 0, candidate->at, rows->series->count);
	bool may_call_others = candidate->is_deploy && !row->is_self;

	return code == HISTORY_CODE_SAME && !may_call_others ? same_code_factor : 1;
}

/*
 * Weights by what a row could show, as the diff has them (diff/statistics/bh.c): functions with few samples, which
 * cannot show an ordinary change, use less of the error rate. Their mean is 1 over all rows.
 */
static double discovery_weight_of(const struct tested_row *row)
{
	return isinf(row->samples) ? 1 : row->samples / (row->samples + diff_half_weight_samples);
}

static double mean_weight(const struct tested_rows *rows)
{
	double sum = 0, count = 0;

	for (size_t i = 0; i < rows->count; i++) {
		if (rows->items[i].function == HISTORY_WHOLE)
			continue;
		sum += discovery_weight_of(&rows->items[i]);
		count++;
	}
	return count > 0 ? sum / count : 1;
}

void discovery_adjust(const struct history *history, const struct tested_rows *rows,
	struct history_candidates *candidates, size_t deploys)
{
	CLEANUP(cleanup_free)
	struct step_up_member *members = memory_alloc((candidates->count + 1) * sizeof(*members));
	/* Each row was tested at each deploy, and searched once. */
	double tests = (double)rows->count * ((double)deploys + 1);
	double mean = mean_weight(rows);
	bool has_whole = rows->count > 0 && rows->items[0].function == HISTORY_WHOLE;
	size_t count = 0;

	for (uint32_t i = 0; i < candidates->count; i++) {
		struct history_candidate *candidate = &candidates->items[i];

		/* The whole is a family of its own, and each of the two gets half of the rate (Bonferroni). */
		if (rows->items[candidate->row].function == HISTORY_WHOLE)
			candidate->q = fmin(1, 2 * candidate->p * ((double)deploys + 1) /
						       weight_of_test(candidate->is_deploy, deploys));
		else
			members[count++] = (struct step_up_member){
				.p = candidate->p * prior_factor(history, rows, candidate) * mean /
				     discovery_weight_of(&rows->items[candidate->row]) /
				     weight_of_test(candidate->is_deploy, deploys),
				.id = i,
			};
	}
	step_up_of(members, count, has_whole ? 2 * tests : tests);
	/* A weight above 1 does not prove what is nothing by itself. */
	for (size_t i = 0; i < count; i++)
		candidates->items[members[i].id].q = fmin(1, fmax(members[i].q, candidates->items[members[i].id].p));
}
