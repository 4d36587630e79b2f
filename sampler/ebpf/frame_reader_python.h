/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Reads the frames of CPython of the current thread. Only programs (.bpf.c) include this. */
#include "sampler/ebpf/frame_reader_area.h"

enum {
	FOLLOWED_STEPS = 16,  /* where there is no helper that loops */
	SEARCH_STEPS = 128,   /* states and interpreters that one sample looks at */
	SEARCH_ROUNDS = 1024, /* samples that one search may take */
	AWAITER_STEPS = 64,   /* coroutines and tasks that await the one that runs */
};

#define MEMBER_MASK (PYTHON_FRAME_ROOM - 8U) /* of the offset of a pointer in a frame */

/* ---- The thread's states ---- */

/*
 * A thread has a state for each interpreter whose code it has begun and not yet ended, all of which may have frames. A
 * state names the thread that it was made for, which in 3.11 need not be the one that runs it.
 */

/* A search in the process of the current thread. */
struct python_search {
	const struct ebpf_python *python;
	struct frames_place *place;
	const char *task, *registers; /* of the thread; `registers` is NULL where they are not known */
	__u64 first;                  /* the interpreter that the process has made last */
	__u64 low, high;              /* of its C stack what is in use, once it was asked for; high is 0 before */
	_Bool is_any;                 /* of its states one is remembered */
	_Bool has_idle;               /* it has one without frames */
};

/*
 * The thread's own memory stands behind its stack, as C libraries place it; behind that of the first thread there is
 * nothing.
 */
static inline void find_c_stack(struct python_search *search)
{
	__u64 own;

	search->high = ~0ULL;
	if (search->registers && constants.layout.thread_pointer &&
		read_kernel(&own, sizeof(own), search->task, constants.layout.thread_pointer) &&
		read_kernel(&search->low, sizeof(search->low), search->registers, STACK_POINTER_WORD * 8) &&
		own > search->low)
		search->high = own;
}

static inline _Bool is_c_stack_known(struct python_search *search)
{
	if (!search->high)
		find_c_stack(search);
	return search->low != 0;
}

static inline _Bool is_on_c_stack(struct python_search *search, __u64 address)
{
	return is_c_stack_known(search) && address >= search->low && address < search->high;
}

/* Returns whether a state was made for the thread, or has its innermost cframe on the thread's stack. */
static inline _Bool is_own_state(struct python_search *search, __u64 state)
{
	const struct ebpf_python *python = search->python;
	__u64 id, cframe;

	if (!read_user(&id, state + python->native_thread_id))
		return 0;
	return id == search->place->own_tid ||
	       (python->has_cframe && read_user(&cframe, state + python->frame) && is_on_c_stack(search, cframe));
}

static inline void remember_state(struct frames_place *place, __u64 state)
{
	__u32 room = FRAMES_MOST_STATES;

	for (__u32 i = 0; i < FRAMES_MOST_STATES; i++)
		if (place->states[i] == state)
			return;
		else if (!place->states[i] && room == FRAMES_MOST_STATES)
			room = i;
	if (room < FRAMES_MOST_STATES)
		place->states[room] = state;
}

/* One that a thread has run at some time may have none. Since 3.15 there is a shim where other versions have nothing.
 */
static inline _Bool has_frames(const struct ebpf_python *python, __u64 state)
{
	__u64 frame, next;

	if (!read_user(&frame, state + python->frame) || !frame)
		return 0;
	return read_user(&next, frame + (python->has_cframe ? python->frame_in_cframe : python->previous)) && next;
}

/*
 * Returns whether a state has frames, for threads that have one in each of several interpreters: only such states are
 * remembered.
 */
static inline _Bool is_worth_reading(struct python_search *search, __u64 state)
{
	if (!is_own_state(search, state))
		return 0;
	if (!search->place->has_several || has_frames(search->python, state))
		return 1;
	search->has_idle = 1;
	return 0;
}

/* Forgets a state that is no longer the thread's. */
static long keep_state(__u32 index, void *context)
{
	struct python_search *search = context;
	__u64 *state = &search->place->states[index & (FRAMES_MOST_STATES - 1)];

	if (*state && !is_worth_reading(search, *state))
		*state = 0;
	search->is_any |= *state != 0;
	return 0;
}

