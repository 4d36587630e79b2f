/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Reads the frames of PHP of the current thread. Only programs (.bpf.c) include this. */
#include "sampler/ebpf/frame_reader_area.h"

/* PHP without threads runs in the first one of its process: where its innermost frame is told. 0: this is another. */
static inline __u64 find_php_state(const struct ebpf_php *php, struct frames_place *place)
{
	__u64 id = bpf_get_current_pid_tgid();

	if ((__u32)id == id >> 32)
		return php->frame;
	place->is_interpreted = 0;
	return 0;
}

/* Finds the first frame. There is none where the variable was never written, since its page may not be there. */
static inline _Bool find_first_php_frame(__u64 state, __u64 *frame)
{
	if (!read_user(frame, state))
		*frame = 0;
	return 1;
}

static inline __u32 line_of_php(__u64 instruction)
{
	__u32 line;

	if (bpf_probe_read_user(&line, sizeof(line), (const void *)(instruction + PHP_INSTRUCTION_LINE)) != 0 ||
		line > EBPF_FRAME_NO_POSITION)
		return EBPF_FRAME_NO_POSITION;
	return line;
}

/* Returns what tells a function from another one that had its address before: its names, and where its source is. */
static inline __u64 signature_of_php(const struct ebpf_php *php, __u64 function)
{
	__u64 names[2] = { 0 }, source[2] = { 0 };

	bpf_probe_read_user(names, sizeof(names), (const void *)(function + PHP_FUNCTION_NAME));
	bpf_probe_read_user(source, sizeof(source), (const void *)(function + php->filename));
	return (names[0] ^ names[1] << 7 ^ source[0] << 14 ^ source[1] << 21) * 0xd6e8feb86659fd93;
}

/*
 * A frame without a function stands for generators that wait for another one, and one of a function without a name that
 * is no code of the program for the begin of a fiber.
 */
static inline _Bool write_php_frame(struct frames_area *area, const struct ebpf_interpreter *interpreter)
{
	const __u64 *members = area->walk.members;
	__u64 function = members[PHP_FRAME_FUNCTION / 8], header[2];
	__u32 flags = members[PHP_FRAME_FLAGS / 8];
	struct frames_known *known;
	_Bool is_user;

	if (!function)
		return 1;
	if (bpf_probe_read_user(header, sizeof(header), (const void *)function) != 0) {
		area->walk.is_unread = 1;
		return 0;
	}
	is_user = PHP_IS_USER_CODE(header[PHP_FUNCTION_TYPE / 8]);
	if (!is_user && !header[PHP_FUNCTION_NAME / 8])
		return 1;
	known = find_known(area, interpreter, function);
	if (known)
		note_code(area, known, function, signature_of_php(&interpreter->php, function));
	if (!is_user)
		return write_word(area, ebpf_frame_word(function, EBPF_FRAME_NO_POSITION, 0));
	return write_word(area,
		ebpf_frame_word(function, line_of_php(members[PHP_FRAME_INSTRUCTION / 8]), (flags & PHP_IS_TOP) != 0));
}

/* Writes one frame, and goes to its caller. Returns whether it was the last one, as bpf_loop() wants it. */
static long walk_php_frame(__u32 index, void *context)
{
	const struct area_walk *walk = context;
	struct frames_walk *at = &walk->area->walk;

	if (bpf_probe_read_user(at->members, PHP_FRAME_BYTES, (const void *)at->frame) != 0) {
		at->is_unread = 1;
		return 1;
	}
	if (!write_php_frame(walk->area, walk->interpreter))
		return 1;
	at->frame = at->members[PHP_FRAME_PREVIOUS / 8];
	return at->frame == 0;
}

/* Writes a function, its name, its file, and the name of its class. */
static inline void write_php_code(struct frames_area *area, const struct ebpf_interpreter *interpreter, __u64 address)
{
	struct frames_code *code = (struct frames_code *)word_at(area, FRAMES_BLOCK_HEADER);
	__u64 class;

	if (room_of(area) < FRAMES_BLOCK_HEADER + FRAMES_CODE_WORDS)
		return;
	code->pid = interpreter->pid;
	code->addresses[0] = address;
	READ_PIECE(code->bytes[0], FRAMES_PIECE_BYTES, address);
	code->addresses[1] = member_of(code, PHP_FUNCTION_NAME);
	code->addresses[2] = member_of(code, interpreter->php.filename);
	class = member_of(code, PHP_FUNCTION_SCOPE);
	if (!class || !read_user(&class, class + PHP_CLASS_NAME))
		class = 0;
	code->addresses[3] = class;
	READ_PIECE(code->bytes[1], FRAMES_PIECE_BYTES, code->addresses[1]);
	READ_PIECE(code->bytes[2], FRAMES_PIECE_BYTES, code->addresses[2]);
	READ_PIECE(code->table, FRAMES_TABLE_BYTES, code->addresses[3]);
	publish_code(area, interpreter);
}
