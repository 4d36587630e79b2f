/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Reads which return addresses of the current thread the kernel has replaced: those of functions that a return probe
 * stands on (uretprobe: of bpftrace, perf probe and others), which return to a trampoline in the process. The kernel
 * keeps the addresses that stood there, the innermost first (linux/uprobes.h, struct return_instance). It also runs an
 * instruction that a probe stands on, and which it cannot do itself, at another place. Only programs (.bpf.c) include
 * this.
 */
#include "sampler/ebpf/frame_reader_walk.h"

#include <bpf/bpf_core_read.h>

enum { RETURNS_MOST = 64 /* the kernel's own limit (MAX_URETPROBE_DEPTH) */ };

/* The members of the kernel's structs that are read here (CO-RE). */
struct return_instance___read {
	unsigned long stack, orig_ret_vaddr;
	struct return_instance___read *next;
} __attribute__((preserve_access_index));

struct uprobe_task___read {
	struct return_instance___read *return_instances;
	void *active_uprobe;
	unsigned long vaddr, xol_vaddr;
} __attribute__((preserve_access_index));

struct task_struct___read {
	struct uprobe_task___read *utask;
} __attribute__((preserve_access_index));

static __always_inline const struct uprobe_task___read *find_probes(void)
{
	const struct task_struct___read *task = (void *)bpf_get_current_task();
	const struct uprobe_task___read *probes = (void *)0;

	/* A kernel without such probes does not know the member. */
	if (!bpf_core_field_exists(task->utask) || bpf_core_read(&probes, sizeof(probes), &task->utask) != 0)
		return (void *)0;
	return probes;
}

/* Writes where the instruction that a probe stands on runs meanwhile, and where it stands; zeros: none does. */
static __always_inline void write_moved(struct frames_area *area, const struct uprobe_task___read *probes)
{
	unsigned long at = 0, of = 0;
	void *active = (void *)0;

	if (bpf_core_field_exists(probes->xol_vaddr) && bpf_core_field_exists(probes->vaddr) &&
		bpf_core_read(&active, sizeof(active), &probes->active_uprobe) == 0 && active) {
		bpf_core_read(&at, sizeof(at), &probes->xol_vaddr);
		bpf_core_read(&of, sizeof(of), &probes->vaddr);
	}
	write_word(area, at);
	write_word(area, of);
}

/* Writes a pair of words for each: where the address stood, and the address. */
static __always_inline void write_returns(struct frames_area *area, const struct uprobe_task___read *probes)
{
	const struct return_instance___read *instance = (void *)0;
	unsigned long stack, address;

	bpf_core_read(&instance, sizeof(instance), &probes->return_instances);
	for (int i = 0; i < RETURNS_MOST && instance; i++) {
		if (bpf_core_read(&stack, sizeof(stack), &instance->stack) != 0 ||
			bpf_core_read(&address, sizeof(address), &instance->orig_ret_vaddr) != 0 ||
			!write_word(area, stack) || !write_word(area, address) ||
			bpf_core_read(&instance, sizeof(instance), &instance->next) != 0)
			break;
	}
}

/* `time_ns`: of the sample that they belong to; 0: not known. */
static __always_inline void write_current_returns(__u64 time_ns)
{
	const struct uprobe_task___read *probes = find_probes();
	__u32 cpu = bpf_get_smp_processor_id();
	struct frames_area *area = probes ? bpf_map_lookup_elem(&areas, &cpu) : (void *)0;

	if (!area || !enter_area(area, time_ns ? time_ns : bpf_ktime_get_ns()))
		return;
	area->walk.count = FRAMES_BLOCK_HEADER;
	area->walk.most = room_of(area);
	area->walk.is_full = 0;
	write_moved(area, probes);
	write_returns(area, probes);
	if (area->walk.is_full)
		area->lost++;
	else
		publish(area, area->walk.begin_ns, bpf_get_current_pid_tgid() << 32 | FRAMES_KIND(EBPF_RETURNS),
			area->walk.count);
	leave_area(area);
}