static __always_inline _Bool keep_states(struct python_search *search, _Bool by_helper)
{
	search->is_any = 0;
	if (by_helper)
		bpf_loop(FRAMES_MOST_STATES, keep_state, search, 0);
	else
		for (__u32 i = 0; i < FRAMES_MOST_STATES; i++)
			keep_state(i, search);
	return search->is_any;
}

/* Looks at one state, or goes to the next interpreter. Returns whether that was all, as bpf_loop() wants it. */
static long search_state(__u32 index, void *context)
{
	struct python_search *search = context;
	const struct ebpf_python *python = search->python;
	struct frames_place *place = search->place;
	__u64 next;

	if (!place->state || place->state == place->known_until) {
		if (!read_user(&next, place->interpreter + python->next_interpreter) || !next ||
			!read_user(&place->state, next + python->first_thread))
			next = 0;
		if (!next)
			place->has_several = place->interpreter != search->first;
		place->interpreter = next;
		return next == 0;
	}
	if (is_worth_reading(search, place->state)) {
		remember_state(place, place->state);
		search->is_any = 1;
	}
	if (!read_user(&next, place->state + python->next_thread)) {
		place->interpreter = 0;
		return 1;
	}
	place->state = next;
	return 0;
}

/* Searches by the helper that loops, or so that the verifier follows each turn. */
static __always_inline void search_states(struct python_search *search, _Bool by_helper)
{
	if (by_helper)
		bpf_loop(SEARCH_STEPS, search_state, search, 0);
	else
		for (__u32 i = 0; i < FOLLOWED_STEPS; i++)
			if (search_state(i, search))
				return;
}

/*
 * Finds the states of the current thread: those of its last sample, and where the process has others now, or several
 * interpreters, those among the rest, of which each sample looks at a part. New ones stand first in CPython's lists.
 * Returns whether there are any.
 */
static __always_inline _Bool find_python_states(struct python_search *search, _Bool by_helper)
{
	const struct ebpf_python *python = search->python;
	struct frames_place *place = search->place;
	__u64 first;
	_Bool is_any;

	search->has_idle = 0;
	if (!place->own_tid)
		place->own_tid = read_own_tid(search->task);
	if (!place->own_tid || !read_user(&search->first, python->runtime + python->first_interpreter) ||
		!search->first || !read_user(&first, search->first + python->first_thread)) {
		pause_search(place);
		return 0;
	}
	is_any = keep_states(search, by_helper);
	if (is_any && !place->interpreter && !place->has_several && place->first_state == first)
		return 1;
	if (!place->interpreter) {
		place->known_until = is_any && !place->has_several ? place->first_state : 0;
		place->interpreter = search->first;
		place->state = place->first_state = first;
		place->rounds = 0;
	}
	search_states(search, by_helper);
	if (++place->rounds >= SEARCH_ROUNDS)
		place->interpreter = 0;
	if (!search->is_any && !search->has_idle && !place->interpreter)
		pause_search(place);
	return search->is_any;
}

/* ---- Frames ---- */

/* Reads the members of a frame one by one: it may end before a border of pages, behind which nothing can be read. */
static inline _Bool read_members(const struct ebpf_python *python, struct frames_walk *walk)
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

static inline __u32 position_of(__u64 instructions, __u64 instruction)
{
	__u64 unit = (instruction - instructions) / 2;

	return unit < EBPF_FRAME_NO_POSITION ? (__u32)unit : EBPF_FRAME_NO_POSITION;
}

/*
 * Returns what tells a code object from another one that had its address before: where its names and its table of lines
 * are. They lie side by side, from the file's name on.
 */
static inline __u64 signature_of(const struct ebpf_python *python, __u64 code)
{
	__u64 members[4] = { 0 };

	bpf_probe_read_user(members, sizeof(members), (const void *)(code + python->filename));
	return (members[0] ^ members[1] << 7 ^ members[2] << 14 ^ members[3] << 21) * 0xd6e8feb86659fd93;
}

