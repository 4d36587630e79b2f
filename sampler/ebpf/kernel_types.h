/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * The running kernel's description of its own types (/sys/kernel/btf/vmlinux; format: Documentation/bpf/btf.rst). They
 * are some 5 MB, which are mapped where the kernel allows it (since Linux 6.16) and read into memory elsewhere. The
 * bytes are foreign all the same.
 */
struct ebpf_kernel_types {
	const void *bytes;
	size_t size;
	bool is_mapped;
	struct buffer read; /* the bytes, where they are not mapped */
};

/* Fails with ERROR_NOT_FOUND where the kernel describes no types (before Linux 4.19, or built so). */
COMMON_MUST_CHECK
bool ebpf_kernel_types_open(struct ebpf_kernel_types *types, struct error *err);
void ebpf_kernel_types_close(struct ebpf_kernel_types *types);

/* Types that stand in memory already; the bytes are borrowed, and nothing has to be closed. */
struct ebpf_kernel_types ebpf_kernel_types_over(const void *bytes, size_t size);

/*
 * Finds the offset of a member in a structure of the kernel. Members of unnamed structures within it are found too.
 * `offset` receives bytes from the structure's start. False if there is no such member, it is a bit field, or the
 * description is malformed.
 */
bool ebpf_kernel_types_find_member(
	const struct ebpf_kernel_types *types, const char *structure, const char *member, uint32_t *offset);
