/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binaries_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What happens to an opened file on disk: each test has a copy of the library in a folder of its own. */
struct copy {
	const char *folder;
	char path[256];
	struct elf_image *image;
};

static struct copy open_copy(const char *name)
{
	struct copy copy = { .folder = folder_create() };
	struct error err;

	snprintf(copy.path, sizeof(copy.path), "%s", binary_copy(name, copy.folder, "lib.so"));
	if (!elf_image_open_path(copy.path, &copy.image, &err))
		fail_msg("%s", err.message);
	return copy;
}

static void close_copy(struct copy *copy)
{
	elf_image_unref(copy->image);
	folder_remove(copy->folder);
}

/* As cp(1) does: into the same inode. */
static void overwrite(const char *path, const uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "r+e");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void set_time(const char *path, time_t seconds)
{
	const struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static bool has_section(struct elf_image *image, const char *name)
{
	struct elf_section section;

	return elf_image_section(image, name, &section);
}

static void expect_nothing_left(struct elf_image *image)
{
	struct elf_section eh_frame, header;

	assert_false(has_section(image, ".text"));
	assert_false(has_section(image, ".debug_info"));
	assert_false(has_section(image, ".no_such_section"));
	elf_image_eh_frame(image, &eh_frame, &header);
	assert_int_equal(eh_frame.size + header.size, 0);
}

static void a_truncated_file_has_no_sections(void **state)
{
	static const off_t sizes[] = { 0, 1, 100, 4096 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct copy copy = open_copy("liboriginal.so");
		enum elf_debug_source source;
		size_t count;

		assert_true(has_section(copy.image, ".text"));
		assert_int_equal(truncate(copy.path, sizes[i]), 0);
		expect_nothing_left(copy.image);
		assert_ptr_equal(elf_image_debug(copy.image, NULL, &source, NULL), copy.image);
		assert_int_equal(source, ELF_DEBUG_NONE);
		assert_int_equal(elf_image_build_id(copy.image)->size, 20);
		assert_non_null(elf_image_segments(copy.image, &count));
		close_copy(&copy);
	}
}

static void another_build_under_the_same_inode_is_not_read(void **state)
{
	struct copy copy = open_copy("liboriginal.so");
	const struct elf_build_id *id = elf_image_build_id(copy.image);
	size_t size;
	uint8_t *bytes = binary_bytes("liboriginal.so", &size), *at = NULL;

	for (size_t i = 0; !at && i + id->size <= size; i++)
		at = memcmp(bytes + i, id->bytes, id->size) == 0 ? bytes + i : NULL;
	assert_non_null(at);
	at[0] ^= 1;
	overwrite(copy.path, bytes, size);
	set_time(copy.path, 1000);
	expect_nothing_left(copy.image);
	free(bytes);
	close_copy(&copy);
}

/* strip(1) keeps the build id and the inode, but moves what stands behind the code. */
static void a_file_stripped_in_place_is_not_read(void **state)
{
	struct copy copy = open_copy("libcompressed.so");
	size_t size, room;
	uint8_t *bytes = binary_bytes("libstripped.so", &size), *padded;

	elf_image_bytes(copy.image, &room);
	assert_true(room > size);
	padded = calloc(1, room);
	assert_non_null(padded);
	memcpy(padded, bytes, size);
	overwrite(copy.path, padded, room);
	set_time(copy.path, 1000);
	expect_nothing_left(copy.image);
	free(padded);
	free(bytes);
	close_copy(&copy);
}

static void a_touched_file_is_the_same(void **state)
{
	struct copy copy = open_copy("liboriginal.so");
	struct elf_section eh_frame, header;

	set_time(copy.path, 1000);
	assert_true(has_section(copy.image, ".text"));
	assert_true(has_section(copy.image, ".debug_info"));
	elf_image_eh_frame(copy.image, &eh_frame, &header);
	assert_true(eh_frame.size > 0 && header.size > 0);
	close_copy(&copy);
}

static void a_deleted_file_stays_readable(void **state)
{
	struct copy copy = open_copy("liboriginal.so");

	assert_false(elf_image_is_deleted(copy.image));
	assert_int_equal(unlink(copy.path), 0);
	assert_true(elf_image_is_deleted(copy.image));
	assert_true(has_section(copy.image, ".text"));
	close_copy(&copy);
}

static volatile sig_atomic_t lost_pages;

static void on_lost_page(int number, siginfo_t *info, void *context)
{
	if (info->si_code != BUS_ADRERR || !elf_image_fill_lost_page(info->si_addr))
		_exit(1);
	lost_pages++;
}

/* Pointers that were handed out before the truncation: a program with a handler reads zeros. */
/* A string at the end of whole pages, whose end is overwritten after it was looked for. */
static void a_string_ends_behind_the_file(void **state)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), size;
	struct copy copy = open_copy("liboriginal.so");
	const uint8_t *bytes;
	struct error err;

	elf_image_unref(copy.image);
	assert_int_equal(truncate(copy.path, (off_t)(64 * page_bytes)), 0);
	assert_true(elf_image_open_path(copy.path, &copy.image, &err));
	bytes = elf_image_bytes(copy.image, &size);
	assert_int_equal(size, 64 * page_bytes);
	for (size_t i = 0; i < page_bytes; i++)
		assert_int_equal(bytes[size + i], 0);
	close_copy(&copy);
}

static void a_lost_page_reads_as_zeros(void **state)
{
	struct sigaction action = { .sa_sigaction = on_lost_page, .sa_flags = SA_SIGINFO }, before;
	struct copy copy = open_copy("liboriginal.so");
	const uint8_t *bytes;
	size_t size, sum = 0, page = (size_t)sysconf(_SC_PAGESIZE);

	bytes = elf_image_bytes(copy.image, &size);
	assert_int_equal(sigaction(SIGBUS, &action, &before), 0);
	assert_int_equal(truncate(copy.path, 0), 0);
	for (size_t i = 0; i < size; i++)
		sum += bytes[i];
	assert_int_equal(sigaction(SIGBUS, &before, NULL), 0);
	assert_int_equal(sum, 0);
	assert_int_equal(lost_pages, (size + page - 1) / page);
	close_copy(&copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_truncated_file_has_no_sections),
		cmocka_unit_test(another_build_under_the_same_inode_is_not_read),
		cmocka_unit_test(a_file_stripped_in_place_is_not_read),
		cmocka_unit_test(a_touched_file_is_the_same),
		cmocka_unit_test(a_deleted_file_stays_readable),
		cmocka_unit_test(a_string_ends_behind_the_file),
		cmocka_unit_test(a_lost_page_reads_as_zeros),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
