/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weighs all positions of a row in the normal form, from sums over profiles: which of them are worth a closer look. */
#include "diff/evidence/series_model.h"

#include "common/common.h"
#include "diff/evidence/constants.h"
#include "diff/evidence/normal.h"
#include "diff/evidence/row.h"

#include <math.h>
#include <stdlib.h>

/*
 * Elements on both sides of a position that nothing is known of, and the shortest window of two such sides. The first
 * profiles may be the last ones before a change, of which two tell more than one that is unlike all others.
 */
enum { LEAST_SIDE = 3, LEAST_FIRST = 2, SHORTEST_WINDOW = 2 * LEAST_SIDE };

/*
 * Splits whose difference has a smaller square, in variances of the least spread, are proven by no p, nor are those
 * that a change explains by so much worse.
 */
static const double least_square = 3, least_gain = -2;

/* ---- Windows ---- */

static bool is_position(const struct evidence_series *series, const struct series_sequence *sequence,
	const struct series_window *window, size_t element)
{
	size_t at = sequence->begins[element];

	if (series->is_barred[at] || (window->only > 0 && window->only != element))
		return false;
	return series->is_known[at] ||
	       (element - window->from >= (sequence->begins[window->from] == 0 ? LEAST_FIRST : LEAST_SIDE) &&
		       (window->to - element >= LEAST_SIDE || sequence->begins[window->to] == series->count));
}

static void add_window(struct series_sequence *sequence, size_t from, size_t to, size_t only)
{
	ARRAY_GROW(&sequence->windows, &sequence->window_capacity, sequence->window_count + 1);
	sequence->windows[sequence->window_count++] = (struct series_window){ from, to, only };
}

static void add_seeded(struct series_sequence *sequence)
{
	add_window(sequence, 0, sequence->count, 0);
	for (size_t length = (sequence->count + 1) / 2; length >= SHORTEST_WINDOW; length = (length + 1) / 2)
		for (size_t from = 0; from + length / 2 < sequence->count; from += length / 2) {
			size_t to = from + length < sequence->count ? from + length : sequence->count;

			if (to - from >= SHORTEST_WINDOW)
				add_window(sequence, from, to, 0);
		}
}

/* Adds each known position between its neighbours. */
static void add_known(const struct evidence_series *series, struct series_sequence *sequence)
{
	size_t before = 0;

	for (size_t i = 1; i < sequence->count; i++) {
		size_t next = i + 1;

		if (!series->is_known[sequence->begins[i]])
			continue;
		while (next < sequence->count && !series->is_known[sequence->begins[next]])
			next++;
		if (before > 0 || next < sequence->count)
			add_window(sequence, before, next, i);
		before = i;
	}
}

static void count_windows(const struct evidence_series *series, struct series_sequences *sequences)
{
	for (size_t s = 0; s < sequences->count; s++) {
		const struct series_sequence *sequence = &sequences->items[s];

		for (size_t w = 0; w < sequence->window_count; w++)
			for (size_t i = sequence->windows[w].from + 1; i < sequence->windows[w].to; i++)
				sequences->windows_at[sequence->begins[i]] +=
					is_position(series, sequence, &sequence->windows[w], i);
	}
}

/* Makes a sequence of the profiles [from, to), one by one or by their starts. */
static void sequence_init(
	const struct evidence_series *series, size_t from, size_t to, bool by_start, struct series_sequence *sequence)
{
	*sequence = (struct series_sequence){ .begins = memory_alloc((to - from + 1) * sizeof(size_t)) };
	for (size_t i = from; i < to; i++)
		if (i == from || !by_start || series->starts[i] != series->starts[i - 1])
			sequence->begins[sequence->count++] = i;
	sequence->begins[sequence->count] = to;
	add_seeded(sequence);
	add_known(series, sequence);
}

void series_sequences_init(const struct evidence_series *series, struct series_sequences *sequences)
{
	size_t count = series->count;

	*sequences = (struct series_sequences){ memory_zeroed(count + 1, sizeof(*sequences->items)), 0,
		memory_zeroed(count + 1, sizeof(size_t)) };
	if (series->starts[0] != series->starts[count - 1])
		sequence_init(series, 0, count, true, &sequences->items[sequences->count++]);
	for (size_t from = 0, to; from < count; from = to) {
		for (to = from + 1; to < count && series->starts[to] == series->starts[from];)
			to++;
		if (to - from > 1)
			sequence_init(series, from, to, false, &sequences->items[sequences->count++]);
	}
	count_windows(series, sequences);
}

void series_sequences_deinit(struct series_sequences *sequences)
{
	for (size_t i = 0; i < sequences->count; i++) {
		free(sequences->items[i].begins);
		free(sequences->items[i].windows);
	}
	free(sequences->items);
	free(sequences->windows_at);
}

double series_window_part(const struct series_sequences *sequences, size_t at, bool is_whole)
{
	size_t windows = sequences->windows_at[at];

	if (windows < 2)
		return 1;
	return is_whole ? .5 : .5 / (double)(windows - 1);
}

