/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/file.h"

#include "common/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { READ_CHUNK_BYTES = 1 << 18, MAX_PATH_BYTES = 4096, MAX_NAME_TRIES = 100 };

static bool is_standard_stream(const char *path)
{
	return strcmp(path, "-") == 0;
}

static bool read_descriptor(int fd, const char *path, struct buffer *buffer, struct error *err)
{
	for (;;) {
		size_t room = buffer->max_bytes - buffer->size < READ_CHUNK_BYTES ? buffer->max_bytes - buffer->size
										  : READ_CHUNK_BYTES;
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
			return error_set(
				err, ERROR_LIMIT, "cannot read %s: larger than %zu bytes", path, buffer->max_bytes);
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

void file_opened_deinit(struct file_opened *file)
{
	if (file->name)
		close(file->fd);
	free(file->name);
	*file = (struct file_opened){ 0 };
}

bool file_read_opened(const struct file_opened *file, struct buffer *buffer, struct error *err)
{
	if (lseek(file->fd, 0, SEEK_SET) != 0)
		return error_set_errno(err, errno, "cannot read %s", file->name);
	return read_descriptor(file->fd, file->name, buffer, err);
}

static bool write_descriptor(int fd, const void *bytes, size_t size, const char *path, struct error *err)
{
	const char *pos = bytes;

	while (size > 0) {
		ssize_t written = write(fd, pos, size);

		if (written < 0 && errno == EINTR)
			continue;
		/* Another process of the pipeline may have made the shared standard output non-blocking. */
		if (written < 0 && errno == EAGAIN && poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, -1) >= 0)
			continue;
		if (written < 0)
			return error_set_errno(err, errno, "cannot write %s", path);
		pos += written;
		size -= (size_t)written;
	}
	return true;
}

/* The file that is written. Links are followed, so that a link stays a link. */
struct destination {
	char path[MAX_PATH_BYTES];
	char directory[MAX_PATH_BYTES];
	bool is_stream; /* a pipe, a device or one of our open files, which cannot be replaced by rename() */
};

/* Copies the directory part of a path, "." if there is none. */
static void directory_of(const char *path, char *directory)
{
	const char *slash = strrchr(path, '/');
	size_t size = slash ? (size_t)(slash - path) : 1;

	if (slash == path)
		size = 1;
	memcpy(directory, slash ? path : ".", size);
	directory[size] = '\0';
}

/* Follows a link whose target does not exist yet. */
static bool follow_to_nothing(const char *path, char *to)
{
	char target[MAX_PATH_BYTES], directory[MAX_PATH_BYTES];
	ssize_t size = readlink(path, target, sizeof(target) - 1);
	struct stat info;

	if (size < 0 || access(path, F_OK) == 0 || errno != ENOENT)
		return false;
	target[size] = '\0';
	directory_of(path, directory);
	return snprintf(to, MAX_PATH_BYTES, "%s%s%s", target[0] == '/' ? "" : directory, target[0] == '/' ? "" : "/",
		       target) < MAX_PATH_BYTES &&
	       lstat(to, &info) != 0;
}

static bool find_destination(const char *path, struct destination *to, struct error *err)
{
	CLEANUP(cleanup_free) char *followed = NULL;
	struct stat info;

	if (path[0] == '\0')
		return error_set(err, ERROR_USAGE, "cannot write to an empty path; name a file");
	if (strlen(path) >= sizeof(to->path))
		return error_set(err, ERROR_USAGE, "cannot write a path of %zu bytes, at most %zu; choose a shorter -o",
			strlen(path), sizeof(to->path) - 1);
	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
		return error_set(err, ERROR_USAGE, "cannot write %s: it is a directory; name a file in it", path);
	to->is_stream = stat(path, &info) == 0 && !S_ISREG(info.st_mode);
	strcpy(to->path, path);
	if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode)) {
		followed = realpath(path, NULL);
		/* A target without a name (an open but deleted file) is written through the link. */
		if (followed)
			strcpy(to->path, followed);
		else
			to->is_stream = !follow_to_nothing(path, to->path);
	}
	directory_of(to->path, to->directory);
	return true;
}

static bool check_destination(const char *path, const struct destination *to, struct error *err)
{
	struct stat info;

	if (to->is_stream)
		return access(path, W_OK) == 0 || errno == ENOENT ||
		       error_set_errno(err, errno, "cannot write %s", path);
	if (stat(to->directory, &info) != 0 && errno == ENOENT)
		return error_set(err, ERROR_NOT_FOUND,
			"cannot write %s: directory %s does not exist; create it or name another file", path,
			to->directory);
	if (stat(to->directory, &info) == 0 && !S_ISDIR(info.st_mode))
		return error_set(err, ERROR_USAGE, "cannot write %s: %s is not a directory; name another file", path,
			to->directory);
	if (access(to->directory, W_OK | X_OK) != 0) {
		int reason = errno;

		return error_set_errno(
			err, reason, "cannot write %s into directory %s (name another file)", path, to->directory);
	}
	return true;
}

bool file_check_writable(const char *path, struct error *err)
{
	struct destination to;

	if (is_standard_stream(path))
		return true;
	return find_destination(path, &to, err) && check_destination(path, &to, err);
}

/* Creates a temporary file. mkstemp() is not used because `mode` must be subject to the user's umask. */
static int create_beside(const char *directory, mode_t mode, char *beside, size_t room)
{
	int fd = -1;

	for (int i = 0; i < MAX_NAME_TRIES; i++) {
		if ((size_t)snprintf(beside, room, "%s/.kelvin-%d-%d", directory, (int)getpid(), i) >= room) {
			errno = ENAMETOOLONG;
			return -1;
		}
		fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	return fd;
}

static bool write_beside(const struct destination *to, const void *bytes, size_t size, mode_t mode, struct error *err)
{
	char beside[MAX_PATH_BYTES];
	CLEANUP(cleanup_close) int fd = create_beside(to->directory, mode, beside, sizeof(beside));

	if (fd < 0)
		return error_set_errno(err, errno, "cannot write %s: no new file in %s", to->path, to->directory);
	if (!write_descriptor(fd, bytes, size, to->path, err))
		goto fail;
	if (fsync(fd) != 0 || rename(beside, to->path) != 0) {
		error_set_errno(err, errno, "cannot write %s", to->path);
		goto fail;
	}
	return true;
fail:
	unlink(beside);
	return false;
}

static bool write_stream(const char *path, const void *bytes, size_t size, mode_t mode, struct error *err)
{
	CLEANUP(cleanup_close) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	if (fd < 0)
		return error_set_errno(err, errno, "cannot write %s", path);
	return write_descriptor(fd, bytes, size, path, err);
}

bool file_write(const char *path, const void *bytes, size_t size, mode_t mode, struct error *err)
{
	struct destination to;

	if (is_standard_stream(path))
		return write_descriptor(STDOUT_FILENO, bytes, size, "standard output", err);
	if (!find_destination(path, &to, err) || !check_destination(path, &to, err))
		return false;
	return to.is_stream ? write_stream(path, bytes, size, mode, err) : write_beside(&to, bytes, size, mode, err);
}
