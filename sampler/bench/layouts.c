/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/bench/layouts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PATH_BYTES = 1 << 16 };

/* ---- The names of programs ---- */

/* Returns whether a file that ran is that of a word of the command, as it is written or with its links followed. */
static bool is_file_of(const char *path, const char *word)
{
	CLEANUP(cleanup_free) char *real = realpath(word, NULL);
	const char *name = strrchr(word, '/'), *of_path = strrchr(path, '/');

	return (real && strcmp(real, path) == 0) || strcmp(of_path ? of_path + 1 : path, name ? name + 1 : word) == 0;
}

/* The file keeps its folder. */
static bool rename_mapping(struct profile *profile, uint32_t mapping, const char *pattern, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer path = { 0 };
	const char *was = profile_string(profile, profile->mappings[mapping].path), *end = strrchr(was, '/'),
		   *name = strrchr(pattern, '/');

	buffer_init(&path, MAX_PATH_BYTES);
	buffer_append(&path, was, end ? (size_t)(end - was) + 1 : 0);
	buffer_append_string(&path, name ? name + 1 : pattern);
	buffer_append(&path, "", 1);
	return buffer_ok(&path, err) && profile_rename_mapping(profile, mapping, path.data, err);
}

static bool rename_word(const char *pattern, uint32_t layout, struct profile *profile, struct error *err)
{
	CLEANUP(cleanup_free) char *word = bench_fill_in(pattern, layout, err);

	if (!word)
		return false;
	for (uint32_t i = 0; i < profile->mapping_count; i++) {
		const struct profile_mapping *mapping = &profile->mappings[i];

		if (mapping->kind == PROFILE_MAPPING_FILE && is_file_of(profile_string(profile, mapping->path), word) &&
			!rename_mapping(profile, i, pattern, err))
			return false;
	}
	return true;
}

bool bench_layouts_rename(const struct bench_command *command, struct profile *profile, struct error *err)
{
	/* The characters that part the words of a command, whether or not a shell reads it. */
	static const char between[] = " \t\n'\"`;&|<>()=$";
	CLEANUP(cleanup_free) char *words = command->pattern ? strdup(command->pattern) : NULL;
	char *rest = words, *word;

	if (command->pattern && !words)
		return error_set_memory(err);
	while (rest && (word = strsep(&rest, between)) != NULL)
		if (strstr(word, BENCH_LAYOUT_PLACE) && !rename_word(word, command->layout, profile, err))
			return false;
	return true;
}

/* ---- The environment ---- */

static bool bench_layouts_set(const char *name, const char *value, struct error *err)
{
	int result = value ? setenv(name, value, 1) : unsetenv(name);

	return result == 0 || error_set_errno(err, errno, "cannot set %s", name);
}

bool bench_layout_set(uint32_t layout, struct error *err)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", layout);
	return bench_layouts_set("KELVIN_LAYOUT", layout > 0 ? number : NULL, err);
}

bool bench_pad_set(int bytes, struct error *err)
{
	CLEANUP(cleanup_free) char *pad = malloc(bytes > 0 ? (size_t)bytes + 1 : 1);

	if (!pad)
		return error_set_memory(err);
	memset(pad, 'x', bytes > 0 ? (size_t)bytes : 0);
	pad[bytes > 0 ? bytes : 0] = '\0';
	return bench_layouts_set("KELVIN_PAD", bytes < 0 ? NULL : pad, err);
}

/* ---- What layouts are ---- */

/* The state of a side's layouts, from one run of each. */
struct bench_layouts_known {
	struct string_table *keys; /* owned */
	uint64_t *fingerprints;    /* owned: [key] the first that it had; 0: none */
	size_t capacity;
	size_t layouts, moved; /* layouts whose files differ from those of the first */
	bool is_unknown;       /* files without build ids were met */
	size_t functions, differ;
	char example[80]; /* a function that differs */
};

static void known_deinit(struct bench_layouts_known *known)
{
	string_table_destroy(known->keys);
	free(known->fingerprints);
}