/* ---- Sums ---- */

/* Sums over the elements before one. */
struct series_sums {
	double samples, work, squares, whole, factors, loads;
	struct {
		double precision, first, second, logs;
	} spreads[EVIDENCE_OTHER_SPREADS]; /* of the logarithms of the elements' costs */
};

struct summed_row {
	const struct evidence_series *series;
	const struct series_sequence *sequence;
	const struct evidence_series_row *row;
	struct series_sums *sums; /* owned: [element + 1] */
	double level;             /* the logarithm of the mean cost */
	double excess[EVIDENCE_OTHER_SPREADS];
};

/* Adds up an element. */
static void sum_element(const struct summed_row *s, size_t element, struct series_sums *sums)
{
	for (size_t i = s->sequence->begins[element]; i < s->sequence->begins[element + 1]; i++) {
		sums->samples += s->row->samples[i];
		sums->work += s->row->work[i];
		sums->whole += s->series->samples[i];
		sums->factors += s->series->factors ? s->series->factors[i] : 0;
		sums->loads += s->series->loads ? s->series->loads[i] : 0;
	}
}

/* Returns how many samples an element would have at the rate of those around it, so that its own noise weighs nothing.
 */
static double typical_samples(const struct summed_row *s, size_t element, double work)
{
	enum { AROUND = 2 };
	size_t count = s->sequence->count, from = element > AROUND ? element - AROUND : 0;
	size_t to = element + AROUND < count ? element + AROUND + 1 : count;
	const struct series_sums *low = &s->sums[from], *high = &s->sums[to];

	return (high->samples - low->samples) / (high->work - low->work) * work;
}

static void sum_spreads(struct summed_row *s, size_t element)
{
	struct series_sums *after = &s->sums[element + 1], *before = &s->sums[element];
	double samples = after->samples - before->samples, work = after->work - before->work;
	double value = log((samples + .5) / work) - s->level;
	double counting = s->row->is_total ? 0 : 1 / (typical_samples(s, element, work) + .5);

	for (int k = 0; k < EVIDENCE_OTHER_SPREADS; k++) {
		double precision = 1 / (counting + evidence_square(evidence_spreads[k]));

		after->spreads[k].precision = before->spreads[k].precision + precision;
		after->spreads[k].first = before->spreads[k].first + precision * value;
		after->spreads[k].second = before->spreads[k].second + precision * value * value;
		after->spreads[k].logs = before->spreads[k].logs + log(precision);
	}
}

static void summed_row_init(struct summed_row *s)
{
	s->sums = memory_zeroed(s->sequence->count + 1, sizeof(*s->sums));
	for (size_t i = 0; i < s->sequence->count; i++) {
		struct series_sums own = { 0 };

		sum_element(s, i, &own);
		s->sums[i + 1] = (struct series_sums){ s->sums[i].samples + own.samples, s->sums[i].work + own.work,
			s->sums[i].squares + own.work * own.work, s->sums[i].whole + own.whole,
			s->sums[i].factors + own.factors, s->sums[i].loads + own.loads, { { 0 } } };
	}
	s->level = log((s->sums[s->sequence->count].samples + .5) / s->sums[s->sequence->count].work);
	for (size_t i = 0; i < s->sequence->count; i++)
		sum_spreads(s, i);
	for (int k = 0; k < EVIDENCE_OTHER_SPREADS; k++)
		s->excess[k] = expm1(evidence_square(evidence_spreads[k]));
}

/* ---- A split ---- */

/* Two sides by their sums: elements [from, at) and [at, to). */
struct summed_split {
	const struct summed_row *s;
	size_t ends[EVIDENCE_SIDES + 1];
	double samples[EVIDENCE_SIDES], work[EVIDENCE_SIDES], shares[EVIDENCE_SIDES];
	double effect, variance; /* but for the spread */
};

static bool split_is_hypothesis(const struct summed_split *split)
{
	double part = 0;

	for (int side = 0; side < EVIDENCE_SIDES; side++)
		part = fmax(part, split->samples[side] / (split->s->sums[split->ends[side + 1]].whole -
								 split->s->sums[split->ends[side]].whole));
	return evidence_is_hypothesis(split->samples[0] + split->samples[1], part);
}

static double split_profiles(const struct summed_split *split, int side)
{
	const size_t *begins = split->s->sequence->begins;

	return (double)(begins[split->ends[side + 1]] - begins[split->ends[side]]);
}

