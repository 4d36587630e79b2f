/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/fifo.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

enum { ATTEMPTS = 8, MOST_MOMENTS = 100, OPEN_FLAGS = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC };

static const char *kind_name(mode_t mode)
{
	if (S_ISFIFO(mode))
		return "a FIFO";
	if (S_ISLNK(mode))
		return "a link";
	return S_ISDIR(mode) ? "a directory" : "no FIFO, but an entry";
}

bool fifo_fail_foreign(const char *path, struct error *err)
{
	struct stat info;

	if (lstat(path, &info) != 0)
		return error_set_errno(err, errno, "cannot look at %s", path);
	return error_set_errno(err, EACCES,
		"benchmark harnesses look for their runner at %s, which is %s of user %u: remove it (sudo rm%s %s)",
		path, kind_name(info.st_mode), (unsigned int)info.st_uid, S_ISDIR(info.st_mode) ? " -r" : "", path);
}

static bool fifo_is_ours(int fd, const char *path, struct error *err)
{
	struct stat info;

	if (fstat(fd, &info) != 0)
		return error_set_errno(err, errno, "cannot look at %s", path);
	return (S_ISFIFO(info.st_mode) && info.st_uid == geteuid()) || fifo_fail_foreign(path, err);
}

static bool fail_open(const char *path, int failure, struct error *err)
{
	if (failure == ELOOP || failure == EACCES || failure == EPERM || failure == EISDIR)
		return fifo_fail_foreign(path, err);
	return error_set_errno(err, failure, "cannot open %s, where benchmark harnesses look for their runner", path);
}

/*
 * Returns whether a runner has the FIFO open for reading. Opening for writing only fails with ENXIO where there is
 * none. Any other failure is left to the next step, which tells it.
 */
static bool has_reader(const char *path, pid_t *pid)
{
	CLEANUP(cleanup_close) int fd = open(path, O_WRONLY | OPEN_FLAGS);
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct stat info;

	if (fd < 0 || fstat(fd, &info) != 0 || !S_ISFIFO(info.st_mode) || info.st_uid != geteuid())
		return false;
	*pid = fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? lock.l_pid : 0;
	return true;
}

static bool fail_busy(const char *path, pid_t pid, struct error *err)
{
	if (pid > 0)
		return error_set(err, ERROR_UNSUPPORTED,
			"another kelvin (pid %d) is recording benchmarks, and harnesses can find only one runner on a machine: wait "
			"for its end",
			(int)pid);
	return error_set(err, ERROR_UNSUPPORTED,
		"another benchmark runner has %s open, and harnesses can find only one on a machine: wait for its end "
		"('fuser %s' names it)",
		path, path);
}

/* Opens a FIFO, which is made if there is none. */
static bool fifo_open_path(const char *path, int *fd, struct error *err)
{
	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		int failure;

		*fd = open(path, O_RDWR | OPEN_FLAGS);
		if (*fd >= 0)
			return fifo_is_ours(*fd, path, err);
		failure = errno;
		if (failure != ENOENT)
			return fail_open(path, failure, err);
		if (mkfifo(path, S_IRWXU) != 0 && errno != EEXIST)
			return error_set_errno(
				err, errno, "cannot make %s, where benchmark harnesses look for their runner", path);
	}
	return error_set(err, ERROR_SYSTEM, "%s comes and goes: another runner starts and ends", path);
}

static bool fifo_is_still_there(int fd, const char *path)
{
	struct stat opened, named;

	return fstat(fd, &opened) == 0 && lstat(path, &named) == 0 && opened.st_dev == named.st_dev &&
	       opened.st_ino == named.st_ino;
}

void fifo_drain(int fd)
{
	char bytes[4096];

	while (read(fd, bytes, sizeof(bytes)) > 0)
		;
}

/*
 * Two that start at once may both find a stale FIFO: the lock decides. The one who has waited for a runner that removes
 * its FIFO holds one without a name.
 */
static bool take_commands(const char *path, int *fd, struct error *err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		pid_t pid;

		if (has_reader(path, &pid))
			return fail_busy(path, pid, err);
		if (!fifo_open_path(path, fd, err))
			return false;
		if (fcntl(*fd, F_SETLK, &lock) != 0) {
			if (fcntl(*fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
				lock.l_pid = 0;
			return fail_busy(path, lock.l_pid, err);
		}
		if (fifo_is_still_there(*fd, path))
			return true;
		close(*fd);
		*fd = -1;
	}
	return error_set(err, ERROR_SYSTEM, "%s comes and goes: another runner starts and ends", path);
}

static void close_pair(struct fifo_pair *pair)
{
	cleanup_close(&pair->commands);
	cleanup_close(&pair->answers);
	*pair = (struct fifo_pair){ -1, -1 };
}

bool fifo_pair_open(struct fifo_pair *pair, const char *commands, const char *answers, struct error *err)
{
	struct fifo_pair made = { -1, -1 };

	*pair = made;
	if (!take_commands(commands, &made.commands, err) || !fifo_open_path(answers, &made.answers, err)) {
		close_pair(&made);
		return false;
	}
	/* A stale one may have another mode. */
	if (fchmod(made.commands, S_IRWXU) != 0 || fchmod(made.answers, S_IRWXU) != 0) {
		error_set_errno(err, errno, "cannot keep %s to ourselves", commands);
		close_pair(&made);
		return false;
	}
	fifo_drain(made.commands);
	fifo_drain(made.answers);
	*pair = made;
	return true;
}

void fifo_pair_close(struct fifo_pair *pair, const char *commands, const char *answers)
{
	if (pair->answers >= 0 && fifo_is_still_there(pair->answers, answers))
		unlink(answers);
	/* The lock ends last. */
	if (pair->commands >= 0 && fifo_is_still_there(pair->commands, commands))
		unlink(commands);
	close_pair(pair);
}

static void fifo_remove_if_stale(const char *path)
{
	struct stat info;
	pid_t pid;

	if (lstat(path, &info) == 0 && S_ISFIFO(info.st_mode) && info.st_uid == geteuid() && !has_reader(path, &pid))
		unlink(path);
}

void fifo_remove_stale(const char *commands, const char *answers, pid_t owner)
{
	static const struct timespec moment = { .tv_nsec = 20000000 };
	pid_t pid;

	for (int moments = 0; has_reader(commands, &pid); moments++) {
		/* The process that serves the one has both. */
		if ((pid > 0 && pid != owner) || moments == MOST_MOMENTS)
			return;
		nanosleep(&moment, NULL);
	}
	fifo_remove_if_stale(answers);
	fifo_remove_if_stale(commands);
}
