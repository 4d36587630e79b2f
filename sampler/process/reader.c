/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/process/reader.h"

#include "sampler/process/account.h"
#include "sampler/process/file_system.h"
#include "sampler/process/jit_map.h"
#include "sampler/process/trees.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/*
 * Rings are read before they are three quarters full, and the last quarter takes 130 ms at the usual rate: the recorder
 * may wait for 20 or 50 ms at once. Up to 5 late reads of a user follow each other, 15 of all, then one in 0.4 s.
 */
static const struct deadline_limits reader_limits = { 100000000, 300000000, 20 };

#define READER_READS_ONLY 2, O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | (O_TMPFILE & ~O_DIRECTORY), O_RDONLY

/* Opening is for reading alone, and nothing can be written but to the recorder's socket. */
static const struct filter_rule reader_rules[] = {
	{ SYS_process_vm_readv, 0, { { 0 } } },
	{ SYS_openat, 1, { { READER_READS_ONLY } } },
	{ SYS_read, 0, { { 0 } } },
	{ SYS_lseek, 0, { { 0 } } },
	{ SYS_getdents64, 0, { { 0 } } },
	{ SYS_fstat, 0, { { 0 } } },
	{ SYS_newfstatat, 0, { { 0 } } },
	{ SYS_fstatfs, 0, { { 0 } } },
	{ SYS_readlink, 0, { { 0 } } },
	{ SYS_readlinkat, 0, { { 0 } } },
	{ SYS_geteuid, 0, { { 0 } } },
};

/* Looking into processes of others, reading files of others, and opening files by /proc/PID/map_files. */
static const struct deadline_rights reader_rights = {
	.capabilities = RIGHTS_CAPABILITY(CAP_SYS_PTRACE) | RIGHTS_CAPABILITY(CAP_DAC_READ_SEARCH) |
			RIGHTS_CAPABILITY(CAP_CHECKPOINT_RESTORE),
	.calls = FILTER_SET(reader_rules),
};

/* The subject that is read of a process. Memory that never arrives says nothing about its files, nor they about it. */
enum reader_subject {
	SUBJECT_MEMORY,
	SUBJECT_FILES, /* with the text of its maps, and what is known by its directory in /proc */
	SUBJECT_COUNT,
};

static const int64_t wait_ns[SUBJECT_COUNT] = { [SUBJECT_MEMORY] = 20000000, [SUBJECT_FILES] = 50000000 };

/*
 * A process that was late is left alone for so long, and four times as long after each further late read in a row. On a
 * busy machine an innocent process is late as well, when one of its threads has its memory map locked and waits for a
 * CPU: that is over soon.
 */
static const int64_t first_rest_ns = 5000000;

/* The most that is copied of files that must not be mapped, in one recording. An account alone has half of it. */
static const int64_t copy_file_bytes = 128 << 20;
static const uint64_t copy_all_bytes = 512 << 20, copy_all_ns = 2000000000;

enum { MAX_LATE = 1 << 16, MOST_QUADRUPLINGS = 7, CHUNK_BYTES = 1 << 18 };

struct late_process {
	int64_t until_ns; /* CLOCK_MONOTONIC */
	uint32_t times;
};

/* The processes of which one subject was late. */
struct lateness {
	struct hash_map by_pid; /* pid -> index of items */
	struct late_process *items;
	size_t count, capacity;
	int32_t latest; /* the pid that was late last */
};

/*
 * The payer: the user that pays for a process's late reads. It is asked anew after a while: a process may
 * execute a program of another user, or its pid become that of another one. To ask costs ten system calls, and a
 * process is read hundreds of times a second.
 */
struct payer {
	int32_t pid;
	int64_t until_ns; /* CLOCK_MONOTONIC */
	uint64_t account;
};

static const int64_t payer_ns = 100000000;

enum { MOST_PAYERS = 64 };

struct process_reader {
	struct deadline *deadline;
	uint64_t own_tree;
	struct known_trees trees;
	struct payer payers[MOST_PAYERS]; /* by pid */
	struct lateness late[SUBJECT_COUNT];
	struct shares copied_bytes, copy_ns;
};

