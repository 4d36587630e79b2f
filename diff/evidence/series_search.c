/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the changes of a series: positions that rows share, splits of each row, and the family of all of them. */
#include "diff/evidence/series_model.h"

#include "common/common.h"
#include "diff/evidence/constants.h"
#include "diff/evidence/normal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct series_search {
	const struct evidence_series *series;
	const struct evidence_series_row *rows;
	size_t count;
	double rate;
	struct series_sequences sequences;
	struct series_gains *gains; /* [row] */
	double *part;               /* [row] its largest part of a profile, or 0: it is no hypothesis */
	double changed;             /* how probable it is that a row changed at all */
	double *prior;              /* [profile] probability of a change there */
	double *position;           /* [profile] the same, with what the rows say */
	double *shared;             /* [profile] changes of self times there, as many as are expected */
	double shared_sum;
	double *evidence;           /* [row] the logarithm of how much better a change anywhere explains it */
	struct series_found *found; /* [row] */
};

/* The changes of a row, in order of time. */
struct series_found {
	struct evidence_change *items; /* owned */
	size_t count;
	bool is_settled; /* no change was dropped since they were weighed */
};

static void series_search_deinit(struct series_search *s)
{
	for (size_t i = 0; i < s->count; i++) {
		series_gains_deinit(&s->gains[i]);
		free(s->found[i].items);
	}
	series_sequences_deinit(&s->sequences);
	free(s->gains);
	free(s->part);
	free(s->prior);
	free(s->position);
	free(s->shared);
	free(s->evidence);
	free(s->found);
}

/* ---- Positions ---- */

/* Fills the probabilities of positions before any row was looked at. The newest profile is what is asked for. */
static void series_expect(struct series_search *s)
{
	double sum = 0;

	for (size_t i = 0; i < s->series->count; i++) {
		bool is_asked_for = s->series->is_known[i] || i + 1 == s->series->count;

		if (s->sequences.windows_at[i] > 0)
			s->prior[i] = is_asked_for ? evidence_known_position : 1;
		sum += s->prior[i];
	}
	for (size_t i = 0; i < s->series->count && sum > 0; i++)
		s->position[i] = s->prior[i] /= sum;
}

/* Returns how probable it is that a row changed, with what a change anywhere explains better. */
static double series_posterior(const struct series_search *s, size_t row)
{
	return 1 / (1 + exp(fmin(-s->evidence[row], 700)) * (1 - s->changed) / s->changed);
}

/* Returns how probable it is that the row changed at a position. */
static double series_posterior_at(const struct series_search *s, size_t row, size_t at)
{
	if (!(s->gains[row].at[at] > -INFINITY) || !(s->position[at] > 0))
		return 0;
	return series_posterior(s, row) * exp(s->gains[row].at[at] + log(s->position[at]) - s->evidence[row]);
}

static double series_evidence_of(const struct series_search *s, const double *gains)
{
	double top = -INFINITY, sum = 0;

	for (size_t i = 0; i < s->series->count; i++)
		if (s->position[i] > 0)
			top = fmax(top, gains[i] + log(s->position[i]));
	for (size_t i = 0; i < s->series->count && top > -INFINITY; i++)
		if (s->position[i] > 0)
			sum += exp(gains[i] + log(s->position[i]) - top);
	return sum > 0 ? top + log(sum) : -INFINITY;
}

/* Changes share their moments: positions are as probable as self times changed there, and two changes beside. */
static void series_share(struct series_search *s)
{
	double sum;

	memset(s->shared, 0, s->series->count * sizeof(*s->shared));
	for (size_t row = 0; row < s->count; row++)
		for (size_t i = 0; s->rows[row].is_self && s->part[row] > 0 && i < s->series->count; i++)
			s->shared[i] += series_posterior_at(s, row, i);
	s->shared_sum = evidence_add(s->shared, s->series->count);
	sum = s->shared_sum + evidence_other_changes;
	for (size_t i = 0; i < s->series->count; i++)
		s->position[i] = (s->shared[i] + evidence_other_changes * s->prior[i]) / sum;
}

