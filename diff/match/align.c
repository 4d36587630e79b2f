/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/match/align.h"

#include "diff/match/names.h"
#include "diff/match/surroundings.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Copies a string of a profile into the diff's table. */
static void match_align_copy_string(
	struct diff_build *build, const struct profile *profile, uint32_t from, uint32_t *to)
{
	*to = string_table_enter(build->diff->strings, string_table_get(profile->strings, from),
		string_table_size(profile->strings, from));
}

/* Fills the file and the line of a function, where profiles do not tell them its name, if a script's language tells. */
static void fill_file(struct diff_build *build, const struct profile *profile, const struct profile_function *from,
	struct diff_function *to)
{
	struct profile_script_name parts = { 0 };

	match_align_copy_string(build, profile, from->file, &to->file);
	to->line = from->start_line;
	if (!profile_languages[to->language].read_name)
		return;
	profile_script_name(profile_string(profile, from->name), &parts);
	to->line = to->line ? to->line : parts.line;
	if (to->file == 0 && parts.file_bytes != 0)
		to->file = string_table_enter(build->diff->strings, parts.file, parts.file_bytes);
}

static void fill_function(struct diff_build *build, const struct profile *profile, const struct profile_function *from,
	struct diff_function *to)
{
	const char *name = profile_string(profile, from->name), *module = profile_string(profile, from->module);

	*to = (struct diff_function){
		.key = to->key,
		.origin = from->origin,
		.origin_rule = from->origin_rule,
		.name_source = from->name_source,
		.tier = DIFF_TIER_ONE_SIDED,
		.moved_to = PROFILE_NONE,
		.layout_rsd = NAN,
		.language = build->is_grouped ? PROFILE_LANGUAGE_NATIVE : profile_language_of(name, module),
		.interprets = from->origin == PROFILE_ORIGIN_SYSTEM ? profile_language_interpreted_by(name, module)
								    : PROFILE_LANGUAGE_NATIVE,
	};
	match_align_copy_string(build, profile, from->name, &to->name);
	match_align_copy_string(build, profile, from->module, &to->module);
	if (!build->is_grouped)
		fill_file(build, profile, from, to);
}

/* The key of an entry of the table of functions. Where a compiler counts functions, one of the other side may have its
 * number. */
struct align_entry_key {
	uint32_t key;
	uint32_t side; /* of a key that has a number; DIFF_SIDES: of either side */
};

/* The table of functions while it is made. */
struct align_table {
	struct hash_map by_key;
	uint32_t *sources[DIFF_SIDES]; /* owned: [function] of the side's profile, the first; PROFILE_NONE: none */
	struct buffer text;
};

static void align_table_deinit(struct align_table *table)
{
	hash_map_deinit(&table->by_key);
	free(table->sources[DIFF_BASE]);
	free(table->sources[DIFF_HEAD]);
	buffer_deinit(&table->text);
}

static void align_table_init(const struct diff_build *build, struct align_table *table)
{
	size_t count = build->profiles[DIFF_HEAD]->function_count;

	count += build_two_sided(build) ? build->profiles[DIFF_BASE]->function_count : 0;
	hash_map_init(&table->by_key, sizeof(struct align_entry_key));
	buffer_init(&table->text, SIZE_MAX / 2);
	for (int side = 0; side < DIFF_SIDES; side++) {
		table->sources[side] = memory_alloc((count + 1) * sizeof(*table->sources[side]));
		memset(table->sources[side], 0xff, (count + 1) * sizeof(*table->sources[side]));
	}
}

/* Makes the key of an entry. `*template` is the id of its template; PROFILE_NONE: it was not asked for. */
static struct align_entry_key entry_key(
	struct diff_build *build, enum diff_side side, uint32_t key, struct buffer *scratch, uint32_t *template)
{
	const char *text = diff_string(build->diff, key);
	bool is_numbered = false;