bool process_reader_create(struct process_reader **reader, struct error *err)
{
	struct process_reader *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->own_tree = in_root_tree_of((int32_t)getpid());
	for (size_t i = 0; i < SUBJECT_COUNT; i++)
		hash_map_init(&made->late[i].by_pid, sizeof(int32_t));
	shares_init(&made->copied_bytes, copy_all_bytes);
	shares_init(&made->copy_ns, copy_all_ns);
	if (!deadline_create(&reader_limits, &reader_rights, &made->deadline, err)) {
		process_reader_destroy(made);
		return false;
	}
	*reader = made;
	return true;
}

void process_reader_destroy(struct process_reader *reader)
{
	if (!reader)
		return;
	deadline_destroy(reader->deadline);
	known_trees_deinit(&reader->trees);
	for (size_t i = 0; i < SUBJECT_COUNT; i++) {
		hash_map_deinit(&reader->late[i].by_pid);
		free(reader->late[i].items);
	}
	shares_deinit(&reader->copied_bytes);
	shares_deinit(&reader->copy_ns);
	free(reader);
}

static void describe_late(const struct lateness *late, const char *what, const char *effect, struct buffer *notices)
{
	if (late->count == 1)
		buffer_printf(
			notices, "%s of pid %d did not arrive in time: its %s\n", what, (int)late->latest, effect);
	else if (late->count > 1)
		buffer_printf(notices, "%s of %zu processes, such as pid %d, did not arrive in time: their %s\n", what,
			late->count, (int)late->latest, effect);
}

/* Describes rights that are left. No calls are refused under a sanitizer, which says nothing about the machine. */
static void describe_rights(unsigned int left, struct buffer *notices)
{
	if (left & RIGHTS_LEFT_CALLS && child_slowdown() == 1)
		buffer_append_string(notices,
			"the processes that read memory and files of others may make all system calls: seccomp is not to be had here\n");
	if (left & (RIGHTS_LEFT_CAPABILITIES | RIGHTS_LEFT_EXEC))
		buffer_append_string(notices,
			"the processes that read memory and files of others keep more privileges than they need: the kernel did not take them\n");
}

void process_reader_describe(const struct process_reader *reader, struct buffer *notices)
{
	describe_late(&reader->late[SUBJECT_MEMORY], "memory", "stacks may be cut", notices);
	describe_late(&reader->late[SUBJECT_FILES], "files", "code may be unnamed", notices);
	describe_rights(deadline_rights_left(reader->deadline), notices);
}

/* ---- Late processes ---- */

/* One that is gone costs nobody. */
static uint64_t find_payer(struct process_reader *reader, int32_t pid)
{
	struct payer *payer = &reader->payers[(uint32_t)pid % MOST_PAYERS];
	int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);

	if (payer->pid == pid && now_ns < payer->until_ns)
		return payer->account;
	*payer = (struct payer){ .pid = pid, .until_ns = now_ns + payer_ns, .account = UINT64_MAX };
	(void)!account_of(pid, &payer->account);
	return payer->account;
}

static struct late_process *find_late(const struct lateness *late, int32_t pid)
{
	uint32_t id = hash_map_get(&late->by_pid, &pid);

	return id == HASH_MAP_NONE ? NULL : &late->items[id];
}

/* Adds a late process. One that memory is short for is not left alone: its user's debt still bounds what it costs. */
static void add_late(struct lateness *late, int32_t pid)
{
	struct late_process *process = find_late(late, pid);
	struct error ignored;
	uint32_t *value;
	bool added;

	late->latest = pid;
	if (!process) {
		if (!ARRAY_RESERVE(&late->items, &late->capacity, late->count + 1, MAX_LATE, &ignored) ||
			!hash_map_add(&late->by_pid, &pid, (uint32_t)late->count, &value, &added, &ignored))
			return;
		process = &late->items[late->count++];
		*process = (struct late_process){ 0 };
	}
	process->until_ns = clock_read_ns(CLOCK_MONOTONIC) + (first_rest_ns << 2 * process->times);
	process->times += process->times < MOST_QUADRUPLINGS;
}

