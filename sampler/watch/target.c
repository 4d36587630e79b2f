/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the main process of a target, and notices when another one has taken its place. */
#include "sampler/watch/watch.h"

#include "sampler/process/account.h"
#include "sampler/process/process.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* The bounds of one search in a machine, or in a tree of control groups. */
enum { MOST_PROCESSES = 1 << 20, MOST_GROUPS = 1 << 14, MOST_DEPTH = 12, LINE_BYTES = 4200 };

static const int64_t first_rest_ns = 250000000;

/* A program's file, as it was when it was seen last. */
struct program_file {
	char path[WATCH_PATH_BYTES]; /* without links */
	dev_t device;
	ino_t inode;
	bool is_there; /* now */
};

struct watch_target {
	struct watch_wish wish;
	char *name;               /* owned: wish.name */
	struct program_file file; /* that a name with a '/' means */
	uint32_t user;            /* with `has_user`: whose processes of the program are the target's */
	bool has_user, has_namesakes;
	bool is_there;
	bool has_program;                     /* the program of a group is known: process.program */
	struct watch_process process;         /* the main process, or the last one that was there */
	char directory[2 * WATCH_PATH_BYTES]; /* of the control group */
	int64_t seen_ns;                      /* CLOCK_BOOTTIME: when the main process was seen last; 0: never */
	int64_t next_search_ns, rest_ns;      /* CLOCK_BOOTTIME; how long nothing is looked for */
};

/* ---- Processes ---- */

/* Reads what /proc/PID/stat tells; false: the process is gone, or has ended and was not waited for. */
static bool watch_target_read_stat(pid_t pid, struct proc_stat *stat)
{
	return proc_read_stat(pid, stat) && proc_stat_is_alive(stat);
}

static void watch_target_read_link(pid_t pid, char link[static WATCH_PATH_BYTES])
{
	char path[64];
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	size = readlink(path, link, WATCH_PATH_BYTES - 1);
	link[size > 0 ? size : 0] = '\0';
}

/*
 * Reads the control group: the path of version 2's line, or of perf's controller of version 1, whichever says more. The
 * path of a process in another cgroup namespace begins with "/..".
 */
static void read_group(pid_t pid, char group[static WATCH_PATH_BYTES])
{
	CLEANUP(cleanup_fclose) FILE *file = NULL;
	const char *controllers, *found;
	char path[64], line[LINE_BYTES];

	group[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	file = fopen(path, "re");
	while (proc_next_cgroup(file, line, sizeof(line), &controllers, &found))
		if ((controllers[0] == '\0' || strcmp(controllers, "name=systemd") == 0) &&
			strlen(found) >= strlen(group) && strlen(found) < WATCH_PATH_BYTES)
			strcpy(group, found);
}

static bool watch_target_read_process(pid_t pid, struct watch_process *process)
{
	struct proc_stat stat;
	uint64_t account;

	if (!account_of(pid, &account) || !watch_target_read_stat(pid, &stat))
		return false;
	process->began_boot_ns = stat.began_boot_ns;
	process->pid = pid;
	process->user = account_user(account);
	watch_target_read_link(pid, process->link);
	memcpy(process->program, process->link, sizeof(process->program));
	process->program[elf_mapped_path_size(process->program)] = '\0';
	read_group(pid, process->group);
	return true;
}

/* ---- By program ---- */

static void look_at_file(struct watch_target *target)
{
	struct program_file *file = &target->file;
	CLEANUP(cleanup_free) char *path = NULL;
	struct stat info;

	file->is_there = stat(target->name, &info) == 0;
	path = file->is_there ? realpath(target->name, NULL) : NULL;
	if (!file->is_there || !path)
		return;
	snprintf(file->path, sizeof(file->path), "%s", path);
	file->device = info.st_dev;
	file->inode = info.st_ino;
}

/*
 * A process's own view names its file: what stands there elsewhere is another file. Once the file is gone from its
 * place, only the path is left; it means ours in our own tree, or where root has made another one on the same device,
 * as service managers do.
 */
static bool executes_file(const struct watch_target *target, pid_t pid)
{
	const struct program_file *file = &target->file;
	char path[64], link[WATCH_PATH_BYTES];
	struct statx info;
	dev_t device;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	/* A file system of a process's own (FUSE) is not asked: it may never answer. */
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_INO | STATX_NLINK, &info) != 0)
		return false;
	device = makedev(info.stx_dev_major, info.stx_dev_minor);
	if (file->is_there && device == file->device && info.stx_ino == file->inode)
		return true;
	if (info.stx_nlink > 0)
		return false;
	watch_target_read_link(pid, link);
	link[elf_mapped_path_size(link)] = '\0';
	return strcmp(link, file->path) == 0 && (in_root_tree_of(pid) == in_root_tree_of(getpid()) ||
							(device == file->device && account_has_our_users(pid)));
}

