/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/jit.h"
#include "symbolize/named_frames.h"

/*
 * Names addresses in confined child processes (common/child/confined.h), one for each owner of files
 * (symbolize/naming_cell.h), since binaries, debug files and maps of code made at run time are hostile bytes: whoever
 * makes one that takes over its reader, takes over a process without rights, which can speak for files of the same
 * owner alone. The child opens files through a broker (symbolize/broker.h), and hands frames over as bytes that the
 * parent checks.
 *
 * Each task has limits in proportion to the bytes that its files really have on disk: on CPU time, memory, and the
 * bytes of its answer. A child that crashes, or is ended by a limit, costs the task that it was about: others that it
 * was about at that time are named again, each by a child of its own, and the rest by a new child. Where many files of
 * one owner fail, the rest of that owner's files stay unnamed. Root's files come first.
 */

/* The addresses of one mapping. */
struct naming_task {
	/* Set by the caller, borrowed. The first of these that knows an address names it; each may be NULL. */
	struct elf_image *image;                   /* each task has a reference of its own */
	const struct file_opened *map, *inherited; /* of code made at run time; of the process it was forked from */
	struct jit_clock clock;                    /* of `map`; that of `inherited` is not known */
	const struct file_opened *kallsyms;
	const char *label; /* of the mapping, for notices */
	const uint64_t *addresses;
	size_t count;
	const uint64_t *data; /* addresses in the image's data, named by its symbols */
	size_t data_count;

	/* Set by naming_run(). */
	uint8_t *bytes;                /* owned, of the tables; NULL: nothing is named */
	size_t byte_count, code_bytes; /* of these, and of the table of functions, which comes first */
	struct named_frames table, data_table;
	bool is_kallsyms_restricted; /* it shows zeros only */
};

/*
 * Runs the tasks, or has options->namer do so. One that fails stays without names, which a line in `notices` (may be
 * NULL) says. Once options->is_stopped() says so, the rest stays without names at once.
 */
void naming_run(
	struct naming_task *tasks, size_t count, const struct symbolize_options *options, struct buffer *notices);

/* Sets what the task's tables are, of bytes that stay its caller's; false if they are none. */
COMMON_MUST_CHECK
bool naming_task_open_tables(struct naming_task *task, const uint8_t *bytes, size_t size, uint64_t code_bytes);

void naming_task_deinit(struct naming_task *task);
