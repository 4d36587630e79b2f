/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/child/child.h"
#include "common/child/filter.h"
#include "common/child/rights.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What a process may do, as a value: it gives up all else for good, before it works on foreign bytes.
 * docs/decisions/120-one-child-runtime.md has a table of Kelvin's processes and what each may.
 *
 * Of each property zero is the narrowest, or says that no more is taken than was.
 */

/* Whose a process becomes where root started it. One that is not root's stays whose it is. */
enum confined_user {
	CONFINED_SAME_USER,
	CONFINED_NOBODY, /* a user that no account and no other process has, in no group */
	CONFINED_ACCOUNT /* an account, with the groups that the system gives it; root keeps none */
};

enum confined_files {
	CONFINED_NO_FILES,    /* rights_no_files() */
	CONFINED_READS_FILES, /* rights_read_only(): those that its user may read */
	CONFINED_READS_BELOW, /* rights_read_below() */
	CONFINED_ANY_FILES,
};

enum confined_calls {
	CONFINED_WORKS, /* those of a process that works on bytes (filter_of_work), and `more_calls` */
	CONFINED_ONLY,  /* `more_calls` */
	CONFINED_ALONE, /* filter_enter_alone(), for a program that it executes */
	CONFINED_ANY_CALLS,
};

enum { CONFINED_MOST_CALLS = 2 };

struct confinement {
	/* Stay open; all others are closed, unless `keeps_open` says that nothing is open but what may be. */
	const int *descriptors;
	size_t descriptor_count;
	bool keeps_open;
	size_t more_descriptors; /* how many it may get in addition; 0: as many as it might before */

	enum confined_user user;
	uid_t id; /* of the account; of CONFINED_NOBODY: rights_user(), or 0: that of the process's own number */
	/* Stay, of those that it has (rights_keep()); UINT64_MAX: all, also for what it executes. */
	uint64_t capabilities;

	bool leaves_file_systems; /* its root is an empty directory of its own: it needs the right to mount */
	enum confined_files files;
	const struct rights_places *places; /* of CONFINED_READS_BELOW */

	enum confined_calls calls;
	struct filter_set more_calls[CONFINED_MOST_CALLS];

	const struct child_limit *limits;
	size_t limit_count;
	/*
	 * A pipe of whose other end its parent has the only one, for a process that cannot see whether that has ended
	 * (child_end_with()); 0: none.
	 */
	int alive;
};

/*
 * Confines the calling process, of child_fork(), for good. It leaves no core file and is nobody else's to look into; it
 * ends with its parent. Returns what it could not give up, as RIGHTS_LEFT_*: after RIGHTS_LEFT_USER it may be
 * anybody's, and must not go on if it works for that user.
 */
unsigned int confined_enter(const struct confinement *confinement);

/*
 * Has the children that the calling process forks from now on live in a process namespace of their own; where the
 * process is not root's, in a user namespace of their own too, which it enters itself, without the capabilities that it
 * had. The first child must be the only one. Returns what that child's confinement will lack, as RIGHTS_LEFT_*.
 */
unsigned int confined_separate(void);

/* The parts that a confinement lacks, because the machine or a container around us does not allow it. A set of bits. */
enum {
	CONFINED_WITHOUT_FILTER = 1, /* no system call is refused; so it is under a sanitizer, which needs more */
	CONFINED_WITHOUT_USER = 2,   /* it runs as root, or as a user who has other processes */
	CONFINED_WITHOUT_PID_NAMESPACE = 4,   /* it can name the processes of others */
	CONFINED_WITHOUT_MOUNT_NAMESPACE = 8, /* it has a file system */
	CONFINED_WITHOUT_LANDLOCK = 16,
	CONFINED_WITHOUT_ANY = 31,
};

/* Returns what a process lacks that has RIGHTS_LEFT_* left. */
unsigned int confined_lacks(unsigned int left);

/* Names what is lacking: "a system call filter (seccomp), Landlock". `text` has room for `size` bytes. */
void confined_describe(unsigned int lacks, char *text, size_t size);

/* Finds out what a confinement lacks here, by a child process that confines itself. */
unsigned int confined_probe(void);
