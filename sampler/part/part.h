/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/*
 * The recording so far, on disk, so that a recorder that is killed loses no more than its last moments: FILE.part is a
 * sequence of increments of the profile (profile_write_increment()).
 */

enum { PART_MAX_CHUNK_BYTES = 1 << 28 };

struct part {
	int fd;                         /* owned; -1: none */
	char *path;                     /* owned */
	struct buffer chunk;            /* the increment being written */
	uint64_t written_bytes;         /* up to the end of the last whole increment */
	uint64_t kernel_text;           /* address of the kernel's symbol _text; 0: not known */
	struct profile_written written; /* what of the profile was written */
	bool is_full;                   /* a write failed; no further one is tried */
	uint64_t written_ns;            /* when part_write_in_time() has written last */
};

/* Initializes without a file. */
void part_init(struct part *part);

/*
 * Creates the file. What a killed recorder left under the name is kept as PATH.old, or PATH.old.2 and so on, which
 * `notices` (may be NULL) tells; one that is being written by another recorder is ERROR_USAGE. What else lies there is
 * written to only if it is a regular file of the user's own, under this one name: else ERROR_PERMISSION.
 */
COMMON_MUST_CHECK
bool part_create(struct part *part, const char *path, struct buffer *notices, struct error *err);

/* Closes the file; removes it when it holds nothing. */
void part_deinit(struct part *part);

/*
 * Appends what is new. On failure (a full disk) the file is cut back to its last whole increment, and stays as it is
 * from then on. Before profile_finish(), which sorts events.
 */
COMMON_MUST_CHECK
bool part_write(struct part *part, const struct profile *profile, int64_t duration_ns, struct error *err);

/*
 * Does so if there is a file, something is new, and the last increment is old enough, at `clock_ns` of a clock that
 * never goes back. To be called at least every 400 ms: no more than a second is then lost.
 */
COMMON_MUST_CHECK
bool part_write_in_time(
	struct part *part, const struct profile *profile, uint64_t clock_ns, int64_t duration_ns, struct error *err);
