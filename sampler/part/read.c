/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/sampling.h"

#include "sampler/collect/result.h"
#include "sampler/part/part.h"
#include "sampler/process/recorded.h"
#include "sampler/records/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 20 };
static const size_t max_file_bytes = (size_t)4 << 30;

struct part_reader {
	struct record_input input;
	struct recorded_files files;
	struct recorded_kernel kernel;
	bool kernel_is_known; /* what is known of it stands in `kernel` */
	struct buffer *notices;
	struct profile *profile; /* owned */
};

/* ---- The profile ---- */

static bool part_read_file(struct part_reader *reader, struct buffer *bytes, struct error *err)
{
	size_t got = 1;

	while (got > 0) {
		void *into = buffer_reserve(bytes, READ_BYTES);

		if (!into)
			return buffer_ok(bytes, err);
		if (!record_input_read(&reader->input, into, READ_BYTES, &got, err))
			return false;
		buffer_commit(bytes, got);
	}
	return true;
}

static bool part_read_profile(struct part_reader *reader, struct profile_recording *recording, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer bytes = { 0 };
	size_t whole;

	buffer_init(&bytes, max_file_bytes);
	if (!part_read_file(reader, &bytes, err) ||
		!profile_read_increments(bytes.data, bytes.size, recording, &whole, &reader->profile, err))
		return false;
	if (whole < bytes.size && reader->notices)
		buffer_printf(
			reader->notices, "what follows offset %zu was not written whole and is left out\n", whole);
	return true;
}

/* The mapping of the kernel if a stack has kernel code; NULL otherwise. */
static const struct profile_mapping *sampled_kernel(const struct profile *profile)
{
	for (size_t i = 0; i < profile->location_count; i++) {
		uint32_t mapping = profile->locations[i].mapping;

		if (mapping != PROFILE_NONE && profile->mappings[mapping].kind == PROFILE_MAPPING_KERNEL)
			return &profile->mappings[mapping];
	}
	return NULL;
}

/* Finds the kernel's symbols, and by how much the kernel's addresses have moved: each boot may place it elsewhere. */
static bool find_kernel(struct part_reader *reader, uint64_t text, struct error *err)
{
	struct profile *profile = reader->profile;
	const struct profile_mapping *mapping = sampled_kernel(profile);

	if (!mapping)
		return true;
	reader->kernel_is_known = true;
	if (!elf_build_id_parse(profile_string(profile, mapping->build_id), &reader->files.kernel))
		reader->files.kernel.size = 0;
	if (!recorded_kernel_find(&reader->files, profile_string(profile, profile->facts.kernel), text, "_text",
		    &reader->kernel, err))
		return false;
	return reader->kernel.moved == 0 ||
	       profile_move_locations(profile, PROFILE_MAPPING_KERNEL, reader->kernel.moved, err);
}

/* ---- The code ---- */

/* Memory without a file has its process's pid as offset. */
static bool find_jit_map(struct part_reader *reader, uint32_t mapping_id, struct recording *result, struct error *err)
{
	char path[32];
	const struct jit_place place = { .path = path, .user = geteuid() };
	const struct process_host host = recorded_files_host(&reader->files);

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)reader->profile->mappings[mapping_id].file_offset);
	return result_take_jit_map(
		&host, result->symbols.jit_maps, reader->profile, mapping_id, &place, reader->notices, err);
}

static bool find_images(struct part_reader *reader, struct recording *result, struct error *err)
{
	struct profile_symbols *symbols = &result->symbols;
	struct profile *profile = reader->profile;

	symbols->images = calloc(profile->mapping_count + 1, sizeof(struct elf_image *));
	symbols->jit_maps = calloc(profile->mapping_count + 1, sizeof(struct file_opened));
	if (!symbols->images || !symbols->jit_maps)
		return error_set_memory(err);
	symbols->mapping_count = profile->mapping_count;
	for (size_t i = 0; i < profile->mapping_count; i++) {
		const struct profile_mapping *mapping = &profile->mappings[i];
		const char *path = profile_string(profile, mapping->path);
		struct elf_build_id id;
		bool has_id = elf_build_id_parse(profile_string(profile, mapping->build_id), &id);
		struct error why;

		if (mapping->kind == PROFILE_MAPPING_ANON && !find_jit_map(reader, (uint32_t)i, result, err))
			return false;
		if (mapping->kind != PROFILE_MAPPING_FILE && mapping->kind != PROFILE_MAPPING_VDSO)
			continue;
		if (!recorded_files_open(&reader->files, path, has_id ? &id : NULL, &symbols->images[i], &why) &&
			reader->notices)
			buffer_printf(reader->notices, "%s: its code stays unnamed\n", why.message);
	}
	return true;
}

static bool take_kernel(struct part_reader *reader, struct recording *result, struct error *err)
{
	if (!reader->kernel_is_known)
		return true;
	result->symbols.kallsyms = reader->kernel.kallsyms ? TAKE(reader->kernel.kallsyms) : strdup("");
	if (!result->symbols.kallsyms)
		return error_set_memory(err);
	if (!result->symbols.kallsyms[0] && reader->notices)
		buffer_append_string(reader->notices,
			"kernel functions stay unnamed: the kernel that was recorded does not run here, or hides its symbols\n");
	return true;
}

static bool part_read_all(struct part_reader *reader, struct recording *result, struct error *err)
{
	struct recording made = { .child_status = -1 };
	struct profile_recording recording;

	if (!part_read_profile(reader, &recording, err) || !find_kernel(reader, recording.kernel_text, err))
		return false;
	if (!find_images(reader, &made, err) || !take_kernel(reader, &made, err)) {
		recording_deinit(&made);
		return false;
	}
	made.profile = TAKE(reader->profile);
	*result = made;
	return true;
}

bool sampler_read_part(
	const struct recording_file *recorded, struct recording *result, struct buffer *notices, struct error *err)
{
	struct part_reader reader = {
		.input = { recorded->fd, recorded->name, recorded->head, recorded->head_bytes,
			lseek(recorded->fd, 0, SEEK_CUR) >= 0, 0 },
		.notices = notices,
	};
	bool ok;

	recorded_files_init(&reader.files, recorded);
	ok = part_read_all(&reader, result, err);
	free(reader.kernel.kallsyms);
	recorded_files_deinit(&reader.files);
	profile_destroy(reader.profile);
	return ok || error_prefix(err, "cannot read %s", recorded->name);
}
