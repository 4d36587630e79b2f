/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/harness/namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>

enum { ATTEMPTS = 8, MOST_MOMENTS = 100, PLACES = 2 };

/* ---- Entering ---- */

/* No link is followed, whoever puts one there: the mount covers the entry itself. */
static bool cover(const char *source, const char *place)
{
	CLEANUP(cleanup_close) int from = open(source, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP(cleanup_close) int to = open(place, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char paths[2][32];

	if (from < 0 || to < 0)
		return false;
	snprintf(paths[0], sizeof(paths[0]), "/proc/self/fd/%d", from);
	snprintf(paths[1], sizeof(paths[1]), "/proc/self/fd/%d", to);
	return mount(paths[0], paths[1], NULL, MS_BIND, NULL) == 0;
}

/* Enters namespaces of mounts: what is mounted elsewhere still appears; what is mounted here stays here. */
static bool enter_mounts(const struct namespace *namespace)
{
	return (!namespace->has_user || child_enter_user_namespace(0)) && unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0;
}

bool namespace_enter(const struct namespace *namespace)
{
	if (!enter_mounts(namespace))
		return false;
	for (int i = 0; i < PLACES; i++)
		if (!cover(namespace->sources[i], namespace->places[i]))
			return false;
	return true;
}

bool namespace_is_allowed(const struct namespace *namespace)
{
	pid_t child = child_fork(CHILD_ENDS_WITH_PARENT);

	if (child == 0)
		_exit(enter_mounts(namespace) && cover(namespace->sources[0], namespace->sources[1]) ? 0 : 1);
	return child > 0 && child_reap(child) == 0;
}

/* ---- The entries that are covered ---- */

static bool namespace_is_still_there(const struct stat *opened, const char *place)
{
	struct stat named;

	return lstat(place, &named) == 0 && opened->st_dev == named.st_dev && opened->st_ino == named.st_ino;
}

static bool is_placeholder(const struct stat *info)
{
	return S_ISREG(info->st_mode) && info->st_size == 0;
}

/* A directory may hold anything, which stays its owner's. */
static bool move_aside(const char *place)
{
	char aside[PATH_MAX];

	if (unlink(place) == 0 || errno == ENOENT)
		return true;
	return (size_t)snprintf(aside, sizeof(aside), "%s.moved-%d", place, (int)getpid()) < sizeof(aside) &&
	       rename(place, aside) == 0;
}

/* The outcome of a try to take a place. */
enum take { TAKE_DONE, TAKE_AGAIN, TAKE_FAILED };

/*
 * Takes a foreign place as it is, since a user can remove nothing of others: whatever but a directory can be covered.
 */
static enum take take_foreign(const char *place, int *covered, struct error *err)
{
	struct stat info;

	if (lstat(place, &info) != 0)
		return TAKE_AGAIN;
	*covered = -1;
	if (!S_ISDIR(info.st_mode))
		return TAKE_DONE;
	(void)fifo_fail_foreign(place, err);
	return TAKE_FAILED;
}

static enum take take_again(const char *place, int *covered, struct error *err)
{
	CLEANUP(cleanup_close) int fd = open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat info;

	if (fd >= 0 && fstat(fd, &info) == 0 && is_placeholder(&info) && (geteuid() != 0 || info.st_uid == 0)) {
		if (flock(fd, LOCK_SH | LOCK_NB) != 0 || !namespace_is_still_there(&info, place))
			return TAKE_AGAIN;
		*covered = fd;
		fd = -1;
		return TAKE_DONE;
	}
	if (geteuid() != 0)
		return take_foreign(place, covered, err);
	if (move_aside(place))
		return TAKE_AGAIN;
	error_set_errno(err, errno, "cannot remove %s, where benchmark harnesses look for their runner", place);
	return TAKE_FAILED;
}

static enum take namespace_try_place(const char *place, int *covered, struct error *err)
{
	CLEANUP(cleanup_close) int made = open(place, O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);

	/* The umask may be narrower than what others need for a lock. */
	if (made >= 0)
		return fchmod(made, 0444) == 0 ? take_again(place, covered, err) : TAKE_AGAIN;
	if (errno == EEXIST)
		return take_again(place, covered, err);
	error_set_errno(err, errno, "cannot make %s, where benchmark harnesses look for their runner", place);
	return TAKE_FAILED;
}

void namespace_clear_foreign(const char *place)
{
	struct stat info;

	if (lstat(place, &info) == 0 && info.st_uid != 0)
		(void)move_aside(place);
}

static bool namespace_take_place(const char *place, int *covered, struct error *err)
{
	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		enum take took = namespace_try_place(place, covered, err);

		if (took != TAKE_AGAIN)
			return took == TAKE_DONE;
	}
	return error_set(err, ERROR_SYSTEM, "%s comes and goes: another runner starts and ends", place);
}

bool namespace_prepare(struct namespace *namespace, struct error *err)
{
	struct error why;

	for (int i = 0; i < PLACES; i++) {
		if (!namespace_take_place(namespace->places[i], &namespace->covered[i], &why)) {
			namespace_release(namespace);
			*err = why;
			return false;
		}
	}
	namespace->is_used = true;
	return true;
}

/* Removes an entry if it is ours and nobody else uses it. */
static bool remove_placeholder(int fd, const char *place)
{
	struct stat info;

	return fstat(fd, &info) == 0 && is_placeholder(&info) && info.st_uid == geteuid() &&
	       flock(fd, LOCK_EX | LOCK_NB) == 0 && namespace_is_still_there(&info, place) && unlink(place) == 0;
}

void namespace_release(struct namespace *namespace)
{
	for (int i = 0; i < PLACES; i++) {
		if (namespace->covered[i] >= 0)
			remove_placeholder(namespace->covered[i], namespace->places[i]);
		cleanup_close(&namespace->covered[i]);
		namespace->covered[i] = -1;
	}
	namespace->is_used = false;
}

void namespace_remove_stale(const char *place)
{
	static const struct timespec moment = { .tv_nsec = 20000000 };

	/* A process that is about to end has it locked for a moment longer, with those that it has started. */
	for (int moments = 0; moments < MOST_MOMENTS; moments++) {
		CLEANUP(cleanup_close) int fd = open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		struct stat info;

		if (fd < 0 || fstat(fd, &info) != 0 || !is_placeholder(&info) || info.st_uid != geteuid() ||
			remove_placeholder(fd, place))
			return;
		nanosleep(&moment, NULL);
	}
}
