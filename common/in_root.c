/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/in_root.h"

#include "common/common.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* MOST_LINKS is the kernel's own number (path_resolution(7)). */
enum { MOST_DEPTH = 128, MOST_LINKS = 40 };

struct in_root {
	int root;              /* borrowed */
	int below[MOST_DEPTH]; /* owned: the directories that were entered below the root, and what stands at the end */
	size_t depth;
	unsigned int links;
	bool follows_last, follows_roots_only;
	char rest[2 * PATH_MAX]; /* of the path */
};

static int in_root_top(const struct in_root *at)
{
	return at->depth > 0 ? at->below[at->depth - 1] : at->root;
}

static void in_root_leave(struct in_root *at, size_t depth)
{
	while (at->depth > depth)
		close(at->below[--at->depth]);
}

static int in_root_fail(struct in_root *at, int reason)
{
	in_root_leave(at, 0);
	errno = reason;
	return -1;
}

/* Puts the text of a link before the rest of the path. Returns 0, or why not. */
static int in_root_follow(struct in_root *at, int link)
{
	char target[PATH_MAX];
	ssize_t size = readlinkat(link, "", target, sizeof(target));
	size_t rest_size = strlen(at->rest) + 1;

	if (size <= 0)
		return size < 0 ? errno : ENOENT;
	if (++at->links > MOST_LINKS)
		return ELOOP;
	if ((size_t)size + rest_size > sizeof(at->rest))
		return ENAMETOOLONG;
	/* The rest begins with a slash, if there is one. */
	memmove(at->rest + size, at->rest, rest_size);
	memcpy(at->rest, target, (size_t)size);
	if (target[0] == '/')
		in_root_leave(at, 0);
	return 0;
}

/* Takes the next name off the path. False: there is none. */
static bool in_root_next(struct in_root *at, char name[NAME_MAX + 1], int *reason)
{
	const char *start = at->rest + strspn(at->rest, "/");
	size_t size = strcspn(start, "/");

	*reason = size > NAME_MAX ? ENAMETOOLONG : 0;
	if (size == 0 || *reason)
		return size > 0;
	memcpy(name, start, size);
	name[size] = '\0';
	memmove(at->rest, start + size, strlen(start + size) + 1);
	return true;
}

/* Enters what has the name in the directory where the walk is. Returns 0, or why not. */
static int in_root_enter(struct in_root *at, const char *name)
{
	struct stat info;
	int fd, reason;

	if (strcmp(name, "..") == 0) {
		in_root_leave(at, at->depth > 0 ? at->depth - 1 : 0);
		return 0;
	}
	fd = at->depth < MOST_DEPTH ? openat(in_root_top(at), name, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;
	if (fd < 0)
		return at->depth < MOST_DEPTH ? errno : ENAMETOOLONG;
	if (fstat(fd, &info) != 0 || !S_ISLNK(info.st_mode) || (at->rest[0] == '\0' && !at->follows_last)) {
		at->below[at->depth++] = fd;
		return at->rest[0] != '\0' && !S_ISDIR(info.st_mode) ? ENOTDIR : 0;
	}
	reason = at->follows_roots_only && info.st_uid != 0 ? EACCES : in_root_follow(at, fd);
	close(fd);
	return reason;
}

static int in_root_walk(struct in_root *at, const char *path)
{
	char name[NAME_MAX + 1];
	int reason = 0, found;

	if (strlen(path) >= PATH_MAX)
		return in_root_fail(at, ENAMETOOLONG);
	strcpy(at->rest, path);
	while (reason == 0 && in_root_next(at, name, &reason))
		if (reason == 0 && strcmp(name, ".") != 0)
			reason = in_root_enter(at, name);
	if (reason != 0)
		return in_root_fail(at, reason);
	if (at->depth == 0)
		return openat(at->root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	found = at->below[--at->depth];
	in_root_leave(at, 0);
	return found;
}

int in_root_open(int root, const char *path, bool follows_last)
{
	struct in_root at = { .root = root, .follows_last = follows_last };

	return in_root_walk(&at, path);
}

int in_root_open_by_root(int root, const char *path)
{
	struct in_root at = { .root = root, .follows_last = true, .follows_roots_only = true };

	return in_root_walk(&at, path);
}

uint64_t in_root_tree_of(int32_t pid)
{
	struct stat namespace;
	char path[64], root[PATH_MAX];
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", pid);
	if (stat(path, &namespace) != 0)
		return 0;
	/* The link's text is asked for, which no file system is: that of the process may be one that never answers. */
	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	size = readlink(path, root, sizeof(root));
	if (size <= 0)
		return 0;
	return size == 1 ? namespace.st_ino : hash_mix(namespace.st_ino, hash_bytes(root, (size_t)size) | 1);
}
