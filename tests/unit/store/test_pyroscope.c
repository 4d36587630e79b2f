/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/pyroscope/pyroscope.h"

#include "tests/unit/profile/profile_fixture.h"
#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

static void labels_are_named_as_the_store_takes_them(void **state)
{
	static const char *const rows[][2] = { { "service", "service_name" }, { "version", "version" },
		{ "k8s.pod-name", "k8s_pod_name" }, { "4th", "_4th" }, { "caf\xc3\xa9", "caf__" } };
	char name[64], little[4];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pyroscope_label_name(rows[i][0], name, sizeof(name));
		assert_string_equal(name, rows[i][1]);
	}
	pyroscope_label_name("version", little, sizeof(little));
	assert_string_equal(little, "ver");
}

static void a_value_does_not_end_its_selector(void **state)
{
	CLEANUP(buffer_deinit) struct buffer selector = { 0 };

	buffer_init(&selector, 4096);
	pyroscope_append_matcher(&selector, "a", "=", "\",b=\"\\\n");
	buffer_append_byte(&selector, '\0');
	assert_string_equal(selector.data, "a=\"\\\",b=\\\"\\\\\\n\"");
}

/* The pieces together have the values of the profile, and each can be read. */
static void pieces_are_the_profile(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = sample_profile();
	struct pyroscope_split *split;
	struct pyroscope_piece piece;
	struct error err;
	bool is_there;
	int64_t sum = 0;

	assert_true(pyroscope_split_create(profile, &split, &err));
	for (;;) {
		CLEANUP(profile_cleanup) struct profile *read = NULL;

		assert_true(pyroscope_split_next(split, &piece, &is_there, &err));
		if (!is_there)
			break;
		assert_true(piece.size <= PYROSCOPE_MAX_BYTES);
		read = read_profile(piece.bytes, piece.size);
		assert_true(read->sample_count <= PYROSCOPE_MAX_SAMPLES);
		if (piece.value_type == profile->default_value_type)
			sum += piece.total;
	}
	pyroscope_split_destroy(split);
	assert_true(sum == profile_sum(profile, profile->default_value_type));
}

static void a_parcel_without_memory_is_an_error(void **state)
{
	const struct store_filter labels[] = { { (char[]){ "service" }, (char[]){ "api" } } };
	CLEANUP(profile_cleanup) struct profile *profile = sample_profile();
	struct error err;
	bool ok = false;

	for (size_t count = 0; !ok && count < 10000; count++) {
		CLEANUP(store_parcel_deinit) struct store_parcel parcel = { 0 };

		assert_true(store_parcel_init(&parcel, NULL, &err));
		failing_malloc_after(count);
		ok = store_prepare(STORE_PYROSCOPE, profile, labels, 1, &parcel, &err);
		failing_malloc_after(SIZE_MAX);
		assert_true(ok || err.code == ERROR_MEMORY);
	}
	assert_true(ok);
}

static void a_profile_without_a_service_is_refused(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = sample_profile();
	CLEANUP(store_parcel_deinit) struct store_parcel parcel = { 0 };
	struct error err;

	for (size_t i = 0; i < profile->label_count; i++)
		if (strcmp(profile_string(profile, profile->labels[i].key), PROFILE_LABEL_SERVICE) == 0)
			profile->label_count = i;
	assert_true(store_parcel_init(&parcel, NULL, &err));
	assert_false(store_prepare(STORE_PYROSCOPE, profile, NULL, 0, &parcel, &err));
	assert_int_equal(err.code, ERROR_USAGE);
	assert_non_null(strstr(err.message, "--label service=NAME"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(labels_are_named_as_the_store_takes_them),
		cmocka_unit_test(a_value_does_not_end_its_selector),
		cmocka_unit_test(pieces_are_the_profile),
		cmocka_unit_test(a_parcel_without_memory_is_an_error),
		cmocka_unit_test(a_profile_without_a_service_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
