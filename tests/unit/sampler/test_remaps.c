/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "process_fixture.h"

#include "sampler/process/remaps.h"
#include "tests/unit/support/unit_test.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096 };

/* What the comparison told last. */
struct told {
	int count;
	struct remaps_doubt doubt;
};

static void take_doubt(void *context, const struct remaps_doubt *doubt)
{
	struct told *told = context;

	told->count++;
	told->doubt = *doubt;
}

/* A page of a binary's code, or of nothing in particular: nobody runs it. */
static void *map_page(const char *path)
{
	CLEANUP(cleanup_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, PAGE);

	assert_true(page != MAP_FAILED);
	return page;
}

static uint64_t address_of(const void *page)
{
	return (uint64_t)(uintptr_t)page;
}

static struct process *own_process(struct fixture *fixture)
{
	struct process *process;
	struct error err;

	assert_true(process_table_get(&fixture->table, getpid(), &process, &err));
	return process;
}

/* As if the process had samples and its turn had come. */
static void compare_now(struct fixture *fixture, struct remaps *remaps, uint64_t known_until_ns)
{
	struct process *process = own_process(fixture);
	struct error err;

	process->is_sampled = true;
	process->look_ns = remaps->not_before_ns = 0;
	remaps_read(remaps, false);
	assert_int_equal(remaps->count, 1);
	assert_true(remaps_compare(remaps, known_until_ns, &err));
}

static struct remaps remaps_of(struct fixture *fixture, struct told *told)
{
	return (struct remaps){
		.table = &fixture->table, .reader = fixture->reader, .doubt = take_doubt, .context = told
	};
}

static void test_what_is_moved_over_code_is_seen(void **state)
{
	struct fixture *fixture = *state;
	struct told told = { 0 };
	struct remaps remaps = remaps_of(fixture, &told);
	void *first = map_page("/proc/self/exe"), *second = map_page("/bin/sh");
	uint32_t mapping;
	const char *before;

	before = path_at(fixture, getpid(), address_of(first));
	assert_non_null(before);
	assert_non_null(strstr(before, "test_sampler_remaps"));
	compare_now(fixture, &remaps, UINT64_MAX);
	assert_int_equal(told.count, 0);
	assert_ptr_equal(mremap(second, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, first), first);
	/* Records from before the reading may still come. */
	compare_now(fixture, &remaps, 0);
	assert_int_equal(told.count, 0);
	assert_string_equal(path_at(fixture, getpid(), address_of(first)), before);
	compare_now(fixture, &remaps, UINT64_MAX);
	assert_int_equal(told.count, 1);
	assert_null(strstr(path_at(fixture, getpid(), address_of(first)), "test_sampler_remaps"));
	assert_int_equal(told.doubt.pid, getpid());
	assert_int_equal(told.doubt.count, 1);
	assert_int_equal(told.doubt.ranges[0].end - told.doubt.ranges[0].start, PAGE);
	mapping = told.doubt.ranges[0].mapping;
	assert_string_equal(profile_string(fixture->profile, fixture->profile->mappings[mapping].path), before);
	compare_now(fixture, &remaps, UINT64_MAX);
	assert_int_equal(told.count, 1);
	munmap(first, PAGE);
}

/* Memory in huge pages, say: the names are the same. */
static void test_a_copy_is_in_no_doubt(void **state)
{
	struct fixture *fixture = *state;
	struct told told = { 0 };
	struct remaps remaps = remaps_of(fixture, &told);
	void *page = map_page("/proc/self/exe");
	void *copy = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const char *before = path_at(fixture, getpid(), address_of(page));

	assert_true(copy != MAP_FAILED);
	memcpy(copy, page, PAGE);
	assert_int_equal(mprotect(copy, PAGE, PROT_READ | PROT_EXEC), 0);
	assert_ptr_equal(mremap(copy, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, page), page);
	compare_now(fixture, &remaps, UINT64_MAX);
	assert_int_equal(told.count, 0);
	assert_string_equal(path_at(fixture, getpid(), address_of(page)), before);
	munmap(page, PAGE);
}

/* What changed while the maps were read may be newer than these. */
static void test_what_records_tell_meanwhile_stands(void **state)
{
	struct fixture *fixture = *state;
	struct told told = { 0 };
	struct remaps remaps = remaps_of(fixture, &told);
	void *first = map_page("/proc/self/exe"), *second = map_page("/bin/sh");
	const char *before = path_at(fixture, getpid(), address_of(first));

	assert_ptr_equal(mremap(second, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, first), first);
	own_process(fixture)->changed_ns = UINT64_MAX;
	compare_now(fixture, &remaps, UINT64_MAX);
	assert_int_equal(told.count, 0);
	assert_string_equal(path_at(fixture, getpid(), address_of(first)), before);
	munmap(first, PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROCESS_TEST(test_what_is_moved_over_code_is_seen),
		PROCESS_TEST(test_a_copy_is_in_no_doubt),
		PROCESS_TEST(test_what_records_tell_meanwhile_stands),
	};

	return cmocka_run_group_tests_name("sampler.remaps", tests, NULL, NULL);
}
