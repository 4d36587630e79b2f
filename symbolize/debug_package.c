/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/debug_package.h"

#include "common/common.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char lists[] = "/var/lib/dpkg/info", ending[] = ".list";

/* Returns whether a list has a line that is the path. On a system with /lib in /usr/lib, lists may have either. */
static bool debug_package_lists(FILE *list, const char *path)
{
	const char *short_path = strncmp(path, "/usr/", 5) == 0 ? path + 4 : path;
	char line[PATH_MAX];
	bool found = false;

	while (!found && fgets(line, sizeof(line), list)) {
		line[strcspn(line, "\n")] = '\0';
		found = strcmp(line, path) == 0 || strcmp(line, short_path) == 0;
	}
	return found;
}

/* Takes the package from the name of its list: `libc6:amd64.list`. */
static bool debug_package_take(const char *file, char *package, size_t size)
{
	int length = (int)strcspn(file, ":");
	const char *end = strstr(file, ending);

	length = end && end - file < length ? (int)(end - file) : length;
	return snprintf(package, size, "%.*s%s", length, file,
		       strncmp(file, "libc6", (size_t)length) == 0 && length == 5 ? "-dbg" : "-dbgsym") < (int)size;
}

bool debug_package_of(const char *path, char *package, size_t size)
{
	CLEANUP(cleanup_free) char *real = strncmp(path, "/usr/", 5) == 0 ? realpath(path, NULL) : NULL;
	DIR *directory = real ? opendir(lists) : NULL;
	bool found = false;

	for (const struct dirent *entry; directory && !found && (entry = readdir(directory));) {
		size_t length = strlen(entry->d_name);
		int fd;
		FILE *list;

		if (length < sizeof(ending) || strcmp(entry->d_name + length - (sizeof(ending) - 1), ending) != 0)
			continue;
		fd = openat(dirfd(directory), entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		list = fd >= 0 ? fdopen(fd, "r") : NULL;
		if (!list) {
			if (fd >= 0)
				close(fd);
			continue;
		}
		found = debug_package_lists(list, real) && debug_package_take(entry->d_name, package, size);
		fclose(list);
	}
	if (directory)
		closedir(directory);
	return found;
}