static inline _Bool write_activation(struct frames_area *area, __u64 address)
{
	if (!area->walk.innermost)
		area->walk.innermost = address;
	return write_word(area, ebpf_python_activation_word(address));
}

static inline _Bool write_python_frame(struct frames_area *area, const struct ebpf_interpreter *interpreter)
{
	const struct ebpf_python *python = &interpreter->python;
	const char *members = (const char *)area->walk.members;
	__u32 mark = *(const __u8 *)(members + (python->mark & (MEMBER_MASK | 7)));
	__u64 code = *(const __u64 *)(members + (python->code & MEMBER_MASK)) & ~3ULL;
	__u64 instruction = *(const __u64 *)(members + (python->instruction & MEMBER_MASK));
	struct frames_known *known;

	if (!python->outer_in_cframe && mark >= python->shim_mark)
		return write_activation(area, area->walk.frame);
	known = find_known(area, interpreter, code);
	if (known)
		note_code(area, known, code, signature_of(python, code));
	return write_word(
		area, ebpf_frame_word(code, position_of(find_instructions(python, code, members), instruction), 0));
}

/*
 * Enters a cframe, where activations are told by these: a frame whose caller is the one of the next cframe outwards is
 * the first.
 */
static inline _Bool enter_cframe(const struct ebpf_python *python, struct frames_walk *walk, __u64 cframe)
{
	walk->cframe = cframe;
	walk->outer_frame = 0;
	return read_user(&walk->outer_cframe, cframe + python->outer_in_cframe) &&
	       (!walk->outer_cframe || read_user(&walk->outer_frame, walk->outer_cframe + python->frame_in_cframe));
}

/* Leaves a cframe for the outer one. Returns whether there are no more frames, as walk_python_frame() does. */
static inline long leave_cframe(struct frames_area *area, const struct ebpf_python *python)
{
	struct frames_walk *walk = &area->walk;

	if (!write_activation(area, walk->cframe) || !walk->frame)
		return 1;
	walk->is_unread = !enter_cframe(python, walk, walk->outer_cframe);
	return walk->is_unread;
}

/* ---- What awaits the task ---- */

/* Two words of the coroutines of a task, which were read from the outermost one on. */
static long swap_words(__u32 index, void *context)
{
	struct frames_area *area = ((const struct area_walk *)context)->area;
	__u64 *outer = word_at(area, area->walk.section + index), *inner = word_at(area, area->walk.count - 1 - index);
	__u64 word = *outer;

	*outer = *inner;
	*inner = word;
	return 0;
}

static inline _Bool read_byte(__u8 *byte, __u64 address)
{
	return bpf_probe_read_user(byte, 1, (const void *)address) == 0;
}

/* Goes on to the task that awaits this one, if it is the only one. Returns whether there is none. */
static inline long find_awaiter(const struct ebpf_python *python, struct frames_walk *at)
{
	__u64 awaiter;
	__u8 has_many, is_task;

	if (!read_byte(&has_many, at->task + python->has_many_awaiters) || has_many ||
		!read_user(&awaiter, at->task + python->awaiter) || !awaiter ||
		!read_byte(&is_task, awaiter + python->is_task) || is_task != 1 ||
		!read_user(&at->coroutine, awaiter + python->task_coroutine))
		return 1;
	at->task = awaiter;
	at->section = at->count;
	return at->coroutine == 0;
}

/* The coroutine that a coroutine awaits, whose frame was read; 0: it awaits something else. */
static inline __u64 find_awaited(const struct ebpf_python *python, const struct frames_walk *at)
{
	__u64 top = *(const __u64 *)((const char *)at->members + (python->stack_pointer & MEMBER_MASK));
	__u64 awaited, type, awaited_type;
	__u8 state;

	if (!read_byte(&state, at->coroutine + python->coroutine_state) || state != python->awaiting_state ||
		!read_user(&awaited, top - python->awaited_below))
		return 0;
	awaited &= ~3ULL;
	return read_user(&type, at->coroutine + python->type) && read_user(&awaited_type, awaited + python->type) &&
			       type == awaited_type
		       ? awaited
		       : 0;
}

