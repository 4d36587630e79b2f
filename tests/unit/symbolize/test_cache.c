/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/cache.h"
#include "tests/unit/support/unit_test.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/kelvin-test-cache-XXXXXX";

static int make_directory(void **state)
{
	return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
	DIR *stream = opendir(directory);
	const struct dirent *entry;

	while (stream && (entry = readdir(stream)))
		unlinkat(dirfd(stream), entry->d_name, 0);
	if (stream)
		closedir(stream);
	return rmdir(directory);
}

static struct frame_cache_key key_of(struct elf_image *image)
{
	return frame_cache_key_of(&(struct symbolize_options){ .cache_directory = directory }, image, image, NULL);
}

static struct elf_image *open_program(void)
{
	struct elf_image *image;
	struct error err;

	assert_true(elf_image_open_path(PROGRAMS "/c-gcc-5", &image, &err));
	return image;
}

static const struct symbolize_frame frames_of_two[] = {
	{ "inner", "_Zinner", "/a.c", "/a.h", 3, 2, 0, PROFILE_NAME_DWARF },
	{ "outer", "", "/b.c", "", 7, 0, 99, PROFILE_NAME_DWARF },
};

static void assert_known(const struct frame_cache *cache, uint64_t address, size_t count, const char *name)
{
	struct symbolize_frames frames;
	struct arena arena;
	struct error err;

	arena_init(&arena, 0);
	assert_true(named_frames_find(frame_cache_table(cache), address, &arena, &frames, &err));
	assert_int_equal(frames.count, count);
	if (count > 0)
		assert_string_equal(frames.frames[0].name, name);
	if (count == 2) {
		assert_string_equal(frames.frames[0].linkage_name, "_Zinner");
		assert_string_equal(frames.frames[1].file, "/b.c");
		assert_int_equal(frames.frames[1].fingerprint, 99);
		assert_int_equal(frames.frames[0].source, PROFILE_NAME_DWARF);
	}
	arena_deinit(&arena);
}

static void what_is_stored_is_found_and_added_to(void **state)
{
	const struct symbolize_frames two = { frames_of_two, 2 }, one = { frames_of_two + 1, 1 };
	const struct symbolize_frames both[] = { two, one };
	const uint64_t first[] = { 0x100, 0x300 }, second[] = { 0x200, 0x400 };
	struct elf_image *image = open_program();
	const struct frame_cache_key key = key_of(image);
	struct frame_cache *cache;
	struct error err;

	assert_true(frame_cache_open(&key, &cache, &err));
	assert_null(cache);
	frame_cache_store(&key, &(struct named_frames_entries){ NULL, first, NULL, both, 2, "/build" });
	assert_true(frame_cache_open(&key, &cache, &err));
	assert_non_null(cache);
	assert_string_equal(named_frames_source_directory(frame_cache_table(cache)), "/build");
	frame_cache_store(
		&key, &(struct named_frames_entries){ frame_cache_table(cache), second, NULL, both, 2, "/build" });
	frame_cache_close(cache);
	assert_true(frame_cache_open(&key, &cache, &err));
	assert_known(cache, 0x100, 2, "inner");
	assert_known(cache, 0x200, 2, "inner");
	assert_known(cache, 0x300, 1, "outer");
	assert_known(cache, 0x400, 1, "outer");
	assert_known(cache, 0x101, 0, "");
	frame_cache_close(cache);
	elf_image_unref(image);
}

static void expect_source(const struct frame_cache *cache, size_t index, const char *path, const char *text)
{
	const struct named_frames *table = frame_cache_table(cache);
	struct dwarf_source source;

	assert_true(index < table->source_count && named_frames_source(table, index, &source));
	assert_string_equal(source.path, path);
	assert_string_equal(source.text, text);
	assert_int_equal(source.has_md5, text[0] == '\0');
	assert_int_equal(source.md5[15], text[0] == '\0' ? 7 : 0);
}

