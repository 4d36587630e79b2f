/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the model promises of any row, whatever its counts are, and of rows that are drawn from the model itself. */
#include "common/common.h"
#include "diff/evidence/evidence.h"
#include "tests/unit/support/drawn_spread.h"
#include "tests/unit/support/unit_test.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PROFILES = 1000, ROWS = 300 };

/* ---- Rows ---- */

struct side {
	double samples[MOST_PROFILES], work[MOST_PROFILES];
	size_t count;
};

/* A row's counts, those of its second halves, and those of what inlining leaves its time in. */
struct drawn {
	enum evidence_class class;
	struct side sides[EVIDENCE_SIDES], late[EVIDENCE_SIDES], conserved[EVIDENCE_SIDES];
	bool in_pairs;
};

static struct evidence_counts counts_of(const struct side *side)
{
	return (struct evidence_counts){ side->samples, side->work, side->count };
}

static struct evidence_row row_of(const struct drawn *drawn)
{
	struct evidence_row row = { .class = drawn->class, .part = 1, .in_pairs = drawn->in_pairs };

	for (int side = 0; side < EVIDENCE_SIDES; side++) {
		row.sides[side] = counts_of(&drawn->sides[side]);
		row.late[side] = counts_of(&drawn->late[side]);
		row.conserved[side] = counts_of(&drawn->conserved[side]);
	}
	return row;
}

struct weighed {
	struct evidence evidence;
	double low, high;
};

static struct weighed weigh(const struct drawn *drawn, const struct evidence_factor *factor)
{
	struct evidence_row row = row_of(drawn);
	struct weighed weighed;

	evidence_weigh_row(&row, factor, &weighed.evidence);
	evidence_interval(&weighed.evidence, &weighed.low, &weighed.high);
	return weighed;
}

/* Draws a side whose costs have a spread and a change that they share. */
static void draw_side(gsl_rng *rng, struct side *side, double mean, double spread, double change)
{
	for (size_t i = 0; i < side->count; i++) {
		side->work[i] = gsl_ran_flat(rng, .5, 2);
		side->samples[i] = gsl_ran_poisson(
			rng, fmin(mean * side->work[i] * exp(change + gsl_ran_gaussian(rng, spread)), 1e9));
	}
}

/* Draws a row of any kind: one profile a side or several, few samples or many, with all that a row may have besides. */
static void draw_any(gsl_rng *rng, struct drawn *drawn)
{
	static const size_t counts[] = { 1, 1, 2, 3, 8 };
	double mean = exp(gsl_ran_flat(rng, -1, 8));

	*drawn = (struct drawn){ .class = (enum evidence_class)gsl_rng_uniform_int(rng, EVIDENCE_CLASSES) };
	for (int side = 0; side < EVIDENCE_SIDES; side++) {
		bool has_late = gsl_rng_uniform_int(rng, 2), is_conserved = gsl_rng_uniform_int(rng, 2);

		drawn->sides[side].count = counts[gsl_rng_uniform_int(rng, 5)];
		drawn->late[side].count = has_late;
		drawn->conserved[side].count = is_conserved ? drawn->sides[side].count : 0;
		draw_side(rng, &drawn->sides[side], mean, .3, side ? gsl_ran_gaussian(rng, 1) : 0);
		draw_side(rng, &drawn->late[side], mean / 2, .3, 0);
		draw_side(rng, &drawn->conserved[side], mean * 2, .3, 0);
	}
	drawn->in_pairs = drawn->sides[0].count == drawn->sides[1].count && gsl_rng_uniform_int(rng, 2);
	drawn->conserved[1].count = drawn->conserved[0].count > 0 ? drawn->sides[1].count : 0;
	draw_side(rng, &drawn->conserved[1], mean * 2, .3, 0);
}

static struct evidence_factor draw_factor(gsl_rng *rng)
{
	return (struct evidence_factor){ .mean = gsl_ran_gaussian(rng, .3),
		.variance = gsl_ran_flat(rng, 0, .1),
		.load = gsl_rng_uniform_int(rng, 2) ? gsl_ran_gaussian(rng, 1) : 0 };
}

