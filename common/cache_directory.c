/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/cache_directory.h"

#include "common/own_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t max_directory_bytes = (uint64_t)512 << 20;
enum { MAX_FILES = 4096, MAX_NAME_BYTES = 40 };

struct file_age {
	char name[MAX_NAME_BYTES];
	struct timespec time;
	uint64_t size;
};

static int compare_ages(const void *left, const void *right)
{
	const struct file_age *a = left, *b = right;

	if (a->time.tv_sec != b->time.tv_sec)
		return a->time.tv_sec < b->time.tv_sec ? -1 : 1;
	if (a->time.tv_nsec != b->time.tv_nsec)
		return a->time.tv_nsec < b->time.tv_nsec ? -1 : 1;
	return strcmp(a->name, b->name);
}

/*
 * Returns whether a file is one of the cache; other files, such as links, are left alone. ".kelvin-" is a file that was
 * being written.
 */
static bool is_of_cache(const char *name)
{
	return strlen(name) < MAX_NAME_BYTES && (strspn(name, "0123456789abcdef-") == strlen(name) ||
							strncmp(name, ".kelvin-", strlen(".kelvin-")) == 0);
}

void cache_directory_prune(const char *directory)
{
	DIR *stream = opendir(directory);
	/* Not cleared: there are usually few files. */
	struct file_age *files = malloc(MAX_FILES * sizeof(*files));
	const struct dirent *entry;
	uint64_t total = 0;
	size_t count = 0;

	while (stream && files && count < MAX_FILES && (entry = readdir(stream))) {
		struct stat info;

		if (!is_of_cache(entry->d_name) ||
			fstatat(dirfd(stream), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 ||
			!S_ISREG(info.st_mode))
			continue;
		snprintf(files[count].name, sizeof(files[count].name), "%s", entry->d_name);
		files[count].time = info.st_mtim;
		files[count].size = (uint64_t)info.st_size;
		total += files[count++].size;
	}
	if (stream && files && (total > max_directory_bytes || count == MAX_FILES)) {
		qsort(files, count, sizeof(*files), compare_ages);
		for (size_t i = 0; i < count && (total > max_directory_bytes / 2 || count - i > MAX_FILES / 2); i++) {
			unlinkat(dirfd(stream), files[i].name, 0);
			total -= files[i].size;
		}
	}
	free(files);
	if (stream)
		closedir(stream);
}

static void make_with_parents(const char *directory)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s", directory) >= sizeof(path))
		return;
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	mkdir(path, 0700);
}

bool cache_directory_prepare(const char *directory)
{
	struct stat info;

	if (access(directory, F_OK) != 0)
		make_with_parents(directory);
	/* Nothing is stored if root runs with another user's HOME. */
	return stat(directory, &info) == 0 && info.st_uid == geteuid() && access(directory, W_OK) == 0;
}

const char *cache_directory_home(void)
{
	const char *home = getenv("HOME");
	const struct passwd *user;

	if (home && own_directory_is_ours(home))
		return home;
	user = getpwuid(geteuid());
	return user && user->pw_dir && own_directory_is_ours(user->pw_dir) ? user->pw_dir : NULL;
}

bool cache_directory_path(const char *kind, char *path, size_t size)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *below = "";
	int length;

	/* A relative path in this variable must be ignored (XDG Base Directory Specification). */
	if (!cache || !own_directory_is_ours(cache)) {
		cache = cache_directory_home();
		below = "/.cache";
	}
	if (!cache)
		return false;
	length = snprintf(path, size, "%s%s/kelvin/%s", cache, below, kind);
	return length > 0 && (size_t)length < size;
}

int cache_directory_open(const char *directory, const char *name)
{
	char path[PATH_MAX];
	struct stat info;
	int size = snprintf(path, sizeof(path), "%s/%s", directory, name), fd = -1;

	if (size > 0 && (size_t)size < sizeof(path))
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid()))
		return fd;
	close(fd);
	return -1;
}
