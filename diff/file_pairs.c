/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the files that have another path in head, by the functions that were matched. */
#include "diff/file_pairs.h"

#include <stdlib.h>
#include <string.h>

struct diff_file_pairs {
	struct string_table *paths; /* owned */
	uint32_t *partners;         /* owned; [path] that of the other side; 0: none */
};

/* Two paths and the self time of the functions that say so, as measured. */
struct file_pair {
	uint32_t base, head; /* paths */
	double time;
};

/* A file that lines of a function come from which is not the function's, with their self time on one side. */
struct line_file {
	uint32_t function, path;
	const char *name; /* the end of the path */
	enum diff_side side;
	double time;
};

/* The state while pairs of files are looked for. All is owned but `diff` and `paths`. */
struct survey {
	const struct diff *diff;
	struct string_table *paths;
	struct hash_map ids[DIFF_SIDES]; /* path to 0: it is one of this side */
	struct file_pair *pairs;
	size_t pair_count, pair_capacity;
	struct hash_map pair_ids;
	struct line_file *files;
	size_t file_count, file_capacity;
	struct hash_map file_ids;
};

static void survey_deinit(struct survey *s)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		hash_map_deinit(&s->ids[side]);
	free(s->pairs);
	hash_map_deinit(&s->pair_ids);
	free(s->files);
	hash_map_deinit(&s->file_ids);
}

void diff_file_pairs_destroy(struct diff_file_pairs *pairs)
{
	if (!pairs)
		return;
	string_table_destroy(pairs->paths);
	free(pairs->partners);
	free(pairs);
}

/* ---- What is met ---- */

static void file_pairs_add_path(struct survey *s, enum diff_side side, const char *text, uint32_t *path)
{
	bool added;

	*path = string_table_enter(s->paths, text, strlen(text));
	(void)hash_map_enter(&s->ids[side], path, 0, &added);
}

static void file_pairs_add_pair(struct survey *s, uint32_t base, uint32_t head, double time)
{
	uint32_t key[2] = { base, head }, *id;
	bool added;

	if (base == 0 || head == 0 || base == head)
		return;
	id = hash_map_enter(&s->pair_ids, key, (uint32_t)s->pair_count, &added);
	if (added) {
		ARRAY_PUSH(
			&s->pairs, &s->pair_capacity, &s->pair_count, (struct file_pair){ .base = base, .head = head });
	}
	s->pairs[*id].time += time;
}

static void survey_functions(struct survey *s)
{
	for (size_t i = 0; i < s->diff->function_count; i++) {
		const struct diff_function *f = &s->diff->functions[i];
		const char *file = diff_string(s->diff, f->file);
		uint32_t base, head;

		if (f->tier == DIFF_TIER_ONE_SIDED) {
			for (int side = 0; side < DIFF_SIDES; side++)
				if (f->raw_total[side] > 0)
					file_pairs_add_path(s, (enum diff_side)side, file, &head);
		} else {
			file_pairs_add_path(s, DIFF_BASE, diff_string(s->diff, f->base_file), &base);
			file_pairs_add_path(s, DIFF_HEAD, file, &head);
			file_pairs_add_pair(s, base, head, f->raw_self[DIFF_BASE] + f->raw_self[DIFF_HEAD]);
		}
	}
}

/* ---- Lines of other files ---- */

static void add_line_file(struct survey *s, enum diff_side side, uint32_t function, const char *file, double time)
{
	uint32_t key[3] = { function, 0, side }, *id;
	const char *slash;
	bool added;

	file_pairs_add_path(s, side, file, &key[1]);
	id = hash_map_enter(&s->file_ids, key, (uint32_t)s->file_count, &added);
	if (added) {
		ARRAY_GROW(&s->files, &s->file_capacity, s->file_count + 1);
		file = string_table_get(s->paths, key[1]);
		slash = strrchr(file, '/');
		s->files[s->file_count++] = (struct line_file){
			.function = function, .path = key[1], .name = slash ? slash + 1 : file, .side = side
		};
	}
	s->files[*id].time += time;
}

