/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Reads the frames of the current thread's interpreter, whichever it is. Only programs (.bpf.c) include this. */
#include "ebpf/frame_reader_go.h"
#include "ebpf/frame_reader_python.h"

/*
 * Writes the frames of the current thread, if its process has an interpreter. `registers`: the kernel's struct pt_regs
 * of the thread; NULL: not known.
 */
static __always_inline void write_current_frames(_Bool by_helper, const char *registers)
{
	const char *task = (const char *)bpf_get_current_task();
	__u32 cpu = bpf_get_smp_processor_id();
	struct frames_area *area = bpf_map_lookup_elem(&areas, &cpu);
	struct frames_place *place = find_place();
	const struct ebpf_interpreter *interpreter;
	_Bool is_found = 0;

	if (!area || !place)
		return;
	if (!is_pausing(place)) {
		interpreter = find_interpreter(task, place);
		if (interpreter && interpreter->kind == EBPF_GO) {
			write_go_stack(area, &interpreter->go, task, registers);
			return;
		}
		if (interpreter)
			is_found = write_python_frames(area, interpreter, place, task, by_helper);
		else
			pause_search(place);
	}
	if (!is_found)
		area->unknown += place->is_interpreted;
}
