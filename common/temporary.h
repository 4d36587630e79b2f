/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/error.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * A directory for files that only this process and its children need, in $TMPDIR, else /tmp, with mode 0700. It is
 * removed with all that is in it, also when this process is killed: a child of ours waits for that.
 */
struct temporary {
	char path[PATH_MAX]; /* "": there is none */
	int alive;           /* closed when we end */
	pid_t remover;
};

COMMON_MUST_CHECK
bool temporary_create(struct temporary *temporary, struct error *err);

/*
 * Likewise; when the directory is removed, that child also calls `remove_more`, for files that lie elsewhere, with the
 * id of this process. It may be alive still, be about to end, or be gone.
 */
COMMON_MUST_CHECK
bool temporary_create_with(struct temporary *temporary, void (*remove_more)(pid_t owner), struct error *err);

/* Waits until the directory is gone. All zero is allowed. */
void temporary_remove(struct temporary *temporary);

/* Whether the disk of the directory has no room left. */
bool temporary_is_full(const struct temporary *temporary);