/* Runs a job for a process, whose input is in the room. False if there is no answer in time. */
static bool reader_run_job(
	struct process_reader *reader, int32_t pid, enum reader_subject subject, int (*job)(void *room), int *fd)
{
	struct lateness *late = &reader->late[subject];
	struct late_process *process = find_late(late, pid);
	enum deadline_end end;

	*fd = -1;
	if (process && clock_read_ns(CLOCK_MONOTONIC) < process->until_ns)
		return false;
	end = deadline_run(reader->deadline, find_payer(reader, pid), wait_ns[subject], job, fd);
	if (end == DEADLINE_LATE)
		add_late(late, pid);
	else if (end == DEADLINE_DONE && process)
		process->times = 0;
	return end == DEADLINE_DONE;
}

/* ---- Memory ---- */

struct memory_request {
	int32_t pid;
	size_t from_count, size;
	ssize_t got;
	struct iovec from[READER_MOST_PIECES];
	uint8_t bytes[READER_MOST_BYTES];
};

_Static_assert(sizeof(struct memory_request) <= DEADLINE_ROOM_BYTES, "a request fits");

static int read_memory(void *room)
{
	struct memory_request *request = room;
	const struct iovec into = { request->bytes, request->size };

	request->got = process_vm_readv(request->pid, &into, 1, request->from, request->from_count, 0);
	return -1;
}

ssize_t process_reader_memory(struct process_reader *reader, int32_t pid, const struct iovec *into,
	const struct iovec *from, size_t from_count)
{
	struct memory_request *request = deadline_room(reader->deadline);
	int none;

	errno = request ? EINVAL : EAGAIN;
	if (!request || from_count > READER_MOST_PIECES || into->iov_len > sizeof(request->bytes))
		return -1;
	request->pid = pid;
	request->from_count = from_count;
	request->size = into->iov_len;
	memcpy(request->from, from, from_count * sizeof(*from));
	if (!reader_run_job(reader, pid, SUBJECT_MEMORY, read_memory, &none)) {
		errno = EAGAIN;
		return -1;
	}
	errno = EFAULT;
	if (request->got > 0)
		memcpy(into->iov_base, request->bytes, (size_t)request->got);
	return request->got;
}

/* ---- Maps ---- */

struct maps_request {
	int32_t pid;
	int fd; /* of the helper, between two jobs; -1: not open */
	bool is_denied;
	size_t size; /* of the text; less than there is room for: the end */
	char text[CHUNK_BYTES];
};

/* One read(2) returns a page at most. */
static int reader_read_maps(void *room)
{
	struct maps_request *request = room;
	ssize_t got = 1;

	if (request->fd < 0)
		request->fd = proc_open_maps(request->pid);
	request->is_denied = request->fd < 0 && errno == EACCES;
	request->size = 0;
	while (request->fd >= 0 && got > 0 && request->size < sizeof(request->text)) {
		got = read(request->fd, request->text + request->size, sizeof(request->text) - request->size);
		request->size += got > 0 ? (size_t)got : 0;
	}
	if (request->fd >= 0 && request->size < sizeof(request->text))
		close(request->fd);
	return -1;
}

bool process_reader_maps(struct process_reader *reader, int32_t pid, struct buffer *text, bool *denied)
{
	struct maps_request *request = deadline_room(reader->deadline);
	int none;

	*denied = false;
	if (!request)
		return false;
	request->pid = pid;
	request->fd = -1;
	do {
		if (!reader_run_job(reader, pid, SUBJECT_FILES, reader_read_maps, &none))
			return false;
		*denied = request->is_denied;
		buffer_append(text, request->text, request->size);
	} while (request->size == sizeof(request->text));
	return true;
}

/* ---- Files ---- */

struct file_request {
	struct elf_mapping mapping; /* of a binary */
	struct jit_place place;     /* of a JIT map */
	char path[PATH_MAX];        /* of either */
	char notice[PATH_MAX + 256];
	/* The outcome; `why` if no file was opened */
	bool is_open, may_hang;
	bool has_owner; /* the file system's word on the file's owner is to be believed */
	struct stat info;
	struct error why;
	/* The helper's descriptor for copy_piece(), which is closed when `size` is 0. */
	int fd;
	ssize_t size;
	uint8_t bytes[CHUNK_BYTES];
};

