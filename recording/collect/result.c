/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "recording/collect/result.h"

#include "recording/verify/verify.h"

#include "recording/process/jit_map.h"

#include <stdlib.h>
#include <sys/resource.h>

static bool make_jit(struct profile *profile, uint32_t mapping_id, struct error *err)
{
	struct profile_mapping *mapping = &profile->mappings[mapping_id];

	mapping->kind = PROFILE_MAPPING_JIT;
	return profile_intern(profile, PROFILE_JIT_MODULE, &mapping->path, err) &&
	       profile_intern(profile, PROFILE_JIT_MODULE, &mapping->module, err);
}

bool result_take_jit_map(const struct process_host *host, struct file_opened *maps, struct profile *profile,
	uint32_t mapping_id, const struct jit_place *place, struct buffer *notices, struct error *err)
{
	struct file_opened *map = &maps[mapping_id];

	if (map->name)
		return true;
	if (host ? !host->functions->open_jit_map(host->context, place, map, notices, err)
		 : !jit_map_open(place, map, notices, err))
		return false;
	return !map->name || make_jit(profile, mapping_id, err);
}

/* Half of the descriptors that we may have: naming needs others, and any user can make processes with maps. */
static size_t most_maps(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (size_t)limit.rlim_cur / 2 : 0;
}

static bool take_maps(struct recording *result, struct process_table *table, const bool *is_sampled, struct error *err)
{
	size_t most = most_maps(), count = 0;

	for (size_t i = 0; i < table->image_count; i++) {
		const struct process_image *image = &table->images[i];
		uint32_t id = image->mapping_id;

		if (!is_sampled[id])
			continue;
		if (count + 2 > most) {
			if (table->notices)
				buffer_printf(table->notices,
					"code made at run time stays partly unnamed: more than %zu files of names would have to be open; "
					"'ulimit -n' allows more\n",
					count);
			return true;
		}
		if (!result_take_jit_map(
			    &table->host, result->jit_maps, table->profile, id, &image->jit_map, table->notices, err) ||
			!result_take_jit_map(&table->host, result->inherited_jit_maps, table->profile, id,
				&image->inherited_map, table->notices, err))
			return false;
		count += (result->jit_maps[id].name != NULL) + (result->inherited_jit_maps[id].name != NULL);
	}
	return true;
}

static bool *sampled_mappings(const struct profile *profile)
{
	bool *is_sampled = calloc(profile->mapping_count + 1, sizeof(*is_sampled));

	for (size_t i = 0; is_sampled && i < profile->location_count; i++)
		if (profile->locations[i].mapping != PROFILE_NONE)
			is_sampled[profile->locations[i].mapping] = true;
	return is_sampled;
}

bool result_take_images(struct recording *result, struct process_table *table, struct error *err)
{
	CLEANUP(cleanup_free) bool *is_sampled = sampled_mappings(table->profile);
	size_t count = table->profile->mapping_count;

	result->images = calloc(count + 1, sizeof(struct elf_image *));
	result->jit_maps = calloc(count + 1, sizeof(struct file_opened));
	result->inherited_jit_maps = calloc(count + 1, sizeof(struct file_opened));
	if (!is_sampled || !result->images || !result->jit_maps || !result->inherited_jit_maps)
		return error_set_memory(err);
	result->image_count = count;
	for (size_t i = 0; i < table->image_count; i++) {
		struct process_image *image = &table->images[i];

		if (image->elf && !result->images[image->mapping_id])
			result->images[image->mapping_id] = elf_image_ref(image->elf);
	}
	return take_maps(result, table, is_sampled, err);
}

static void close_maps(struct file_opened *maps, size_t count)
{
	for (size_t i = 0; maps && i < count; i++)
		file_opened_deinit(&maps[i]);
	free(maps);
}

void recording_release_images(struct recording *result)
{
	for (size_t i = 0; i < result->image_count; i++)
		elf_image_unref(result->images[i]);
	free(result->images);
	close_maps(result->jit_maps, result->image_count);
	close_maps(result->inherited_jit_maps, result->image_count);
	result->images = NULL;
	result->jit_maps = result->inherited_jit_maps = NULL;
	result->image_count = 0;
}

void recording_deinit(struct recording *result)
{
	recording_release_images(result);
	profile_destroy(result->profile);
	free(result->lock_places);
	free(result->kallsyms);
	compared_stacks_destroy(result->compared);
	*result = (struct recording){ 0 };
}