static void assert_near(double value, double expected)
{
	if (!(fabs(value - expected) <= 1e-6 * fmax(1e-3, fabs(expected))))
		fail_msg("%.12g where %.12g is expected", value, expected);
}

/* Calls `check` with rows of every kind. */
static void for_all_rows(void (*check)(gsl_rng *rng, struct drawn *drawn, const struct evidence_factor *factor))
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct drawn *drawn = malloc(sizeof(*drawn));

	assert_non_null(drawn);
	for (unsigned long seed = 0; seed < ROWS; seed++) {
		struct evidence_factor factor;

		gsl_rng_set(rng, seed + 1);
		draw_any(rng, drawn);
		factor = draw_factor(rng);
		check(rng, drawn, &factor);
	}
	free(drawn);
	gsl_rng_free(rng);
}

/* ---- Symmetry ---- */

static void swap_sides(struct side sides[EVIDENCE_SIDES])
{
	struct side base = sides[0];

	sides[0] = sides[1];
	sides[1] = base;
}

static void check_swapped(gsl_rng *rng, struct drawn *drawn, const struct evidence_factor *factor)
{
	struct evidence_factor back = { -factor->mean, factor->variance, -factor->load };
	struct weighed there = weigh(drawn, factor), mirrored;

	(void)rng;
	swap_sides(drawn->sides);
	swap_sides(drawn->late);
	swap_sides(drawn->conserved);
	mirrored = weigh(drawn, &back);
	assert_near(mirrored.evidence.p, there.evidence.p);
	assert_near(mirrored.evidence.effect, -there.evidence.effect);
	assert_near(evidence_gain(&mirrored.evidence), evidence_gain(&there.evidence));
	assert_near(mirrored.low, -there.high);
	assert_near(mirrored.high, -there.low);
}

static void swapping_the_sides_mirrors_the_evidence(void **state)
{
	(void)state;
	for_all_rows(check_swapped);
}

static void assert_same_weighed(const struct weighed *a, const struct weighed *b)
{
	assert_near(a->evidence.p, b->evidence.p);
	assert_near(a->evidence.effect, b->evidence.effect);
	assert_near(a->low, b->low);
	assert_near(a->high, b->high);
}

static void reverse(double *values, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		double value = values[i];

		values[i] = values[count - 1 - i];
		values[count - 1 - i] = value;
	}
}

static void check_permuted(gsl_rng *rng, struct drawn *drawn, const struct evidence_factor *factor)
{
	struct weighed before = weigh(drawn, factor), after;

	(void)rng;
	for (int side = 0; side < EVIDENCE_SIDES; side++) {
		reverse(drawn->sides[side].samples, drawn->sides[side].count);
		reverse(drawn->sides[side].work, drawn->sides[side].count);
	}
	after = weigh(drawn, factor);
	assert_same_weighed(&after, &before);
}

static void the_order_of_profiles_does_not_matter(void **state)
{
	(void)state;
	for_all_rows(check_permuted);
}

static void multiply_work(struct side sides[EVIDENCE_SIDES], double times)
{
	for (int side = 0; side < EVIDENCE_SIDES; side++)
		for (size_t i = 0; i < sides[side].count; i++)
			sides[side].work[i] *= times;
}

static void check_unit_of_work(gsl_rng *rng, struct drawn *drawn, const struct evidence_factor *factor)
{
	double times = exp(gsl_ran_gaussian(rng, 5));
	struct weighed before = weigh(drawn, factor), after;

	multiply_work(drawn->sides, times);
	multiply_work(drawn->late, times);
	multiply_work(drawn->conserved, times);
	after = weigh(drawn, factor);
	assert_same_weighed(&after, &before);
}

static void the_unit_of_work_does_not_matter(void **state)
{
	(void)state;
	for_all_rows(check_unit_of_work);
}

/* ---- Sense ---- */

static void check_sensible(gsl_rng *rng, struct drawn *drawn, const struct evidence_factor *factor)
{
	struct weighed w = weigh(drawn, factor);

	(void)rng;
	assert_true(w.evidence.p > 0 && w.evidence.p <= 1);
	assert_true(isfinite(w.low) && isfinite(w.high) && isfinite(evidence_gain(&w.evidence)));
	assert_true(w.low <= w.evidence.effect && w.evidence.effect <= w.high && w.low < w.high);
}

