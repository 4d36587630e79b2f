/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binaries.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static void expect_debug(const char *path, const struct elf_debug_options *options, enum elf_debug_source expected)
{
	struct elf_image *image, *debug;
	enum elf_debug_source source;
	struct elf_section info;
	struct error err = { 0 };

	if (!elf_image_open_path(path, &image, &err))
		fail_msg("%s", err.message);
	debug = elf_image_debug(image, options, &source, &err);
	assert_int_equal(source, expected);
	assert_non_null(debug);
	if (expected == ELF_DEBUG_BUILD_ID || expected == ELF_DEBUG_LINK || expected == ELF_DEBUG_SELF)
		assert_true(elf_image_section(debug, ".debug_info", &info));
	else
		assert_ptr_equal(debug, image);
	if (expected == ELF_DEBUG_REFUSED)
		assert_true(err.message[0] != '\0');
	assert_ptr_equal(elf_image_debug(image, options, &source, NULL), debug);
	elf_image_unref(image);
}

static void a_binary_with_its_own_information_needs_no_other(void **state)
{
	(void)state;
	expect_debug(binary_path("liboriginal.so"), NULL, ELF_DEBUG_SELF);
}

static void a_link_leads_to_the_file_beside_it(void **state)
{
	(void)state;
	expect_debug(binary_path("libstripped.so"), NULL, ELF_DEBUG_LINK);
}

static void a_link_without_its_file_leads_nowhere(void **state)
{
	const char *folder = folder_create();

	(void)state;
	expect_debug(binary_copy("libstripped.so", folder, "lib.so"), NULL, ELF_DEBUG_NONE);
	folder_remove(folder);
}

static void a_link_to_other_contents_is_refused(void **state)
{
	const char *folder = folder_create();

	(void)state;
	binary_copy("liboriginal.so", folder, "libstripped.debug");
	expect_debug(binary_copy("libstripped.so", folder, "lib.so"), NULL, ELF_DEBUG_REFUSED);
	folder_remove(folder);
}

static void the_build_id_leads_into_a_debug_folder(void **state)
{
	const char *folder = folder_create(), *const folders[] = { folder };
	struct elf_debug_options options = { .directories = folders, .directory_count = 1 };
	char id[2 * ELF_BUILD_ID_MAX_SIZE + 1], path[256], name[64];
	struct elf_image *image = binary_open("libstripped.so");

	(void)state;
	elf_build_id_format(elf_image_build_id(image), id);
	elf_image_unref(image);
	snprintf(path, sizeof(path), "%s/.build-id", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/.build-id/%.2s", folder, id);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(name, sizeof(name), "%s.debug", id + 2);
	binary_copy("libstripped.debug", path, name);
	expect_debug(binary_copy("libstripped.so", folder, "lib.so"), &options, ELF_DEBUG_BUILD_ID);
	folder_remove(folder);
}

static void without_an_alternate_link_there_is_no_alternate_file(void **state)
{
	struct elf_image *image = binary_open("liboriginal.so");

	(void)state;
	assert_null(elf_image_debug_alt(image, NULL));
	elf_image_unref(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_binary_with_its_own_information_needs_no_other),
		cmocka_unit_test(a_link_leads_to_the_file_beside_it),
		cmocka_unit_test(a_link_without_its_file_leads_nowhere),
		cmocka_unit_test(a_link_to_other_contents_is_refused),
		cmocka_unit_test(the_build_id_leads_into_a_debug_folder),
		cmocka_unit_test(without_an_alternate_link_there_is_no_alternate_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