/* Writes the frame of one coroutine, or goes on to the next task. Returns whether there are no more, as bpf_loop()
 * wants it. */
static long walk_awaiter(__u32 index, void *context)
{
	const struct area_walk *walk = context;
	const struct ebpf_python *python = &walk->interpreter->python;
	struct frames_walk *at = &walk->area->walk;

	if (!at->coroutine)
		return find_awaiter(python, at);
	if (bpf_probe_read_user(
		    at->members, PYTHON_FRAME_BYTES, (const void *)(at->coroutine + python->coroutine_frame)) != 0 ||
		!write_python_frame(walk->area, walk->interpreter))
		return 1;
	at->coroutine = find_awaited(python, at);
	if (!at->coroutine)
		bpf_loop((at->count - at->section) / 2, swap_words, context, 0);
	return 0;
}

/*
 * The tasks that await a task continue its stack, as their coroutines would if they had called its own. Begins with the
 * coroutine that was found, or with the first task that awaits.
 */
static inline void write_awaiters(const struct area_walk *walk)
{
	struct frames_walk *at = &walk->area->walk;

	bpf_loop(AWAITER_STEPS, walk_awaiter, (void *)walk, 0);
	if (at->coroutine)
		bpf_loop((at->count - at->section) / 2, swap_words, (void *)walk, 0);
}

static inline void find_task(struct frames_walk *at, const struct ebpf_python *python, __u64 state)
{
	__u64 coroutine;

	at->task = 0;
	at->task_frame = 0;
	if (python->running_task && read_user(&at->task, state + python->running_task) && at->task &&
		read_user(&coroutine, at->task + python->task_coroutine) && coroutine)
		at->task_frame = coroutine + python->coroutine_frame;
}

static inline __u64 *awaiter_word(struct frames_walk *at, __u64 task)
{
	return &at->awaiters[ebpf_python_task_bit(task) / 64 & (FRAMES_AWAITER_WORDS - 1)];
}

/* Notes the one that awaits a task of the ring. */
static long note_awaiter(__u32 index, void *context)
{
	const struct area_walk *walk = context;
	struct frames_walk *at = &walk->area->walk;
	__u64 awaiter;

	if (at->node == at->nodes)
		return 1;
	if (read_user(&awaiter, at->node - walk->interpreter->python.task_node + walk->interpreter->python.awaiter))
		*awaiter_word(at, awaiter) |= 1ULL << (ebpf_python_task_bit(awaiter) & 63);
	return !read_user(&at->node, at->node);
}

/* Each that awaits no other one is chosen with the same chance, without their number being known (Vitter 1985). */
static long choose_task(__u32 index, void *context)
{
	const struct area_walk *walk = context;
	struct frames_walk *at = &walk->area->walk;
	__u64 task = at->node - walk->interpreter->python.task_node;

	if (at->node == at->nodes)
		return 1;
	if (!(*awaiter_word(at, task) >> (ebpf_python_task_bit(task) & 63) & 1) &&
		bpf_get_prandom_u32() % (__u32)++at->choices == 0)
		at->task = task;
	return !read_user(&at->node, at->node);
}

static __always_inline _Bool pass_tasks(const struct area_walk *walk, long (*step)(__u32 index, void *context))
{
	struct frames_walk *at = &walk->area->walk;

	if (!read_user(&at->node, at->nodes))
		return 0;
	bpf_loop(EBPF_PYTHON_MOST_TASKS, step, (void *)walk, 0);
	return 1;
}

/* While an event loop waits, all of its tasks do: the wait is that of one of them, which so has its part of the time.
 */
static inline void write_waiting_task(const struct area_walk *walk, __u64 state)
{
	const struct ebpf_python *python = &walk->interpreter->python;
	struct frames_walk *at = &walk->area->walk;
	__u64 loop;

	if (!python->tasks || at->task || !read_user(&loop, state + python->running_loop) || !loop)
		return;
	at->nodes = state + python->tasks;
	at->choices = 0;
	for (__u32 i = 0; i < FRAMES_AWAITER_WORDS; i++)
		((volatile __u64 *)at->awaiters)[i] = 0;
	if (!pass_tasks(walk, note_awaiter) || !pass_tasks(walk, choose_task) || !at->task ||
		!read_user(&at->coroutine, at->task + python->task_coroutine) || !at->coroutine)
		return;
	at->section = at->count;
	write_awaiters(walk);
	if (at->count > FRAMES_BLOCK_HEADER)
		write_word(walk->area, ebpf_python_activation_word(0));
}

