/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decides which lines of which source files are worth keeping. */
#include "symbolize/source_plan.h"

#include "symbolize/file_owner.h"
#include "symbolize/origin.h"
#include "symbolize/source_places.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	LEAST_PER_MILLE = 1,  /* of the samples, that a function must have */
	MOST_FILES = 1 << 10, /* most sampled first */
	MOST_RANGES = 1 << 14,
};

/* The findings on a function, or on a piece of code in another file. */
struct found {
	uint32_t path;     /* string */
	uint32_t function; /* PROFILE_NONE: a window */
	struct source_range range;
	struct source_place place;
	int64_t built_ns;
	bool is_placed;
};

struct planning {
	const struct profile *profile;
	const struct profile_symbols *symbols;
	const struct symbolize_options *options;
	struct source_places places;
	struct found *found; /* owned: functions by id, then windows */
	size_t found_count, found_capacity;
	bool *is_roots;           /* owned: [mapping] its binary is root's */
	struct hash_map windows;  /* (path, line) -> found */
	char directory[PATH_MAX]; /* in which relative paths begin; "": not known */
};

/* ---- Locations ---- */

static struct elf_image *source_plan_image_of(const struct planning *p, uint32_t mapping)
{
	return mapping != PROFILE_NONE && p->symbols->images && mapping < p->symbols->mapping_count
		       ? p->symbols->images[mapping]
		       : NULL;
}

static bool find_owners(struct planning *p, struct error *err)
{
	if (!ARRAY_ZEROED(&p->is_roots, p->profile->mapping_count + 1, err))
		return false;
	for (uint32_t i = 0; i < p->profile->mapping_count; i++) {
		const struct elf_image *image = source_plan_image_of(p, i);
		struct file_owner owner = image ? file_owner_of_image(image) : (struct file_owner){ 0 };

		p->is_roots[i] = file_owner_is_root(&owner);
	}
	return true;
}

/* Describes what the code of a location tells of the files that it is from. */
static void describe_code(const struct planning *p, uint32_t location, struct source_place *place, int64_t *built_ns)
{
	uint32_t mapping = p->profile->locations[location].mapping;
	const struct elf_image *image = source_plan_image_of(p, mapping);

	*place = p->places.places[p->places.of_locations[location]];
	/* A script is read when a process has begun. */
	*built_ns = image ? elf_image_identity(image)->modified_ns : place->start_ns;
	place->is_root_built = image && p->is_roots[mapping];
}

static void source_plan_add_line(
	struct found *found, uint32_t line, uint64_t weight, const struct source_place *place, int64_t built_ns)
{
	struct source_range *range = &found->range;

	range->weight += weight;
	if (line && (range->first == 0 || line < range->first))
		range->first = line;
	if (line > range->last)
		range->last = line;
	found->place = found->is_placed ? source_place_join(&found->place, place) : *place;
	found->built_ns = found->is_placed && found->built_ns < built_ns ? found->built_ns : built_ns;
	found->is_placed = true;
}

static bool add_window(struct planning *p, uint32_t path, uint32_t line, struct found **found, struct error *err)
{
	const uint32_t key[2] = { path, line };
	uint32_t *value;
	bool added;

	*found = NULL;
	if (p->found_count - p->profile->function_count >= MOST_RANGES)
		return true;
	if (!ARRAY_RESERVE(&p->found, &p->found_capacity, p->found_count + 1, ARRAY_MAX_IDS, err) ||
		!hash_map_add(&p->windows, key, (uint32_t)p->found_count, &value, &added, err))
		return false;
	if (added)
		p->found[p->found_count++] =
			(struct found){ .path = path, .function = PROFILE_NONE, .range = { .is_window = true } };
	*found = &p->found[*value];
	return true;
}

