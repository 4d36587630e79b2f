/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The map that the programs of a process set share. Only programs (.bpf.c) include this. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

enum { MAX_PROCESSES = 65536 };

/* The keys are process ids in the initial namespace; the values mean nothing. Entries take memory as they are added. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_PROCESSES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u32);
} processes SEC(".maps");

static inline _Bool set_has_current(void)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;

	return bpf_map_lookup_elem(&processes, &tgid) != (void *)0;
}