static void series_maximise(struct series_search *s)
{
	enum { ROUNDS = 15 };

	s->changed = evidence_changed_prior.changed / (evidence_changed_prior.changed + evidence_changed_prior.same);
	for (int round = 0; round < ROUNDS; round++) {
		double changed = evidence_changed_prior.changed,
		       all = evidence_changed_prior.changed + evidence_changed_prior.same;

		for (size_t row = 0; row < s->count; row++) {
			if (!(s->part[row] > 0))
				continue;
			s->evidence[row] = series_evidence_of(s, s->gains[row].at);
			changed += series_posterior(s, row);
			all++;
		}
		s->changed = changed / all;
		series_share(s);
	}
	for (size_t row = 0; row < s->count; row++)
		if (s->part[row] > 0)
			s->evidence[row] = series_evidence_of(s, s->gains[row].at);
}

static bool series_is_changed(const struct series_search *s, size_t row, size_t at)
{
	return s->rows[row].is_changed && at < s->series->count && s->rows[row].is_changed[at];
}

/* Returns at how many positions the code of a row is known to have changed. */
static size_t series_changed_count(const struct series_search *s, size_t row)
{
	size_t count = 0;

	for (size_t i = 0; i < s->series->count; i++)
		count += series_is_changed(s, row, i);
	return count;
}

/* Returns a position's probability by what the rows of other functions say: a row does not pay less by its own. */
static double series_position_for(const struct series_search *s, size_t row, size_t at)
{
	double shared = s->shared[at], own = 0;
	size_t self = s->rows[row].is_self ? row : row > 0 ? row - 1 : row;

	if (series_is_changed(s, row, at))
		return 1 / (double)series_changed_count(s, row);
	if (s->rows[self].is_self && s->rows[self].group == s->rows[row].group && s->part[self] > 0) {
		own = series_posterior(s, self);
		shared = fmax(0, shared - series_posterior_at(s, self, at));
	}
	return (shared + evidence_other_changes * s->prior[at]) /
	       (fmax(s->shared_sum - own, 0) + evidence_other_changes);
}

/* ---- The splits of a row ---- */

static int series_by_falling_gain(const void *a, const void *b)
{
	const struct series_guess *x = a, *y = b;

	return x->gain != y->gain ? ORDER(y->gain, x->gain) : ORDER(x->split.at, y->split.at);
}

static int series_by_position(const void *a, const void *b)
{
	const struct evidence_change *x = a, *y = b;

	return ORDER(x->split.at, y->split.at);
}

static bool is_beside(const struct series_found *found, const struct evidence_split *split)
{
	for (size_t i = 0; i < found->count; i++)
		if (found->items[i].split.at > split->from && found->items[i].split.at < split->to)
			return false;
	return true;
}

/* Takes the best guesses, none of whose windows has the change of a better one in it. */
static void series_take_guesses(struct series_search *s, size_t row)
{
	struct series_gains *gains = &s->gains[row];
	struct series_found *found = &s->found[row];
	size_t count = gains->guess_count;

	for (size_t i = 0; i < count; i++)
		gains->guesses[i].gain += log(series_position_for(s, row, gains->guesses[i].split.at));
	if (count == 0)
		return;
	qsort(gains->guesses, count, sizeof(*gains->guesses), series_by_falling_gain);
	found->items = memory_zeroed(s->series->count, sizeof(*found->items));
	for (size_t i = 0; i < count; i++)
		if (is_beside(found, &gains->guesses[i].split))
			found->items[found->count++] =
				(struct evidence_change){ .row = (uint32_t)row, .split = gains->guesses[i].split };
	qsort(found->items, found->count, sizeof(*found->items), series_by_position);
}

/* Returns the split at a position between a row's changes before and behind; of one start, where it lies within one. */
static struct evidence_split series_split_between(const struct series_search *s, size_t from, size_t at, size_t to)
{
	const uint32_t *starts = s->series->starts;

	if (starts[at - 1] == starts[at]) {
		size_t first = at, last = at;

		while (first > from && starts[first - 1] == starts[at])
			first--;
		while (last < to && starts[last] == starts[at])
			last++;
		from = first;
		to = last;
	}
	return (struct evidence_split){ from, at, to };
}

