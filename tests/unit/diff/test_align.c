/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "synthetic_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void suffixes_of_the_compiler_are_canonical(void **state)
{
	struct profile *base = synthetic_profile("main;f.isra.0 100\nmain;g 100\n");
	struct profile *head = synthetic_profile("main;f.constprop.1 100\nmain;g 100\n");
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, NULL);

	assert_int_equal(diff->node_count, 4);
	assert_int_equal(synthetic_function(diff, "f.constprop.1")->tier, DIFF_TIER_SAME);
	assert_int_equal(synthetic_function(diff, "g")->tier, DIFF_TIER_SAME);
}

static void a_renamed_program_is_the_same_program(void **state)
{
	struct profile *base = synthetic_profile("main!server_old;f!server_old 100\nmain!server_old;g!libc.so 100\n");
	struct profile *head = synthetic_profile("main!server_new;f!server_new 100\nmain!server_new;g!libc.so 100\n");
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, NULL);

	assert_int_equal(diff->function_count, 3);
	assert_int_equal(diff->node_count, 4);
	assert_int_equal(synthetic_function(diff, "f")->tier, DIFF_TIER_SAME);
}

static void assert_renamed(const struct diff *diff, const char *old, const char *new)
{
	const struct diff_function *from = synthetic_function(diff, old), *to = synthetic_function(diff, new);

	assert_true(diff_tier_is_rename(to->tier));
	assert_int_equal(to->total.state, DIFF_STATE_MOVED);
	assert_int_equal(from->total.state, DIFF_STATE_MOVED);
	assert_ptr_equal(&diff->functions[to->moved_to], from);
	assert_ptr_equal(&diff->functions[from->moved_to], to);
	assert_true(to->raw_total[DIFF_BASE] > 0 && to->raw_total[DIFF_HEAD] > 0);
}

static void assert_nothing_else(const struct diff *diff)
{
	for (size_t i = 0; i < diff->function_count; i++) {
		enum diff_state self = diff->functions[i].self.state, total = diff->functions[i].total.state;

		assert_true(self == DIFF_STATE_SAME || self == DIFF_STATE_MOVED);
		assert_true(total == DIFF_STATE_SAME || total == DIFF_STATE_MOVED);
	}
	for (size_t i = 0; i < diff->node_count; i++)
		assert_true(diff->nodes[i].state == DIFF_STATE_SAME || diff->nodes[i].state == DIFF_STATE_MOVED);
}

static void equal_code_under_another_name_is_a_rename(void **state)
{
	struct profile *base = synthetic_runs("main#1;decode#7;bits#8 4000\nmain#1;rest#2 6000\n", 3);
	struct profile *head = synthetic_runs("main#1;Reader::next#7;bits#8 4000\nmain#1;rest#2 6000\n", 3);
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, NULL);

	assert_renamed(diff, "decode", "Reader::next");
	assert_nothing_else(diff);
	assert_int_equal(diff->verdict, DIFF_UNCHANGED);
}

static void a_rename_is_seen_by_callers_and_callees(void **state)
{
	struct profile *base = synthetic_runs("main;decode;bits 400\nmain;decode;fill 100\nmain;rest 600\n", 3);
	struct profile *head = synthetic_runs("main;next;bits 400\nmain;next;fill 100\nmain;rest 600\n", 3);
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, NULL);

	assert_renamed(diff, "decode", "next");
	assert_nothing_else(diff);
}

static void one_removed_and_one_added_are_no_rename(void **state)
{
	struct profile *base = synthetic_runs("main;checksum 200\nmain;rest 600\n", 3);
	struct profile *head = synthetic_runs("main;audit_log 200\nmain;rest 600\n", 3);
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, NULL);

	assert_int_equal(synthetic_function(diff, "checksum")->total.state, DIFF_STATE_GONE);
	assert_int_equal(synthetic_function(diff, "audit_log")->total.state, DIFF_STATE_NEW);
}

/* A leaf that was replaced by another one of the same kind: as much time in the same place, and half of the letters. */
static void a_replaced_leaf_is_no_rename(void **state)
{
	struct profile *base = synthetic_runs("main#1;adler32_z#7 200\nmain#1;rest#2 600\n", 3);
	struct profile *head = synthetic_runs("main#1;crc32_z#8 200\nmain#1;rest#2 600\n", 3);
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, NULL);

	assert_int_equal(synthetic_function(diff, "adler32_z")->total.state, DIFF_STATE_GONE);
	assert_int_equal(synthetic_function(diff, "crc32_z")->total.state, DIFF_STATE_NEW);
}