static bool watch_target_has_name(const struct watch_target *target, pid_t pid)
{
	char link[WATCH_PATH_BYTES];
	const char *base;

	watch_target_read_link(pid, link);
	link[elf_mapped_path_size(link)] = '\0';
	base = strrchr(link, '/');
	return base && strcmp(base + 1, target->name) == 0;
}

/* Returns whether a process executes the program; of another user's only that it is there is noted. */
static bool executes_program(struct watch_target *target, pid_t pid)
{
	bool is_path = strchr(target->name, '/') != NULL;
	uint64_t account;

	if (!(is_path ? executes_file(target, pid) : watch_target_has_name(target, pid)) || !account_of(pid, &account))
		return false;
	if (!target->has_user || account_user(account) == target->user)
		return true;
	target->has_namesakes = true;
	return false;
}

/* The group above; a group that is the root is its own. */
static size_t parent_size(const char *group)
{
	const char *slash = strrchr(group, '/');

	return slash ? (size_t)(slash - group) : 0;
}

static bool are_siblings(const char *group, const char *other)
{
	size_t size = parent_size(group);

	return strcmp(group, other) == 0 || (parent_size(other) == size && strncmp(group, other, size) == 0);
}

/*
 * Returns whether a process takes the place of one that has ended: it began afterwards, and has the same program and
 * user, in the same group or one beside it. Times of processes are rounded down to ticks.
 */
static bool is_successor(const struct watch_target *target, pid_t pid)
{
	static const int64_t tick_ns = 20000000;
	const struct watch_process *former = &target->process;
	struct watch_process process;
	char link[WATCH_PATH_BYTES];

	if (target->seen_ns == 0)
		return pid == former->pid;
	watch_target_read_link(pid, link);
	link[elf_mapped_path_size(link)] = '\0';
	return strcmp(link, former->program) == 0 && watch_target_read_process(pid, &process) &&
	       strcmp(process.program, former->program) == 0 && process.user == former->user &&
	       process.began_boot_ns + tick_ns >= target->seen_ns && are_siblings(process.group, former->group);
}

static bool watch_target_is_wanted(struct watch_target *target, pid_t pid)
{
	return target->wish.kind == WATCH_EXE ? executes_program(target, pid) : is_successor(target, pid);
}

/* The oldest process of the machine that is wanted; 0: none. */
static pid_t find_oldest(struct watch_target *target)
{
	CLEANUP(cleanup_free) int32_t *pids = NULL;
	int64_t oldest_ns = INT64_MAX;
	struct error ignored;
	size_t count = 0;
	pid_t oldest = 0;

	(void)!proc_read_processes(&pids, &count, &ignored);
	for (size_t i = 0; i < count; i++) {
		struct proc_stat stat;

		if (pids[i] == getpid() || !watch_target_is_wanted(target, pids[i]) ||
			!watch_target_read_stat(pids[i], &stat) || stat.began_boot_ns >= oldest_ns)
			continue;
		oldest_ns = stat.began_boot_ns;
		oldest = pids[i];
	}
	return oldest;
}

static pid_t search_machine(struct watch_target *target)
{
	pid_t found;
	uint64_t account;

	look_at_file(target);
	target->has_namesakes = false;
	found = find_oldest(target);
	if (target->wish.kind != WATCH_EXE || target->has_user || found == 0 || !account_of(found, &account))
		return found;
	/* Again, as those that came before it may be of others. */
	target->user = account_user(account);
	target->has_user = true;
	return find_oldest(target);
}