static struct evidence_split series_split_of(
	const struct series_search *s, const struct series_found *found, size_t i, size_t at)
{
	return series_split_between(s, i == 0 ? 0 : found->items[i - 1].split.at, at,
		i + 1 == found->count ? s->series->count : found->items[i + 1].split.at);
}

/* Finds the position that the profiles between a row's other changes tell, among the few that may be it. */
static void series_place(const struct series_search *s, size_t row, struct series_found *found, size_t i)
{
	enum { MOST = 10 };
	static const double far = 6;
	const double *gains = s->gains[row].at;
	size_t from = i == 0 ? 0 : found->items[i - 1].split.at, best = found->items[i].split.at, own = best;
	size_t to = i + 1 == found->count ? s->series->count : found->items[i + 1].split.at;
	double least = gains[own] + log(series_position_for(s, row, own)) - far, most = -INFINITY;

	for (size_t at = own > from + MOST / 2 ? own - MOST / 2 : from + 1; at < to && at < own + MOST / 2; at++) {
		struct evidence evidence;
		struct evidence_split split = series_split_of(s, found, i, at);
		double gain = log(series_position_for(s, row, at));

		if (!(gains[at] + gain > least))
			continue;
		evidence_weigh_split(s->series, &s->rows[row], &split, &evidence);
		gain += evidence_gain(&evidence);
		if (gain > most) {
			most = gain;
			best = at;
		}
	}
	found->items[i].split.at = best;
}

static double series_part(const struct evidence_series *series, const double *samples, size_t from, size_t to)
{
	return evidence_add(samples + from, to - from) / evidence_add(series->samples + from, to - from);
}

/* Weighs the split of a change; one that has not enough of the row is not asked. */
static void series_weigh_split(
	const struct evidence_series *series, const struct evidence_series_row *row, struct evidence_change *change)
{
	const struct evidence_split *split = &change->split;
	double part = fmax(series_part(series, row->samples, split->from, split->at),
		series_part(series, row->samples, split->at, split->to));
	struct evidence evidence;

	evidence_weigh_split(series, row, split, &evidence);
	change->effect = evidence.effect;
	evidence_interval(&evidence, &change->low, &change->high);
	change->p = evidence_is_hypothesis(evidence.samples[0] + evidence.samples[1], row->is_total ? 1 : part)
			    ? evidence.p
			    : 1;
}

/* Returns whether nothing of what a position within a start, or between two, is asked of lies beyond one end of it. */
static bool series_is_end(const struct series_search *s, size_t end, bool is_within)
{
	return end == 0 || end == s->series->count ||
	       (is_within && s->series->starts[end] != s->series->starts[end - 1]);
}

/* Weighs a change between its neighbours, and has it pay for the search. */
static void series_weigh_change(const struct series_search *s, size_t row, struct series_found *found, size_t i)
{
	struct evidence_change *change = &found->items[i];
	size_t at = change->split.at;
	bool is_within = s->series->starts[at] == s->series->starts[at - 1], is_whole;

	change->split = series_split_of(s, found, i, at);
	is_whole = series_is_end(s, change->split.from, is_within) && series_is_end(s, change->split.to, is_within);
	series_weigh_split(s->series, &s->rows[row], change);
	change->p = fmin(
		1, change->p / (series_position_for(s, row, at) * series_window_part(&s->sequences, at, is_whole)));
}

/*
 * A split was chosen before those beside it were known. Each is weighed between its neighbours, and the weakest one is
 * dropped for as long as there is one that is not proven (as Hunter does: Fleming et al. 2023).
 */
static void series_weigh_changes(const struct series_search *s, size_t row)
{
	struct series_found *found = &s->found[row];

	while (!found->is_settled && found->count > 0) {
		size_t weakest = 0;

		for (size_t i = 0; i < found->count; i++)
			series_weigh_change(s, row, found, i);
		for (size_t i = 1; i < found->count; i++)
			if (found->items[i].p > found->items[weakest].p)
				weakest = i;
		found->is_settled = found->items[weakest].p <= s->rate;
		if (found->is_settled)
			return;
		memmove(&found->items[weakest], &found->items[weakest + 1],
			(found->count - weakest - 1) * sizeof(*found->items));
		found->count--;
	}
	found->is_settled = true;
}

