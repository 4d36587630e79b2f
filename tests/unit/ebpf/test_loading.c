/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/ebpf/loading.h"
#include "tests/unit/support/unit_test.h"

#include <errno.h>
#include <string.h>

static void fail_with_log(const char *log, int result, struct error *err)
{
	struct loading loading;

	loading_init(&loading);
	strcpy(loading.log, log);
	assert_false(loading_fail(err, &loading, result, "load it"));
}

static void test_the_verifier_gives_the_reason(void **state)
{
	struct error err;

	fail_with_log(
		"0: (79) r1 = *(u64 *)(r1 +0)\nR1 type=ctx expected=fp\nprocessed 1 insns (limit 1000000) max_states 0\n",
		-EACCES, &err);
	assert_string_equal(err.message, "cannot load it: R1 type=ctx expected=fp: Permission denied");
	assert_int_equal(err.code, ERROR_PERMISSION);
}

static void test_without_a_reason_the_error_stands_alone(void **state)
{
	struct error err;

	fail_with_log("", -EPERM, &err);
	assert_string_equal(err.message, "cannot load it: Operation not permitted");
	fail_with_log("processed 1 insns\n", -E2BIG, &err);
	assert_string_equal(err.message, "cannot load it: Argument list too long");
	assert_false(loading_fail(&err, NULL, -ENOENT, "open it"));
	assert_string_equal(err.message, "cannot open it: No such file or directory");
}

/* A log that did not fit ends anywhere. */
static void test_a_cut_log(void **state)
{
	struct loading loading;
	struct error err;

	loading_init(&loading);
	memset(loading.log, 'x', sizeof(loading.log) - 1);
	loading.log[sizeof(loading.log) - 1] = '\0';
	assert_false(loading_fail(&err, &loading, -ENOSPC, "load it"));
	assert_int_equal(strlen(err.message), ERROR_MESSAGE_SIZE - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_verifier_gives_the_reason),
		cmocka_unit_test(test_without_a_reason_the_error_stands_alone),
		cmocka_unit_test(test_a_cut_log),
	};

	return cmocka_run_group_tests_name("ebpf.loading", tests, NULL, NULL);
}
