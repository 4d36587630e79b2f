/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"
#include "tests/unit/support/unit_test.h"

enum { MOST = 1200 };

/* Takes one after the other until no more is given; returns how many that were. */
static uint64_t take_all(struct shares *shares, uint64_t account)
{
	while (shares_take(shares, account, 1))
		;
	return shares_of(shares, account);
}

static void one_alone_gets_a_half(void **state)
{
	struct shares shares;

	shares_init(&shares, MOST);
	assert_int_equal(take_all(&shares, 1), MOST / 2);
	assert_int_equal(shares.held, MOST / 2);
	shares_deinit(&shares);
}

static void those_who_come_together_get_the_same(void **state)
{
	struct shares shares;
	bool is_taken = true;

	shares_init(&shares, MOST);
	while (is_taken) {
		is_taken = false;
		for (uint64_t account = 1; account <= 3; account++)
			is_taken |= shares_take(&shares, account, 1);
	}
	for (uint64_t account = 1; account <= 3; account++)
		assert_int_equal(shares_of(&shares, account), MOST / 4);
	shares_deinit(&shares);
}

/* However many are greedy: the next one finds as much as is left to each of them. */
static void something_is_left_for_everybody(void **state)
{
	struct shares shares;
	uint64_t left = MOST;

	shares_init(&shares, MOST);
	for (uint64_t account = 1; account <= 8; account++) {
		assert_int_equal(take_all(&shares, account), left / 2);
		left -= left / 2;
	}
	assert_true(take_all(&shares, 9) > 0);
	assert_false(shares_take(&shares, 1, 1));
	shares_deinit(&shares);
}

static void what_is_given_back_is_free_for_all(void **state)
{
	struct shares shares;

	shares_init(&shares, MOST);
	(void)take_all(&shares, 1);
	(void)take_all(&shares, 2);
	shares_give_back(&shares, 1, MOST / 2);
	assert_int_equal(shares_of(&shares, 1), 0);
	assert_int_equal(take_all(&shares, 3), (MOST - MOST / 4) / 2);
	shares_give_back(&shares, 4, 0);
	shares_deinit(&shares);
}

static void no_amount_is_too_large_to_be_refused(void **state)
{
	struct shares shares;

	shares_init(&shares, MOST);
	assert_false(shares_take(&shares, 1, MOST / 2 + 1));
	assert_false(shares_take(&shares, 1, UINT64_MAX));
	assert_false(shares_take(&shares, SHARES_NOBODY, UINT64_MAX));
	assert_true(shares_take(&shares, 1, MOST / 2));
	assert_true(shares_take(&shares, SHARES_NOBODY, MOST / 2));
	assert_false(shares_take(&shares, SHARES_NOBODY, 1));
	assert_int_equal(shares.held, MOST);
	shares_deinit(&shares);
}

static void who_holds_most_is_found(void **state)
{
	struct shares shares;
	struct error err;

	shares_init(&shares, MOST);
	assert_true(shares_greatest(&shares) == SHARES_NOBODY);
	assert_true(shares_add(&shares, 1, 700, &err));
	assert_true(shares_add(&shares, 2, 500, &err));
	assert_false(shares_fit(&shares, 1));
	assert_int_equal(shares_greatest(&shares), 1);
	shares_give_back(&shares, 1, 300);
	assert_true(shares_fit(&shares, 300));
	assert_int_equal(shares_greatest(&shares), 2);
	/* What is only counted may be more than there is. */
	assert_true(shares_add(&shares, 1, 2 * MOST, &err));
	assert_false(shares_fit(&shares, 0));
	assert_false(shares_take(&shares, 3, 0));
	shares_deinit(&shares);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_alone_gets_a_half),
		cmocka_unit_test(those_who_come_together_get_the_same),
		cmocka_unit_test(something_is_left_for_everybody),
		cmocka_unit_test(what_is_given_back_is_free_for_all),
		cmocka_unit_test(no_amount_is_too_large_to_be_refused),
		cmocka_unit_test(who_holds_most_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
