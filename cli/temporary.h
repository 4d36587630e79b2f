/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <limits.h>
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

/* Waits until the directory is gone. All zero is allowed. */
void temporary_remove(struct temporary *temporary);

/* Whether the disk of the directory has no room left. */
bool temporary_is_full(const struct temporary *temporary);
