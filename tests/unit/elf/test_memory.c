/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binaries.h"

#include "tests/unit/support/failing_malloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void every_failed_allocation_is_an_error(void **state)
{
	bool succeeded = false;
	size_t n;

	(void)state;
	for (n = 0; !succeeded; n++) {
		struct elf_image *image = NULL;
		struct error err = { 0 };
		struct elf_section section;
		bool opened;

		assert_true(n < 100);
		failing_malloc_after(n);
		opened = elf_image_open_path(binary_path("libcompressed.so"), &image, &err);
		/* A section that cannot be inflated is one that is not there. */
		succeeded = opened && elf_image_section(image, ".debug_info", &section);
		failing_malloc_after(SIZE_MAX);
		assert_true(opened || err.code == ERROR_MEMORY);
		elf_image_unref(image);
	}
	assert_true(n > 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_failed_allocation_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