static void what_is_said_of_a_row_is_possible(void **state)
{
	(void)state;
	for_all_rows(check_sensible);
}

static struct drawn plain(enum evidence_class class, size_t profiles, double base, double head)
{
	struct drawn drawn = { .class = class };

	for (int side = 0; side < EVIDENCE_SIDES; side++) {
		drawn.sides[side].count = profiles;
		for (size_t i = 0; i < profiles; i++) {
			drawn.sides[side].work[i] = 1;
			drawn.sides[side].samples[i] = side ? head : base;
		}
	}
	return drawn;
}

/* Where start-up, load and inlining have no say, p is below 5 % where the interval leaves out 0, and hardly elsewhere.
 */
static void the_interval_agrees_with_p(void **state)
{
	static const struct evidence_factor none = { 0 };

	(void)state;
	for (int i = 0; i < EVIDENCE_CLASSES * 4; i++)
		for (double base = 0; base <= 2000; base = base < 10 ? base + 2 : base * 2)
			for (double head = 8; head < 1e4; head *= 1.4) {
				struct drawn drawn =
					plain((enum evidence_class)(i / 4), (size_t)(i % 4) + 1, base, head);
				struct weighed w = weigh(&drawn, &none);

				if (w.low > 0 || w.high < 0 ? w.evidence.p > .08 : w.evidence.p < .045)
					fail_msg("class %d, %d profiles of %g and %g samples: p %g, %g to %g", i / 4,
						i % 4 + 1, base, head, w.evidence.p, w.low, w.high);
			}
}

/* A row that one side does not have: the interval is open in one direction only as far as the model's prior is. */
static void what_one_side_lacks_has_a_bound(void **state)
{
	static const struct evidence_factor none = { 0 };
	double last = 0;

	(void)state;
	for (double head = 20; head <= 1e6; head *= 5) {
		struct drawn drawn = plain(EVIDENCE_OTHER, 3, 0, head);
		struct weighed w = weigh(&drawn, &none);

		/* At least so many times as much: more, the more samples there are. */
		assert_true(w.low > last && w.low < w.evidence.effect && w.evidence.p < .01);
		last = w.low;
	}
}

/* The numbers that a program, a machine or a file may have, however strange. */
static void no_counts_make_nonsense(void **state)
{
	static const double samples[] = { 0, 1e-9, .5, 7.5, 49.9, 50, 1e4, 1e13 };
	static const double work[] = { 1e-9, 1, 1e9 };
	static const struct evidence_factor factors[] = { { 0 }, { .3, .01, 0 }, { -3.9, 2, 4.6 }, { 3.9, 2, -4.6 } };
	enum { SAMPLES = sizeof(samples) / sizeof(samples[0]) };

	(void)state;
	for (int class = 0; class < EVIDENCE_CLASSES; class ++)
		for (size_t i = 0; i < SAMPLES * SAMPLES; i++)
			for (size_t k = 0; k < 3 * 4; k++) {
				struct drawn drawn = plain((enum evidence_class) class, 1 + i % 3, samples[i / SAMPLES],
					samples[i % SAMPLES]);
				struct weighed w;

				drawn.sides[1].work[0] = work[k % 3];
				drawn.sides[0].samples[0] *= k % 2 ? 1 : 0;
				w = weigh(&drawn, &factors[k / 3]);
				if (!(w.evidence.p >= 0 && w.evidence.p <= 1 && isfinite(w.low) && isfinite(w.high) &&
					    w.low <= w.high))
					fail_msg("class %d, %g and %g samples for %g: p %g, %g to %g", class,
						samples[i / SAMPLES], samples[i % SAMPLES], work[k % 3], w.evidence.p,
						w.low, w.high);
				assert_true(isfinite(evidence_gain(&w.evidence)));
			}
}

