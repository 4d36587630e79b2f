/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads which build a process runs. */
#include "sampler/watch/watch.h"

#include "sampler/process/otel_context.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum { MOST_TEXT_BYTES = 1 << 24, MOST_ENVIRONMENT_BYTES = READER_MOST_BYTES };
/* The largest program without a build id whose contents are hashed; of a larger one nothing is known. */
static const size_t most_hashed_bytes = (size_t)512 << 20;

static void reader_cleanup(struct process_reader **reader)
{
	process_reader_destroy(*reader);
}

/* ---- The main binary ---- */

/* The first mapping of the file that the process executes. */
struct main_binary {
	const char *link; /* its path */
	struct elf_mapping mapping;
	bool is_found;
};

static bool identify_take_mapping(void *context, const struct elf_maps_entry *entry, struct error *err)
{
	struct main_binary *binary = context;

	(void)err;
	if (!binary->is_found && strcmp(entry->mapping.path, binary->link) == 0) {
		binary->mapping = entry->mapping;
		binary->mapping.path = binary->link;
		binary->is_found = true;
	}
	return true;
}

static bool identify_find_binary(
	struct process_reader *reader, const struct watch_process *process, struct main_binary *binary)
{
	CLEANUP(buffer_deinit) struct buffer text;
	struct error ignored;
	bool is_denied;

	*binary = (struct main_binary){ .link = process->link };
	buffer_init(&text, MOST_TEXT_BYTES);
	(void)process_reader_maps(reader, process->pid, &text, &is_denied);
	/* What is behind the last whole line did not arrive. */
	while (text.size > 0 && text.data[text.size - 1] != '\n')
		text.data[--text.size] = '\0';
	if (text.size > 0)
		(void)!elf_maps_parse(text.data, process->pid, identify_take_mapping, binary, &ignored);
	return binary->is_found;
}

static void name_contents(const struct elf_image *image, char name[static WATCH_WORD_BYTES])
{
	uint8_t digest[MD5_BYTES];
	size_t size;
	const uint8_t *bytes = elf_image_bytes(image, &size);

	if (size > most_hashed_bytes)
		return;
	md5(bytes, size, digest);
	strcpy(name, "md5-");
	for (size_t i = 0; i < MD5_BYTES; i++)
		sprintf(name + 4 + 2 * i, "%02x", digest[i]);
}

static void read_build_id(
	struct process_reader *reader, const struct watch_process *process, char id[static WATCH_WORD_BYTES])
{
	CLEANUP(elf_image_cleanup) struct elf_image *image = NULL;
	struct main_binary binary;
	struct error ignored;

	if (!identify_find_binary(reader, process, &binary) ||
		!process_reader_open(reader, &binary.mapping, &image, &ignored))
		return;
	if (elf_image_build_id(image)->size > 0)
		elf_build_id_format(elf_image_build_id(image), id);
	else
		name_contents(image, id);
}

/* ---- The container ---- */

static bool identify_read_text(pid_t pid, const char *name, struct buffer *text)
{
	struct error ignored;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	buffer_init(text, MOST_TEXT_BYTES);
	return file_read(path, text, &ignored) && text->data;
}

static void identify_read_image(pid_t pid, char image[static WATCH_WORD_BYTES])
{
	CLEANUP(buffer_deinit) struct buffer mounts = { 0 };
	CLEANUP(buffer_deinit) struct buffer group = { 0 };

	if (identify_read_text(pid, "mountinfo", &mounts) && identify_read_text(pid, "cgroup", &group))
		watch_image_of(mounts.data, group.data, image);
}

/* ---- What it was told of itself ---- */

/* Finds where the kernel has put the environment; false without the right to look. */
static bool find_environment(pid_t pid, uint64_t *start, size_t *size)
{
	struct proc_stat stat;
	uint64_t bytes;

	if (!proc_read_stat(pid, &stat) || stat.environment_start == 0 ||
		stat.environment_end <= stat.environment_start)
		return false;
	bytes = stat.environment_end - stat.environment_start;
	*start = stat.environment_start;
	*size = bytes < MOST_ENVIRONMENT_BYTES ? (size_t)bytes : MOST_ENVIRONMENT_BYTES;
	return true;
}

static void read_environment(struct process_reader *reader, pid_t pid, struct watch_identity *identity)
{
	CLEANUP(cleanup_free) char *bytes = NULL;
	struct watch_environment environment;
	uint64_t start;
	size_t size;
	ssize_t got;

	if (!find_environment(pid, &start, &size) || (bytes = malloc(size)) == NULL)
		return;
	got = process_reader_memory(
		reader, pid, &(struct iovec){ bytes, size }, &(struct iovec){ (void *)(uintptr_t)start, size }, 1);
	if (got <= 0)
		return;
	watch_read_environment(bytes, (size_t)got, &environment);
	memcpy(identity->service, environment.service, sizeof(identity->service));
	memcpy(identity->build.version, environment.version, sizeof(identity->build.version));
}

bool watch_identify(const struct watch_process *process, struct watch_identity *identity, struct error *err)
{
	CLEANUP(reader_cleanup) struct process_reader *reader = NULL;
	struct otel_context context = { 0 };

	*identity = (struct watch_identity){ 0 };
	if (!process->is_known)
		return true;
	if (!process_reader_create(&reader, err))
		return false;
	read_build_id(reader, process, identity->build.build_id);
	identify_read_image(process->pid, identity->build.image);
	read_environment(reader, process->pid, identity);
	(void)!otel_context_of(reader, process->pid, &context);
	if (context.values[OTEL_CONTEXT_SERVICE][0])
		identity->service[0] = '\0';
	if (context.values[OTEL_CONTEXT_VERSION][0])
		identity->build.version[0] = '\0';
	return true;
}