_Static_assert(sizeof(struct file_request) <= DEADLINE_ROOM_BYTES, "a request fits");

/* Returns a descriptor for the caller, or keeps it for copy_piece(). */
static int reader_hand_over(struct file_request *request, int32_t pid, int fd)
{
	request->is_open = fd >= 0;
	if (fd < 0)
		return -1;
	request->may_hang = file_system_may_hang(fd, pid);
	if (!request->may_hang)
		return fd;
	request->fd = fd;
	request->has_owner = file_system_knows_owner(fd);
	if (fstat(fd, &request->info) != 0) {
		request->info = (struct stat){ .st_size = INT64_MAX };
		request->has_owner = false;
	}
	return -1;
}

static int reader_open_file(void *room)
{
	struct file_request *request = room;

	request->mapping.path = request->path;
	return reader_hand_over(request, request->mapping.pid, elf_open_mapping(&request->mapping, &request->why));
}

static int open_jit_map(void *room)
{
	struct file_request *request = room;
	struct file_opened file = { .fd = -1 };
	struct buffer notices;

	buffer_init(&notices, sizeof(request->notice) - 1);
	request->place.path = request->path;
	if (!jit_map_open(&request->place, &file, &notices, &request->why))
		file.fd = -1;
	snprintf(request->notice, sizeof(request->notice), "%.*s", (int)notices.size, notices.size ? notices.data : "");
	buffer_deinit(&notices);
	free(file.name);
	return reader_hand_over(request, request->place.pid, file.name ? file.fd : -1);
}

static int copy_piece(void *room)
{
	struct file_request *request = room;

	request->size = read(request->fd, request->bytes, sizeof(request->bytes));
	if (request->size <= 0)
		close(request->fd);
	return -1;
}

static int close_file(void *room)
{
	struct file_request *request = room;

	close(request->fd);
	return -1;
}

static bool fail_late(const char *path, struct error *err)
{
	return error_set(err, ERROR_LIMIT, "%s did not arrive in time", path);
}

/* A file of a process that is read. `fd` is owned. */
struct found_file {
	int32_t pid;
	const char *path;
	struct stat info; /* of the file that was copied */
	bool is_copy;
	int fd;
};

/* Copies the file that the helper has open. The file may grow meanwhile, so its size is checked again. */
static bool copy_file(
	struct process_reader *reader, struct file_request *request, const struct found_file *file, struct error *err)
{
	uint64_t account = find_payer(reader, file->pid);
	int64_t copied = 0;
	int none;

	while (true) {
		int64_t began_ns = clock_read_ns(CLOCK_MONOTONIC);

		if (!reader_run_job(reader, file->pid, SUBJECT_FILES, copy_piece, &none))
			break;
		if (request->size <= 0)
			return lseek(file->fd, 0, SEEK_SET) == 0;
		copied += request->size;
		if (copied > file->info.st_size ||
			!shares_take(
				&reader->copy_ns, account, (uint64_t)(clock_read_ns(CLOCK_MONOTONIC) - began_ns)) ||
			!file_write_all(file->fd, request->bytes, (size_t)request->size)) {
			(void)!reader_run_job(reader, file->pid, SUBJECT_FILES, close_file, &none);
			return error_set(err, ERROR_LIMIT, "%s is on a file system that is slow", file->path);
		}
	}
	return fail_late(file->path, err);
}

/*
 * A copy would be the recorder's file, and so root's, whose binaries are trusted more than others. It gets the owner
 * and the mode of what was copied; where these are not known, those of a file that anybody may have written.
 */
static bool give_to_owner(int fd, const struct file_request *request)
{
	enum { NOBODY = 65534, ANYBODY_WRITES = 0666, PERMISSIONS = 0777 };
	const struct stat *info = &request->info;

	if (request->has_owner && fchown(fd, info->st_uid, info->st_gid) == 0)
		return fchmod(fd, info->st_mode & PERMISSIONS) == 0;
	/* Without privileges it stays the user's own, which gives nothing that he has not. */
	return (fchown(fd, NOBODY, NOBODY) == 0 || geteuid() != 0) && fchmod(fd, ANYBODY_WRITES) == 0;
}

