/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/jit_map.h"

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

/* Skips a number, and the dash before it if there is one to skip; false, and nothing is skipped, if there is none. */
static bool skip_dump_number(const char **name, bool has_dash)
{
	size_t digits = has_dash && **name != '-' ? 0 : strspn(*name + has_dash, "0123456789");

	if (digits == 0)
		return false;
	*name += has_dash + digits;
	return true;
}

bool jit_map_is_dump(const struct elf_mapping *mapped)
{
	enum { RANDOM_BYTES = 7 }; /* `-Qnj7gU`, of a temporary file */
	static const char prefix[] = "jit-";
	const char *slash = strrchr(mapped->path, '/'), *name = slash ? slash + 1 : mapped->path;
	bool has_thread;

	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0)
		return false;
	name += sizeof(prefix) - 1;
	if (!skip_dump_number(&name, false))
		return false;
	has_thread = skip_dump_number(&name, true);
	return strcmp(name, ".dump") == 0 || (has_thread && name[0] == '-' && strlen(name) == RANDOM_BYTES);
}

/* ---- The place of a file ---- */

/* The identity of a process by /proc. */
struct identity {
	int32_t pid; /* in its own namespace, which its perf map is named by */
	uid_t user;  /* who owns the files that it makes; JIT_NO_USER if the process is gone */
};

static struct identity identity_of(int32_t pid)
{
	struct proc_status users; /* real, effective, saved, and that of files */
	bool is_there = proc_read_status(pid, pid, "Uid", &users);

	return (struct identity){ proc_inner_tid(pid, pid), is_there ? (uid_t)users.last : JIT_NO_USER };
}

static int jit_map_open_root(int32_t pid)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/%d/root", pid);
	return open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static bool is_same_directory(int theirs, const char *ours)
{
	struct stat here, there;

	return stat(ours, &here) == 0 && fstat(theirs, &there) == 0 && here.st_dev == there.st_dev &&
	       here.st_ino == there.st_ino;
}

/* Returns whether the file's directory is another one for the process than for us, as in a container. */
static bool has_own_directory(int32_t pid, const char *path)
{
	CLEANUP(cleanup_close) int root = jit_map_open_root(pid);
	CLEANUP(cleanup_close) int theirs = -1;
	const char *slash = strrchr(path, '/');
	char directory[PATH_MAX];

	if (root < 0 || (size_t)snprintf(directory, sizeof(directory), "%.*s/", slash ? (int)(slash - path) : 0,
				path) >= sizeof(directory))
		return false;
	theirs = in_root_open(root, directory, true);
	return theirs < 0 ? !is_same_directory(root, "/") : !is_same_directory(theirs, directory);
}

/*
 * Sets the place of a file that a process names. It is opened by our own name for it, which outlives the process,
 * unless that means another file: under the pid that a process has in its container, it may be any process's.
 */
static bool set_place(int32_t pid, uid_t user, const char *name, struct jit_place *place, struct error *err)
{
	char *path = strdup(name);

	if (!path)
		return error_set_memory(err);
	jit_place_deinit(place);
	*place = (struct jit_place){
		.path = path,
		.pid = pid,
		.since_s = proc_start_unix_s(pid),
		.user = user,
		.has_own_root = has_own_directory(pid, name),
	};
	return true;
}

static bool place_of_map(int32_t pid, struct jit_place *place, struct error *err)
{
	struct identity identity = identity_of(pid);
	char name[32];

	snprintf(name, sizeof(name), "/tmp/perf-%d.map", identity.pid);
	return set_place(pid, identity.user, name, place, err);
}

static bool place_of_dump(int32_t pid, const char *path, struct jit_place *place, struct error *err)
{
	if (!set_place(pid, identity_of(pid).user, path, place, err))
		return false;
	place->may_be_older = true;
	return true;
}

/* ---- The file ---- */

enum {
	CLOCKS_DIFFER_S = 2,
	CLOCKS_APART_NS = 100000 /* between two readings of clocks, in jit_map_unix_ns() */
};

int64_t jit_map_unix_ns(uint64_t clock_ns)
{
	int64_t ago_ns = clock_read_ns(CLOCK_MONOTONIC) - proc_clock_offset_ns() - (int64_t)clock_ns;

	return clock_read_ns(CLOCK_REALTIME) - ago_ns;
}

/* Returns whether the pid is still that of the process for which the place was found. */
static bool jit_map_is_same_process(const struct jit_place *place)
{
	int64_t now_s = place->pid ? proc_start_unix_s(place->pid) : 0;

	return now_s != 0 && now_s - place->since_s <= CLOCKS_DIFFER_S && place->since_s - now_s <= CLOCKS_DIFFER_S;
}

