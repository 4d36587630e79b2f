/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/remote.h"

#include "symbolize/broker.h"
#include "symbolize/cache.h"
#include "symbolize/debuginfod.h"

#include <elf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEEPS = -1 };
static const size_t max_table_bytes = (size_t)64 << 20;

/* What is asked; foreign bytes to the one who answers. A path follows, or a table of frames. */
struct request {
	int32_t use; /* enum elf_file_use, or KEEPS */
	uint32_t unused;
	struct elf_file_identity debug, alt; /* of KEEPS */
};

/* ---- The process without files ---- */

static int remote_open(void *context, enum elf_file_use use, const char *path, struct error *err)
{
	struct symbolize_remote *remote = context;
	const struct request request = { .use = (int32_t)use };
	CLEANUP(buffer_deinit) struct buffer bytes = { 0 };
	int fd = -1;

	buffer_init(&bytes, sizeof(request) + PATH_MAX);
	buffer_append(&bytes, &request, sizeof(request));
	if (path[0] != '/')
		buffer_printf(&bytes, "%s/", remote->directory);
	buffer_append(&bytes, path, strlen(path) + 1);
	pthread_mutex_lock(&remote->lock);
	if (!bytes.failed)
		fd = remote->ask(remote->context, bytes.data, bytes.size);
	pthread_mutex_unlock(&remote->lock);
	if (fd < 0)
		error_set(err, ERROR_NOT_FOUND, "cannot open %s", path);
	return fd;
}

static bool remote_real_path(void *context, char *path)
{
	const struct symbolize_remote *remote = context;

	memcpy(path, remote->real_path, sizeof(remote->real_path));
	return path[0] != '\0';
}

void remote_keep(
	struct symbolize_remote *remote, const struct frame_cache_key *key, const struct named_frames_entries *entries)
{
	const struct request request = { .use = KEEPS, .debug = key->files[1], .alt = key->files[2] };
	CLEANUP(buffer_deinit) struct buffer bytes = { 0 };
	struct error ignored;

	buffer_init(&bytes, sizeof(request) + max_table_bytes);
	buffer_append(&bytes, &request, sizeof(request));
	if (!named_frames_write(entries, &bytes, &ignored) || bytes.failed)
		return;
	pthread_mutex_lock(&remote->lock);
	(void)remote->ask(remote->context, bytes.data, bytes.size);
	pthread_mutex_unlock(&remote->lock);
}

void symbolize_remote_init(
	struct symbolize_remote *remote, const struct elf_image *image, struct symbolize_options *options)
{
	pthread_mutex_init(&remote->lock, NULL);
	remote->opener = (struct elf_opener){ remote_open, remote_real_path, remote };
	if (!realpath(elf_image_path(image), remote->real_path))
		remote->real_path[0] = '\0';
	if (!getcwd(remote->directory, sizeof(remote->directory)))
		remote->directory[0] = '\0';
	options->cache_program = frame_cache_program();
	options->debug.opener = &remote->opener;
	options->remote = remote;
}

/* ---- The process that has them ---- */

/* Who took over the other process can change what is kept of its own image at most. */
static void keep(const struct symbolize_options *options, const struct elf_image *image, const struct request *request,
	const void *bytes, size_t size)
{
	struct frame_cache_key key = frame_cache_key_of(options, image, NULL, NULL);
	struct named_frames table;

	if (!options->cache_directory || !named_frames_init(&table, bytes, size))
		return;
	key.files[1] = request->debug;
	key.files[2] = request->alt;
	key.opener = NULL;
	frame_cache_add(&key, &table);
}

/* Beside kept frames, binaries alone are handed over: the rule may allow any file of the image's owner. */
static int binaries_alone(int fd)
{
	char magic[SELFMAG];

	if (fd < 0 || (pread(fd, magic, sizeof(magic), 0) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0))
		return fd;
	close(fd);
	return -1;
}

static int open_for(const struct symbolize_options *options, struct elf_image *image, int32_t use, const char *path)
{
	const struct broker broker = { .images = &image, .image_count = 1, .options = options };

	if (use == ELF_FILE_FRAMES)
		return broker_open(&broker, image, ELF_FILE_FRAMES, path);
	if (use == ELF_FILE_FETCHED)
		return options->debuginfod ? binaries_alone(debuginfod_find(elf_image_build_id(image))) : -1;
	return use >= 0 && use < ELF_FILE_FRAMES
		       ? binaries_alone(broker_open(&broker, image, (enum elf_file_use)use, path))
		       : -1;
}

int symbolize_remote_answer(
	struct elf_image *image, const struct symbolize_options *options, const void *bytes, size_t size)
{
	const struct request *request = bytes;
	const char *rest = (const char *)bytes + sizeof(*request);

	if (size < sizeof(*request))
		return -1;
	size -= sizeof(*request);
	if (request->use != KEEPS)
		return size > 0 && size <= PATH_MAX && rest[size - 1] == '\0'
			       ? open_for(options, image, request->use, rest)
			       : -1;
	keep(options, image, request, rest, size);
	return -1;
}