static void a_thousand_profiles_a_side_are_weighed(void **state)
{
	static const struct evidence_factor none = { 0 };
	struct drawn *drawn = malloc(sizeof(*drawn));
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct weighed w;

	(void)state;
	assert_non_null(drawn);
	*drawn = (struct drawn){ .sides = { { .count = MOST_PROFILES }, { .count = MOST_PROFILES } } };
	draw_side(rng, &drawn->sides[0], 100, .2, 0);
	draw_side(rng, &drawn->sides[1], 100, .2, .05);
	w = weigh(drawn, &none);
	/* So many tell what the spread is, and a twentieth. */
	assert_true(w.evidence.weights[4] > .99);
	assert_true(w.evidence.p < 1e-3 && w.low > .02 && w.high < .08);
	free(drawn);
	gsl_rng_free(rng);
}

/* ---- Rows of the model itself ---- */

struct rates {
	double covered, flagged, width; /* shares of rows, and the mean */
};

/* Draws rows whose spreads are of their class' prior, and whose changes are of a standard deviation. */
static struct rates simulate(enum evidence_class class, size_t profiles, double samples, double change_sd, size_t rows)
{
	static const struct evidence_factor none = { 0 };
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct drawn *drawn = malloc(sizeof(*drawn));
	struct rates rates = { 0 };

	assert_non_null(drawn);
	for (size_t i = 0; i < rows; i++) {
		double spread = drawn_spread(rng, class), change = change_sd > 0 ? gsl_ran_gaussian(rng, change_sd) : 0;
		struct weighed w;

		*drawn = (struct drawn){ .class = class, .sides = { { .count = profiles }, { .count = profiles } } };
		draw_side(rng, &drawn->sides[0], samples / (double)profiles, spread, 0);
		draw_side(rng, &drawn->sides[1], samples / (double)profiles, spread, change);
		w = weigh(drawn, &none);
		rates.covered += (w.low <= change && change <= w.high) / (double)rows;
		rates.flagged += (w.evidence.p < .05) / (double)rows;
		rates.width += (w.high - w.low) / (double)rows;
	}
	free(drawn);
	gsl_rng_free(rng);
	return rates;
}

static const enum evidence_class classes[] = { EVIDENCE_OTHER, EVIDENCE_COMPILED, EVIDENCE_WAITING };
enum { DRAWN_CLASSES = sizeof(classes) / sizeof(classes[0]), DRAWN_ROWS = 250 };

/*
 * Of all that the model draws, 95 % are covered and 5 % are flagged where nothing changed, but for what its
 * approximations cost: a sum of lognormal costs is no lognormal one, and counts of a side are taken for negative
 * binomial ones.
 */
static void intervals_cover_what_the_model_draws(void **state)
{
	static const size_t profiles[] = { 1, 2, 3, 8 };
	static const double samples[] = { 30, 1000 };
	enum { SETUPS = 8 };

	(void)state;
	for (int c = 0; c < DRAWN_CLASSES; c++) {
		struct rates all = { 0 };

		for (int i = 0; i < SETUPS; i++) {
			struct rates same = simulate(classes[c], profiles[i / 2], samples[i % 2], 0, DRAWN_ROWS),
				     changed = simulate(classes[c], profiles[i / 2], samples[i % 2], 1, DRAWN_ROWS);

			all.covered += (same.covered + changed.covered) / 2 / SETUPS;
			all.flagged += same.flagged / SETUPS;
		}
		print_message("class %d: covered %.3f, flagged %.3f\n", classes[c], all.covered, all.flagged);
		assert_true(all.covered > .93 && all.covered < .97);
		assert_true(all.flagged < .07);
	}
}

static void more_data_narrows_the_expected_interval(void **state)
{
	(void)state;
	for (int c = 0; c < DRAWN_CLASSES; c++) {
		double last = INFINITY;

		for (size_t profiles = 1; profiles <= 16; profiles *= 2) {
			double width = simulate(classes[c], profiles, 200 * (double)profiles, 1, DRAWN_ROWS).width;

			assert_true(width < last);
			last = width;
		}
		last = INFINITY;
		for (double samples = 10; samples <= 1e5; samples *= 10) {
			double width = simulate(classes[c], 1, samples, 1, DRAWN_ROWS).width;

			/* From some number on it is the starts that decide. */
			assert_true(width < last * 1.02);
			last = width;
		}
	}
}

