/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Names of the kernel's functions, printed by the kernel itself, 1.5 µs each. Needs Linux 5.14 (BPF_PROG_TYPE_SYSCALL,
 * and bpf_snprintf() with %pS).
 */
struct ebpf_kernel_names;

/* Owned by the caller. */
COMMON_MUST_CHECK
bool ebpf_kernel_names_create(struct ebpf_kernel_names **names, struct error *err);
void ebpf_kernel_names_destroy(struct ebpf_kernel_names *names);

/*
 * `name+0x1d/0x40 [module]` of the function that holds the address, as printk's %pS prints it (linux,
 * Documentation/core-api/printk-formats.rst), or the bare address. The text is borrowed until the next call, and the
 * caller may write to it. NULL when the kernel refuses to run the program.
 */
char *ebpf_kernel_names_print(struct ebpf_kernel_names *names, uint64_t address);
