/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/ebpf/kernel_types.h"

#include <bpf/btf.h>

/*
 * Writes to `fd` a description of those structures of the kernel that a program describes as well, with those members
 * alone that the program names, once for each "___flavour" of a structure that the program has: all that libbpf needs
 * to relocate the program's accesses (CO-RE). From the whole description libbpf makes two copies, 11 MB, for each set
 * of programs that it loads.
 *
 * types    of the kernel
 * program  the types of the program, as bpf_object__btf() has them; a name is compared up to its "___flavour"
 * fd       a file that may be written from its start; borrowed
 *
 * Returns 0, or -errno: -ENOENT if the kernel's description is malformed, -E2BIG if structures or arrays are nested too
 * deeply.
 */
COMMON_MUST_CHECK
int kernel_type_part_write(const struct ebpf_kernel_types *types, const struct btf *program, int fd);
