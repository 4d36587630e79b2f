/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Reads the frames of the current thread's interpreter, whichever it is. Only programs (.bpf.c) include this. */
#include "sampler/ebpf/frame_reader_go.h"
#include "sampler/ebpf/frame_reader_php.h"
#include "sampler/ebpf/frame_reader_python.h"
#include "sampler/ebpf/frame_reader_ruby.h"

enum {
	FOLLOWED_FRAMES = 256,             /* at most, where there is no helper that loops */
	MOST_STEPS = 2 * EBPF_MOST_FRAMES, /* what marks an activation is no frame */
};

/*
 * Finds what leads to the current thread's frames. `*state`: where there is no more than one such place. Where the
 * verifier follows each turn of a loop, it does so for CPython's frames alone.
 */
static __always_inline _Bool find_states(
	const struct ebpf_interpreter *interpreter, struct python_search *search, __u64 *state, _Bool by_helper)
{
	*state = 0;
	switch (interpreter->kind) {
	case EBPF_PYTHON:
		return find_python_states(search, by_helper);
	case EBPF_PHP:
		*state = by_helper ? find_php_state(&interpreter->php, search->place) : 0;
		break;
	case EBPF_RUBY:
		*state = by_helper ? find_ruby_state(&interpreter->ruby, search->place, search->task) : 0;
		break;
	}
	return *state != 0;
}

struct states_walk {
	struct area_walk walk;
	struct python_search *search;
	_Bool is_any;
};

static __always_inline void write_waiting_tasks(const struct area_walk *walk, const struct frames_place *place)
{
	struct frames_walk *at = &walk->area->walk;

	for (__u32 i = 0; i < FRAMES_MOST_STATES && at->count == FRAMES_BLOCK_HEADER; i++)
		if (place->states[i]) {
			find_task(at, &walk->interpreter->python, place->states[i]);
			write_waiting_task(walk, place->states[i]);
		}
}

/*
 * Writes the frames of one state. Those of a state that another thread runs are left out: their activations are not on
 * this thread's stack. Returns whether there are any.
 */
static __always_inline _Bool write_state(struct area_walk *walk, struct python_search *search, __u64 state)
{
	struct frames_walk *at = &walk->area->walk;
	__u64 begin = at->count;

	at->frame = 0;
	at->innermost = 0;
	if (!find_first_python_frame(search->python, state, at)) {
		at->is_unread = 1;
		at->frame = 0;
	}
	if (!at->frame)
		return 0;
	find_task(at, search->python, state);
	bpf_loop(MOST_STEPS, walk_python_frame_of_task, walk, 0);
	if (!search->place->has_several || !at->innermost || !is_c_stack_known(search) ||
		is_on_c_stack(search, at->innermost))
		return 1;
	at->count = begin;
	at->frame = 0;
	return 0;
}

/* Writes the frames of one state. Returns whether there is no use in another one, as bpf_loop() wants it. */
static long write_state_at(__u32 index, void *context)
{
	struct states_walk *states = context;
	__u64 state = states->search->place->states[index & (FRAMES_MOST_STATES - 1)];

	if (state)
		states->is_any |= write_state(&states->walk, states->search, state);
	return states->is_any && states->walk.area->walk.frame;
}

/* Writes the frames of all states: the recorder puts them in order by where their activations lie. */
static __always_inline _Bool write_states(const struct area_walk *walk, struct python_search *search)
{
	struct states_walk states = { *walk, search, 0 };

	bpf_loop(FRAMES_MOST_STATES, write_state_at, &states, 0);
	return states.is_any;
}

/* Writes the frames of one state, so that the verifier follows each turn. */
static __always_inline _Bool write_state_by_turns(struct area_walk *walk, struct python_search *search)
{
	struct frames_walk *at = &walk->area->walk;

	for (__u32 i = 0; i < FRAMES_MOST_STATES && !at->frame; i++)
		if (search->place->states[i] &&
			!find_first_python_frame(search->python, search->place->states[i], at)) {
			at->is_unread = 1;
			at->frame = 0;
		}
	if (!at->frame)
		return 0;
	for (__u32 i = 0; i < FOLLOWED_FRAMES; i++)
		if (walk_python_frame(i, walk))
			break;
	return 1;
}

/*
 * Reads all frames. The helper is there since Linux 5.17, and its callback since 5.13 without a refusal of the whole
 * program; otherwise the verifier follows each turn of a loop, which takes its time. Returns whether there are any.
 */
static __always_inline _Bool walk_frames(
	struct area_walk *walk, struct python_search *search, __u64 state, _Bool by_helper)
{
	struct frames_walk *at = &walk->area->walk;

