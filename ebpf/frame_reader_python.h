/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Reads the frames of CPython of the current thread, and writes them to the CPU's area. Only programs (.bpf.c) include
 * this. The maps are those of frame_reader.bpf.c, which other programs share.
 *
 * All that is read of the process is foreign: each loop has a bound, each offset a mask.
 */
#include "ebpf/frame_reader_shared.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

enum {
	FOLLOWED_FRAMES = 256, /* at most, where there is no helper that loops */
	FOLLOWED_STEPS = 16,
	MOST_STEPS = 2 * EBPF_CHAIN_MOST_FRAMES, /* shims are no frames */
	SEARCH_STEPS = 64,                       /* threads and interpreters that one sample looks at */
	SEARCH_ROUNDS = 1024,                    /* samples that one search may take */
	SEARCH_PAUSE_NS = 10000000,              /* after a search that has found nothing */
	SIGNATURE_NS = 4000000                   /* for so long a code object is believed to be the same one */
};

#define MEMBER_MASK (CHAINS_FRAME_ROOM - 8U) /* of the offset of a pointer in a frame */

/* ---- What the recorder sets ---- */

const volatile struct chains_constants constants;

/* ---- State ---- */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CHAINS_MOST_PROCESSES);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct ebpf_python);
} pythons SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CHAINS_PLACES);
	__type(key, __u32);
	__type(value, struct chains_place);
} places SEC(".maps");

/* One a CPU. The recorder sets how many there are, and their size. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct chains_area));
} areas SEC(".maps");

/* Each remembers a code object that was written; others share its place. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CHAINS_CODES);
	__type(key, __u32);
	__type(value, struct chains_known);
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

	if (!read_kernel(&pid, sizeof(pid), task, constants.thread_pid) ||
		!read_kernel(&level, sizeof(level), pid, constants.level))
		return 0;
	if (level == 0)
		return bpf_get_current_pid_tgid();
	if (!read_kernel(&number, sizeof(number), pid, constants.numbers + (level & 31) * constants.number_bytes))
		return 0;
	return number;
}

/* What is remembered of the current thread. */
static inline struct chains_place *find_place(void)
{
	__u32 tid = bpf_get_current_pid_tgid(), index = tid & (CHAINS_PLACES - 1);
	struct chains_place *place = bpf_map_lookup_elem(&places, &index);

	if (place && place->tid != tid) {
		place->tid = tid;
		place->own_tid = 0;
		place->rounds = 0;
		place->is_of_python = 0;
		place->state = 0;
		place->interpreter = 0;
		place->not_before = 0;
	}
	return place;
}

/* Nothing was found a moment ago. */
static inline _Bool is_pausing(const struct chains_place *place)
{
	return place->not_before && bpf_ktime_get_ns() < place->not_before;
}

static inline void pause_search(struct chains_place *place)
{
	place->interpreter = 0;
	place->state = 0;
	place->not_before = bpf_ktime_get_ns() + SEARCH_PAUSE_NS;
}

/* How to read the current process; one that is not known is read like its parent. */
static inline const struct ebpf_python *find_python(const char *task, struct chains_place *place)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	const struct ebpf_python *python = bpf_map_lookup_elem(&pythons, &tgid);
	const char *parent;

	place->is_of_python = python != (void *)0;
	if (python)
		return python;
	if (!read_kernel(&parent, sizeof(parent), task, constants.real_parent) ||
		!read_kernel(&tgid, sizeof(tgid), parent, constants.tgid))
		return (void *)0;
	return bpf_map_lookup_elem(&pythons, &tgid);
}

/* ---- The thread's state ---- */

static inline _Bool is_state_of(const struct ebpf_python *python, __u64 state, __u64 tid)
{
	__u64 id;

	return state && read_user(&id, state + python->native_thread_id) && id == tid;
}

/* A search in the process of the current thread. */
struct search {
	const struct ebpf_python *python;
	struct chains_place *place;
};

/* Looks at one thread, or goes to the next interpreter. Returns whether that was all, as bpf_loop() wants it. */
static long search_thread(__u32 index, void *context)
{
	const struct search *search = context;
	const struct ebpf_python *python = search->python;
	struct chains_place *place = search->place;
	__u64 id, next;

	if (!place->state) {
		if (!read_user(&next, place->interpreter + python->next_interpreter) || !next ||
			!read_user(&place->state, next + python->first_thread))
			next = 0;
		place->interpreter = next;
		return next == 0;
	}
	if (!read_user(&id, place->state + python->native_thread_id) ||
		!read_user(&next, place->state + python->next_thread)) {
		place->interpreter = 0;
		return 1;
	}
	if (id == place->own_tid)
		return 1;
	place->state = next;
	return 0;
}

