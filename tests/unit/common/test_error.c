/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"
#include "tests/unit/support/unit_test.h"

#include <errno.h>
#include <string.h>

static void context_is_put_before(void **state)
{
	struct error err = { 0 };

	assert_false(error_set(&err, ERROR_FORMAT, "bad address %d", 7));
	assert_false(error_prefix(&err, "maps: line %d", 3));
	assert_string_equal(err.message, "maps: line 3: bad address 7");
	assert_int_equal(err.code, ERROR_FORMAT);
}

static void system_errors_have_their_kind(void **state)
{
	static const struct {
		int number;
		enum error_code code;
	} cases[] = { { EACCES, ERROR_PERMISSION }, { EPERM, ERROR_PERMISSION }, { ENOENT, ERROR_NOT_FOUND },
		{ ESRCH, ERROR_NOT_FOUND }, { ENOMEM, ERROR_MEMORY }, { EIO, ERROR_SYSTEM } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct error err = { 0 };

		assert_false(error_set_errno(&err, cases[i].number, "cannot open %s", "x"));
		assert_int_equal(err.code, cases[i].code);
		assert_non_null(strstr(err.message, "cannot open x: "));
		assert_non_null(strstr(err.message, strerror(cases[i].number)));
		if (cases[i].code == ERROR_SYSTEM || cases[i].code == ERROR_PERMISSION)
			assert_int_equal(err.system_errno, cases[i].number);
	}
}

static void what_does_not_fit_is_cut(void **state)
{
	char longer[2 * ERROR_MESSAGE_SIZE];
	struct error err = { 0 };

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_false(error_set(&err, ERROR_LIMIT, "%s", longer));
	assert_int_equal(strlen(err.message), ERROR_MESSAGE_SIZE - 1);
	assert_false(error_prefix(&err, "%s", longer));
	assert_true(strlen(err.message) < ERROR_MESSAGE_SIZE);
	assert_false(error_set(&err, ERROR_FORMAT, "short"));
	for (int i = 0; i < 300; i++)
		error_prefix(&err, "level %d", i);
	assert_true(strlen(err.message) < ERROR_MESSAGE_SIZE);
}

static void no_memory_needs_no_memory(void **state)
{
	struct error err = { 0 };

	assert_false(error_set_memory(&err));
	assert_int_equal(err.code, ERROR_MEMORY);
	assert_true(err.message[0] != '\0');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(context_is_put_before),
		cmocka_unit_test(system_errors_have_their_kind),
		cmocka_unit_test(what_does_not_fit_is_cut),
		cmocka_unit_test(no_memory_needs_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
