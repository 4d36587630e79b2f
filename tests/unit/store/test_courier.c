/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/courier.h"

#include "tests/unit/store/small_server.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

static void a_courier_answers_and_ends(void **state)
{
	struct store_secrets secrets = { 0 };
	struct store_address address;
	struct store_profiles profiles;
	struct store *store;
	struct error err;

	assert_true(store_address_parse("clickhouse+coroot+http://127.0.0.1:1/db", 1, &address, &err));
	if (!store_open(&address, &secrets, &store, &err))
		fail_msg("%s", err.message);
	for (int i = 0; i < 2; i++) {
		assert_false(store_fetch(store, &address, &profiles, &err));
		assert_non_null(strstr(err.message, "http://127.0.0.1:1"));
	}
	store_close(store);
	store_address_deinit(&address);
}

static void another_store_is_refused(void **state)
{
	struct store_secrets secrets = { 0 };
	struct store_address address, other;
	struct store_profiles profiles;
	struct store *store;
	struct error err;

	assert_true(store_address_parse("pyroscope+http://127.0.0.1:1/", 1, &address, &err));
	assert_true(store_address_parse("pyroscope+http://127.0.0.1:2/", 1, &other, &err));
	assert_true(store_open(&address, &secrets, &store, &err));
	assert_false(store_fetch(store, &other, &profiles, &err));
	assert_non_null(strstr(err.message, "another store"));
	store_close(store);
	store_address_deinit(&address);
	store_address_deinit(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_courier_answers_and_ends),
		cmocka_unit_test(another_store_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
