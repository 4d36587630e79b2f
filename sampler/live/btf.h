/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Finds the offset of a member in a structure of the running kernel, by the kernel's description of its own types
 * (/sys/kernel/btf/vmlinux; format: Documentation/bpf/btf.rst). Members of unnamed structures within it are found too.
 * `bytes` (`size` of them) is the file's contents, foreign and borrowed; `offset` receives bytes from the structure's
 * start. False if there is no such member, it is a bit field, or the contents are malformed.
 */
bool btf_find_member(const void *bytes, size_t size, const char *structure, const char *member, uint32_t *offset);
