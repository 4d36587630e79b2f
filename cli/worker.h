/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <sys/types.h>

/*
 * Does the work of a command that reads foreign files in a child process without rights: whoever makes a file that
 * takes over its reader, takes over a process that cannot open, change or execute anything, nor reach another process
 * or a network (common/child/rights.h, common/child/filter.h). It has the descriptors of its input, the standard
 * streams for results and messages, and its parent, which writes the outputs that the user named, and nothing else.
 *
 * The parent reads none of the foreign bytes: what it writes are bytes to it. A failed allocation ends the worker
 * (common/memory.h), and the parent says which file needed how much.
 */

/* A file that the user wants. `path` NULL: none; "-" is standard output, to which the worker writes itself. */
struct worker_output {
	const char *path; /* borrowed */
	mode_t mode;      /* as file_write() has it */
	bool is_optional; /* the work may leave it out */
};

struct worker {
	const char *subject; /* borrowed: what is read, for messages */
	/* The descriptors that the work reads, borrowed; standard input is closed unless it is one of them. */
	const int *inputs;
	size_t input_count;
	const struct worker_output *outputs; /* borrowed */
	size_t output_count;
	/*
	 * Answers the questions that the work may ask of its parent, for work that needs more than descriptors; NULL:
	 * nothing. `bytes`, aligned to 8, are foreign. It returns a descriptor, which the worker gets, or -1, and may
	 * set `err`, which it gets as well.
	 */
	int (*answer)(void *context, const void *bytes, size_t size, struct error *err);
	void *context;
	bool has_children; /* the work has threads, and runs foreign libraries in children (common/child/isolated.h) */
	int socket;        /* set by worker_run() in the child: to the parent; 0: there is none */
	struct memory_need *need; /* set by it: what the parent reports when memory is out, which ends the worker */
};

/*
 * Runs work(context) in a worker. Its result becomes the exit code in `*code`; it prints its failures itself, and
 * writes its outputs by worker_write(). A signal that ends the worker as it would have ended the command, such as
 * Ctrl-C, ends the calling process, which leaves nothing behind. ERROR_SYSTEM: the worker crashed, or there is none;
 * ERROR_MEMORY.
 */
COMMON_MUST_CHECK
bool worker_run(struct worker *worker, int (*work)(void *context), void *context, int *code, struct error *err);

/* Writes the output of that number as file_write() does; once for each. In the work alone. */
COMMON_MUST_CHECK
bool worker_write(const struct worker *worker, size_t output, const void *bytes, size_t size, struct error *err);

/*
 * Hands over a piece of that output, in a worker that runs; more pieces follow, and worker_write() brings the last one,
 * which tells whether all could be written.
 */
COMMON_MUST_CHECK
bool worker_write_piece(const struct worker *worker, size_t output, const void *bytes, size_t size, struct error *err);

/* Asks the parent, which answers by worker->answer(). The descriptor belongs to the caller; -1: there is none. */
int worker_ask(const struct worker *worker, const void *bytes, size_t size, struct error *err);
