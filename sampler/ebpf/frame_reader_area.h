/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The common part of the programs that read frames of interpreters: how they know processes and threads, and how they
 * write to the CPU's area. Only programs (.bpf.c) include this. The maps are those of frame_reader.bpf.c, which other
 * programs share.
 *
 * All that is read of the process is foreign: each loop has a bound, each offset a mask.
 *
 * SAMPLES_WAITS  whether the samples of the program are of threads that have waited
 */
#include "sampler/ebpf/frame_reader_shared.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

enum {
	SEARCH_PAUSE_NS = 10000000, /* after a search that has found nothing */
	SIGNATURE_NS = 4000000,     /* for so long code is believed to be the same */
	STACK_POINTER_WORD = 19,    /* of the kernel's struct pt_regs, of x86-64 */
};

/* ---- What the recorder sets ---- */

const volatile struct frames_constants constants;

/* ---- State ---- */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FRAMES_MOST_PROCESSES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct ebpf_interpreter);
} interpreters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FRAMES_PLACES);
	__type(key, __u32);
	__type(value, struct frames_place);
} places SEC(".maps");

/* One a CPU. The recorder sets how many there are, and their size. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct frames_area));
} areas SEC(".maps");

/* Each remembers code that was written; others share its place. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FRAMES_CODES);
	__type(key, __u32);
	__type(value, struct frames_known);
} codes SEC(".maps");

/* ---- Reading ---- */

static inline _Bool read_kernel(void *to, __u32 bytes, const char *structure, __u32 offset)
{
	return bpf_probe_read_kernel(to, bytes, structure + offset) == 0;
}

static inline _Bool read_user(__u64 *word, __u64 address)
{
	return bpf_probe_read_user(word, sizeof(*word), (const void *)address) == 0;
}

/* The id by which the current thread knows itself: that of the innermost namespace. 0: not known. */
static inline __u32 read_own_tid(const char *task)
{
	const char *pid;
	__u32 level, number;

	if (!read_kernel(&pid, sizeof(pid), task, constants.layout.thread_pid) ||
		!read_kernel(&level, sizeof(level), pid, constants.layout.level))
		return 0;
	if (level == 0)
		return bpf_get_current_pid_tgid();
	if (!read_kernel(
		    &number, sizeof(number), pid, constants.layout.numbers + (level & 31) * constants.number_bytes))
		return 0;
	return number;
}

/* Returns what is remembered of the current thread. */
static inline struct frames_place *find_place(void)
{
	__u32 tid = bpf_get_current_pid_tgid(), index = tid & (FRAMES_PLACES - 1);
	struct frames_place *place = bpf_map_lookup_elem(&places, &index);

	if (place && place->tid != tid) {
		place->tid = tid;
		place->own_tid = 0;
		place->rounds = 0;
		place->is_interpreted = 0;
		place->state = 0;
		place->interpreter = 0;
		place->not_before = 0;
		for (__u32 i = 0; i < FRAMES_MOST_STATES; i++)
			place->states[i] = 0;
	}
	return place;
}

/* Nothing was found a moment ago. */
static inline _Bool is_pausing(const struct frames_place *place)
{
	return place->not_before && bpf_ktime_get_ns() < place->not_before;
}

static inline void pause_search(struct frames_place *place)
{
	place->interpreter = 0;
	place->state = 0;
	place->not_before = bpf_ktime_get_ns() + SEARCH_PAUSE_NS;
}

/* Returns how to read the current process; one that is not known is read like its parent. */
static inline const struct ebpf_interpreter *find_interpreter(const char *task, struct frames_place *place)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	const struct ebpf_interpreter *interpreter = bpf_map_lookup_elem(&interpreters, &tgid);
	const char *parent;

	place->is_interpreted = interpreter != (void *)0;
	if (interpreter)
		return interpreter;
	if (!read_kernel(&parent, sizeof(parent), task, constants.layout.real_parent) ||
		!read_kernel(&tgid, sizeof(tgid), parent, constants.layout.tgid))
		return (void *)0;
	return bpf_map_lookup_elem(&interpreters, &tgid);
}

/* ---- The area ---- */

