/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/source_plan.h"

/*
 * Reads the files of a plan by child processes, one for each user and directory tree (symbolize/broker.h is the like
 * for debug files). A child opens regular files for reading, and no others; it follows links within the tree, as root
 * only root's. It is ended where it waits for a file that does not come.
 */

/* The rights with which files are read, and the tree in which they lie. */
struct source_reader {
	const struct source_plan *plan;
	const bool *is_asked; /* [file of the plan] */
	bool is_user_known;   /* false: as a user that nobody is */
	uid_t user;
	int32_t pid; /* whose tree it is; 0: ours */
	uint64_t tree;
};

/*
 * Appends what the child writes (symbolize/source_answer.h) to `answers`, as much as there is before `deadline_ns`
 * (CLOCK_MONOTONIC) or until options->is_stopped() says so. False: a part may be missing.
 */
COMMON_MUST_CHECK
bool source_reader_run(const struct source_reader *reader, const struct symbolize_options *options, int64_t deadline_ns,
	struct buffer *answers);
