/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulation_fixture.h"
#include "tests/unit/support/unit_test.h"

/*
 * Base against itself, where few functions have samples in every block, as of a server that spends its time all over
 * the kernel: what is said of all must not hang on those few. With bursts as heavy as these a function in a few hundred
 * passes for one that changed.
 */
static void blocks_of_one_recording_agree(void **state)
{
	size_t flagged = 0, functions = 0, pairs = simulation_pairs(60);

	for (unsigned long seed = 1; seed <= pairs; seed++) {
		struct simulation s = simulation_create(seed * 6007, 200, 0.1);
		CLEANUP(profile_cleanup) struct profile *profile = NULL;
		CLEANUP(diff_cleanup) struct diff *diff = NULL;

		profile = simulation_attached(&s, 12, 4000, NULL);
		diff = synthetic_diff(profile, profile, NULL);
		assert_int_equal(diff->evidence.mode, DIFF_EVIDENCE_SINGLE);
		assert_true(diff->evidence.aa_done);
		flagged += diff->evidence.aa_false_flags;
		functions += diff->evidence.aa_functions;
		simulation_deinit(&s);
	}
	print_message("flagged against themselves: %zu of %zu functions\n", flagged, functions);
	assert_true(functions > 1000);
	assert_true(flagged <= functions / 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_of_one_recording_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
