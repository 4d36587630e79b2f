/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/remote.h"
#include "tests/unit/support/unit_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a process that was taken over can ask of the one that opens and keeps files. */

enum { KEEPS = -1, CACHED = -2, HEAD_BYTES = 16 + 2 * sizeof(struct elf_file_identity) };

struct fixture {
	char directory[64];
	struct elf_image *image;
	struct symbolize_options options;
	struct buffer request;
};

static void begin(struct fixture *fixture, int32_t use)
{
	static const uint8_t rest[HEAD_BYTES - sizeof(use)];

	fixture->request.size = 0;
	buffer_append(&fixture->request, &use, sizeof(use));
	buffer_append(&fixture->request, rest, sizeof(rest));
}

static int answer(struct fixture *fixture)
{
	return symbolize_remote_answer(fixture->image, &fixture->options, fixture->request.data, fixture->request.size);
}

static int open_through(struct fixture *fixture, int32_t use, const char *path)
{
	begin(fixture, use);
	buffer_append(&fixture->request, path, strlen(path) + 1);
	return answer(fixture);
}

static int setup(void **state)
{
	static struct fixture fixture;
	struct error err;

	fixture = (struct fixture){ .directory = "/tmp/kelvin-test-remote-XXXXXX" };
	assert_non_null(mkdtemp(fixture.directory));
	assert_true(elf_image_open_path(PROGRAMS "/c-gcc-5", &fixture.image, &err));
	fixture.options.cache_directory = fixture.directory;
	fixture.options.fingerprints = SYMBOLIZE_FINGERPRINT_NONE;
	buffer_init(&fixture.request, 1 << 20);
	*state = &fixture;
	return 0;
}

/* The files that were kept, which are removed. */
static size_t kept(const struct fixture *fixture)
{
	DIR *opened = opendir(fixture->directory);
	const struct dirent *entry;
	size_t count = 0;

	assert_non_null(opened);
	while ((entry = readdir(opened)))
		if (entry->d_name[0] != '.') {
			count++;
			assert_int_equal(unlinkat(dirfd(opened), entry->d_name, 0), 0);
		}
	closedir(opened);
	return count;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	buffer_deinit(&fixture->request);
	elf_image_unref(fixture->image);
	(void)kept(fixture);
	return rmdir(fixture->directory);
}

static void requests_that_are_none_are_refused(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(open_through(fixture, ELF_FILE_BUILD_ID, "/etc/passwd"), -1);
	fixture->request.size--; /* the path has no end */
	assert_int_equal(answer(fixture), -1);
	for (size_t size = 0; size < HEAD_BYTES + 1; size++) {
		fixture->request.size = size;
		assert_int_equal(answer(fixture), -1);
	}
	assert_int_equal(open_through(fixture, ELF_FILE_FETCHED, ""), -1);
	assert_int_equal(open_through(fixture, ELF_FILE_FETCHED + 1, "/etc/passwd"), -1);
	assert_int_equal(open_through(fixture, INT32_MIN, "/etc/passwd"), -1);
	assert_int_equal(kept(fixture), 0);
}

static void root_opens_debug_files_alone(void **state)
{
	struct fixture *fixture = *state;

	if (geteuid() != 0)
		skip();
	assert_int_equal(open_through(fixture, ELF_FILE_LINK, "/etc/shadow"), -1);
	assert_int_equal(open_through(fixture, ELF_FILE_SPLIT, "/etc/../etc/shadow"), -1);
	assert_int_equal(open_through(fixture, ELF_FILE_BUILD_ID, "/usr/lib/debug/../../../etc/shadow"), -1);
	assert_int_equal(open_through(fixture, CACHED, "/etc/passwd"), -1);
}

static void add_table(struct fixture *fixture)
{
	static const uint64_t addresses[] = { 0x1000 };
	static const struct symbolize_frame frame = { .name = "f", .linkage_name = "", .file = "", .decl_file = "" };
	static const struct symbolize_frames frames[] = { { &frame, 1 } };
	struct error err;

	assert_true(named_frames_write(
		&(struct named_frames_entries){ NULL, addresses, NULL, frames, 1, "" }, &fixture->request, &err));
}

static void frames_of_its_own_image_are_kept(void **state)
{
	struct fixture *fixture = *state;
	struct frame_cache_key key = frame_cache_key_of(&fixture->options, fixture->image, NULL, NULL);
	struct frame_cache *cache;
	struct error err;

	begin(fixture, KEEPS);
	add_table(fixture);
	assert_int_equal(answer(fixture), -1);
	assert_true(frame_cache_open(&key, &cache, &err));
	assert_non_null(cache);
	frame_cache_close(cache);
	assert_int_equal(kept(fixture), 1);
}

static void what_is_no_table_is_not_kept(void **state)
{
	struct fixture *fixture = *state;
	size_t whole;

	begin(fixture, KEEPS);
	add_table(fixture);
	whole = fixture->request.size;
	for (fixture->request.size = HEAD_BYTES; fixture->request.size < whole; fixture->request.size++) {
		assert_int_equal(answer(fixture), -1);
		assert_int_equal(kept(fixture), 0);
	}
	fixture->options.cache_directory = NULL;
	fixture->request.size = whole;
	assert_int_equal(answer(fixture), -1);
	assert_int_equal(kept(fixture), 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(requests_that_are_none_are_refused),
		TEST(root_opens_debug_files_alone),
		TEST(frames_of_its_own_image_are_kept),
		TEST(what_is_no_table_is_not_kept),
	};

	return cmocka_run_group_tests_name("symbolize.remote", tests, NULL, NULL);
}
