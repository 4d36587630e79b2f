/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/fuzz/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char directory[] = "/tmp/kelvin-fuzz-XXXXXX";
static bool is_made;

static void must(bool ok)
{
	if (!ok) {
		perror(directory);
		abort();
	}
}

static void remove_directory(void)
{
	DIR *stream = opendir(directory);
	const struct dirent *entry;

	while (stream && (entry = readdir(stream)))
		unlinkat(dirfd(stream), entry->d_name, 0);
	if (stream)
		closedir(stream);
	rmdir(directory);
}

void scratch_path(const char *name, char path[PATH_MAX])
{
	if (!is_made) {
		must(mkdtemp(directory));
		atexit(remove_directory);
		is_made = true;
	}
	must(snprintf(path, PATH_MAX, "%s/%s", directory, name) < PATH_MAX);
}

void scratch_write(const char *name, const void *bytes, size_t size)
{
	char path[PATH_MAX];
	int fd;

	scratch_path(name, path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && close(fd) == 0);
}

void scratch_link(const char *name, const char *other)
{
	char from[PATH_MAX], to[PATH_MAX];

	scratch_path(name, from);
	scratch_path(other, to);
	must(link(from, to) == 0 || errno == EEXIST);
}
