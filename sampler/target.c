/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/target.h"

#include "sampler/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROUNDS = 64 };

/*
 * Threads that are born while we open are their creator's when its event is open already; of the others a further look tells.
 * Ends when a look finds nothing new.
 */
static bool open_process(int32_t pid, struct event_set *events, struct error *err)
{
	struct hash_map seen;
	bool ok = true, found = true;

	hash_map_init(&seen, sizeof(int32_t));
	for (int round = 0; ok && found && round < MAX_ROUNDS; round++) {
		CLEANUP(cleanup_free) int32_t *tids = NULL;
		size_t count = 0;

		found = false;
		ok = proc_read_tasks(pid, &tids, &count, err);
		for (size_t i = 0; ok && i < count; i++) {
			uint32_t *value;
			bool added;

			ok = hash_map_add(&seen, &tids[i], 0, &value, &added, err);
			if (!ok || !added)
				continue;
			found = true;
			ok = event_set_open(events, tids[i], 0, err);
			/* A thread that has ended in between is no failure, unless it is the process. */
			if (!ok && err->code == ERROR_NOT_FOUND && tids[i] != pid)
				ok = true;
		}
	}
	hash_map_deinit(&seen);
	if (!ok && err->code == ERROR_NOT_FOUND)
		return error_set(
			err, ERROR_NOT_FOUND, "cannot sample pid %d: no such process; look it up with 'pgrep -a NAME'", pid);
	return ok || error_prefix(err, "cannot sample pid %d", pid);
}

static bool open_thread(int32_t tid, struct event_set *events, struct error *err)
{
	if (event_set_open(events, tid, 0, err))
		return true;
	if (err->code == ERROR_NOT_FOUND)
		return error_set(
			err, ERROR_NOT_FOUND, "cannot sample thread %d: no such thread; list them with 'ls /proc/PID/task'", tid);
	return error_prefix(err, "cannot sample thread %d", tid);
}

static bool open_cgroup(const char *path, struct event_set *events, struct error *err)
{
	CLEANUP(cleanup_close) int fd = -1;
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", strncmp(path, "/sys/fs/cgroup", 14) == 0 ? "" : "/sys/fs/cgroup/", path);
	fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, errno, "cannot sample cgroup %s", full);
	return event_set_open(events, fd, PERF_FLAG_PID_CGROUP, err) || error_prefix(err, "cannot sample cgroup %s", full);
}

bool target_open(const struct sampler_target *target, pid_t child, struct event_set *events, struct error *err)
{
	switch (target->kind) {
	case SAMPLER_TARGET_PIDS:
		for (size_t i = 0; i < target->pid_count; i++)
			if (!open_process(target->pids[i], events, err))
				return false;
		return true;
	case SAMPLER_TARGET_TID:
		return open_thread(target->pids[0], events, err);
	case SAMPLER_TARGET_COMMAND:
		return event_set_open(events, child, 0, err) || error_prefix(err, "cannot sample %s", target->command[0]);
	case SAMPLER_TARGET_SYSTEM:
		return event_set_open(events, -1, 0, err) || error_prefix(err, "cannot sample the whole system");
	case SAMPLER_TARGET_CGROUP:
		return open_cgroup(target->cgroup_path, events, err);
	}
	return false;
}

int64_t target_cpu_ns(const struct sampler_target *target)
{
	int64_t sum = 0;

	for (size_t i = 0; i < target->pid_count; i++) {
		int64_t ns = proc_cpu_ns(target->pids[i]);

		sum += ns > 0 ? ns : 0;
	}
	return sum;
}
