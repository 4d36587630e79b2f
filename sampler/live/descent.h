/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ebpf/ebpf.h"

/*
 * Has the kernel add each process that a process of the set starts to the set, before that process runs. Records of
 * forks tell of it only when the rings are read next, and its samples until then would be dropped.
 * The offset of a task's process id is read from the kernel's type information (/sys/kernel/btf/vmlinux). On a kernel
 * without it, the record of the tracepoint is used, which tracefs describes.
 *
 * False, with nothing changed, where neither is readable or the kernel refuses the program.
 */
bool descent_follow(struct ebpf_process_set *set);
