/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/temporary.h"

#include "common/child/child.h"
#include "common/cleanup.h"
#include "common/own_directory.h"
#include "common/remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { MOST_TRIES = 16, MOST_REASON_BYTES = 4096 };

static const char prefix[] = "kelvin-";

/* ---- The directory that stays ---- */

/* Opens a directory below one that is safe, and makes it where there is none. It must be the user's own. */
static int temporary_open_below(int parent, const char *name, mode_t mode, struct error *err)
{
	CLEANUP(cleanup_close) int fd = -1;
	struct stat info;
	int opened;

	if (mkdirat(parent, name, mode) != 0 && errno != EEXIST)
		return error_set_errno(err, errno, "%s", name), -1;
	fd = openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &info) != 0)
		return error_set_errno(err, errno, "%s", name), -1;
	if (info.st_uid != geteuid() || !S_ISDIR(info.st_mode))
		return error_set(err, ERROR_PERMISSION, "%s is %s of user %u, who can remove it, as root can ('rm -r')",
			       name, S_ISDIR(info.st_mode) ? "a directory" : "no directory, but an entry",
			       (unsigned int)info.st_uid),
		       -1;
	opened = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Also where the umask, a default list of access or an earlier owner of the directory wanted it otherwise. */
	if (opened < 0 || fchmod(opened, mode) != 0) {
		error_set_errno(err, errno, "%s", name);
		cleanup_close(&opened);
		return -1;
	}
	return opened;
}

/* A directory in which Kelvin's own lies. */
struct base_directory {
	char path[PATH_MAX]; /* of the parent; "": there is none for this user */
	char name[32];       /* of Kelvin's own in it */
};

enum base_kind { BASE_RUN, BASE_RUNTIME, BASE_TMPDIR, BASE_TMP, BASE_VAR_TMP, BASE_SHM, BASES };

static const char *base_parent(enum base_kind kind)
{
	switch (kind) {
	case BASE_RUN:
		return geteuid() == 0 ? "/run/kelvin" : NULL;
	case BASE_RUNTIME:
		return getenv("XDG_RUNTIME_DIR");
	case BASE_TMPDIR:
		return getenv("TMPDIR");
	case BASE_TMP:
		return "/tmp";
	case BASE_VAR_TMP:
		return "/var/tmp";
	case BASE_SHM:
		return "/dev/shm";
	case BASES:
		break;
	}
	return NULL;
}

static void base_find(struct base_directory *base, enum base_kind kind)
{
	const char *parent = base_parent(kind);
	unsigned int user = (unsigned int)geteuid();

	if (snprintf(base->path, sizeof(base->path), "%s", parent ? parent : "") >= (int)sizeof(base->path))
		base->path[0] = '\0';
	if (kind == BASE_RUN)
		snprintf(base->name, sizeof(base->name), "%u", user);
	else if (kind == BASE_RUNTIME)
		snprintf(base->name, sizeof(base->name), "kelvin");
	else
		snprintf(base->name, sizeof(base->name), "%s%u", prefix, user);
}

/* /run has nothing of ours after each start of the machine. */
static void temporary_make_run(struct error *err)
{
	CLEANUP(cleanup_close) int run = own_directory_open("/run", (uid_t)-1, err);
	CLEANUP(cleanup_close) int made = -1;

	if (run >= 0)
		made = temporary_open_below(run, "kelvin", 0755, err);
}

static int base_open(const struct base_directory *base, enum base_kind kind, struct error *err)
{
	CLEANUP(cleanup_close) int parent = -1;
	struct error why = { .code = ERROR_NONE };
	int fd;

	if (kind == BASE_RUN)
		temporary_make_run(&why);
	if (why.code == ERROR_NONE)
		parent = own_directory_open(base->path, (uid_t)-1, &why);
	fd = parent >= 0 ? temporary_open_below(parent, base->name, S_IRWXU, &why) : -1;
	if (fd < 0) {
		*err = why;
		error_prefix(err, "%.200s", base->path);
	}
	return fd;
}

/* ---- What a killed process left behind ---- */

static bool is_temporary(const char *name)
{
	return strncmp(name, prefix, sizeof(prefix) - 1) == 0;
}

/* The lock of one whose owner is gone is free. */
static void temporary_remove_if_stale(int base, const char *name)
{
	CLEANUP(cleanup_close) int fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct error ignored;

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		(void)!remove_tree(base, name, &ignored);
}

