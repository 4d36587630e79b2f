/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/task_layout.h"

/* Finds where the task's structure has what the register FS shows; 0 on other processors. */
static uint32_t find_thread_pointer(const struct ebpf_kernel_types *types)
{
	uint32_t thread, pointer;

	return ebpf_kernel_types_find_member(types, "task_struct", "thread", &thread) &&
			       ebpf_kernel_types_find_member(types, "thread_struct", "fsbase", &pointer)
		       ? thread + pointer
		       : 0;
}

static bool find_members(const struct ebpf_kernel_types *types, struct ebpf_task_layout *layout)
{
	layout->thread_pointer = find_thread_pointer(types);
	return ebpf_kernel_types_find_member(types, "task_struct", "real_parent", &layout->real_parent) &&
	       ebpf_kernel_types_find_member(types, "task_struct", "tgid", &layout->tgid) &&
	       ebpf_kernel_types_find_member(types, "task_struct", "thread_pid", &layout->thread_pid) &&
	       ebpf_kernel_types_find_member(types, "pid", "level", &layout->level) &&
	       ebpf_kernel_types_find_member(types, "pid", "numbers", &layout->numbers);
}

bool task_layout_read(struct ebpf_task_layout *layout, struct error *err)
{
	struct ebpf_task_layout found;
	struct ebpf_kernel_types types;
	bool ok;

	if (!ebpf_kernel_types_open(&types, err))
		return false;
	ok = find_members(&types, &found) ||
	     error_set(err, ERROR_UNSUPPORTED, "the kernel does not describe its tasks (/sys/kernel/btf/vmlinux)");
	ebpf_kernel_types_close(&types);
	if (ok)
		*layout = found;
	return ok;
}
