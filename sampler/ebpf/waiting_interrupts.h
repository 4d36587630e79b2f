/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Tells whether an interrupt runs in place of a thread. Only waiting.bpf.c includes this, where struct task_struct is
 * known.
 */

/* A pointer on its way to a number: the verifier tells them apart until it was in a map. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} pointers SEC(".maps");

/* The size of a thread's stack in the kernel, on x86-64 and aarch64. */
enum { STACK_BYTES = 16384 };

/*
 * Returns whether an interrupt, or a deferred one (softirq), runs in place of the current thread: it has a stack of its
 * own. A tracepoint makes the record of its arguments on the stack that is in use. Tracepoints of interrupts would tell
 * as well, but every interrupt of the machine would pay for them.
 */
static inline _Bool is_interrupt(__u64 *arguments)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	__u32 zero = 0;
	volatile __u64 *pointer = bpf_map_lookup_elem(&pointers, &zero);

	if (!pointer)
		return 0;
	*pointer = (__u64)arguments;
	return *pointer - (__u64)BPF_CORE_READ(task, stack) >= STACK_BYTES;
}
