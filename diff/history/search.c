/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/search.h"

#include "diff/probability/probability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * A found point has three profiles on each side: single ones lie far off now and then, and two of them beside each
 * other. At a deploy one is enough.
 */
enum { MIN_SIDE = 3, SHORTEST_INTERVAL = 6 };

/* Splits of a larger p are not followed. What is followed is tested again, better. */
static const double followed = 0.5;

/* Fewer samples on a side are compared as numbers. */
static const double few_samples = 20;

/* A deploy is looked at in all of its segment, and between its neighbours. */
static const double deploy_looks = 2;

/* Splits with a smaller t need no look at processes, which takes time. */
static const double least_t = 1.5;

struct history_search_sums {
	double *weights, *values; /* [profile + 1] sums of weights, and of weights times values, before it; owned */
};

static void sums_deinit(struct history_search_sums *sums)
{
	free(sums->weights);
	free(sums->values);
}

static void search_fill_sums(
	const struct tested_rows *rows, const struct tested_row *row, struct history_search_sums *sums)
{
	size_t n = rows->series->count;

	*sums = (struct history_search_sums){ memory_zeroed(n + 1, sizeof(double)),
		memory_zeroed(n + 1, sizeof(double)) };
	for (size_t i = 0; i < n; i++) {
		double weight = noise_weight(rows, row, i);

		sums->weights[i + 1] = sums->weights[i] + weight;
		sums->values[i + 1] = sums->values[i] + weight * row->values[i];
	}
}

static double mean_between(const struct history_search_sums *sums, size_t from, size_t to)
{
	return (sums->values[to] - sums->values[from]) / (sums->weights[to] - sums->weights[from]);
}

static struct contrast contrast_of_sums(const struct tested_row *row, double scale,
	const struct history_search_sums *sums, size_t from, size_t at, size_t to)
{
	double left = sums->weights[at] - sums->weights[from], right = sums->weights[to] - sums->weights[at];
	double variance = scale * row->mean * row->mean * (1 / left + 1 / right) * row->dependence;

	return (struct contrast){
		.before = mean_between(sums, from, at),
		.after = mean_between(sums, at, to),
		.error = sqrt(variance),
		.freedom = row->freedom,
	};
}

/*
 * Returns the variance of a difference for what starts of processes decide, in units of that of one process: the sum of
 * the squares of how much more a process has of one side than of the other. Profiles with processes of their own would
 * have 1 / n of each side, which their scale has already.
 */
static double process_variance(const uint32_t *processes, size_t from, size_t at, size_t to)
{
	double sum = 0, left = (double)(at - from), right = (double)(to - at);

	for (size_t i = from; i < to;) {
		size_t end = i;
		double share[2] = { 0 };

		/* A process is a stretch of profiles; one that comes back counts as another one, which is careful. */
		for (; end < to && processes[end] == processes[i]; end++)
			share[end >= at] += 1;
		sum += pow(share[0] / left - share[1] / right, 2);
		i = end;
	}
	return fmax(0, sum - 1 / left - 1 / right);
}

static void search_add_processes(
	struct contrast *contrast, const uint32_t *processes, double rsd, size_t from, size_t at, size_t to)
{
	double level = fmax(fabs(contrast->before), fabs(contrast->after));

	if (processes)
		contrast->error = sqrt(contrast->error * contrast->error +
				       rsd * rsd * level * level * process_variance(processes, from, at, to));
}

struct contrast contrast_of(const struct tested_rows *rows, const struct tested_row *row, size_t from, size_t at,
	size_t to, const uint32_t *processes, double process_rsd)
{
	double sums[2] = { 0 }, weights[2] = { 0 };
	struct contrast contrast = { .freedom = row->freedom };

	for (size_t i = from; i < to; i++) {
		double weight = noise_weight(rows, row, i);

		weights[i >= at] += weight;
		sums[i >= at] += weight * row->values[i];
	}
	contrast.before = sums[0] / weights[0];
	contrast.after = sums[1] / weights[1];
	contrast.error = sqrt(row->scale * row->mean * row->mean * (1 / weights[0] + 1 / weights[1]) * row->dependence);
	search_add_processes(&contrast, processes, process_rsd, from, at, to);
	return contrast;
}

/* ---- Splits ---- */

struct looking {
	const struct history_search *search;
	const struct tested_row *row;
	struct history_search_sums sums;
	double compared; /* splits that are compared in all */
	double scale;    /* of the noise */
	/* The best so far. */
	size_t at;
	double p, t;
	bool is_deploy;
	/* [whether it is a deploy] splits of a smaller t have a greater p than the best of their kind. */
	double least_t[2];
};

