/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The traces of switches: whom a CPU was given to, and the rings of switches. Only waiting.bpf.c includes this, behind
 * its counters and what the recorder sets.
 */

/* The thread that a CPU was given to last: the hook has nothing to do for one that is not to be charged. */
struct given {
	__u32 tid;
	_Bool is_due;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct given);
} last_given SEC(".maps");

/* Returns whether the switch that gave the current thread its CPU was told, and has found nothing to charge it for. */
static inline _Bool is_settled(__u32 tid)
{
	__u32 zero = 0;
	const struct given *given = bpf_map_lookup_elem(&last_given, &zero);

	return given && given->tid == tid && !given->is_due;
}

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
	struct waiting_switch *item;
	struct waiting_ring *ring;
	__u32 cpu, at;

	if (switch_room == 0)
		return;
	cpu = bpf_get_smp_processor_id();
	ring = bpf_map_lookup_elem(&switch_rings, &cpu);
	if (!ring)
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
	/* The record is seen before the counter. */
	__sync_fetch_and_add(&ring->written, 1);
}
