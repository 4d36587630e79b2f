/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/diff.h"

/*
 * Words of a document (render/document.h) that say which change a row of the diff's changes is.
 */

/* The names of a row: "`lookup` → … → `futex_wait`". */
struct change_names {
	uint32_t from, to; /* functions; `to` is PROFILE_NONE for a change that has one name */
	bool is_cut;       /* there are functions between them */
};

struct change_names change_names(const struct diff *diff, const struct diff_change *change);

/* Returns the change that the function names; NULL: it names none. */
const struct diff_change *change_of(const struct diff *diff, uint32_t function);

/* Returns whether a change has more names than that of its function. */
bool change_has_names(const struct diff_change *change);

/* Appends the names: "lookup → … → futex_wait". */
void change_append_names(const struct diff *diff, const struct diff_change *change, struct buffer *words);

/*
 * Appends what threads wait for in a change, and who held the lock: "lock cache_lock, held by evict"; nothing if it is
 * not waiting.
 */
void change_append_waits(const struct diff *diff, const struct diff_change *change, struct buffer *words);
