/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/common.h"
#include "tests/unit/support/unit_test.h"

#include <stdatomic.h>
#include <string.h>

enum { JOBS = 10000 };

struct work {
	atomic_int done[JOBS];
};

static void job(void *context, size_t index)
{
	struct work *work = context;

	atomic_fetch_add(&work->done[index], 1);
}

static void every_job_runs_once(void **state)
{
	static const unsigned int threads[] = { 0, 1, 2, 7, 64 };
	static const size_t counts[] = { 0, 1, 2, 63, JOBS };

	for (size_t t = 0; t < 5; t++)
		for (size_t c = 0; c < 5; c++) {
			static struct work work;

			memset(&work, 0, sizeof(work));
			work_pool_run(threads[t], counts[c], job, &work);
			for (size_t i = 0; i < JOBS; i++)
				assert_int_equal(atomic_load(&work.done[i]), i < counts[c]);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_job_runs_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
