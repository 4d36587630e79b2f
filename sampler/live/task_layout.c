/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/task_layout.h"

#include "sampler/live/btf.h"

enum { MAX_BTF_BYTES = 1 << 26 };

/* What the register FS shows lies in a structure within the task's; 0 on other processors. */
static uint32_t find_thread_pointer(const struct buffer *btf)
{
	uint32_t thread, pointer;

	return btf_find_member(btf->data, btf->size, "task_struct", "thread", &thread) &&
			       btf_find_member(btf->data, btf->size, "thread_struct", "fsbase", &pointer)
		       ? thread + pointer
		       : 0;
}

static bool find_members(const struct buffer *btf, struct ebpf_task_layout *layout)
{
	layout->thread_pointer = find_thread_pointer(btf);
	return btf_find_member(btf->data, btf->size, "task_struct", "real_parent", &layout->real_parent) &&
	       btf_find_member(btf->data, btf->size, "task_struct", "tgid", &layout->tgid) &&
	       btf_find_member(btf->data, btf->size, "task_struct", "thread_pid", &layout->thread_pid) &&
	       btf_find_member(btf->data, btf->size, "pid", "level", &layout->level) &&
	       btf_find_member(btf->data, btf->size, "pid", "numbers", &layout->numbers);
}

bool task_layout_read(struct ebpf_task_layout *layout, struct error *err)
{
	struct ebpf_task_layout found;
	struct buffer btf;
	bool ok;

	buffer_init(&btf, MAX_BTF_BYTES);
	ok = file_read("/sys/kernel/btf/vmlinux", &btf, err);
	if (ok && !find_members(&btf, &found))
		ok = error_set(
			err, ERROR_UNSUPPORTED, "the kernel does not describe its tasks (/sys/kernel/btf/vmlinux)");
	buffer_deinit(&btf);
	if (ok)
		*layout = found;
	return ok;
}
