/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/maps.h"

/*
 * Names the functions of the running kernel that lie at `addresses` by asking the kernel itself: a BPF program prints each as
 * `%pS` does (linux, Documentation/core-api/printk-formats.rst). To read /proc/kallsyms instead, the kernel prints all its
 * 200,000 symbols, which takes 90 ms; this takes 1.5 µs an address.
 * The map holds those functions and no others; free it with symbol_map_destroy(). It is NULL, which is no error, where the
 * kernel is not to be asked: before Linux 5.14, without CAP_BPF and CAP_PERFMON, or when it cannot look up an address of its own.
 */
COMMON_MUST_CHECK
bool kernel_ask(const uint64_t *addresses, size_t count, struct symbol_map **map, struct error *err);
