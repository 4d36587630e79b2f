/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "recording/process/process.h"

/*
 * Functions of a program that is interpreted, or compiled while it runs, as frames of walked stacks. They lie in a
 * mapping of the profile of their own, PROFILE_MAPPING_JIT, so their keys are those that the same functions have when
 * the interpreter names them in a perf map. An address there is a number of ours, one for each function and line.
 */
struct interpreter_names {
	struct process_table *table; /* borrowed */
	uint32_t place;              /* in the table, of their mapping; PROFILE_NONE until needed */
	struct hash_map frames;      /* the lines of a frame -> its address */
	uint64_t seed;
	size_t bytes; /* of names that were paid for */
};

void interpreter_names_init(struct interpreter_names *names, struct process_table *table);
void interpreter_names_deinit(struct interpreter_names *names);

/*
 * Whether a process may give the profile so many bytes of names more, which then count: the profile forgets none, and a
 * process may have endless ones. `of_process`: those that it has given.
 */
bool interpreter_names_pay(struct interpreter_names *names, size_t *of_process, size_t bytes);

/* A function; it is added to the profile, or the equal one is found. */
struct interpreter_function {
	const char *name;    /* as the interpreter gives it to perf: "py::S.run:/srv/w.py" */
	const char *file;    /* "": not known */
	uint32_t start_line; /* 0: not known */
};
COMMON_MUST_CHECK
bool interpreter_names_function(
	struct interpreter_names *names, const struct interpreter_function *function, uint32_t *id, struct error *err);

/*
 * Makes a frame of functions of the profile with their lines: one, or several of which the first is inlined into the
 * second and so on. Only the frame's pc, image and is_exact are set.
 */
COMMON_MUST_CHECK
bool interpreter_names_frame(struct interpreter_names *names, const struct profile_line *lines, size_t count,
	struct unwind_frame *frame, struct error *err);
