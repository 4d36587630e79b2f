/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/model.h"

#include "profile/index.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SCRATCH_BYTES = 1 << 24 };
static const size_t max_string_bytes = (size_t)4 << 30;

static const char *const origin_names[PROFILE_ORIGIN_COUNT] = { "unknown", "user", "library", "system" };

static const char *const name_source_names[PROFILE_NAME_SOURCE_COUNT] = { "none", "dwarf", "symtab", "plt", "fde",
	"kallsyms", "jit", "go", "imported" };

const char *profile_origin_name(enum profile_origin origin)
{
	return origin_names[origin];
}

const char *profile_name_source_name(enum profile_name_source source)
{
	return name_source_names[source];
}

static struct profile_index *index_create(void)
{
	struct profile_index *index = calloc(1, sizeof(*index));

	if (!index)
		return NULL;
	hash_map_init(&index->mappings, sizeof(struct profile_mapping_key));
	hash_map_init(&index->functions, sizeof(struct profile_function_key_ids));
	hash_map_init(&index->locations, sizeof(struct profile_location_key));
	hash_map_init(&index->frames, 2 * sizeof(uint64_t));
	hash_map_init(&index->threads, sizeof(struct profile_thread_key));
	hash_map_init(&index->stacks, sizeof(struct profile_stack));
	hash_map_init(&index->samples, sizeof(struct profile_sample));
	hash_map_init(&index->exchanges, sizeof(struct profile_exchanges_key));
	hash_map_init(&index->source_files, sizeof(uint32_t));
	buffer_init(&index->scratch, MAX_SCRATCH_BYTES);
	return index;
}

static void index_destroy(struct profile_index *index)
{
	if (!index)
		return;
	hash_map_deinit(&index->mappings);
	hash_map_deinit(&index->functions);
	hash_map_deinit(&index->locations);
	hash_map_deinit(&index->frames);
	hash_map_deinit(&index->threads);
	hash_map_deinit(&index->stacks);
	hash_map_deinit(&index->samples);
	hash_map_deinit(&index->exchanges);
	hash_map_deinit(&index->source_files);
	buffer_deinit(&index->scratch);
	free(index->firsts);
	free(index);
}

bool profile_create(struct profile **profile, struct error *err)
{
	struct profile *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->index = index_create();
	made->has_timeline = true;
	made->requests.one_in = 1;
	if (made->index)
		made->index->max_stacks = ARRAY_MAX_IDS;
	if (!made->index) {
		error_set_memory(err);
		goto fail;
	}
	if (!string_table_create(max_string_bytes, &made->strings, err) ||
		!profile_add_value_type(made, "samples", "count", err) ||
		!profile_append_stack(made, PROFILE_NONE, PROFILE_NONE, err))
		goto fail;
	*profile = made;
	return true;
fail:
	profile_destroy(made);
	return false;
}

void profile_destroy(struct profile *profile)
{
	if (!profile)
		return;
	string_table_destroy(profile->strings);
	index_destroy(profile->index);
	free(profile->mappings);
	free(profile->functions);
	free(profile->locations);
	free(profile->lines);
	free(profile->runs);
	free(profile->threads);
	free(profile->stacks);
	free(profile->samples);
	free(profile->values);
	free(profile->events);
	free(profile->event_weights);
	free(profile->locks);
	free(profile->releases);
	free(profile->requests.exchanges);
	free(profile->requests.readings);
	free(profile->requests.latencies);
	free(profile->source_files);
	free(profile->source_texts);
	for (size_t i = 0; i < profile->code_count; i++)
		free(profile->codes[i].bytes);
	free(profile->codes);
	free(profile);
}

bool profile_intern(struct profile *profile, const char *string, uint32_t *id, struct error *err)
{
	return string_table_add(profile->strings, string, strlen(string), id, err);
}

bool profile_add_value_type(struct profile *profile, const char *type, const char *unit, struct error *err)
{
	struct profile_value_type added;

	if (profile->value_type_count == PROFILE_MAX_VALUE_TYPES)
		return error_set(err, ERROR_LIMIT, "more than %d value types", PROFILE_MAX_VALUE_TYPES);
	if (profile->sample_count > 0)
		return error_set(err, ERROR_USAGE, "value type %s comes after the first sample", type);
	if (!profile_intern(profile, type, &added.type, err) || !profile_intern(profile, unit, &added.unit, err))
		return false;
	if (strcmp(unit, "nanoseconds") == 0)
		profile->default_value_type = profile->value_type_count;
	profile->value_types[profile->value_type_count++] = added;
	return true;
}

