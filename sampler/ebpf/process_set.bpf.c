/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The program of each sampling event. */
#include "sampler/ebpf/process_set_map.h"

const char LICENSE[] SEC("license") = "GPL";

_Bool is_filtering; /* samples of other processes than those of the set are dropped */

/* The program that takes over for samples that are kept; none at first. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} next SEC(".maps");

/* The kernel drops the sample of an event whose program returns 0 (linux/bpf.h: BPF_PROG_TYPE_PERF_EVENT). */
SEC("perf_event")
int keep_sample(void *context)
{
	if (is_filtering && !set_has_current())
		return 0;
	bpf_tail_call(context, &next, 0);
	return 1;
}
