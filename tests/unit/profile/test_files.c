/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sample_profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void what_is_written_reads_back_equal(void **state)
{
	struct profile *made = sample_profile(), *back;
	struct buffer file = written_profile(made), again;

	(void)state;
	back = read_profile(file.data, file.size);
	assert_profiles_equal(made, back);
	for (size_t i = 1; i < back->sample_count; i++)
		assert_true(back->samples[i - 1].stack <= back->samples[i].stack);
	again = written_profile(back);
	assert_int_equal(file.size, again.size);
	assert_memory_equal(file.data, again.data, file.size);
	buffer_deinit(&file);
	buffer_deinit(&again);
	profile_destroy(back);
	profile_destroy(made);
}

static void an_empty_profile_is_a_file_too(void **state)
{
	struct profile *made, *back;
	struct buffer file;
	struct error err;

	(void)state;
	assert_true(profile_create(&made, &err));
	file = written_profile(made);
	back = read_profile(file.data, file.size);
	assert_int_equal(back->sample_count, 0);
	assert_string_equal(profile_string(back, back->value_types[0].type), "samples");
	buffer_deinit(&file);
	profile_destroy(back);
	profile_destroy(made);
}

/* Reads bytes that may be anything: a profile or one clear line, never both. */
static bool reads(const void *bytes, size_t size)
{
	struct profile *profile = NULL;
	struct error err = { 0 };
	bool ok = profile_read(bytes, size, "name.pb.gz", &profile, &err);

	if (ok) {
		assert_true(profile_validate(profile, &err));
	} else {
		assert_null(profile);
		assert_non_null(strstr(err.message, "name.pb.gz"));
		assert_null(strchr(err.message, '\n'));
	}
	profile_destroy(profile);
	return ok;
}

static void every_truncation_is_an_error(void **state)
{
	struct profile *made = sample_profile();
	struct buffer file = written_profile(made);

	(void)state;
	for (size_t size = 0; size < file.size; size++) {
		/* A copy of exactly that size, so that a read behind it is seen. */
		void *bytes = malloc(size ? size : 1);

		memcpy(bytes, file.data, size);
		assert_false(reads(bytes, size));
		free(bytes);
	}
	buffer_deinit(&file);
	profile_destroy(made);
}

static void every_damaged_byte_is_survived(void **state)
{
	struct profile *made = sample_profile();
	struct buffer file = written_profile(made);

	(void)state;
	for (size_t i = 0; i < file.size; i++) {
		char kept = file.data[i];

		for (int bit = 0; bit < 8; bit++) {
			file.data[i] = (char)(kept ^ 1 << bit);
			reads(file.data, file.size);
		}
		file.data[i] = kept;
	}
	assert_true(reads(file.data, file.size));
	buffer_deinit(&file);
	profile_destroy(made);
}

static void what_is_no_profile_is_said_so(void **state)
{
	(void)state;
	expect_refused("", 0, ERROR_FORMAT, "empty");
	expect_refused("\x7f"
		       "ELF\2\1\1\0\0\0\0",
		11, ERROR_FORMAT, "name");
	expect_refused("hello world\nthis is text\n", 25, ERROR_FORMAT, "name");
	expect_refused("\x1f\x8b\x08\0\0\0\0\0\0\3", 10, ERROR_FORMAT, "name");
	expect_refused("{\"a\": 1}", 8, ERROR_FORMAT, "name");
	assert_int_equal(profile_bytes_kind("PERFILE2....", 12), PROFILE_BYTES_PERF_DATA);
	assert_int_equal(profile_bytes_kind("main;f 3\n", 9), PROFILE_BYTES_FOLDED);
	assert_int_equal(profile_bytes_kind("", 0), PROFILE_BYTES_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_reads_back_equal),
		cmocka_unit_test(an_empty_profile_is_a_file_too),
		cmocka_unit_test(every_truncation_is_an_error),
		cmocka_unit_test(every_damaged_byte_is_survived),
		cmocka_unit_test(what_is_no_profile_is_said_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