	*template = PROFILE_NONE;
	if (!build_two_sided(build) || build->is_grouped)
		return (struct align_entry_key){ key, DIFF_SIDES };
	if (names_is_unnamed(text)) {
		is_numbered = true;
	} else if (strpbrk(text, "0123456789") || strstr(text, "'lambda'")) {
		/* Most names have no digit, and need not be taken apart. */
		scratch->size = 0;
		is_numbered = profile_key_template(text, scratch);
		*template = string_table_enter(build->templates, scratch->data ? scratch->data : "", scratch->size);
	}
	return (struct align_entry_key){ key, is_numbered ? (uint32_t)side : (uint32_t)DIFF_SIDES };
}

static void align_add_function(struct diff_build *build, uint32_t key, uint32_t template, bool is_numbered)
{
	struct diff *diff = build->diff;
	size_t had = build->function_capacity;

	ARRAY_GROW(&diff->functions, &build->function_capacity, diff->function_count + 1);
	if (had != build->function_capacity)
		build->names = memory_resize(build->names, build->function_capacity, sizeof(*build->names));
	build->names[diff->function_count] = (struct build_name){ template, is_numbered };
	diff->functions[diff->function_count++].key = key;
}

/* Adds the tree's functions that are not in the table yet. The tree has one function for each identity: the first. */
static void add_side(struct diff_build *build, enum diff_side side, struct align_table *table)
{
	const struct profile *profile = build->profiles[side];
	const struct profile_tree *tree = build->trees[side];
	uint32_t *ids = memory_alloc((profile->function_count + 1) * sizeof(*ids));

	build->function_ids[side] = ids;
	build->met[side] = memory_alloc((profile->function_count + 1) * sizeof(*build->met[side]));
	memset(ids, 0xff, profile->function_count * sizeof(*ids));
	for (size_t node = 1; node < tree->node_count; node++) {
		uint32_t function = tree->functions[node], key, template;
		struct align_entry_key entry;
		bool added;

		if (ids[function] != PROFILE_NONE)
			continue;
		match_align_copy_string(build, profile, profile->functions[function].key, &key);
		entry = entry_key(build, side, key, &table->text, &template);
		ids[function] = *hash_map_enter(&table->by_key, &entry, (uint32_t)build->diff->function_count, &added);
		build->met[side][build->met_count[side]++] = function;
		if (added)
			align_add_function(build, key, template, entry.side != DIFF_SIDES);
		if (table->sources[side][ids[function]] == PROFILE_NONE)
			table->sources[side][ids[function]] = function;
	}
}

/* Adds code and file of the other functions with a key in the table, such as `f.cold` beside `f`. */
static void add_siblings(struct diff_build *build, enum diff_side side, struct align_table *table)
{
	const struct profile *profile = build->profiles[side];
	uint32_t *ids = build->function_ids[side];

	for (size_t i = 0; i < profile->function_count; i++) {
		uint32_t from = profile->functions[i].key, key, template;
		struct align_entry_key entry;

		if (ids[i] != PROFILE_NONE)
			continue;
		key = string_table_find(build->diff->strings, string_table_get(profile->strings, from),
			string_table_size(profile->strings, from));
		if (key == UINT32_MAX)
			continue;
		entry = entry_key(build, side, key, &table->text, &template);
		ids[i] = hash_map_get(&table->by_key, &entry);
	}
}

/* Fills what is known of the functions: by head's profile where it has them. */
static void fill_functions(struct diff_build *build, const struct align_table *table)
{
	for (size_t i = 0; i < build->diff->function_count; i++) {
		struct diff_function *f = &build->diff->functions[i], of_base = { .key = f->key };
		uint32_t base = table->sources[DIFF_BASE][i], head = table->sources[DIFF_HEAD][i];
		const struct profile_function *from =
			base == PROFILE_NONE ? NULL : &build->profiles[DIFF_BASE]->functions[base];

		if (head == PROFILE_NONE) {
			fill_function(build, build->profiles[DIFF_BASE], from, f);
			continue;
		}
		fill_function(build, build->profiles[DIFF_HEAD], &build->profiles[DIFF_HEAD]->functions[head], f);
		if (!from)
			continue;
		of_base.language = f->language;
		if (!build->is_grouped)
			fill_file(build, build->profiles[DIFF_BASE], from, &of_base);
		f->base_file = of_base.file;
		if (f->origin == PROFILE_ORIGIN_UNKNOWN)
			f->origin = from->origin;
	}
}