/* By the helper that loops, or so that the verifier follows each turn. */
static __always_inline void search_threads(struct search *search, _Bool by_helper)
{
	if (by_helper)
		bpf_loop(SEARCH_STEPS, search_thread, search, 0);
	else
		for (__u32 i = 0; i < FOLLOWED_STEPS; i++)
			if (search_thread(i, search))
				return;
}

/* Begins at the first thread of the first interpreter, or goes on where the last sample has ended. */
static inline _Bool begin_search(const struct ebpf_python *python, struct chains_place *place)
{
	if (place->interpreter && place->rounds > 0)
		return place->rounds < SEARCH_ROUNDS;
	place->rounds = 0;
	return read_user(&place->interpreter, python->runtime + python->first_interpreter) && place->interpreter &&
	       read_user(&place->state, place->interpreter + python->first_thread);
}

/*
 * The state of the current thread: where it was at its last sample, or among those of its process, of which each sample
 * looks at a part. 0: not found.
 */
static __always_inline __u64 find_state(
	const struct ebpf_python *python, struct chains_place *place, const char *task, _Bool by_helper)
{
	struct search search = { python, place };

	if (!place->own_tid)
		place->own_tid = read_own_tid(task);
	if (place->own_tid && is_state_of(python, place->state, place->own_tid))
		return place->state;
	if (place->own_tid && begin_search(python, place)) {
		search_threads(&search, by_helper);
		if (place->interpreter && is_state_of(python, place->state, place->own_tid)) {
			place->rounds = 0;
			place->not_before = 0;
			return place->state;
		}
		place->rounds++;
		if (place->interpreter)
			return 0;
	}
	pause_search(place);
	return 0;
}

/* ---- Frames ---- */

/* What is read is in the area itself: the verifier need not follow each value that it may take. */
struct walk {
	const struct ebpf_python *python;
	struct chains_area *area;
};

/* The n-th word of the block that is written. The verifier has to see the bounds where the address is made. */
static inline __u64 *word_at(struct chains_area *area, __u64 n)
{
	__u64 begin = area->head & constants.ring_mask;

	n &= CHAINS_BLOCK_ROOM - 1;
	asm volatile("" : "+r"(n), "+r"(begin));
	return &area->words[begin + n];
}

static inline _Bool write_word(struct chains_area *area, __u64 value)
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

/* The activation that the last word belongs to ends with it; where that one has ended already, this one is empty. */
static inline _Bool end_activation(struct chains_area *area)
{
	__u64 count = area->walk.count, *word = word_at(area, count - 1);

	if (count <= CHAINS_BLOCK_HEADER || ebpf_chain_is_first(*word))
		return write_word(area, ebpf_chain_word(0, EBPF_CHAIN_NO_UNIT, 1));
	*word |= 1;
	return 1;
}

/* Reads the members of a frame one by one: it may end before a border of pages, behind which nothing can be read. */
static inline _Bool read_members(const struct ebpf_python *python, struct chains_walk *walk)
{
	char *members = (char *)walk->members;

	return read_user((__u64 *)(members + (python->code & MEMBER_MASK)), walk->frame + python->code) &&
	       read_user((__u64 *)(members + (python->previous & MEMBER_MASK)), walk->frame + python->previous) &&
	       read_user((__u64 *)(members + (python->instruction & MEMBER_MASK)), walk->frame + python->instruction) &&
	       bpf_probe_read_user(members + (python->mark & (MEMBER_MASK | 7)), 1,
		       (const void *)(walk->frame + python->mark)) == 0 &&
	       (!python->copies || bpf_probe_read_user(members + (python->copy_index & (MEMBER_MASK | 4)), 4,
					   (const void *)(walk->frame + python->copy_index)) == 0);
}

/* The address of the first instruction of what the frame runs. */
static inline __u64 find_instructions(const struct ebpf_python *python, __u64 code, const char *members)
{
	__u64 index = *(const __u32 *)(members + (python->copy_index & (MEMBER_MASK | 4))), copies, copy;

	if (python->copies && index > 0 && read_user(&copies, code + python->copies) &&
		read_user(&copy, copies + (index + 1) * sizeof(copy)))
		return copy;
	return code + python->instructions;
}

static inline __u32 unit_of(__u64 instructions, __u64 instruction)
{
	__u64 unit = (instruction - instructions) / 2;

	return unit < EBPF_CHAIN_NO_UNIT ? (__u32)unit : EBPF_CHAIN_NO_UNIT;
}

/*
 * What tells a code object from another one that had its address before: where its names and its table of lines are.
 * They lie side by side, from the file's name on.
 */
