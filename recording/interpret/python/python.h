/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "recording/interpret/interpret.h"
#include "recording/interpret/memory.h"
#include "recording/interpret/names.h"

/*
 * CPython 3.11 to 3.14, whatever it was built as: with and without the GIL, linked statically or as libpython, stripped
 * (its section .PyRuntime stays) or not.
 */

/* ---- What the file of an interpreter tells ---- */

/* A range of image addresses, half-open. */
struct python_range {
	uint64_t start, end;
};

/*
 * `_PyEval_EvalFrameDefault`, and the parts that a compiler has moved away from it. In a build whose opcodes are
 * functions that jump to each other (--with-tail-call-interp, since 3.14) it is this function all the same that stands
 * on the C stack once for each activation: it calls the first opcode, whose frame the others take over. They are
 * functions of the interpreter like others.
 */
enum { PYTHON_MOST_RANGES = 64 };

struct python_image {
	const struct elf_image *elf; /* borrowed: of the file; to compare with */
	uint32_t version;            /* PY_VERSION_HEX */
	bool is_free_threaded;
	uint64_t runtime;          /* image address of _PyRuntime */
	uint64_t text_type;        /* image address of PyUnicode_Type, from 3.14 on; 0: not known */
	struct ebpf_python read;   /* how its frames are read; `runtime` is 0 */
	struct python_range *loop; /* owned, sorted: the code of the interpreter's loop */
	size_t loop_count;
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

/* Whether an image address is in the code of the loop. */
bool python_image_is_loop(const struct python_image *python, uint64_t address);

/* ---- Names of asyncio tasks ---- */

/*
 * Where the C part of asyncio has the task that a thread runs, as the section .AsyncioDebug of its file tells it since
 * 3.14: that of the extension module _asyncio, or of the interpreter that it is linked into.
 */
struct python_asyncio {
	uint32_t running_task; /* offset in PyThreadState; 0: the file has no such section */
	uint32_t task_name;    /* offset in TaskObj */
};

/* False: the file does not tell, or its offsets are not those of CPython 3.14. */
bool python_asyncio_read(struct elf_image *elf, struct python_asyncio *asyncio);

/*
 * Reads the name that somebody gave a task, from the first EBPF_TASK_BYTES of the string object: text that fits them,
 * without anything that a terminal would have to clean. False: it is none, or it is one of those that asyncio gives by
 * itself (Task-17), or memory is out.
 */
bool python_task_name(const struct python_image *python, const uint8_t *object, struct buffer *name);

/* ---- Names of code objects ---- */

/*
 * The names and lines of code objects by process and address. Each is read once, and looked at again about once a
 * second: another object may have its address by then. Of a process that has ended, or that cannot be read, what the
 * process that it was forked from has at the address is taken, if that was read.
 */
struct python_codes;

COMMON_MUST_CHECK
bool python_codes_create(struct interpreter_names *names, struct python_codes **codes, struct error *err);
void python_codes_destroy(struct python_codes *codes);

/* The line of a frame: its function of the profile, and where in it the frame is. */
COMMON_MUST_CHECK
bool python_codes_find(struct python_codes *codes, const struct python_image *python, int32_t pid, uint64_t word,
	uint64_t clock_ns, struct profile_line *line, struct error *err);

/* Whether the names of a code object at an address of a process are known. */
bool python_codes_know(const struct python_codes *codes, int32_t pid, uint64_t address);

/*
 * Learns a code object from a copy that was made when a frame met it. What is known of its address before is forgotten
 * if it is another one.
 */
COMMON_MUST_CHECK
bool python_codes_learn(struct python_codes *codes, const struct python_image *python, const struct ebpf_code *code,
	uint64_t clock_ns, struct error *err);

/* Whether a line that was found stands for a code object that could not be read (PROFILE_PYTHON_GONE). */
bool python_codes_is_gone(const struct python_codes *codes, const struct profile_line *line);

/*
 * A number that changes whenever python_codes_find() may find something else, or is to look again: as long as it is the
 * same at `clock_ns`, what was found for a frame stays. Frames without names are to be asked for each time.
 */
uint64_t python_codes_epoch(struct python_codes *codes, uint64_t clock_ns);

/* How many frames were found whose code object could not be read. */
uint64_t python_codes_gone(const struct python_codes *codes);

void python_codes_fork(struct python_codes *codes, int32_t parent, int32_t child);
void python_codes_forget(struct python_codes *codes, int32_t pid);

/* ---- Frames ---- */

/* Reads the frames of a thread from outside, as ebpf/frame_reader.h does from within; at most `room` words. */
bool python_read_frames(const struct process_host *host, const struct ebpf_python *python, int32_t pid,
	uint32_t native_thread_id, uint64_t *words, size_t room, struct ebpf_frames *frames);
