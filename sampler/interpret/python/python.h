/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/interpret/codes.h"
#include "sampler/interpret/interpret.h"
#include "sampler/interpret/memory.h"
#include "sampler/interpret/names.h"

/*
 * CPython 3.11 to 3.15, whatever it was built as: with and without the GIL, linked statically or as libpython, stripped
 * (its section .PyRuntime stays) or not.
 */

/* ---- What the file of an interpreter tells ---- */

struct python_image {
	uint32_t version; /* PY_VERSION_HEX */
	bool is_free_threaded;
	uint64_t runtime;        /* image address of _PyRuntime */
	uint64_t text_type;      /* image address of PyUnicode_Type, from 3.14 on; 0: not known */
	struct ebpf_python read; /* how its frames are read; `runtime` is 0 */
	/* Offsets in PyObject, PyCodeObject, PyUnicodeObject and PyBytesObject, in bytes. */
	uint32_t type;
	uint32_t qualname, filename, first_line, line_table, argument_count, flags;
	uint32_t unicode_state, unicode_length, unicode_ascii, unicode_compact, bytes_size, bytes_data;
	uint32_t unicode_kind_bit; /* the lowest bit of `kind` in `state`; `compact` and `ascii` follow its three */
};

/*
 * Looks whether an image is an interpreter whose frames can be read: `*python` is NULL if it is none. For an
 * interpreter of a version that is not known, `why` (ERROR_NONE before) says which it is. Owned by the caller.
 */
COMMON_MUST_CHECK
bool python_image_read(struct elf_image *elf, struct python_image **python, struct error *why, struct error *err);
void python_image_destroy(struct python_image *python); /* NULL is allowed */

/* ---- Names of asyncio tasks ---- */

/*
 * The place where the C part of asyncio has the task that a thread runs, as the section .AsyncioDebug of its file tells
 * it since 3.14: that of the extension module _asyncio, or of the interpreter that it is linked into.
 */
struct python_asyncio {
	uint32_t running_task; /* offset in PyThreadState; 0: the file has no such section */
	/* Offsets in TaskObj; of those that are bytes: whether several await the task, and whether it is one. */
	uint32_t task_name, task_coroutine, awaiter, has_many_awaiters, is_task;
	uint32_t running_loop, tasks, task_node; /* in PyThreadState, and in TaskObj */
};

/* False: the file does not tell, or its offsets are not those of CPython 3.14 and 3.15. */
bool python_asyncio_read(struct elf_image *elf, struct python_asyncio *asyncio);

/*
 * Reads the name that somebody gave a task, from the first EBPF_TASK_BYTES of the string object: text that fits them,
 * without anything that a terminal would have to clean. False: it is none, or it is one of those that asyncio gives by
 * itself (Task-17), or memory is out.
 */
bool python_task_name(const struct python_image *python, const uint8_t *object, struct buffer *name);

/* ---- Frames ---- */

/* Reads the frames of a thread from outside, as sampler/ebpf/frame_reader.h does from within; at most `room` words. */
bool python_read_frames(const struct process_host *host, const struct ebpf_python *python, int32_t pid,
	uint32_t native_thread_id, uint64_t *words, size_t room, struct ebpf_frames *frames);
