/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process/process.h"

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
	struct shares bytes; /* of functions that processes have given to the profile, which forgets none */
	uint64_t refused;    /* how often a function was one too many: each is asked for again */
};

/* A process that gives functions to the profile. */
struct interpreter_giver {
	int32_t pid;
	size_t bytes; /* that it has given */
};

void interpreter_names_init(struct interpreter_names *names, struct process_table *table);
void interpreter_names_deinit(struct interpreter_names *names);

struct interpreter_function {
	const char *name;    /* as the interpreter gives it to perf: "py::S.run:/srv/w.py" */
	const char *file;    /* "": not known */
	uint32_t start_line; /* 0: not known */
};

/* Adds a function to the profile, or finds the equal one: one of a fixed number that Kelvin has made up itself. */
COMMON_MUST_CHECK
bool interpreter_names_function(
	struct interpreter_names *names, const struct interpreter_function *function, uint32_t *id, struct error *err);

/*
 * Likewise a function that a process has told, which may tell endless ones. What the profile grows by counts for the
 * process and for its account. `*id` is PROFILE_NONE where one of them has given too much; a function that the profile
 * has already costs nothing.
 */
COMMON_MUST_CHECK
bool interpreter_names_give(struct interpreter_names *names, struct interpreter_giver *giver,
	const struct interpreter_function *function, uint32_t *id, struct error *err);

/*
 * Makes a frame of functions of the profile with their lines: one, or several of which the first is inlined into the
 * second and so on. Only the frame's pc, image and is_exact are set.
 */
COMMON_MUST_CHECK
bool interpreter_names_frame(struct interpreter_names *names, const struct profile_line *lines, size_t count,
	struct unwind_frame *frame, struct error *err);
