/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>

/* Fallible functions return bool; the result must be looked at. */
#define COMMON_MUST_CHECK __attribute__((warn_unused_result))

enum error_code {
	ERROR_NONE,
	ERROR_FORMAT,      /* foreign bytes are malformed */
	ERROR_SYSTEM,      /* a system call failed: system_errno says how */
	ERROR_PERMISSION,  /* a system call failed for want of a right: system_errno says how */
	ERROR_MEMORY,      /* out of memory */
	ERROR_LIMIT,       /* a cap of ours was reached */
	ERROR_NOT_FOUND,   /* what was named is not there */
	ERROR_UNSUPPORTED, /* understood, but not done */
	ERROR_USAGE,       /* the caller's request makes no sense */
	ERROR_EMPTY,       /* nothing was measured, or nothing is left to compare */
};

enum { ERROR_MESSAGE_SIZE = 512 };

/*
 * Lives on the caller's stack; never allocates. Untouched on success.
 * The message is one line without a final stop: what was tried, on what, why it failed, and the next step where there
 * is one. A message that does not fit is cut.
 */
struct error {
	enum error_code code;
	int system_errno; /* 0 unless code is ERROR_SYSTEM or ERROR_PERMISSION */
	char message[ERROR_MESSAGE_SIZE];
};

/* Each of these returns false, so that `return error_set(...)` is the whole failure path. */

__attribute__((format(printf, 3, 4))) bool error_set(struct error *err, enum error_code code, const char *format, ...);

/*
 * A failed system call: appends ": " and the text of `system_errno` to the message.
 * The code is ERROR_PERMISSION for EACCES and EPERM, ERROR_NOT_FOUND for ENOENT and ESRCH, ERROR_MEMORY for ENOMEM,
 * else ERROR_SYSTEM.
 */
__attribute__((format(printf, 3, 4))) bool error_set_errno(
	struct error *err, int system_errno, const char *format, ...);

bool error_set_memory(struct error *err);

/* Puts context and ": " before the message while it travels up: `maps: line 7: bad address`. The code stays. */
__attribute__((format(printf, 2, 3))) bool error_prefix(struct error *err, const char *format, ...);
