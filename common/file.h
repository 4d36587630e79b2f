/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/buffer.h"

#include <sys/types.h>

/*
 * Reads a whole file ("-": standard input) into `buffer`, which the caller has initialised with its cap.
 * Fails with ERROR_NOT_FOUND, ERROR_PERMISSION, ERROR_SYSTEM, ERROR_LIMIT; the message names the path.
 */
COMMON_MUST_CHECK
bool file_read(const char *path, struct buffer *buffer, struct error *err);

/*
 * A file that was opened once and is read by its descriptor from then on, as another one may lie under its name later.
 * All zero: no file.
 */
struct file_opened {
	char *name; /* owned, for messages; NULL: no file */
	int fd;     /* owned, for reading; without a name it means nothing */
};

void file_opened_deinit(struct file_opened *file);

/* Reads an opened file from its start, as file_read() does. */
COMMON_MUST_CHECK
bool file_read_opened(const struct file_opened *file, struct buffer *buffer, struct error *err);

/*
 * Writes a whole file or nothing: to a new file in the same directory, which is synced and renamed. "-" is standard
 * output; devices and pipes are written directly; links are followed. On failure no partial file is left, and an
 * existing file stays. `mode` is that of a new file, less the umask.
 */
COMMON_MUST_CHECK
bool file_write(const char *path, const void *bytes, size_t size, mode_t mode, struct error *err);

/* Checks before long work whether file_write() to `path` is likely to succeed: the directory exists and is writable. */
COMMON_MUST_CHECK
bool file_check_writable(const char *path, struct error *err);
