/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process/process.h"

#include <time.h>

/*
 * The times at which the lines of a perf map were written, which these do not say: its size is looked at again and
 * again while its process is recorded, so that code which takes the place of other code can be told from it by the time
 * of a sample. Only the size is looked at, until the process ends. A file on a file system that may hang is not
 * watched. All accounts share JIT_GROWTH_MOST_FILES at once, of which one alone has half.
 */
struct jit_growth {
	int fd;           /* owned; -1: it is not open */
	uint64_t account; /* that has it open */
	dev_t device;     /* with the inode: which file was looked at last */
	ino_t inode;
	int64_t looked_ns, next_ns;   /* CLOCK_MONOTONIC of the last look, and of the next at the earliest */
	int64_t pause_ns;             /* between two looks for a file that is not there */
	bool is_over;                 /* it is not watched any more: its process has ended, or it became shorter */
	struct timespec written;      /* when it was written last, as its file system says */
	bool was_rewritten;           /* it was written without growing, or became shorter */
	struct profile_growth growth; /* owned */
	size_t capacity;
};

enum { JIT_GROWTH_MOST_FILES = 512 };

/* Looks at the perf maps of all processes that have run code of their own making. To be called often. */
COMMON_MUST_CHECK
bool jit_growth_look(struct process_table *table, struct error *err);

/* Hands over what is known of the file; nothing if it is another one than was watched. */
struct profile_growth jit_growth_take(struct process_image *image, const struct file_opened *file);

/*
 * Returns whether the file was written anew while it was watched, or is another one now: of what it said before,
 * nothing is known any more.
 */
bool jit_growth_was_rewritten(const struct process_image *image, const struct file_opened *file);

/* Returns whether a program that had the pid later has written the file, so that it names nothing of the image. */
bool jit_growth_is_anothers(const struct process_image *image, const struct file_opened *file);

void jit_growth_destroy(struct jit_growth *growth); /* NULL is allowed */