/* ---- Profiles of few rows ---- */

/* What a pair shares cancels: its rows are known as well as if there were none. */
static void the_factor_of_a_pair_cancels(void **state)
{
	static const struct evidence_factor none = { 0 };
	struct drawn drawn = plain(EVIDENCE_BENCHMARK, 6, 0, 0);
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	struct weighed apart, in_pairs;

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		double of_pair = 1e6 * exp(gsl_ran_gaussian(rng, .1));

		drawn.sides[0].samples[i] = of_pair * exp(gsl_ran_gaussian(rng, .01));
		drawn.sides[1].samples[i] = of_pair * exp(gsl_ran_gaussian(rng, .01) + .05);
	}
	apart = weigh(&drawn, &none);
	drawn.in_pairs = true;
	in_pairs = weigh(&drawn, &none);
	print_message("p %.2g apart, %.2g in pairs, %.3f to %.3f\n", apart.evidence.p, in_pairs.evidence.p,
		in_pairs.low, in_pairs.high);
	assert_true(apart.evidence.p > .1 && in_pairs.evidence.p < .01);
	assert_true(in_pairs.low > .02 && in_pairs.high < .08);
	gsl_rng_free(rng);
}

/* One profile of eight in which another program ran: it counts for little, and all others count. */
static void a_disturbed_profile_counts_for_little(void **state)
{
	struct drawn drawn = plain(EVIDENCE_BENCHMARK, 8, 0, 0);
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	double base[8], head[8];
	struct evidence_row row;

	(void)state;
	for (size_t i = 0; i < 8; i++)
		for (int side = 0; side < EVIDENCE_SIDES; side++)
			drawn.sides[side].samples[i] =
				1e6 * exp(gsl_ran_gaussian(rng, .01)) * (side == 1 && i == 3 ? 1.4 : 1);
	row = row_of(&drawn);
	evidence_find_disturbed(&row, (double *[]){ base, head });
	for (size_t i = 0; i < 8; i++)
		assert_true(base[i] > .8 && (i == 3 ? head[i] < .01 : head[i] > .8));
	gsl_rng_free(rng);
}

/* What is not decided at one look may be at another: all looks together keep the rate. */
static void looks_share_the_rate(void **state)
{
	double sum = 0;

	(void)state;
	assert_true(evidence_look_adjustment(0) == 1);
	for (unsigned int look = 1; look < 10000; look++)
		sum += 1 / evidence_look_adjustment(look);
	assert_true(sum > .99 && sum <= 1);
}

/* ---- Common factors ---- */

enum { FACTOR_ROWS = 30 };

struct factor_rows {
	struct drawn *drawn; /* owned; [FACTOR_ROWS] */
	struct evidence_row rows[FACTOR_ROWS];
};

static void factor_rows_deinit(struct factor_rows *rows)
{
	free(rows->drawn);
}

/* Draws rows of a program whose head costs `factor` more, as a logarithm, in samples of about `mean`; 0: base has none.
 */
static void draw_rows(struct factor_rows *all, size_t profiles, double mean, double factor)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	all->drawn = calloc(FACTOR_ROWS, sizeof(*all->drawn));
	assert_non_null(all->drawn);
	for (size_t i = 0; i < FACTOR_ROWS; i++) {
		struct drawn *drawn = &all->drawn[i];
		double own = fmax(mean, 100) * exp(gsl_ran_gaussian(rng, .5));

		for (int side = 0; side < EVIDENCE_SIDES; side++) {
			drawn->sides[side].count = profiles;
			draw_side(rng, &drawn->sides[side], own, .05, side ? factor : 0);
		}
		if (!(mean > 0))
			memset(drawn->sides[0].samples, 0, sizeof(drawn->sides[0].samples));
		for (int side = 0; side < EVIDENCE_SIDES; side++)
			for (size_t k = 0; k < profiles; k++) {
				drawn->sides[side].samples[k] /= drawn->sides[side].work[k];
				drawn->sides[side].work[k] = 1;
			}
		all->rows[i] = row_of(drawn);
	}
	gsl_rng_free(rng);
}

