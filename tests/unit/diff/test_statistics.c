/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/probability/probability.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void medians_halve_the_weight(void **state)
{
	struct weighted_value three[] = { { 5, 1 }, { 1, 1 }, { 2, 1 } }, even[] = { { 1, 1 }, { 3, 1 } },
			      heavy[] = { { 9, 3 }, { 1, 1 }, { 2, 1 } };

	assert_true(weighted_median(three, 3) == 2);
	assert_true(weighted_median(even, 2) == 2);
	assert_true(weighted_median(heavy, 3) == 9);
	assert_true(isnan(weighted_median(NULL, 0)));
}

/* Against tables: t with 5 degrees of freedom exceeds 2.5706 in 2.5 %. */
static void tails_agree_with_tables(void **state)
{
	assert_float_equal(tail_two_sided(2.570582, 5), 0.05, 1e-6);
	assert_float_equal(tail_two_sided(1.959964, INFINITY), 0.05, 1e-6);
	assert_float_equal(tail_quantile(0.025, 5), 2.570582, 1e-5);
}

/* Hollander and Wolfe 1973, page 29: V = 40, p = 0.0391, and the interval is 0.010 to 0.786. */
static void signed_ranks_agree_with_a_published_example(void **state)
{
	static const double before[] = { 1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30 },
			    after[] = { 0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29 };
	double differences[9], zeros[] = { 0, 0, 0, 0, 0, 0, 0 }, alike[] = { 1, 1, 1, 1, 1, 1, 1 }, most[100];
	struct signed_rank result;

	for (size_t i = 0; i < 9; i++)
		differences[i] = before[i] - after[i];
	result = signed_rank_of(differences, 9);
	assert_float_equal(result.p, 0.0390625, 1e-9);
	assert_float_equal(result.low, 0.010, 1e-9);
	assert_float_equal(result.high, 0.786, 1e-9);
	assert_float_equal(signed_rank_of(zeros, 7).p, 1, 1e-9);
	assert_float_equal(signed_rank_of(alike, 7).p, 2.0 / 128, 1e-9);
	/* Too few for 95 %: all of them. */
	result = signed_rank_of((double[]){ -1, 2 }, 2);
	assert_true(result.p == 1 && result.low == -1 && result.high == 2);
	/* As many as there may be: the normal distribution of the sum. */
	for (size_t i = 0; i < SIGNED_RANK_MOST; i++)
		most[i] = (double)(i + 1) * (i % 3 == 0 ? -1 : 1);
	result = signed_rank_of(most, SIGNED_RANK_MOST);
	assert_float_equal(result.p, tail_two_sided((3333.0 - 2525) / sqrt(100.0 * 101 * 201 / 24), INFINITY), 5e-4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(medians_halve_the_weight),
		cmocka_unit_test(tails_agree_with_tables),
		cmocka_unit_test(signed_ranks_agree_with_a_published_example),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