static int open_place(const struct jit_place *place)
{
	CLEANUP(cleanup_close) int root = -1;

	/* A recording of another time may name any path: walked name by name, it has nothing mounted on its way. */
	if (!place->has_own_root && place->pid != 0)
		return open(place->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (!place->has_own_root)
		root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	else if (jit_map_is_same_process(place))
		root = jit_map_open_root(place->pid);
	return root < 0 ? -1 : in_root_open(root, place->path, false);
}

/* A process may have changed its user since it was first met, as servers do that root starts. */
static bool is_of_its_user(const struct jit_place *place, uid_t owner)
{
	return owner == 0 || (place->user != JIT_NO_USER && owner == place->user) ||
	       (jit_map_is_same_process(place) && owner == identity_of(place->pid).user);
}

/* Who owns a file may set its time to any. */
static int64_t jit_map_written_ns(const struct stat *info)
{
	static const int64_t second_ns = 1000000000;
	int64_t seconds = info->st_mtim.tv_sec;

	return seconds < 0                        ? 0
	       : seconds >= INT64_MAX / second_ns ? INT64_MAX
						  : seconds * second_ns + info->st_mtim.tv_nsec;
}

/*
 * Returns why a file is not believed; NULL: it is. Names in /tmp are anybody's: without these rules any user could
 * name, and make root read, what belongs to another user's process.
 */
static const char *why_not(const struct jit_place *place, const struct stat *info)
{
	int64_t written_ns = jit_map_written_ns(info);

	if (!S_ISREG(info->st_mode) || info->st_nlink > 1)
		return "it is a link or no regular file";
	if (!is_of_its_user(place, info->st_uid))
		return place->pid ? "it belongs to neither the process's user nor root; 'chown' it if it is right"
				  : "it belongs to neither you nor root; 'chown' it if it is right";
	/* The kernel dates a write to the tick before it. */
	if (!place->may_be_older && ((place->since_s != 0 && info->st_mtime + CLOCKS_DIFFER_S < place->since_s) ||
					    (place->begun_ns != 0 && written_ns < place->begun_ns - JIT_TICK_NS)))
		return "it is older than the process of that pid, and so of an earlier one; 'touch' it if it is not";
	if (place->ended_ns != 0 && written_ns > place->ended_ns + CLOCKS_APART_NS)
		return JIT_MAP_IS_ANOTHERS;
	return NULL;
}

bool jit_map_open(const struct jit_place *place, struct file_opened *file, struct buffer *notices, struct error *err)
{
	CLEANUP(cleanup_close) int found = place->path ? open_place(place) : -1;
	const char *reason;
	struct error ignored;
	struct stat info;
	int fd;

	if (found < 0 || fstat(found, &info) != 0)
		return true;
	reason = why_not(place, &info);
	if (reason && notices)
		buffer_printf(notices, "%s names nothing: %s\n", place->path, reason);
	fd = reason ? -1 : file_open_found(found, place->path, &ignored);
	if (fd < 0)
		return true;
	file->name = strdup(place->path);
	if (!file->name) {
		close(fd);
		return error_set_memory(err);
	}
	file->fd = fd;
	return true;
}

/*
 * Returns whether there is a file at the place that belongs to its process, or, with a notice later, to an earlier one.
 */
static bool jit_map_is_there(const struct jit_place *place)
{
	CLEANUP(cleanup_close) int fd = open_place(place);
	struct jit_place of_any_age = *place;
	struct stat info;

	of_any_age.may_be_older = true;
	return fd >= 0 && fstat(fd, &info) == 0 && !why_not(&of_any_age, &info);
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
 * Returns whether one of two processes was forked from the other, or both from a third, and none has executed another
 * program since: only then they have the same random bytes at the same place. The memory of one that executed the same
 * program anew is laid out anew.
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
static bool jit_map_find_inherited(int32_t pid, struct jit_place *inherited, struct error *err)
{
	enum { MAX_ANCESTORS = 8 };
	int32_t ancestor = proc_parent_of(pid);

	for (int i = 0; i < MAX_ANCESTORS && ancestor > 0 && are_of_one_program(ancestor, pid); i++) {
		if (!place_of_map(ancestor, inherited, err))
			return false;
		if (jit_map_is_there(inherited))
			return true;
		ancestor = proc_parent_of(ancestor);
	}
	jit_place_deinit(inherited);
	return true;
}

bool jit_map_expect(const struct elf_mapping *mapped, struct process_image *image, struct error *err)
{
	if (jit_map_is_dump(mapped))
		return place_of_dump(mapped->pid, mapped->path, &image->jit_map, err);
	return place_of_map(mapped->pid, &image->jit_map, err) &&
	       jit_map_find_inherited(mapped->pid, &image->inherited_map, err);
}

bool jit_map_is_recorded(const char *path)
{
	static const char begin[] = "/tmp/perf-", end[] = ".map";
	const char *number = path + sizeof(begin) - 1;

	if (jit_map_is_dump(&(struct elf_mapping){ .path = path }))
		return true;
	return strncmp(path, begin, sizeof(begin) - 1) == 0 && strcmp(number + strspn(number, "0123456789"), end) == 0;
}

bool jit_map_expect_recorded(const struct elf_mapping *mapped, struct process_image *image, struct error *err)
{
	char *path;
	int size = jit_map_is_dump(mapped) ? asprintf(&path, "%s", mapped->path)
					   : asprintf(&path, "/tmp/perf-%d.map", mapped->pid);

	if (size < 0)
		return error_set_memory(err);
	jit_place_deinit(&image->jit_map);
	image->jit_map = (struct jit_place){ .path = path, .user = geteuid() };
	return true;
}
