/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/proc.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_TASKS = 1 << 22 };

int proc_read_number(const char *path)
{
	CLEANUP(cleanup_fclose) FILE *file = fopen(path, "re");
	int value = -1;

	if (file && fscanf(file, "%d", &value) != 1)
		value = -1;
	return value;
}

int64_t proc_clock_offset_ns(void)
{
	CLEANUP(cleanup_fclose) FILE *file = fopen("/proc/self/timens_offsets", "re");
	long long seconds, nanoseconds;

	if (!file || fscanf(file, "monotonic %lld %lld", &seconds, &nanoseconds) != 2)
		return 0;
	return (int64_t)seconds * 1000000000 + (int64_t)nanoseconds;
}

bool proc_is_of_our_namespace(void)
{
	char target[16];
	ssize_t size = readlink("/proc/self", target, sizeof(target) - 1);

	target[size > 0 ? size : 0] = '\0';
	return atoi(target) == (int)getpid();
}

void proc_read_comm(int32_t pid, int32_t tid, char name[PROC_COMM_BYTES])
{
	CLEANUP(cleanup_fclose) FILE *file = NULL;
	char path[64];
	size_t size;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	file = fopen(path, "re");
	size = file ? fread(name, 1, PROC_COMM_BYTES - 1, file) : 0;
	/* The text may contain line ends of its own, so only the last one is removed. */
	name[size && name[size - 1] == '\n' ? size - 1 : size] = '\0';
}

/*
 * Reads a stat file. Returns the text after comm; comm may contain anything, also line ends and parentheses, so it ends
 * with the last parenthesis (proc(5)).
 */
static const char *proc_read_stat(const char *path, char *text, size_t size)
{
	CLEANUP(cleanup_fclose) FILE *file = fopen(path, "re");
	size_t got = file ? fread(text, 1, size - 1, file) : 0;
	const char *end;

	text[got] = '\0';
	end = strrchr(text, ')');
	return end ? end + 1 : NULL;
}

/* The state as ps shows it, X if the thread is gone, and the number of the process's threads. */
static char proc_read_state(int32_t tid, int *threads)
{
	char text[1024], path[64], state;
	const char *fields;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	fields = proc_read_stat(path, text, sizeof(text));
	if (!fields || sscanf(fields, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d", &state,
			       threads) != 2)
		return 'X';
	return state;
}

/* Returns whether the process's first thread has ended while others run. */
static bool has_lost_its_first(int32_t pid)
{
	int threads;

	return proc_read_state(pid, &threads) == 'Z' && threads > 1;
}

bool proc_is_alive(int32_t pid)
{
	int threads;
	char state = proc_read_state(pid, &threads);

	return state != 'X' && (state != 'Z' || threads > 1);
}

bool proc_is_stopped(int32_t tid)
{
	int threads;
	char state = proc_read_state(tid, &threads);

	return state == 'T' || state == 't';
}

bool proc_read_tasks(int32_t pid, int32_t **tids, size_t *count, struct error *err)
{
	size_t capacity = 0, found = 0;
	int32_t *list = NULL;
	const struct dirent *entry;
	char path[64];
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	directory = opendir(path);
	if (!directory)
		return error_set_errno(err, errno == ENOENT ? ESRCH : errno, "pid %d", pid);
	while ((entry = readdir(directory))) {
		if (entry->d_name[0] == '.')
			continue;
		if (!ARRAY_RESERVE(&list, &capacity, found + 1, MAX_TASKS, err)) {
			closedir(directory);
			free(list);
			return false;
		}
		list[found++] = atoi(entry->d_name);
	}
	closedir(directory);
	*tids = list;
	*count = found;
	return true;
}

/* A thread of the process that has not ended: an ended one has no memory to read. */
static int32_t thread_with_memory(int32_t pid)
{
	CLEANUP(cleanup_free) int32_t *tids = NULL;
	struct error ignored;
	size_t count = 0;

	if (has_lost_its_first(pid) && proc_read_tasks(pid, &tids, &count, &ignored))
		for (size_t i = 0; i < count; i++)
			if (tids[i] != pid && proc_is_alive(tids[i]))
				return tids[i];
	return pid;
}

int proc_open_maps(int32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", thread_with_memory(pid));
	return open(path, O_RDONLY | O_CLOEXEC);
}

bool proc_parse_maps(char *text, int32_t pid,
	bool (*take)(void *context, const struct elf_maps_entry *entry, struct error *err), void *context,
	struct error *err)
{
	char *line = text, *rest;

