/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Where a member lies in a structure of the kernel at hand, by what the kernel says of its own types
 * (/sys/kernel/btf/vmlinux; format: Documentation/bpf/btf.rst). Also of one in structures without a name within it.
 *
 * bytes, size  the file's contents; foreign, borrowed
 * offset       receives bytes from the structure's start
 *
 * False where there is no such member, it is a bit field, or the contents are malformed.
 */
bool btf_find_member(const void *bytes, size_t size, const char *structure, const char *member, uint32_t *offset);
