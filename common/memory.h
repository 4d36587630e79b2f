/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Memory that nobody checks: where there is none, the process ends, after it has said how many bytes were needed. It
 * leaves no half-written file: an output is written whole to a new file, what is temporary is removed by a child that
 * outlives its maker (common/temporary.h), and children end with their parent (common/child/child.h). Thread-safe.
 *
 * A process that records must outlive a failed allocation. What it calls while it records checks its own, and the
 * containers of this folder, which it shares with all others, then fail with ERROR_MEMORY.
 */

/* The memory that an allocation lacked. */
struct memory_need {
	uint64_t bytes;  /* 0: nothing was lacking */
	uint64_t in_use; /* bytes of the heap at that time */
};

/* How the process ends when there is no memory. */
struct memory_end {
	int exit_code;
	const char *advice;       /* borrowed: the next step, in the message; NULL: to make or allow more memory */
	struct memory_need *need; /* borrowed, shared with the parent, which reports it; NULL: it is printed */
	bool is_silent;           /* the parent finds that the process has ended, and that is enough */
};

/* `end` is borrowed until the next call; NULL: a message on standard error, and exit code 2. */
void memory_set_end(const struct memory_end *end);

/* Says whether the containers of this folder fail with ERROR_MEMORY, in place of ending the process. */
void memory_set_checked(bool is_checked);

/* Ends the process, which lacks that many bytes. Allocates nothing. */
_Noreturn void memory_end(uint64_t bytes);

/* Does so unless failures are checked. */
void memory_fail(uint64_t bytes);

/*
 * Heap memory, which belongs to the caller and is freed by free(): never NULL. That of no bytes is allowed.
 * memory_alloc() does not zero it, nor does memory_resize() what it adds. A product that overflows is memory that there
 * is not.
 */
__attribute__((malloc, returns_nonnull)) void *memory_alloc(size_t bytes);
__attribute__((malloc, returns_nonnull)) void *memory_zeroed(size_t count, size_t item_bytes);
__attribute__((returns_nonnull)) void *memory_resize(void *memory, size_t count, size_t item_bytes);

/* The first `size` bytes of the string at most. */
__attribute__((malloc, returns_nonnull)) char *memory_copy_text(const char *text, size_t size);
__attribute__((malloc, returns_nonnull)) char *memory_copy_string(const char *string);

/* Formatted text of any length. */
__attribute__((malloc, returns_nonnull, format(printf, 1, 2))) char *memory_print(const char *format, ...);
