/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/interpret/interpret.h"
#include "sampler/interpret/names.h"

/* A file that is a part of interpreters of a kind. */
struct interpreter_file {
	/* Sets `*image` to what it tells of reading them, if it is such a file. `notices` gets a line on an unknown
	 * version. */
	bool (*read)(struct elf_image *elf, struct buffer *notices, void **image, struct error *err);
	void (*destroy)(void *image);
};

enum { INTERPRETER_MOST_FILES = 2 };

/* A process, and its files of one kind. It stays where it is in memory. */
struct interpreter_process {
	int32_t pid;
	struct {
		const void *image; /* borrowed; NULL: not mapped */
		uint64_t bias;     /* image address = runtime address + bias */
	} files[INTERPRETER_MOST_FILES];
	void *state; /* the kind's own; NULL: none yet */
};

/*
 * One kind of interpreter: its files, and how the frames of its programs are found and named. Those that are on the C
 * stack are named by what is there and in memory, others come with the sample, read by a program in the kernel
 * (sampler/ebpf/frame_reader.h). Functions that say so may be NULL.
 *
 * state    what is known of all processes, as create() made it
 * process  has the kind's first file, which is the interpreter itself
 */
struct interpreter_kind {
	struct interpreter_file files[INTERPRETER_MOST_FILES];
	/*
	 * The kind of the frames that a program in the kernel reads; 0: it reads none, and functions for them are NULL.
	 */
	enum ebpf_interpreter_kind frames;
	const char *library; /* how the name of a library begins that has the interpreter; NULL: it has none */

	/*
	 * `names` and `frame_reader` (NULL: not permitted) are borrowed. Owned by the caller. Both functions are NULL
	 * where all that is known is known of a process: the state then is `names`.
	 */
	bool (*create)(struct interpreter_names *names, struct ebpf_frame_reader *frame_reader, void **state,
		struct error *err);
	void (*destroy)(void *state); /* NULL is allowed */
	/* Destroys process->state, which is not NULL, and sets it to that. May be NULL if there never is one. */
	void (*destroy_process)(void *state, struct interpreter_process *process);

	/* The process has mapped one of the files. May be NULL. */
	void (*attach)(void *state, const struct interpreter_process *process);
	/* The child has the files of its parent, and no state yet. May be NULL. */
	void (*fork)(void *state, const struct interpreter_process *parent, const struct interpreter_process *child);
	/* A process executes another program, or its pid is another process's from now on. May be NULL. */
	void (*forget)(void *state, const struct interpreter_process *process);

	/*
	 * Answers as find_caller() of struct unwind_maker does, for a frame of code that the process has made. May be
	 * NULL.
	 */
	bool (*find_caller)(void *state, struct interpreter_process *process, const struct unwind_made_frame *frame,
		struct unwind_made_caller *caller, enum unwind_answer *answer, struct error *err);

	/* Answers as interpreters_keep_frame_pointers() does. May be NULL. */
	bool (*keeps_frame_pointers)(const struct interpreter_process *process, const struct elf_image *elf);

	/*
	 * Names the frames of a walked stack: they are replaced in sample->job->result, or left as they were. A stack
	 * that contradicts what the interpreter knows of it becomes PROFILE_STOP_OPEN.
	 */
	bool (*name)(void *state, struct interpreter_process *process, const struct interpret_sample *sample,
		struct error *err);

	/* These do as those of interpret.h do, for frames that a program in the kernel reads. */
	bool (*read_frames)(
		void *state, const struct interpreter_process *process, int32_t tid, struct ebpf_frames *frames);
	/* May be NULL. */
	bool (*name_task)(void *state, const struct interpreter_process *process, const struct ebpf_frames *frames,
		uint32_t *name, struct error *err);
	/* Both are NULL where frames need no code to be named. */
	bool (*know)(const void *state, const struct ebpf_code *code);
	bool (*learn)(void *state, const struct interpreter_process *process, const struct ebpf_code *code,
		struct error *err);

	/* Appends lines about frames that could not be named. May be NULL. */
	void (*describe)(const void *state, struct buffer *notices);
};

/*
 * All kinds, each a folder here that defines NAME_interpreter, in the order in which they name a stack: frames that
 * come with the sample are put between the others, and so after those that are found by their place on the stack.
 */
#define INTERPRETER_KINDS(KIND)                                                                                        \
	KIND(go)                                                                                                       \
	KIND(v8)                                                                                                       \
	KIND(hotspot)                                                                                                  \
	KIND(python)                                                                                                   \
	KIND(php)                                                                                                      \
	KIND(ruby)

#define INTERPRETER_KIND_DECLARED(name) extern const struct interpreter_kind name##_interpreter;
INTERPRETER_KINDS(INTERPRETER_KIND_DECLARED)