static void note_presence(struct diff_build *build)
{
	size_t count = build->diff->function_count;

	build->redirect = memory_zeroed(count + 1, sizeof(*build->redirect));
	for (uint32_t i = 0; i < count; i++)
		build->redirect[i] = i;
	for (int side = 0; side < DIFF_SIDES; side++) {
		build->present[side] = memory_zeroed(count + 1, sizeof(*build->present[side]));
		for (size_t i = 0; i < build->met_count[side]; i++)
			build->present[side][build->function_ids[side][build->met[side][i]]] = true;
	}
	/* The frame of waits counts as present on both sides, so that it is matched with no other one as a rename. */
	for (size_t i = 0; i < count; i++)
		if (diff_wait_class(build->diff, &build->diff->functions[i]) != PROFILE_WAIT_NONE)
			build->present[DIFF_BASE][i] = build->present[DIFF_HEAD][i] = true;
}

/* Sets the tier of functions with equal keys, and of head's waits. */
static void grade_equal_keys(struct diff_build *build, const struct align_table *table)
{
	for (size_t i = 0; i < build->diff->function_count; i++)
		if (table->sources[DIFF_HEAD][i] != PROFILE_NONE && build->present[DIFF_BASE][i])
			build->diff->functions[i].tier = DIFF_TIER_SAME;
}

void align_merge(struct diff_build *build, uint32_t base, uint32_t head, enum diff_tier tier)
{
	struct diff_function *f = &build->diff->functions[head];

	if (f->origin == PROFILE_ORIGIN_UNKNOWN)
		f->origin = build->diff->functions[base].origin;
	f->tier = tier;
	f->base_file = build->diff->functions[base].file;
	build->redirect[base] = head;
	build->present[DIFF_BASE][head] = true;
}

void align_add_member(struct diff_build *build, enum diff_side side, uint32_t function, uint32_t into,
	const struct match_surroundings *around)
{
	struct diff *diff = build->diff;

	ARRAY_PUSH(&diff->members, &build->member_capacity, &diff->member_count,
		(struct diff_member){
			.function = into,
			.name = diff->functions[function].name,
			.key = diff->functions[function].key,
			.side = side,
			.raw_self = around->self[side][function],
			.raw_total = around->total[side][function],
		});
}

void align_add_to_group(struct diff_build *build, enum diff_side side, uint32_t function, uint32_t into,
	const struct match_surroundings *around)
{
	if (side == DIFF_BASE)
		align_merge(build, function, into, DIFF_TIER_GROUP);
	else
		build->redirect[function] = into;
	align_add_member(build, side, function, into, around);
}

/* ---- Matching functions without a partner by key ---- */

/* Returns the length of the key's part before the module; 0: the key has no such part. */
static size_t name_size(const char *key)
{
	const char *tick = strrchr(key, '`');

	return tick ? (size_t)(tick - key) : 0;
}

/* A hash over what must be equal to match; 0 if the function is not to be matched. */
typedef uint64_t match_hash(const struct diff_build *build, enum diff_side side, const struct diff_function *function);

struct match_align_candidate {
	uint64_t hash;
	uint32_t function;
	uint32_t side;
};

static int compare_candidates(const void *a, const void *b)
{
	const struct match_align_candidate *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->side != y->side ? (x->side < y->side ? -1 : 1) : 0;
}

/* Lists the functions of both sides that have a hash, sorted by hash. */
static void collect_candidates(
	const struct diff_build *build, match_hash *hash, struct match_align_candidate **candidates, size_t *used)
{
	size_t count = build->diff->function_count;

	*used = 0;
	*candidates = memory_alloc((count + 1) * sizeof(**candidates));
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t side = 0; side < DIFF_SIDES; side++) {
			uint64_t value =
				align_only_on(build, i, side) ? hash(build, side, &build->diff->functions[i]) : 0;

			if (value)
				(*candidates)[(*used)++] = (struct match_align_candidate){ value, i, side };
		}
	}
	qsort(*candidates, *used, sizeof(**candidates), compare_candidates);
}

/*
 * Functions without a name and a fingerprint share one key for each module (profile_function_key()). Such an entry is
 * given a name of its own, because the address of the first of them does not describe the others.
 */
