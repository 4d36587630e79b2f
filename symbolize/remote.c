/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/remote.h"

#include "binary/binary.h"
#include "symbolize/broker.h"
#include "symbolize/cache.h"
#include "symbolize/debuginfod.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEEPS = -1, CACHED = -2 };
static const size_t max_table_bytes = (size_t)64 << 20;

/* The request; foreign bytes to the one who answers. A path follows, or a table of frames. */
struct remote_request {
	int32_t use; /* enum elf_file_use, KEEPS or CACHED */
	uint32_t unused;
	uint64_t name;                       /* of CACHED: of the file */
	struct elf_file_identity debug, alt; /* of KEEPS */
};

/* ---- The process without files ---- */

static int remote_open(void *context, enum elf_file_use use, const char *path, struct error *err)
{
	struct symbolize_remote *remote = context;
	const struct remote_request request = { .use = (int32_t)use };
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

static int remote_open_cached(void *context, uint64_t name)
{
	struct symbolize_remote *remote = context;
	const struct remote_request request = { .use = CACHED, .name = name };
	int fd;

	pthread_mutex_lock(&remote->lock);
	fd = remote->ask(remote->context, &request, sizeof(request));
	pthread_mutex_unlock(&remote->lock);
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
	const struct remote_request request = { .use = KEEPS, .debug = key->files[1], .alt = key->files[2] };
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
	const struct machine *machine = machine_of(elf_image_machine(image));

	pthread_mutex_init(&remote->lock, NULL);
	remote->opener = (struct elf_opener){ remote_open, remote_real_path, remote };
	remote->cache_opener = (struct frame_cache_opener){ remote_open_cached, remote };
	if (!realpath(elf_image_path(image), remote->real_path))
		remote->real_path[0] = '\0';
	if (!getcwd(remote->directory, sizeof(remote->directory)))
		remote->directory[0] = '\0';
	/* The library stays when it was loaded once: where functions without a size end is decoded. */
	if (machine)
		machine_decoder_destroy(machine_decoder_create(machine));
	options->cache_program = frame_cache_program();
	options->debug.opener = &remote->opener;
	options->cache_opener = &remote->cache_opener;
	options->remote = remote;
}

/* ---- The process that has them ---- */

/* Keeps frames of the image. A child that was taken over can change what is kept of its own image at most. */
static void symbolize_remote_keep(const struct symbolize_options *options, const struct elf_image *image,
	const struct remote_request *request, const void *bytes, size_t size)
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

/* Root opens files of a user's binary as that user, in a process that becomes the user for good. */
static int open_as_owner(struct broker *broker, enum elf_file_use use, const char *path)
{
	int end, fd = -1;
	pid_t pid = child_fork_linked(CHILD_IS_QUIET, CHILD_MESSAGES, &end);
	char none;

	if (pid < 0)
		return -1;
	if (pid == 0) {
		broker->socket = end;
		if (broker_become(broker))
			fd = broker_open(broker, 0, use, path);
		(void)!message_send(end, "", 1, fd);
		_exit(0);
	}
	if (message_receive(end, &none, 1, 0, &fd) <= 0)
		fd = -1;
	close(end);
	(void)child_reap(pid);
	return fd;
}

static int open_by_rule(
	const struct symbolize_options *options, struct elf_image *image, enum elf_file_use use, const char *path)
{
	struct broker broker = { .images = &image,
		.image_count = 1,
		.owner = file_owner_of_image(image),
		.options = options,
		.socket = -1 };
	int fd;

	broker_open_root(&broker);
	fd = geteuid() != 0 || file_owner_is_root(&broker.owner) ? broker_open(&broker, 0, use, path)
								 : open_as_owner(&broker, use, path);
	broker_close_root(&broker);
	return fd;
}

static int open_for(const struct symbolize_options *options, struct elf_image *image,
	const struct remote_request *request, const char *path)
{
	if (request->use == CACHED)
		return options->cache_directory ? frame_cache_open_file(options->cache_directory, request->name, image)
						: -1;
	if (path[0] == '\0')
		return -1;
	if (request->use == ELF_FILE_FETCHED)
		return options->debuginfod ? debuginfod_find(elf_image_build_id(image), options->debuginfod) : -1;
	return request->use >= 0 && request->use < ELF_FILE_FETCHED
		       ? open_by_rule(options, image, (enum elf_file_use)request->use, path)
		       : -1;
}

int symbolize_remote_answer(
	struct elf_image *image, const struct symbolize_options *options, const void *bytes, size_t size)
{
	const struct remote_request *request = bytes;
	const char *rest = (const char *)bytes + sizeof(*request);

	if (size < sizeof(*request))
		return -1;
	size -= sizeof(*request);
	if (request->use == KEEPS) {
		symbolize_remote_keep(options, image, request, rest, size);
		return -1;
	}
	if (size > PATH_MAX || (size > 0 && rest[size - 1] != '\0'))
		return -1;
	return open_for(options, image, request, size > 0 ? rest : "");
}
