/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/remove.h"

#include "common/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* Passes over the entries, each of which removed something: a tree may grow while it is removed. */
enum { MOST_PASSES = 10000 };

struct removal {
	int top; /* owned */
	dev_t device;
	unsigned long moved; /* directories, which get new names */
	int failure;         /* errno of the last entry that stays; 0: none */
	bool has_removed;    /* in this pass */
};

/* Opens a directory to read it; its owner may have taken the rights on it. */
static int remove_open_directory(int parent, const char *name, struct stat *info)
{
	CLEANUP(cleanup_close) int fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char path[32];

	if (fd < 0 || fstat(fd, info) != 0)
		return -1;
	if ((info->st_mode & S_IRWXU) != S_IRWXU) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		(void)chmod(path, S_IRWXU);
	}
	return openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static void remove_note(struct removal *removal, bool is_removed)
{
	if (is_removed)
		removal->has_removed = true;
	else if (errno != ENOENT)
		removal->failure = errno;
}

/* Directories are moved up, so no tree is too deep for our descriptors. */
static bool move_up(struct removal *removal, int parent, const char *name)
{
	char moved[64];

	if (unlinkat(parent, name, AT_REMOVEDIR) == 0)
		return true;
	do
		snprintf(moved, sizeof(moved), ".kelvin-moved-%lu", removal->moved++);
	while (faccessat(removal->top, moved, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
	return renameat(parent, name, removal->top, moved) == 0;
}

/* Empties a directory of the top, but for what its own directories hold: they become the top's. */
static void empty(struct removal *removal, const char *name)
{
	struct stat info;
	int fd = remove_open_directory(removal->top, name, &info);
	DIR *directory = fd >= 0 && info.st_dev == removal->device ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	if (!directory) {
		cleanup_close(&fd);
		return;
	}
	while ((entry = readdir(directory)) != NULL)
		if (!is_dots(entry->d_name))
			remove_note(removal,
				unlinkat(fd, entry->d_name, 0) == 0 ||
					((errno == EISDIR || errno == EPERM) && move_up(removal, fd, entry->d_name)));
	closedir(directory);
}

static void remove_entry(struct removal *removal, const char *name)
{
	bool is_removed = unlinkat(removal->top, name, 0) == 0;

	if (!is_removed && (errno == EISDIR || errno == EPERM)) {
		empty(removal, name);
		is_removed = unlinkat(removal->top, name, AT_REMOVEDIR) == 0;
	}
	remove_note(removal, is_removed);
}

static bool remove_entries(struct removal *removal, DIR *directory)
{
	const struct dirent *entry;

	removal->has_removed = false;
	removal->failure = 0;
	rewinddir(directory);
	while ((entry = readdir(directory)) != NULL)
		if (!is_dots(entry->d_name))
			remove_entry(removal, entry->d_name);
	return removal->has_removed;
}

static void remove_all(struct removal *removal)
{
	int fd = fcntl(removal->top, F_DUPFD_CLOEXEC, 3);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;

	if (!directory) {
		removal->failure = errno;
		cleanup_close(&fd);
		return;
	}
	for (int pass = 0; pass < MOST_PASSES && remove_entries(removal, directory); pass++)
		;
	closedir(directory);
}

bool remove_tree(int parent, const char *name, struct error *err)
{
	struct removal removal = { 0 };
	struct stat info;

	removal.top = remove_open_directory(parent, name, &info);
	if (removal.top < 0)
		return errno == ENOENT || error_set_errno(err, errno, "cannot remove %.200s", name);
	removal.device = info.st_dev;
	remove_all(&removal);
	close(removal.top);
	if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return true;
	return error_set_errno(err, removal.failure ? removal.failure : errno, "cannot remove all of %.200s", name);
}
