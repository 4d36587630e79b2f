/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "program_fixture.h"
#include "symbolize/symbolize.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The second opinion on names: libdw over programs of every kind, and names that are wrong. */

enum { STRIDE = 7, MOST_TEXT = 1 << 16 };
static const struct symbolize_options options = { .threads = 1 };

/* Addresses all over .text; the caller frees both. */
static struct symbolize_result *resolve_text(struct elf_image *image, uint64_t **addresses, size_t *count)
{
	struct symbolize_result *result;
	struct elf_section section;
	struct error err;

	assert_true(elf_image_section(image, ".text", &section));
	*count = section.size / STRIDE;
	*addresses = calloc(*count, sizeof(**addresses));
	assert_non_null(*addresses);
	for (size_t i = 0; i < *count; i++)
		(*addresses)[i] = section.address + i * STRIDE;
	assert_true(symbolize_addresses(image, *addresses, *count, &options, &result, &err));
	return result;
}

/* Names all addresses of the image's code and compares them; takes the image. How many there are in `count`. */
static struct profile_verification verify_text(struct elf_image *image, size_t *count, struct buffer *differences)
{
	struct profile_verification found = { 0 };
	struct symbolize_result *result;
	uint64_t *addresses;
	struct error err;

	result = resolve_text(image, &addresses, count);
	assert_true(symbolize_verify_result(image, addresses, *count, result, &options, &found, differences, &err));
	symbolize_result_destroy(result);
	free(addresses);
	elf_image_unref(image);
	return found;
}

static void expect_equal(const char *name)
{
	CLEANUP(buffer_deinit) struct buffer differences = { .max_bytes = MOST_TEXT };
	size_t count;
	struct profile_verification found = verify_text(open_program(name), &count, &differences);

	if (found.difference_count > 0)
		print_message("%s: %s\n", name, differences.data);
	assert_int_equal(found.names_other, 0);
	assert_int_equal(found.names_unfinished, 0);
	assert_true(found.names_equal > 10);
}

static void names_of_programs_are_equal(void **state)
{
	static const char *const programs[] = { "c-gcc-4", "c-gcc-5", "cxx-gcc-4", "cxx-gcc-5", "cxx-gcc-lto",
		"cxx-gcc-O0", "cxx-gcc-zlib", "cxx-gcc-split-5", "mangled" };

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		expect_equal(programs[i]);
}

/* Names of other addresses: each difference is one, and shown as both have it. */
static void wrong_names_are_found(void **state)
{
	CLEANUP(buffer_deinit) struct buffer differences = { .max_bytes = MOST_TEXT };
	struct profile_verification found = { 0 };
	struct elf_image *image = open_program("c-gcc-5");
	struct symbolize_result *result;
	uint64_t *addresses;
	struct error err;
	size_t count;

	result = resolve_text(image, &addresses, &count);
	for (size_t i = 0; i < count / 2; i++) {
		uint64_t other = addresses[i];

		addresses[i] = addresses[count - 1 - i];
		addresses[count - 1 - i] = other;
	}
	assert_true(symbolize_verify_result(image, addresses, count, result, &options, &found, &differences, &err));
	assert_true(found.names_other > found.names_equal);
	assert_int_equal(found.difference_count, PROFILE_MOST_DIFFERENCES);
	assert_non_null(strstr(differences.data, "c-gcc-5: here "));
	assert_non_null(strstr(differences.data, "; libdw "));
	symbolize_result_destroy(result);
	free(addresses);
	elf_image_unref(image);
}

static void without_inlined_frames_functions_are_compared(void **state)
{
	const struct symbolize_options plain = { .threads = 1, .no_inlines = true };
	CLEANUP(buffer_deinit) struct buffer differences = { .max_bytes = MOST_TEXT };
	struct profile_verification found = { 0 };
	struct elf_image *image = open_program("cxx-gcc-5");
	struct symbolize_result *result, *all;
	uint64_t *addresses;
	struct error err;
	size_t count;

	all = resolve_text(image, &addresses, &count);
	assert_true(symbolize_addresses(image, addresses, count, &plain, &result, &err));
	assert_true(symbolize_verify_result(image, addresses, count, result, &plain, &found, &differences, &err));
	assert_int_equal(found.names_other, 0);
	assert_true(found.names_equal > 10);
	symbolize_result_destroy(all);
	symbolize_result_destroy(result);
	free(addresses);
	elf_image_unref(image);
}

/* A copy of a program whose debug information is damaged here and there, in a file of its own: libdw reads the file
 * itself. */
static struct elf_image *damaged_program(unsigned int seed)
{
	static const char *const sections[] = { ".debug_info", ".debug_abbrev", ".debug_line", ".debug_rnglists" };
	struct elf_image *whole = open_program("cxx-gcc-5"), *damaged;
	const uint8_t *bytes;
	char path[64];
	struct error err;
	uint8_t *copy;
	size_t size;
	int fd = memfd_create("damaged", MFD_CLOEXEC);

	bytes = elf_image_bytes(whole, &size);
	copy = malloc(size);
	assert_non_null(copy);
	memcpy(copy, bytes, size);
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		struct elf_section section;

		if (!elf_image_section(whole, sections[i], &section))
			continue;
		for (size_t k = 0; k < 20; k++) {
			seed = seed * 1664525 + 1013904223;
			copy[(size_t)(section.bytes - bytes) + (seed >> 8) % section.size] = (uint8_t)(seed >> 3);
		}
	}
	assert_true(fd >= 0);
	assert_int_equal(write(fd, copy, size), (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_true(elf_image_open_path(path, &damaged, &err));
	close(fd);
	free(copy);
	elf_image_unref(whole);
	return damaged;
}

/* What comes of it does not matter; that it ends, and that every address is accounted for, does. */
static void damaged_files_end(void **state)
{
	enum { DAMAGED = 6 };

	for (unsigned int seed = 0; seed < DAMAGED; seed++) {
		CLEANUP(buffer_deinit) struct buffer differences = { .max_bytes = MOST_TEXT };
		size_t count;
		struct profile_verification found = verify_text(damaged_program(seed), &count, &differences);

		assert_true(found.names_equal + found.names_other + found.names_unfinished <= count);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_programs_are_equal),
		cmocka_unit_test(wrong_names_are_found),
		cmocka_unit_test(without_inlined_frames_functions_are_compared),
		cmocka_unit_test(damaged_files_end),
	};

	return cmocka_run_group_tests_name("symbolize.verify", tests, NULL, NULL);
}
