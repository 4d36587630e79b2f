/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/target.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Opening and closing take 30 us a descriptor. Inherited events make each new thread slower: it takes 7 us without
 * them, 9 with 2 of them, 29 with 32, 95 with 128.
 */
enum { MANY_DESCRIPTORS = 1000, MANY_CPUS = 32 };

enum { MAX_ROUNDS = 64, MAX_CHILDREN_BYTES = 1 << 22 };

/* The threads and processes of a target that were opened. */
struct opening {
	struct event_set *events;
	struct hash_map known; /* tids: opened by us, or born with their creator's events */
};

static bool add_known(struct opening *opening, int32_t tid, bool *added, struct error *err)
{
	uint32_t *value;

	return hash_map_add(&opening->known, &tid, 0, &value, added, err);
}

/*
 * Reads from the sideband which threads the opened threads have started: these have inherited their events. The records
 * stay unread for others.
 */
static bool note_born(struct opening *opening, struct error *err)
{
	struct record_layout layout = record_layout_of(&opening->events->sideband_attr);

	for (uint32_t cpu = 0; cpu < opening->events->cpu_count; cpu++) {
		struct ring ring = opening->events->sideband_rings[cpu];
		const uint8_t *bytes;
		bool broken = false;
		size_t size;

		if (!ring.pages)
			continue;
		ring_refresh(&ring);
		for (; ring_peek(&ring, &bytes, &size, &broken); ring_advance(&ring, size)) {
			struct record record;
			struct error ignored;
			bool added;

			if (record_parse(&layout, bytes, size, &record, &ignored) && record.kind == RECORD_FORK &&
				!add_known(opening, record.tid, &added, err))
				return false;
		}
	}
	return true;
}

/* Opens the threads that are not opened yet. */
static bool open_new_threads(struct opening *opening, int32_t pid, bool *found, struct error *err)
{
	CLEANUP(cleanup_free) int32_t *tids = NULL;
	size_t count = 0;

	*found = false;
	/* The order matters: a thread that is listed but not known existed before its creator's events were open. */
	if (!proc_read_tasks(pid, &tids, &count, err) || !note_born(opening, err))
		return false;
	for (size_t i = 0; i < count; i++) {
		bool added;

		if (!add_known(opening, tids[i], &added, err))
			return false;
		if (!added)
			continue;
		*found = true;
		/* A thread that has ended is no failure, even the first one: others of the process may go on. */
		if (!event_set_open(opening->events, tids[i], 0, err) && err->code != ERROR_NOT_FOUND)
			return false;
	}
	return true;
}

static bool read_all_children(int32_t pid, struct buffer *children, struct error *err)
{
	CLEANUP(cleanup_free) int32_t *tids = NULL;
	size_t count = 0;

	if (!proc_read_tasks(pid, &tids, &count, err))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!proc_read_children(pid, tids[i], children, err))
			return false;
	return true;
}

static bool open_tree(struct opening *opening, int32_t pid, struct error *err);

/* Opens the processes that this process started earlier. */
static bool open_children(struct opening *opening, int32_t pid, struct error *err)
{
	struct buffer children;
	struct error ignored;
	bool ok = true;

	buffer_init(&children, MAX_CHILDREN_BYTES);
	if (read_all_children(pid, &children, &ignored))
		ok = note_born(opening, err);
	for (size_t i = 0; ok && i < children.size / sizeof(int32_t); i++) {
		int32_t child;

		memcpy(&child, children.data + i * sizeof(child), sizeof(child));
		if (hash_map_get(&opening->known, &child) != HASH_MAP_NONE)
			continue;
		ok = open_tree(opening, child, err) || err->code == ERROR_NOT_FOUND;
	}
	buffer_deinit(&children);
	return ok;
}

static bool open_tree(struct opening *opening, int32_t pid, struct error *err)
{
	bool found = true;

	for (int round = 0; found && round < MAX_ROUNDS; round++)
		if (!open_new_threads(opening, pid, &found, err))
			return false;
	return open_children(opening, pid, err);
}

static bool fail_no_process(int32_t pid, struct error *err)
{
	if (kill(pid, 0) == 0 && !proc_is_alive(pid))
		return error_set(err, ERROR_NOT_FOUND,
			"cannot sample pid %d: it has ended, and its parent has not waited for it yet", pid);
	return error_set(
		err, ERROR_NOT_FOUND, "cannot sample pid %d: no such process; look it up with 'pgrep -a NAME'", pid);
}

static bool open_process(struct opening *opening, int32_t pid, struct error *err)
{
	if (open_tree(opening, pid, err))
		return proc_is_alive(pid) || fail_no_process(pid, err);
	if (err->code == ERROR_NOT_FOUND)
		return fail_no_process(pid, err);
	return error_prefix(err, "cannot sample pid %d", pid);
}

/*
 * Opens each process or thread that was named. What is known counts for all of them: a parent and its child may both be
 * named, and each thread is opened once. One that has just ended does not keep the others from being sampled.
 */
