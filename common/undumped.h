/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stddef.h>

/*
 * Memory for what others have in theirs, such as copies of their stacks: no core dump of this process has it, whatever
 * wrote the dump (MADV_DONTDUMP). Whole pages. Rings of perf events are such memory by themselves.
 */

/* Owned by the caller, zeroed, to be freed by undumped_free() with the same size; NULL: there is no memory. */
void *undumped_alloc(size_t bytes);
void undumped_free(void *memory, size_t bytes); /* NULL is allowed */
