/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/proc.h"

#include "common/array.h"
#include "common/cleanup.h"
#include "common/text_cursor.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PROC_MOST_IDS = 1 << 22 };

int proc_read_number(const char *path)
{
	CLEANUP(cleanup_fclose) FILE *file = fopen(path, "re");
	int value = -1;

	if (file && fscanf(file, "%d", &value) != 1)
		value = -1;
	return value;
}

uint64_t proc_read_value(const char *path, const char *begin, const char *word)
{
	CLEANUP(cleanup_fclose) FILE *file = fopen(path, "re");
	uint64_t value = 0;
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		const char *found = strncmp(line, begin, strlen(begin)) == 0 ? strstr(line, word) : NULL;
		struct text_cursor digits;

		if (!found)
			continue;
		found += strlen(word);
		digits = text_over(found, strlen(found));
		(void)text_take_number(&digits, UINT64_MAX, &value);
		break;
	}
	return value;
}

bool proc_read_ids(const char *path, struct buffer *ids, struct error *err)
{
	CLEANUP(cleanup_fclose) FILE *file = fopen(path, "re");
	int32_t id;

	while (file && fscanf(file, "%d", &id) == 1)
		if (id > 0)
			buffer_append(ids, &id, sizeof(id));
	return buffer_ok(ids, err);
}

int64_t proc_clock_offset_ns(void)
{
	CLEANUP(cleanup_fclose) FILE *file = fopen("/proc/self/timens_offsets", "re");
	long long seconds, nanoseconds;

	if (!file || fscanf(file, "monotonic %lld %lld", &seconds, &nanoseconds) != 2)
		return 0;
	return (int64_t)seconds * 1000000000 + (int64_t)nanoseconds;
}

bool proc_is_initial_namespace(bool if_unknown)
{
	enum { PROC_PID_INIT_INO = 0xeffffffc }; /* linux/proc_ns.h */
	struct stat status;

	return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino == PROC_PID_INIT_INO : if_unknown;
}

bool proc_is_of_our_namespace(void)
{
	char target[16];
	ssize_t size = readlink("/proc/self", target, sizeof(target) - 1);

	target[size > 0 ? size : 0] = '\0';
	return atoi(target) == (int)getpid();
}

struct proc_memory proc_own_memory(void)
{
	CLEANUP(cleanup_fclose) FILE *file = fopen("/proc/self/statm", "re");
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	unsigned long mapped, data;

	if (!file || fscanf(file, "%lu %*u %*u %*u %*u %lu", &mapped, &data) != 2)
		return (struct proc_memory){ 0 };
	return (struct proc_memory){ .mapped = mapped * page_bytes, .data = data * page_bytes };
}

/* ---- A process, or a thread ---- */

static bool proc_read_path(const char *path, char *text, size_t size)
{
	CLEANUP(cleanup_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, size - 1);

	text[got > 0 ? got : 0] = '\0';
	return got > 0;
}

bool proc_read_text(int32_t pid, int32_t tid, const char *name, char *text, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
	return proc_read_path(path, text, size);
}

/* Takes a number and the blank before it, which the kernel writes with a sign where it is negative. */
static bool proc_take_field(struct text_cursor *text, uint64_t *field)
{
	bool is_negative;

	if (!text_take_byte(text, ' '))
		return false;
	is_negative = text_take_byte(text, '-');
	if (!text_take_number(text, UINT64_MAX, field))
		return false;
	*field = is_negative ? -*field : *field;
	return true;
}

