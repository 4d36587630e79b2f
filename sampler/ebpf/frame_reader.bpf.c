/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes, at each sample, the frames of the interrupted thread's interpreter. One of the programs is loaded. */
#define SAMPLES_WAITS 0

#include "sampler/ebpf/frame_reader_returns.h"

#include <linux/perf_event.h>

#include <bpf/bpf_core_read.h>

const char LICENSE[] SEC("license") = "GPL";

__u32 process_count; /* with an interpreter */
_Bool has_returns;   /* the kernel may have replaced return addresses of a process */

/* The members of the kernel's structs that are read here (CO-RE). */
struct perf_sample_data {
	__u64 sample_flags; /* what is known of the sample; since Linux 6.1 */
	__u64 time;
} __attribute__((preserve_access_index));

struct bpf_perf_event_data_kern {
	struct perf_sample_data *data;
} __attribute__((preserve_access_index));

/* The time that the sample is written with, which it has before its program runs since Linux 6.3. 0: it has none yet.
 */
static __always_inline __u64 time_of_sample(const struct bpf_perf_event_data_kern *event)
{
	const struct perf_sample_data *data = (void *)0;
	__u64 flags, time;

	if (!bpf_core_field_exists(data->sample_flags) || bpf_core_read(&data, sizeof(data), &event->data) != 0 ||
		bpf_core_read(&flags, sizeof(flags), &data->sample_flags) != 0 || !(flags & PERF_SAMPLE_TIME) ||
		bpf_core_read(&time, sizeof(time), &data->time) != 0)
		return 0;
	return time;
}

static __always_inline int take_sample(const void *context, _Bool by_helper)
{
	if (has_returns)
		write_current_returns(time_of_sample(context));
	if (process_count)
		write_current_frames(by_helper,
			by_helper ? (const char *)bpf_task_pt_regs(bpf_get_current_task_btf()) : (void *)0,
			time_of_sample(context));
	return 1;
}

SEC("perf_event")
int sample_by_helper(void *context)
{
	return take_sample(context, 1);
}

SEC("perf_event")
int sample_by_turns(void *context)
{
	return take_sample(context, 0);
}
