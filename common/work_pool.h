/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stddef.h>

/*
 * Runs `job(context, i)` for every i in [0, count), started in order of i as threads become free, and returns when all
 * are done. `threads` 0: one for each CPU that this process may use. The calling thread works too, so a failure to
 * create threads only makes it slower. Jobs store their results and errors in `context`.
 */
void work_pool_run(unsigned int threads, size_t count, void (*job)(void *context, size_t index), void *context);

/* Returns how many threads `threads` of work_pool_run() stands for. */
unsigned int work_pool_threads(unsigned int threads);
