/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/members.h"

#include "sampler/live/forks.h"
#include "sampler/live/target.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>

enum { MAX_ROUNDS = 64, MAX_DEPTH = 32, MAX_PROCS_BYTES = 1 << 22 };

static bool members_add_member(struct members *members, int32_t pid, bool *added, struct error *err)
{
	uint32_t *value;

	if (!hash_map_add(&members->known, &pid, 1, &value, added, err))
		return false;
	if (*added)
		ebpf_process_set_add(members->set, pid);
	return true;
}

/* Adds the children of members. `*found`: there were new ones. */
static bool add_children(struct members *members, bool *found, struct error *err)
{
	CLEANUP(cleanup_free) struct proc_parent *processes = NULL;
	size_t count = 0;
	bool added, again = true;

	*found = false;
	if (!proc_read_parents(&processes, &count, err))
		return false;
	for (int round = 0; again && round < MAX_ROUNDS; round++) {
		again = false;
		for (size_t i = 0; i < count; i++) {
			if (hash_map_get(&members->known, &processes[i].parent) == HASH_MAP_NONE)
				continue;
			if (!members_add_member(members, processes[i].pid, &added, err))
				return false;
			again = again || added;
		}
		*found = *found || again;
	}
	return true;
}

/* A process may fork while the list is read: it is read until nothing is new. */
static bool members_add_descendants(struct members *members, struct error *err)
{
	bool found = true;

	for (int round = 0; found && round < MAX_ROUNDS; round++)
		if (!add_children(members, &found, err))
			return false;
	return true;
}

static bool members_add_listed(struct members *members, const char *file, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer pids = { 0 };
	struct error ignored;
	bool ok = true, added;

	buffer_init(&pids, MAX_PROCS_BYTES);
	if (proc_read_ids(file, &pids, &ignored))
		for (size_t at = 0; ok && at < pids.size; at += sizeof(int32_t))
			ok = members_add_member(members, *(const int32_t *)(const void *)(pids.data + at), &added, err);
	return ok;
}

/* Adds the processes of a control group and of those below it. */
static bool members_add_group(struct members *members, const char *directory, int depth, struct error *err)
{
	char path[PATH_MAX];
	struct dirent *entry;
	bool ok;
	DIR *open;

	if (depth > MAX_DEPTH || (size_t)snprintf(path, sizeof(path), "%s/cgroup.procs", directory) >= sizeof(path))
		return true;
	ok = members_add_listed(members, path, err);
	open = ok ? opendir(directory) : NULL;
	if (!open)
		return ok;
	while (ok && (entry = readdir(open)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.' &&
			(size_t)snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name) < sizeof(path))
			ok = members_add_group(members, path, depth + 1, err);
	closedir(open);
	return ok;
}

static bool members_add_processes(
	struct members *members, const struct sampler_target *target, int32_t child, struct error *err)
{
	char directory[PATH_MAX];
	bool added;

	for (size_t i = 0; target->kind == SAMPLER_TARGET_PIDS && i < target->pid_count; i++)
		if (!members_add_member(members, target->pids[i], &added, err))
			return false;
	if (target->kind == SAMPLER_TARGET_COMMAND && !members_add_member(members, child, &added, err))
		return false;
	if (target->kind == SAMPLER_TARGET_CGROUP && target_find_cgroup(target->cgroup_path, 0, directory))
		return members_add_group(members, directory, 0, err);
	return members_add_descendants(members, err);
}

static bool members_count_threads(struct members *members, const struct sampler_target *target, struct error *err)
{
	struct proc_parent *processes = NULL;
	size_t count = 0;

	if (!proc_read_parents(&processes, &count, err))
		return false;
	for (size_t i = 0; i < count; i++) {
		int32_t *tids = NULL;
		size_t tid_count = 0;
		struct error ignored;

		if (target->kind != SAMPLER_TARGET_SYSTEM &&
			hash_map_get(&members->known, &processes[i].pid) == HASH_MAP_NONE)
			continue;
		if (proc_read_tasks(processes[i].pid, &tids, &tid_count, &ignored))
			members->threads += tid_count;
		free(tids);
	}
	free(processes);
	return true;
}

bool members_init(struct members *members, const struct sampler_target *target, int32_t child, struct error *err)
{
	*members = (struct members){ 0 };
	hash_map_init(&members->known, sizeof(int32_t));
	if (target->kind == SAMPLER_TARGET_TID)
		return true;
	if (target->kind != SAMPLER_TARGET_SYSTEM) {
		if (!ebpf_process_set_create(&members->set, err))
			return false;
		(void)forks_follow(members->set);
		if (!members_add_processes(members, target, child, err))
			return false;
	}
	return members_count_threads(members, target, err);
}

void members_deinit(struct members *members)
{
	ebpf_process_set_destroy(members->set);
	hash_map_deinit(&members->known);
	*members = (struct members){ 0 };
}

bool members_update(struct members *members, const struct sampler_target *target, struct error *err)
{
	return target->kind != SAMPLER_TARGET_CGROUP || members_add_processes(members, target, 0, err);
}
