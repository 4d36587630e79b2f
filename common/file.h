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
 * Writes a whole file so that it is there complete or not at all: into a new file beside it, synced, renamed into
 * place.
 * "-" is standard output, a device or a pipe is written directly, a link is followed. On failure nothing is left behind
 * and a former file stays. `mode` is that of a new file, less the umask.
 */
COMMON_MUST_CHECK
bool file_write(const char *path, const void *bytes, size_t size, mode_t mode, struct error *err);

/* Whether file_write() to `path` can be expected to work (its directory exists and can be written): asked before long
 * work. */
COMMON_MUST_CHECK
bool file_check_writable(const char *path, struct error *err);
