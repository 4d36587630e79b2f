/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/ebpf/go.h"
#include "sampler/ebpf/php.h"
#include "sampler/ebpf/python.h"
#include "sampler/ebpf/ruby.h"

/*
 * The frames of an interpreter, as the programs of sampler/ebpf/frame_reader.h write them down. Programs (.bpf.c) and
 * the recorder include this.
 *
 * Each frame is one word, the innermost first: the address of the code that it runs, which is a multiple of 8 and has
 * 47 bits, without its low three bits, in the upper 44 bits; then in 19 bits its position in that code; the lowest bit
 * is set for the first frame of an activation of the interpreter's loop: the one that C code has called. A word without
 * code is an activation that has no frame yet.
 *
 * CPython  The code is a code object, the position that of the instruction, in code units of two bytes. An activation
 *          ends with a word of its own (sampler/ebpf/python.h); the frames before it are not marked.
 * PHP      The code is a zend_function, of the program or of C code, the position the line of the source.
 * Ruby     The code is an instruction sequence (rb_iseq_t), the position that of the instruction, in words.
 *
 * Of Go it is no frames that are written, but the stack that the thread has left: its address, then its words. Of
 * return addresses that the kernel has replaced (EBPF_RETURNS) it is where each one stood, and then the address; before
 * them where an instruction runs that the kernel has moved, and where it stands in the code, or zeros.
 */
enum { EBPF_MOST_FRAMES = 1024, EBPF_FRAME_POSITION_BITS = 19 };

#define EBPF_FRAME_NO_POSITION ((1U << EBPF_FRAME_POSITION_BITS) - 1) /* the position is not known */

static inline __u64 ebpf_frame_word(__u64 code, __u32 position, _Bool is_first)
{
	return (code >> 3) << (EBPF_FRAME_POSITION_BITS + 1) | (__u64)position << 1 | is_first;
}

static inline __u64 ebpf_frame_code(__u64 word)
{
	return word >> (EBPF_FRAME_POSITION_BITS + 1) << 3;
}

static inline __u32 ebpf_frame_position(__u64 word)
{
	return (__u32)(word >> 1) & EBPF_FRAME_NO_POSITION;
}

static inline _Bool ebpf_frame_is_first(__u64 word)
{
	return word & 1;
}

/*
 * The name of the task (of CPython's asyncio) that the thread runs comes with the frames, if somebody has named it: the
 * begin of that string object.
 */
enum { EBPF_TASK_BYTES = 128 };

/* Pieces of memory that name code: its own, and those that it leads to, as a code object its name, file and lines. */
enum { EBPF_CODE_PIECES = 4 };

/* The interpreter that frames are of. */
enum ebpf_interpreter_kind { EBPF_PYTHON = 1, EBPF_PHP, EBPF_RUBY, EBPF_GO, EBPF_RETURNS };

/* The interpreter of a process, and how its frames are read. */
struct ebpf_interpreter {
	__u32 kind; /* enum ebpf_interpreter_kind */
	__u32 pid;  /* this and the account are set by ebpf_frame_reader_add() */
	__u64 account;
	union {
		struct ebpf_python python;
		struct ebpf_php php;
		struct ebpf_ruby ruby;
		struct ebpf_go go;
	};
};

/* The layout in the running kernel of what the program reads: offsets in bytes in its structs. */
struct ebpf_task_layout {
	__u32 real_parent, tgid, thread_pid; /* in struct task_struct */
	__u32 thread_pointer;                /* likewise, of x86-64: thread.fsbase; 0: none */
	__u32 level, numbers;                /* in struct pid */
};
