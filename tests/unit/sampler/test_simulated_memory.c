/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "simulated_bytes.h"

#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <errno.h>

enum { MOST_ALLOCATIONS = 100000 };

/* From the nth allocation on there is no memory: reading fails cleanly, or succeeds because it needed no more. */
static void every_failed_allocation_is_an_error(void **state)
{
	struct simulated_bytes bytes;
	bool succeeded = false;

	simulated_bytes_init(&bytes);
	simulated_add_example(&bytes, 100);
	simulated_write(&bytes, "100.0", bytes.file.size);
	for (size_t n = 0; !succeeded; n++) {
		CLEANUP(recording_deinit) struct recording result = { 0 };
		struct error err = { 0 };

		assert_true(n < MOST_ALLOCATIONS);
		failing_malloc_after(n);
		succeeded = simulated_read(&bytes, &result, NULL, &err);
		failing_malloc_after(SIZE_MAX);
		if (!succeeded && err.code != ERROR_MEMORY)
			assert_int_equal(err.system_errno, ENOMEM);
	}
	simulated_bytes_deinit(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_failed_allocation_is_an_error) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