static void remove_stale(int base)
{
	int fd = openat(base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	if (!directory) {
		cleanup_close(&fd);
		return;
	}
	while ((entry = readdir(directory)) != NULL)
		if (is_temporary(entry->d_name))
			temporary_remove_if_stale(base, entry->d_name);
	closedir(directory);
}

/* ---- The child that outlives us ---- */

/* Waits until nobody holds the other end any more. It must outlive the signals that end us. */
__attribute__((noreturn)) static void remove_later(
	const struct temporary *temporary, void (*remove_more)(pid_t owner), int ended, pid_t owner)
{
	struct error ignored;
	sigset_t all;
	ssize_t got;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	do
		got = read(ended, &byte, 1);
	while (got < 0 && errno == EINTR);
	/* It has done all itself. */
	if (got > 0)
		_exit(0);
	if (remove_more)
		remove_more(owner);
	(void)!remove_tree(temporary->base, strrchr(temporary->path, '/') + 1, &ignored);
	_exit(0);
}

static bool start_remover(struct temporary *temporary, void (*remove_more)(pid_t owner), struct error *err)
{
	pid_t owner = getpid();
	int end;

	temporary->remover = child_fork_linked(0, CHILD_STREAM, &end);
	if (temporary->remover < 0)
		return error_set_errno(err, errno, "cannot make a temporary directory");
	if (temporary->remover == 0) {
		/* Who reads our output does not wait for us. */
		for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
			if (fd != temporary->base && fd != temporary->directory && fd != end)
				close(fd);
		remove_later(temporary, remove_more, end, owner);
	}
	temporary->alive = end;
	return true;
}

/* ---- The directory ---- */

/*
 * Opens a directory that was just made, with its lock. -1 with errno: EAGAIN: another one of ours has found it without
 * a lock, and clears it away.
 */
static int temporary_open_locked(int base, const char *name)
{
	CLEANUP(cleanup_close) int fd = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat info;
	int locked;

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0 || fstat(fd, &info) != 0) {
		errno = errno == ENOENT || errno == EWOULDBLOCK ? EAGAIN : errno;
		return -1;
	}
	if (info.st_nlink == 0) {
		errno = EAGAIN;
		return -1;
	}
	locked = fd;
	fd = -1;
	return locked;
}

/* Makes a directory and takes its lock. -1 with errno set. */
static int make_locked(int base, char name[32])
{
	int fd = -1, failure;

	for (int i = 0; i < MOST_TRIES; i++) {
		uint64_t random;

		if (getrandom(&random, sizeof(random), 0) != sizeof(random))
			return -1;
		snprintf(name, 32, "%s%016" PRIx64, prefix, random);
		if (mkdirat(base, name, S_IRWXU) != 0)
			return -1;
		fd = temporary_open_locked(base, name);
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	failure = errno;
	if (fd < 0)
		unlinkat(base, name, AT_REMOVEDIR);
	errno = failure;
	return fd;
}

static bool create_in(
	struct temporary *temporary, const struct base_directory *own, enum base_kind kind, struct error *err)
{
	int base = base_open(own, kind, err), directory;
	char name[32];

	if (base < 0)
		return false;
	remove_stale(base);
	directory = make_locked(base, name);
	if (directory < 0) {
		error_set_errno(err, errno, "%.200s/%s", own->path, own->name);
		close(base);
		return false;
	}
	if ((size_t)snprintf(temporary->path, sizeof(temporary->path), "%s/%s/%s", own->path, own->name, name) >=
		sizeof(temporary->path)) {
		unlinkat(base, name, AT_REMOVEDIR);
		close(directory);
		close(base);
		temporary->path[0] = '\0';
		return error_set_errno(err, ENAMETOOLONG, "%.200s", own->path);
	}
	temporary->base = base;
	temporary->directory = directory;
	return true;
}

static bool create_anywhere(struct temporary *temporary, enum temporary_size size, struct error *err)
{
	static const enum base_kind orders[][BASES] = {
		[TEMPORARY_SMALL] = { BASE_RUN, BASE_RUNTIME, BASE_TMPDIR, BASE_TMP, BASE_VAR_TMP, BASE_SHM },
		[TEMPORARY_LARGE] = { BASE_TMPDIR, BASE_TMP, BASE_VAR_TMP, BASE_RUN, BASE_RUNTIME, BASE_SHM },
	};
	CLEANUP(buffer_deinit) struct buffer reasons = BUFFER_INIT(MOST_REASON_BYTES);
	struct error why;
	struct base_directory base;

	for (int i = 0; i < BASES; i++) {
		base_find(&base, orders[size][i]);
		if (!base.path[0])
			continue;
		if (create_in(temporary, &base, orders[size][i], &why))
			return true;
		buffer_printf(&reasons, "%s%s", reasons.size ? "; " : "", why.message);
	}
	buffer_append_byte(&reasons, '\0');
	return error_set(err, ERROR_SYSTEM,
		"there is no place for temporary files; set TMPDIR to a directory of your own: %s",
		buffer_ok(&reasons, &why) ? reasons.data : "");
}

static void close_all(struct temporary *temporary)
{
	close(temporary->directory);
	close(temporary->base);
	*temporary = (struct temporary){ 0 };
}

bool temporary_create(
	struct temporary *temporary, enum temporary_size size, void (*remove_more)(pid_t owner), struct error *err)
{
	*temporary = (struct temporary){ 0 };
	if (!create_anywhere(temporary, size, err))
		return false;
	if (start_remover(temporary, remove_more, err))
		return true;
	unlinkat(temporary->base, strrchr(temporary->path, '/') + 1, AT_REMOVEDIR);
	close_all(temporary);
	return false;
}

void temporary_remove(struct temporary *temporary, struct buffer *notices)
{
	struct error why;

	if (!temporary->path[0])
		return;
	if (!remove_tree(temporary->base, strrchr(temporary->path, '/') + 1, &why) && notices)
		buffer_printf(
			notices, "temporary files stay in %s until the next run: %s\n", temporary->path, why.message);
	(void)!write(temporary->alive, "", 1);
	close(temporary->alive);
	(void)child_reap(temporary->remover);
	close_all(temporary);
}

bool temporary_is_full(const struct temporary *temporary)
{
	enum { LEAST_BYTES = 1 << 20 };
	struct statvfs disk;

	return fstatvfs(temporary->directory, &disk) == 0 && disk.f_bavail * disk.f_bsize < LEAST_BYTES;
}
