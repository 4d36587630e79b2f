/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <linux/types.h>

/*
 * The layout of what is read of a program of Go. Its structs g and m begin alike in all versions since 1.17
 * (runtime/runtime2.go); where m has its current goroutine is found out each time.
 */
struct ebpf_go {
	__s64 current; /* where a thread has its g: an offset from what its FS register shows */
};
