/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <linux/types.h>

/*
 * A chain of CPython's frames, as the programs of ebpf/frame_reader.h write it down. Programs (.bpf.c) and the recorder
 * include this.
 *
 * Each frame is one word, the innermost first: the address of its code object, which is a multiple of 16, without its
 * low four bits, in the upper 44 bits; then in 19 bits the instruction that it executes, counted in code units of two
 * bytes from the first one of its code; the lowest bit is set for the first frame of an activation of the interpreter's
 * loop: the one that C code has called. A word without a code object is an activation that has no frame yet.
 */
enum { EBPF_CHAIN_MOST_FRAMES = 1024, EBPF_CHAIN_UNIT_BITS = 19 };

#define EBPF_CHAIN_NO_UNIT ((1U << EBPF_CHAIN_UNIT_BITS) - 1) /* the instruction is not known */

static inline __u64 ebpf_chain_word(__u64 code, __u32 unit, _Bool is_first)
{
	return (code >> 4) << (EBPF_CHAIN_UNIT_BITS + 1) | (__u64)unit << 1 | is_first;
}

static inline __u64 ebpf_chain_code(__u64 word)
{
	return word >> (EBPF_CHAIN_UNIT_BITS + 1) << 4;
}

static inline __u32 ebpf_chain_unit(__u64 word)
{
	return (__u32)(word >> 1) & EBPF_CHAIN_NO_UNIT;
}

static inline _Bool ebpf_chain_is_first(__u64 word)
{
	return word & 1;
}

/*
 * With a chain comes the name of the asyncio task that the thread runs, if somebody has named it: the begin of that
 * string object.
 */
enum { EBPF_TASK_BYTES = 128 };

/*
 * Where one version of CPython keeps what is read of it: offsets in bytes from the start of the structure that is
 * named. The numbers may be a hostile file's: whoever reads by them reads no memory but the process's own.
 */
struct ebpf_python {
	__u64 runtime;                        /* address of _PyRuntime in the process */
	__u64 text_type;                      /* address of PyUnicode_Type; 0: tasks are not named */
	__u32 first_interpreter;              /* _PyRuntimeState: interpreters.head */
	__u32 next_interpreter, first_thread; /* PyInterpreterState: next, threads.head */
	__u32 next_thread, native_thread_id;  /* PyThreadState */
	__u32 frame; /* PyThreadState: current_frame; or cframe, which has it at `frame_in_cframe` */
	__u32 frame_in_cframe;
	__u32 has_cframe; /* 3.11 and 3.12 */
	__u32 code, previous,
		instruction; /* _PyInterpreterFrame: f_code or f_executable, previous, prev_instr or instr_ptr */
	__u32 mark;          /* _PyInterpreterFrame, one byte: is_entry (3.11), or owner */
	/*
	 * 0: a frame whose mark is 1 is the first of its activation (3.11). Otherwise a frame whose mark is at least
	 * this is a shim, which stands before the first one: FRAME_OWNED_BY_CSTACK, from 3.14 on also
	 * FRAME_OWNED_BY_INTERPRETER.
	 */
	__u32 shim_mark;
	__u32 instructions; /* PyCodeObject: co_code_adaptive */
	/*
	 * Without the GIL each thread but the first one that runs a function has a copy of its instructions (since
	 * 3.14). PyCodeObject: co_tlbc, an array of their addresses behind a word; 0: there are none. And
	 * _PyInterpreterFrame, a half word: tlbc_index, where 0 stands for those in the code object itself.
	 */
	__u32 copies, copy_index;
	/* PyCodeObject: what names it. Where an offset is none of a small object, its names are not read in the kernel.
	 */
	__u32 qualname, filename, line_table;
	/* PyThreadState: asyncio_running_task; TaskObj: task_name; PyObject: ob_type. Only with a text_type. */
	__u32 running_task, task_name, type;
	__u32 pid; /* of the process whose numbers these are: set by ebpf_chains_add() */
};