/* What is told of source files is kept with the frames, once, whoever adds to them. */
static void sources_are_kept_with_frames(void **state)
{
	const struct dwarf_source first[] = { { "/a.c", "", 0, true, { [15] = 7 } }, { "/a.c", "int a;\n", 12 } };
	const struct dwarf_source second[] = { { "/b.c", "", 0, true, { [15] = 7 } }, first[0] };
	const struct symbolize_frames one = { frames_of_two + 1, 1 };
	const uint64_t addresses[] = { 0x100, 0x200 };
	struct named_frames_entries entries = { NULL, addresses, NULL, &one, 1, "/build", first, 2 };
	struct elf_image *image = open_program();
	struct frame_cache_key key = key_of(image);
	struct frame_cache *cache;
	struct error err;

	key.module = "with sources";
	frame_cache_store(&key, &entries);
	assert_true(frame_cache_open(&key, &cache, &err));
	assert_int_equal(frame_cache_table(cache)->source_count, 2);
	entries = (struct named_frames_entries){ frame_cache_table(cache), addresses + 1, NULL, &one, 1, "/build",
		second, 2 };
	frame_cache_store(&key, &entries);
	frame_cache_close(cache);
	assert_true(frame_cache_open(&key, &cache, &err));
	assert_int_equal(frame_cache_table(cache)->source_count, 3);
	expect_source(cache, 0, "/b.c", "");
	expect_source(cache, 1, "/a.c", "");
	expect_source(cache, 2, "/a.c", "int a;\n");
	frame_cache_close(cache);
	elf_image_unref(image);
}

static void path_in(char *path, size_t size, const char *name)
{
	snprintf(path, size, "%s/%s", directory, name);
}

static void copy_program(const char *path)
{
	CLEANUP(buffer_deinit) struct buffer bytes = { 0 };
	struct error err;

	buffer_init(&bytes, 1 << 24);
	assert_true(file_read(PROGRAMS "/c-gcc-5", &bytes, &err));
	assert_true(file_write(path, bytes.data, bytes.size, 0600, &err));
}

/* Whoever makes a file with the name, the build id and all bytes of another does not speak for that. */
static void a_copy_is_another_file(void **state)
{
	struct elf_image *image = open_program(), *twin;
	struct frame_cache_key key = key_of(image);
	struct frame_cache *cache;
	struct error err;
	char path[256];

	assert_true(frame_cache_open(&key, &cache, &err));
	assert_non_null(cache);
	frame_cache_close(cache);
	path_in(path, sizeof(path), "c-gcc-5");
	copy_program(path);
	assert_true(elf_image_open_path(path, &twin, &err));
	key = key_of(twin);
	assert_true(frame_cache_open(&key, &cache, &err));
	assert_null(cache);
	assert_int_equal(unlink(path), 0);
	elf_image_unref(twin);
	elf_image_unref(image);
}

