/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps the code of sampled functions in the profile, as binaries have it. */
#include "binary/binary.h"
#include "symbolize/source_places.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_PER_MILLE = 1 }; /* of the samples, that a function must have */

/* An address that was executing in samples, and the function that holds it. */
struct sampled {
	uint64_t address, weight;
	uint64_t start, end; /* of the function; 0: not known */
	uint32_t mapping;
	uint32_t function; /* that contains the code */
};

/* Sampled addresses of one function, which are neighbours. */
struct group {
	const struct sampled *first;
	size_t count;
	uint64_t weight;
};

struct keeper {
	struct profile *profile;
	const struct profile_symbols *symbols;
	const struct symbolize_options *options;
	uint64_t *weights;       /* owned: [location] samples that end there */
	bool *has_text;          /* owned: [source file] */
	struct sampled *sampled; /* owned: by mapping, then by address */
	struct group *groups;    /* owned */
	size_t sampled_count, group_count;
	uint64_t samples; /* in all */
	uint64_t bytes;   /* kept so far */
};

static void keeper_deinit(struct keeper *k)
{
	free(k->weights);
	free(k->has_text);
	free(k->sampled);
	free(k->groups);
}

static struct elf_image *symbolize_code_image_of(const struct keeper *k, uint32_t mapping)
{
	return mapping != PROFILE_NONE && k->symbols->images && mapping < k->symbols->mapping_count &&
			       k->profile->mappings[mapping].kind == PROFILE_MAPPING_FILE
		       ? k->symbols->images[mapping]
		       : NULL;
}

/* ---- Which code ---- */

static bool symbolize_code_weigh(struct keeper *k, struct error *err)
{
	const struct profile *profile = k->profile;
	uint32_t value = source_places_value(profile);

	if (!ARRAY_ZEROED(&k->weights, profile->location_count + 1, err) ||
		!ARRAY_ZEROED(&k->has_text, profile->source_file_count + 1, err))
		return false;
	for (size_t i = 0; i < profile->sample_count; i++) {
		int64_t weight = profile->values[i * profile->value_type_count + value];
		uint32_t location = profile->stacks[profile->samples[i].stack].location;

		if (weight <= 0 || location == PROFILE_NONE)
			continue;
		k->weights[location] += (uint64_t)weight;
		k->samples += (uint64_t)weight;
	}
	for (size_t i = 0; i < profile->source_text_count; i++)
		k->has_text[profile->source_texts[i].file] = true;
	return true;
}

/* Returns whether a location is in a function whose text is kept, or in one of the user's own if all are kept. */
static bool symbolize_code_is_wanted(const struct keeper *k, uint32_t id)
{
	const struct profile *profile = k->profile;
	const struct profile_location *location = &profile->locations[id];

	if (k->weights[id] == 0 || !symbolize_code_image_of(k, location->mapping))
		return false;
	for (uint32_t i = 0; i < location->line_count; i++) {
		const struct profile_line *line = &profile->lines[location->first_line + i];
		const struct profile_function *function = &profile->functions[line->function];
		uint32_t file = profile_find_source_file(profile, line->file ? line->file : function->file);

		if ((file != PROFILE_NONE && k->has_text[file]) ||
			(k->options->sources == SYMBOLIZE_SOURCES_ALL && function->origin == PROFILE_ORIGIN_USER))
			return true;
	}
	return false;
}

static int compare_sampled(const void *left, const void *right)
{
	const struct sampled *a = left, *b = right;

	return a->mapping != b->mapping ? ORDER(a->mapping, b->mapping) : ORDER(a->address, b->address);
}

/* The function of the last frame of a location, which has one. */
static uint32_t containing(const struct profile *profile, uint32_t location)
{
	const struct profile_location *at = &profile->locations[location];

	return profile->lines[at->first_line + at->line_count - 1].function;
}

static bool find_sampled(struct keeper *k, struct error *err)
{
	if (!ARRAY_ZEROED(&k->sampled, k->profile->location_count + 1, err) ||
		!ARRAY_ZEROED(&k->groups, k->profile->location_count + 1, err))
		return false;
	for (uint32_t i = 0; i < k->profile->location_count; i++)
		if (symbolize_code_is_wanted(k, i))
			k->sampled[k->sampled_count++] = (struct sampled){ .address = k->profile->locations[i].address,
				.weight = k->weights[i],
				.mapping = k->profile->locations[i].mapping,
				.function = containing(k->profile, i) };
	qsort(k->sampled, k->sampled_count, sizeof(*k->sampled), compare_sampled);
	return true;
}

/* Asks the unwind tables of each binary, which the recording has read before. */
static bool symbolize_code_find_bounds(struct keeper *k, struct error *err)
{
	for (size_t i = 0, end; i < k->sampled_count; i = end) {
		uint32_t mapping = k->sampled[i].mapping;
		struct frame_table *table;

		if (!frame_table_create(symbolize_code_image_of(k, mapping), FRAME_RULES, &table, err))
			return false;
		for (end = i; end < k->sampled_count && k->sampled[end].mapping == mapping; end++) {
			struct sampled *at = &k->sampled[end];

			if (!frame_table_find_bounds(table, at->address, &at->start, &at->end))
				at->start = at->end = 0;
		}
		frame_table_destroy(table);
	}
	return true;
}