static void search_look_at(struct looking *l, size_t from, size_t at, size_t to, double penalty)
{
	const struct history_search *search = l->search;
	double delta = mean_between(&l->sums, at, to) - mean_between(&l->sums, from, at), p;
	struct contrast contrast;

	/* Most splits end here. */
	if (fabs(delta) < l->row->least_effect)
		return;
	contrast = contrast_of_sums(l->row, l->scale, &l->sums, from, at, to);
	if (fabs(delta) < fmax(least_t, l->least_t[search->is_deploy[at]]) * contrast.error)
		return;
	search_add_processes(&contrast, search->processes,
		l->row->function == HISTORY_WHOLE ? search->whole_process_rsd : search->process_rsd, from, at, to);
	/* Processes make t smaller, so that the best of a kind bounds the others before they are looked at. */
	l->least_t[search->is_deploy[at]] = fmax(l->least_t[search->is_deploy[at]], fabs(delta / contrast.error));
	p = fmin(1, penalty * tail_two_sided(delta / contrast.error, contrast.freedom));
	/* Where both are 0 to the precision of numbers, the distance decides. */
	if (p < l->p || (p == l->p && p < 1 && fabs(delta / contrast.error) > l->t)) {
		l->t = fabs(delta / contrast.error);
		l->p = p;
		l->at = at;
		l->is_deploy = search->is_deploy[at];
	}
}

static void look_in(struct looking *l, size_t from, size_t to)
{
	const struct history_search *search = l->search;

	for (size_t at = from + 1; at < to; at++) {
		bool is_wide = at - from >= MIN_SIDE && to - at >= MIN_SIDE;

		if (!search->is_barred[at] && is_wide && !search->is_deploy[at])
			search_look_at(l, from, at, to, l->compared);
	}
}

static void look_at_deploys(struct looking *l, size_t from, size_t to)
{
	size_t before = from;

	for (size_t at = from + 1; at < to; at++) {
		size_t next = at + 1;

		if (!l->search->is_deploy[at])
			continue;
		while (next < to && !l->search->is_deploy[next])
			next++;
		search_look_at(l, from, at, to, deploy_looks);
		if (before != from || next != to)
			search_look_at(l, before, at, next, deploy_looks);
		before = at;
	}
}

/* Calls look_in() for the seeded intervals of [from, to), or counts the splits in them. */
static double seeded(struct looking *l, size_t from, size_t to)
{
	double splits = 0;

	for (size_t length = to - from; length >= SHORTEST_INTERVAL; length = (length + 1) / 2) {
		size_t step = length / 2;

		for (size_t start = from; start < to; start += step) {
			size_t end = start + length < to ? start + length : to;

			splits += (double)(end - start - 1);
			if (l && end - start >= SHORTEST_INTERVAL - 1)
				look_in(l, start, end);
			if (end == to)
				break;
		}
		if (length == SHORTEST_INTERVAL)
			break;
	}
	return splits;
}

static void search_segment(struct looking *l, uint32_t row, size_t from, size_t to, unsigned int depth,
	struct history_candidates *candidates)
{
	size_t at;

	if (to - from < 2 || depth == 0)
		return;
	l->p = 1;
	l->t = 0;
	l->least_t[0] = l->least_t[1] = 0;
	l->at = from;
	l->is_deploy = false;
	look_at_deploys(l, from, to);
	if (to - from >= SHORTEST_INTERVAL)
		(void)seeded(l, from, to);
	else
		look_in(l, from, to);
	if (l->p > followed)
		return;
	ARRAY_GROW(&candidates->items, &candidates->capacity, candidates->count + 1);
	at = l->at;
	candidates->items[candidates->count++] = (struct history_candidate){ row, at, l->p, l->scale, l->is_deploy, 1 };
	search_segment(l, row, from, at, depth - 1, candidates);
	search_segment(l, row, at, to, depth - 1, candidates);
}

static int search_by_at(const void *a, const void *b)
{
	const struct history_candidate *x = a, *y = b;

	return ORDER(x->at, y->at);
}

/* Returns the noise about the means between the candidates, at least that of the search. */
static double scale_between(const struct looking *l, const struct history_candidate *candidates, size_t count)
{
	size_t n = l->search->rows->series->count, next = 0;
	double squares = 0, mean = 0;

	for (size_t i = 0; i < n; i++) {
		if (i == 0 || (next < count && candidates[next].at == i)) {
			size_t end = i == 0 ? (count > 0 ? candidates[0].at : n)
					    : (next + 1 < count ? candidates[next + 1].at : n);

			next += i > 0;
			mean = mean_between(&l->sums, i, end);
		}
		squares += noise_weight(l->search->rows, l->row, i) * pow((l->row->values[i] - mean) / l->row->mean, 2);
	}
	return n > count + 1 ? fmax(l->row->scale, squares / (double)(n - count - 1)) : l->row->scale;
}

