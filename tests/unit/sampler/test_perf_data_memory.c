/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "perf_data_fixture.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <sys/mman.h>
#include <unistd.h>

enum { MOST_ALLOCATIONS = 100000 };

static bool read_without_memory(int fd, struct recording *result, size_t allocations, struct error *err)
{
	struct recording_file recorded = { .fd = fd, .name = "perf.data" };
	CLEANUP(buffer_deinit) struct buffer notices = { 0 };
	bool succeeded;

	assert_true(lseek(fd, 0, SEEK_SET) == 0);
	buffer_init(&notices, MAX_BYTES);
	failing_malloc_after(allocations);
	succeeded = sampler_read_perf_data(&recorded, result, &notices, err);
	failing_malloc_after(SIZE_MAX);
	return succeeded;
}

/* From the nth allocation on there is no memory: reading fails cleanly, or succeeds because it needed no more. */
static void fail_each_allocation(const struct fixture *fixture)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC);
	bool succeeded = false;

	assert_int_equal(write(fd, fixture->file.data, fixture->file.size), fixture->file.size);
	for (size_t n = 0; !succeeded; n += 1 + n / 64) {
		struct recording result = { 0 };
		struct error err = { 0 };

		assert_true(n < MOST_ALLOCATIONS);
		succeeded = read_without_memory(fd, &result, n, &err);
		if (succeeded)
			recording_deinit(&result);
		else
			assert_int_equal(err.code, ERROR_MEMORY);
	}
	close(fd);
}

static void every_failed_allocation_is_an_error(void **state)
{
	struct fixture *fixture = *state;

	make_example(fixture);
	fail_each_allocation(fixture);
}

static void every_failed_allocation_for_a_group_is_an_error(void **state)
{
	struct fixture *fixture = *state;

	make_group(fixture);
	fail_each_allocation(fixture);
}

static void every_failed_allocation_for_deferred_chains_is_an_error(void **state)
{
	struct fixture *fixture = *state;

	make_deferred(fixture);
	fail_each_allocation(fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_failed_allocation_is_an_error, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			every_failed_allocation_for_a_group_is_an_error, fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(
			every_failed_allocation_for_deferred_chains_is_an_error, fixture_setup, fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