static bool open_copy(
	struct process_reader *reader, struct file_request *request, struct found_file *file, struct error *err)
{
	uint64_t account = find_payer(reader, file->pid);
	bool is_given;
	int none;

	file->info = request->info;
	file->is_copy = true;
	if (file->info.st_size < 0 || file->info.st_size > copy_file_bytes ||
		!shares_take(&reader->copy_ns, account, 0) ||
		!shares_take(&reader->copied_bytes, account, (uint64_t)file->info.st_size)) {
		(void)!reader_run_job(reader, file->pid, SUBJECT_FILES, close_file, &none);
		return error_set(err, ERROR_LIMIT,
			"%s is on a network or FUSE file system, from which at most %" PRId64 " MB a file and %" PRIu64
			" MB of one user's are read",
			file->path, copy_file_bytes >> 20, copy_all_bytes / 2 >> 20);
	}
	file->fd = file_in_memory("kelvin", err);
	if (file->fd < 0)
		return error_prefix(err, "cannot copy %s", file->path);
	/* The request changes with each piece that is copied. */
	is_given = give_to_owner(file->fd, request);
	if (copy_file(reader, request, file, err) &&
		(is_given || error_set(err, ERROR_SYSTEM, "cannot copy %s", file->path)))
		return true;
	close(file->fd);
	return false;
}

/* Runs the job that opens a file, and copies the file if it must not be mapped. */
static bool reader_find_file(struct process_reader *reader, struct file_request *request, int (*job)(void *room),
	struct found_file *file, struct error *err)
{
	if (!reader_run_job(reader, file->pid, SUBJECT_FILES, job, &file->fd))
		return fail_late(file->path, err);
	if (file->fd >= 0)
		return true;
	if (request->is_open && request->may_hang)
		return open_copy(reader, request, file, err);
	if (request->is_open)
		return error_set(err, ERROR_LIMIT, "%s: too many files are open", file->path);
	*err = request->why;
	return false;
}

