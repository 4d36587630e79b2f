/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/result.h"

#include <stdlib.h>
#include <string.h>

/* Of a process that has ended, only our own view of /tmp is left. */
static char *readable_jit_map(char *path)
{
	char *own = strstr(path, "/tmp/");

	if (access(path, R_OK) != 0 && own)
		memmove(path, own, strlen(own) + 1);
	return path;
}

bool result_take_images(struct sampler_result *result, struct process_table *table, struct error *err)
{
	size_t count = table->profile->mapping_count;

	result->images = calloc(count + 1, sizeof(struct elf_image *));
	result->jit_maps = calloc(count + 1, sizeof(char *));
	if (!result->images || !result->jit_maps)
		return error_set_memory(err);
	result->image_count = count;
	for (size_t i = 0; i < table->image_count; i++) {
		struct process_image *image = &table->images[i];

		if (image->elf && !result->images[image->mapping_id])
			result->images[image->mapping_id] = elf_image_ref(image->elf);
		if (image->jit_map && !result->jit_maps[image->mapping_id])
			result->jit_maps[image->mapping_id] = readable_jit_map(TAKE(image->jit_map));
	}
	return true;
}

void sampler_result_deinit(struct sampler_result *result)
{
	profile_destroy(result->profile);
	for (size_t i = 0; i < result->image_count; i++) {
		elf_image_unref(result->images[i]);
		free(result->jit_maps[i]);
	}
	free(result->images);
	free(result->jit_maps);
	free(result->kallsyms);
	*result = (struct sampler_result){ 0 };
}