/* ---- By control group ---- */

/* The places of the control groups that perf's events can be of, as the recorder looks for them. */
static const char *const group_roots[] = { "", "/sys/fs/cgroup/", "/sys/fs/cgroup/perf_event/",
	"/sys/fs/cgroup/unified/" };
enum { ROOT_COUNT = sizeof(group_roots) / sizeof(group_roots[0]) };

static bool is_group(const char *directory)
{
	char path[2 * WATCH_PATH_BYTES + 16];

	snprintf(path, sizeof(path), "%s/cgroup.procs", directory);
	return directory[0] == '/' && access(path, F_OK) == 0;
}

static bool watch_target_find_group(struct watch_target *target)
{
	for (size_t i = 0; i < ROOT_COUNT; i++) {
		snprintf(target->directory, sizeof(target->directory), "%s%s", group_roots[i], target->name);
		if (is_group(target->directory))
			return true;
	}
	return false;
}

/* Directories that are still to be looked into, the ones further up first. */
struct watch_target_groups {
	char **paths; /* owned, each of them */
	size_t count, capacity;
};

static void watch_target_groups_deinit(struct watch_target_groups *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		free(groups->paths[i]);
	free(groups->paths);
}

static void groups_add(struct watch_target_groups *groups, const char *directory, const char *name)
{
	struct error ignored;
	char *path;

	if (asprintf(&path, "%s%s%s", directory, name[0] ? "/" : "", name) < 0)
		return;
	if (strlen(path) < WATCH_PATH_BYTES &&
		ARRAY_RESERVE(&groups->paths, &groups->capacity, groups->count + 1, MOST_GROUPS, &ignored))
		groups->paths[groups->count++] = path;
	else
		free(path);
}

static size_t depth_of(const char *path)
{
	size_t depth = 0;

	for (; *path; path++)
		depth += *path == '/';
	return depth;
}

/* Adds the groups in a group. Those of other users are passed over where `is_trusted`: they name groups as they like.
 */
