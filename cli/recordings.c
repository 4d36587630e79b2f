/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/recordings.h"

#include "cli/interrupt.h"
#include "cli/source_file.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FILES = 1 << 16 };
static const size_t max_question_bytes = (size_t)64 << 20;

/*
 * A question begins with a word: this number, by which it is told from others that a worker asks, and in its last byte
 * the use of a file (enum recording_use), whose path follows, or NAMES, behind which symbolize_name_answer() reads.
 */
static const uint64_t about_recordings = UINT64_C(0x4b56524543000000), kind_mask = 0xff;
enum { NAMES = 0xff };

/* ---- The worker ---- */

static int recordings_ask(void *context, uint64_t kind, const void *bytes, size_t size, struct error *err)
{
	const struct recordings *recordings = context;
	CLEANUP(buffer_deinit) struct buffer question = { 0 };

	kind |= about_recordings;
	buffer_init(&question, max_question_bytes + sizeof(kind));
	buffer_append(&question, &kind, sizeof(kind));
	buffer_append(&question, bytes, size);
	if (!buffer_ok(&question, err))
		return -1;
	return worker_ask(recordings->worker, question.data, question.size, err);
}

static int ask_file(void *context, enum recording_use use, const char *path, struct error *err)
{
	return recordings_ask(context, use, path, strlen(path) + 1, err);
}

static int ask_kernel(void *context, const char *path, struct error *err)
{
	return ask_file(context, RECORDING_KERNEL, path, err);
}

static int ask_names(void *context, const void *bytes, size_t size, struct error *err)
{
	return recordings_ask(context, NAMES, bytes, size, err);
}

/* ---- The parent ---- */

void recordings_init(struct recordings *recordings, const struct load_inputs *const *inputs)
{
	*recordings = (struct recordings){
		.opener = { ask_file, recordings },
		.namer = { ask_names, ask_kernel, recordings },
		.inputs = inputs,
	};
}

void recordings_serve(struct recordings *recordings, struct worker *worker, struct symbolize_options *naming)
{
	bool are_named = true;

	for (size_t i = 0; recordings->inputs[i]; i++)
		are_named = are_named && load_are_named(recordings->inputs[i]);
	if (are_named)
		return;
	recordings->worker = worker;
	recordings->naming = naming;
	naming->namer = &recordings->namer;
	worker->has_children = true;
}

void recordings_deinit(struct recordings *recordings)
{
	for (size_t i = 0; i < recordings->file_count; i++)
		file_opened_deinit(&recordings->files[i]);
	free(recordings->files);
	*recordings = (struct recordings){ 0 };
}

bool recordings_are_asked(const void *bytes, size_t size)
{
	uint64_t kind;

	if (size <= sizeof(kind))
		return false;
	memcpy(&kind, bytes, sizeof(kind));
	return (kind & ~kind_mask) == about_recordings;
}

/* Opens a file as the recording that it is of allows: its directory may be one of those that the user has named. */
static int open_for_any(
	const struct recordings *recordings, enum recording_use use, const char *path, struct error *err)
{
	char cache[PATH_MAX];
	struct recording_file recording = {
		.cache_directory = symbolize_perf_cache_directory(cache, sizeof(cache)) ? cache : NULL
	};

	for (size_t side = 0; use == RECORDING_STREAM && recordings->inputs[side]; side++)
		for (size_t i = 0; i < recordings->inputs[side]->count; i++) {
			const struct source *source = recordings->inputs[side]->sources[i];
			size_t size = strlen(source->name);

			if (source_file_is_directory(source) && strncmp(path, source->name, size) == 0 &&
				path[size] == '/')
				recording.directory = source->name;
		}
	return recording_open(&recording, use, path, err);
}

/* Keeps what is handed out, so that names are made of nothing else. */
static int answer_file(struct recordings *recordings, enum recording_use use, const char *path, struct error *err)
{
	struct file_opened kept = { .fd = -1 };
	int fd = open_for_any(recordings, use, path, err);

	if (fd < 0)
		return -1;
	if (!ARRAY_RESERVE(&recordings->files, &recordings->file_capacity, recordings->file_count + 1, MOST_FILES, err))
		goto fail;
	kept.name = strdup(path);
	if (!kept.name) {
		error_set_memory(err);
		goto fail;
	}
	kept.fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (kept.fd < 0) {
		error_set_errno(err, errno, "cannot open %s", path);
		free(kept.name);
		goto fail;
	}
	recordings->files[recordings->file_count++] = kept;
	return fd;
fail:
	close(fd);
	return -1;
}

static int answer_names(const struct recordings *recordings, const void *bytes, size_t size, struct error *err)
{
	struct symbolize_options naming = *recordings->naming;
	char cache[PATH_MAX];
	int fd;

	naming.namer = NULL;
	naming.is_stopped = interrupt_stops_naming;
	if (symbolize_cache_directory(cache, sizeof(cache)))
		naming.cache_directory = cache;
	interrupt_begin_naming();
	fd = symbolize_name_answer(&naming, recordings->files, recordings->file_count, bytes, size, err);
	interrupt_end_naming();
	return fd;
}

int recordings_answer(struct recordings *recordings, const void *bytes, size_t size, struct error *err)
{
	const char *rest = (const char *)bytes + sizeof(uint64_t);
	uint64_t kind;

	if (!recordings->worker)
		return -1;
	memcpy(&kind, bytes, sizeof(kind));
	kind &= kind_mask;
	size -= sizeof(kind);
	if (kind == NAMES)
		return answer_names(recordings, rest, size, err);
	if (size > PATH_MAX || rest[size - 1] != '\0') {
		error_set(err, ERROR_FORMAT, "a path is damaged");
		return -1;
	}
	return answer_file(recordings, (enum recording_use)kind, rest, err);
}