static bool source_plan_add_location(struct planning *p, uint32_t id, struct error *err)
{
	const struct profile *profile = p->profile;
	const struct profile_location *location = &profile->locations[id];
	uint64_t weight = p->places.weights[id];
	struct source_place place;
	int64_t built_ns;

	if (weight == 0)
		return true;
	describe_code(p, id, &place, &built_ns);
	for (uint32_t k = 0; k < location->line_count; k++) {
		const struct profile_line *line = &profile->lines[location->first_line + k];
		uint32_t own = profile->functions[line->function].file;
		struct found *window = NULL;
		bool is_elsewhere = line->file && line->file != own;

		if (is_elsewhere && line->line && !add_window(p, line->file, line->line, &window, err))
			return false;
		if (window)
			source_plan_add_line(window, line->line, weight, &place, built_ns);
		source_plan_add_line(
			&p->found[line->function], is_elsewhere ? 0 : line->line, weight, &place, built_ns);
	}
	return true;
}

static bool source_plan_find_all(struct planning *p, struct error *err)
{
	const struct profile *profile = p->profile;

	if (!ARRAY_RESERVE(&p->found, &p->found_capacity, profile->function_count + 1, ARRAY_MAX_IDS, err))
		return false;
	for (uint32_t i = 0; i < profile->function_count; i++)
		p->found[p->found_count++] = (struct found){ .path = profile->functions[i].file,
			.function = i,
			.range.definition = profile->functions[i].start_line };
	for (uint32_t i = 0; i < profile->location_count; i++)
		if (!source_plan_add_location(p, i, err))
			return false;
	return true;
}

/* ---- Files ---- */

/* Finds the absolute path of a file as its processes see it. "": it has none, or it is not to be kept. */
static void source_plan_name_file(const struct planning *p, const char *path, char name[PATH_MAX])
{
	static const char scheme[] = "file://";
	const struct symbolize_options *options = p->options;
	char normal[PATH_MAX];
	bool is_kept = options->sources == SYMBOLIZE_SOURCES_ALL;
	int size;

	name[0] = '\0';
	path += strncmp(path, scheme, sizeof(scheme) - 1) == 0 ? sizeof(scheme) - 1 : 0;
	if (path[0] == '\0' || path[0] == '<' || path[0] == '[' || (path[0] != '/' && !p->directory[0]))
		return;
	size = path[0] == '/' ? snprintf(normal, PATH_MAX, "%s", path)
			      : snprintf(normal, PATH_MAX, "%s/%s", p->directory, path);
	if (size >= PATH_MAX)
		return;
	strcpy(name, normal);
	is_kept = file_normalize_path(normal) && is_kept;
	for (size_t i = 0; !is_kept && i < options->project_root_count; i++)
		is_kept = origin_is_below(normal, options->project_roots[i]);
	if (!is_kept)
		name[0] = '\0';
}

/* Returns whether the lines are worth keeping. */
static bool source_plan_is_wanted(const struct planning *p, const struct found *found)
{
	const struct source_range *range = &found->range;

	return found->path && range->weight * 1000 >= p->places.samples * LEAST_PER_MILLE && range->weight > 0 &&
	       (range->definition || range->first);
}

static int compare_found(const void *left, const void *right)
{
	const struct found *a = left, *b = right;
	int order = ORDER(b->range.weight, a->range.weight);

	/* The same functions are chosen each time. */
	if (order == 0)
		order = ORDER(a->path, b->path);
	return order ? order : ORDER(a->range.first, b->range.first);
}

/* Keeps what is wanted, most sampled first. */
static void source_plan_choose(struct planning *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->found_count; i++)
		if (source_plan_is_wanted(p, &p->found[i]))
			p->found[kept++] = p->found[i];
	qsort(p->found, kept, sizeof(*p->found), compare_found);
	p->found_count = kept < MOST_RANGES ? kept : MOST_RANGES;
}

/* The text of a file that is embedded in debug information is there already. */
static bool is_embedded(const struct profile *profile, uint32_t path)
{
	uint32_t file = profile_find_source_file(profile, path);

	return file != PROFILE_NONE && profile->source_files[file].is_embedded;
}