bool proc_parse_stat(const char *text, size_t size, struct proc_stat *stat)
{
	/* Numbers of the fields, from 1, as proc_pid_stat(5) counts them. */
	enum {
		PARENT = 4,
		USER = 14,
		SYSTEM,
		CHILDREN_USER,
		CHILDREN_SYSTEM,
		THREADS = 20,
		BEGAN = 22,
		ENVIRONMENT = 50,
		COUNT = 53
	};
	const int64_t tick_ns = 1000000000 / sysconf(_SC_CLK_TCK);
	/* The name is in parentheses, and the last one is its end. */
	const char *name_end = memrchr(text, ')', size);
	struct text_cursor rest = { name_end ? name_end + 1 : text, text + size };
	uint64_t fields[COUNT] = { 0 };
	int count = PARENT;
	char state;

	if (!name_end || !text_take_byte(&rest, ' ') || rest.at == rest.end)
		return false;
	state = *rest.at++;
	while (count < COUNT && proc_take_field(&rest, &fields[count]))
		count++;
	if (count <= BEGAN || !(text_is_at(rest, '\n') || text_is_at(rest, ' ')))
		return false;
	*stat = (struct proc_stat){ .state = state,
		.parent = (int32_t)fields[PARENT],
		.threads = (int32_t)fields[THREADS],
		.cpu_ns = (int64_t)(fields[USER] + fields[SYSTEM]) * tick_ns,
		.children_cpu_ns = (int64_t)(fields[CHILDREN_USER] + fields[CHILDREN_SYSTEM]) * tick_ns,
		.began_boot_ns = (int64_t)fields[BEGAN] * tick_ns,
		.environment_start = fields[ENVIRONMENT],
		.environment_end = fields[ENVIRONMENT + 1] };
	return true;
}

static bool proc_read_stat_file(const char *path, struct proc_stat *stat)
{
	char text[2048];

	return proc_read_path(path, text, sizeof(text)) && proc_parse_stat(text, strlen(text), stat);
}

bool proc_read_stat(int32_t pid, struct proc_stat *stat)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	return proc_read_stat_file(path, stat);
}

static bool proc_read_thread_stat(int32_t pid, int32_t tid, struct proc_stat *stat)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	return proc_read_stat_file(path, stat);
}

int64_t proc_cpu_ns(int32_t pid)
{
	struct proc_stat stat;

	return proc_read_stat(pid, &stat) ? stat.cpu_ns : -1;
}

int64_t proc_cpu_with_children_ns(int32_t pid)
{
	struct proc_stat stat;

	return proc_read_stat(pid, &stat) ? stat.cpu_ns + stat.children_cpu_ns : -1;
}

int64_t proc_thread_cpu_ns(int32_t tid)
{
	struct proc_stat stat;

	return proc_read_thread_stat(tid, tid, &stat) ? stat.cpu_ns : -1;
}

char proc_thread_state(int32_t pid, int32_t tid)
{
	struct proc_stat stat;

	if (!proc_read_thread_stat(pid, tid, &stat))
		return '\0';
	return stat.state;
}

int64_t proc_start_unix_s(int32_t pid)
{
	struct timespec now, up;
	struct proc_stat stat;

	if (!proc_read_stat(pid, &stat))
		return 0;
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	return now.tv_sec - up.tv_sec + stat.began_boot_ns / 1000000000;
}

bool proc_stat_is_alive(const struct proc_stat *stat)
{
	return stat->state != 'X' && (stat->state != 'Z' || stat->threads > 1);
}

bool proc_is_alive(int32_t pid)
{
	struct proc_stat stat;

	return proc_read_stat(pid, &stat) && proc_stat_is_alive(&stat);
}

bool proc_is_stopped(int32_t tid)
{
	struct proc_stat stat;

	return proc_read_stat(tid, &stat) && (stat.state == 'T' || stat.state == 't');
}

void proc_read_comm(int32_t pid, int32_t tid, char name[PROC_COMM_BYTES])
{
	size_t size;

	(void)proc_read_text(pid, tid, "comm", name, PROC_COMM_BYTES);
	size = strlen(name);
	/* The text may contain line ends of its own, so only the last one is removed. */
	if (size > 0 && name[size - 1] == '\n')
		name[size - 1] = '\0';
}

/* A thread of the process that has not ended: an ended one has no memory to read. */
static int32_t proc_thread_with_memory(int32_t pid)
{
	CLEANUP(cleanup_free) int32_t *tids = NULL;
	struct proc_stat stat;
	struct error ignored;
	size_t count = 0;

	if (proc_read_stat(pid, &stat) && stat.state == 'Z' && stat.threads > 1 &&
		proc_read_tasks(pid, &tids, &count, &ignored))
		for (size_t i = 0; i < count; i++)
			if (tids[i] != pid && proc_is_alive(tids[i]))
				return tids[i];
	return pid;
}