static bool live_target_open_each(const struct sampler_target *target, struct event_set *events, struct error *err)
{
	struct opening opening = { .events = events };
	size_t opened = 0;
	bool ok = true;

	hash_map_init(&opening.known, sizeof(int32_t));
	for (size_t i = 0; ok && i < target->pid_count; i++) {
		ok = open_process(&opening, target->pids[i], err);
		opened += ok;
		ok = ok || err->code == ERROR_NOT_FOUND;
	}
	hash_map_deinit(&opening.known);
	return ok && opened > 0;
}

bool target_is_large(const struct sampler_target *target)
{
	size_t threads = 0, cpus = event_cpu_count();

	for (size_t i = 0; i < target->pid_count; i++) {
		CLEANUP(cleanup_free) int32_t *tids = NULL;
		size_t count = 0;
		struct error ignored;

		if (proc_read_tasks(target->pids[i], &tids, &count, &ignored))
			threads += count;
	}
	return cpus > MANY_CPUS || 2 * cpus * threads > MANY_DESCRIPTORS;
}

/*
 * Adds the descendants of processes in the filter. One list of all processes is read, which is shorter than the lists
 * of each thread's children.
 */
static bool live_target_add_descendants(struct filter *filter, struct error *err)
{
	CLEANUP(cleanup_free) struct proc_parent *processes = NULL;
	size_t count = 0;
	bool found = true;

	if (!proc_read_parents(&processes, &count, err))
		return false;
	for (int round = 0; found && round < MAX_ROUNDS; round++) {
		found = false;
		for (size_t i = 0; i < count; i++) {
			if (filter_has(filter, processes[i].pid) || !filter_has(filter, processes[i].parent))
				continue;
			found = true;
			if (!filter_add(filter, processes[i].pid, err))
				return false;
		}
	}
	return true;
}

/*
 * The program for events of CPUs. Totals that are read with samples have gone on while other processes ran, so the
 * samples of those are needed as well, and are left out when they are read.
 */
static int wide_program(const struct event_set *events, struct filter *filter)
{
	if (events->group.count == 0)
		return filter_program(filter);
	filter_pass_all(filter);
	return filter->reads_frames ? filter_program(filter) : -1;
}

bool target_open_wide(const struct sampler_target *target, struct event_set *events, struct filter *filter,
	bool *opened, struct error *err)
{
	struct error why;
	size_t living = 0;

	*opened = true;
	filter_activate(filter);
	events->program_fd = wide_program(events, filter);
	if (!event_set_open_wide(events, &why)) {
		if (why.code != ERROR_PERMISSION) {
			*err = why;
			return false;
		}
		*opened = false;
		filter_deactivate(filter);
		events->program_fd = filter_program(filter);
		return true;
	}
	/* The events are open before this: new processes from here on are reported by the sideband. */
	for (size_t i = 0; i < target->pid_count; i++) {
		bool is_alive = proc_is_alive(target->pids[i]);

		living += is_alive;
		if (is_alive && !filter_add(filter, target->pids[i], err))
			return false;
	}
	if (living == 0)
		return fail_no_process(target->pids[0], err);
	return live_target_add_descendants(filter, err);
}

/* Events of CPUs for few processes: only where the kernel itself leaves out what other processes do. */
static bool open_few_wide(const struct sampler_target *target, struct event_set *events, struct filter *filter,
	bool *opened, struct error *err)
{
	*opened = false;
	filter_activate(filter);
	if (filter->in_kernel)
		return target_open_wide(target, events, filter, opened, err);
	filter_deactivate(filter);
	return true;
}

static bool fail_without_cpus(struct error *err)
{
	return error_set(err, ERROR_PERMISSION,
		"counters of threads that are still to start need Linux 6.13 or events of whole CPUs, which are not permitted; run "
		"'sudo sysctl kernel.perf_event_paranoid=0', run kelvin with sudo, or record one thread with -t");
}

static bool open_processes(const struct sampler_target *target, enum target_preference preference,
	struct event_set *events, struct filter *filter, struct error *err)
{
	bool opened = false;

	if (events->needs_cpus)
		return target_open_wide(target, events, filter, &opened, err) && (opened || fail_without_cpus(err));
	if (preference == TARGET_PREFERS_CPUS && !open_few_wide(target, events, filter, &opened, err))
		return false;
	if (!opened && target_is_large(target) && !target_open_wide(target, events, filter, &opened, err))
		return false;
	return opened || live_target_open_each(target, events, err);
}

static bool open_command(const struct sampler_target *target, pid_t child, enum target_preference preference,
	struct event_set *events, struct filter *filter, struct error *err)
{
	const struct sampler_target process = { .kind = SAMPLER_TARGET_PIDS, .pids = &child, .pid_count = 1 };
	bool opened = false;

