/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/part/part.h"

#include "sampler/process/recorded.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

enum { MAX_OLD = 1000, INTERVAL_NS = 550000000 };

void part_init(struct part *part)
{
	*part = (struct part){ .fd = -1 };
	buffer_init(&part->chunk, PART_MAX_CHUNK_BYTES);
}

/*
 * Checks whether the file may receive a recording: one that another user has made, or has a second name for, would be
 * read there; a pipe would stop the recorder.
 */
static bool check_own(const char *path, int fd, struct error *err)
{
	const char *reason = NULL;
	struct stat info;

	if (fstat(fd, &info) != 0)
		return error_set_errno(err, errno, "cannot write %s", path);
	if (!S_ISREG(info.st_mode))
		reason = "it is not a regular file";
	else if (info.st_uid != geteuid())
		reason = "it belongs to another user";
	else if (info.st_nlink > 1)
		reason = "it has a second name (a hard link)";
	return !reason ||
	       error_set(err, ERROR_PERMISSION, "cannot write %s: %s; remove it or choose another -o", path, reason);
}

/* Opens the file, or makes it. One that exists is not opened with O_CREAT, which the kernel may refuse in /tmp. */
static int part_open_own(const char *path, struct error *err)
{
	static const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	int fd = open(path, flags);

	if (fd < 0 && errno == ENOENT)
		fd = open(path, flags | O_CREAT | O_EXCL, 0600);
	if (fd < 0 && errno == ELOOP)
		error_set(err, ERROR_PERMISSION, "cannot write %s: it is a link; remove it or choose another -o", path);
	else if (fd < 0)
		error_set_errno(err, errno, "cannot write %s (choose another -o)", path);
	if (fd >= 0 && !check_own(path, fd, err)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int part_open_locked(const char *path, struct error *err)
{
	int fd = part_open_own(path, err);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	error_set(
		err, ERROR_USAGE, "cannot write %s: another recording is being written there; choose another -o", path);
	return -1;
}

/* Renames a file unless the new name is taken, which sets EEXIST. Some file systems can do the one, some the other. */
static bool rename_to_new(const char *from, const char *to)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return true;
	return (errno == EINVAL || errno == ENOSYS) && link(from, to) == 0 && unlink(from) == 0;
}

/* Renames a recording that was never recovered: PATH.old, and if there are such already PATH.old.2 and so on. */
static bool set_aside(const char *path, struct buffer *notices, struct error *err)
{
	char old[PATH_MAX];

	for (int i = 1; i <= MAX_OLD; i++) {
		int size = i == 1 ? snprintf(old, sizeof(old), "%s.old", path)
				  : snprintf(old, sizeof(old), "%s.old.%d", path, i);

		if ((size_t)size >= sizeof(old))
			return error_set_errno(err, ENAMETOOLONG, "cannot set the unfinished recording %s aside", path);
		if (rename_to_new(path, old)) {
			if (notices)
				buffer_printf(notices,
					"a recording that was killed before was kept as %s; 'kelvin recover %s -o FILE' makes a profile of it\n",
					old, old);
			return true;
		}
		if (errno != EEXIST)
			return error_set_errno(err, errno, "cannot set the unfinished recording %s aside", path);
	}
	return error_set(err, ERROR_LIMIT,
		"cannot set the unfinished recording %s aside: there are %d others (%s.old and so on); recover or remove them",
		path, MAX_OLD, path);
}

bool part_create(struct part *part, const char *path, struct buffer *notices, struct error *err)
{
	struct stat info;

	part->path = strdup(path);
	if (!part->path)
		return error_set_memory(err);
	part->fd = part_open_locked(path, err);
	if (part->fd >= 0 && fstat(part->fd, &info) == 0 && info.st_size > (off_t)strlen(PROFILE_INCREMENTS_MAGIC)) {
		bool is_aside = set_aside(path, notices, err);

		close(part->fd);
		part->fd = is_aside ? part_open_locked(path, err) : -1;
	}
	if (part->fd < 0)
		return false;
	part->kernel_text = recorded_kernel_text();
	return true;
}

void part_deinit(struct part *part)
{
	if (part->fd >= 0 && part->written_bytes == 0)
		unlink(part->path);
	if (part->fd >= 0)
		close(part->fd);
	buffer_deinit(&part->chunk);
	free(part->path);
	profile_written_deinit(&part->written);
	part_init(part);
}

bool part_write(struct part *part, const struct profile *profile, int64_t duration_ns, struct error *err)
{
	const struct profile_recording recording = { .duration_ns = duration_ns, .kernel_text = part->kernel_text };

	if (part->is_full)
		return true;
	part->chunk.size = 0;
	if (!profile_write_increment(profile, &recording, &part->written, &part->chunk, err)) {
		part->is_full = true;
		return false;
	}
	if (!file_write_all(part->fd, part->chunk.data, part->chunk.size)) {
		int reason = errno;

		part->is_full = true;
		if (ftruncate(part->fd, (off_t)part->written_bytes) != 0)
			part->is_full = true;
		return error_set_errno(err, reason, "cannot write %s", part->path);
	}
	part->written_bytes += part->chunk.size;
	return true;
}

bool part_write_in_time(
	struct part *part, const struct profile *profile, uint64_t clock_ns, int64_t duration_ns, struct error *err)
{
	if (part->fd < 0 || clock_ns - part->written_ns < INTERVAL_NS || profile->event_count == part->written.events)
		return true;
	part->written_ns = clock_ns;
	return part_write(part, profile, duration_ns, err);
}