static inline __u64 signature_of(const struct ebpf_python *python, __u64 code)
{
	__u64 members[4] = { 0 };

	bpf_probe_read_user(members, sizeof(members), (const void *)(code + python->filename));
	return (members[0] ^ members[1] << 7 ^ members[2] << 14 ^ members[3] << 21) * 0xd6e8feb86659fd93;
}

/* Whether no chain had the code object before, as far as is remembered. */
static inline _Bool is_fresh(const struct chains_area *area, const struct ebpf_python *python, __u64 code)
{
	__u64 object = (code ^ (__u64)python->pid << 48) * 0x9e3779b97f4a7c15, now = area->walk.begin_ns, signature;
	__u32 index = object >> 48;
	struct chains_known *known = bpf_map_lookup_elem(&codes, &index);
	_Bool is_other;

	if (!known || (known->object == object && now - known->checked_ns < SIGNATURE_NS))
		return 0;
	signature = signature_of(python, code);
	is_other = known->object != object || known->signature != signature;
	known->object = object;
	known->signature = signature;
	known->checked_ns = now;
	return is_other;
}

static inline void note_code(struct chains_area *area, const struct ebpf_python *python, __u64 code)
{
	__u64 count = area->walk.fresh_count;

	if (count >= CHAINS_MOST_FRESH || !is_fresh(area, python, code))
		return;
	area->walk.fresh[count & (CHAINS_MOST_FRESH - 1)] = code;
	area->walk.fresh_count = count + 1;
}

static inline _Bool write_frame(struct chains_area *area, const struct ebpf_python *python)
{
	const char *members = (const char *)area->walk.members;
	__u32 mark = *(const __u8 *)(members + (python->mark & (MEMBER_MASK | 7)));
	__u64 code = *(const __u64 *)(members + (python->code & MEMBER_MASK)) & ~3ULL;
	__u64 instruction = *(const __u64 *)(members + (python->instruction & MEMBER_MASK));

	if (python->shim_mark && mark >= python->shim_mark)
		return end_activation(area);
	note_code(area, python, code);
	return write_word(area, ebpf_chain_word(code, unit_of(find_instructions(python, code, members), instruction),
					!python->shim_mark && mark == 1));
}

/* Writes one frame, and goes to its caller. Returns whether it was the last one, as bpf_loop() wants it. */
static long walk_frame(__u32 index, void *context)
{
	const struct walk *walk = context;
	struct chains_walk *at = &walk->area->walk;

	if (bpf_probe_read_user(at->members, CHAINS_FRAME_BYTES, (const void *)at->frame) != 0 &&
		!read_members(walk->python, at)) {
		at->is_unread = 1;
		return 1;
	}
	if (!write_frame(walk->area, walk->python))
		return 1;
	at->frame = *(__u64 *)((char *)at->members + (walk->python->previous & MEMBER_MASK));
	return at->frame == 0;
}

static inline _Bool find_first_frame(const struct ebpf_python *python, __u64 state, __u64 *frame)
{
	if (!read_user(frame, state + python->frame))
		return 0;
	return !python->has_cframe || !*frame || read_user(frame, *frame + python->frame_in_cframe);
}

/* ---- Chains ---- */

/*
 * How many words the next block may have. What does not fit before the ring's end may go on behind it when the rest of
 * the ring is free.
 */
static inline __u64 room_of(const struct chains_area *area)
{
	__u64 length = (__u64)constants.ring_mask + 1, room = area->tail + length - area->head;
	__u64 rest = length - (area->head & constants.ring_mask);

	if (room > length)
		return 0;
	return room >= rest || room > CHAINS_MOST_BLOCK ? CHAINS_MOST_BLOCK : room;
}

