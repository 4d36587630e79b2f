/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect/result.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool make_jit(struct profile *profile, uint32_t mapping_id, struct error *err)
{
	struct profile_mapping *mapping = &profile->mappings[mapping_id];

	mapping->kind = PROFILE_MAPPING_JIT;
	return profile_intern(profile, "[jit]", &mapping->path, err) &&
	       profile_intern(profile, "[jit]", &mapping->module, err);
}

bool result_take_jit_map(
	struct sampler_result *result, struct profile *profile, uint32_t mapping_id, char *path, struct error *err)
{
	if (result->jit_maps[mapping_id] || access(path, R_OK) != 0) {
		free(path);
		return true;
	}
	result->jit_maps[mapping_id] = path;
	return make_jit(profile, mapping_id, err);
}

/* Whether the map is older than its process, and so belongs to an earlier process with the same pid. */
static bool is_outdated(const struct jit_place *place, struct buffer *notices)
{
	enum { CLOCKS_DIFFER_S = 2 };
	struct stat info;

	if (place->since_s == 0 || stat(place->path, &info) != 0 || info.st_mtime + CLOCKS_DIFFER_S >= place->since_s)
		return false;
	if (notices)
		buffer_printf(notices,
			"%s is older than the process of that pid, and names nothing: it is of an earlier one; 'touch' it if it is not\n",
			place->path);
	return true;
}

static bool take_jit_map(
	struct sampler_result *result, struct process_table *table, struct process_image *image, struct error *err)
{
	return !image->jit_map.path || is_outdated(&image->jit_map, table->notices) ||
	       result_take_jit_map(result, table->profile, image->mapping_id, TAKE(image->jit_map.path), err);
}

static bool take_inherited_map(
	struct sampler_result *result, struct process_table *table, struct process_image *image, struct error *err)
{
	char **taken = &result->inherited_jit_maps[image->mapping_id];

	if (*taken || !image->inherited_map.path || access(image->inherited_map.path, R_OK) != 0 ||
		is_outdated(&image->inherited_map, table->notices))
		return true;
	*taken = TAKE(image->inherited_map.path);
	return make_jit(table->profile, image->mapping_id, err);
}

bool result_take_images(struct sampler_result *result, struct process_table *table, struct error *err)
{
	size_t count = table->profile->mapping_count;

	result->images = calloc(count + 1, sizeof(struct elf_image *));
	result->jit_maps = calloc(count + 1, sizeof(char *));
	result->inherited_jit_maps = calloc(count + 1, sizeof(char *));
	if (!result->images || !result->jit_maps || !result->inherited_jit_maps)
		return error_set_memory(err);
	result->image_count = count;
	for (size_t i = 0; i < table->image_count; i++) {
		struct process_image *image = &table->images[i];

		if (image->elf && !result->images[image->mapping_id])
			result->images[image->mapping_id] = elf_image_ref(image->elf);
		if (!take_jit_map(result, table, image, err) || !take_inherited_map(result, table, image, err))
			return false;
	}
	return true;
}

void sampler_result_release_images(struct sampler_result *result)
{
	for (size_t i = 0; i < result->image_count; i++) {
		elf_image_unref(result->images[i]);
		free(result->jit_maps ? result->jit_maps[i] : NULL);
		free(result->inherited_jit_maps ? result->inherited_jit_maps[i] : NULL);
	}
	free(result->images);
	free(result->jit_maps);
	free(result->inherited_jit_maps);
	result->images = NULL;
	result->jit_maps = result->inherited_jit_maps = NULL;
	result->image_count = 0;
}

void sampler_result_deinit(struct sampler_result *result)
{
	sampler_result_release_images(result);
	profile_destroy(result->profile);
	free(result->kallsyms);
	free(result->verification.locations);
	*result = (struct sampler_result){ 0 };
}