/*
 * A split was judged before those beside it were known. Each is tested again between its neighbours, and the weakest
 * one is dropped for as long as there is one that is no longer significant (as Hunter does: Fleming et al. 2023).
 */
static double samples_between(const struct looking *l, size_t from, size_t to)
{
	double samples = 0;

	for (size_t i = from; i < to; i++)
		samples += l->row->values[i] / (l->row->mean * l->row->counting * l->search->rows->series->factor[i]);
	return fmax(0, samples);
}

/* Returns the part of the samples of [from, to) that would lie from `at` on, if nothing had changed. */
static double share_behind(const struct looking *l, size_t from, size_t at, size_t to)
{
	double sums[2] = { 0 };

	for (size_t i = from; i < to; i++)
		sums[i >= at] += 1 / l->search->rows->series->factor[i];
	return sums[1] / (sums[0] + sums[1]);
}

/*
 * Returns the p of a split between its neighbours. Where a side has few samples their numbers are compared, as the diff
 * does (diff/statistics/small.c): a function that was not there, or one sample more than none, is not normal.
 */
static double p_between(const struct looking *l, size_t from, size_t at, size_t to, size_t points)
{
	const struct history_search *search = l->search;
	const struct tested_row *row = l->row;
	double rsd = row->function == HISTORY_WHOLE ? search->whole_process_rsd : search->process_rsd;
	struct contrast contrast = contrast_of_sums(row, l->scale, &l->sums, from, at, to);
	double delta = contrast.after - contrast.before, before, after, variance;

	if (fabs(delta) < row->least_effect)
		return 1;
	if (row->counting > 0 && row->function != HISTORY_WHOLE) {
		before = samples_between(l, from, at);
		after = samples_between(l, at, to);
		if (fmin(before, after) < few_samples) {
			variance = l->scale * search->rows->overdispersion * row->dependence *
				   (1 / (double)(at - from) + 1 / (double)(to - at));
			if (search->processes)
				variance += rsd * rsd * process_variance(search->processes, from, at, to);
			return tail_exact(before, after, share_behind(l, from, at, to), variance);
		}
	}
	search_add_processes(&contrast, search->processes, rsd, from, at, to);
	/* Where nothing was chosen the noise is known from all values about their means, and not from differences
	 * alone. */
	if (search->is_deploy[at])
		contrast.freedom = fmax(contrast.freedom, (double)search->rows->series->count - (double)points - 1);
	return tail_two_sided(delta / contrast.error, contrast.freedom);
}

static void retest(struct looking *l, struct history_candidate *candidates, size_t *count)
{
	size_t n = l->search->rows->series->count;

	while (*count > 0) {
		size_t weakest = 0;

		l->scale = scale_between(l, candidates, *count);
		for (size_t i = 0; i < *count; i++) {
			size_t from = i == 0 ? 0 : candidates[i - 1].at, to = i + 1 < *count ? candidates[i + 1].at : n;
			double penalty = candidates[i].is_deploy ? deploy_looks : l->compared;

			candidates[i].p = fmin(1, penalty * p_between(l, from, candidates[i].at, to, *count));
			candidates[i].scale = l->scale;
			weakest = candidates[i].p > candidates[weakest].p ? i : weakest;
		}
		if (candidates[weakest].p <= l->search->rate)
			return;
		memmove(&candidates[weakest], &candidates[weakest + 1], (*count - weakest - 1) * sizeof(*candidates));
		(*count)--;
	}
}

void search_row(const struct history_search *search, uint32_t row, struct history_candidates *candidates)
{
	enum { MOST_DEPTH = 32 };
	size_t n = search->rows->series->count, first = candidates->count;
	struct looking l = { .search = search, .row = &search->rows->items[row] };

	search_fill_sums(search->rows, l.row, &l.sums);
	l.scale = l.row->scale;
	l.compared = fmax(1, n >= SHORTEST_INTERVAL ? seeded(NULL, 0, n) : (double)n);
	search_segment(&l, row, 0, n, MOST_DEPTH, candidates);
	if (candidates->count > first) {
		size_t count = candidates->count - first;

		qsort(&candidates->items[first], count, sizeof(*candidates->items), search_by_at);
		retest(&l, &candidates->items[first], &count);
		candidates->count = first + count;
	}
	sums_deinit(&l.sums);
}
