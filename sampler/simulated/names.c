/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/simulated/simulation.h"

#include <stdlib.h>
#include <string.h>

/* Locations with the same frames, as one: its first one by address. */
struct name_group {
	uint32_t named;        /* its location in the named profile */
	uint32_t made;         /* its location in the other; PROFILE_NONE: it was not needed yet */
	uint64_t without_line; /* line_bit() of the frames that have no line in common */
};

/* Frames of a location that are farther out share the last bit. */
static uint64_t line_bit(uint32_t frame)
{
	return (uint64_t)1 << (frame < 63 ? frame : 63);
}

struct simulation_names {
	struct profile *named, *made; /* borrowed */
	enum simulation_detail detail;
	uint64_t seed;
	size_t location_count;     /* of `named`, when the groups were made */
	uint32_t *group_of;        /* owned: [location of `named`] */
	struct name_group *groups; /* owned */
	size_t group_count, group_capacity;
	uint32_t *functions; /* owned: [function of `named`] its copy; PROFILE_NONE: not needed yet */
	uint32_t *mappings;  /* owned: [mapping of `named`] its copy */
};

/* The key that locations of one group share. Frames are known by a hash over them. */
struct frames_key {
	uint64_t lines_hash;
	uint32_t mapping, line_count;
};

static const struct profile_line *lines_of(const struct profile *profile, const struct profile_location *location)
{
	return location->line_count ? &profile->lines[location->first_line] : NULL;
}

static struct frames_key key_of_frames(const struct simulation_names *names, const struct profile_location *location)
{
	const struct profile_line *lines = lines_of(names->named, location);
	struct frames_key key = { lines ? names->seed : location->address, location->mapping, location->line_count };

	for (uint32_t i = 0; i < location->line_count; i++) {
		uint64_t line = names->detail == SIMULATION_BY_LINE ? lines[i].line : 0;

		key.lines_hash = hash_mix(key.lines_hash ^ lines[i].function, (line << 1 | 1) * 0x9e3779b97f4a7c15);
	}
	return key;
}

/* Marks the frames whose line is not the same in the whole group. */
static void note_lines(struct name_group *group, const struct profile *profile, const struct profile_location *location)
{
	const struct profile_location *first = &profile->locations[group->named];
	const struct profile_line *a = lines_of(profile, first), *b = lines_of(profile, location);

	for (uint32_t i = 0; i < location->line_count && i < first->line_count; i++)
		if (a[i].line != b[i].line)
			group->without_line |= line_bit(i);
}

static bool simulated_names_add_to_group(
	struct simulation_names *names, struct hash_map *by_frames, uint32_t id, struct error *err)
{
	const struct profile_location *location = &names->named->locations[id];
	struct frames_key key = key_of_frames(names, location);
	struct name_group *group;
	uint32_t *value;
	bool added;

	if (!hash_map_add(by_frames, &key, (uint32_t)names->group_count, &value, &added, err) ||
		!ARRAY_RESERVE(&names->groups, &names->group_capacity, names->group_count + 1, ARRAY_MAX_IDS, err))
		return false;
	if (added)
		names->groups[names->group_count++] = (struct name_group){ id, PROFILE_NONE, 0 };
	group = &names->groups[*value];
	note_lines(group, names->named, location);
	if (location->address < names->named->locations[group->named].address)
		group->named = id;
	names->group_of[id] = *value;
	return true;
}

static bool simulated_names_make_groups(struct simulation_names *names, struct error *err)
{
	struct hash_map by_frames;
	bool ok = true;

	hash_map_init(&by_frames, sizeof(struct frames_key));
	for (uint32_t i = 0; ok && i < names->location_count; i++)
		ok = simulated_names_add_to_group(names, &by_frames, i, err);
	hash_map_deinit(&by_frames);
	return ok;
}

static bool simulated_names_copy_string(struct simulation_names *names, uint32_t *string, struct error *err)
{
	return profile_intern(names->made, profile_string(names->named, *string), string, err);
}

