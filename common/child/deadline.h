/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/child/filter.h"
#include "common/error.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Runs work that may wait in the kernel for something that never comes: memory of a process that nobody delivers
 * (userfaultfd), files of a mount that hangs (NFS, FUSE). No signal but SIGKILL ends such a wait, and in a FUSE
 * server's hands not even that. So the work is done by a helper process, which is given up when it is late, and ended
 * when the kernel lets it go. Neither the caller nor its exit ever waits for it.
 *
 * What takes a helper over through what it reads has its rights: those of struct deadline_rights.
 *
 * A keeper process is forked by deadline_create(), while the caller is small, and it forks the helpers. Helpers hold no
 * descriptor of the caller, and have its scheduling policy and nice value at the time of each job. All of them end with
 * the caller. Not thread-safe: one job at a time.
 */
struct deadline;

enum {
	DEADLINE_ROOM_BYTES = 1 << 20,
	DEADLINE_MOST_HELPERS = 8, /* including those that were given up and have not ended yet */
};

/*
 * The rights of a keeper (the process that forks helpers) and its helpers: jobs work on what others wrote. All of it is
 * given up before the first job, for good.
 */
struct deadline_rights {
	uint64_t capabilities; /* that they keep, of those that the caller has (rights_keep()) */
	/* The calls that a job makes beside those that every helper makes. */
	struct filter_set calls;
};

/*
 * The cost that one owner of late jobs, such as a user, and all owners together may cause. A job that is late adds its
 * `wait_ns` to its owner's debt. Debts decrease with time, by one part in `forgiveness`.
 */
struct deadline_limits {
	int64_t owner_ns, all_ns; /* with more debt than this, jobs are refused at once */
	int64_t forgiveness;
};

enum deadline_end {
	DEADLINE_DONE,
	DEADLINE_LATE,    /* the job did not end in time, or its process was killed */
	DEADLINE_REFUSED, /* not started: the limits are reached, or all helpers are stuck */
};

/* `rights` is borrowed for as long as `deadline` lives. ERROR_MEMORY; ERROR_SYSTEM if no process can be created. */
COMMON_MUST_CHECK
bool deadline_create(const struct deadline_limits *limits, const struct deadline_rights *rights,
	struct deadline **deadline, struct error *err);

/* The rights that the processes which ran until now could not give up, as RIGHTS_LEFT_*; 0: none is left. */
unsigned int deadline_rights_left(const struct deadline *deadline);

/* Kills the helpers, without waiting for those that are stuck. NULL is allowed. */
void deadline_destroy(struct deadline *deadline);

/*
 * Memory that the next job shares with the caller, DEADLINE_ROOM_BYTES of it, which the caller fills with the job's
 * input before it runs the job, and where it finds the output. It is valid until the next call of a function of
 * `deadline`; the next job may have another one. NULL: all helpers are stuck.
 */
void *deadline_room(struct deadline *deadline);

/*
 * Runs job(room) in a helper process, which is late after `wait_ns`. The helper sees the caller's memory as it was in
 * deadline_create(). The job may return a descriptor, else -1; the caller then owns a duplicate, in `*fd`, which is -1
 * if there is none. A job is not late while its helper waits for a CPU. DEADLINE_DONE is the only end after which the
 * room has defined contents.
 */
COMMON_MUST_CHECK
enum deadline_end deadline_run(
	struct deadline *deadline, uint64_t owner, int64_t wait_ns, int (*job)(void *room), int *fd);
