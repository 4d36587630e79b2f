/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/work_pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { MAX_THREADS = 64 };

struct pool_work {
	atomic_size_t next;
	size_t count;
	void (*job)(void *context, size_t index);
	void *context;
};

static void *work_pool_worker(void *argument)
{
	struct pool_work *work = argument;

	for (;;) {
		size_t index = atomic_fetch_add_explicit(&work->next, 1, memory_order_relaxed);

		if (index >= work->count)
			return NULL;
		work->job(work->context, index);
	}
}

static unsigned int available_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (unsigned int)CPU_COUNT(&set) : 1;
}

unsigned int work_pool_threads(unsigned int threads)
{
	if (threads == 0)
		threads = available_cpus();
	return threads > MAX_THREADS ? MAX_THREADS : threads;
}

void work_pool_run(unsigned int threads, size_t count, void (*job)(void *context, size_t index), void *context)
{
	struct pool_work work = { .count = count, .job = job, .context = context };
	pthread_t helpers[MAX_THREADS];
	unsigned int started = 0;

	threads = work_pool_threads(threads);
	if (threads > count)
		threads = (unsigned int)count;
	while (started + 1 < threads && pthread_create(&helpers[started], NULL, work_pool_worker, &work) == 0)
		started++;
	work_pool_worker(&work);
	while (started > 0)
		pthread_join(helpers[--started], NULL);
}