/* The innermost frames alone: self time is of these. */
static void survey_lines(struct survey *s, enum diff_side side, const struct profile *profile)
{
	const struct diff *diff = s->diff;
	uint32_t metric = profile_find_metric(profile, diff_string(diff, diff->metric), diff_string(diff, diff->unit));

	metric = metric == PROFILE_NONE ? 0 : metric;
	for (size_t i = 0; i < profile->sample_count; i++) {
		uint32_t stack = profile->samples[i].stack, node = diff->sample_nodes[side][i];
		const struct profile_location *location = &profile->locations[profile->stacks[stack].location];
		const struct profile_line *line = &profile->lines[location->first_line];

		if (stack != 0 && node != 0 && location->line_count > 0 && line->file != 0 &&
			line->file != profile->functions[line->function].file)
			add_line_file(s, side, diff->nodes[node].function, profile_string(profile, line->file),
				(double)profile->values[i * profile->value_type_count + metric]);
	}
}

static int by_function_and_name(const void *left, const void *right)
{
	const struct line_file *a = left, *b = right;
	int order = a->function != b->function ? ORDER(a->function, b->function) : strcmp(a->name, b->name);

	if (order == 0)
		order = ORDER(a->side, b->side);
	return order ? order : ORDER(a->path, b->path);
}

/* Of files that have one name in one function, nothing tells which is which. */
static void pair_line_files(struct survey *s)
{
	const struct line_file *files = s->files;

	if (s->file_count > 0)
		qsort(s->files, s->file_count, sizeof(*s->files), by_function_and_name);
	for (size_t i = 0, end; i < s->file_count; i = end) {
		for (end = i + 1; end < s->file_count && files[end].function == files[i].function &&
				  strcmp(files[end].name, files[i].name) == 0;)
			end++;
		if (end - i == 2 && files[i].side != files[i + 1].side)
			file_pairs_add_pair(s, files[i].path, files[i + 1].path, files[i].time + files[i + 1].time);
	}
}

/* ---- Pairs ---- */

/* Pairs with most time come first; ties are in order of ids, so that the result does not depend on the sort. */
static int file_pairs_by_falling_time(const void *left, const void *right)
{
	const struct file_pair *a = left, *b = right;

	if (a->time != b->time)
		return ORDER(b->time, a->time);
	return a->base != b->base ? ORDER(a->base, b->base) : ORDER(a->head, b->head);
}

static void file_pairs_join(const struct survey *s, uint32_t *partners)
{
	if (s->pair_count > 0)
		qsort(s->pairs, s->pair_count, sizeof(*s->pairs), file_pairs_by_falling_time);
	for (size_t i = 0; i < s->pair_count; i++) {
		const struct file_pair *pair = &s->pairs[i];

		if (hash_map_get(&s->ids[DIFF_HEAD], &pair->base) != HASH_MAP_NONE ||
			hash_map_get(&s->ids[DIFF_BASE], &pair->head) != HASH_MAP_NONE || partners[pair->base] != 0 ||
			partners[pair->head] != 0)
			continue;
		partners[pair->base] = pair->head;
		partners[pair->head] = pair->base;
	}
}

void diff_file_pairs_create(
	const struct diff *diff, const struct profile *const profiles[DIFF_SIDES], struct diff_file_pairs **pairs)
{
	CLEANUP(diff_file_pairs_cleanup) struct diff_file_pairs *made = memory_zeroed(1, sizeof(*made));
	CLEANUP(survey_deinit) struct survey s = { .diff = diff };

	for (int side = 0; side < DIFF_SIDES; side++)
		hash_map_init(&s.ids[side], sizeof(uint32_t));
	hash_map_init(&s.pair_ids, 2 * sizeof(uint32_t));
	hash_map_init(&s.file_ids, 3 * sizeof(uint32_t));
	made->paths = string_table_begin((size_t)4 << 30);
	s.paths = made->paths;
	survey_functions(&s);
	survey_lines(&s, DIFF_BASE, profiles[DIFF_BASE]);
	survey_lines(&s, DIFF_HEAD, profiles[DIFF_HEAD]);
	pair_line_files(&s);
	made->partners = memory_zeroed(string_table_count(made->paths) + 1, sizeof(*made->partners));
	file_pairs_join(&s, made->partners);
	*pairs = TAKE(made);
}

const char *diff_file_partner(const struct diff_file_pairs *pairs, const char *path, size_t bytes)
{
	uint32_t id = string_table_find(pairs->paths, path, bytes);

	return id != UINT32_MAX && pairs->partners[id] ? string_table_get(pairs->paths, pairs->partners[id]) : NULL;
}
