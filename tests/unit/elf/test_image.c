/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binaries_fixture.h"
#include "mapping_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void a_library_says_what_it_is(void **state)
{
	struct elf_image *image = binary_open("liboriginal.so");
	char id[2 * ELF_BUILD_ID_MAX_SIZE + 1];

	assert_true(elf_image_is_64bit(image));
	assert_false(elf_image_is_executable(image));
	assert_false(elf_image_is_deleted(image));
	assert_int_equal(elf_image_machine(image), EM_X86_64);
	assert_int_equal(elf_image_build_id(image)->size, 20);
	elf_build_id_format(elf_image_build_id(image), id);
	assert_int_equal(strlen(id), 40);
	assert_int_equal(strspn(id, "0123456789abcdef"), 40);
	assert_string_equal(elf_image_path(image), binary_path("liboriginal.so"));
	elf_image_unref(image);
}

static void a_program_is_told_from_a_library(void **state)
{
	struct elf_image *image;
	struct error err;

	assert_true(elf_image_open_path("/proc/self/exe", &image, &err));
	assert_true(elf_image_is_executable(image));
	assert_int_not_equal(elf_image_entry(image), 0);
	elf_image_unref(image);
	elf_image_unref(NULL);
}

/* What the dynamic loader says of a function's address is what offsets and segments say. */
static void offsets_become_addresses(void **state)
{
	struct elf_image *image = binary_open("liboriginal.so");
	void *library = dlopen(binary_path("liboriginal.so"), RTLD_NOW);
	void *function = library ? dlsym(library, "library_add") : NULL;
	const struct elf_segment *segments;
	size_t count, size;
	uint64_t expected;
	const uint8_t *bytes;
	Dl_info info;

	assert_non_null(function);
	assert_int_not_equal(dladdr(function, &info), 0);
	expected = (uint64_t)(uintptr_t)function - (uint64_t)(uintptr_t)info.dli_fbase;
	bytes = elf_image_bytes_at(image, expected, &size);
	assert_non_null(bytes);
	assert_memory_equal(bytes, function, 8);
	segments = elf_image_segments(image, &count);
	assert_true(count >= 2);
	for (size_t i = 0; i < count; i++)
		assert_true(segments[i].memory_size >= segments[i].file_size);
	assert_null(elf_image_bytes_at(image, UINT64_MAX - 1, &size));
	dlclose(library);
	elf_image_unref(image);
}

static void a_reference_keeps_the_bytes(void **state)
{
	struct elf_image *image = binary_open("liboriginal.so"), *again = elf_image_ref(image);
	size_t size;

	elf_image_unref(image);
	assert_memory_equal(elf_image_bytes(again, &size), ELFMAG, SELFMAG);
	elf_image_unref(again);
}

static void the_vdso_is_read_from_memory(void **state)
{
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct elf_section symbols;
	struct elf_image *image;
	struct error err;

	if (!vdso)
		skip();
	assert_true(elf_image_open_memory(vdso, 0x1000, "[vdso]", &image, &err));
	assert_string_equal(elf_image_path(image), "[vdso]");
	assert_true(elf_image_build_id(image)->size > 0);
	(void)!elf_image_section(image, ".dynsym", &symbols);
	elf_image_unref(image);
}

/* An image of a copy has the identity of the file that was copied, which it never asks again. */
static void a_copy_stands_for_its_file(void **state)
{
	struct elf_image *image, *original = binary_open("liboriginal.so");
	int fd = memfd_create("copy", MFD_CLOEXEC);
	struct elf_mapping mapping = { .path = "/opt/gone.so" };
	struct stat info;
	struct error err;
	const void *bytes;
	size_t size;

	bytes = elf_image_bytes(original, &size);
	assert_int_equal(write(fd, bytes, size), size);
	assert_int_equal(fstat(elf_image_descriptor(original), &info), 0);
	assert_true(elf_image_of_mapping(fd, &mapping, &info, &image, &err));
	assert_memory_equal(elf_image_identity(image), elf_image_identity(original), sizeof(struct elf_file_identity));
	assert_false(elf_image_is_deleted(image));
	assert_true(elf_image_is_intact(image));
	elf_image_unref(image);
	elf_image_unref(original);
}

/* How this process has mapped a copy of the library: as the recorder finds it in /proc/PID/maps. */
struct mapped {
	struct elf_mapping mapping;
	void *bytes;
	size_t size;
	char path[256];
};