static bool intern_scratch(struct profile *profile, uint32_t *id, struct error *err)
{
	const struct buffer *scratch = &profile->index->scratch;

	return buffer_ok(scratch, err) &&
	       string_table_add(profile->strings, scratch->size ? scratch->data : "", scratch->size, id, err);
}

bool profile_rename_mapping(struct profile *profile, uint32_t mapping, const char *path, struct error *err)
{
	struct buffer *scratch = &profile->index->scratch;
	struct profile_mapping *at = &profile->mappings[mapping];
	uint32_t was = at->module;

	scratch->size = 0;
	profile_module_name(path, scratch);
	if (!intern_scratch(profile, &at->module, err) || !profile_intern(profile, path, &at->path, err))
		return false;
	for (size_t i = 0; i < profile->function_count; i++)
		if (profile->functions[i].module == was)
			profile->functions[i].module = at->module;
	return true;
}

bool profile_has_build_id(const struct profile *profile, const char *build_id)
{
	for (size_t i = 0; i < profile->mapping_count; i++)
		if (strcmp(profile_string(profile, profile->mappings[i].build_id), build_id) == 0)
			return true;
	return false;
}

/* Makes room for a mapping, and takes it as the last one, which is not counted yet. */
static bool append_mapping(struct profile *profile, const struct profile_mapping *mapping, struct error *err)
{
	struct profile_index *index = profile->index;
	uint32_t module;

	index->scratch.size = 0;
	profile_module_name(profile_string(profile, mapping->path), &index->scratch);
	if (!intern_scratch(profile, &module, err) || !ARRAY_RESERVE(&profile->mappings, &index->mapping_capacity,
							      profile->mapping_count + 1, ARRAY_MAX_IDS, err))
		return false;
	profile->mappings[profile->mapping_count] = *mapping;
	profile->mappings[profile->mapping_count].module = module;
	return true;
}

bool profile_add_mapping(
	struct profile *profile, const struct profile_mapping *mapping, uint32_t *id, struct error *err)
{
	struct profile_mapping_key key = { mapping->start, mapping->file_offset,
		mapping->build_id ? mapping->build_id : mapping->path, mapping->kind };
	uint32_t *value;
	bool added;

	if (!append_mapping(profile, mapping, err) ||
		!hash_map_add(&profile->index->mappings, &key, (uint32_t)profile->mapping_count, &value, &added, err))
		return false;
	if (added) {
		profile->mapping_count++;
	} else {
		struct profile_mapping *known = &profile->mappings[*value];

		known->deleted |= mapping->deleted;
		if (mapping->end > known->end)
			known->end = mapping->end;
	}
	*id = *value;
	return true;
}

bool profile_add_other_mapping(
	struct profile *profile, const struct profile_mapping *mapping, uint32_t *id, struct error *err)
{
	if (!append_mapping(profile, mapping, err))
		return false;
	*id = (uint32_t)profile->mapping_count++;
	return true;
}

static bool intern_key(
	struct profile *profile, const struct profile_function *function, uint32_t *key, struct error *err)
{
	struct buffer *scratch = &profile->index->scratch;

	scratch->size = 0;
	profile_function_key(
		&(struct profile_key_source){
			.name = profile_string(profile, function->name),
			.module = profile_string(profile, function->module),
			.file = profile_string(profile, function->file),
			.line = function->start_line,
			.fingerprint = function->fingerprint,
		},
		scratch);
	return intern_scratch(profile, key, err);
}

static bool complete_function(struct profile *profile, struct profile_function *known,
	const struct profile_function *found, struct error *err)
{
	bool had_fingerprint = known->fingerprint != 0;

	if (known->origin_rule == 0) {
		known->origin = found->origin;
		known->origin_rule = found->origin_rule;
	}
	if (known->fingerprint == 0)
		known->fingerprint = found->fingerprint;
	if (known->name_source == PROFILE_NAME_NONE)
		known->name_source = found->name_source;
	/* The key of a function without a name depends on its fingerprint, which is new here. */
	return had_fingerprint || known->fingerprint == 0 || intern_key(profile, known, &known->key, err);
}

/* ---- Functions ---- */

static struct profile_function_key_ids ids_of_function(const struct profile_function *function)
{
	return (struct profile_function_key_ids){ function->name, function->linkage_name, function->file,
		function->start_line, function->module };
}