/* Some rows at a time, as threads are free. */
enum { ROWS_AT_A_TIME = 8 };

static void series_search_some(void *context, size_t stretch)
{
	struct series_search *s = context;

	for (size_t row = stretch * ROWS_AT_A_TIME; row < s->count && row < (stretch + 1) * ROWS_AT_A_TIME; row++)
		if (s->part[row] > 0)
			series_gains_fill(s->series, &s->sequences, &s->rows[row], &s->gains[row]);
}

static void series_weigh_some(void *context, size_t stretch)
{
	struct series_search *s = context;

	for (size_t row = stretch * ROWS_AT_A_TIME; row < s->count && row < (stretch + 1) * ROWS_AT_A_TIME; row++) {
		if (!s->found[row].items && s->part[row] > 0)
			series_take_guesses(s, row);
		for (size_t i = 0; !s->found[row].is_settled && i < s->found[row].count; i++)
			series_place(s, row, &s->found[row], i);
		series_weigh_changes(s, row);
	}
}

/* ---- The family ---- */

/* Lists the changes of a row that are of a family: where its code changed, or all others. */
static size_t series_list_row(
	const struct series_search *s, size_t row, bool of_changed, struct evidence_change **changes)
{
	struct series_found *found = &s->found[row];
	size_t used = 0;

	for (size_t i = 0; i < found->count; i++)
		if (series_is_changed(s, row, found->items[i].split.at) == of_changed)
			changes[used++] = &found->items[i];
	return used;
}

/* Judges a family, in which a row is one hypothesis, and each further change that it has is one more. */
static void series_judge_family(struct series_search *s, bool of_self, bool of_changed,
	struct evidence_change **changes, struct evidence_member *members)
{
	size_t used = 0;

	for (size_t row = 0; row < s->count; row++) {
		size_t own;

		if (!(s->part[row] > 0) || s->rows[row].is_total || s->rows[row].is_self != of_self ||
			(of_changed && series_changed_count(s, row) == 0))
			continue;
		changes[used] = NULL;
		own = series_list_row(s, row, of_changed, &changes[used]);
		for (size_t i = 0; i < own || i == 0; i++, used++) {
			size_t at = changes[used] ? changes[used]->split.at : s->series->count;

			members[used] = (struct evidence_member){ .p = changes[used] ? changes[used]->p : 1,
				.samples = { evidence_add(s->rows[row].samples, at),
					evidence_add(s->rows[row].samples + at, s->series->count - at) },
				.part = s->part[row] };
		}
	}
	evidence_family(members, used);
	/* Self times and total times of a series are asked with half of the rate each. */
	for (size_t i = 0; i < used; i++)
		if (changes[i])
			changes[i]->q = fmin(1, 2 * members[i].q);
}

/* Drops what is not proven of a row. */
static void series_drop(struct series_search *s, size_t row)
{
	struct series_found *found = &s->found[row];
	size_t kept = 0;

	for (size_t i = 0; i < found->count; i++)
		if (found->items[i].q <= s->rate)
			found->items[kept++] = found->items[i];
	found->is_settled = kept == found->count;
	found->count = kept;
}

static void series_judge(struct series_search *s)
{
	size_t most = s->count + 1;
	CLEANUP(cleanup_free) struct evidence_member *members = NULL;
	CLEANUP(cleanup_free) struct evidence_change **changes = NULL;

	for (size_t row = 0; row < s->count; row++)
		most += s->found[row].count;
	members = memory_alloc(most * sizeof(*members));
	changes = memory_alloc(most * sizeof(*changes));
	for (int family = 0; family < 4; family++)
		series_judge_family(s, family & 1, family & 2, changes, members);
	for (size_t row = 0; row < s->count; row++) {
		for (size_t i = 0; s->rows[row].is_total && i < s->found[row].count; i++)
			s->found[row].items[i].q = fmin(1, s->found[row].items[i].p * evidence_question_adjustment());
		series_drop(s, row);
	}
}

/* ---- */