static const struct evidence_load any_loads[] = {
	{ .is_flat = true },
	{ .totals = EVIDENCE_TOTAL },
	{ .totals = EVIDENCE_TOTAL_COMMAND },
	{ .totals = EVIDENCE_TOTAL_COMPILED, .change = 4.6 },
	{ .totals = EVIDENCE_WAITING, .change = -4.6, .is_apart = true },
};
enum { ANY_LOADS = sizeof(any_loads) / sizeof(any_loads[0]) };

/* All functions are new, or cost a hundred times as much or as little, at a hundred times the load or the same. */
static void common_factors_are_numbers(void **state)
{
	static const double means[] = { 0, 100, 100, 100, 100 }, factors[] = { 0, 0, 4.6, -4.6, 9 };

	(void)state;
	for (size_t i = 0; i < 5 * ANY_LOADS; i++) {
		CLEANUP(factor_rows_deinit) struct factor_rows all = { 0 };
		struct evidence_factor factor;

		draw_rows(&all, 1 + i % 3, means[i / ANY_LOADS], factors[i / ANY_LOADS]);
		evidence_common_factor(all.rows, FACTOR_ROWS, &any_loads[i % ANY_LOADS], &factor);
		assert_true(isfinite(factor.mean) && factor.variance >= 0 && factor.variance < 10);
		for (size_t k = 0; k < FACTOR_ROWS; k++) {
			struct weighed w = weigh(&all.drawn[k], &factor);

			assert_true(w.evidence.p > 0 && w.evidence.p <= 1 && isfinite(w.low) && isfinite(w.high));
		}
	}
}

static void what_all_rows_have_in_common_is_found(void **state)
{
	(void)state;
	for (double common = -1; common <= 1; common += .25) {
		CLEANUP(factor_rows_deinit) struct factor_rows all = { 0 };
		struct evidence_load load = { .is_flat = true };
		struct evidence_factor there, back;

		draw_rows(&all, 3, 1000, common);
		evidence_common_factor(all.rows, FACTOR_ROWS, &load, &there);
		assert_true(fabs(there.mean - common) < fmin(.15, 3 * sqrt(there.variance)));
		for (size_t i = 0; i < FACTOR_ROWS; i++) {
			swap_sides(all.drawn[i].sides);
			all.rows[i] = row_of(&all.drawn[i]);
		}
		evidence_common_factor(all.rows, FACTOR_ROWS, &load, &back);
		assert_near(back.mean, -there.mean);
		assert_near(back.variance, there.variance);
	}
}

/* A profile in which nothing was sampled has no part in how certain the others are, and makes nothing of them. */
static void an_empty_profile_is_no_noise(void **state)
{
	double base[] = { 0, 200 }, head[] = { 100 };

	(void)state;
	evidence_make_certain((double *const[]){ base, head }, (const size_t[]){ 2, 1 });
	assert_near(base[0], 0);
	assert_near(base[1], 2 * head[0]);
	assert_true(head[0] >= 1e7 && isfinite(head[0]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(swapping_the_sides_mirrors_the_evidence),
		cmocka_unit_test(the_order_of_profiles_does_not_matter),
		cmocka_unit_test(the_unit_of_work_does_not_matter),
		cmocka_unit_test(what_is_said_of_a_row_is_possible),
		cmocka_unit_test(the_interval_agrees_with_p),
		cmocka_unit_test(what_one_side_lacks_has_a_bound),
		cmocka_unit_test(no_counts_make_nonsense),
		cmocka_unit_test(a_thousand_profiles_a_side_are_weighed),
		cmocka_unit_test(intervals_cover_what_the_model_draws),
		cmocka_unit_test(more_data_narrows_the_expected_interval),
		cmocka_unit_test(the_factor_of_a_pair_cancels),
		cmocka_unit_test(a_disturbed_profile_counts_for_little),
		cmocka_unit_test(looks_share_the_rate),
		cmocka_unit_test(common_factors_are_numbers),
		cmocka_unit_test(what_all_rows_have_in_common_is_found),
		cmocka_unit_test(an_empty_profile_is_no_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