static bool simulated_names_copy_mappings(struct simulation_names *names, struct error *err)
{
	for (size_t i = 0; i < names->named->mapping_count; i++) {
		struct profile_mapping mapping = names->named->mappings[i];

		if (!simulated_names_copy_string(names, &mapping.path, err) ||
			!simulated_names_copy_string(names, &mapping.build_id, err) ||
			!profile_add_mapping(names->made, &mapping, &names->mappings[i], err))
			return false;
	}
	return true;
}

static bool simulated_names_copy_function(struct simulation_names *names, uint32_t id, struct error *err)
{
	struct profile_function function = names->named->functions[id];

	return simulated_names_copy_string(names, &function.name, err) &&
	       simulated_names_copy_string(names, &function.linkage_name, err) &&
	       simulated_names_copy_string(names, &function.file, err) &&
	       simulated_names_copy_string(names, &function.module, err) &&
	       profile_add_function(names->made, &function, &names->functions[id], err);
}

bool simulation_names_create(struct profile *named, struct profile *made, enum simulation_detail detail,
	struct simulation_names **names, struct error *err)
{
	struct simulation_names *created = calloc(1, sizeof(*created));

	if (!created)
		return error_set_memory(err);
	created->named = named;
	created->made = made;
	created->detail = detail;
	created->seed = hash_seed();
	created->location_count = named->location_count;
	created->group_of = calloc(named->location_count + 1, sizeof(*created->group_of));
	created->functions = malloc((named->function_count + 1) * sizeof(*created->functions));
	created->mappings = calloc(named->mapping_count + 1, sizeof(*created->mappings));
	if (!created->group_of || !created->functions || !created->mappings)
		error_set_memory(err);
	else
		memset(created->functions, 0xff, (named->function_count + 1) * sizeof(*created->functions));
	if (created->group_of && created->functions && created->mappings &&
		simulated_names_copy_mappings(created, err) && simulated_names_make_groups(created, err)) {
		*names = created;
		return true;
	}
	simulation_names_destroy(created);
	return false;
}

void simulation_names_destroy(struct simulation_names *names)
{
	if (!names)
		return;
	free(names->group_of);
	free(names->groups);
	free(names->functions);
	free(names->mappings);
	free(names);
}

bool simulation_names_group(
	struct simulation_names *names, const struct profile_location *location, uint32_t *group, struct error *err)
{
	uint32_t id;

	if (!profile_add_location(names->named, location->mapping, location->address, &id, err))
		return false;
	if (id >= names->location_count)
		return error_set(err, ERROR_FORMAT, "the file was changed while it was read");
	*group = names->group_of[id];
	return true;
}

static bool copy_lines(struct simulation_names *names, const struct name_group *group, struct error *err)
{
	const struct profile_location *location = &names->named->locations[group->named];
	CLEANUP(cleanup_free) struct profile_line *lines = calloc((size_t)location->line_count + 1, sizeof(*lines));

	if (!lines)
		return error_set_memory(err);
	for (uint32_t i = 0; i < location->line_count; i++) {
		const struct profile_line *line = &names->named->lines[location->first_line + i];

		if (names->functions[line->function] == PROFILE_NONE &&
			!simulated_names_copy_function(names, line->function, err))
			return false;
		lines[i] = (struct profile_line){ names->functions[line->function],
			group->without_line & line_bit(i) ? 0 : line->line };
	}
	return profile_set_lines(names->made, group->made, lines, location->line_count, err);
}

bool simulation_names_location(struct simulation_names *names, uint32_t group, uint32_t *location, struct error *err)
{
	struct name_group *found = &names->groups[group];
	const struct profile_location *named = &names->named->locations[found->named];
	uint32_t mapping = named->mapping == PROFILE_NONE ? PROFILE_NONE : names->mappings[named->mapping];

	if (found->made == PROFILE_NONE &&
		(!profile_add_location(names->made, mapping, named->address, &found->made, err) ||
			!copy_lines(names, found, err)))
		return false;
	*location = found->made;
	return true;
}
