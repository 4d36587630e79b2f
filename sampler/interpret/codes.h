/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/ebpf/ebpf.h"
#include "sampler/interpret/names.h"

/*
 * The names and lines of an interpreter's code by process and address. Each is read once, and looked at again about
 * once a second: another object may have its address by then; where there is none, it is believed. Of a process that
 * has ended, or that cannot be read, what the process that it was forked from has at the address is taken, if that was
 * read.
 */

/* The marks in which two pieces of code at the same address differ, as far as it can be told by a look at them. */
struct interpreter_marks {
	uint64_t words[6];
};

/* A line of the source, from a position in the code on, up to that of the next one. */
struct interpreter_line {
	uint32_t position;
	uint32_t line; /* 0: not known */
};

struct interpreter_code {
	const char *name, *file; /* borrowed from who reads it until the next read; UTF-8 */
	uint32_t first_line;
	const struct interpreter_line *lines; /* sorted; borrowed likewise */
	size_t line_count;                    /* 0: a position in the code is itself a line */
};

enum { INTERPRETER_MOST_MARKS = 64 };

/*
 * A reader of the code of one kind of interpreter. The memory may change while it is read, and be anything: what does
 * not look like code counts as gone.
 *
 * reader  its own
 * image   what the file of the process's interpreter tells
 */
struct interpreter_code_reader {
	const char *gone; /* what code is called that could not be read */
	void (*destroy)(void *reader);
	/*
	 * Uses a copy of code. Until the next call with NULL, what the copy has is read from it, and nothing else that
	 * it does not lead to.
	 */
	void (*use)(void *reader, const struct ebpf_code *copy);
	/*
	 * Reads the marks of some code of one process, INTERPRETER_MOST_MARKS at most. Returns how many could be read:
	 * the next one could not.
	 */
	size_t (*read_marks)(void *reader, const void *image, int32_t pid, const uint64_t *addresses, size_t count,
		struct interpreter_marks *marks);
	/* Reads the rest of code whose marks are read. `*is_gone`: it is none. Fails for want of memory. */
	bool (*read)(void *reader, const void *image, int32_t pid, uint64_t address,
		const struct interpreter_marks *marks, struct interpreter_code *code, bool *is_gone, struct error *err);
};

struct interpreter_codes;

/* `reads` and `names` are borrowed; `reader` is owned by the codes, also where the call fails. */
COMMON_MUST_CHECK
bool interpreter_codes_create(struct interpreter_names *names, const struct interpreter_code_reader *reads,
	void *reader, struct interpreter_codes **codes, struct error *err);
void interpreter_codes_destroy(struct interpreter_codes *codes); /* NULL is allowed */

/* Finds the line of a frame: its function of the profile, and where in it the frame is. */
COMMON_MUST_CHECK
bool interpreter_codes_find(struct interpreter_codes *codes, const void *image, int32_t pid, uint64_t word,
	uint64_t clock_ns, struct profile_line *line, struct error *err);

/* Returns whether the names of code at an address of a process are known. */
bool interpreter_codes_know(const struct interpreter_codes *codes, int32_t pid, uint64_t address);

/*
 * Learns code from a copy that was made when a frame met it. What is known of its address before is forgotten if it is
 * another one.
 */
COMMON_MUST_CHECK
bool interpreter_codes_learn(struct interpreter_codes *codes, const void *image, const struct ebpf_code *code,
	uint64_t clock_ns, struct error *err);

/* Returns whether a line that was found stands for code that could not be read. */
bool interpreter_codes_is_gone(const struct interpreter_codes *codes, const struct profile_line *line);

/*
 * A number that changes whenever interpreter_codes_find() may find something else, or is to look again: as long as it
 * is the same at `clock_ns`, what was found for a frame stays. Frames without names are to be asked for each time.
 */
uint64_t interpreter_codes_epoch(struct interpreter_codes *codes, uint64_t clock_ns);

/* Returns how many frames were found whose code could not be read, and what it is called. */
uint64_t interpreter_codes_gone(const struct interpreter_codes *codes);
const char *interpreter_codes_gone_name(const struct interpreter_codes *codes);

void interpreter_codes_fork(struct interpreter_codes *codes, int32_t parent, int32_t child);
void interpreter_codes_forget(struct interpreter_codes *codes, int32_t pid);
