/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The library of workload_locks: its mutex is in its own data. */
#include <pthread.h>

static pthread_mutex_t library_mutex;

__attribute__((visibility("default"))) pthread_mutex_t *library_lock(void)
{
	return &library_mutex;
}
