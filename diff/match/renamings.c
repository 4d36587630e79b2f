/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/match/renamings.h"

#include "diff/match/align.h"

#include <stdlib.h>
#include <string.h>

/*
 * One function with another name may as well have moved to another class. Nobody reads of more renamings; the other
 * number bounds the time where each function has another scope.
 */
enum { LEAST_FUNCTIONS = 2, MOST_RENAMINGS = 32, MOST_SCOPES = 1 << 10 };

/* A name in two parts, of which one names a class or a file, and the other one a function in it. */
struct renamings_name {
	const char *scope, *rest; /* not NUL-terminated */
	size_t scope_bytes, rest_bytes;
};

/* ---- Names ---- */

static bool renamings_is_separator(const char *at)
{
	return *at == '.' || *at == '#' || *at == '/' || (at[0] == ':' && at[1] == ':');
}

static struct renamings_name split_at(const char *name, size_t bytes, size_t at)
{
	return (struct renamings_name){ name, name + at, at, bytes - at };
}

/* Splits a name at the separator behind its first `scope_bytes`; false: there is none. */
static bool split_behind(const char *name, size_t scope_bytes, struct renamings_name *parts)
{
	size_t bytes = strlen(name);

	if (scope_bytes == 0 || scope_bytes >= bytes || !renamings_is_separator(name + scope_bytes))
		return false;
	*parts = split_at(name, bytes, scope_bytes);
	return true;
}

/* Splits two names where all that follows is the same, as early as both have a separator there, outside brackets. */
static bool split_both(const char *const names[DIFF_SIDES], struct renamings_name parts[DIFF_SIDES])
{
	const char *base = names[DIFF_BASE], *head = names[DIFF_HEAD];
	size_t base_bytes = strlen(base), head_bytes = strlen(head);

	for (const char *at = base, *next; *at; at = next) {
		size_t rest = base_bytes - (size_t)(at - base);

		next = name_skip(at);
		if (renamings_is_separator(at) && rest < head_bytes && memcmp(at, head + head_bytes - rest, rest) == 0)
			return split_behind(base, base_bytes - rest, &parts[DIFF_BASE]) &&
			       split_behind(head, head_bytes - rest, &parts[DIFF_HEAD]);
		/* The second colon separates nothing of its own. */
		next += renamings_is_separator(at) && *at == ':';
	}
	return false;
}

/* Splits the name of a function of a script into its file and itself. */
static bool split_script(const char *name, struct renamings_name *parts)
{
	struct profile_script_name script;

	if (profile_script_name(name, &script) == PROFILE_LANGUAGE_NATIVE || script.file_bytes == 0 ||
		script.function_bytes == 0)
		return false;
	*parts = (struct renamings_name){ script.file, script.function, script.file_bytes, script.function_bytes };
	return true;
}

static bool renamings_same_rest(const struct renamings_name *a, const struct renamings_name *b)
{
	return a->rest_bytes == b->rest_bytes && memcmp(a->rest, b->rest, a->rest_bytes) == 0;
}

static bool renamings_same_scope(const struct renamings_name *a, const struct renamings_name *b)
{
	return a->scope_bytes == b->scope_bytes && memcmp(a->scope, b->scope, a->scope_bytes) == 0;
}

/* Returns whether the two names of a function differ in the class or the file that it is in. */
static bool split_pair(const char *const names[DIFF_SIDES], struct renamings_name parts[DIFF_SIDES])
{
	bool are_scripts =
		split_script(names[DIFF_BASE], &parts[DIFF_BASE]) && split_script(names[DIFF_HEAD], &parts[DIFF_HEAD]);

	if (are_scripts && renamings_same_rest(&parts[DIFF_BASE], &parts[DIFF_HEAD]))
		return !renamings_same_scope(&parts[DIFF_BASE], &parts[DIFF_HEAD]);
	return (!are_scripts || renamings_same_scope(&parts[DIFF_BASE], &parts[DIFF_HEAD])) &&
	       split_both(names, parts) && !renamings_same_scope(&parts[DIFF_BASE], &parts[DIFF_HEAD]);
}

