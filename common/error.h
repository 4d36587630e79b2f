/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>

/* Fallible functions return bool, which the caller must check. */
#define COMMON_MUST_CHECK __attribute__((warn_unused_result))

enum error_code {
	ERROR_NONE,
	ERROR_FORMAT,      /* foreign bytes are malformed */
	ERROR_SYSTEM,      /* a system call failed; see system_errno */
	ERROR_PERMISSION,  /* a system call was not permitted; see system_errno */
	ERROR_MEMORY,      /* out of memory */
	ERROR_LIMIT,       /* one of our caps was reached */
	ERROR_NOT_FOUND,   /* the named file, process or entry does not exist */
	ERROR_UNSUPPORTED, /* the input is valid, but is not supported */
	ERROR_USAGE,       /* the caller's request makes no sense */
	ERROR_EMPTY,       /* nothing was measured, or nothing is left to compare */
};

enum { ERROR_MESSAGE_SIZE = 512 };

/*
 * An error, stored on the caller's stack. Setting it never allocates. On success it stays untouched.
 *
 * The message is one line without a final full stop: what was tried, on what, why it failed, and the next step if there
 * is one. A message that is too long is cut.
 */
struct error {
	enum error_code code;
	int system_errno; /* 0 unless code is ERROR_SYSTEM or ERROR_PERMISSION */
	char message[ERROR_MESSAGE_SIZE];
};

/* Each of these functions returns false, so that `return error_set(...)` reports a failure. */

__attribute__((format(printf, 3, 4))) bool error_set(struct error *err, enum error_code code, const char *format, ...);

/*
 * Sets the error of a failed system call, and appends ": " and the text of `system_errno` to the message. The code is
 * ERROR_PERMISSION for EACCES and EPERM, ERROR_NOT_FOUND for ENOENT and ESRCH, ERROR_MEMORY for ENOMEM, else
 * ERROR_SYSTEM.
 */
__attribute__((format(printf, 3, 4))) bool error_set_errno(
	struct error *err, int system_errno, const char *format, ...);

bool error_set_memory(struct error *err);

/* Inserts context and ": " before the message: `maps: line 7: bad address`. The code stays the same. */
__attribute__((format(printf, 2, 3))) bool error_prefix(struct error *err, const char *format, ...);
