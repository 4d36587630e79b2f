/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binaries_fixture.h"
#include "section_bytes.h"
#include "tests/unit/support/unit_test.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void hold_and_move(struct elf_image *image, const char *root)
{
	struct elf_root *held = elf_root_create(open(root, O_PATH | O_DIRECTORY | O_CLOEXEC));
	char moved[512];

	assert_non_null(held);
	elf_image_set_root(image, held);
	elf_root_unref(held);
	snprintf(moved, sizeof(moved), "%s-moved", root);
	assert_int_equal(rename(root, moved), 0);
}

/* `root`: of a process's own directory tree, which is moved away before anything is looked for there; NULL: ours. */
static void expect_debug_in(
	const char *root, const char *path, const struct elf_debug_options *options, enum elf_debug_source expected)
{
	struct elf_image *image, *debug;
	enum elf_debug_source source;
	struct elf_section info;
	struct error err = { 0 };

	if (!elf_image_open_path(path, &image, &err))
		fail_msg("%s", err.message);
	if (root)
		hold_and_move(image, root);
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

static void expect_debug(const char *path, const struct elf_debug_options *options, enum elf_debug_source expected)
{
	expect_debug_in(NULL, path, options, expected);
}

static void a_binary_with_its_own_information_needs_no_other(void **state)
{
	expect_debug(binary_path("liboriginal.so"), NULL, ELF_DEBUG_SELF);
}

static void a_link_leads_to_the_file_beside_it(void **state)
{
	expect_debug(binary_path("libstripped.so"), NULL, ELF_DEBUG_LINK);
}

/* What an opener was asked for. */
struct asked {
	size_t files, paths;
};

static int open_and_count(void *context, enum elf_file_use use, const char *path, struct error *err)
{
	struct asked *asked = context;

	assert_true(use == ELF_FILE_BUILD_ID || use == ELF_FILE_LINK);
	asked->files++;
	return elf_open_regular(path, err);
}

static bool path_and_count(void *context, char *path)
{
	struct asked *asked = context;

	asked->paths++;
	return realpath(binary_path("libstripped.so"), path) != NULL;
}

static void an_opener_opens_all_other_files(void **state)
{
	struct asked asked = { 0 };
	const struct elf_opener opener = { open_and_count, path_and_count, &asked };

	expect_debug(binary_path("libstripped.so"), &(struct elf_debug_options){ .opener = &opener }, ELF_DEBUG_LINK);
	assert_true(asked.files > 0);
	assert_int_equal(asked.paths, 1);
}

static void a_link_without_its_file_leads_nowhere(void **state)
{
	const char *folder = folder_create();

	expect_debug(binary_copy("libstripped.so", folder, "lib.so"), NULL, ELF_DEBUG_NONE);
	folder_remove(folder);
}

static void a_link_to_other_contents_is_refused(void **state)
{
	const char *folder = folder_create();

	binary_copy("liboriginal.so", folder, "libstripped.debug");
	expect_debug(binary_copy("libstripped.so", folder, "lib.so"), NULL, ELF_DEBUG_REFUSED);
	folder_remove(folder);
}

/* A few kB can claim to be a terabyte, whose checksum would take minutes. */
static void a_link_to_a_file_of_holes_leads_nowhere(void **state)
{
	enum { SECONDS = 30 };
	const char *folder = folder_create(), *path = binary_copy("libstripped.debug", folder, "libstripped.debug");

	assert_int_equal(truncate(path, (off_t)1 << 40), 0);
	alarm(SECONDS);
	expect_debug(binary_copy("libstripped.so", folder, "lib.so"), NULL, ELF_DEBUG_NONE);
	alarm(0);
	folder_remove(folder);
}

/* As mono's runtime on Debian, which bears the name that its link asks for. */
static void a_binary_is_not_its_own_debug_file(void **state)
{
	const char *folder = folder_create();

	expect_debug(binary_copy("libstripped.so", folder, "libstripped.debug"), NULL, ELF_DEBUG_NONE);
	folder_remove(folder);
}

/* Puts the debug file of libstripped.so where its build id leads to. */
static void install_debug_file(const char *folder)
{
	char id[2 * ELF_BUILD_ID_MAX_SIZE + 1], path[256], name[64];
	struct elf_image *image = binary_open("libstripped.so");

	elf_build_id_format(elf_image_build_id(image), id);
	elf_image_unref(image);
	snprintf(path, sizeof(path), "%s/.build-id", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/.build-id/%.2s", folder, id);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(name, sizeof(name), "%s.debug", id + 2);
	binary_copy("libstripped.debug", path, name);
}

static void the_build_id_leads_into_a_debug_folder(void **state)
{
	const char *folder = folder_create(), *const folders[] = { folder };
	struct elf_debug_options options = { .directories = folders, .directory_count = 1 };

	install_debug_file(folder);
	expect_debug(binary_copy("libstripped.so", folder, "lib.so"), &options, ELF_DEBUG_BUILD_ID);
	folder_remove(folder);
}

/* The root of a chroot or container has the binary and nothing else. */
static void the_build_id_leads_to_the_host_where_the_root_has_nothing(void **state)
{
	const char *folder = folder_create(), *const folders[] = { folder };
	struct elf_debug_options options = { .directories = folders, .directory_count = 1 };
	char first[256], second[256];

	snprintf(first, sizeof(first), "%s/first", folder);
	snprintf(second, sizeof(second), "%s/second", folder);
	assert_int_equal(mkdir(first, 0700), 0);
	assert_int_equal(mkdir(second, 0700), 0);
	expect_debug_in(first, binary_copy("libstripped.so", first, "lib.so"), &options, ELF_DEBUG_NONE);
	install_debug_file(folder);
	expect_debug_in(second, binary_copy("libstripped.so", second, "lib.so"), &options, ELF_DEBUG_BUILD_ID);
	folder_remove(folder);
}

/* Who maps a file first, in a tree that lacks its debug file, does not take that from others. */
static void a_link_leads_to_the_host_where_the_root_has_nothing(void **state)
{
	const char *folder = folder_create();
	char tree[256], place[256];

	snprintf(tree, sizeof(tree), "%s/tree", folder);
	snprintf(place, sizeof(place), "%s/place", folder);
	assert_int_equal(mkdir(tree, 0700), 0);
	assert_int_equal(mkdir(place, 0700), 0);
	binary_copy("libstripped.debug", place, "libstripped.debug");
	expect_debug_in(tree, binary_copy("libstripped.so", place, "lib.so"), NULL, ELF_DEBUG_LINK);
	folder_remove(folder);
}

/* The root of a container is gone with its last process; what was held open is not. */
static void the_build_id_leads_into_a_root_that_is_gone(void **state)
{
	static const char *const folders[] = { "/" };
	struct elf_debug_options options = { .directories = folders, .directory_count = 1 };
	const char *folder = folder_create();
	char root[256];

	snprintf(root, sizeof(root), "%s/root", folder);
	assert_int_equal(mkdir(root, 0700), 0);
	install_debug_file(root);
	expect_debug_in(root, binary_copy("libstripped.so", folder, "lib.so"), &options, ELF_DEBUG_BUILD_ID);
	folder_remove(folder);
}

static void without_an_alternate_link_there_is_no_alternate_file(void **state)
{
	struct elf_image *image = binary_open("liboriginal.so");
	struct error ignored;

	assert_null(elf_image_debug_alt(image, NULL));
	assert_false(elf_image_lacks_alt(image, NULL, &ignored));
	elf_image_unref(image);
}

/* From the current directory, and through a link in another one. */
static void a_link_counts_from_the_real_folder(void **state)
{
	const char *folder = folder_create();
	char path[256], before[4096];

	snprintf(path, sizeof(path), "%s/link.so", folder);
	assert_int_equal(symlink(binary_path("libstripped.so"), path), 0);
	expect_debug(path, NULL, ELF_DEBUG_LINK);
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(BINARIES), 0);
	expect_debug("libstripped.so", NULL, ELF_DEBUG_LINK);
	assert_int_equal(chdir(before), 0);
	folder_remove(folder);
}

/* FOLDER/main with the link `name` and the id, opened; whether an alternate file is found. */
static bool finds_alternate(const char *folder, const char *name, const void *id, size_t id_size)
{
	struct made_section section = { .name = ".gnu_debugaltlink", .type = SHT_PROGBITS, .alignment = 1 };
	struct elf_image *image, *alternate;
	struct buffer link, file;
	struct error err = { 0 };
	bool ok, is_found;
	char path[256];

	buffer_init(&link, 1000);
	buffer_append(&link, name, strlen(name) + 1);
	buffer_append(&link, id, id_size);
	section.bytes = link.data;
	section.size = link.size;
	made_elf(&section, &file);
	snprintf(path, sizeof(path), "%s/main", folder);
	ok = file_write(path, file.data, file.size, 0600, &err) && elf_image_open_path(path, &image, &err);
	buffer_deinit(&file);
	buffer_deinit(&link);
	if (!ok)
		fail_msg("%s", err.message);
	alternate =
		elf_image_debug_alt(image, &(struct elf_debug_options){ .directory_count = 0, .directories = &folder });
	is_found = alternate != NULL;
	/* A link without an id is none. */
	assert_int_equal(elf_image_lacks_alt(image, NULL, &err), !is_found && id_size > 0);
	assert_true(is_found || id_size == 0 || strstr(err.message, "which is not there, so inlined functions"));
	assert_ptr_equal(elf_image_debug_alt(image, NULL), alternate);
	elf_image_unref(image);
	return is_found;
}

static void an_alternate_file_is_known_by_its_id(void **state)
{
	const char *folder = folder_create();
	struct elf_image *image = binary_open("liboriginal.so");
	struct elf_build_id id = *elf_image_build_id(image);
	char path[256];

	elf_image_unref(image);
	snprintf(path, sizeof(path), "%s", binary_copy("liboriginal.so", folder, "alternate"));
	assert_true(finds_alternate(folder, path, id.bytes, id.size));
	assert_true(finds_alternate(folder, "alternate", id.bytes, id.size));
	assert_false(finds_alternate(folder, "missing", id.bytes, id.size));
	assert_false(finds_alternate(folder, path, id.bytes, (size_t)id.size - 1));
	id.bytes[0] ^= 1;
	assert_false(finds_alternate(folder, path, id.bytes, id.size));
	folder_remove(folder);
}

/* A link without an id fits no file, not even one without an id. */
static void an_alternate_file_without_an_id_is_refused(void **state)
{
	struct made_section section = { ".text", "code", 4, SHT_PROGBITS, 1, 1 };
	const char *folder = folder_create();
	struct buffer file;
	struct error err;
	char path[256];

	made_elf(&section, &file);
	snprintf(path, sizeof(path), "%s/alternate", folder);
	assert_true(file_write(path, file.data, file.size, 0600, &err));
	assert_false(finds_alternate(folder, path, "", 0));
	buffer_deinit(&file);
	folder_remove(folder);
}

/* A file with .debug_sup of DWARF 5. */
static void write_sup(const char *path, bool is_supplementary, const char *name, const char *checksum)
{
	struct made_section section = { .name = ".debug_sup", .type = SHT_PROGBITS, .alignment = 1 };
	const uint8_t header[] = { 5, 0, is_supplementary };
	CLEANUP(buffer_deinit) struct buffer sup = { 0 }, file = { 0 };
	struct error err;

	buffer_init(&sup, 1000);
	buffer_append(&sup, header, sizeof(header));
	buffer_append(&sup, name, strlen(name) + 1);
	buffer_append_byte(&sup, (uint8_t)strlen(checksum));
	buffer_append_string(&sup, checksum);
	section.bytes = sup.data;
	section.size = sup.size;
	made_elf(&section, &file);
	assert_true(file_write(path, file.data, file.size, 0600, &err));
}

static bool finds_supplementary(const char *path)
{
	struct elf_image *image;
	struct error err;
	bool is_found;

	assert_true(elf_image_open_path(path, &image, &err));
	is_found = elf_image_debug_alt(image, NULL) != NULL;
	elf_image_unref(image);
	return is_found;
}

static void a_supplementary_file_is_known_by_its_checksum(void **state)
{
	const char *folder = folder_create();
	char main_path[256], sup_path[256];

	snprintf(main_path, sizeof(main_path), "%s/main", folder);
	snprintf(sup_path, sizeof(sup_path), "%s/common.sup", folder);
	write_sup(sup_path, true, "", "checksum");
	write_sup(main_path, false, sup_path, "checksum");
	assert_true(finds_supplementary(main_path));
	write_sup(main_path, false, "common.sup", "checksum");
	assert_true(finds_supplementary(main_path));
	write_sup(main_path, false, "common.sup", "another");
	assert_false(finds_supplementary(main_path));
	write_sup(main_path, false, "main", "checksum");
	assert_false(finds_supplementary(main_path));
	assert_false(finds_supplementary(sup_path));
	folder_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_binary_with_its_own_information_needs_no_other),
		cmocka_unit_test(a_link_leads_to_the_file_beside_it),
		cmocka_unit_test(an_opener_opens_all_other_files),
		cmocka_unit_test(a_link_without_its_file_leads_nowhere),
		cmocka_unit_test(a_link_to_other_contents_is_refused),
		cmocka_unit_test(a_link_to_a_file_of_holes_leads_nowhere),
		cmocka_unit_test(a_binary_is_not_its_own_debug_file),
		cmocka_unit_test(the_build_id_leads_into_a_debug_folder),
		cmocka_unit_test(the_build_id_leads_to_the_host_where_the_root_has_nothing),
		cmocka_unit_test(a_link_leads_to_the_host_where_the_root_has_nothing),
		cmocka_unit_test(the_build_id_leads_into_a_root_that_is_gone),
		cmocka_unit_test(a_supplementary_file_is_known_by_its_checksum),
		cmocka_unit_test(without_an_alternate_link_there_is_no_alternate_file),
		cmocka_unit_test(a_link_counts_from_the_real_folder),
		cmocka_unit_test(an_alternate_file_is_known_by_its_id),
		cmocka_unit_test(an_alternate_file_without_an_id_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
