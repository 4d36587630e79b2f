/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/live/event.h"
#include "sampler/live/filter.h"
#include "sampler/process/reader.h"
#include "sampler/sampling.h"

/*
 * Refuses targets that cannot be sampled. Missing processes are removed from `pids`, which are the target's, with a
 * line of notice each; ERROR_NOT_FOUND if none of them exists.
 */
COMMON_MUST_CHECK
bool target_check(struct sampler_target *target, pid_t *pids, struct process_reader *reader, struct buffer *notices,
	struct error *err);

/*
 * Events of threads make each switch of theirs dearer: the kernel sets their clocks anew, 5 us a switch. Those of CPUs
 * interrupt what else runs there.
 */
enum target_preference { TARGET_PREFERS_THREADS, TARGET_PREFERS_CPUS };

/*
 * Opens the events of a target: every thread that it has, and by inheritance every one it will have. `child` for a
 * command. Where that would be too many descriptors, or a tax on every thread that is created, one event per CPU does,
 * if it is permitted: `filter` is then active and knows the target's processes. That is done as well where it is
 * preferred and the kernel itself filters. Processes that end meanwhile are left out, unless all of them do.
 */
COMMON_MUST_CHECK
bool target_open(const struct sampler_target *target, pid_t child, enum target_preference preference,
	struct event_set *events, struct filter *filter, struct error *err);

/* Returns whether target_open() prefers events of CPUs to events of these processes' threads. */
bool target_is_large(const struct sampler_target *target);

/*
 * Opens one event per CPU for processes, however few they are. `*opened` is false if that is not permitted. Descendants
 * of the processes are found by their parents; call filter_add() for other processes that are known to belong to the
 * target.
 */
COMMON_MUST_CHECK
bool target_open_wide(const struct sampler_target *target, struct event_set *events, struct filter *filter,
	bool *opened, struct error *err);

/*
 * The directory of a control group: a path in the file system, or in the hierarchy of perf's controller, which may be
 * the only one or one of several. The first one from `root` on that is there, as `directory` of PATH_MAX bytes; its
 * number + 1, or 0 if there is none.
 */
size_t target_find_cgroup(const char *path, size_t root, char *directory);

/* CPU time in nanoseconds that the target's processes have used so far. */
int64_t target_cpu_ns(const struct sampler_target *target);