	for (; line && *line; line = rest) {
		struct elf_maps_entry entry;
		struct error ignored;

		rest = strchr(line, '\n');
		if (rest)
			*rest++ = '\0';
		if (elf_maps_parse_line(line, pid, &entry, &ignored) && !take(context, &entry, err))
			return false;
	}
	return true;
}

static int64_t read_cpu_ns(const char *path, bool with_children)
{
	unsigned long long own[2], children[2];
	char text[1024];
	const char *fields = proc_read_stat(path, text, sizeof(text));

	if (!fields || sscanf(fields, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu", &own[0],
			       &own[1], &children[0], &children[1]) != 4)
		return -1;
	if (with_children)
		own[0] += children[0] + children[1];
	return (int64_t)((own[0] + own[1]) * (1000000000ull / (unsigned long long)sysconf(_SC_CLK_TCK)));
}

int64_t proc_cpu_ns(int32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	return read_cpu_ns(path, false);
}

int64_t proc_cpu_with_children_ns(int32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	return read_cpu_ns(path, true);
}

int64_t proc_thread_cpu_ns(int32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", tid, tid);
	return read_cpu_ns(path, false);
}

int64_t proc_start_unix_s(int32_t pid)
{
	unsigned long long ticks; /* since boot */
	char path[64], text[1024];
	const char *fields;
	struct timespec now, up;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fields = proc_read_stat(path, text, sizeof(text));
	if (!fields ||
		sscanf(fields, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
			&ticks) != 1)
		return 0;
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	return now.tv_sec - up.tv_sec + (int64_t)(ticks / (unsigned long long)sysconf(_SC_CLK_TCK));
}

bool proc_read_children(int32_t pid, int32_t tid, struct buffer *pids, struct error *err)
{
	CLEANUP(cleanup_fclose) FILE *file = NULL;
	char path[64];
	int32_t child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
	file = fopen(path, "re");
	while (file && fscanf(file, "%d", &child) == 1)
		buffer_append(pids, &child, sizeof(child));
	return buffer_ok(pids, err);
}

bool proc_is_32bit(int32_t pid)
{
	CLEANUP(cleanup_fclose) FILE *file = NULL;
	unsigned char identity[EI_NIDENT];
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	file = fopen(path, "re");
	return file && fread(identity, sizeof(identity), 1, file) == 1 && memcmp(identity, ELFMAG, SELFMAG) == 0 &&
	       identity[EI_CLASS] == ELFCLASS32;
}

int32_t proc_parent_of(int32_t pid)
{
	char path[64], text[1024];
	const char *fields;
	int parent = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fields = proc_read_stat(path, text, sizeof(text));
	return fields && sscanf(fields, " %*c %d", &parent) == 1 ? parent : 0;
}

bool proc_read_parents(struct proc_parent **processes, size_t *count, struct error *err)
{
	size_t capacity = 0, found = 0;
	struct proc_parent *list = NULL;
	const struct dirent *entry;
	DIR *directory = opendir("/proc");

	if (!directory)
		return error_set_errno(err, errno, "cannot read /proc");
	while ((entry = readdir(directory))) {
		int32_t pid = atoi(entry->d_name);

		if (pid <= 0)
			continue;
		if (!ARRAY_RESERVE(&list, &capacity, found + 1, MAX_TASKS, err)) {
			closedir(directory);
			free(list);
			return false;
		}
		list[found++] = (struct proc_parent){ pid, proc_parent_of(pid) };
	}
	closedir(directory);
	*processes = list;
	*count = found;
	return true;
}

bool proc_read_status(int32_t pid, int32_t tid, const char *field, struct proc_status *status)
{
	CLEANUP(cleanup_fclose) FILE *file = NULL;
	size_t size = strlen(field);
	char path[64], line[256];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, field, size) == 0 && line[size] == ':' && line[size + 1] == '\t') {
			*status = (struct proc_status){ strtoul(line + size + 1, NULL, 10),
				strtoul(strrchr(line, '\t') + 1, NULL, 10) };
			return true;
		}
	return false;
}

int32_t proc_leader_of(int32_t tid)
{
	struct proc_status group;

	return proc_read_status(tid, tid, "Tgid", &group) ? (int32_t)group.first : -1;
}

int32_t proc_inner_tid(int32_t pid, int32_t tid)
{
	struct proc_status ids; /* one for each namespace, the innermost last */

	return proc_read_status(pid, tid, "NSpid", &ids) ? (int32_t)ids.last : tid;
}
