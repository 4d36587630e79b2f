/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/ebpf/ebpf.h"
#include "sampler/process/process.h"

/*
 * The program's own frames: where a walked stack leads through an interpreter or through code that it has made, the
 * frames become those of the program that is interpreted, under the names that the interpreter itself would give them
 * to perf. Each kind of interpreter is a folder here (sampler/interpret/kind.h). There are three ways to their frames:
 *
 * - A program in the kernel reads them at the sample (sampler/ebpf/frame_reader.h): those of CPython replace the
 *   activations of the interpreter's loop one by one, as do those of PHP, in processes without threads of PHP's, and of
 *   Ruby.
 * - They are on the C stack, and named by what the interpreter has there and in its memory: interpreted and compiled
 *   functions of node by V8's heap, those of HotSpot by the tables that libjvm exports for debuggers, which also tell
 *   where frames of its code have their callers: the walk asks for that.
 * - They are walked as those of any code, but may be on two stacks: Go's (sampler/ebpf/frame_reader_go.h).
 *
 * The memory of processes is hostile: every read is bounded, every list is cut, and names are capped. What an
 * interpreter does not tell leaves the native frames as they were.
 */
struct interpreters;

/*
 * Call it before the first process is met. Owned by the caller.
 *
 * table         borrowed; its listener is set, and unset by interpreters_destroy()
 * frame_reader  borrowed; NULL: not permitted, and frames that it reads are not shown
 */
COMMON_MUST_CHECK
bool interpreters_create(struct process_table *table, struct ebpf_frame_reader *frame_reader,
	struct interpreters **interpreters, struct error *err);
void interpreters_destroy(struct interpreters *interpreters); /* NULL is allowed */

/*
 * Returns whom the walk of a process's stacks asks about frames in code that the process has made at run time. Valid
 * until the process executes another program. `interpreters` may be NULL.
 */
struct unwind_maker interpreters_maker(struct interpreters *interpreters, int32_t pid);

/*
 * Returns whether code of a process that has no call frame information keeps frame pointers all the same: that of an
 * image, or (NULL) code that was made while the program runs.
 */
bool interpreters_keep_frame_pointers(
	const struct interpreters *interpreters, int32_t pid, const struct elf_image *elf);

/*
 * Returns whether a program that is about to be executed may soon have frames that a program in the kernel reads: it is
 * such an interpreter, or needs the library of one. NULL, of a file that is no ELF file, such as a script: it may.
 */
bool interpreters_may_be_in(struct elf_image *elf);

/* A walked stack. */
struct interpret_sample {
	int32_t pid;
	uint64_t time_ns;                             /* by the records' clock */
	const struct ebpf_frames *interpreter_frames; /* that came with it; NULL: none */
	struct unwind_job *job;                       /* walked; its frames are changed */
	bool waits_for_events;                        /* it is one of a wait, in an event loop's call */
};

/* Gives the frames of a walked stack the names of the program. */
COMMON_MUST_CHECK
bool interpreters_name(struct interpreters *interpreters, const struct interpret_sample *sample, struct error *err);

/*
 * Finds the name of the task (of CPython's asyncio) that a thread with such frames runs, if somebody gave it one: "task
 * NAME", a string of the profile. Else `*name` stays as it is, as it does when a recording has met too many different
 * names: those that contain a number of something are endless.
 */
COMMON_MUST_CHECK
bool interpreters_task(struct interpreters *interpreters, int32_t pid, const struct ebpf_frames *frames, uint32_t *name,
	struct error *err);

/*
 * Reads the frames of a thread that is asleep, into memory that is borrowed until the next call. False: it has none.
 */
bool interpreters_read_frames(struct interpreters *interpreters, int32_t pid, int32_t tid, struct ebpf_frames *frames);

/* Returns whether other code is known at the address of this one. */
bool interpreters_know(const struct interpreters *interpreters, const struct ebpf_code *code);

/* Learns the names of a code object that was copied with frames. */
COMMON_MUST_CHECK
bool interpreters_learn(struct interpreters *interpreters, const struct ebpf_code *code, struct error *err);

/* Appends lines about frames that could not be named, if there are any. */
void interpreters_describe(const struct interpreters *interpreters, struct buffer *notices);
