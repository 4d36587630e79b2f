/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Reads the frames of the current thread's interpreter, whichever it is. Only programs (.bpf.c) include this. */
#include "ebpf/frame_reader_go.h"
#include "ebpf/frame_reader_php.h"
#include "ebpf/frame_reader_python.h"
#include "ebpf/frame_reader_ruby.h"

enum {
	FOLLOWED_FRAMES = 256,             /* at most, where there is no helper that loops */
	MOST_STEPS = 2 * EBPF_MOST_FRAMES, /* what marks an activation is no frame */
};

/*
 * Where the interpreter has what leads to the current thread's frames. 0: not found. Where the verifier follows each
 * turn of a loop, it does so for CPython's frames alone.
 */
static __always_inline __u64 find_state(
	const struct ebpf_interpreter *interpreter, struct frames_place *place, const char *task, _Bool by_helper)
{
	switch (interpreter->kind) {
	case EBPF_PYTHON:
		return find_python_state(&interpreter->python, place, task, by_helper);
	case EBPF_PHP:
		return by_helper ? find_php_state(&interpreter->php, place) : 0;
	case EBPF_RUBY:
		return by_helper ? find_ruby_state(&interpreter->ruby, place, task) : 0;
	}
	return 0;
}

/* False: it could not be read. */
static __always_inline _Bool find_first_frame(
	const struct ebpf_interpreter *interpreter, __u64 state, struct frames_walk *walk)
{
	switch (interpreter->kind) {
	case EBPF_PYTHON:
		return find_first_python_frame(&interpreter->python, state, walk);
	case EBPF_PHP:
		return find_first_php_frame(state, &walk->frame);
	case EBPF_RUBY:
		return find_first_ruby_frame(state, walk);
	}
	return 0;
}

/*
 * Reads all frames. The helper is there since Linux 5.17, and its callback since 5.13 without a refusal of the whole
 * program; otherwise the verifier follows each turn of a loop, which takes its time.
 */
static __always_inline void walk_frames(struct walk *walk, _Bool by_helper)
{
	if (by_helper && walk->interpreter->kind == EBPF_PHP)
		bpf_loop(MOST_STEPS, walk_php_frame, walk, 0);
	else if (by_helper && walk->interpreter->kind == EBPF_RUBY)
		bpf_loop(MOST_STEPS, walk_ruby_frame, walk, 0);
	else if (by_helper)
		bpf_loop(MOST_STEPS, walk_python_frame_of_task, walk, 0);
	else
		for (__u32 i = 0; i < FOLLOWED_FRAMES; i++)
			if (walk_python_frame(i, walk))
				return;
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

static inline void publish_frames(struct frames_area *area, const struct ebpf_interpreter *interpreter, __u64 state)
{
	__u64 thread = bpf_get_current_pid_tgid() << 32 | FRAMES_KIND(interpreter->kind);

	if (area->walk.frame)
		thread |= FRAMES_IS_CUT;
	if (interpreter->kind == EBPF_PYTHON)
		thread |= write_task(area, &interpreter->python, state);
	area->stacks++;
	publish(area, area->walk.begin_ns, thread, area->walk.count);
}

static __always_inline void write_frames(
	struct frames_area *area, const struct ebpf_interpreter *interpreter, __u64 state, _Bool by_helper)
{
	struct walk walk = { interpreter, area };

	if (!find_first_frame(interpreter, state, &area->walk)) {
		area->unread++;
		return;
	}
	if (!area->walk.frame)
		return;
	area->walk.count = FRAMES_BLOCK_HEADER;
	area->walk.most = room_of(area);
	area->walk.is_full = 0;
	area->walk.is_unread = 0;
	area->walk.fresh_count = 0;
	if (interpreter->kind == EBPF_PYTHON)
		find_task(&area->walk, &interpreter->python, state);
	if (interpreter->kind == EBPF_PYTHON && SAMPLES_WAITS && by_helper)
		write_waiting_task(&walk, state);
	walk_frames(&walk, by_helper);
	area->unread += area->walk.is_unread;
	if (area->walk.is_full && area->walk.most < FRAMES_MOST_BLOCK)
		area->lost++;
	else
		publish_frames(area, interpreter, state);
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
	__u64 state = 0, begin_ns = time_ns ? time_ns : bpf_ktime_get_ns();

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
		if (interpreter)
			state = find_state(interpreter, place, task, by_helper);
		else
			pause_search(place);
		if (state && enter_area(area, begin_ns)) {
			write_frames(area, interpreter, state, by_helper);
			leave_area(area);
		}
	}
	if (!state)
		area->unknown += place->is_interpreted;
}
