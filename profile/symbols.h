/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

struct elf_image;
struct profile_lock_address;

/* A sampled process: whose it is, and where it sees its files. */
struct profile_process {
	int32_t pid;
	uint32_t user;      /* its real one, in our user namespace */
	bool is_user_known; /* it could be asked when it was met, and when it executed its program */
	bool has_stayed;    /* it had the same user at its end, or still has: it has not become another one meanwhile */
	int64_t start_ns;   /* when it began, since 1970, rounded down to seconds; 0: not known */
	uint64_t tree;      /* which directory tree it sees: in_root_tree_of() */
};

/*
 * A step in the growth of a perf map, whose lines have no times: what it grew by up to `size` was written between two
 * looks at it, by CLOCK_MONOTONIC.
 */
struct profile_growth_step {
	int64_t from_ns, to_ns;
	uint64_t size;
};

/* All looks at a file, in order of time. */
struct profile_growth {
	struct profile_growth_step *steps; /* owned */
	size_t count;                      /* 0: it is not known when its lines were written */
};

/*
 * The places of the names of a profile's addresses: a recording finds it out, and naming reads it. All zero: nothing is
 * known. Whoever fills it owns all of it; naming borrows it.
 */
struct profile_symbols {
	struct elf_image **images;    /* by mapping id, a reference each; NULL where there is none (kernel, JIT, not
					 readable) */
	struct file_opened *jit_maps; /* by mapping id: a JIT mapping's perf map or jitdump; NULL: none */
	struct file_opened *inherited_jit_maps; /* likewise, of the process that it was forked from; NULL: none */
	struct profile_growth *growths;         /* by mapping id: of the perf maps in jit_maps; NULL: not known */
	size_t mapping_count;                   /* of these arrays: that of the profile */
	int64_t clock_ns; /* CLOCK_MONOTONIC at which the times of events begin to count; 0: not known */
	struct profile_process *processes; /* by pid: those of a live recording that were sampled */
	size_t process_count;
	uint64_t command_tree;                       /* of a command that was started: that of its process; 0: none */
	struct profile_lock_address *lock_addresses; /* by lock of the profile; NULL: waits were not sampled */
	char *kallsyms;         /* file with the recorded kernel's symbols; NULL: /proc/kallsyms; "": not to be had */
	bool kernel_is_running; /* kallsyms is a copy of the running kernel's: that one may be asked instead */
	/* The recording knew no system calls: waits of no known class get that of the function of the kernel or C
	 * library that they are in. */
	bool waits_by_name;
};