static inline void publish(struct chains_area *area, __u64 begin_ns, __u64 thread, __u64 count)
{
	__u64 length = (__u64)constants.ring_mask + 1, rest = length - (area->head & constants.ring_mask);
	struct chains_block *block = (struct chains_block *)word_at(area, 0);

	block->begin_ns = begin_ns;
	block->end_ns = bpf_ktime_get_ns();
	block->thread = thread | (count - CHAINS_BLOCK_HEADER);
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

/*
 * Adds the name of the asyncio task that the thread runs. A name that nobody gave is a number until somebody asks for
 * it. Returns what `thread` has of it.
 */
static inline __u64 write_task(struct chains_area *area, const struct ebpf_python *python, __u64 state)
{
	__u64 task, name, type, count = area->walk.count;

	if (!python->text_type || count + CHAINS_TASK_WORDS > area->walk.most ||
		!read_user(&task, state + python->running_task) || !task ||
		!read_user(&name, task + python->task_name) || !name || !read_user(&type, name + python->type) ||
		type != python->text_type)
		return 0;
	READ_PIECE(word_at(area, count), EBPF_TASK_BYTES, name);
	area->walk.count = count + CHAINS_TASK_WORDS;
	return CHAINS_HAS_TASK;
}

static inline void publish_chain(struct chains_area *area, const struct ebpf_python *python, __u64 state)
{
	__u64 thread = bpf_get_current_pid_tgid() << 32 | (area->walk.frame ? CHAINS_IS_CUT : 0);

	thread |= write_task(area, python, state);
	area->chains++;
	publish(area, area->walk.begin_ns, thread, area->walk.count);
}

/* A member of the code object that was read. */
static inline __u64 member_of(const struct chains_code *code, __u32 offset)
{
	return code->code_bytes[offset / 8 & (CHAINS_PIECE_WORDS - 1)];
}

static inline void write_code(struct chains_area *area, const struct ebpf_python *python, __u64 address)
{
	struct chains_code *code = (struct chains_code *)word_at(area, CHAINS_BLOCK_HEADER);

	if (room_of(area) < CHAINS_BLOCK_HEADER + CHAINS_CODE_WORDS)
		return;
	code->pid = python->pid;
	code->code = address;
	READ_PIECE(code->code_bytes, CHAINS_PIECE_BYTES, address);
	code->qualname = member_of(code, python->qualname);
	code->filename = member_of(code, python->filename);
	code->line_table = member_of(code, python->line_table);
	READ_PIECE(code->qualname_bytes, CHAINS_PIECE_BYTES, code->qualname);
	READ_PIECE(code->filename_bytes, CHAINS_PIECE_BYTES, code->filename);
	READ_PIECE(code->line_table_bytes, CHAINS_TABLE_BYTES, code->line_table);
	publish(area, 0, CHAINS_IS_CODE, CHAINS_BLOCK_HEADER + CHAINS_CODE_WORDS);
}

/* Writes the code objects that the chain has met first. */
static __always_inline void write_codes(struct chains_area *area, const struct ebpf_python *python)
{
	for (__u32 i = 0; i < CHAINS_MOST_FRESH; i++)
		if (i < area->walk.fresh_count)
			write_code(area, python, area->walk.fresh[i]);
}

/*
 * Reads all frames. The helper is there since Linux 5.17, and its callback since 5.13 without a refusal of the whole
 * program; otherwise the verifier follows each turn of a loop, which takes its time.
 */
static __always_inline void walk_frames(struct walk *walk, _Bool by_helper)
{
	if (by_helper)
		bpf_loop(MOST_STEPS, walk_frame, walk, 0);
	else
		for (__u32 i = 0; i < FOLLOWED_FRAMES; i++)
			if (walk_frame(i, walk))
				return;
}

static __always_inline void write_chain(
	struct chains_area *area, const struct ebpf_python *python, __u64 state, _Bool by_helper)
{
	struct walk walk = { python, area };

	area->walk.begin_ns = bpf_ktime_get_ns();
	if (!find_first_frame(python, state, &area->walk.frame)) {
		area->unread++;
		return;
	}
	if (!area->walk.frame)
		return;
	area->walk.count = CHAINS_BLOCK_HEADER;
	area->walk.most = room_of(area);
	area->walk.is_full = 0;
	area->walk.is_unread = 0;
	area->walk.fresh_count = 0;
	walk_frames(&walk, by_helper);
	area->unread += area->walk.is_unread;
	if (area->walk.is_full && area->walk.most < CHAINS_MOST_BLOCK)
		area->lost++;
	else
		publish_chain(area, python, state);
	write_codes(area, python);
}

/* A program may interrupt another one that writes to the same area. */
static __always_inline void write_at_state(
	struct chains_area *area, const struct ebpf_python *python, __u64 state, _Bool by_helper)
{
	if (area->is_busy) {
		area->lost++;
		return;
	}
	area->is_busy = 1;
	write_chain(area, python, state, by_helper);
	area->is_busy = 0;
}

/* The chain of the current thread, if its process has CPython. */
static __always_inline void write_current_chain(_Bool by_helper)
{
	const char *task = (const char *)bpf_get_current_task();
	__u32 cpu = bpf_get_smp_processor_id();
	struct chains_area *area = bpf_map_lookup_elem(&areas, &cpu);
	struct chains_place *place = find_place();
	const struct ebpf_python *python;
	__u64 state = 0;

	if (!area || !place)
		return;
	if (!is_pausing(place)) {
		python = find_python(task, place);
		if (python)
			state = find_state(python, place, task, by_helper);
		else
			pause_search(place);
		if (state)
			write_at_state(area, python, state, by_helper);
	}
	if (!state)
		area->unknown += place->is_of_python;
}
