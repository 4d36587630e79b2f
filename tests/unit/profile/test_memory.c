/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sample_profile.h"

#include "tests/unit/support/failing_malloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Reads, merges, draws the tree and writes again; every failure on the way is ERROR_MEMORY and leaves nothing behind. */
static bool walk(const struct buffer *file, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *first = NULL, *second = NULL;
	CLEANUP(profile_tree_cleanup) struct profile_tree *tree = NULL;
	CLEANUP(buffer_deinit) struct buffer pprof = { 0 }, folded = { 0 };

	buffer_init(&pprof, 1 << 20);
	buffer_init(&folded, 1 << 20);
	return profile_read(file->data, file->size, "test", &first, err) && profile_create(&second, err) &&
	       profile_merge(second, first, err) && profile_finish(second, err) && profile_tree_create(second, &tree, err) &&
	       profile_write_folded(second, &folded, err) && profile_write_pprof(second, &pprof, err);
}

static void every_failed_allocation_is_an_error(void **state)
{
	struct profile *made = sample_profile();
	struct buffer file = written_profile(made);
	bool succeeded = false;
	size_t n;

	(void)state;
	for (n = 0; !succeeded; n++) {
		struct error err = { 0 };

		assert_true(n < 5000);
		failing_malloc_after(n);
		succeeded = walk(&file, &err);
		failing_malloc_after(SIZE_MAX);
		if (!succeeded && err.code != ERROR_MEMORY)
			fail_msg("allocation %zu: %s", n, err.message);
	}
	assert_true(n > 50);
	buffer_deinit(&file);
	profile_destroy(made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_failed_allocation_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
