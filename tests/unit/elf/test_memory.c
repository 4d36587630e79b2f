/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binaries_fixture.h"
#include "mapping_fixture.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>

static void every_failed_allocation_is_an_error(void **state)
{
	bool succeeded = false;
	size_t n;

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

static void without_section_headers_it_is_one_too(void **state)
{
	size_t size, n;
	uint8_t *bytes = binary_without_sections("liboriginal.so", &size);
	bool opened = false;

	for (n = 0; !opened; n++) {
		struct elf_image *image = NULL;
		struct error err = { 0 };
		struct elf_section section;

		assert_true(n < 100);
		failing_malloc_after(n);
		opened = elf_image_open_memory(bytes, size, "without sections", &image, &err);
		failing_malloc_after(SIZE_MAX);
		assert_true(opened ? elf_image_section(image, ".dynsym", &section) : err.code == ERROR_MEMORY);
		elf_image_unref(image);
	}
	assert_true(n > 4);
	free(bytes);
}

/* Debug information that cannot be opened for want of memory is not there; never is it called wrong. */
static void a_debug_file_without_memory_is_not_there(void **state)
{
	enum elf_debug_source source = ELF_DEBUG_NONE;
	size_t n;

	for (n = 0; source != ELF_DEBUG_LINK; n++) {
		struct elf_image *image = binary_open("libstripped.so"), *debug;

		assert_true(n < 100);
		failing_malloc_after(n);
		debug = elf_image_debug(image, NULL, &source, NULL);
		failing_malloc_after(SIZE_MAX);
		assert_true(source == ELF_DEBUG_LINK ? debug != image : source == ELF_DEBUG_NONE && debug == image);
		elf_image_unref(image);
	}
	assert_true(n > 4);
}

/* The same through /proc/PID/maps. */
static void a_mapping_without_memory_is_an_error(void **state)
{
	bool opened = false;
	size_t n;

	for (n = 0; !opened; n++) {
		struct elf_mapping mapping = { .path = binary_path("liboriginal.so") };
		struct elf_image *image = NULL;
		struct error err = { 0 };

		assert_true(n < 100);
		failing_malloc_after(n);
		opened = open_mapping(&mapping, &image, &err);
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
		cmocka_unit_test(without_section_headers_it_is_one_too),
		cmocka_unit_test(a_debug_file_without_memory_is_not_there),
		cmocka_unit_test(a_mapping_without_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
