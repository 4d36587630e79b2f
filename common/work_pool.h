/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stddef.h>

/*
 * Runs `job(context, i)` for every i in [0, count), in order of i as workers become free, and returns when all are
 * done. `threads` 0: one per CPU this process may run on. The calling thread works too, so that a failure to create
 * threads only makes it slower. Jobs keep their results and errors in `context`.
 */
void work_pool_run(unsigned int threads, size_t count, void (*job)(void *context, size_t index), void *context);
