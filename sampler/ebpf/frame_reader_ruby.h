/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Reads the frames of Ruby of the current thread. Only programs (.bpf.c) include this. */
#include "sampler/ebpf/frame_reader_area.h"

enum { MOST_VARIABLES = 8, MOST_STACK_WORDS = 1 << 28 };

/* ---- The thread's context ---- */

/*
 * Returns whether a variable of the thread has an execution context: its thread leads back to it, and its frame is in
 * its stack.
 */
static inline _Bool is_ruby_state(const struct ebpf_ruby *ruby, __u64 variable)
{
	__u64 context, members[RUBY_CONTEXT_BYTES / 8], thread, back, used;

	if (!read_user(&context, variable) || !context ||
		bpf_probe_read_user(members, sizeof(members), (const void *)context) != 0)
		return 0;
	used = members[RUBY_CONTEXT_FRAME / 8] - members[RUBY_CONTEXT_STACK / 8];
	return members[RUBY_CONTEXT_STACK_SIZE / 8] < MOST_STACK_WORDS &&
	       used / sizeof(__u64) <= members[RUBY_CONTEXT_STACK_SIZE / 8] &&
	       read_user(&thread, context + ruby->context_thread) && read_user(&back, thread + ruby->thread_context) &&
	       back == context;
}

/* Looks at the variables of a block of thread-local storage. 0: none is that of Ruby. */
static __always_inline __u64 find_ruby_variable(const struct ebpf_ruby *ruby, __u64 first)
{
	for (__u32 i = 0; i < MOST_VARIABLES; i++)
		if (i < ruby->variables && is_ruby_state(ruby, first + i * sizeof(__u64)))
			return first + i * sizeof(__u64);
	return 0;
}

/*
 * The C library keeps an array of the thread's blocks, whose address stands behind the thread's own. An entry of it has
 * 16 bytes in glibc, and 8 in musl.
 */
static __always_inline __u64 search_ruby_state(const struct ebpf_ruby *ruby, const char *task)
{
	__u64 thread, blocks, module, block, found;

	if (!read_kernel(&thread, sizeof(thread), task, constants.layout.thread_pointer) || !thread)
		return 0;
	if (!ruby->module)
		return find_ruby_variable(ruby, thread - ruby->first_variable);
	if (!read_user(&module, ruby->module) || !read_user(&blocks, thread + sizeof(__u64)))
		return 0;
	if (read_user(&block, blocks + 16 * module)) {
		found = find_ruby_variable(ruby, block + ruby->first_variable);
		if (found)
			return found;
	}
	return read_user(&block, blocks + 8 * module) ? find_ruby_variable(ruby, block + ruby->first_variable) : 0;
}

/* The address of the thread's variable that has its execution context. 0: not found. */
static __always_inline __u64 find_ruby_state(const struct ebpf_ruby *ruby, struct frames_place *place, const char *task)
{
	if (place->state && is_ruby_state(ruby, place->state))
		return place->state;
	place->state = search_ruby_state(ruby, task);
	if (!place->state) {
		pause_search(place);
		place->is_interpreted = 0;
	}
	return place->state;
}

/* ---- Frames ---- */

static inline _Bool find_first_ruby_frame(__u64 state, struct frames_walk *walk)
{
	__u64 context, members[RUBY_CONTEXT_BYTES / 8];

	if (!read_user(&context, state) || bpf_probe_read_user(members, sizeof(members), (const void *)context) != 0)
		return 0;
	walk->frame = members[RUBY_CONTEXT_FRAME / 8];
	walk->end = members[RUBY_CONTEXT_STACK / 8] + members[RUBY_CONTEXT_STACK_SIZE / 8] * sizeof(__u64);
	if (walk->frame >= walk->end)
		walk->frame = 0;
	return 1;
}

/* The instruction that a frame executes: it has the address of the next one. */
static inline __u32 position_of_ruby(__u64 code, __u64 next)
{
	__u64 body, members[2], position;

	if (!read_user(&body, code + RUBY_CODE_BODY) ||
		bpf_probe_read_user(members, sizeof(members), (const void *)body) != 0)
		return EBPF_FRAME_NO_POSITION;
	position = (next - members[RUBY_BODY_INSTRUCTIONS / 8]) / sizeof(__u64);
	if (position > members[RUBY_BODY_SIZE / 8] >> 32 || position >= EBPF_FRAME_NO_POSITION)
		return EBPF_FRAME_NO_POSITION;
	return position > 0 ? position - 1 : 0;
}