/* Files of half a gigabyte, without content. */
static void make_large(const char *name)
{
	char path[256];
	FILE *file;

	path_in(path, sizeof(path), name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(ftruncate(fileno(file), (off_t)600 << 20), 0);
	assert_int_equal(fclose(file), 0);
}

/* Not every file that is new looks for others. */
static void store_until_gone(const char *gone)
{
	const struct symbolize_frames one = { frames_of_two + 1, 1 };
	const uint64_t address = 0x500;
	char path[256], name[32];

	for (size_t i = 0; i < 1000 && access(gone, F_OK) == 0; i++) {
		struct frame_cache_key key;
		struct elf_image *image;
		struct error err;

		snprintf(name, sizeof(name), "program-%zu", i);
		path_in(path, sizeof(path), name);
		copy_program(path);
		assert_true(elf_image_open_path(path, &image, &err));
		key = key_of(image);
		frame_cache_store(&key, &(struct named_frames_entries){ NULL, &address, NULL, &one, 1, "" });
		elf_image_unref(image);
		assert_int_equal(unlink(path), 0);
	}
}

static void the_oldest_go_and_nothing_else(void **state)
{
	char path[256];

	make_large("0123456789abcdef");
	make_large("somebody-else's");
	path_in(path, sizeof(path), "0123456789abcdef");
	store_until_gone(path);
	assert_int_equal(access(path, F_OK), -1);
	path_in(path, sizeof(path), "somebody-else's");
	assert_int_equal(unlink(path), 0);
}

/* The only file of the directory, damaged at each of its first bytes in turn: no answer or one from the file, never a
 * crash. */
static void damage_is_no_cache(void **state)
{
	struct elf_image *image = open_program();
	const struct frame_cache_key key = key_of(image);
	DIR *stream = opendir(directory);
	const struct dirent *entry;
	CLEANUP(buffer_deinit) struct buffer bytes = { 0 };
	struct error err;
	char path[512] = "";

	while ((entry = readdir(stream)))
		if (entry->d_name[0] != '.')
			snprintf(path, sizeof(path), "%s/%.200s", directory, entry->d_name);
	closedir(stream);
	buffer_init(&bytes, 1 << 20);
	assert_true(file_read(path, &bytes, &err));
	for (size_t i = 0; i < bytes.size; i++) {
		struct symbolize_frames frames;
		struct frame_cache *cache;
		struct arena arena;

		bytes.data[i] = (char)(bytes.data[i] ^ 0xff);
		assert_true(file_write(path, bytes.data, i % 2 ? bytes.size : i, 0600, &err));
		bytes.data[i] = (char)(bytes.data[i] ^ 0xff);
		assert_true(frame_cache_open(&key, &cache, &err));
		arena_init(&arena, 0);
		for (uint64_t address = 0x100; cache && address <= 0x400; address += 0x100)
			assert_true(named_frames_find(frame_cache_table(cache), address, &arena, &frames, &err));
		arena_deinit(&arena);
		frame_cache_close(cache);
	}
	elf_image_unref(image);
}

static void expect_directory(const char *home, const char *cache, const char *expected)
{
	char path[PATH_MAX];

	assert_int_equal(setenv("HOME", home, 1), 0);
	assert_int_equal(cache ? setenv("XDG_CACHE_HOME", cache, 1) : unsetenv("XDG_CACHE_HOME"), 0);
	if (!symbolize_cache_directory(path, sizeof(path)))
		path[0] = '\0';
	if (expected)
		assert_string_equal(path, expected);
	else
		assert_null(strstr(path, directory));
}

/* As with sudo -E: what lies there is another user's, who could lead us anywhere. */
static void another_users_home_is_left_alone(void **state)
{
	char own[256], cache[256], foreign[256], below[300], link[256];

	path_in(own, sizeof(own), "own");
	path_in(cache, sizeof(cache), "own/.cache/kelvin/frames");
	path_in(foreign, sizeof(foreign), "foreign");
	path_in(link, sizeof(link), "foreign/link");
	snprintf(below, sizeof(below), "%s/new", foreign);
	assert_int_equal(mkdir(own, 0700), 0);
	expect_directory(own, NULL, cache);
	expect_directory(own, "relative", cache);
	if (geteuid() == 0) {
		assert_int_equal(mkdir(foreign, 0755), 0);
		assert_int_equal(symlink(own, link), 0);
		assert_int_equal(chown(foreign, 54321, 54321), 0);
		expect_directory(foreign, NULL, NULL);
		expect_directory(below, NULL, NULL);
		expect_directory(link, NULL, NULL);
		expect_directory(own, foreign, cache);
		assert_int_equal(unlink(link), 0);
		assert_int_equal(rmdir(foreign), 0);
	}
	assert_int_equal(rmdir(own), 0);
}

/* Of root with the HOME of another user, as sudo -E has it, nothing is kept there, and nothing there is believed. */
static void another_users_debug_cache_is_left_alone(void **state)
{
	char path[4096], *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL, *own;
	const char *foreign = geteuid() == 0 ? directory : "/etc";

	assert_true(asprintf(&own, "%s/.debug", directory) > 0);
	assert_int_equal(unsetenv("XDG_CACHE_HOME"), 0);
	assert_int_equal(setenv("HOME", directory, 1), 0);
	assert_true(symbolize_perf_cache_directory(path, sizeof(path)));
	assert_string_equal(path, own);
	assert_true(symbolize_cache_directory(path, sizeof(path)));
	assert_memory_equal(path, directory, strlen(directory));
	if (geteuid() == 0)
		assert_int_equal(chown(directory, 65534, 65534), 0);
	assert_int_equal(setenv("HOME", foreign, 1), 0);
	if (symbolize_perf_cache_directory(path, sizeof(path)))
		assert_memory_not_equal(path, foreign, strlen(foreign));
	if (symbolize_cache_directory(path, sizeof(path)))
		assert_memory_not_equal(path, foreign, strlen(foreign));
	if (geteuid() == 0)
		assert_int_equal(chown(directory, 0, 0), 0);
	if (home)
		assert_int_equal(setenv("HOME", home, 1), 0);
	free(home);
	free(own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_stored_is_found_and_added_to),
		cmocka_unit_test(sources_are_kept_with_frames),
		cmocka_unit_test(a_copy_is_another_file),
		cmocka_unit_test(damage_is_no_cache),
		cmocka_unit_test(the_oldest_go_and_nothing_else),
		cmocka_unit_test(another_users_home_is_left_alone),
		cmocka_unit_test(another_users_debug_cache_is_left_alone),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
