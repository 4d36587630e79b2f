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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(medians_halve_the_weight),
		cmocka_unit_test(tails_agree_with_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
