/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/jit_map.h"

#include "sampler/process/proc.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

void jit_place_deinit(struct jit_place *place)
{
	free(place->path);
	*place = (struct jit_place){ 0 };
}

/* Whether the file is older than its process, and so belongs to an earlier process with the same pid. */
static bool is_outdated(const struct jit_place *place, const struct stat *info)
{
	enum { CLOCKS_DIFFER_S = 2 };

	return place->since_s != 0 && info->st_mtime + CLOCKS_DIFFER_S < place->since_s;
}

bool jit_map_open(const struct jit_place *place, struct file_opened *file, struct buffer *notices, struct error *err)
{
	CLEANUP(cleanup_close) int fd = -1;
	struct stat info;

	if (!place->path)
		return true;
	fd = open(place->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
		return true;
	if (is_outdated(place, &info)) {
		if (notices)
			buffer_printf(notices,
				"%s is older than the process of that pid, and names nothing: it is of an earlier one; 'touch' it if it is not\n",
				place->path);
		return true;
	}
	file->name = strdup(place->path);
	if (!file->name)
		return error_set_memory(err);
	file->fd = fd;
	fd = -1;
	return true;
}

bool jit_map_is_dump(const struct elf_mapping *mapped)
{
	const char *slash = strrchr(mapped->path, '/'), *name = slash ? slash + 1 : mapped->path;
	int pid, end = 0;

	return sscanf(name, "jit-%d.dump%n", &pid, &end) == 1 && end > 0 && name[end] == '\0';
}

/* The pid in the process's own namespace, which its perf map is named by. */
static int32_t innermost_pid(int32_t pid)
{
	char path[64], line[256];
	int32_t inner = pid;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		const char *last = strrchr(line, '\t');

		if (strncmp(line, "NSpid:", 6) == 0 && last)
			inner = atoi(last + 1);
	}
	if (file)
		fclose(file);
	return inner;
}

/* Whether the file's directory is another one for the process than for us, as in a container. */
static bool has_own_directory(int32_t pid, const char *path)
{
	const char *slash = strrchr(path, '/');
	int size = slash ? (int)(slash - path) : 0;
	char ours[PATH_MAX + 1], theirs[PATH_MAX + 32];
	struct stat here, there;

	snprintf(ours, sizeof(ours), "%.*s/", size, path);
	snprintf(theirs, sizeof(theirs), "/proc/%d/root%.*s/", pid, size, path);
	if (stat(theirs, &there) != 0)
		return false;
	return stat(ours, &here) != 0 || here.st_dev != there.st_dev || here.st_ino != there.st_ino;
}

/*
 * The place of a file that a process names. By our own name for it, which outlives the process, unless that means
 * another file: under the pid that a process has in its container, it may be any process's.
 */
static bool jit_map_place_of(int32_t pid, const char *name, struct jit_place *place, struct error *err)
{
	char root[32] = "", *path;

	if (has_own_directory(pid, name))
		snprintf(root, sizeof(root), "/proc/%d/root", pid);
	if (asprintf(&path, "%s%s", root, name) < 0)
		return error_set_memory(err);
	jit_place_deinit(place);
	place->path = path;
	return true;
}

static bool place_of_map(int32_t pid, struct jit_place *place, struct error *err)
{
	char name[32];

	snprintf(name, sizeof(name), "/tmp/perf-%d.map", innermost_pid(pid));
	if (!jit_map_place_of(pid, name, place, err))
		return false;
	place->since_s = proc_start_unix_s(pid);
	return true;
}

/* ---- Forked processes ---- */

/* Values that the kernel sets when a program is executed, and that a fork shares with its parent. */
struct program_seed {
	uint64_t address;
	uint8_t bytes[16];
};

/* Reads the auxiliary vector's AT_RANDOM (getauxval(3)) of a 64-bit process; false if it is not readable. */
static bool read_seed(int32_t pid, struct program_seed *seed)
{
	enum { MAX_ENTRIES = 64 };
	Elf64_auxv_t entries[MAX_ENTRIES];
	CLEANUP(cleanup_fclose) FILE *file = NULL;
	struct iovec here = { seed->bytes, sizeof(seed->bytes) }, there = { .iov_len = sizeof(seed->bytes) };
	char path[64];
	size_t count;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	file = fopen(path, "re");
	count = file ? fread(entries, sizeof(entries[0]), MAX_ENTRIES, file) : 0;
	for (size_t i = 0; i < count && entries[i].a_type != AT_NULL; i++)
		if (entries[i].a_type == AT_RANDOM)
			seed->address = entries[i].a_un.a_val;
	there.iov_base = (void *)(uintptr_t)seed->address;
	return seed->address != 0 && process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)sizeof(seed->bytes);
}

/*
 * Whether one of two processes was forked from the other, or both from a third, and none has executed another program
 * since: only then they have the same random bytes at the same place. The memory of one that executed the same program
 * anew is laid out anew.
 */
static bool are_of_one_program(int32_t a, int32_t b)
{
	struct program_seed of_a = { 0 }, of_b = { 0 };

	return read_seed(a, &of_a) && read_seed(b, &of_b) && of_a.address == of_b.address &&
	       memcmp(of_a.bytes, of_b.bytes, sizeof(of_a.bytes)) == 0;
}

/*
 * Finds the map of the nearest ancestor of the same program that has one: it names code that was made before the fork.
 */
static bool find_inherited(int32_t pid, struct jit_place *inherited, struct error *err)
{
	enum { MAX_ANCESTORS = 8 };
	int32_t ancestor = proc_parent_of(pid);

	for (int i = 0; i < MAX_ANCESTORS && ancestor > 0 && are_of_one_program(ancestor, pid); i++) {
		if (!place_of_map(ancestor, inherited, err))
			return false;
		if (access(inherited->path, R_OK) == 0)
			return true;
		ancestor = proc_parent_of(ancestor);
	}
	jit_place_deinit(inherited);
	return true;
}

bool jit_map_expect(const struct elf_mapping *mapped, struct process_image *image, struct error *err)
{
	if (jit_map_is_dump(mapped))
		return jit_map_place_of(mapped->pid, mapped->path, &image->jit_map, err);
	return place_of_map(mapped->pid, &image->jit_map, err) &&
	       find_inherited(mapped->pid, &image->inherited_map, err);
}

bool jit_map_expect_recorded(const struct elf_mapping *mapped, struct process_image *image, struct error *err)
{
	char *path;
	int size = jit_map_is_dump(mapped) ? asprintf(&path, "%s", mapped->path)
					   : asprintf(&path, "/tmp/perf-%d.map", mapped->pid);

	if (size < 0)
		return error_set_memory(err);
	jit_place_deinit(&image->jit_map);
	image->jit_map.path = path;
	return true;
}