static void a_rename_that_got_dearer_is_still_more(void **state)
{
	struct profile *base = synthetic_runs(
		"main#1;decode#7;bits#8 400\nmain#1;rest#2 600\nmain#1;more#3 700\nmain#1;last#4 300\n", 4);
	struct profile *head = synthetic_runs(
		"main#1;next#7;bits#8 800\nmain#1;rest#2 600\nmain#1;more#3 700\nmain#1;last#4 300\n", 4);
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, NULL);

	assert_int_equal(synthetic_function(diff, "next")->total.state, DIFF_STATE_MORE);
	assert_int_equal(diff->verdict, DIFF_REGRESSED);
}

/* Without debug information an inlined function's time is its caller's. */
static void inlining_is_no_loss_and_gain(void **state)
{
	CLEANUP(profile_cleanup)
	struct profile *base = synthetic_runs(
		"main;parse 3000\nmain;parse;next_char 4000\nmain;parse;next_char;fill 1000\nmain;rest 6000\n", 3);
	CLEANUP(profile_cleanup)
	struct profile *head = synthetic_runs("main;parse 7000\nmain;parse;fill 1000\nmain;rest 6000\n", 3);
	CLEANUP(diff_cleanup)
	struct diff *there = synthetic_diff(base, head, NULL), *back = synthetic_diff(head, base, NULL);

	assert_int_equal(synthetic_function(there, "next_char")->total.state, DIFF_STATE_MOVED);
	assert_int_equal(synthetic_function(there, "parse")->self.state, DIFF_STATE_MOVED);
	assert_nothing_else(there);
	assert_nothing_else(back);
	assert_int_equal(there->verdict, DIFF_UNCHANGED);
}

static void inlined_code_is_as_changed_as_what_holds_it(void **state)
{
	struct profile *base = synthetic_profile("main#1;f#2;^in_f 100\nmain#1;g#3;^in_g 100\n");
	struct profile *head = synthetic_profile("main#1;f#9;^in_f 100\nmain#1;g#3;^in_g 100\n");
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, NULL);

	assert_int_equal(synthetic_function(diff, "in_f")->code, DIFF_CODE_CHANGED);
	assert_int_equal(synthetic_function(diff, "in_g")->code, DIFF_CODE_SAME);
}

/* Every mapping of a profile is of this build. */
static void set_build(struct profile *profile, const char *build_id)
{
	struct error err;

	for (size_t i = 0; i < profile->mapping_count; i++)
		assert_true(profile_intern(profile, build_id, &profile->mappings[i].build_id, &err));
}

static void assert_no_rename(struct profile *base, struct profile *head)
{
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_diff(base, head, NULL);

	assert_int_equal(synthetic_function(diff, "decode")->tier, DIFF_TIER_ONE_SIDED);
	assert_int_equal(synthetic_function(diff, "next")->tier, DIFF_TIER_ONE_SIDED);
	/* What they call may still have moved from the one to the other. */
	assert_true(synthetic_function(diff, "decode")->self.state != DIFF_STATE_MOVED);
	profile_destroy(base);
	profile_destroy(head);
}

/* The same pairs as above, which are renames where the binary was built anew. */
static void what_stands_in_the_same_binary_was_not_renamed(void **state)
{
	static const char *const lines[][DIFF_SIDES] = {
		{ "main;decode;bits 400\nmain;decode;fill 100\nmain;rest 600\n",
			"main;next;bits 400\nmain;next;fill 100\nmain;rest 600\n" },
		{ "main#1;decode#7;bits#8 4000\nmain#1;rest#2 6000\n",
			"main#1;next#7;bits#8 4000\nmain#1;rest#2 6000\n" },
	};

	for (size_t i = 0; i < 2; i++) {
		struct profile *base = synthetic_runs(lines[i][DIFF_BASE], 3),
			       *head = synthetic_runs(lines[i][DIFF_HEAD], 3);

		set_build(base, "aa11");
		set_build(head, "aa11");
		assert_no_rename(base, head);
	}
}

static void other_builds_may_rename(void **state)
{
	struct profile *base = synthetic_runs("main;decode;bits 400\nmain;decode;fill 100\nmain;rest 600\n", 3);
	struct profile *head = synthetic_runs("main;next;bits 400\nmain;next;fill 100\nmain;rest 600\n", 3);
	CLEANUP(diff_cleanup) struct diff *diff = NULL;

	set_build(base, "aa11");
	set_build(head, "bb22");
	diff = synthetic_compare(base, head, NULL);
	assert_renamed(diff, "decode", "next");
}

