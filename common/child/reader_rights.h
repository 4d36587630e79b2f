/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/child/filter.h"

#include <stdbool.h>
#include <sys/types.h>

/* A process that reads files for somebody, with no more rights than theirs. */
struct reader_rights {
	bool is_user_known;
	uid_t user;            /* if it is known; root reads with CAP_DAC_READ_SEARCH, and none of its groups */
	uint64_t capabilities; /* kept beside that one where root started the process */
	const struct filter_rule *rules; /* the system calls that it makes beside those of filter_enter_working() */
	size_t rule_count;
};

/*
 * Has the calling process, of confined_fork(), become the user for good where root started it, with the groups that the
 * system gives that account; a user that nobody is, if none is known. It can only read files then (Landlock), and makes
 * no other system calls than those of the rules (seccomp). A process that is not root's stays whose it is. False if it
 * cannot become the user: it must not open a file then.
 */
COMMON_MUST_CHECK
bool reader_rights_become(const struct reader_rights *rights);