/* Splits the name of a function where its scope is the one given; false: it is in another one. */
static bool split_in(const char *name, const char *scope, enum diff_renamed kind, struct renamings_name *parts)
{
	size_t bytes = strlen(scope);

	if (kind == DIFF_RENAMED_MODULE)
		return false;
	if (kind == DIFF_RENAMED_FILE)
		return split_script(name, parts) && parts->scope_bytes == bytes &&
		       memcmp(parts->scope, scope, bytes) == 0;
	return strncmp(name, scope, bytes) == 0 && split_behind(name, bytes, parts);
}

/* ---- Scopes with other names ---- */

/* Whose names are read, and the function of base that one of head is: PROFILE_NONE: no other one. */
struct renamings {
	struct diff *diff;
	uint32_t *former; /* owned: [function] */
	struct diff_renaming *items;
	size_t count, capacity;
};

static void renamings_deinit(struct renamings *r)
{
	free(r->former);
	free(r->items);
}

static const char *renamings_name(const struct renamings *r, uint32_t function)
{
	return diff_string(r->diff, r->diff->functions[function].name);
}

static bool renamings_split(const struct renamings *r, uint32_t head, struct renamings_name parts[DIFF_SIDES])
{
	const char *names[DIFF_SIDES];

	if (r->former[head] == PROFILE_NONE)
		return false;
	names[DIFF_BASE] = renamings_name(r, r->former[head]);
	names[DIFF_HEAD] = renamings_name(r, head);
	return split_pair(names, parts);
}

static void renamings_count(struct renamings *r, uint32_t head, const struct renamings_name parts[DIFF_SIDES])
{
	struct diff_renaming made = { .functions = 1,
		.example = head,
		.kind = parts[DIFF_BASE].scope > parts[DIFF_BASE].rest ? DIFF_RENAMED_FILE : DIFF_RENAMED_CLASS };

	for (int side = 0; side < DIFF_SIDES; side++)
		made.scope[side] = string_table_enter(r->diff->strings, parts[side].scope, parts[side].scope_bytes);
	for (size_t i = 0; i < r->count; i++) {
		if (memcmp(r->items[i].scope, made.scope, sizeof(made.scope)) == 0) {
			r->items[i].functions++;
			return;
		}
	}
	if (r->count < MOST_SCOPES)
		ARRAY_PUSH(&r->items, &r->capacity, &r->count, made);
}

/* Returns whether a function of a profile is in a scope that is said to be in the other profile alone. */
static bool contradicts(const struct renamings *r, const struct diff_renaming *renaming)
{
	struct renamings_name parts;

	for (uint32_t i = 0; i < r->diff->function_count; i++) {
		const struct diff_function *f = &r->diff->functions[i];

		for (int side = 0; side < DIFF_SIDES; side++)
			if (f->raw_total[side] > 0 && !(side == DIFF_BASE && diff_tier_is_rename(f->tier)) &&
				split_in(renamings_name(r, i), diff_string(r->diff, renaming->scope[!side]),
					renaming->kind, &parts))
				return true;
	}
	return false;
}

/* Keeps the renamings of which enough is known, and that nothing speaks against. */
static void find_renamings(struct renamings *r)
{
	struct renamings_name parts[DIFF_SIDES];
	size_t kept = 0;

	for (uint32_t i = 0; i < r->diff->function_count; i++)
		if (renamings_split(r, i, parts))
			renamings_count(r, i, parts);
	for (size_t i = 0; i < r->count && kept < MOST_RENAMINGS; i++)
		if (r->items[i].functions >= LEAST_FUNCTIONS && !contradicts(r, &r->items[i]))
			r->items[kept++] = r->items[i];
	r->count = kept;
}

