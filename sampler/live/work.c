/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/work.h"

#include "sampler/live/event.h"
#include "sampler/live/event_choice.h"
#include "sampler/live/target.h"
#include "sampler/live/work_event.h"
#include "sampler/process/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

enum { MOST_COUNTERS = 1 << 16, MAX_ROUNDS = 64 };

/* Where a counter counts, as perf_event_open() has it. */
struct place {
	int32_t pid; /* whose count it is; 0: nobody's */
	int thread, cpu;
	unsigned long flags;
	bool inherits;
};

struct opening {
	struct work *work;
	struct work_event event;
	struct hash_map processes;
};

/* ---- Counters ---- */

static bool fail_to_open(const char *event, int failure, struct error *err)
{
	if (failure == EACCES || failure == EPERM)
		return error_set(err, ERROR_PERMISSION,
			"--work '%.200s' may not be counted: run kelvin with sudo, or give it the capabilities that 'kelvin doctor' names",
			event);
	if (failure == EMFILE || failure == ENFILE)
		return error_set(err, ERROR_LIMIT,
			"--work '%.200s': the target has more threads than files may be open; 'ulimit -n' allows more",
			event);
	return error_set_errno(err, failure, "--work '%.200s' cannot be counted", event);
}

/* A thread that has ended, and a CPU that is offline, have nothing to count. */
static bool add_counters(struct opening *opening, struct place at, struct error *err)
{
	struct work *work = opening->work;

	for (size_t place = 0; place < opening->event.place_count; place++) {
		struct perf_event_attr attr = work_event_attr(&opening->event, place);
		int fd;

		attr.inherit = at.inherits;
		if (!ARRAY_RESERVE(
			    &work->counters, &work->counter_capacity, work->counter_count + 1, MOST_COUNTERS, err))
			return false;
		fd = event_open(&attr, at.thread, at.cpu, at.flags);
		if (fd < 0 && (errno == ESRCH || errno == ENODEV))
			return true;
		if (fd < 0)
			return fail_to_open(opening->event.name, errno, err);
		work->counters[work->counter_count++] = (struct work_counter){ fd, at.pid };
	}
	return true;
}

/* ---- Targets ---- */

static bool open_process(struct opening *opening, int32_t pid, struct error *err)
{
	CLEANUP(cleanup_free) int32_t *threads = NULL;
	size_t count = 0;
	struct error ignored;

	if (!proc_read_tasks(pid, &threads, &count, &ignored))
		return true;
	for (size_t i = 0; i < count; i++)
		if (!add_counters(opening,
			    (struct place){ .pid = pid, .thread = threads[i], .cpu = -1, .inherits = true }, err))
			return false;
	return true;
}

static bool add_process(struct opening *opening, int32_t pid, bool *added, struct error *err)
{
	uint32_t *value;

	return hash_map_add(&opening->processes, &pid, 1, &value, added, err) &&
	       (!*added || open_process(opening, pid, err));
}

/* What they start from here on inherits their counters. */
static bool add_descendants(struct opening *opening, struct error *err)
{
	CLEANUP(cleanup_free) struct proc_parent *processes = NULL;
	size_t count = 0;
	bool added, again = true;

	if (!proc_read_parents(&processes, &count, err))
		return false;
	for (int round = 0; again && round < MAX_ROUNDS; round++) {
		again = false;
		for (size_t i = 0; i < count; i++) {
			if (hash_map_get(&opening->processes, &processes[i].parent) == HASH_MAP_NONE)
				continue;
			if (!add_process(opening, processes[i].pid, &added, err))
				return false;
			again = again || added;
		}
	}
	return true;
}

static bool open_cpus(struct opening *opening, int group, unsigned long flags, struct error *err)
{
	for (uint32_t cpu = 0; cpu < event_cpu_count(); cpu++)
		if (!add_counters(opening, (struct place){ .thread = group, .cpu = (int)cpu, .flags = flags }, err))
			return false;
	return true;
}

