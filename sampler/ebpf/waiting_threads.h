/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The table of threads. A thread's entry is at the place that its id leads to, which is found ten times as fast as one
 * of a hash table; or in a hash table, if another thread's is there when it is met. Only waiting.bpf.c includes this,
 * behind its counters and shares.
 */
#include "sampler/ebpf/waiting_shared.h"

/* asm-generic/errno-base.h; no thread's id has the bit, which is beyond the greatest one (PID_MAX_LIMIT, 2^22). */
enum { EEXIST = 17, NO_TID = 1 << 30 };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WAITING_PLACES);
	__type(key, __u32);
	__type(value, struct waiting_place);
} thread_places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WAITING_MOST_THREADS);
	__type(key, __u32);
	__type(value, struct waiting_thread);
} threads SEC(".maps");

static inline struct waiting_place *place_of(__u32 tid)
{
	__u32 at = tid & (WAITING_PLACES - 1);

	return bpf_map_lookup_elem(&thread_places, &at);
}

static inline struct waiting_thread *find_thread(__u32 tid)
{
	struct waiting_place *place = place_of(tid);

	if (tid == 0 || !place)
		return (void *)0;
	if (place->tid == tid)
		return &place->thread;
	return place->others ? bpf_map_lookup_elem(&threads, &tid) : (void *)0;
}

/* Adds a thread whose entry is complete when somebody finds it. */
static inline _Bool add_thread(struct waiting_place *place, __u32 tid, const struct waiting_thread *made)
{
	if (place->tid == 0) {
		place->thread = *made;
		barrier();
		place->tid = tid;
		return 1;
	}
	if (bpf_map_update_elem(&threads, &tid, made, BPF_NOEXIST) != 0)
		return 0;
	__sync_fetch_and_add(&place->others, 1);
	return 1;
}

/*
 * The entry of a thread, which is `made` if it had none and its account may have another one. An entry of the hash
 * table that is no thread's is the lock of a place: who finds it taken gets NULL, and meets the thread the next time.
 */
static inline struct waiting_thread *enter_thread(__u32 tid, const struct waiting_thread *made)
{
	struct waiting_place *place = place_of(tid);
	__u32 lock = NO_TID | (tid & (WAITING_PLACES - 1));
	struct waiting_thread *known;
	long error;

	if (!place)
		return (void *)0;
	/* An account that has its share does not hold up others at the lock. */
	if (!account_may_take(&thread_shares, made->payer)) {
		COUNT(threads_unknown);
		return (void *)0;
	}
	error = bpf_map_update_elem(&threads, &lock, made, BPF_NOEXIST);
	if (error == -EEXIST)
		return (void *)0;
	if (error == 0) {
		if (!find_thread(tid) && account_may_take(&thread_shares, made->payer) &&
			add_thread(place, tid, made)) {
			account_take(&thread_shares, made->payer);
			COUNT(threads_met);
		}
		bpf_map_delete_elem(&threads, &lock);
	}
	known = find_thread(tid);
	if (!known)
		COUNT(threads_unknown);
	return known;
}

/* `payer`: as the entry has it. */
static inline void remove_thread(__u32 tid, __u32 payer)
{
	struct waiting_place *place = place_of(tid);

	if (!place)
		return;
	if (place->tid == tid)
		place->tid = 0;
	else if (bpf_map_delete_elem(&threads, &tid) == 0)
		__sync_fetch_and_add(&place->others, -1);
	else
		return;
	account_give_back(&thread_shares, payer);
	COUNT(threads_ended);
}