static void name_unnamed(struct diff_build *build)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct profile *profile = build->profiles[side];

		for (size_t i = 0; profile && i < profile->function_count; i++) {
			uint32_t id = build->function_ids[side][i];
			struct diff_function *f = id == PROFILE_NONE ? NULL : &build->diff->functions[id];

			if (!f || !names_is_unnamed(diff_string(build->diff, f->key)) ||
				strcmp(diff_string(build->diff, f->name),
					profile_string(profile, profile->functions[i].name)) == 0)
				continue;
			build_text(build->diff, &f->name, "[unnamed]");
		}
	}
}

/* ---- What people read ---- */

/*
 * Has people look for a function in its file, if that is known: where its name tells the file, or where another one of
 * the same name is in the same module.
 */
static void show_file(struct diff_build *build, struct diff_function *f)
{
	const char *file = diff_string(build->diff, f->file), *slash = strrchr(file, '/');

	if (file[0] == '\0')
		return;
	file = slash ? slash + 1 : file;
	if (f->line)
		build_text(build->diff, &f->shown_in, "%s:%" PRIu32, file, f->line);
	else
		build_text(build->diff, &f->shown_in, "%s", file);
}

/*
 * Fills a function's name as people read it, and the place at which they look for it: its module; for one whose name
 * tells its file, that; and the package where the shown name leaves it out. The name of a group of samples has no form
 * that a language gives it.
 */
static void show_function(struct diff_build *build, struct diff_function *f, struct buffer *text)
{
	struct string_table *strings = build->diff->strings;
	const char *name = diff_string(build->diff, f->name);
	const struct profile_language_row *row = &profile_languages[f->language];

	f->shown = f->name;
	f->shown_in = f->module;
	if (build->is_grouped)
		return;
	text->size = 0;
	profile_shown_name(name, diff_string(build->diff, f->module), text);
	f->shown = string_table_enter(strings, text->data ? text->data : "", text->size);
	text->size = 0;
	if (row->read_name)
		show_file(build, f);
	else if (row->append_package)
		row->append_package(name, text);
	if (text->size != 0)
		f->shown_in = string_table_enter(strings, text->data, text->size);
}

void align_name_group(struct diff_build *build, uint32_t group, const char *words)
{
	struct diff *diff = build->diff;
	size_t counts[DIFF_SIDES] = { 0 };
	uint32_t *name = &diff->functions[group].name;
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(SIZE_MAX / 2);

	show_function(build, &diff->functions[group], &text);
	for (size_t i = diff->member_count; i-- > 0 && diff->members[i].function == group;)
		counts[diff->members[i].side]++;
	if (counts[DIFF_BASE] == counts[DIFF_HEAD])
		build_text(diff, name, "%s (%zu functions)", words, counts[DIFF_HEAD]);
	else
		build_text(diff, name, "%s (%zu and %zu functions)", words, counts[DIFF_BASE], counts[DIFF_HEAD]);
	diff->functions[group].shown = *name;
}

struct align_shown {
	uint32_t shown, shown_in;
};

/* Functions that would read alike get their files beside their names. */
static void tell_apart(struct diff_build *build)
{
	struct diff *diff = build->diff;
	struct hash_map seen;

	hash_map_init(&seen, sizeof(struct align_shown));
	for (uint32_t i = 0; i < diff->function_count; i++) {
		struct diff_function *f = &diff->functions[i], *other;
		const struct align_shown shown = { f->shown, f->shown_in };
		bool added;
		uint32_t first;

		if (!align_stays(build, i))
			continue;
		first = *hash_map_enter(&seen, &shown, i, &added);
		other = &diff->functions[first];
		/* A function that each side has under its own number is one. */
		if (added || other->key == f->key)
			continue;
		show_file(build, f);
		if (other->shown_in == shown.shown_in)
			show_file(build, other);
	}
	hash_map_deinit(&seen);
}

void align_show(struct diff_build *build)
{
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(SIZE_MAX / 2);

	for (uint32_t i = 0; i < build->diff->function_count; i++)
		if (build->diff->functions[i].shown == 0 && align_stays(build, i))
			show_function(build, &build->diff->functions[i], &text);
	if (!build->is_grouped)
		tell_apart(build);
}