static void map_copy(struct mapped *mapped, const char *folder)
{
	struct stat status;
	int fd;

	snprintf(mapped->path, sizeof(mapped->path), "%s", binary_copy("liboriginal.so", folder, "lib.so"));
	fd = open(mapped->path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(fstat(fd, &status), 0);
	mapped->size = (size_t)status.st_size;
	mapped->bytes = mmap(NULL, mapped->size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(mapped->bytes, MAP_FAILED);
	close(fd);
	mapped->mapping = (struct elf_mapping){ .pid = getpid(),
		.start = (uint64_t)(uintptr_t)mapped->bytes,
		.end = (uint64_t)(uintptr_t)mapped->bytes + ((mapped->size + 4095) & ~(size_t)4095),
		.inode = status.st_ino,
		.path = mapped->path };
}

static void a_mapped_file_is_opened(void **state)
{
	const char *folder = folder_create();
	struct elf_image *image;
	struct mapped mapped;
	struct error err;

	map_copy(&mapped, folder);
	assert_true(open_mapping(&mapped.mapping, &image, &err));
	assert_false(elf_image_is_deleted(image));
	assert_string_equal(elf_image_path(image), mapped.path);
	elf_image_unref(image);
	munmap(mapped.bytes, mapped.size);
	folder_remove(folder);
}

/* The deploy: another file lies under the name; what is mapped is read all the same. */
static void a_replaced_file_is_read_as_it_was(void **state)
{
	struct elf_image *original, *image;
	const char *folder;
	char marked[300], next[300];
	struct mapped mapped;
	struct error err;

	/* Only a privileged user may follow /proc/PID/map_files. */
	if (geteuid() != 0)
		skip();
	original = binary_open("liboriginal.so");
	folder = folder_create();
	map_copy(&mapped, folder);
	snprintf(next, sizeof(next), "%s", binary_copy("libstripped.so", folder, "next.so"));
	assert_int_equal(rename(next, mapped.path), 0);
	snprintf(marked, sizeof(marked), "%s (deleted)", mapped.path);
	mapped.mapping.path = marked;
	assert_true(open_mapping(&mapped.mapping, &image, &err));
	assert_true(elf_image_is_deleted(image));
	assert_string_equal(elf_image_path(image), mapped.path);
	assert_memory_equal(elf_image_build_id(image), elf_image_build_id(original), sizeof(struct elf_build_id));
	{
		size_t size, expected;

		elf_image_bytes(image, &size);
		elf_image_bytes(original, &expected);
		assert_int_equal(size, expected);
	}
	elf_image_unref(image);
	elf_image_unref(original);
	munmap(mapped.bytes, mapped.size);
	folder_remove(folder);
}

/* Without the mapping itself (it is gone, or of another machine) the file under the name must be the mapped one. */
static void another_file_under_the_name_is_refused(void **state)
{
	const char *folder = folder_create();
	struct elf_image *image = NULL;
	char path[256], marked[300];
	struct elf_mapping mapping = { .pid = getpid(), .start = 0x10000, .end = 0x20000, .inode = 1, .path = path };
	struct error err = { 0 };

	snprintf(path, sizeof(path), "%s", binary_copy("liboriginal.so", folder, "lib.so"));
	assert_false(open_mapping(&mapping, &image, &err));
	assert_non_null(strstr(err.message, path));
	mapping.inode = 0;
	assert_true(open_mapping(&mapping, &image, &err));
	elf_image_unref(image);
	snprintf(marked, sizeof(marked), "%s (deleted)", path);
	mapping.path = marked;
	assert_false(open_mapping(&mapping, &image, &err));
	mapping.path = "[heap]";
	assert_false(open_mapping(&mapping, &image, &err));
	mapping.path = "";
	assert_false(open_mapping(&mapping, &image, &err));
	folder_remove(folder);
}

static void what_is_no_file_is_refused(void **state)
{
	const char *folder = folder_create();
	char fifo[256];
	struct elf_image *image;
	struct error err = { 0 };

	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_false(elf_image_open_path(fifo, &image, &err));
	assert_non_null(strstr(err.message, "not a regular file"));
	assert_false(elf_image_open_path(folder, &image, &err));
	assert_false(elf_image_open_path("/dev/null", &image, &err));
	assert_false(elf_image_open_path("/no/such/file", &image, &err));
	assert_int_equal(err.code, ERROR_NOT_FOUND);
	assert_false(elf_image_open_path("/etc/passwd", &image, &err));
	assert_non_null(strstr(err.message, "not an ELF file"));
	folder_remove(folder);
}

/* A file that is large by its holes alone costs whoever reads it, and nobody who makes it. */
static void a_hollow_file_is_refused(void **state)
{
	const char *folder = folder_create(), *path = binary_copy("liboriginal.so", folder, "lib.so");
	struct elf_image *image;
	struct error err = { 0 };

	assert_int_equal(truncate(path, (off_t)1 << 38), 0);
	assert_false(elf_image_open_path(path, &image, &err));
	assert_non_null(strstr(err.message, "sparse"));
	folder_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_library_says_what_it_is),
		cmocka_unit_test(a_program_is_told_from_a_library),
		cmocka_unit_test(offsets_become_addresses),
		cmocka_unit_test(a_reference_keeps_the_bytes),
		cmocka_unit_test(the_vdso_is_read_from_memory),
		cmocka_unit_test(a_copy_stands_for_its_file),
		cmocka_unit_test(a_mapped_file_is_opened),
		cmocka_unit_test(a_replaced_file_is_read_as_it_was),
		cmocka_unit_test(another_file_under_the_name_is_refused),
		cmocka_unit_test(what_is_no_file_is_refused),
		cmocka_unit_test(a_hollow_file_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