	if (events->needs_cpus)
		return target_open_wide(&process, events, filter, &opened, err) && (opened || fail_without_cpus(err));
	if (preference == TARGET_PREFERS_CPUS && !open_few_wide(&process, events, filter, &opened, err))
		return false;
	return opened || event_set_open(events, child, 0, err) ||
	       error_prefix(err, "cannot sample %s", target->command[0]);
}

static bool open_thread(int32_t tid, struct event_set *events, struct error *err)
{
	if (event_set_open(events, tid, 0, err))
		return true;
	if (err->code == ERROR_NOT_FOUND)
		return error_set(err, ERROR_NOT_FOUND,
			"cannot sample thread %d: no such thread; list them with 'ls /proc/PID/task'", tid);
	return error_prefix(err, "cannot sample thread %d", tid);
}

size_t target_find_cgroup(const char *path, size_t root, char *directory)
{
	static const char *const roots[] = { "", "/sys/fs/cgroup/", "/sys/fs/cgroup/perf_event/",
		"/sys/fs/cgroup/unified/" };
	struct stat status;

	for (size_t i = root; i < sizeof(roots) / sizeof(roots[0]); i++) {
		snprintf(directory, PATH_MAX, "%s%s", roots[i], path);
		if (directory[0] == '/' && stat(directory, &status) == 0 && S_ISDIR(status.st_mode))
			return i + 1;
	}
	return 0;
}

static bool open_cgroup(const char *path, struct event_set *events, struct error *err)
{
	char directory[PATH_MAX];
	struct error why;

	error_set(&why, ERROR_NOT_FOUND, "no such directory below /sys/fs/cgroup");
	for (size_t next = target_find_cgroup(path, 0, directory); next > 0;
		next = target_find_cgroup(path, next, directory)) {
		CLEANUP(cleanup_close) int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd < 0)
			continue;
		if (event_set_open(events, fd, PERF_FLAG_PID_CGROUP, &why))
			return true;
		if (why.code != ERROR_NOT_FOUND)
			break;
	}
	*err = why;
	return error_prefix(err, "cannot sample cgroup %s", path);
}

static bool refuse_32bit(const struct sampler_target *target, struct process_reader *reader, struct error *err)
{
	for (size_t i = 0; i < target->pid_count; i++)
		if (process_reader_is_32bit(reader, target->pids[i]))
			return error_set(err, ERROR_UNSUPPORTED,
				"cannot sample pid %d: it is a 32-bit process, which is not supported; record a 64-bit build of it",
				target->pids[i]);
	return true;
}

/*
 * Removes processes that have ended from the list: it is made a moment before it is used, so their absence is no error.
 */
static bool leave_out_gone(struct sampler_target *target, pid_t *pids, struct buffer *notices, struct error *err)
{
	size_t kept = 0, named = target->pid_count;

	for (size_t i = 0; i < named; i++) {
		if (proc_is_alive(pids[i]))
			pids[kept++] = pids[i];
		else if (named > 1)
			buffer_printf(notices, "pid %d is not there and is left out\n", pids[i]);
	}
	if (kept > 0 || named == 0)
		target->pid_count = kept;
	else if (named == 1)
		return fail_no_process(pids[0], err);
	else
		return error_set(err, ERROR_NOT_FOUND,
			"cannot sample any of %zu processes: none of them is there; look them up with 'pgrep -a NAME'",
			named);
	return true;
}

bool target_check(struct sampler_target *target, pid_t *pids, struct process_reader *reader, struct buffer *notices,
	struct error *err)
{
	return (target->kind != SAMPLER_TARGET_PIDS || leave_out_gone(target, pids, notices, err)) &&
	       refuse_32bit(target, reader, err);
}

bool target_open(const struct sampler_target *target, pid_t child, enum target_preference preference,
	struct event_set *events, struct filter *filter, struct error *err)
{
	events->program_fd = filter_program(filter);
	switch (target->kind) {
	case SAMPLER_TARGET_PIDS:
		return open_processes(target, preference, events, filter, err);
	case SAMPLER_TARGET_TID:
		return open_thread(target->pids[0], events, err);
	case SAMPLER_TARGET_COMMAND:
		return open_command(target, child, preference, events, filter, err);
	case SAMPLER_TARGET_SYSTEM:
		return event_set_open_wide(events, err) || error_prefix(err, "cannot sample the whole system");
	case SAMPLER_TARGET_CGROUP:
		return open_cgroup(target->cgroup_path, events, err);
	}
	return false;
}

int64_t target_cpu_ns(const struct sampler_target *target)
{
	int64_t sum = 0;

	for (size_t i = 0; i < target->pid_count; i++) {
		bool is_thread = target->kind == SAMPLER_TARGET_TID;
		int64_t ns = is_thread ? proc_thread_cpu_ns(target->pids[i]) : proc_cpu_ns(target->pids[i]);

		sum += ns > 0 ? ns : 0;
	}
	return sum;
}
