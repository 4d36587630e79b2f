/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "foreign_fixture.h"

#include "profile/foreign/foreign.h"
#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <string.h>

enum { MOST_ALLOCATIONS = 100000 };

void read_with_failing_allocations(const char *text)
{
	bool succeeded = false;

	for (size_t n = 0; !succeeded; n++) {
		CLEANUP(profile_cleanup) struct profile *profile = NULL;
		struct error err = { 0 };

		assert_true(n < MOST_ALLOCATIONS);
		failing_malloc_after(n);
		succeeded = foreign_read(text, strlen(text), "text", &profile, &err);
		failing_malloc_after(SIZE_MAX);
		if (!succeeded && err.code != ERROR_MEMORY)
			fail_msg("allocation %zu: %s", n, err.message);
	}
}

void expect_stacks(const struct profile *profile, uint32_t value_type, const char *expected)
{
	CLEANUP(buffer_deinit) struct buffer out = { 0 };
	struct error err;

	buffer_init(&out, 1 << 20);
	assert_true(profile_write_folded(profile, value_type, &out, &err));
	assert_string_equal(out.data ? out.data : "", expected);
}
