/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/watch/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Opening ---- */

static bool make_absolute(const char *path, char **absolute, struct error *err)
{
	CLEANUP(cleanup_free) char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);

	if (path[0] != '/' && !here)
		return error_set_errno(err, errno, "cannot watch into %s", path);
	if (asprintf(absolute, "%s%s%s", here ? here : "", here ? "/" : "", path) < 0) {
		*absolute = NULL;
		return error_set_memory(err);
	}
	return true;
}

static bool watch_place_open_directory(struct watch_place *place, struct error *err)
{
	CLEANUP(cleanup_close) int own = -1;
	struct stat info;

	if (mkdir(place->path, 0700) != 0 && errno != EEXIST)
		return error_set_errno(err, errno, "cannot make the directory %s", place->path);
	own = own_directory_open(place->path, (uid_t)-1, err);
	if (own < 0)
		return error_prefix(err,
			"cannot watch into %s: choose a directory that is yours, on a way that others cannot change",
			place->path);
	if (fstat(own, &info) != 0 || info.st_uid != geteuid())
		return error_set(err, ERROR_PERMISSION,
			"cannot watch into %s: it belongs to user %u; choose a directory of your own", place->path,
			(unsigned int)info.st_uid);
	place->fd = openat(own, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return place->fd >= 0 || error_set_errno(err, errno, "cannot watch into %s", place->path);
}

/* Takes a lock of fcntl(2): children do not have it, and the kernel tells whose it is. */
static bool lock_directory(struct watch_place *place, struct error *err)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	place->lock = openat(place->fd, ".watch", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (place->lock < 0)
		return error_set_errno(err, errno, "cannot watch into %s: no file can be made there", place->path);
	if (fcntl(place->lock, F_SETLK, &lock) == 0)
		return true;
	if (errno != EACCES && errno != EAGAIN)
		return error_set_errno(err, errno, "cannot lock %s", place->path);
	if (fcntl(place->lock, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
		lock.l_pid = 0;
	return error_set(err, ERROR_USAGE,
		"pid %d watches into %s already, and one watch has one directory; give another one with -o, or end that process",
		(int)lock.l_pid, place->path);
}

/* Returns whether file_write() has made a file of this name beside the one that it wrote. */
static bool is_left_behind(const char *name)
{
	static const char begin[] = ".kelvin-";
	enum { DIGITS = 16 };

	return strncmp(name, begin, sizeof(begin) - 1) == 0 && strlen(name) == sizeof(begin) - 1 + DIGITS &&
	       strspn(name + sizeof(begin) - 1, "0123456789abcdef") == DIGITS;
}

static DIR *open_list(const struct watch_place *place)
{
	int fd = openat(place->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !list)
		close(fd);
	return list;
}

/* Removes the files that a watch which was killed has left behind, before this one writes anything. */
static void remove_left_behind(const struct watch_place *place)
{
	DIR *list = open_list(place);
	const struct dirent *entry;

	while (list && (entry = readdir(list)) != NULL)
		if (is_left_behind(entry->d_name))
			(void)unlinkat(place->fd, entry->d_name, 0);
	if (list)
		closedir(list);
}

bool watch_place_open(const char *path, struct watch_place *place, struct error *err)
{
	*place = (struct watch_place){ .fd = -1, .lock = -1 };
	if (!make_absolute(path, &place->path, err) || !watch_place_open_directory(place, err) ||
		!lock_directory(place, err))
		return false;
	remove_left_behind(place);
	return true;
}

void watch_place_deinit(struct watch_place *place)
{
	free(place->path);
	cleanup_close(&place->fd);
	cleanup_close(&place->lock);
}

/* ---- Files ---- */

bool watch_place_is_removed(const struct watch_place *place)
{
	struct stat info;

	return fstat(place->fd, &info) == 0 && info.st_nlink == 0;
}

bool watch_place_list(const struct watch_place *place, struct watch_files *files, struct error *err)
{
	DIR *list = open_list(place);
	const struct dirent *entry;
	bool ok = true;

	if (!list)
		return error_set_errno(err, errno, "cannot read %s", place->path);
	while (ok && (entry = readdir(list)) != NULL) {
		struct watch_file file;
		struct stat info;

		if (!watch_file_parse(entry->d_name, &file) ||
			fstatat(place->fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode))
			continue;
		file.bytes = (uint64_t)info.st_size;
		ok = watch_files_add(files, &file, err);
	}
	closedir(list);
	watch_files_sort(files);
	return ok;
}

int64_t watch_place_written_ns(const struct watch_place *place, const struct watch_file *file)
{
	char name[WATCH_NAME_BYTES];
	struct stat info;

	watch_file_name(file, name);
	if (fstatat(place->fd, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
		return 0;
	return (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec;
}

bool watch_place_has(const struct watch_place *place, const struct watch_file *file)
{
	char name[WATCH_NAME_BYTES];
	struct stat info;

	watch_file_name(file, name);
	return fstatat(place->fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

void watch_place_choose(const struct watch_place *place, struct watch_file *file)
{
	for (file->number = 1; file->number < WATCH_MOST_FILES; file->number++) {
		struct watch_file part = *file;

		part.kind = WATCH_PART;
		if (!watch_place_has(place, file) && !watch_place_has(place, &part))
			return;
	}
}

void watch_place_remove(const struct watch_place *place, const struct watch_file *file)
{
	char name[WATCH_NAME_BYTES];

	watch_file_name(file, name);
	(void)unlinkat(place->fd, name, 0);
}

bool watch_place_expire(const struct watch_place *place, const struct watch_bounds *bounds, struct error *err)
{
	CLEANUP(watch_files_deinit) struct watch_files files = { 0 };
	size_t expired;

	if (!watch_place_list(place, &files, err) || !watch_files_expired(&files, bounds, &expired, err))
		return false;
	for (size_t i = 0; i < expired; i++)
		watch_place_remove(place, &files.items[i]);
	return true;
}
