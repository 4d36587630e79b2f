/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tables may have more than was sampled, since those of the cache are of all recordings so far: only what belongs to a
 * line of the profile is taken.
 */
#include "symbolize/dwarf_sources.h"

#include "symbolize/origin.h"

#include <string.h>

struct used {
	struct hash_map lines; /* of the profile: {string of the file, line}; line 0: the file */
	size_t text_bytes;     /* that may still be kept */
	const struct symbolize_options *options;
};

static bool add_used(struct used *used, uint32_t file, uint32_t line, struct error *err)
{
	const uint32_t keys[2][2] = { { file, 0 }, { file, line } };
	uint32_t *value;
	bool added;

	return file == 0 || (hash_map_add(&used->lines, keys[0], 0, &value, &added, err) &&
				    hash_map_add(&used->lines, keys[1], 0, &value, &added, err));
}

static bool is_used(const struct used *used, uint32_t file, uint32_t line)
{
	const uint32_t key[2] = { file, line };

	return hash_map_get(&used->lines, key) != HASH_MAP_NONE;
}

static bool find_used(struct used *used, const struct profile *profile, struct error *err)
{
	for (size_t i = 0; i < profile->line_count; i++) {
		const struct profile_line *line = &profile->lines[i];
		uint32_t file = line->file ? line->file : profile->functions[line->function].file;

		if (!add_used(used, file, line->line, err))
			return false;
	}
	for (size_t i = 0; i < profile->function_count; i++)
		if (!add_used(used, profile->functions[i].file, 0, err))
			return false;
	return true;
}

static bool dwarf_sources_is_kept(const struct symbolize_options *options, const char *path)
{
	bool is_kept = options->sources == SYMBOLIZE_SOURCES_ALL;

	for (size_t i = 0; options->sources == SYMBOLIZE_SOURCES_OF_PROJECT && i < options->project_root_count; i++)
		is_kept |= origin_is_below(path, options->project_roots[i]);
	return is_kept;
}

static bool has_used_line(const struct used *used, uint32_t file, const struct dwarf_source *source)
{
	uint32_t count = profile_count_lines(source->text);

	for (uint32_t i = 0; i < count && source->first_line + i > source->first_line - 1; i++)
		if (is_used(used, file, source->first_line + i))
			return true;
	return false;
}

static bool dwarf_sources_add_source(
	struct profile *profile, struct used *used, const struct dwarf_source *source, struct error *err)
{
	uint32_t path = string_table_find(profile->strings, source->path, strlen(source->path)), id;
	struct profile_source_file file = { .path = path, .has_md5 = source->has_md5 };
	bool has_text;

	if (path == UINT32_MAX || path == 0 || !is_used(used, path, 0))
		return true;
	has_text = source->text[0] && dwarf_sources_is_kept(used->options, source->path) && source->first_line > 0 &&
		   strlen(source->text) <= used->text_bytes && has_used_line(used, path, source);
	used->text_bytes -= has_text ? strlen(source->text) : 0;
	if (!has_text && !source->has_md5)
		return true;
	memcpy(file.md5, source->md5, sizeof(file.md5));
	file.is_md5_of_build = source->has_md5;
	file.is_embedded = has_text;
	file.proof = has_text ? PROFILE_SOURCE_SAME_BYTES : PROFILE_SOURCE_MAY_DIFFER;
	return profile_add_source_file(profile, &file, &id, err) &&
	       (!has_text || profile_add_source_text(profile, id, source->first_line, source->text, err));
}

bool dwarf_sources_add(struct profile *profile, const struct named_frames *const *tables, size_t table_count,
	const struct symbolize_options *options, struct error *err)
{
	struct used used = { .options = options, .text_bytes = PROFILE_MAX_SOURCE_BYTES };
	size_t count = 0;
	bool ok;

	for (size_t i = 0; i < table_count; i++)
		count += tables[i]->source_count;
	if (count == 0)
		return true;
	hash_map_init(&used.lines, 2 * sizeof(uint32_t));
	ok = find_used(&used, profile, err);
	for (size_t i = 0; ok && i < table_count; i++)
		for (size_t k = 0; ok && k < tables[i]->source_count; k++) {
			struct dwarf_source source;

			ok = !named_frames_source(tables[i], k, &source) ||
			     dwarf_sources_add_source(profile, &used, &source, err);
		}
	hash_map_deinit(&used.lines);
	return ok;
}
