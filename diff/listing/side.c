/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds one side of a function: in which file it is, where its text begins and ends, and which lines it has. */
#include "diff/listing/lister.h"

#include <string.h>

void lister_side_deinit(struct lister_side *side)
{
	free(side->numbers);
	free(side->rows);
}

static const struct diff_place *side_place_of(const struct lister *lister, enum diff_side side, uint32_t place)
{
	return &lister->places[side].lines->places[place];
}

/* Divides the places of the function into those of its own file and others; lines that are not known are none. */
static void take_places(const struct lister *lister, enum diff_side side, uint32_t function, struct lister_side *found)
{
	const struct lister_places *places = &lister->places[side];
	uint32_t first = places->first[function], end = places->first[function + 1];

	found->places = &places->order[first];
	while (first + found->place_count < end &&
		diff_place_is_own(
			lister->profiles[side], side_place_of(lister, side, found->places[found->place_count])))
		found->place_count++;
	found->others = found->places + found->place_count;
	found->other_count = end - first - found->place_count;
	while (found->place_count > 0 && side_place_of(lister, side, *found->places)->line == 0) {
		found->places++;
		found->place_count--;
	}
}

/* Returns the function of the profile that most of the time was in: functions of several files may be one. */
static const struct profile_function *side_function_of(
	const struct lister *lister, enum diff_side side, const struct lister_side *found)
{
	const struct diff_place *most = NULL;

	for (size_t i = 0; i < found->place_count + found->other_count; i++) {
		const struct diff_place *place = side_place_of(lister, side, found->places[i]);

		if (place->of != PROFILE_NONE && (!most || place->total > most->total))
			most = place;
	}
	return most ? &lister->profiles[side]->functions[most->of] : NULL;
}

static const char *build_id_of(const struct profile *profile, uint32_t module)
{
	for (size_t i = 0; i < profile->mapping_count; i++)
		if (profile->mappings[i].module == module && profile->mappings[i].build_id)
			return profile_string(profile, profile->mappings[i].build_id);
	return "";
}

/* The file and the line of the definition, which the names of scripts' functions may tell alone. */
static bool find_definition(struct lister *lister, enum diff_side side, struct listing_text *text,
	struct lister_side *found, bool *is_script, struct error *err)
{
	const struct profile *profile = lister->profiles[side];
	const struct profile_function *function = side_function_of(lister, side, found);
	struct profile_script_name parts = { 0 };
	const char *path;
	size_t size;

	if (!function)
		return true;
	*is_script = profile_script_name(profile_string(profile, function->name), &parts) != PROFILE_LANGUAGE_NATIVE;
	path = function->file ? profile_string(profile, function->file) : parts.file;
	size = function->file ? strlen(path) : parts.file_bytes;
	found->definition = function->start_line ? function->start_line : parts.line;
	found->build_id = build_id_of(profile, function->module);
	return size == 0 || string_table_add(lister->listing->strings, path, size, &text->file, err);
}

/* Finds where the function begins and ends; in text by its indentation, else by its samples. */
static void side_find_bounds(
	const struct lister *lister, enum diff_side side, struct listing_text *text, const struct lister_side *found)
{
	uint32_t least = side_place_of(lister, side, found->places[0])->line;
	uint32_t most = side_place_of(lister, side, found->places[found->place_count - 1])->line;
	bool is_defined = found->definition > 0 && found->definition <= least;
	const struct text_block *block;

	text->first_line = is_defined ? found->definition : least;
	text->last_line = most;
	block = found->source ? text_block_at(&found->source->text, text->first_line) : NULL;
	if (block && is_defined) {
		const char *start = block->lines[text->first_line - block->first_line].text;

		text->last_line = profile_source_end(
			start, (size_t)(block->bytes + block->size - start), text->first_line, text->first_line, most);
	}
}

/* All lines of a text, and sampled ones that it does not have. Places may share lines, in files of one function. */
static void number_lines(
	const struct lister *lister, enum diff_side side, const struct listing_text *text, struct lister_side *found)
{
	const struct text_block *block = found->source ? text_block_at(&found->source->text, text->first_line) : NULL;
	size_t left = lister->row_count < LISTING_MOST_ROWS ? LISTING_MOST_ROWS - lister->row_count : 0, lines = 0;
	uint32_t last = 0;

	if (block) {
		uint64_t end = (uint64_t)block->first_line + block->line_count;

		lines = (size_t)((text->last_line < end ? (uint64_t)text->last_line + 1 : end) - text->first_line);
		/* Of a function with more lines than fit, those with time are left. */
		lines = lines > left ? 0 : lines;
	}
	found->numbers = memory_zeroed(lines + found->place_count + 1, sizeof(*found->numbers));
	for (size_t i = 0; i < lines; i++)
		found->numbers[found->count++] = last = text->first_line + (uint32_t)i;
	for (size_t i = 0; i < found->place_count; i++) {
		uint32_t line = side_place_of(lister, side, found->places[i])->line;

		if (line > last)
			found->numbers[found->count++] = last = line;
	}
	found->count = found->count > left ? left : found->count;
	found->rows = memory_alloc((found->count + 1) * sizeof(*found->rows));
}

bool lister_side_find(struct lister *lister, enum diff_side side, struct listing_function *listed,
	struct lister_side *found, struct error *err)
{
	struct listing_text *text = &listed->text[side];
	bool is_script = false;

	*found = (struct lister_side){ .build_id = "" };
	take_places(lister, side, listed->function, found);
	if (!find_definition(lister, side, text, found, &is_script, err))
		return false;
	if (found->place_count > 0) {
		uint32_t least = side_place_of(lister, side, found->places[0])->line;
		const struct sources_file file = {
			.path = text->file,
			.line = found->definition > 0 && found->definition <= least ? found->definition : least,
			.build_id = found->build_id,
			.is_script = is_script,
		};

		if (!sources_find(&lister->sources[side], &file, &found->source, err))
			return false;
		side_find_bounds(lister, side, text, found);
	}
	if (found->source) {
		text->place = found->source->place;
		text->proof = found->source->proof;
	}
	number_lines(lister, side, text, found);
	return true;
}
