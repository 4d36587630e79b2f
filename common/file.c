/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/file.h"

#include "common/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { READ_CHUNK_BYTES = 1 << 18, MAX_PATH_BYTES = 4096 };

static bool is_standard_stream(const char *path)
{
	return strcmp(path, "-") == 0;
}

static bool read_descriptor(int fd, const char *path, struct buffer *buffer, struct error *err)
{
	for (;;) {
		size_t room =
			buffer->max_bytes - buffer->size < READ_CHUNK_BYTES ? buffer->max_bytes - buffer->size : READ_CHUNK_BYTES;
		char probe;
		char *into = room ? buffer_reserve(buffer, room) : &probe;
		ssize_t got;

		if (!into)
			return error_set_memory(err);
		got = read(fd, into, room ? room : 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_set_errno(err, errno, "cannot read %s", path);
		if (got == 0)
			return true;
		if (!room)
			return error_set(err, ERROR_LIMIT, "cannot read %s: larger than %zu bytes", path, buffer->max_bytes);
		buffer_commit(buffer, (size_t)got);
	}
}

bool file_read(const char *path, struct buffer *buffer, struct error *err)
{
	CLEANUP(cleanup_close) int fd = -1;

	if (is_standard_stream(path))
		return read_descriptor(STDIN_FILENO, "standard input", buffer, err);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set_errno(err, errno, "cannot read %s", path);
	return read_descriptor(fd, path, buffer, err);
}

static bool write_descriptor(int fd, const void *bytes, size_t size, const char *path, struct error *err)
{
	const char *pos = bytes;

	while (size > 0) {
		ssize_t written = write(fd, pos, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return error_set_errno(err, errno, "cannot write %s", path);
		pos += written;
		size -= (size_t)written;
	}
	return true;
}

/* The directory part, "." where there is none. */
static bool directory_of(const char *path, char *directory, size_t room, struct error *err)
{
	const char *slash = strrchr(path, '/');
	size_t size = slash ? (size_t)(slash - path) : 1;

	if (slash == path)
		size = 1;
	if (size >= room)
		return error_set(err, ERROR_USAGE, "cannot write a path of more than %zu bytes", room);
	memcpy(directory, slash ? path : ".", size);
	directory[size] = '\0';
	return true;
}

bool file_check_writable(const char *path, struct error *err)
{
	char directory[MAX_PATH_BYTES];
	struct stat info;

	if (is_standard_stream(path))
		return true;
	if (path[0] == '\0')
		return error_set(err, ERROR_USAGE, "cannot write to an empty path; name a file with -o");
	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
		return error_set(err, ERROR_USAGE, "cannot write %s: it is a directory; name a file in it", path);
	if (!directory_of(path, directory, sizeof(directory), err))
		return false;
	if (stat(directory, &info) != 0 && errno == ENOENT)
		return error_set(err, ERROR_NOT_FOUND,
			"cannot write %s: directory %s does not exist; create it or choose another -o", path, directory);
	if (access(directory, W_OK | X_OK) != 0)
		return error_set_errno(err, errno, "cannot write %s in %s", path, directory);
	return true;
}

static bool write_beside(const char *path, char *beside, const void *bytes, size_t size, mode_t mode, struct error *err)
{
	CLEANUP(cleanup_close) int fd = mkostemp(beside, O_CLOEXEC);

	if (fd < 0)
		return error_set_errno(err, errno, "cannot write %s: no file beside it", path);
	if (!write_descriptor(fd, bytes, size, path, err))
		goto fail;
	if (fchmod(fd, mode) != 0 || fsync(fd) != 0 || rename(beside, path) != 0) {
		error_set_errno(err, errno, "cannot write %s", path);
		goto fail;
	}
	return true;
fail:
	unlink(beside);
	return false;
}

bool file_write(const char *path, const void *bytes, size_t size, mode_t mode, struct error *err)
{
	char beside[MAX_PATH_BYTES];
	struct stat info;

	if (is_standard_stream(path))
		return write_descriptor(STDOUT_FILENO, bytes, size, "standard output", err);
	if (!file_check_writable(path, err))
		return false;
	/* A pipe or a device cannot be renamed over. */
	if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
		CLEANUP(cleanup_close) int fd = open(path, O_WRONLY | O_CLOEXEC);

		if (fd < 0)
			return error_set_errno(err, errno, "cannot write %s", path);
		return write_descriptor(fd, bytes, size, path, err);
	}
	if ((size_t)snprintf(beside, sizeof(beside), "%s.XXXXXX", path) >= sizeof(beside))
		return error_set(err, ERROR_USAGE, "cannot write a path of more than %zu bytes", sizeof(beside));
	return write_beside(path, beside, bytes, size, mode, err);
}
