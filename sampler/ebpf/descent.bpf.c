/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Adds each process that a process of the set starts to the set: two programs on the kernel's tracepoint of new tasks
 * (include/trace/events/task.h: task_newtask), of which one is loaded. The parent runs it, before the child runs at
 * all.
 */
#include "sampler/ebpf/process_set_map.h"

#include <linux/sched.h>

/*
 * Offsets, in the running kernel, of what the programs read: written before they are loaded, and constants to the
 * verifier. A relocation against the kernel's types (CO-RE) would find them too, but libbpf parses all of those types
 * for one.
 */
const volatile __u16 tgid_offset, pid_offset, clone_flags_offset;

const char LICENSE[] SEC("license") = "GPL";

/* A new thread belongs to its creator's process, which is in the set already. */
static inline _Bool is_child_of_set(__u64 clone_flags)
{
	return !(clone_flags & CLONE_THREAD) && set_has_current();
}

static inline int add_process(__u32 tgid)
{
	__u32 value = 1;

	bpf_map_update_elem(&processes, &tgid, &value, BPF_ANY);
	return 0;
}

/* The tracepoint's own arguments: struct task_struct *task, unsigned long clone_flags. */
SEC("raw_tp/task_newtask")
int follow_task(struct bpf_raw_tracepoint_args *arguments)
{
	const char *task = (const char *)arguments->args[0];
	__u32 tgid;

	if (!is_child_of_set(arguments->args[1]) || bpf_probe_read_kernel(&tgid, sizeof(tgid), task + tgid_offset) != 0)
		return 0;
	return add_process(tgid);
}

/* The record that is made of them. */
SEC("tp/task/task_newtask")
int follow_record(const char *record)
{
	__u64 clone_flags;
	__u32 pid;

	if (bpf_probe_read_kernel(&clone_flags, sizeof(clone_flags), record + clone_flags_offset) != 0 ||
		!is_child_of_set(clone_flags) || bpf_probe_read_kernel(&pid, sizeof(pid), record + pid_offset) != 0)
		return 0;
	return add_process(pid);
}