int proc_open_maps(int32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", proc_thread_with_memory(pid));
	return open(path, O_RDONLY | O_CLOEXEC);
}

bool proc_read_status(int32_t pid, int32_t tid, const char *field, struct proc_status *status)
{
	CLEANUP(cleanup_fclose) FILE *file = NULL;
	char path[64], line[256];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		struct text_cursor text = text_over(line, strlen(line));

		if (!text_take_literal(&text, field) || !text_take_literal(&text, ":\t") ||
			!text_take_number(&text, UINT64_MAX, &status->first))
			continue;
		status->last = status->first;
		while (text_skip_blanks(&text), text_take_number(&text, UINT64_MAX, &status->last))
			;
		return true;
	}
	return false;
}

int32_t proc_inner_tid(int32_t pid, int32_t tid)
{
	struct proc_status ids; /* one for each namespace, the innermost last */

	return proc_read_status(pid, tid, "NSpid", &ids) ? (int32_t)ids.last : tid;
}

int32_t proc_leader_of(int32_t tid)
{
	struct proc_status group;

	return proc_read_status(tid, tid, "Tgid", &group) ? (int32_t)group.first : -1;
}

int32_t proc_parent_of(int32_t pid)
{
	struct proc_stat stat;

	return proc_read_stat(pid, &stat) ? stat.parent : 0;
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

bool proc_next_cgroup(FILE *file, char *line, size_t size, const char **controllers, const char **path)
{
	while (file && fgets(line, (int)size, file)) {
		char *first = strchr(line, ':'), *second = first ? strchr(first + 1, ':') : NULL;

		if (!second)
			continue;
		*second = '\0';
		second[1 + strcspn(second + 1, "\n")] = '\0';
		*controllers = first + 1;
		*path = second + 1;
		return true;
	}
	return false;
}

/* ---- Several ---- */

/* Reads the numbers that a directory has as names, and closes it. */
static bool proc_list(DIR *directory, int32_t **ids, size_t *count, struct error *err)
{
	size_t capacity = 0, found = 0;
	int32_t *list = NULL;
	const struct dirent *entry;
	bool ok = true;

	while (ok && (entry = readdir(directory))) {
		int32_t id = atoi(entry->d_name);

		if (id <= 0)
			continue;
		ok = ARRAY_RESERVE(&list, &capacity, found + 1, PROC_MOST_IDS, err);
		if (ok)
			list[found++] = id;
	}
	closedir(directory);
	if (!ok) {
		free(list);
		return false;
	}
	*ids = list;
	*count = found;
	return true;
}

bool proc_read_processes(int32_t **pids, size_t *count, struct error *err)
{
	DIR *directory = opendir("/proc");

	return directory ? proc_list(directory, pids, count, err) : error_set_errno(err, errno, "cannot read /proc");
}

bool proc_read_tasks(int32_t pid, int32_t **tids, size_t *count, struct error *err)
{
	char path[64];
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	directory = opendir(path);
	return directory ? proc_list(directory, tids, count, err)
			 : error_set_errno(err, errno == ENOENT ? ESRCH : errno, "pid %d", pid);
}

bool proc_read_children(int32_t pid, int32_t tid, struct buffer *pids, struct error *err)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
	return proc_read_ids(path, pids, err);
}

bool proc_read_parents(struct proc_parent **processes, size_t *count, struct error *err)
{
	CLEANUP(cleanup_free) int32_t *pids = NULL;
	size_t found = 0;
	struct proc_parent *list;

	if (!proc_read_processes(&pids, &found, err))
		return false;
	if (!ARRAY_ZEROED(&list, found + 1, err))
		return false;
	for (size_t i = 0; i < found; i++)
		list[i] = (struct proc_parent){ pids[i], proc_parent_of(pids[i]) };
	*processes = list;
	*count = found;
	return true;
}