static bool open_cgroup(struct opening *opening, const char *path, struct error *err)
{
	char directory[PATH_MAX];
	struct error why;

	error_set(&why, ERROR_NOT_FOUND, "no such directory below /sys/fs/cgroup");
	for (size_t next = target_find_cgroup(path, 0, directory); next > 0;
		next = target_find_cgroup(path, next, directory)) {
		CLEANUP(cleanup_close) int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd >= 0 && open_cpus(opening, fd, PERF_FLAG_PID_CGROUP, &why))
			return true;
	}
	*err = why;
	return error_prefix(err, "cgroup %s", path);
}

static bool open_target(struct opening *opening, const struct sampler_target *target, int32_t child, struct error *err)
{
	bool added;

	switch (target->kind) {
	case SAMPLER_TARGET_SYSTEM:
		return open_cpus(opening, -1, 0, err);
	case SAMPLER_TARGET_CGROUP:
		return open_cgroup(opening, target->cgroup_path, err);
	case SAMPLER_TARGET_TID:
		return add_counters(opening,
			(struct place){ .pid = proc_leader_of(target->pids[0]), .thread = target->pids[0], .cpu = -1 },
			err);
	case SAMPLER_TARGET_COMMAND:
		return add_process(opening, child, &added, err);
	case SAMPLER_TARGET_PIDS:
		break;
	}
	for (size_t i = 0; i < target->pid_count; i++)
		if (!add_process(opening, target->pids[i], &added, err))
			return false;
	return add_descendants(opening, err);
}

bool work_open(struct work *work, const struct sampler_options *options, int32_t child, struct error *err)
{
	CLEANUP(cleanup_free) struct opening *opening = calloc(1, sizeof(*opening));
	bool ok;

	*work = (struct work){ 0 };
	if (!opening)
		return error_set_memory(err);
	opening->work = work;
	hash_map_init(&opening->processes, sizeof(int32_t));
	ok = work_event_find(&opening->event, options->work_event, err) &&
	     open_target(opening, &options->target, child, err);
	hash_map_deinit(&opening->processes);
	if (!ok)
		work_close(work);
	return ok;
}

void work_close(struct work *work)
{
	for (size_t i = 0; i < work->counter_count; i++)
		close(work->counters[i].fd);
	free(work->counters);
	*work = (struct work){ 0 };
}

/* ---- While it runs ---- */

bool work_enable(struct work *work, bool enabled, struct error *err)
{
	for (size_t i = 0; i < work->counter_count; i++)
		if (ioctl(work->counters[i].fd, enabled ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0) != 0)
			return error_set_errno(err, errno, "--work: cannot turn a counter %s", enabled ? "on" : "off");
	return true;
}

/* The counters of a process follow each other. */
static bool read_process(const struct work *work, size_t *next, uint64_t *count, struct error *err)
{
	int32_t pid = work->counters[*next].pid;

	*count = 0;
	for (; *next < work->counter_count && work->counters[*next].pid == pid; ++*next) {
		uint64_t value;

		if (read(work->counters[*next].fd, &value, sizeof(value)) != sizeof(value))
			return error_set_errno(err, errno, "--work: cannot read a counter");
		*count += value;
	}
	return true;
}

bool work_look(struct work *work, struct tally *tally, int64_t time_ns, struct error *err)
{
	for (size_t next = 0; next < work->counter_count;) {
		struct tally_totals totals = { .pid = work->counters[next].pid };
		char name[PROC_COMM_BYTES] = "";
		const struct tally_process *known = tally_find(tally, totals.pid, totals.kind);

		if (totals.pid > 0)
			proc_read_comm(totals.pid, totals.pid, name);
		/* One that has ended keeps the name that it had. */
		snprintf(totals.name, sizeof(totals.name), "%s", name[0] || !known ? name : known->totals.name);
		if (!read_process(work, &next, &totals.count, err) || !tally_take(tally, &totals, time_ns, err))
			return false;
	}
	return true;
}
