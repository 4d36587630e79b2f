/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/naming.h"

/*
 * Names addresses for a process that has no rights: it sends its tasks as bytes, and the process that has opened its
 * files runs them (naming_run()). Files are meant by device and inode, of those that were handed out: no path comes
 * with a task. The answer is tables (symbolize/named_frames.h) in a file in memory.
 */

/* Has options->namer run the tasks. One that fails stays without names, which a line in `notices` (may be NULL) says.
 */
void naming_request(
	struct naming_task *tasks, size_t count, const struct symbolize_options *options, struct buffer *notices);
