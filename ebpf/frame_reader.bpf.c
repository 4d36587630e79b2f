/* SPDX-License-Identifier: GPL-3.0-or-later */
/* At each sample: the frames of the interrupted thread's interpreter. One of the programs is loaded. */
#define SAMPLES_WAITS 0

#include "ebpf/process_set_map.h"

#include "ebpf/frame_reader_walk.h"

const char LICENSE[] SEC("license") = "GPL";

_Bool is_filtering;  /* samples of other processes than those of the set are dropped */
__u32 process_count; /* with an interpreter */

static __always_inline int take_sample(_Bool by_helper)
{
	if (is_filtering && !set_has_current())
		return 0;
	if (process_count)
		write_current_frames(
			by_helper, by_helper ? (const char *)bpf_task_pt_regs(bpf_get_current_task_btf()) : (void *)0);
	return 1;
}

SEC("perf_event")
int sample_by_helper(void *context)
{
	return take_sample(1);
}

SEC("perf_event")
int sample_by_turns(void *context)
{
	return take_sample(0);
}
