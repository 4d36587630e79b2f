/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/ebpf/process_set_map.h"

const char LICENSE[] SEC("license") = "GPL";

/* The kernel drops the sample of an event whose program returns 0 (linux/bpf.h: BPF_PROG_TYPE_PERF_EVENT). */
SEC("perf_event")
int keep_sample(void *context)
{
	return set_has_current();
}
