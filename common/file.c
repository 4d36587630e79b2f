/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/file.h"

#include "common/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

enum { READ_CHUNK_BYTES = 1 << 18, MAX_PATH_BYTES = 4096, MAX_NAME_TRIES = 100, MAX_LINKS = 40 };

static bool is_standard_stream(const char *path)
{
	return strcmp(path, "-") == 0;
}

static bool read_descriptor(int fd, const char *path, struct buffer *buffer, struct error *err)
{
	for (;;) {
		size_t room = buffer->max_bytes - buffer->size < READ_CHUNK_BYTES ? buffer->max_bytes - buffer->size
										  : READ_CHUNK_BYTES;
		char probe;
		char *into = room ? buffer_reserve(buffer, room) : &probe;
		ssize_t got;

		if (!into)
			return error_set_memory(err);
		got = read(fd, into, room ? room : 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_set_errno(err, errno, "cannot read %s", path);
		if (got == 0)
			return true;
		if (!room)
			return error_set(
				err, ERROR_LIMIT, "cannot read %s: larger than %zu bytes", path, buffer->max_bytes);
		buffer_commit(buffer, (size_t)got);
	}
}

bool file_read(const char *path, struct buffer *buffer, struct error *err)
{
	CLEANUP(cleanup_close) int fd = -1;

	if (is_standard_stream(path))
		return read_descriptor(STDIN_FILENO, "standard input", buffer, err);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, errno, "cannot read %s", path);
	return read_descriptor(fd, path, buffer, err);
}

void file_opened_deinit(struct file_opened *file)
{
	if (file->name)
		close(file->fd);
	free(file->name);
	*file = (struct file_opened){ 0 };
}

bool file_read_opened(const struct file_opened *file, struct buffer *buffer, struct error *err)
{
	if (lseek(file->fd, 0, SEEK_SET) != 0)
		return error_set_errno(err, errno, "cannot read %s", file->name);
	return read_descriptor(file->fd, file->name, buffer, err);
}

bool file_write_all(int fd, const void *bytes, size_t size)
{
	const char *pos = bytes;

	while (size > 0) {
		ssize_t written = write(fd, pos, size);

		if (written < 0 && errno == EINTR)
			continue;
		/* Another process of the pipeline may have made the shared standard output non-blocking. */
		if (written < 0 && errno == EAGAIN && poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, -1) >= 0)
			continue;
		if (written < 0)
			return false;
		pos += written;
		size -= (size_t)written;
	}
	return true;
}

static bool write_descriptor(int fd, const void *bytes, size_t size, const char *path, struct error *err)
{
	return file_write_all(fd, bytes, size) || error_set_errno(err, errno, "cannot write %s", path);
}

/*
 * The file that is written, as a name in a directory that is open: what lies there may be exchanged at any time, the
 * directory may not.
 */
struct destination {
	const char *path;                    /* as the caller named it; borrowed */
	char directory_name[MAX_PATH_BYTES]; /* for messages */
	char name[MAX_PATH_BYTES];
	int directory;    /* owned, O_PATH; AT_FDCWD: none yet */
	bool exists;      /* there is something under the name, which `info` describes */
	bool is_stream;   /* a pipe, a device or an open file, which cannot be replaced by rename() */
	bool is_followed; /* the name is a link that only the kernel can follow, such as /proc/self/fd/3 */
	struct stat info;
};

static void destination_deinit(const struct destination *to)
{
	cleanup_close(&to->directory);
}

/* Copies the directory part of a path, "." if there is none. */
static void directory_of(const char *path, char *directory)
{
	const char *slash = strrchr(path, '/');
	size_t size = slash ? (size_t)(slash - path) : 1;

	if (slash == path)
		size = 1;
	memcpy(directory, slash ? path : ".", size);
	directory[size] = '\0';
}