static void groups_add_children(struct watch_target_groups *groups, size_t at, bool is_trusted)
{
	const char *directory = groups->paths[at];
	DIR *list = depth_of(directory) > MOST_DEPTH ? NULL : opendir(directory);
	const struct dirent *entry;

	while (list && (entry = readdir(list)) != NULL) {
		struct stat info;

		if (entry->d_name[0] == '.' || entry->d_type != DT_DIR ||
			fstatat(dirfd(list), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (!is_trusted || info.st_uid == 0 || info.st_uid == geteuid())
			groups_add(groups, directory, entry->d_name);
	}
	if (list)
		closedir(list);
}

/* Finds the group of a systemd unit, wherever its slice is: the one of this name that is furthest up. */
static bool watch_target_find_unit(struct watch_target *target)
{
	static const char *const tops[] = { "/sys/fs/cgroup/unified", "/sys/fs/cgroup" };
	CLEANUP(watch_target_groups_deinit) struct watch_target_groups groups = { 0 };

	if (target->directory[0] && is_group(target->directory))
		return true;
	for (size_t i = 0; i < sizeof(tops) / sizeof(tops[0]) && groups.count == 0; i++)
		if (is_group(tops[i]))
			groups_add(&groups, tops[i], "");
	for (size_t i = 0; i < groups.count; i++) {
		const char *slash = strrchr(groups.paths[i], '/');

		if (strcmp(slash + 1, target->name) == 0) {
			snprintf(target->directory, sizeof(target->directory), "%s", groups.paths[i]);
			return true;
		}
		groups_add_children(&groups, i, true);
	}
	return false;
}

/* A program that processes of a group execute. */
struct program {
	char path[WATCH_PATH_BYTES];
	int64_t cpu_ns; /* of all of them */
	pid_t oldest;   /* of them */
	int64_t oldest_began_ns;
};

struct programs {
	struct program *items; /* owned */
	size_t count, capacity;
};

static void programs_deinit(struct programs *programs)
{
	free(programs->items);
}

static void take_member(struct programs *programs, pid_t pid)
{
	enum { MOST_PROGRAMS = 256 };
	char link[WATCH_PATH_BYTES];
	struct error ignored;
	struct proc_stat stat;
	size_t i = 0;

	if (!watch_target_read_stat(pid, &stat))
		return;
	watch_target_read_link(pid, link);
	link[elf_mapped_path_size(link)] = '\0';
	while (i < programs->count && strcmp(programs->items[i].path, link) != 0)
		i++;
	if (i == programs->count) {
		if (!ARRAY_RESERVE(&programs->items, &programs->capacity, i + 1, MOST_PROGRAMS, &ignored))
			return;
		programs->items[i] = (struct program){ .oldest_began_ns = INT64_MAX };
		memcpy(programs->items[i].path, link, sizeof(link));
		programs->count++;
	}
	programs->items[i].cpu_ns += stat.cpu_ns;
	if (stat.began_boot_ns < programs->items[i].oldest_began_ns) {
		programs->items[i].oldest_began_ns = stat.began_boot_ns;
		programs->items[i].oldest = pid;
	}
}

static void take_members(struct programs *programs, const char *directory)
{
	CLEANUP(buffer_deinit) struct buffer pids = { 0 };
	char path[2 * WATCH_PATH_BYTES + 16];
	struct error ignored;

	snprintf(path, sizeof(path), "%s/cgroup.procs", directory);
	buffer_init(&pids, MOST_PROCESSES * sizeof(int32_t));
	(void)!proc_read_ids(path, &pids, &ignored);
	for (size_t at = 0; at < pids.size; at += sizeof(int32_t))
		take_member(programs, *(const int32_t *)(const void *)(pids.data + at));
}

/* The oldest process of the group's program, in it and in the groups below it. */
static pid_t search_group(struct watch_target *target)
{
	CLEANUP(programs_deinit) struct programs programs = { 0 };
	CLEANUP(watch_target_groups_deinit) struct watch_target_groups groups = { 0 };
	const struct program *chosen = NULL;
	int64_t cpu_ns = 0;

	groups_add(&groups, target->directory, "");
	for (size_t i = 0; i < groups.count; i++) {
		take_members(&programs, groups.paths[i]);
		groups_add_children(&groups, i, false);
	}
	for (size_t i = 0; i < programs.count; i++) {
		const struct program *program = &programs.items[i];

		if (target->has_program && strcmp(program->path, target->process.program) == 0)
			return program->oldest;
		if (!chosen || program->cpu_ns > chosen->cpu_ns)
			chosen = program;
		cpu_ns += program->cpu_ns;
	}
	target->has_program = cpu_ns >= watch_cpu_ns;
	return chosen ? chosen->oldest : 0;
}

/* ---- Looking ---- */

static bool is_of_group(const struct watch_target *target)
{
	return target->wish.kind == WATCH_CGROUP || target->wish.kind == WATCH_UNIT;
}

static pid_t search(struct watch_target *target)
{
	switch (target->wish.kind) {
	case WATCH_PID:
	case WATCH_EXE:
		return search_machine(target);
	case WATCH_CGROUP:
		return watch_target_find_group(target) ? search_group(target) : 0;
	case WATCH_UNIT:
		return watch_target_find_unit(target) ? search_group(target) : 0;
	}
	return 0;
}

/* Returns whether the main process is still the same one, and executes the same program. */
static bool watch_target_is_same(const struct watch_process *process)
{
	char link[WATCH_PATH_BYTES];
	struct proc_stat stat;

	if (!watch_target_read_stat(process->pid, &stat) || stat.began_boot_ns != process->began_boot_ns)
		return false;
	watch_target_read_link(process->pid, link);
	/* The file of a program that runs on may be removed. */
	return strcmp(link, process->link) == 0 ||
	       (elf_mapped_is_deleted(link) && !elf_mapped_is_deleted(process->link));
}

/* A process that has executed another program is the main process still; any other is looked for. */
static pid_t who_is_there(struct watch_target *target)
{
	struct proc_stat stat;

	if (target->is_there && target->wish.kind != WATCH_EXE && watch_target_read_stat(target->process.pid, &stat) &&
		stat.began_boot_ns == target->process.began_boot_ns)
		return target->process.pid;
	return search(target);
}

/* Waits before the next look: a target that is not there, or not known, is looked for less and less often. */
static void rest(struct watch_target *target, int64_t boot_ns)
{
	target->next_search_ns = boot_ns + target->rest_ns;
	target->rest_ns = 2 * target->rest_ns > watch_rest_ns ? watch_rest_ns : 2 * target->rest_ns;
}

/* Has the group told by now which program is its own? */
static void learn_program(struct watch_target *target, int64_t boot_ns)
{
	struct watch_process found;
	pid_t pid;

	if (target->process.is_known || boot_ns < target->next_search_ns)
		return;
	pid = search(target);
	if (pid > 0 && watch_target_read_process(pid, &found)) {
		target->process = found;
		target->process.is_known = target->has_program;
	}
	rest(target, boot_ns);
}

/* A daemon may begin as root and give that up: it is the same process, and the next one ends as the same user. */
static void learn_user(struct watch_target *target)
{
	uint64_t account;

	if (target->wish.kind != WATCH_EXE || !account_of(target->process.pid, &account))
		return;
	target->user = target->process.user = account_user(account);
}

enum watch_sight watch_target_look(struct watch_target *target, int64_t boot_ns)
{
	bool was_there = target->is_there;
	struct watch_process found;
	pid_t pid;

	if (was_there && watch_target_is_same(&target->process)) {
		/* Removing the file that it executes changes how it is shown. */
		watch_target_read_link(target->process.pid, target->process.link);
		learn_user(target);
		target->seen_ns = boot_ns;
		learn_program(target, boot_ns);
		return WATCH_SAME;
	}
	if (!was_there && boot_ns < target->next_search_ns)
		return WATCH_SAME;
	pid = who_is_there(target);
	target->is_there = pid > 0 && watch_target_read_process(pid, &found);
	if (target->is_there) {
		target->process = found;
		target->process.is_known = !is_of_group(target) || target->has_program;
		target->seen_ns = boot_ns;
		target->rest_ns = first_rest_ns;
		return WATCH_THERE;
	}
	target->rest_ns = was_there ? first_rest_ns : target->rest_ns;
	rest(target, boot_ns);
	return was_there ? WATCH_GONE : WATCH_SAME;
}

const struct watch_process *watch_target_process(const struct watch_target *target)
{
	return target->is_there ? &target->process : NULL;
}

bool watch_target_has_namesakes(const struct watch_target *target)
{
	return target->has_namesakes;
}

const char *watch_target_group(const struct watch_target *target)
{
	return is_of_group(target) && target->is_there ? target->directory : NULL;
}

bool watch_target_create(const struct watch_wish *wish, struct watch_target **target, struct error *err)
{
	CLEANUP(watch_target_cleanup) struct watch_target *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->wish = *wish;
	made->rest_ns = first_rest_ns;
	made->name = strdup(wish->name ? wish->name : "");
	if (!made->name)
		return error_set_memory(err);
	snprintf(made->file.path, sizeof(made->file.path), "%s", made->name);
	if (wish->kind == WATCH_PID && !watch_target_read_process(wish->pid, &made->process))
		return error_set(err, ERROR_NOT_FOUND,
			"cannot watch pid %d: no such process; look it up with 'pgrep -a NAME', or name a program with --exe",
			(int)wish->pid);
	/* The first look has to tell of the process that was named. */
	if (wish->kind == WATCH_PID && !made->process.program[0])
		return error_set(err, ERROR_PERMISSION,
			"cannot watch pid %d: which program it executes may not be seen; run kelvin with sudo",
			(int)wish->pid);
	*target = TAKE(made);
	return true;
}

void watch_target_destroy(struct watch_target *target)
{
	if (!target)
		return;
	free(target->name);
	free(target);
}