static uint64_t min_address(uint64_t left, uint64_t right)
{
	return left < right ? left : right;
}

/*
 * Guesses the bounds of functions without an unwind table, such as Go's, by the first and the last sampled address:
 * samples are taken where instructions begin.
 */
static void guess_bounds(struct keeper *k)
{
	for (size_t i = 0, end; i < k->sampled_count; i = end) {
		const struct sampled *first = &k->sampled[i];
		uint64_t behind;

		for (end = i + 1; end < k->sampled_count && first->end == 0; end++)
			if (k->sampled[end].end != 0 || k->sampled[end].mapping != first->mapping ||
				k->sampled[end].function != first->function)
				break;
		if (first->end != 0 ||
			!checked_add(k->sampled[end - 1].address, MACHINE_MAX_INSTRUCTION_BYTES, &behind))
			continue;
		if (end < k->sampled_count && k->sampled[end].mapping == first->mapping)
			behind = min_address(
				behind, k->sampled[end].end ? k->sampled[end].start : k->sampled[end].address);
		for (size_t at = end; at-- > i;) {
			k->sampled[at].start = first->address;
			k->sampled[at].end = behind;
		}
	}
}

static int compare_groups(const void *left, const void *right)
{
	const struct group *a = left, *b = right;

	return a->weight != b->weight ? ORDER(b->weight, a->weight) : compare_sampled(a->first, b->first);
}

static void symbolize_code_find_groups(struct keeper *k)
{
	for (size_t i = 0; i < k->sampled_count; i++) {
		const struct sampled *at = &k->sampled[i];
		struct group *last = k->group_count > 0 ? &k->groups[k->group_count - 1] : NULL;

		if (at->end <= at->start)
			continue;
		if (!last || last->first->mapping != at->mapping || last->first->start != at->start)
			k->groups[k->group_count++] = (struct group){ at, 1, at->weight };
		else if (at == last->first + last->count) {
			last->count++;
			last->weight += at->weight;
		}
	}
	qsort(k->groups, k->group_count, sizeof(*k->groups), compare_groups);
}

/* ---- Keeping it ---- */

/*
 * Finds where the part of a long function begins that has the most samples: at a sampled address, where an instruction
 * begins since it was about to be executed.
 */
static uint64_t find_part(const struct group *group)
{
	uint64_t best_weight = 0, best = group->first->start, weight = 0;

	for (size_t first = 0, end = 0; first < group->count; weight -= group->first[first].weight, first++) {
		uint64_t start = first == 0 && group->first[0].address - group->first[0].start <
							 PROFILE_MAX_FUNCTION_CODE_BYTES / 2
					 ? group->first[0].start
					 : group->first[first].address;

		for (; end < group->count && group->first[end].address - start < PROFILE_MAX_FUNCTION_CODE_BYTES; end++)
			weight += group->first[end].weight;
		if (weight > best_weight) {
			best_weight = weight;
			best = start;
		}
	}
	return best;
}

static bool keep_group(struct keeper *k, const struct group *group, struct error *err)
{
	const struct elf_image *image = symbolize_code_image_of(k, group->first->mapping);
	uint64_t start = group->first->start, end = group->first->end, size;
	struct profile_code code = { .mapping = group->first->mapping, .machine = elf_image_machine(image) };
	const uint8_t *at;
	size_t left;

	/* A deploy may have copied another build over it. */
	if (!elf_image_is_intact(image))
		return true;
	if (end - start > PROFILE_MAX_FUNCTION_CODE_BYTES)
		start = find_part(group);
	at = elf_image_bytes_at(image, start, &left);
	size = end - start < PROFILE_MAX_FUNCTION_CODE_BYTES ? end - start : PROFILE_MAX_FUNCTION_CODE_BYTES;
	size = at && size < left ? size : left;
	if (!at || size == 0 || code.machine == 0 || k->bytes + size > PROFILE_MAX_CODE_BYTES)
		return true;
	code.address = start;
	code.size = (uint32_t)size;
	/* It is copied, and not changed. */
	code.bytes = (uint8_t *)(uintptr_t)at;
	k->bytes += size;
	return profile_add_code(k->profile, &code, err);
}

bool symbolize_keep_code(struct profile *profile, const struct profile_symbols *symbols,
	const struct symbolize_options *options, struct error *err)
{
	CLEANUP(keeper_deinit)
	struct keeper k = { .profile = profile, .symbols = symbols, .options = options };

	if (options->sources == SYMBOLIZE_SOURCES_NONE || options->no_names ||
		(options->sources == SYMBOLIZE_SOURCES_OF_PROJECT && options->project_root_count == 0))
		return true;
	if (!symbolize_code_weigh(&k, err) || !find_sampled(&k, err) || !symbolize_code_find_bounds(&k, err))
		return false;
	guess_bounds(&k);
	symbolize_code_find_groups(&k);
	for (size_t i = 0; i < k.group_count && k.groups[i].weight * 1000 >= k.samples * LEAST_PER_MILLE; i++)
		if (!keep_group(&k, &k.groups[i], err))
			return false;
	return true;
}