static bool note_functions(struct bench_layouts_known *known, const struct profile *profile, struct error *err)
{
	for (size_t i = 0; i < profile->function_count; i++) {
		const struct profile_function *f = &profile->functions[i];
		size_t before = string_table_count(known->keys);
		uint32_t id;

		if (f->fingerprint == 0)
			continue;
		if (!string_table_add(known->keys, profile_string(profile, f->key),
			    string_table_size(profile->strings, f->key), &id, err) ||
			!ARRAY_RESERVE(&known->fingerprints, &known->capacity, (size_t)id + 1, ARRAY_MAX_IDS, err))
			return false;
		if (id >= before) {
			known->fingerprints[id] = f->fingerprint;
			known->functions++;
		} else if (known->fingerprints[id] != 0 && known->fingerprints[id] != f->fingerprint) {
			known->fingerprints[id] = 0;
			known->differ++;
			snprintf(known->example, sizeof(known->example), "%s", profile_string(profile, f->name));
		}
	}
	return true;
}

/* Returns whether the user's own code that ran in a mapping is known to be there. */
static bool has_users_code(const struct profile *profile, uint32_t mapping)
{
	for (size_t i = 0; i < profile->location_count; i++) {
		const struct profile_location *location = &profile->locations[i];

		for (uint32_t k = 0; location->mapping == mapping && k < location->line_count; k++)
			if (profile->functions[profile->lines[location->first_line + k].function].origin ==
				PROFILE_ORIGIN_USER)
				return true;
	}
	return false;
}

/* Returns whether the user's code in the run is of another file than in the first one. */
static bool has_other_file(const struct profile *first, const struct profile *profile, bool *is_unknown)
{
	bool other = false;

	for (uint32_t i = 0; i < profile->mapping_count; i++) {
		const struct profile_mapping *mapping = &profile->mappings[i];

		if (mapping->kind != PROFILE_MAPPING_FILE || !has_users_code(profile, i))
			continue;
		*is_unknown |= mapping->build_id == 0;
		other |= !profile_has_build_id(first, profile_string(profile, mapping->build_id));
	}
	return other;
}

static void bench_layouts_say(const struct bench_layouts_known *known, const char *side, struct buffer *notices)
{
	if (known->layouts > 1 && known->moved == 0 && !known->is_unknown)
		buffer_printf(notices,
			"the layouts of %s are the same bytes, so that they tell nothing of where code lies; the build has to use KELVIN_LAYOUT: see docs/layouts.md\n",
			side);
	/* A function or two may be told apart by an address in it. */
	if (known->differ * 20 > known->functions)
		buffer_printf(notices,
			"the layouts of %s differ in their code, too (%zu of %zu functions that ran, such as %s): what the compiler decided anew in each build counts as layout\n",
			side, known->differ, known->functions, known->example);
}

bool bench_layouts_check(const struct bench_runs *runs, enum bench_arm side, struct buffer *notices, struct error *err)
{
	CLEANUP(known_deinit) struct bench_layouts_known known = { 0 };
	CLEANUP(profile_cleanup) struct profile *first = NULL;
	bool seen[BENCH_MOST_LAYOUTS + 1] = { 0 };

	if (!string_table_create(SIZE_MAX / 2, &known.keys, err))
		return false;
	for (uint64_t i = 0; i < runs->pairs; i++) {
		CLEANUP(profile_cleanup) struct profile *profile = NULL;
		bool *is_seen = &seen[runs->records[side][i].layout];

		if (*is_seen)
			continue;
		*is_seen = true;
		known.layouts++;
		if (!bench_runs_read(runs, side, i, &profile, err) || !note_functions(&known, profile, err))
			return false;
		if (!first)
			first = TAKE(profile);
		else
			known.moved += has_other_file(first, profile, &known.is_unknown);
	}
	bench_layouts_say(&known, bench_arm_name(side), notices);
	return true;
}