/* ---- All frames ---- */

/* Writes one frame, and goes to its caller. Returns whether it was the last one, as bpf_loop() wants it. */
static long walk_python_frame(__u32 index, void *context)
{
	const struct area_walk *walk = context;
	const struct ebpf_python *python = &walk->interpreter->python;
	struct frames_walk *at = &walk->area->walk;

	if (python->outer_in_cframe && at->frame == at->outer_frame)
		return leave_cframe(walk->area, python);
	if (bpf_probe_read_user(at->members, PYTHON_FRAME_BYTES, (const void *)at->frame) != 0 &&
		!read_members(python, at)) {
		at->is_unread = 1;
		return 1;
	}
	if (!write_python_frame(walk->area, walk->interpreter))
		return 1;
	at->frame = *(__u64 *)((char *)at->members + (python->previous & MEMBER_MASK));
	return at->frame == 0 && !python->outer_in_cframe;
}

/* Behind the outermost coroutine of the task it writes those of the tasks that await it. */
static long walk_python_frame_of_task(__u32 index, void *context)
{
	const struct area_walk *walk = context;
	__u64 frame = walk->area->walk.frame;
	long is_last = walk_python_frame(index, context);

	if (frame == walk->area->walk.task_frame) {
		walk->area->walk.coroutine = 0;
		write_awaiters(walk);
	}
	return is_last;
}

static inline _Bool find_first_python_frame(const struct ebpf_python *python, __u64 state, struct frames_walk *walk)
{
	__u64 cframe;

	if (!python->has_cframe)
		return read_user(&walk->frame, state + python->frame);
	return read_user(&cframe, state + python->frame) && read_user(&walk->frame, cframe + python->frame_in_cframe) &&
	       (!python->outer_in_cframe || enter_cframe(python, walk, cframe));
}

/*
 * Adds the name of the asyncio task that a state runs. A name that nobody gave is a number until somebody asks for it.
 * Returns what `thread` has of it.
 */
static inline __u64 write_task(struct frames_area *area, const struct ebpf_python *python, __u64 state)
{
	__u64 task, name, type, count = area->walk.count;

	if (!state || !python->text_type || count + FRAMES_TASK_WORDS > area->walk.most ||
		!read_user(&task, state + python->running_task) || !task ||
		!read_user(&name, task + python->task_name) || !name || !read_user(&type, name + python->type) ||
		type != python->text_type)
		return 0;
	READ_PIECE(word_at(area, count), EBPF_TASK_BYTES, name);
	area->walk.count = count + FRAMES_TASK_WORDS;
	return FRAMES_HAS_TASK;
}

static inline void write_python_code(
	struct frames_area *area, const struct ebpf_interpreter *interpreter, __u64 address)
{
	const struct ebpf_python *python = &interpreter->python;
	struct frames_code *code = (struct frames_code *)word_at(area, FRAMES_BLOCK_HEADER);

	if (room_of(area) < FRAMES_BLOCK_HEADER + FRAMES_CODE_WORDS)
		return;
	code->pid = interpreter->pid;
	code->addresses[0] = address;
	READ_PIECE(code->bytes[0], FRAMES_PIECE_BYTES, address);
	code->addresses[1] = member_of(code, python->qualname);
	code->addresses[2] = member_of(code, python->filename);
	code->addresses[3] = member_of(code, python->line_table);
	READ_PIECE(code->bytes[1], FRAMES_PIECE_BYTES, code->addresses[1]);
	READ_PIECE(code->bytes[2], FRAMES_PIECE_BYTES, code->addresses[2]);
	READ_PIECE(code->table, FRAMES_TABLE_BYTES, code->addresses[3]);
	publish_code(area, interpreter);
}