/* ---- Matching ---- */

/* Splits the name of a function that is on one side only, and in the scope that the renaming has there. */
static bool split_left(const struct diff_build *build, const struct renamings *r, const struct diff_renaming *renaming,
	enum diff_side side, uint32_t function, struct renamings_name *parts)
{
	return align_only_on(build, function, side) &&
	       split_in(
		       renamings_name(r, function), diff_string(r->diff, renaming->scope[side]), renaming->kind, parts);
}

/* Merges the functions of a side each whose names are equal behind the scope. Of two with such a name none is. */
static size_t match_rest(struct diff_build *build, const struct renamings *r, const struct diff_renaming *renaming)
{
	CLEANUP(cleanup_free) uint32_t *found = NULL; /* [rest] the function of head */
	struct string_table *rests = string_table_begin(SIZE_MAX / 2);
	struct renamings_name parts;
	size_t merged = 0, capacity = 0;

	for (uint32_t i = 0; i < r->diff->function_count; i++) {
		size_t known = string_table_count(rests);
		uint32_t rest;

		if (!split_left(build, r, renaming, DIFF_HEAD, i, &parts))
			continue;
		rest = string_table_enter(rests, parts.rest, parts.rest_bytes);
		ARRAY_GROW(&found, &capacity, (size_t)rest + 1);
		found[rest] = rest < known ? PROFILE_NONE : i;
	}
	for (uint32_t i = 0; i < r->diff->function_count; i++) {
		uint32_t rest;

		if (!split_left(build, r, renaming, DIFF_BASE, i, &parts))
			continue;
		rest = string_table_find(rests, parts.rest, parts.rest_bytes);
		if (rest == UINT32_MAX || found[rest] == PROFILE_NONE || !align_only_on(build, found[rest], DIFF_HEAD))
			continue;
		align_merge(build, i, found[rest], DIFF_TIER_PLACE);
		merged++;
	}
	string_table_destroy(rests);
	return merged;
}

static void renamings_init(struct renamings *r, struct diff *diff)
{
	*r = (struct renamings){ .diff = diff,
		.former = memory_alloc((diff->function_count + 1) * sizeof(*r->former)) };
	memset(r->former, 0xff, (diff->function_count + 1) * sizeof(*r->former));
}

void renamings_match(struct diff_build *build, size_t *merged)
{
	CLEANUP(renamings_deinit) struct renamings r = { 0 };

	*merged = 0;
	renamings_init(&r, build->diff);
	for (uint32_t i = 0; i < build->diff->function_count; i++) {
		uint32_t into = build->redirect[i];

		if (into != i && diff_tier_is_rename(build->diff->functions[into].tier))
			r.former[into] = i;
	}
	find_renamings(&r);
	for (size_t i = 0; i < r.count; i++)
		*merged += match_rest(build, &r, &r.items[i]);
}

/* ---- What is told ---- */

/* Returns whether a function of the diff is head's of two names, and not the entry of the one in base. */
static bool has_former(const struct diff *diff, const struct diff_function *f)
{
	return diff_tier_is_rename(f->tier) && f->moved_to != PROFILE_NONE && f->moved_to < diff->function_count &&
	       f->raw_total[DIFF_HEAD] > 0;
}

/* Makes the words for a scope: `Old.*` of `Old` and `.run`; a file is its path. */
static uint32_t words_of_scope(struct diff *diff, const struct renamings_name *parts, enum diff_renamed kind)
{
	CLEANUP(buffer_deinit) struct buffer words = BUFFER_INIT(SIZE_MAX / 2);

	buffer_append(&words, parts->scope, parts->scope_bytes);
	if (kind == DIFF_RENAMED_CLASS) {
		buffer_append(&words, parts->rest, *parts->rest == ':' ? 2 : 1);
		buffer_append_byte(&words, '*');
	}
	return string_table_enter(diff->strings, words.data, words.size);
}