/* ---- Modules with different names ---- */

/* Two modules that occur on one side each, and the number of functions with equal names in both. */
struct module_pair {
	uint32_t base, head; /* strings */
	size_t shared;
};

struct module_pairs {
	struct module_pair *items;
	size_t count, capacity;
	struct hash_map index;
};

static void module_pairs_deinit(struct module_pairs *pairs)
{
	free(pairs->items);
	hash_map_deinit(&pairs->index);
}

/* Hashes the name of a function that occurs on one side only, in a module that the other side does not map. */
static uint64_t hash_of_name(const struct diff_build *build, enum diff_side side, const struct diff_function *function)
{
	const char *key = diff_string(build->diff, function->key);

	if (function->module == 0 || name_size(key) == 0 ||
		build_has_module(build->profiles[!side], diff_string(build->diff, function->module)))
		return 0;
	return hash_bytes(key, name_size(key)) | 1;
}

static void count_pair(struct module_pairs *pairs, uint32_t base, uint32_t head)
{
	uint32_t key[2] = { base, head }, *slot;
	bool added;

	slot = hash_map_enter(&pairs->index, key, (uint32_t)pairs->count, &added);
	if (added) {
		ARRAY_PUSH(&pairs->items, &pairs->capacity, &pairs->count, (struct module_pair){ base, head, 0 });
	}
	pairs->items[*slot].shared++;
}

/*
 * Pairs with more shared names come first; ties are in order of string ids, so that the result does not depend on the
 * sort.
 */
static int by_falling_shared(const void *a, const void *b)
{
	const struct module_pair *x = a, *y = b;

	if (x->shared != y->shared)
		return x->shared > y->shared ? -1 : 1;
	return x->base != y->base ? ORDER(x->base, y->base) : ORDER(x->head, y->head);
}

/* Joins the modules that share the most names with each other: a program stays the same if its file is renamed. */
static void join_modules(struct diff_build *build, struct module_pairs *pairs)
{
	size_t strings = string_table_count(build->diff->strings);

	build->module_of = memory_zeroed(strings + 1, sizeof(*build->module_of));
	build->module_of_count = strings;
	if (pairs->count > 0)
		qsort(pairs->items, pairs->count, sizeof(*pairs->items), by_falling_shared);
	for (size_t i = 0; i < pairs->count; i++) {
		const struct module_pair *pair = &pairs->items[i];

		if (build->module_of[pair->base] == 0 && build->module_of[pair->head] == 0)
			build->module_of[pair->base] = build->module_of[pair->head] = (uint32_t)i + 1;
	}
}

static void match_modules(struct diff_build *build)
{
	CLEANUP(module_pairs_deinit) struct module_pairs pairs = { 0 };
	CLEANUP(cleanup_free) struct match_align_candidate *candidates = NULL;
	const struct diff_function *functions = build->diff->functions;
	size_t used;

	hash_map_init(&pairs.index, 2 * sizeof(uint32_t));
	collect_candidates(build, hash_of_name, &candidates, &used);
	for (size_t i = 0, end; i < used; i = end) {
		for (end = i + 1; end < used && candidates[end].hash == candidates[i].hash; end++)
			;
		/* A name that occurs in several modules of a side identifies none of them. */
		if (end - i == 2 && candidates[i].side == DIFF_BASE && candidates[i + 1].side == DIFF_HEAD)
			count_pair(&pairs, functions[candidates[i].function].module,
				functions[candidates[i + 1].function].module);
	}
	join_modules(build, &pairs);
}

void align_functions(struct diff_build *build)
{
	CLEANUP(align_table_deinit) struct align_table table;

	align_table_init(build, &table);
	for (int side = 0; side < DIFF_SIDES; side++)
		if (build->profiles[side])
			add_side(build, (enum diff_side)side, &table);
	for (int side = 0; side < DIFF_SIDES; side++)
		if (build->profiles[side])
			add_siblings(build, (enum diff_side)side, &table);
	fill_functions(build, &table);
	note_presence(build);
	if (build_two_sided(build))
		grade_equal_keys(build, &table);
	name_unnamed(build);
	if (build_two_sided(build))
		match_modules(build);
}
