/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "ebpf/ebpf.h"

/*
 * Has the kernel add each process that a process of the set starts to the set, before it runs. Records of forks tell of
 * it only when the rings are read next, and the samples until then would be dropped. Where a task's id lies is read in
 * what the kernel says of its own types (/sys/kernel/btf/vmlinux), and where it says nothing, in what tracefs says of
 * the tracepoint.
 *
 * False, with nothing changed, where neither can be had or the kernel takes no such program.
 */
bool descent_follow(struct ebpf_process_set *set);
