/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/own_directory.h"

#include "common/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_LINKS = 40 };

/* The way along a path. What has been walked cannot be exchanged any more, so the rest is looked at in its order. */
struct own_directory_walk {
	int at;              /* owned, O_PATH: the directory that has been reached; -1: none */
	uid_t owner;         /* of it */
	uid_t also;          /* trusted besides root and this user */
	uid_t root_owner;    /* of "/", who decides all: in a user namespace without root the number of nobody */
	char rest[PATH_MAX]; /* what is to be walked from there */
	int links;
};

static void own_directory_walk_deinit(const struct own_directory_walk *walk)
{
	cleanup_close(&walk->at);
}

static bool own_directory_is_trusted(const struct own_directory_walk *walk, uid_t owner)
{
	return owner == 0 || owner == geteuid() || owner == walk->also || owner == walk->root_owner;
}

static bool is_writable_for_others(const struct stat *info)
{
	bool group_is_own = info->st_gid == 0 || info->st_gid == info->st_uid;

	if (info->st_mode & S_ISVTX)
		return false;
	return (info->st_mode & S_IWOTH) || ((info->st_mode & S_IWGRP) && !group_is_own);
}

static bool own_directory_check(
	const struct own_directory_walk *walk, const char *name, const struct stat *info, struct error *err)
{
	if (!own_directory_is_trusted(walk, info->st_uid))
		return error_set(
			err, ERROR_PERMISSION, "'%.200s' belongs to user %u", name, (unsigned int)info->st_uid);
	if (S_ISDIR(info->st_mode) && is_writable_for_others(info))
		return error_set(err, ERROR_PERMISSION, "others may write to '%.200s'", name);
	return true;
}

static bool enter(struct own_directory_walk *walk, int fd, uid_t owner)
{
	cleanup_close(&walk->at);
	walk->at = fd;
	walk->owner = owner;
	return true;
}

static bool walk_from_root(struct own_directory_walk *walk, struct error *err)
{
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat info;

	if (fd < 0 || fstat(fd, &info) != 0) {
		error_set_errno(err, errno, "/");
		cleanup_close(&fd);
		return false;
	}
	enter(walk, fd, info.st_uid);
	walk->root_owner = info.st_uid;
	return own_directory_check(walk, "/", &info, err);
}

/* Puts what a link names before the rest of the path. */
static bool own_directory_follow(struct own_directory_walk *walk, int link, const char *name, struct error *err)
{
	char path[PATH_MAX];
	ssize_t size = readlinkat(link, "", path, sizeof(path) - 1);

	if (size <= 0 || ++walk->links > MAX_LINKS)
		return error_set_errno(err, size < 0 ? errno : ELOOP, "'%.200s'", name);
	path[size] = '\0';
	if (strlen(path) + 1 + strlen(walk->rest) >= sizeof(walk->rest))
		return error_set_errno(err, ENAMETOOLONG, "'%.200s'", name);
	strcat(path, "/");
	strcat(path, walk->rest);
	strcpy(walk->rest, path);
	return path[0] != '/' || walk_from_root(walk, err);
}

/* Takes the first name off the rest of the path. */
static bool take_name(struct own_directory_walk *walk, char name[NAME_MAX + 1], struct error *err)
{
	const char *start = walk->rest + strspn(walk->rest, "/");
	size_t size = strcspn(start, "/");

	if (size > NAME_MAX)
		return error_set_errno(err, ENAMETOOLONG, "'%.200s'", start);
	memcpy(name, start, size);
	name[size] = '\0';
	memmove(walk->rest, start + size, strlen(start + size) + 1);
	return true;
}

static bool walk_step(struct own_directory_walk *walk, const char *name, struct error *err)
{
	int fd = openat(walk->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat info;
	bool ok;

	if (fd < 0 || fstat(fd, &info) != 0)
		ok = error_set_errno(err, errno, "'%.200s'", name);
	else if (!own_directory_check(walk, name, &info, err))
		ok = false;
	else if (S_ISLNK(info.st_mode))
		ok = own_directory_follow(walk, fd, name, err);
	else if (!S_ISDIR(info.st_mode))
		ok = error_set_errno(err, ENOTDIR, "'%.200s'", name);
	else
		return enter(walk, fd, info.st_uid);
	cleanup_close(&fd);
	return ok;
}

static bool walk_all(struct own_directory_walk *walk, const char *path, struct error *err)
{
	char name[NAME_MAX + 1];

	if (path[0] != '/')
		return error_set(err, ERROR_PERMISSION, "'%.200s' is not an absolute path", path);
	if (strlen(path) >= sizeof(walk->rest))
		return error_set_errno(err, ENAMETOOLONG, "'%.200s'", path);
	strcpy(walk->rest, path);
	if (!walk_from_root(walk, err))
		return false;
	while (walk->rest[0]) {
		if (!take_name(walk, name, err) || (name[0] && !walk_step(walk, name, err)))
			return false;
	}
	return true;
}

int own_directory_open(const char *path, uid_t also, struct error *err)
{
	CLEANUP(own_directory_walk_deinit) struct own_directory_walk walk = { .at = -1, .also = also };
	int fd = -1;

	if (walk_all(&walk, path, err)) {
		fd = walk.at;
		walk.at = -1;
	}
	return fd;
}

bool own_directory_is_ours(const char *path)
{
	CLEANUP(own_directory_walk_deinit) struct own_directory_walk walk = { .at = -1, .also = (uid_t)-1 };
	struct error err;

	return (walk_all(&walk, path, &err) || err.code == ERROR_NOT_FOUND) && walk.owner == geteuid();
}