	at->frame = 0;
	if (walk->interpreter->kind == EBPF_PYTHON && by_helper) {
		if (SAMPLES_WAITS)
			write_waiting_tasks(walk, search->place);
		return write_states(walk, search);
	}
	if (walk->interpreter->kind == EBPF_PYTHON)
		return write_state_by_turns(walk, search);
	if (!by_helper)
		return 0;
	if (walk->interpreter->kind == EBPF_PHP) {
		at->is_unread = !find_first_php_frame(state, &at->frame);
		if (at->frame)
			bpf_loop(MOST_STEPS, walk_php_frame, walk, 0);
	} else {
		at->is_unread = !find_first_ruby_frame(state, at);
		if (!at->is_unread && at->frame)
			bpf_loop(MOST_STEPS, walk_ruby_frame, walk, 0);
	}
	return at->count > FRAMES_BLOCK_HEADER || at->frame;
}

/* Writes the code that no frame had before. */
static __always_inline void write_codes(struct frames_area *area, const struct ebpf_interpreter *interpreter)
{
	for (__u32 i = 0; i < FRAMES_MOST_FRESH; i++)
		if (i >= area->walk.fresh_count)
			return;
		else if (interpreter->kind == EBPF_PHP)
			write_php_code(area, interpreter, area->walk.fresh[i]);
		else if (interpreter->kind == EBPF_RUBY)
			write_ruby_code(area, interpreter, area->walk.fresh[i]);
		else
			write_python_code(area, interpreter, area->walk.fresh[i]);
}

static inline __u64 write_task_of_any(struct frames_area *area, const struct python_search *search)
{
	__u64 flag = 0;

	for (__u32 i = 0; i < FRAMES_MOST_STATES && !flag; i++)
		flag = write_task(area, search->python, search->place->states[i]);
	return flag;
}

static inline void publish_frames(
	struct frames_area *area, const struct ebpf_interpreter *interpreter, const struct python_search *search)
{
	__u64 thread = bpf_get_current_pid_tgid() << 32 | FRAMES_KIND(interpreter->kind);

	if (area->walk.frame)
		thread |= FRAMES_IS_CUT;
	if (interpreter->kind == EBPF_PYTHON)
		thread |= write_task_of_any(area, search);
	area->stacks++;
	publish(area, area->walk.begin_ns, thread, area->walk.count);
}

static __always_inline void write_frames(struct frames_area *area, const struct ebpf_interpreter *interpreter,
	struct python_search *search, __u64 state, _Bool by_helper)
{
	struct area_walk walk = { interpreter, area };
	_Bool is_any;

	area->walk.count = FRAMES_BLOCK_HEADER;
	area->walk.most = room_of(area);
	area->walk.is_full = 0;
	area->walk.is_unread = 0;
	area->walk.fresh_count = 0;
	is_any = walk_frames(&walk, search, state, by_helper);
	area->unread += area->walk.is_unread;
	if (!is_any)
		return;
	if (area->walk.is_full && area->walk.most < FRAMES_MOST_BLOCK)
		area->lost++;
	else
		publish_frames(area, interpreter, search);
	write_codes(area, interpreter);
}

/* A program may interrupt another one that writes to the same area. Whoever enters it leaves it. */
static inline _Bool enter_area(struct frames_area *area, __u64 begin_ns)
{
	if (area->is_busy) {
		area->lost++;
		return 0;
	}
	area->is_busy = 1;
	area->walk.begin_ns = begin_ns;
	return 1;
}

static inline void leave_area(struct frames_area *area)
{
	area->is_busy = 0;
}

/*
 * Writes the frames of the current thread, if its process has an interpreter. `registers`: the kernel's struct pt_regs
 * of the thread; NULL: not known. `time_ns`: of the sample that they belong to; 0: not known.
 */
static __always_inline void write_current_frames(_Bool by_helper, const char *registers, __u64 time_ns)
{
	const char *task = (const char *)bpf_get_current_task();
	__u32 cpu = bpf_get_smp_processor_id();
	struct frames_area *area = bpf_map_lookup_elem(&areas, &cpu);
	struct frames_place *place = find_place();
	const struct ebpf_interpreter *interpreter;
	struct python_search search = { .place = place, .task = task, .registers = registers };
	__u64 state, begin_ns = time_ns ? time_ns : bpf_ktime_get_ns();
	_Bool is_found = 0;

	if (!area || !place)
		return;
	if (!is_pausing(place)) {
		interpreter = find_interpreter(task, place);
		if (interpreter && interpreter->kind == EBPF_GO) {
			if (enter_area(area, begin_ns)) {
				write_go_stack(area, &interpreter->go, task, registers);
				leave_area(area);
			}
			return;
		}
		search.python = &interpreter->python;
		if (interpreter)
			is_found = find_states(interpreter, &search, &state, by_helper);
		else
			pause_search(place);
		if (is_found && enter_area(area, begin_ns)) {
			write_frames(area, interpreter, &search, state, by_helper);
			leave_area(area);
		}
	}
	if (!is_found)
		area->unknown += place->is_interpreted;
}