/* Makes the map of functions again, where it was released. */
static bool index_functions(const struct profile *profile, struct error *err)
{
	struct profile_index *index = profile->index;

	for (; index->indexed_functions < profile->function_count; index->indexed_functions++) {
		struct profile_function_key_ids ids = ids_of_function(&profile->functions[index->indexed_functions]);
		uint32_t *value;
		bool added;

		if (!hash_map_add(&index->functions, &ids, (uint32_t)index->indexed_functions, &value, &added, err))
			return false;
	}
	return true;
}

uint32_t profile_find_function(const struct profile *profile, const struct profile_function *function)
{
	struct profile_function_key_ids ids = ids_of_function(function);
	struct error ignored;

	return index_functions(profile, &ignored) ? hash_map_get(&profile->index->functions, &ids) : PROFILE_NONE;
}

/* Gives a function that is named as the linker has it the name that people read, as other tools' files may need. */
static bool name_mangled(struct profile *profile, struct profile_function *function, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(SIZE_MAX / 2);
	const char *name = profile_string(profile, function->name);

	if (function->linkage_name != 0 || !profile_is_mangled(name))
		return true;
	profile_demangle(name, &text);
	if (!buffer_ok(&text, err))
		return false;
	if (strcmp(text.data, name) == 0)
		return true;
	function->linkage_name = function->name;
	return string_table_add(profile->strings, text.data, text.size, &function->name, err);
}

bool profile_add_function(
	struct profile *profile, const struct profile_function *named, uint32_t *id, struct error *err)
{
	struct profile_function found = *named, *function = &found;
	struct profile_index *index = profile->index;
	struct profile_function_key_ids ids;
	uint32_t diff_key, *value;
	bool added;

	if (!name_mangled(profile, function, err) || !index_functions(profile, err))
		return false;
	ids = ids_of_function(function);
	*id = hash_map_get(&index->functions, &ids);
	if (*id != HASH_MAP_NONE)
		return complete_function(profile, &profile->functions[*id], function, err);
	if (!intern_key(profile, function, &diff_key, err) ||
		!ARRAY_RESERVE(&profile->functions, &index->function_capacity, profile->function_count + 1,
			ARRAY_MAX_IDS, err) ||
		!hash_map_add(&index->functions, &ids, (uint32_t)profile->function_count, &value, &added, err))
		return false;
	profile->functions[profile->function_count] = *function;
	profile->functions[profile->function_count].key = diff_key;
	*id = (uint32_t)profile->function_count++;
	index->indexed_functions++;
	return true;
}

/* ---- Locations ---- */

/* Appends a new location without lines. */
static bool profile_append_location(struct profile *profile, uint32_t mapping, uint64_t address, struct error *err)
{
	if (!ARRAY_RESERVE(&profile->locations, &profile->index->location_capacity, profile->location_count + 1,
		    ARRAY_MAX_IDS, err))
		return false;
	profile->locations[profile->location_count] =
		(struct profile_location){ .mapping = mapping, .address = address };
	return true;
}

static bool same_lines(const struct profile *profile, uint32_t location, uint32_t mapping,
	const struct profile_line *lines, size_t count)
{
	const struct profile_location *known = &profile->locations[location];

	return known->mapping == mapping && known->line_count == count &&
	       memcmp(&profile->lines[known->first_line], lines, count * sizeof(*lines)) == 0;
}

/*
 * Returns the location without an address that has these frames, or HASH_MAP_NONE; `key` is the one that it has in the
 * map.
 */
static uint32_t profile_find_frames(const struct profile *profile, uint32_t mapping, const struct profile_line *lines,
	size_t count, uint64_t key[2])
{
	uint32_t known;

	key[0] = hash_bytes(lines, count * sizeof(*lines));
	key[1] = mapping;
	/* If the hash is taken by other frames, the next hash is tried. */
	while ((known = hash_map_get(&profile->index->frames, key)) != HASH_MAP_NONE &&
		!same_lines(profile, known, mapping, lines, count))
		key[0]++;
	return known;
}

/* Makes the maps of locations again, where they were released. */
static bool index_locations(struct profile *profile, struct error *err)
{
	struct profile_index *index = profile->index;

	for (; index->indexed_locations < profile->location_count; index->indexed_locations++) {
		uint32_t id = (uint32_t)index->indexed_locations, *value;
		const struct profile_location *location = &profile->locations[id];
		struct profile_location_key key = { .address = location->address, .mapping = location->mapping };
		bool has_frames = location->address == 0 && location->line_count > 0, added;
		uint64_t frames[2];

		if (has_frames)
			(void)profile_find_frames(profile, location->mapping, &profile->lines[location->first_line],
				location->line_count, frames);
		if (!hash_map_add(has_frames ? &index->frames : &index->locations,
			    has_frames ? (const void *)frames : &key, id, &value, &added, err))
			return false;
	}
	return true;
}