/* Gives the file of what was found a place in the plan; `*file` is PROFILE_NONE if it is not kept. */
static bool plan_file(struct planning *p, struct source_plan *plan, struct hash_map *by_path, const struct found *found,
	uint32_t *file, struct error *err)
{
	struct source_wanted *wanted = NULL;
	char name[PATH_MAX];
	uint32_t *value;
	bool added;

	*file = hash_map_get(by_path, &found->path);
	if (*file == HASH_MAP_NONE) {
		source_plan_name_file(p, profile_string(p->profile, found->path), name);
		if (name[0] && is_embedded(p->profile, found->path))
			plan->embedded_functions += found->function != PROFILE_NONE;
		else if (name[0] && plan->file_count < MOST_FILES)
			wanted = &plan->files[plan->file_count];
		if (!wanted)
			return true;
		if (!hash_map_add(by_path, &found->path, (uint32_t)plan->file_count, &value, &added, err))
			return false;
		*file = (uint32_t)plan->file_count;
		plan->file_count++;
		*wanted = (struct source_wanted){ .path = found->path,
			.name = strdup(name),
			.weight = found->range.weight,
			.built_ns = found->built_ns,
			.place = found->place };
	}
	wanted = &plan->files[*file];
	wanted->range_count++;
	wanted->place = source_place_join(&wanted->place, &found->place);
	if (found->built_ns < wanted->built_ns)
		wanted->built_ns = found->built_ns;
	return wanted->name != NULL || error_set_memory(err);
}

/* Sorts the ranges by file; within one they keep their order. */
static void plan_ranges(struct source_plan *plan, const struct found *found, const uint32_t *of_found, size_t count)
{
	size_t start = 0;

	for (size_t i = 0; i < plan->file_count; i++) {
		plan->files[i].ranges = plan->ranges + start;
		start += plan->files[i].range_count;
		plan->files[i].range_count = 0;
	}
	plan->range_count = start;
	for (size_t i = 0; i < count; i++) {
		struct source_wanted *file = of_found[i] == PROFILE_NONE ? NULL : &plan->files[of_found[i]];

		if (file)
			file->ranges[file->range_count++] = found[i].range;
	}
}

static bool plan_files(struct planning *p, struct source_plan *plan, struct error *err)
{
	CLEANUP(cleanup_free) uint32_t *of_found = calloc(p->found_count + 1, sizeof(*of_found));
	struct hash_map by_path;
	bool ok = true;

	plan->files = calloc(MOST_FILES, sizeof(*plan->files));
	plan->ranges = calloc(p->found_count + 1, sizeof(*plan->ranges));
	if (!of_found || !plan->files || !plan->ranges)
		return error_set_memory(err);
	hash_map_init(&by_path, sizeof(uint32_t));
	for (size_t i = 0; ok && i < p->found_count; i++)
		ok = plan_file(p, plan, &by_path, &p->found[i], &of_found[i], err);
	hash_map_deinit(&by_path);
	if (ok)
		plan_ranges(plan, p->found, of_found, p->found_count);
	return ok;
}

static void planning_deinit(struct planning *p)
{
	source_places_deinit(&p->places);
	hash_map_deinit(&p->windows);
	free(p->found);
	free(p->is_roots);
}

bool source_plan_make(struct source_plan *plan, struct profile *profile, const struct profile_symbols *symbols,
	const struct symbolize_options *options, struct error *err)
{
	CLEANUP(planning_deinit)
	struct planning p = { .profile = profile, .symbols = symbols, .options = options };

	*plan = (struct source_plan){ 0 };
	hash_map_init(&p.windows, 2 * sizeof(uint32_t));
	if (!options->is_command || !getcwd(p.directory, sizeof(p.directory)))
		p.directory[0] = '\0';
	if (!source_places_make(&p.places, profile, symbols, err) || !find_owners(&p, err) ||
		!source_plan_find_all(&p, err))
		return false;
	source_plan_choose(&p);
	return plan_files(&p, plan, err);
}

void source_plan_deinit(struct source_plan *plan)
{
	for (size_t i = 0; i < plan->file_count; i++)
		free(plan->files[i].name);
	free(plan->files);
	free(plan->ranges);
	*plan = (struct source_plan){ 0 };
}
