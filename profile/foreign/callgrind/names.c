/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Resolves compressed names of objects, files and functions, and makes the profile's strings of them. */
#include "profile/foreign/callgrind/callgrind.h"

#include <stdlib.h>
#include <string.h>

void callgrind_names_init(struct callgrind_names *names)
{
	*names = (struct callgrind_names){ .has_contexts = true };
	hash_map_init(&names->files, sizeof(uint64_t));
	hash_map_init(&names->functions, sizeof(uint64_t));
	hash_map_init(&names->objects, sizeof(uint64_t));
	hash_map_init(&names->path_map, sizeof(struct callgrind_path));
}

void callgrind_names_deinit(struct callgrind_names *names)
{
	hash_map_deinit(&names->files);
	hash_map_deinit(&names->functions);
	hash_map_deinit(&names->objects);
	hash_map_deinit(&names->path_map);
	free(names->paths);
}

static bool path_add(struct callgrind_names *names, uint32_t parent, uint32_t name, uint32_t *path, struct error *err)
{
	struct callgrind_path key = { parent, name };
	uint32_t *found;
	bool added = false;

	if (!ARRAY_RESERVE(&names->paths, &names->path_capacity, names->path_count + 2, ARRAY_MAX_IDS, err))
		return false;
	if (names->path_count == 0)
		names->paths[names->path_count++] = (struct callgrind_path){ 0 };
	if (!hash_map_add(&names->path_map, &key, (uint32_t)names->path_count, &found, &added, err))
		return false;
	if (added)
		names->paths[names->path_count++] = key;
	*path = *found;
	return true;
}

/* ---- Contexts ---- */

/* C++ operators whose names hold brackets: `operator<<'main`. */
static size_t operator_size(const char *text, size_t left)
{
	size_t size = strlen("operator");

	if (left < size || memcmp(text, "operator", size) != 0)
		return 0;
	while (size < left && strchr("<>=-()[]", text[size]))
		size++;
	return size;
}

/*
 * The last `'` of a text that separates two names, or NULL. Others stand in brackets: `<'a>` of Rust, `<1'000>` of C++.
 * Where brackets do not match, no `'` is known to stand in them, and each separates.
 */
struct separators {
	const char **at; /* owned */
	size_t count, capacity;
};

static bool separators_find(
	struct separators *found, const char *text, size_t size, bool in_brackets, bool *balanced, struct error *err)
{
	size_t depth = 0;

	found->count = 0;
	*balanced = true;
	for (size_t i = 0; i < size; i++) {
		size_t skipped = text[i] == 'o' ? operator_size(text + i, size - i) : 0;

		if (skipped) {
			i += skipped - 1;
		} else if (strchr("<([{", text[i]) && text[i]) {
			depth++;
		} else if (strchr(">)]}", text[i]) && text[i] && !(i > 0 && text[i] == '>' && text[i - 1] == '-')) {
			*balanced = *balanced && depth > 0;
			depth -= depth > 0;
		} else if (text[i] == '\'' && (depth == 0 || in_brackets)) {
			if (!ARRAY_APPEND(&found->at, &found->capacity, &found->count, size, err, text + i))
				return false;
		}
	}
	*balanced = *balanced && depth == 0;
	return true;
}

static void separators_deinit(struct separators *found)
{
	free(found->at);
}

/*
 * Splits `leaf'2'caller'its caller`: the number is a level of recursion, and as good as a caller to tell contexts
 * apart.
 */
static bool path_of_text(struct callgrind_names *names, struct profile *profile, const char *text, size_t size,
	uint32_t *path, struct error *err)
{
	CLEANUP(separators_deinit) struct separators found = { 0 };
	bool balanced = true, has_any = names->has_contexts && memchr(text, '\'', size);
	const char *end = text + size;
	uint32_t name;

	if (has_any && !separators_find(&found, text, size, false, &balanced, err))
		return false;
	if (has_any && !balanced && !separators_find(&found, text, size, true, &balanced, err))
		return false;
	*path = 0;
	for (size_t i = found.count + 1; i-- > 0;) {
		const char *start = i > 0 ? found.at[i - 1] + 1 : text;

		if (!string_table_add(profile->strings, start, (size_t)(end - start), &name, err) ||
			!path_add(names, *path, name, path, err))
			return false;
		end = start - 1;
	}
	return true;
}

/* ---- Ids ---- */

/* Returns the size of `(12)` at the start of a text; `(below main)` is a name. Returns its size, 0: there is none. */
static size_t id_size(const char *text, size_t size, uint64_t *id)
{
	struct text_cursor left = text_over(text, size);

	*id = 0;
	return text_take_byte(&left, '(') && text_take_number(&left, UINT64_MAX, id) && text_take_byte(&left, ')')
		       ? size - text_left(left)
		       : 0;
}

/* Returns the size of ` [2/3]` at the end of a name; 0: there is none. Only names of calls have it. */
static size_t callgrind_names_number_size(const char *text, size_t size)
{
	const char *open = memrchr(text, '[', size);
	struct text_cursor left = { open ? open + 1 : text, text + size };
	uint64_t ignored;

	return open && open >= text + 2 && open[-1] == ' ' && text_take_number(&left, UINT64_MAX, &ignored) &&
			       text_take_byte(&left, '/') && text_take_number(&left, UINT64_MAX, &ignored) &&
			       text_is(left, "]")
		       ? (size_t)(left.end - open) + 1
		       : 0;
}

static bool name_add(struct callgrind_names *names, struct profile *profile, enum callgrind_name_kind kind,
	const char *text, size_t size, uint32_t *result, struct error *err)
{
	if (kind == CALLGRIND_FUNCTION && names->has_numbers)
		size -= callgrind_names_number_size(text, size);
	if (kind == CALLGRIND_FUNCTION)
		return path_of_text(names, profile, text, size, result, err);
	/* Callgrind's word for what is not known. */
	if (size == 3 && memcmp(text, "???", 3) == 0)
		size = 0;
	return string_table_add(profile->strings, text, size, result, err);
}

bool callgrind_name(struct callgrind_names *names, struct profile *profile, enum callgrind_name_kind kind,
	const char *text, size_t size, uint32_t *result, struct error *err)
{
	struct hash_map *maps[] = { &names->files, &names->functions, &names->objects };
	uint32_t *found;
	uint64_t id;
	size_t skip = id_size(text, size, &id);
	bool added;

	if (skip == 0)
		return name_add(names, profile, kind, text, size, result, err);
	while (skip < size && text[skip] == ' ')
		skip++;
	text += skip;
	size -= skip;
	if (size == 0) {
		*result = hash_map_get(maps[kind], &id);
		if (*result != HASH_MAP_NONE)
			return true;
		names->unnamed[kind]++;
		text -= kind == CALLGRIND_FUNCTION ? skip : 0;
		size = kind == CALLGRIND_FUNCTION ? skip : 0;
	}
	if (!name_add(names, profile, kind, text, size, result, err) ||
		!hash_map_add(maps[kind], &id, *result, &found, &added, err))
		return false;
	*found = *result;
	return true;
}
