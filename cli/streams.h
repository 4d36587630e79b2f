/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* A command inherits our standard input, output and error. While it is being started, ours are replaced by those that
 * it should get. */

enum { STREAM_COUNT = 3 };

struct streams {
	int saved[STREAM_COUNT]; /* what ours were; owned; -1: not changed */
};

/*
 * Puts a copy of `to[fd]` in the place of our descriptor `fd`, 0 to 2; -1 leaves ours as it is. After a failure all are
 * as they were.
 */
COMMON_MUST_CHECK
bool streams_redirect(struct streams *streams, const int to[STREAM_COUNT], struct error *err);
void streams_restore(struct streams *streams);

/*
 * Returns what a command gets whose profile is written to `output`: where that is "-", our standard output is the
 * profile's, and the command prints on standard error, as with perf. NULL: ours.
 */
const int *streams_apart_from(const char *output);
