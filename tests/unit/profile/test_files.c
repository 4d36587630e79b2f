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

/* What they are, and the next step. */
static void files_of_other_kinds_are_told(void **state)
{
	static const struct {
		const char *text;
		size_t size;
		const char *said;
	} files[] = {
#define FILE_OF(text, said) { text, sizeof(text) - 1, said }
		FILE_OF("\x28\xb5\x2f\xfd\4\0\1\0", "packed with zstd; unpack it first: zstd -d"),
		FILE_OF("\xfd"
			"7zXZ\0",
			"xz -d"),
		FILE_OF("BZh91AY&SY\0", "bzip2 -d"),
		FILE_OF("\x04\x22\x4d\x18", "lz4 -d"),
		FILE_OF("PK\3\4\x14\0", "a zip archive; unpack it first: unzip"),
		FILE_OF("\x7f"
			"ELF\2\1\1\0",
			"a program or library; 'kelvin record"),
		FILE_OF("FLR\0\0\2", "jfrconv"),
		FILE_OF("# callgrind format\nversion: 1\n", "callgrind"),
		FILE_OF("# To display the perf.data header info, please use --header\n#\n", "the text of 'perf report"),
		FILE_OF("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 3\n", "git lfs pull"),
		FILE_OF("<!doctype html>\n<html>\n", "a page or a picture"),
		FILE_OF("{\"schema\": \"kelvin.report/1\"}", "JSON that kelvin wrote"),
		FILE_OF("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"x\":1}",
			"speedscope file"),
		FILE_OF("\n {\"threads\":[{\"stackTable\":{\"length\": 3}}]}", "Firefox Profiler"),
		FILE_OF("{\"traceEvents\":[]}", "Chrome trace"),
		FILE_OF("{\"nodes\":[],\"timeDeltas\":[]}", "profile of V8"),
		FILE_OF("work 27979 79524.904175:    1003009 cpu-clock: \n\t 133a f (/x)\n",
			"the text of 'perf script"),
		FILE_OF("# =====\n#\nwork 27979/1 [000] 79524.904175111: 1 cycles: f (/x)\n",
			"the text of 'perf script"),
		FILE_OF("letter of 3.1234567 pages\nand more", "not a profile"),
		FILE_OF("{\"a\": 1}", "not a profile"),
#undef FILE_OF
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct profile *profile;
		struct error err;

		assert_int_equal(profile_bytes_kind(files[i].text, files[i].size), PROFILE_BYTES_UNKNOWN);
		assert_false(profile_read(files[i].text, files[i].size, "name", &profile, &err));
		assert_true(strncmp(err.message, "cannot read name: ", 18) == 0);
		assert_non_null(strstr(err.message, files[i].said));
	}
}

static void what_is_no_profile_is_said_so(void **state)
{
	(void)state;
	expect_refused("", 0, ERROR_FORMAT, "empty");
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
		cmocka_unit_test(files_of_other_kinds_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