/* The n-th word of the block that is written. The verifier has to see the bounds where the address is made. */
static inline __u64 *word_at(struct frames_area *area, __u64 n)
{
	__u64 begin = area->head & constants.ring_mask;

	n &= FRAMES_BLOCK_ROOM - 1;
	asm volatile("" : "+r"(n), "+r"(begin));
	return &area->words[begin + n];
}

static inline _Bool write_word(struct frames_area *area, __u64 value)
{
	__u64 count = area->walk.count;

	if (count >= area->walk.most) {
		area->walk.is_full = 1;
		return 0;
	}
	*word_at(area, count) = value;
	area->walk.count = count + 1;
	return 1;
}

/*
 * Returns how many words the next block may have. What does not fit before the ring's end may go on behind it when the
 * rest of the ring is free.
 */
static inline __u64 room_of(const struct frames_area *area)
{
	__u64 length = (__u64)constants.ring_mask + 1, room = area->tail + length - area->head;
	__u64 rest = length - (area->head & constants.ring_mask);

	if (room > length)
		return 0;
	return room >= rest || room > FRAMES_MOST_BLOCK ? FRAMES_MOST_BLOCK : room;
}

static inline void publish(struct frames_area *area, __u64 begin_ns, __u64 thread, __u64 count)
{
	__u64 length = (__u64)constants.ring_mask + 1, rest = length - (area->head & constants.ring_mask);
	struct frames_block *block = (struct frames_block *)word_at(area, 0);

	block->begin_ns = begin_ns;
	block->end_ns = bpf_ktime_get_ns();
	block->thread = thread | (count - FRAMES_BLOCK_HEADER);
	/* The processor keeps the order of these stores (x86-64); the compiler has to. */
	asm volatile("" ::: "memory");
	area->head += count < rest ? count : rest;
}

/* Reads what there is of so many bytes, or up to the end of the page; the rest is zeros. */
#define READ_PIECE(to, bytes, address)                                                                                 \
	do {                                                                                                           \
		__u64 from = (address);                                                                                \
                                                                                                                       \
		if (bpf_probe_read_user((to), (bytes), (const void *)from) != 0)                                       \
			bpf_probe_read_user((to), (0 - from) & ((bytes)-1), (const void *)from);                       \
	} while (0)

/* ---- Frames ---- */

/* A walk: what it reads is in the area itself, since the verifier need not follow each value that it may take. */
struct area_walk {
	const struct ebpf_interpreter *interpreter;
	struct frames_area *area;
};

/*
 * Returns what is remembered of code, if it has to be looked at: frames had other code in its place, or had it a while
 * ago.
 */
static inline struct frames_known *find_known(
	const struct frames_area *area, const struct ebpf_interpreter *interpreter, __u64 code)
{
	__u64 object = (code ^ (__u64)interpreter->pid << 48) * 0x9e3779b97f4a7c15;
	__u32 index = object >> 48;
	struct frames_known *known;

	if (area->walk.fresh_count >= FRAMES_MOST_FRESH)
		return (void *)0;
	known = bpf_map_lookup_elem(&codes, &index);
	if (!known || (known->object == object && area->walk.begin_ns - known->checked_ns < SIGNATURE_NS))
		return (void *)0;
	if (known->object != object)
		known->signature = 0;
	known->object = object;
	return known;
}

/* Code whose signature is another one than is remembered is written behind the frames. */
static inline void note_code(struct frames_area *area, struct frames_known *known, __u64 code, __u64 signature)
{
	__u64 count = area->walk.fresh_count;

	known->checked_ns = area->walk.begin_ns;
	if (known->signature == (signature | 1))
		return;
	known->signature = signature | 1;
	area->walk.fresh[count & (FRAMES_MOST_FRESH - 1)] = code;
	area->walk.fresh_count = count + 1;
}

/* A member of the code that was read. */
static inline __u64 member_of(const struct frames_code *code, __u32 offset)
{
	return code->bytes[0][offset / 8 & (FRAMES_PIECE_WORDS - 1)];
}

static inline void publish_code(struct frames_area *area, const struct ebpf_interpreter *interpreter)
{
	publish(area, 0, FRAMES_IS_CODE | FRAMES_KIND(interpreter->kind), FRAMES_BLOCK_HEADER + FRAMES_CODE_WORDS);
}