/* Fills each row's largest part of profiles that may be a side: three of them, or of one where that is enough. */
static void series_find_parts(struct series_search *s)
{
	enum { NEAR = 3 };

	for (size_t row = 0; row < s->count; row++) {
		const struct evidence_series *series = s->series;
		double samples = evidence_add(s->rows[row].samples, series->count), part = 0;

		for (size_t i = 0; i < series->count; i++) {
			size_t single = series->is_known[i] || i == 0 || i + 1 == series->count;
			size_t to = single ? i + 1 : i + NEAR < series->count ? i + NEAR : series->count;
			double own = evidence_add(s->rows[row].samples + i, to - i);

			part = fmax(part, own / evidence_add(series->samples + i, to - i));
		}
		s->part[row] = evidence_is_hypothesis(samples, part) ? part : 0;
	}
}

static size_t series_collect(const struct series_search *s, struct evidence_change **changes)
{
	size_t used = 0;

	for (size_t row = 0; row < s->count; row++)
		used += s->found[row].count;
	*changes = memory_alloc((used + 1) * sizeof(**changes));
	used = 0;
	for (size_t row = 0; row < s->count; row++)
		for (size_t i = 0; i < s->found[row].count; i++)
			(*changes)[used++] = s->found[row].items[i];
	return used;
}

size_t evidence_series_search(const struct evidence_series *series, const struct evidence_series_row *rows,
	size_t count, double rate, struct evidence_change **changes)
{
	enum { JUDGED = 3 };
	size_t profiles = series->count * sizeof(double), stretches = count / ROWS_AT_A_TIME + 1;
	CLEANUP(series_search_deinit)
	struct series_search s = { .series = series, .rows = rows, .count = count, .rate = rate };

	s.gains = memory_zeroed(count + 1, sizeof(*s.gains));
	s.part = memory_zeroed(count + 1, sizeof(*s.part));
	s.evidence = memory_zeroed(count + 1, sizeof(*s.evidence));
	s.found = memory_zeroed(count + 1, sizeof(*s.found));
	s.prior = memory_zeroed(1, profiles);
	s.position = memory_zeroed(1, profiles);
	s.shared = memory_zeroed(1, profiles);
	series_sequences_init(series, &s.sequences);
	series_find_parts(&s);
	series_expect(&s);
	work_pool_run(0, stretches, series_search_some, &s);
	series_maximise(&s);
	/* A change that is dropped leaves its profiles to those beside it, which are weighed again. */
	for (int round = 0; round < JUDGED; round++) {
		work_pool_run(0, stretches, series_weigh_some, &s);
		series_judge(&s);
	}
	return series_collect(&s, changes);
}

/* ---- The newest profile ---- */

void evidence_series_newest(const struct evidence_series *series, const struct evidence_series_row *rows, size_t count,
	struct evidence_change *changes)
{
	CLEANUP(cleanup_free) struct evidence_member *members = memory_alloc((count + 1) * sizeof(*members));
	CLEANUP(cleanup_free) size_t *of_row = memory_alloc((count + 1) * sizeof(*of_row));
	size_t last = series->count - 1;

	for (size_t i = 0; i < count; i++) {
		changes[i].row = (uint32_t)i;
		changes[i].split.at = last;
		changes[i].split.to = series->count;
		series_weigh_split(series, &rows[i], &changes[i]);
		changes[i].q = rows[i].is_total ? fmin(1, changes[i].p * evidence_question_adjustment()) : 1;
	}
	for (int family = 0; family < 4; family++) {
		size_t used = 0;

		for (size_t i = 0; i < count; i++) {
			bool changed = rows[i].is_changed && rows[i].is_changed[last];

			if (rows[i].is_total || rows[i].is_self != (bool)(family & 1) ||
				changed != (bool)(family & 2) || !(rows[i].samples[last] > 0))
				continue;
			members[used] = (struct evidence_member){ .p = changes[i].p,
				.samples = { evidence_add(rows[i].samples, last), rows[i].samples[last] },
				.part = rows[i].samples[last] / series->samples[last] };
			of_row[used++] = i;
		}
		evidence_family(members, used);
		for (size_t i = 0; i < used; i++)
			changes[of_row[i]].q = members[i].q;
	}
}
