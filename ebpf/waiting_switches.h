/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The rings of switches. Only waiting.bpf.c includes this, behind its counters and what the recorder sets. */

/* The rings of all CPUs, one behind the other; user space maps them. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct waiting_switch);
} switches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct waiting_ring);
} switch_rings SEC(".maps");

/* Programs are not preempted, and none runs in an interrupt: nothing else writes into the ring of this CPU meanwhile.
 */
static inline void write_switch(__u32 tid, _Bool is_on, __u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id(), at;
	struct waiting_ring *ring = bpf_map_lookup_elem(&switch_rings, &cpu);
	struct waiting_switch *item;

	if (switch_room == 0 || !ring)
		return;
	at = cpu * switch_room + (ring->written & (switch_room - 1));
	item = bpf_map_lookup_elem(&switches, &at);
	if (!item || ring->written - ring->taken >= switch_room) {
		COUNT(switches_lost);
		return;
	}
	item->time_ns = now;
	item->tid = tid;
	item->is_on = is_on;
	/* What was written before is seen before. */
	__sync_fetch_and_add(&ring->written, 1);
}
