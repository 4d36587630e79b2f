/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collects the paths that git is asked about. */
#include "diff/commits/paths.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES_BYTES = 256 << 20 };

void commit_paths_init(struct commit_paths *paths)
{
	*paths = (struct commit_paths){ 0 };
	paths->names = string_table_begin(MAX_NAMES_BYTES);
}

void commit_paths_deinit(struct commit_paths *paths)
{
	free(paths->of_strings[DIFF_BASE]);
	free(paths->of_strings[DIFF_HEAD]);
	string_table_destroy(paths->names);
}

static bool add(struct commit_paths *paths, const char *path, const char **name, struct error *err)
{
	uint32_t id;

	if (!string_table_add(paths->names, path, strlen(path), &id, err))
		return false;
	*name = string_table_get(paths->names, id);
	return true;
}

bool commit_paths_match(struct commit_paths *paths, enum diff_side side, const struct profile *profile,
	const struct repository_files *files, struct error *err)
{
	CLEANUP(cleanup_free) bool *is_done = memory_zeroed(string_table_count(profile->strings), sizeof(*is_done));

	paths->of_strings[side] = memory_zeroed(string_table_count(profile->strings), sizeof(char *));
	for (size_t i = 0; i < profile->function_count; i++) {
		const struct profile_function *f = &profile->functions[i];
		const char *found;

		if (f->file == 0 || f->origin == PROFILE_ORIGIN_SYSTEM || is_done[f->file])
			continue;
		is_done[f->file] = true;
		found = repository_files_match(files, profile_string(profile, f->file));
		if (found && !add(paths, found, &paths->of_strings[side][f->file], err))
			return false;
	}
	return true;
}

static bool has(const struct commit_paths *paths, const char *path)
{
	return string_table_find(paths->names, path, strlen(path)) != UINT32_MAX;
}

bool commit_paths_add_renames(
	struct commit_paths *paths, const struct repository_history *renames, bool *added, struct error *err)
{
	uint32_t before = string_table_count(paths->names);
	const char *ignored;

	for (size_t i = 0; i < renames->file_count; i++) {
		const char *old_path = string_table_get(renames->strings, renames->files[i].old_path);
		const char *new_path = string_table_get(renames->strings, renames->files[i].new_path);

		if (!*old_path || !*new_path || has(paths, old_path) == has(paths, new_path))
			continue;
		if (!add(paths, old_path, &ignored, err) || !add(paths, new_path, &ignored, err))
			return false;
	}
	*added = string_table_count(paths->names) > before;
	return true;
}

void commit_paths_list(const struct commit_paths *paths, const char ***list, size_t *count)
{
	const char **names = memory_zeroed(string_table_count(paths->names) + 1, sizeof(*names));

	*count = 0;
	for (uint32_t id = 1; id < string_table_count(paths->names); id++)
		names[(*count)++] = string_table_get(paths->names, id);
	*list = names;
}