static void split_fill(struct summed_split *split)
{
	const struct summed_row *s = split->s;
	double common = 0, load = 0;
	struct evidence_factor factor;

	for (int side = 0; side < EVIDENCE_SIDES; side++) {
		const struct series_sums *low = &s->sums[split->ends[side]], *high = &s->sums[split->ends[side + 1]];

		split->samples[side] = high->samples - low->samples;
		split->work[side] = high->work - low->work;
		split->shares[side] = (high->squares - low->squares) / evidence_square(split->work[side]);
		common = (high->factors - low->factors) / split_profiles(split, side) - common;
		load = (high->loads - low->loads) / split_profiles(split, side) - load;
	}
	factor = series_factor_of(s->series, s->row, common, load);
	split->effect =
		log(fmax(split->samples[1], .5) * split->work[0] / (fmax(split->samples[0], .5) * split->work[1])) -
		factor.mean;
	split->variance = row_follow_variance(s->row->class, &factor);
	for (int side = 0; side < EVIDENCE_SIDES && !s->row->is_total; side++)
		split->variance += 1 / fmax(split->samples[side], .5);
}

/* Returns the logarithm of the likelihood of a spread by the elements of a side, less one degree for their mean. */
static double side_likelihood(const struct summed_split *split, int side, int k)
{
	const struct series_sums *low = &split->s->sums[split->ends[side]],
				 *high = &split->s->sums[split->ends[side + 1]];
	double precision = high->spreads[k].precision - low->spreads[k].precision;
	double first = high->spreads[k].first - low->spreads[k].first;

	if (split->ends[side + 1] - split->ends[side] < 2)
		return 0;
	return .5 * (high->spreads[k].logs - low->spreads[k].logs - (high->spreads[k].second - low->spreads[k].second) +
			    first * first / precision - log(precision));
}

/* Returns the logarithm of the density of a normal distribution. */
static double log_density(double x, double variance)
{
	return -.5 * x * x / variance - .5 * log(2 * M_PI * variance);
}

static double log_sum(double a, double b)
{
	double high = fmax(a, b), low = fmin(a, b);

	return low == -INFINITY ? high : high + log1p(exp(low - high));
}

static double split_gain(const struct summed_split *split)
{
	static const double negligible = -30;
	const struct summed_row *s = split->s;
	double weights[EVIDENCE_OTHER_SPREADS], top = -INFINITY, same = -INFINITY, changed = -INFINITY;

	for (int k = 0; k < EVIDENCE_OTHER_SPREADS; k++) {
		weights[k] = log(evidence_spread_priors[s->row->class][k] + 1e-12) + side_likelihood(split, 0, k) +
			     side_likelihood(split, 1, k);
		top = fmax(top, weights[k]);
	}
	for (int k = 0; k < EVIDENCE_OTHER_SPREADS; k++) {
		double variance = split->variance + log1p(s->excess[k] * split->shares[0]) +
				  log1p(s->excess[k] * split->shares[1]);

		if (weights[k] - top < negligible)
			continue;
		same = log_sum(same, weights[k] + log_density(split->effect, variance));
		changed = log_sum(changed,
			weights[k] + log_density(split->effect, variance + evidence_square(evidence_change_sd)));
	}
	return changed - same;
}

static bool split_is_worth_a_look(const struct summed_split *split)
{
	double least = split->variance + evidence_square(evidence_spreads[1]) * (split->shares[0] + split->shares[1]);

	return evidence_square(split->effect) >= least_square * least && split_is_hypothesis(split);
}

/* ---- All of a row ---- */

static void look_in_window(const struct summed_row *s, const struct series_sequences *sequences,
	const struct series_window *window, struct series_gains *gains)
{
	for (size_t i = window->from + 1; i < window->to; i++) {
		struct summed_split split = { .s = s, .ends = { window->from, i, window->to } };
		size_t at = s->sequence->begins[i];
		bool is_whole = window == s->sequence->windows;
		double gain;

		if (!is_position(s->series, s->sequence, window, i))
			continue;
		split_fill(&split);
		if (!split_is_worth_a_look(&split))
			continue;
		gain = split_gain(&split) + log(series_window_part(sequences, at, is_whole));
		gains->at[at] = log_sum(gains->at[at], gain);
		if (gain > least_gain)
			ARRAY_PUSH(&gains->guesses, &gains->guess_capacity, &gains->guess_count,
				((struct series_guess){
					{ s->sequence->begins[window->from], at, s->sequence->begins[window->to] },
					gain }));
	}
}

void series_gains_fill(const struct evidence_series *series, const struct series_sequences *sequences,
	const struct evidence_series_row *row, struct series_gains *gains)
{
	*gains = (struct series_gains){ .at = memory_alloc(series->count * sizeof(double)) };
	for (size_t i = 0; i < series->count; i++)
		gains->at[i] = -INFINITY;
	for (size_t i = 0; i < sequences->count; i++) {
		struct summed_row s = { .series = series, .sequence = &sequences->items[i], .row = row };

		summed_row_init(&s);
		for (size_t w = 0; w < s.sequence->window_count; w++)
			look_in_window(&s, sequences, &s.sequence->windows[w], gains);
		free(s.sums);
	}
}

void series_gains_deinit(struct series_gains *gains)
{
	free(gains->at);
	free(gains->guesses);
}