bool profile_add_location(struct profile *profile, uint32_t mapping, uint64_t address, uint32_t *id, struct error *err)
{
	struct profile_location_key key = { .address = address, .mapping = mapping };
	uint32_t *value;
	bool added;

	if (!index_locations(profile, err) || !profile_append_location(profile, mapping, address, err) ||
		!hash_map_add(&profile->index->locations, &key, (uint32_t)profile->location_count, &value, &added, err))
		return false;
	profile->location_count += added;
	profile->index->indexed_locations += added;
	*id = *value;
	return true;
}

bool profile_move_locations(struct profile *profile, enum profile_mapping_kind kind, uint64_t by, struct error *err)
{
	struct hash_map *map = &profile->index->locations;

	hash_map_deinit(map);
	hash_map_init(map, sizeof(struct profile_location_key));
	for (uint32_t i = 0; i < profile->location_count; i++) {
		struct profile_location *location = &profile->locations[i];
		struct profile_location_key key = { .mapping = location->mapping };
		uint32_t *value;
		bool added;

		if (location->mapping != PROFILE_NONE && profile->mappings[location->mapping].kind == kind)
			location->address += by;
		key.address = location->address;
		if (!hash_map_add(map, &key, i, &value, &added, err))
			return false;
	}
	return true;
}

bool profile_add_location_of_lines(struct profile *profile, uint32_t mapping, const struct profile_line *lines,
	size_t count, uint32_t *id, struct error *err)
{
	uint64_t key[2];
	uint32_t *value;
	bool added;

	if (!index_locations(profile, err))
		return false;
	*id = profile_find_frames(profile, mapping, lines, count, key);
	if (*id != HASH_MAP_NONE)
		return true;
	if (!profile_append_location(profile, mapping, 0, err) ||
		!profile_set_lines(profile, (uint32_t)profile->location_count, lines, count, err) ||
		!hash_map_add(&profile->index->frames, key, (uint32_t)profile->location_count, &value, &added, err))
		return false;
	*id = (uint32_t)profile->location_count++;
	profile->index->indexed_locations++;
	return true;
}

bool profile_add_named_location(struct profile *profile, const struct profile_location *location,
	const struct profile_line *lines, uint32_t *id, struct error *err)
{
	const struct profile_mapping *mapping =
		location->mapping == PROFILE_NONE ? NULL : &profile->mappings[location->mapping];
	size_t count = location->line_count;

	if (location->address == 0 && count > 0)
		return profile_add_location_of_lines(profile, location->mapping, lines, count, id, err);
	if (!profile_add_location(profile, location->mapping, location->address, id, err))
		return false;
	if (profile->locations[*id].line_count == 0)
		return count == 0 || profile_set_lines(profile, *id, lines, count, err);
	if (count == 0 || (mapping && mapping->kind == PROFILE_MAPPING_FILE && mapping->build_id) ||
		same_lines(profile, *id, location->mapping, lines, count))
		return true;
	return profile_add_location_of_lines(profile, location->mapping, lines, count, id, err);
}

bool profile_set_lines(
	struct profile *profile, uint32_t location, const struct profile_line *lines, size_t count, struct error *err)
{
	struct profile_location *changed = &profile->locations[location];

	if (!ARRAY_RESERVE(
		    &profile->lines, &profile->index->line_capacity, profile->line_count + count, ARRAY_MAX_IDS, err))
		return false;
	changed->first_line = (uint32_t)profile->line_count;
	changed->line_count = (uint32_t)count;
	if (count)
		memcpy(&profile->lines[profile->line_count], lines, count * sizeof(*lines));
	profile->line_count += count;
	return true;
}

static void map_release(struct hash_map *map)
{
	size_t key_size = map->key_size;

	hash_map_deinit(map);
	hash_map_init(map, key_size);
}

void profile_release_maps(struct profile *profile)
{
	struct profile_index *index = profile->index;

	map_release(&index->functions);
	map_release(&index->locations);
	map_release(&index->frames);
	map_release(&index->stacks);
	map_release(&index->samples);
	free(index->firsts);
	index->firsts = NULL;
	index->first_capacity = index->indexed_functions = index->indexed_locations = index->indexed_stacks =
		index->indexed_samples = 0;
}
