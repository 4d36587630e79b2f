/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/symbolize.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>

enum { ADDRESSES = 64, MOST_ALLOCATIONS = 100000 };

static struct symbolize_result *resolve(struct elf_image *image, const uint64_t *addresses, bool *succeeded)
{
	const struct symbolize_options options = { .threads = 1 };
	struct symbolize_result *result = NULL;
	struct error err = { 0 };

	*succeeded = symbolize_addresses(image, addresses, ADDRESSES, &options, &result, &err);
	failing_malloc_after(SIZE_MAX);
	if (!*succeeded) {
		assert_int_equal(err.code, ERROR_MEMORY);
		assert_null(result);
	}
	return result;
}

static bool is_same(const struct symbolize_result *a, const struct symbolize_result *b)
{
	for (size_t i = 0; i < ADDRESSES; i++) {
		struct symbolize_frames of_a = symbolize_result_frames(a, i), of_b = symbolize_result_frames(b, i);

		if (of_a.count != of_b.count || strcmp(of_a.frames[0].name, of_b.frames[0].name) != 0)
			return false;
	}
	return true;
}

/* From the nth allocation on there is no memory: naming fails cleanly. It succeeds with the same names once it needs no
 * more. */
static void fail_each_allocation(const char *program)
{
	uint64_t addresses[ADDRESSES];
	struct symbolize_result *whole;
	struct elf_section section;
	struct elf_image *image;
	bool is_complete = false, succeeded;
	struct error err;

	assert_true(elf_image_open_path(program, &image, &err));
	assert_true(elf_image_section(image, ".text", &section));
	for (size_t i = 0; i < ADDRESSES; i++)
		addresses[i] = section.address + i * (section.size / ADDRESSES);
	whole = resolve(image, addresses, &succeeded);
	assert_true(succeeded);
	for (size_t n = 0; !is_complete; n += 1 + n / 64) {
		struct symbolize_result *result;

		assert_true(n < MOST_ALLOCATIONS);
		failing_malloc_after(n);
		result = resolve(image, addresses, &succeeded);
		is_complete = succeeded && is_same(result, whole);
		symbolize_result_destroy(result);
	}
	symbolize_result_destroy(whole);
	elf_image_unref(image);
}

static void every_failed_allocation_is_an_error(void **state)
{
	static const char *const programs[] = { "c-gcc-5", "cxx-gcc-4", "cxx-gcc-zlib", "cxx-gcc-split-5", "linked",
		"stripped" };

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", PROGRAMS, programs[i]);
		fail_each_allocation(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_failed_allocation_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
