/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <linux/types.h>

/*
 * The layout of what is read of one version of CPython: offsets in bytes from the start of the structure that is named.
 * The numbers may be a hostile file's: whoever reads by them reads no memory but the process's own.
 */
struct ebpf_python {
	__u64 runtime;                        /* address of _PyRuntime in the process */
	__u64 text_type;                      /* address of PyUnicode_Type; 0: tasks are not named */
	__u32 first_interpreter;              /* _PyRuntimeState: interpreters.head */
	__u32 next_interpreter, first_thread; /* PyInterpreterState: next, threads.head */
	__u32 next_thread, native_thread_id;  /* PyThreadState */
	__u32 frame; /* PyThreadState: current_frame; or cframe, which has it at `frame_in_cframe` */
	__u32 frame_in_cframe;
	__u32 has_cframe;      /* 3.11 and 3.12 */
	__u32 outer_in_cframe; /* _PyCFrame: previous, where activations are told by it (3.11); 0: by shims */
	__u32 code, previous,
		instruction; /* _PyInterpreterFrame: f_code or f_executable, previous, prev_instr or instr_ptr */
	__u32 mark;          /* _PyInterpreterFrame, one byte: owner; not read where activations are told by cframes */
	__u32 shim_mark;     /* a frame whose mark is at least this is a shim: FRAME_OWNED_BY_CSTACK or _INTERPRETER */
	__u32 instructions;  /* PyCodeObject: co_code_adaptive */
	/*
	 * Copies of instructions (since 3.14). Without the GIL each thread but the first one that runs a function has
	 * one. PyCodeObject: co_tlbc, an array of their addresses behind a word; 0: there are none. And
	 * _PyInterpreterFrame, a half word: tlbc_index, where 0 stands for those in the code object itself.
	 */
	__u32 copies, copy_index;
	/* PyCodeObject: what names it. Where an offset is none of a small object, its names are not read in the kernel.
	 */
	__u32 qualname, filename, line_table;
	__u32 type; /* PyObject: ob_type */
	/*
	 * PyThreadState: asyncio_running_task; 0: not known, nor is what follows. TaskObj: task_name, task_coro,
	 * task_awaited_by, and in a byte each task_awaited_by_is_set and task_is_task.
	 */
	__u32 running_task, task_name, task_coroutine, awaiter, has_many_awaiters, is_task;
	/* PyThreadState: asyncio_running_loop, and asyncio_tasks_head, a ring of the tasks' task_node. */
	__u32 running_loop, tasks, task_node;
	/*
	 * PyGenObject: gi_iframe, and in a byte gi_frame_state, which is `awaiting_state` while it awaits another one:
	 * that lies so many bytes below the top of its stack. _PyInterpreterFrame: stackpointer.
	 */
	__u32 coroutine_frame, coroutine_state, awaiting_state, stack_pointer, awaited_below;
};

/*
 * Each activation of the interpreter's loop (_PyEval_EvalFrameDefault) keeps a structure on the C stack, in its own
 * frame, to which what it runs is linked: the shim that stands before its first frame, a _PyInterpreterFrame (since
 * 3.12), or its _PyCFrame (3.11). So its address tells which native frame the activation is, whatever the code of the
 * loop is and however it was built. It stands in a word behind the activation's frames, of which there may be none: a
 * multiple of 8 below 2^63.
 *
 * Where a thread waits that runs an event loop and none of its tasks, the coroutines of one of them, by chance, come
 * before all frames, and end with a word of address 0: none of them is on the C stack.
 */
/*
 * The sizes of the set of tasks that await others: a task that is chosen awaits no other one. A set of those that do
 * has a bit for each, which others may share: then they are not chosen either, which befalls one in eighty of 100 tasks
 * that others await.
 */
enum { EBPF_PYTHON_TASK_BITS = 8192, EBPF_PYTHON_MOST_TASKS = 512 };

static inline __u32 ebpf_python_task_bit(__u64 task)
{
	return ((task >> 4) * 0x9e3779b97f4a7c15ULL) >> 51;
}

static inline __u64 ebpf_python_activation_word(__u64 address)
{
	return address << 1 | 1;
}

static inline _Bool ebpf_python_is_activation(__u64 word)
{
	return word & 1;
}

static inline __u64 ebpf_python_activation_address(__u64 word)
{
	return word >> 1;
}