static int open_root_of_process(void *room)
{
	const struct file_request *request = room;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root", request->mapping.pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* The root of the tree that a process sees, borrowed; NULL: it is ours, or not to be had. */
static struct elf_root *find_root(struct process_reader *reader, int32_t pid)
{
	uint64_t tree = in_root_tree_of(pid);
	struct file_request *request = deadline_room(reader->deadline);
	int fd;

	if (tree == 0 || tree == reader->own_tree || !request)
		return NULL;
	request->mapping.pid = pid;
	if (!reader_run_job(reader, pid, SUBJECT_FILES, open_root_of_process, &fd) || fd < 0)
		return NULL;
	/* A process that takes another root meanwhile must not give others that one. */
	if (in_root_tree_of(pid) == tree)
		return known_trees_share(&reader->trees, tree, fd);
	close(fd);
	return NULL;
}

/* Holds the root of a process while that lives: a container's debug files go with its last process. */
static void hold_root(struct process_reader *reader, int32_t pid, struct elf_image *image)
{
	struct elf_root *root = find_root(reader, pid);

	if (root)
		elf_image_set_root(image, root);
}

bool process_reader_open(
	struct process_reader *reader, const struct elf_mapping *mapping, struct elf_image **image, struct error *err)
{
	struct file_request *request = deadline_room(reader->deadline);
	struct found_file file = { .pid = mapping->pid, .path = mapping->path };

	if (!request)
		return fail_late(mapping->path, err);
	if (strlen(mapping->path) >= sizeof(request->path))
		return error_set(err, ERROR_NOT_FOUND, "no file is mapped at %" PRIx64, mapping->start);
	request->mapping = *mapping;
	strcpy(request->path, mapping->path);
	if (!reader_find_file(reader, request, reader_open_file, &file, err) ||
		!elf_image_of_mapping(file.fd, mapping, file.is_copy ? &file.info : NULL, image, err))
		return false;
	hold_root(reader, mapping->pid, *image);
	return true;
}

bool process_reader_open_jit_map(struct process_reader *reader, const struct jit_place *place,
	struct file_opened *opened, struct buffer *notices, struct error *err)
{
	struct file_request *request = deadline_room(reader->deadline);
	struct found_file file = { .pid = place->pid, .path = place->path };
	struct error why = { .code = ERROR_NONE };
	bool ok;

	if (!place->path || strlen(place->path) >= PATH_MAX || !request)
		return true;
	request->place = *place;
	strcpy(request->path, place->path);
	request->notice[0] = '\0';
	request->why.code = ERROR_NONE;
	ok = reader_find_file(reader, request, open_jit_map, &file, &why);
	if (notices && !ok && file.is_copy)
		buffer_printf(notices, "%s: it names nothing\n", why.message);
	else if (notices && !ok && why.code == ERROR_NONE)
		buffer_append_string(notices, request->notice);
	if (!ok)
		return true;
	opened->name = strdup(place->path);
	if (!opened->name) {
		close(file.fd);
		return error_set_memory(err);
	}
	opened->fd = file.fd;
	return true;
}

int process_reader_watch_jit_map(struct process_reader *reader, const struct jit_place *place)
{
	struct file_request *request = deadline_room(reader->deadline);
	int fd, none;

	if (!request || strlen(place->path) >= PATH_MAX)
		return -1;
	request->place = *place;
	strcpy(request->path, place->path);
	if (!reader_run_job(reader, place->pid, SUBJECT_FILES, open_jit_map, &fd))
		return -1;
	if (fd < 0 && request->is_open && request->may_hang)
		(void)!reader_run_job(reader, place->pid, SUBJECT_FILES, close_file, &none);
	return fd;
}

/* ---- Others ---- */

struct jit_request {
	struct elf_mapping mapping;
	char path[PATH_MAX];
	bool ok;
	struct error why;
	struct jit_place places[2];
	char paths[2][PATH_MAX + 64];
};

static int expect_jit_map(void *room)
{
	struct jit_request *request = room;
	struct process_image image = { 0 };

	request->mapping.path = request->path;
	request->ok = jit_map_expect(&request->mapping, &image, &request->why);
	request->places[0] = image.jit_map;
	request->places[1] = image.inherited_map;
	for (size_t i = 0; i < 2; i++)
		snprintf(request->paths[i], sizeof(request->paths[i]), "%s",
			request->places[i].path ? request->places[i].path : "");
	jit_place_deinit(&image.jit_map);
	jit_place_deinit(&image.inherited_map);
	return -1;
}

/* Leaves the place as it is if there is none. */
static bool process_reader_take_place(
	const struct jit_place *place, const char *path, struct jit_place *to, struct error *err)
{
	char *own;

	if (path[0] == '\0')
		return true;
	own = strdup(path);
	if (!own)
		return error_set_memory(err);
	jit_place_deinit(to);
	*to = *place;
	to->path = own;
	return true;
}

bool process_reader_expect_jit_map(struct process_reader *reader, const struct elf_mapping *mapping,
	struct process_image *image, struct error *err)
{
	struct jit_request *request = deadline_room(reader->deadline);
	int none;

	if (!request || strlen(mapping->path) >= sizeof(request->path))
		return true;
	request->mapping = *mapping;
	strcpy(request->path, mapping->path);
	if (!reader_run_job(reader, mapping->pid, SUBJECT_FILES, expect_jit_map, &none))
		return true;
	if (!request->ok) {
		*err = request->why;
		return false;
	}
	return process_reader_take_place(&request->places[0], request->paths[0], &image->jit_map, err) &&
	       process_reader_take_place(&request->places[1], request->paths[1], &image->inherited_map, err);
}

struct class_request {
	int32_t pid;
	bool is_32bit;
};

static int look_at_class(void *room)
{
	struct class_request *request = room;

	request->is_32bit = proc_is_32bit(request->pid);
	return -1;
}

bool process_reader_is_32bit(struct process_reader *reader, int32_t pid)
{
	struct class_request *request = deadline_room(reader->deadline);
	int none;

	if (!request)
		return false;
	request->pid = pid;
	return reader_run_job(reader, pid, SUBJECT_FILES, look_at_class, &none) && request->is_32bit;
}