/* Names the two scopes as people read the functions in them, unless that leaves out what differs, as a package. */
static void show_scopes(struct diff *diff, const struct renamings *r, struct diff_renaming *renaming)
{
	uint32_t head = renaming->example;
	const char *shown[] = { diff_string(diff, diff->functions[r->former[head]].shown),
		diff_string(diff, diff->functions[head].shown) };
	struct renamings_name parts[DIFF_SIDES];

	if (renaming->kind == DIFF_RENAMED_FILE || !split_both(shown, parts) ||
		renamings_same_scope(&parts[DIFF_BASE], &parts[DIFF_HEAD]))
		(void)!renamings_split(r, head, parts);
	for (int side = 0; side < DIFF_SIDES; side++)
		renaming->shown[side] = words_of_scope(diff, &parts[side], renaming->kind);
}

/* Returns how many functions of a module both sides have. */
static size_t count_in_module(const struct diff *diff, uint32_t module)
{
	size_t count = 0;

	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];

		count += f->module == module && f->raw_total[DIFF_BASE] > 0 && f->raw_total[DIFF_HEAD] > 0;
	}
	return count;
}

/* Modules of one number are one (diff_build.module_of). */
static void add_modules(const struct diff_build *build, struct renamings *r)
{
	CLEANUP(cleanup_free)
	uint32_t *partner = memory_zeroed(build->module_of_count + 1, sizeof(*partner)); /* [number of modules] */

	for (uint32_t string = 1; string < build->module_of_count; string++) {
		uint32_t number = build->module_of[string], other = number ? partner[number] : 0;
		bool is_base = build_has_module(build->profiles[DIFF_BASE], diff_string(r->diff, string));
		struct diff_renaming made = { .kind = DIFF_RENAMED_MODULE, .example = PROFILE_NONE };

		if (number)
			partner[number] = string;
		if (!other)
			continue;
		made.scope[DIFF_BASE] = made.shown[DIFF_BASE] = is_base ? string : other;
		made.scope[DIFF_HEAD] = made.shown[DIFF_HEAD] = is_base ? other : string;
		made.functions = count_in_module(r->diff, made.scope[DIFF_HEAD]);
		if (made.functions >= LEAST_FUNCTIONS && r->count < MOST_RENAMINGS)
			ARRAY_PUSH(&r->items, &r->capacity, &r->count, made);
	}
}

void renamings_collect(struct diff_build *build)
{
	CLEANUP(renamings_deinit) struct renamings r = { 0 };
	struct diff *diff = build->diff;

	renamings_init(&r, diff);
	for (uint32_t i = 0; i < diff->function_count; i++)
		if (has_former(diff, &diff->functions[i]))
			r.former[i] = diff->functions[i].moved_to;
	find_renamings(&r);
	for (size_t i = 0; i < r.count; i++)
		show_scopes(diff, &r, &r.items[i]);
	add_modules(build, &r);
	diff->renaming_count = r.count;
	diff->renamings = TAKE(r.items);
}

bool diff_is_of_renaming(const struct diff *diff, const struct diff_function *f)
{
	struct renamings_name parts;
	const char *names[DIFF_SIDES];

	if (!has_former(diff, f))
		return false;
	names[DIFF_BASE] = diff_string(diff, diff->functions[f->moved_to].name);
	names[DIFF_HEAD] = diff_string(diff, f->name);
	for (size_t i = 0; i < diff->renaming_count; i++) {
		const struct diff_renaming *renaming = &diff->renamings[i];
		struct renamings_name head;

		if (split_in(names[DIFF_BASE], diff_string(diff, renaming->scope[DIFF_BASE]), renaming->kind, &parts) &&
			split_in(names[DIFF_HEAD], diff_string(diff, renaming->scope[DIFF_HEAD]), renaming->kind,
				&head) &&
			renamings_same_rest(&parts, &head))
			return true;
	}
	return false;
}
