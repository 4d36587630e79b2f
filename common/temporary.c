/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *at)
{
	(void)info;
	(void)type;
	(void)at;
	(void)remove(path);
	return 0;
}

/* Waits until nobody holds the other end any more. It must outlive the signals that end us. */
__attribute__((noreturn)) static void remove_later(
	const char *path, void (*remove_more)(pid_t owner), int ended, pid_t owner)
{
	enum { MOST_OPEN = 16 };
	sigset_t all;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	while (read(ended, &byte, 1) < 0 && errno == EINTR)
		;
	if (remove_more)
		remove_more(owner);
	nftw(path, remove_entry, MOST_OPEN, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	_exit(0);
}

static bool start_remover(struct temporary *temporary, void (*remove_more)(pid_t owner), struct error *err)
{
	int ends[2];
	pid_t owner;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return error_set_errno(err, errno, "cannot make a temporary directory");
	owner = getpid();
	temporary->remover = fork();
	if (temporary->remover == 0) {
		close(ends[1]);
		/* Who reads our output does not wait for us. */
		for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
			close(fd);
		remove_later(temporary->path, remove_more, ends[0], owner);
	}
	close(ends[0]);
	temporary->alive = ends[1];
	if (temporary->remover > 0)
		return true;
	error_set_errno(err, errno, "cannot make a temporary directory");
	close(ends[1]);
	return false;
}

bool temporary_create_with(struct temporary *temporary, void (*remove_more)(pid_t owner), struct error *err)
{
	const char *where = getenv("TMPDIR");

	*temporary = (struct temporary){ 0 };
	if (!where || !where[0])
		where = "/tmp";
	if ((size_t)snprintf(temporary->path, sizeof(temporary->path), "%s/kelvin-XXXXXX", where) >=
		sizeof(temporary->path))
		return error_set(err, ERROR_LIMIT, "TMPDIR is too long");
	if (!mkdtemp(temporary->path)) {
		error_set_errno(
			err, errno, "cannot make a directory in %.300s; set TMPDIR to one where you may write", where);
		temporary->path[0] = '\0';
		return false;
	}
	if (start_remover(temporary, remove_more, err))
		return true;
	rmdir(temporary->path);
	temporary->path[0] = '\0';
	return false;
}

bool temporary_create(struct temporary *temporary, struct error *err)
{
	return temporary_create_with(temporary, NULL, err);
}

void temporary_remove(struct temporary *temporary)
{
	if (!temporary->path[0])
		return;
	close(temporary->alive);
	while (waitpid(temporary->remover, NULL, 0) < 0 && errno == EINTR)
		;
	*temporary = (struct temporary){ 0 };
}

bool temporary_is_full(const struct temporary *temporary)
{
	enum { LEAST_BYTES = 1 << 20 };
	struct statvfs disk;

	return statvfs(temporary->path, &disk) == 0 && disk.f_bavail * disk.f_bsize < LEAST_BYTES;
}
