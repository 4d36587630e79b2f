/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/maps.h"
#include "symbolize/symbolize.h"

/*
 * Names the functions of the running kernel that lie at `addresses`. The kernel itself prints them, 1.5 µs each
 * (struct symbolize_kernel); reading /proc/kallsyms takes 90 ms, because the kernel prints all its 200,000 symbols
 * then. The map holds those functions and no others; free it with symbol_map_destroy(). It is NULL, which is no error,
 * where the kernel does not run the program: before Linux 5.14, and without CAP_BPF and CAP_PERFMON.
 */
COMMON_MUST_CHECK
bool kernel_ask(const struct symbolize_kernel *kernel, const uint64_t *addresses, size_t count, struct symbol_map **map,
	struct error *err);
