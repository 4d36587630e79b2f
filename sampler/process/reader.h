/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process/process.h"

/*
 * Reads running processes and the files that they have mapped, in a helper process that is given up when it is late
 * (common/child/deadline.h): memory, maps and files of a process may never arrive, by its intent or because a mount
 * hangs. After a late read of a process's memory, further ones fail at once for a while, and likewise of its files; so
 * do those of all processes of its account (sampler/process/account.h) once these have cost enough. What fails so is
 * counted by process_reader_describe(). Not thread-safe.
 *
 * Helpers keep CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH and CAP_CHECKPOINT_RESTORE, of those that the recorder has, open
 * files for reading alone, and end at calls that change anything.
 */
struct process_reader;

/* Call it early: the helpers are forked from the process as it is now. ERROR_MEMORY, ERROR_SYSTEM. */
COMMON_MUST_CHECK
bool process_reader_create(struct process_reader **reader, struct error *err);
void process_reader_destroy(struct process_reader *reader); /* NULL is allowed */

/* Appends lines about processes whose memory or files were late, if there were any. */
void process_reader_describe(const struct process_reader *reader, struct buffer *notices);

/*
 * Reads like process_vm_readv(2) into one piece of at most READER_MOST_BYTES; -1 if it fails, with errno EAGAIN if it
 * is late.
 */
enum { READER_MOST_BYTES = 1 << 18, READER_MOST_PIECES = 256 };
ssize_t process_reader_memory(struct process_reader *reader, int32_t pid, const struct iovec *into,
	const struct iovec *from, size_t from_count);

/*
 * Appends the text of /proc/PID/maps, as far as it arrives. `*denied`: it exists but may not be read, as another
 * user's. A process that is gone has none, which is not an error. False: not all has arrived in time.
 */
bool process_reader_maps(struct process_reader *reader, int32_t pid, struct buffer *text, bool *denied);

/*
 * Opens the binary of a mapping, as elf_open_mapping() and elf_image_of_mapping(). A file on a file system that may
 * hang is copied, up to a size: only then no page fault on its bytes can wait.
 */
COMMON_MUST_CHECK
bool process_reader_open(
	struct process_reader *reader, const struct elf_mapping *mapping, struct elf_image **image, struct error *err);

/* Expects a perf map as jit_map_expect() does. Without an answer in time nothing is expected. */
COMMON_MUST_CHECK
bool process_reader_expect_jit_map(struct process_reader *reader, const struct elf_mapping *mapping,
	struct process_image *image, struct error *err);

/*
 * Opens a perf map as jit_map_open() does, to look at the file's size from time to time; -1: there is none, or one that
 * may hang.
 */
int process_reader_watch_jit_map(struct process_reader *reader, const struct jit_place *place);

/*
 * Opens a perf map as jit_map_open() does, with a copy of a file that may hang. Without an answer in time there is
 * none.
 */
COMMON_MUST_CHECK
bool process_reader_open_jit_map(struct process_reader *reader, const struct jit_place *place,
	struct file_opened *opened, struct buffer *notices, struct error *err);

/* Answers as proc_is_32bit() does; false without an answer in time. */
bool process_reader_is_32bit(struct process_reader *reader, int32_t pid);
