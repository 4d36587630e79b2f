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

void part_init(struct part *part)
{
	*part = (struct part){ .fd = -1 };
	buffer_init(&part->chunk, PART_MAX_CHUNK_BYTES);
}

static bool write_all(int fd, const void *bytes, size_t size)
{
	const uint8_t *pos = bytes;

	while (size > 0) {
		ssize_t written = write(fd, pos, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		pos += written;
		size -= (size_t)written;
	}
	return true;
}

static int open_locked(const char *path, struct error *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0) {
		error_set_errno(err, errno, "cannot write %s", path);
		return -1;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	error_set(
		err, ERROR_USAGE, "cannot write %s: another recording is being written there; choose another -o", path);
	return -1;
}

/* Renames a recording that was never recovered, so that it is kept. */
static bool set_aside(const char *path, struct buffer *notices, struct error *err)
{
	char old[PATH_MAX];

	if ((size_t)snprintf(old, sizeof(old), "%s.old", path) >= sizeof(old) || rename(path, old) != 0)
		return error_set_errno(err, errno, "cannot set the unfinished recording %s aside", path);
	if (notices)
		buffer_printf(notices,
			"a recording that was killed before was kept as %s; 'kelvin recover %s -o FILE' makes a profile of it\n",
			old, old);
	return true;
}

bool part_create(struct part *part, const char *path, struct buffer *notices, struct error *err)
{
	struct stat info;

	part->path = strdup(path);
	if (!part->path)
		return error_set_memory(err);
	part->fd = open_locked(path, err);
	if (part->fd >= 0 && fstat(part->fd, &info) == 0 && info.st_size > (off_t)strlen(PROFILE_INCREMENTS_MAGIC)) {
		bool is_aside = set_aside(path, notices, err);

		close(part->fd);
		part->fd = is_aside ? open_locked(path, err) : -1;
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
	if (!write_all(part->fd, part->chunk.data, part->chunk.size)) {
		int reason = errno;

		part->is_full = true;
		if (ftruncate(part->fd, (off_t)part->written_bytes) != 0)
			part->is_full = true;
		return error_set_errno(err, reason, "cannot write %s", part->path);
	}
	part->written_bytes += part->chunk.size;
	return true;
}