/* One address may give its name to what it alone is; for several nobody does. */
static void addresses_do_not_name_each_other(void **state)
{
	CLEANUP(profile_cleanup) struct profile *one = synthetic_profile("main;lib.so+0x12!lib.so 100\nmain;f 100\n");
	CLEANUP(profile_cleanup)
	struct profile *two = synthetic_profile("main;lib.so+0x12!lib.so 60\nmain;lib.so+0x34!lib.so 40\nmain;f 100\n");
	CLEANUP(diff_cleanup)
	struct diff *diff = synthetic_diff(one, one, NULL), *both = synthetic_diff(one, two, NULL), *single = NULL;
	struct error err;

	assert_float_equal(synthetic_function(diff, "lib.so+0x12")->raw_self[DIFF_HEAD], 100e6, 1);
	assert_float_equal(synthetic_function(both, "[unnamed]")->raw_self[DIFF_HEAD], 100e6, 1);
	assert_float_equal(synthetic_function(both, "[unnamed]")->raw_self[DIFF_BASE], 100e6, 1);
	assert_true(diff_create_single(two, NULL, &single, &err));
	assert_float_equal(synthetic_function(single, "[unnamed]")->raw_self[DIFF_HEAD], 100e6, 1);
}

static void no_self_time_on_one_side_is_neither_new_nor_gone(void **state)
{
	CLEANUP(profile_cleanup) struct profile *base = synthetic_runs("main;f;g 1000\nmain;rest 6000\n", 3);
	CLEANUP(profile_cleanup)
	struct profile *head = synthetic_runs("main;f;g 1000\nmain;f 900\nmain;rest 6000\n", 3);
	CLEANUP(diff_cleanup)
	struct diff *there = synthetic_diff(base, head, NULL), *back = synthetic_diff(head, base, NULL);

	assert_int_equal(synthetic_function(there, "f")->self.state, DIFF_STATE_MORE);
	assert_int_equal(synthetic_function(back, "f")->self.state, DIFF_STATE_LESS);
}

/* A shell that starts two builds is on both sides; the builds are one program all the same, with its stubs and its
 * start-up code. */
static void a_program_behind_a_shell_is_the_same_program(void **state)
{
	struct profile *base =
		synthetic_profile("main!sh;_start!old;main!old;work!old 400\n_start!old;main!old;rand@plt!old 90\n"
				  "_start!old;main!old;rand!libc.so 300\nmain!sh 30\n");
	struct profile *head =
		synthetic_profile("main!sh;_start!new;main!new;work!new 400\n_start!new;main!new;rand@plt!new 90\n"
				  "_start!new;main!new;rand!libc.so 300\nmain!sh 30\n");
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, NULL);

	for (size_t i = 0; i < diff->function_count; i++)
		assert_true(diff->functions[i].raw_total[DIFF_BASE] == diff->functions[i].raw_total[DIFF_HEAD]);
	assert_int_equal(synthetic_function(diff, "rand@plt")->tier, DIFF_TIER_SAME);
	assert_nothing_else(diff);
}

/* Inlined code lies in what holds it: where that is the same to the byte, another name is a rename, however little they
 * are alike. */
static void inlined_code_under_another_name_is_a_rename(void **state)
{
	struct profile *base =
		synthetic_runs("main#1;loop#2;^mix_step 3000\nmain#1;loop#2 2000\nmain#1;rest#3 6000\n", 3);
	struct profile *head =
		synthetic_runs("main#1;loop#2;^scramble_round 3000\nmain#1;loop#2 2000\nmain#1;rest#3 6000\n", 3);
	CLEANUP(diff_cleanup) struct diff *diff = synthetic_compare(base, head, NULL);

	assert_renamed(diff, "mix_step", "scramble_round");
	assert_nothing_else(diff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(suffixes_of_the_compiler_are_canonical),
		cmocka_unit_test(a_renamed_program_is_the_same_program),
		cmocka_unit_test(equal_code_under_another_name_is_a_rename),
		cmocka_unit_test(a_rename_is_seen_by_callers_and_callees),
		cmocka_unit_test(one_removed_and_one_added_are_no_rename),
		cmocka_unit_test(a_replaced_leaf_is_no_rename),
		cmocka_unit_test(a_rename_that_got_dearer_is_still_more),
		cmocka_unit_test(inlining_is_no_loss_and_gain),
		cmocka_unit_test(inlined_code_is_as_changed_as_what_holds_it),
		cmocka_unit_test(what_stands_in_the_same_binary_was_not_renamed),
		cmocka_unit_test(other_builds_may_rename),
		cmocka_unit_test(a_program_behind_a_shell_is_the_same_program),
		cmocka_unit_test(inlined_code_under_another_name_is_a_rename),
		cmocka_unit_test(addresses_do_not_name_each_other),
		cmocka_unit_test(no_self_time_on_one_side_is_neither_new_nor_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