/* Returns what tells code from another one that had its address before: its body, its file and its name. */
static inline __u64 signature_of_ruby(__u64 code)
{
	__u64 body = 0, members[3] = { 0 };

	read_user(&body, code + RUBY_CODE_BODY);
	bpf_probe_read_user(members, sizeof(members), (const void *)(body + RUBY_BODY_PATH));
	return (body ^ members[0] << 7 ^ members[1] << 14 ^ members[2] << 21) * 0xd6e8feb86659fd93;
}

/* A method that is written in C is no frame: it has one on the C stack. */
static inline _Bool write_ruby_frame(struct frames_area *area, const struct ebpf_interpreter *interpreter)
{
	const __u64 *members = area->walk.members;
	__u64 code = members[RUBY_FRAME_CODE / 8], flags;
	struct frames_known *known;

	if (!code)
		return 1;
	if (!read_user(&flags, members[RUBY_FRAME_ENVIRONMENT / 8])) {
		area->walk.is_unread = 1;
		return 0;
	}
	if ((flags & RUBY_IS_C) || RUBY_IS_DUMMY(flags))
		return 1;
	known = find_known(area, interpreter, code);
	if (known)
		note_code(area, known, code, signature_of_ruby(code));
	return write_word(area, ebpf_frame_word(code, position_of_ruby(code, members[RUBY_FRAME_INSTRUCTION / 8]),
					(flags & RUBY_IS_LAST) != 0));
}

/* Writes one frame, and goes to its caller. Returns whether it was the last one, as bpf_loop() wants it. */
static long walk_ruby_frame(__u32 index, void *context)
{
	const struct area_walk *walk = context;
	struct frames_walk *at = &walk->area->walk;

	if (bpf_probe_read_user(at->members, RUBY_FRAME_BYTES, (const void *)at->frame) != 0) {
		at->is_unread = 1;
		return 1;
	}
	if (!write_ruby_frame(walk->area, walk->interpreter))
		return 1;
	at->frame += walk->interpreter->ruby.frame_bytes;
	if (at->frame >= at->end)
		at->frame = 0;
	return at->frame == 0;
}

/* ---- Code ---- */

/* Returns where a string has its characters. */
static inline __u64 text_of_ruby(const struct ebpf_ruby *ruby, __u64 object)
{
	__u64 flags, text;

	if (!read_user(&flags, object) || RUBY_TYPE(flags) != RUBY_STRING)
		return 0;
	if (!(flags & RUBY_IS_APART))
		return object + ruby->text;
	return read_user(&text, object + RUBY_TEXT_POINTER) ? text : 0;
}

/* A path is a string, or an array of what the program calls the file and of its absolute path, if it has one. */
static inline __u64 path_of_ruby(const struct ebpf_ruby *ruby, __u64 object)
{
	__u64 flags, paths = object + RUBY_ARRAY, path, text;

	if (!read_user(&flags, object) || RUBY_TYPE(flags) != RUBY_ARRAY_TYPE)
		return text_of_ruby(ruby, object);
	if (!(flags & RUBY_IS_APART) && !read_user(&paths, object + RUBY_ARRAY_POINTER))
		return 0;
	text = read_user(&path, paths + sizeof(path)) ? text_of_ruby(ruby, path) : 0;
	if (text || !read_user(&path, paths))
		return text;
	return text_of_ruby(ruby, path);
}

/* Code, its body, its name, and its file. */
static inline void write_ruby_code(struct frames_area *area, const struct ebpf_interpreter *interpreter, __u64 address)
{
	struct frames_code *code = (struct frames_code *)word_at(area, FRAMES_BLOCK_HEADER);
	__u64 path = 0, label = 0;

	if (room_of(area) < FRAMES_BLOCK_HEADER + FRAMES_CODE_WORDS)
		return;
	code->pid = interpreter->pid;
	code->addresses[0] = address;
	READ_PIECE(code->bytes[0], FRAMES_PIECE_BYTES, address);
	code->addresses[1] = member_of(code, RUBY_CODE_BODY);
	READ_PIECE(code->bytes[1], FRAMES_PIECE_BYTES, code->addresses[1]);
	read_user(&path, code->addresses[1] + RUBY_BODY_PATH);
	read_user(&label, code->addresses[1] + RUBY_BODY_LABEL);
	code->addresses[2] = text_of_ruby(&interpreter->ruby, label);
	code->addresses[3] = path_of_ruby(&interpreter->ruby, path);
	READ_PIECE(code->bytes[2], FRAMES_PIECE_BYTES, code->addresses[2]);
	READ_PIECE(code->table, FRAMES_TABLE_BYTES, code->addresses[3]);
	publish_code(area, interpreter);
}
