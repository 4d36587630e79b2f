/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/buffer.h"

#include <limits.h>
#include <sys/types.h>

/*
 * A directory for files that only this process and its children need, with mode 0700. It lies below a directory of
 * Kelvin's own that stays when all is over, so nobody else can make again what a process that outlives us remembers:
 * /run/kelvin/0 of root, $XDG_RUNTIME_DIR/kelvin, or kelvin-UID in $TMPDIR, /tmp, /var/tmp or /dev/shm: the first place
 * that nobody can lead elsewhere (common/own_directory.h), that is not taken by another user and can be written to.
 *
 * It is removed with all that is in it, also when this process is killed: a child of ours waits for that. Where that
 * one was killed, too, the next one that makes such a directory clears it away: who lives holds a lock (flock) on his.
 */
struct temporary {
	char path[PATH_MAX]; /* "": there is none */
	int base, directory; /* owned: the one that stays; this one, which carries the lock */
	int alive;           /* owned: closed when we end */
	pid_t remover;
};

/* The amount that is to be kept: little of it may lie in memory; much lies in $TMPDIR, /tmp or /var/tmp, if it can. */
enum temporary_size { TEMPORARY_SMALL, TEMPORARY_LARGE };

/*
 * The message of an error names each place, what is wrong with it, and the way out. `remove_more` is called by the
 * child that waits, with the id of this process, if that has ended without temporary_remove(): for files that lie
 * elsewhere. This process may be about to end, or be gone. NULL: there are none.
 */
COMMON_MUST_CHECK
bool temporary_create(
	struct temporary *temporary, enum temporary_size size, void (*remove_more)(pid_t owner), struct error *err);

/*
 * Removes it. What cannot be removed stays, is removed later, and is reported in a line of `notices` (NULL: to nobody).
 * All zero is allowed.
 */
void temporary_remove(struct temporary *temporary, struct buffer *notices);

/* Returns whether the disk of the directory has no room left. */
bool temporary_is_full(const struct temporary *temporary);