/* Opens the directory of a path, which is relative to the one that is open. */
static bool destination_enter(struct destination *to, const char *path, struct error *err)
{
	char directory[MAX_PATH_BYTES], former[MAX_PATH_BYTES];
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	bool is_below = to->directory >= 0 && path[0] != '/';
	int fd;

	directory_of(path, directory);
	strcpy(former, to->directory_name);
	snprintf(to->directory_name, sizeof(to->directory_name), "%s%s%s", is_below ? former : "", is_below ? "/" : "",
		directory);
	strcpy(to->name, name[0] ? name : ".");
	fd = openat(to->directory, directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return error_set(err, ERROR_NOT_FOUND,
			"cannot write %s: directory %s does not exist; create it or name another file", to->path,
			to->directory_name);
	if (fd < 0 && errno == ENOTDIR)
		return error_set(err, ERROR_USAGE, "cannot write %s: %s is not a directory; name another file",
			to->path, to->directory_name);
	if (fd < 0)
		return error_set_errno(err, errno, "cannot write %s: directory %s", to->path, to->directory_name);
	cleanup_close(&to->directory);
	to->directory = fd;
	return true;
}

/*
 * Returns whether what stands in the directory was made by someone whom the user trusts by writing there: the user, or
 * the owner of the directory. In a directory that others may write to, anybody can lead the file astray. The rule is
 * that of the kernel's fs.protected_symlinks and fs.protected_fifos (proc_sys_fs(5)), in directories of every mode.
 */
static bool common_file_is_trusted(const struct destination *to)
{
	struct stat directory;

	return to->info.st_uid == geteuid() ||
	       (fstat(to->directory, &directory) == 0 && to->info.st_uid == directory.st_uid);
}

static bool destination_refuse(const struct destination *to, const char *what, struct error *err)
{
	return error_set(err, ERROR_PERMISSION,
		"cannot write %s: %s/%s is a %s that user %u made in a directory of another user; remove it or name another file",
		to->path, to->directory_name, to->name, what, (unsigned int)to->info.st_uid);
}

/* Follows a link, of which `link` is a descriptor. */
static bool destination_follow(struct destination *to, int link, struct error *err)
{
	char target[MAX_PATH_BYTES];
	struct statfs system;
	ssize_t size;

	if (!common_file_is_trusted(to))
		return destination_refuse(to, "link", err);
	to->is_followed = to->is_stream = fstatfs(link, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
	if (to->is_followed)
		return true;
	size = readlinkat(link, "", target, sizeof(target) - 1);
	if (size < 0)
		return error_set_errno(err, errno, "cannot write %s", to->path);
	target[size] = '\0';
	return destination_enter(to, target, err);
}

static bool destination_check_kind(struct destination *to, struct error *err)
{
	mode_t mode = to->info.st_mode;

	if (S_ISDIR(mode))
		return error_set(err, ERROR_USAGE, "cannot write %s: it is a directory; name a file in it", to->path);
	to->is_stream = !S_ISREG(mode);
	/* Only root can make devices. */
	return S_ISREG(mode) || S_ISCHR(mode) || S_ISBLK(mode) || common_file_is_trusted(to) ||
	       destination_refuse(to, "pipe", err);
}

static bool destination_find_end(struct destination *to, struct error *err)
{
	for (int links = 0; links < MAX_LINKS && !to->is_followed; links++) {
		CLEANUP(cleanup_close) int fd = openat(to->directory, to->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

		to->exists = fd >= 0;
		if (fd < 0)
			return errno == ENOENT || error_set_errno(err, errno, "cannot write %s", to->path);
		if (fstat(fd, &to->info) != 0)
			return error_set_errno(err, errno, "cannot write %s", to->path);
		if (!S_ISLNK(to->info.st_mode))
			return destination_check_kind(to, err);
		if (!destination_follow(to, fd, err))
			return false;
	}
	return to->is_followed || error_set_errno(err, ELOOP, "cannot write %s", to->path);
}

/* Finds where to write. `to` is to be deinitialized also after an error. */
static bool destination_find(struct destination *to, const char *path, struct error *err)
{
	*to = (struct destination){ .path = path, .directory = AT_FDCWD };
	if (path[0] == '\0')
		return error_set(err, ERROR_USAGE, "cannot write to an empty path; name a file");
	if (strlen(path) >= MAX_PATH_BYTES)
		return error_set(err, ERROR_USAGE, "cannot write a path of %zu bytes, at most %d; choose a shorter -o",
			strlen(path), MAX_PATH_BYTES - 1);
	return destination_enter(to, path, err) && destination_find_end(to, err);
}

static bool destination_check_rights(const struct destination *to, struct error *err)
{
	if (to->is_stream)
		return faccessat(to->directory, to->name, W_OK, AT_EACCESS) == 0 ||
		       error_set_errno(err, errno, "cannot write %s", to->path);
	return faccessat(to->directory, ".", W_OK | X_OK, AT_EACCESS) == 0 ||
	       error_set_errno(err, errno, "cannot write %s into directory %s (name another file)", to->path,
		       to->directory_name);
}

/*
 * Returns whether a file is in a file system whose files control the kernel or another program. The numbers that
 * <linux/magic.h> lacks are from the kernel's sources: configfs, fusectl, functionfs, gadgetfs, rpc_pipefs, nfsd,
 * mqueue, dlmfs, oprofilefs.
 */
static bool file_is_control(int fd)
{
	static const uint64_t controls[] = { PROC_SUPER_MAGIC, SYSFS_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC,
		SECURITYFS_MAGIC, SELINUX_MAGIC, SMACK_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
		RDTGROUP_SUPER_MAGIC, BPF_FS_MAGIC, PSTOREFS_MAGIC, EFIVARFS_MAGIC, BINFMTFS_MAGIC,
		BINDERFS_SUPER_MAGIC, NSFS_MAGIC, AUTOFS_SUPER_MAGIC, DEVPTS_SUPER_MAGIC, XENFS_SUPER_MAGIC, 0x62656570,
		0x65735543, 0x0a647361, 0xaee71ee7, 0x67596969, 0x6e667364, 0x19800202, 0x76a9f425, 0x6f70726f };
	struct statfs info;

	if (fstatfs(fd, &info) != 0)
		return true;
	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++)
		if (controls[i] == (uint32_t)info.f_type)
			return true;
	return false;
}

int file_open_found(int found, const char *path, struct error *err)
{
	char again[64];
	struct stat info;
	int fd = -1;

	if (fstat(found, &info) != 0)
		error_set_errno(err, errno, "cannot look at %s", path);
	else if (!S_ISREG(info.st_mode))
		error_set(err, ERROR_FORMAT, "%s is not a regular file", path);
	else if (file_is_control(found))
		error_set(err, ERROR_FORMAT,
			"%s is a file of the kernel, which may do something when it is opened: not opened", path);
	else {
		snprintf(again, sizeof(again), "/proc/self/fd/%d", found);
		/* O_NONBLOCK: open() must not wait for the holder of a lease. */
		fd = open(again, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			error_set_errno(err, errno, "cannot open %s", path);
	}
	return fd;
}

int file_open_below(int directory, const char *path, int flags, uint64_t resolve)
{
	const struct open_how how = { .flags = (uint32_t)flags, .resolve = resolve | RESOLVE_NO_MAGICLINKS };
	enum { MOST_TRIES = 64 };
	int fd, tries = 0;

	/* Anything on the machine was renamed or mounted meanwhile; but not for as long as somebody renames. */
	do
		fd = (int)syscall(SYS_openat2, directory, path, &how, sizeof(how));
	while (fd < 0 && errno == EAGAIN && ++tries < MOST_TRIES);
	return fd;
}

bool file_check_writable(const char *path, struct error *err)
{
	CLEANUP(destination_deinit) struct destination to = { .directory = AT_FDCWD };

	return is_standard_stream(path) || (destination_find(&to, path, err) && destination_check_rights(&to, err));
}

bool file_end_of_links(const char *path, char *end, size_t size, struct error *err)
{
	CLEANUP(destination_deinit) struct destination to = { .directory = AT_FDCWD };
	const char *directory;
	bool is_ended;

	end[0] = '\0';
	if (is_standard_stream(path))
		return true;
	if (!destination_find(&to, path, err))
		return false;
	if (to.is_stream)
		return true;
	directory = strcmp(to.directory_name, ".") == 0 ? "" : to.directory_name;
	is_ended = directory[0] == '\0' || strcmp(directory, "/") == 0;
	return (size_t)snprintf(end, size, "%s%s%s", directory, is_ended ? "" : "/", to.name) < size ||
	       error_set(err, ERROR_LIMIT, "cannot write %s: the path behind its links is too long", path);
}

/* Creates a file under a name that nobody can foresee. */
static int create_beside(int directory, char *name, size_t room)
{
	for (int i = 0; i < MAX_NAME_TRIES; i++) {
		uint64_t random;
		int fd;

		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -1;
		snprintf(name, room, ".kelvin-%016" PRIx64, random);
		fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

/* Sets the mode that is asked for, or else that of the file to be replaced, if it is the user's own. */
static bool set_mode(const struct destination *to, int fd, mode_t mode, struct error *err)
{
	bool is_own = to->exists && to->info.st_uid == geteuid();

	/* Some file systems have no modes. */
	if (mode == 0 && is_own && fchmod(fd, to->info.st_mode & 0777) != 0)
		return true;
	return mode == 0 || fchmod(fd, mode) == 0 ||
	       error_set_errno(err, errno, "cannot give %s the mode %04o", to->path, (unsigned int)mode);
}

/* A file that is being written: to a new file beside the destination, or to a stream. */
struct file_writing {
	struct destination to;
	char beside[64]; /* "": there is no such file */
	int fd;          /* owned, unless it is standard output */
};

static bool common_file_open_beside(struct file_writing *writing, mode_t mode, struct error *err)
{
	const struct destination *to = &writing->to;

	writing->fd = create_beside(to->directory, writing->beside, sizeof(writing->beside));
	if (writing->fd >= 0)
		return set_mode(to, writing->fd, mode, err);
	error_set_errno(err, errno, "cannot write %s: no new file in %s", to->path, to->directory_name);
	writing->beside[0] = '\0';
	return false;
}

static bool common_file_open_stream(struct file_writing *writing, struct error *err)
{
	const struct destination *to = &writing->to;
	int flags = O_WRONLY | O_NOCTTY | O_CLOEXEC | (to->is_followed ? O_TRUNC : O_NOFOLLOW);
	struct stat opened;

	writing->fd = openat(to->directory, to->name, flags);
	if (writing->fd < 0 || fstat(writing->fd, &opened) != 0)
		return error_set_errno(err, errno, "cannot write %s", to->path);
	if (!to->is_followed && (opened.st_dev != to->info.st_dev || opened.st_ino != to->info.st_ino))
		return error_set(err, ERROR_PERMISSION,
			"cannot write %s: somebody exchanged it while it was opened; name another file", to->path);
	return true;
}

void file_abandon(struct file_writing *writing)
{
	if (!writing)
		return;
	if (writing->beside[0])
		unlinkat(writing->to.directory, writing->beside, 0);
	if (writing->fd != STDOUT_FILENO)
		cleanup_close(&writing->fd);
	destination_deinit(&writing->to);
	free(writing);
}

static void cleanup_writing(struct file_writing **writing)
{
	file_abandon(*writing);
}

static bool begin_at(struct file_writing *writing, const char *path, mode_t mode, struct error *err)
{
	struct destination *to = &writing->to;

	if (is_standard_stream(path)) {
		to->path = "standard output";
		writing->fd = STDOUT_FILENO;
		return true;
	}
	return destination_find(to, path, err) && destination_check_rights(to, err) &&
	       (to->is_stream ? common_file_open_stream(writing, err) : common_file_open_beside(writing, mode, err));
}

bool file_begin(const char *path, mode_t mode, struct file_writing **writing, struct error *err)
{
	CLEANUP(cleanup_writing) struct file_writing *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->to.directory = AT_FDCWD;
	made->fd = -1;
	if (!begin_at(made, path, mode, err))
		return false;
	*writing = TAKE(made);
	return true;
}

bool file_append(struct file_writing *writing, const void *bytes, size_t size, struct error *err)
{
	return write_descriptor(writing->fd, bytes, size, writing->to.path, err);
}

bool file_commit(struct file_writing *writing, struct error *err)
{
	const struct destination *to = &writing->to;
	bool ok = true;

	if (writing->beside[0]) {
		ok = fsync(writing->fd) == 0 && renameat(to->directory, writing->beside, to->directory, to->name) == 0;
		if (ok)
			writing->beside[0] = '\0';
		else
			error_set_errno(err, errno, "cannot write %s", to->path);
	}
	file_abandon(writing);
	return ok;
}

bool file_is_beside(const struct file_writing *writing)
{
	return writing->beside[0] != '\0';
}

bool file_write(const char *path, const void *bytes, size_t size, mode_t mode, struct error *err)
{
	CLEANUP(cleanup_writing) struct file_writing *writing = NULL;

	return file_begin(path, mode, &writing, err) && file_append(writing, bytes, size, err) &&
	       file_commit(TAKE(writing), err);
}

int file_in_memory(const char *name, struct error *err)
{
	enum { NO_EXECUTION = 0x8 }; /* MFD_NOEXEC_SEAL, which older headers do not have */
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | NO_EXECUTION);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		(void)error_set_errno(err, errno, "cannot make a file in memory");
	return fd;
}

bool file_normalize_path(char *path)
{
	const char *rest = path;
	size_t size = 0;

	if (path[0] != '/')
		return false;
	while (*rest) {
		size_t component = strcspn(rest + 1, "/");

		if (component == 2 && strncmp(rest + 1, "..", 2) == 0) {
			while (size > 0 && path[--size] != '/')
				;
		} else if (component > 0 && !(component == 1 && rest[1] == '.')) {
			memmove(path + size, rest, component + 1);
			size += component + 1;
		}
		rest += component + 1;
	}
	path[size] = '\0';
	return size > 0;
}

bool file_find_program(const char *name, char path[PATH_MAX])
{
	const char *at = getenv("PATH");

	if (strchr(name, '/'))
		return (size_t)snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
	for (at = at ? at : "/usr/local/bin:/usr/bin:/bin"; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
		size_t size = strcspn(at, ":");

		if ((size_t)snprintf(path, PATH_MAX, "%.*s%s%s", (int)size, at, size ? "/" : "./", name) < PATH_MAX &&
			access(path, X_OK) == 0)
			return true;
	}
	return false;
}

/* The limit is for programs that use select(2). */
void file_allow_many(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}
