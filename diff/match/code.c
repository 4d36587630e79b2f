/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/match/code.h"

#include "diff/match/align.h"
#include "diff/match/pieces.h"

#include <string.h>

/* Collects the pieces of a side's functions, by the diff's numbers. */
static void code_collect_pieces(const struct diff_build *build, enum diff_side side, struct code_pieces *pieces)
{
	const struct profile *profile = build->profiles[side];
	CLEANUP(cleanup_free) uint32_t *numbers = memory_alloc((profile->function_count + 1) * sizeof(*numbers));

	for (uint32_t i = 0; i < profile->function_count; i++)
		numbers[i] = build_function(build, side, i);
	pieces_collect(profile, numbers, pieces);
}

static void match_code_set_code(void *context, uint32_t function, enum diff_code code)
{
	struct diff *diff = context;

	diff->functions[function].code = code;
}

static void compare_fingerprints(struct diff_build *build)
{
	CLEANUP(pieces_deinit) struct code_pieces base = { 0 };
	CLEANUP(pieces_deinit) struct code_pieces head = { 0 };

	code_collect_pieces(build, DIFF_BASE, &base);
	code_collect_pieces(build, DIFF_HEAD, &head);
	pieces_compare(&base, &head, match_code_set_code, build->diff);
}

/* Returns the build id of a module if the profile has exactly one for it, else "". */
static const char *module_build_id(const struct profile *profile, const char *module)
{
	const char *found = "";

	for (size_t i = 0; i < profile->mapping_count; i++) {
		const char *build_id = profile_string(profile, profile->mappings[i].build_id);

		if (strcmp(profile_string(profile, profile->mappings[i].module), module) != 0)
			continue;
		if (build_id[0] == '\0' || (found[0] != '\0' && strcmp(found, build_id) != 0))
			return "";
		found = build_id;
	}
	return found;
}

static bool module_is_same(const struct diff_build *build, uint32_t module)
{
	const char *name = diff_string(build->diff, module);
	const char *base = module_build_id(build->profiles[DIFF_BASE], name);

	if (strcmp(name, "[kernel.kallsyms]") == 0 &&
		pieces_are_of_one_kernel(build->profiles[DIFF_BASE], build->profiles[DIFF_HEAD]))
		return true;
	return base[0] != '\0' && strcmp(base, module_build_id(build->profiles[DIFF_HEAD], name)) == 0;
}

/*
 * Returns whether a mapping of a profile is of this module, by its own name or by the one that it has on the other
 * side.
 */
static bool is_of_module(const struct diff_build *build, const struct profile *profile,
	const struct profile_mapping *mapping, uint32_t module)
{
	uint32_t id = string_table_find(build->diff->strings, profile_string(profile, mapping->module),
		string_table_size(profile->strings, mapping->module));

	return id == module || (id < build->module_of_count && module < build->module_of_count &&
				       build->module_of[id] > 0 && build->module_of[id] == build->module_of[module]);
}

/* Returns the file that a module is on a side, if it is one; else PROFILE_NONE. */
static uint32_t match_code_find_file(const struct diff_build *build, enum diff_side side, uint32_t module)
{
	const struct profile *profile = build->profiles[side];

	for (uint32_t i = 0; i < profile->mapping_count; i++)
		if (profile->mappings[i].kind == PROFILE_MAPPING_FILE &&
			is_of_module(build, profile, &profile->mappings[i], module))
			return i;
	return PROFILE_NONE;
}

static int by_address(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return ORDER(*a, *b);
}

/* Returns the sampled addresses of a file, sorted. */
static uint64_t *addresses_of(const struct profile *profile, uint32_t mapping, size_t *count)
{
	uint64_t *addresses = memory_alloc((profile->location_count + 1) * sizeof(*addresses));

	*count = 0;
	for (size_t i = 0; addresses && i < profile->location_count; i++)
		if (profile->locations[i].mapping == mapping)
			addresses[(*count)++] = profile->locations[i].address;
	if (addresses && *count > 0)
		qsort(addresses, *count, sizeof(*addresses), by_address);
	return addresses;
}

/*
 * Returns whether most of the addresses that were sampled on one side were so on the other one: code lies where it lay.
 */
static bool lies_alike(const struct diff_build *build, const uint32_t files[DIFF_SIDES])
{
	size_t count[DIFF_SIDES], common = 0;
	CLEANUP(cleanup_free) uint64_t *base = addresses_of(build->profiles[0], files[0], &count[0]);
	CLEANUP(cleanup_free) uint64_t *head = addresses_of(build->profiles[1], files[1], &count[1]);

	for (size_t i = 0, j = 0; base && head && i < count[0] && j < count[1];) {
		common += base[i] == head[j];
		if (base[i] <= head[j])
			i++;
		else
			j++;
	}
	return 2 * common >= (count[0] < count[1] ? count[0] : count[1]);
}

bool code_module_is_relinked(const struct diff_build *build, uint32_t module)
{
	const uint32_t files[DIFF_SIDES] = { match_code_find_file(build, DIFF_BASE, module),
		match_code_find_file(build, DIFF_HEAD, module) };
	uint32_t build_ids[DIFF_SIDES];

	if (files[DIFF_BASE] == PROFILE_NONE || files[DIFF_HEAD] == PROFILE_NONE)
		return false;
	for (int side = 0; side < DIFF_SIDES; side++)
		build_ids[side] = build->profiles[side]->mappings[files[side]].build_id;
	if (build_ids[DIFF_BASE] == 0 || build_ids[DIFF_HEAD] == 0)
		return !lies_alike(build, files);
	return strcmp(profile_string(build->profiles[DIFF_BASE], build_ids[DIFF_BASE]),
		       profile_string(build->profiles[DIFF_HEAD], build_ids[DIFF_HEAD])) != 0;
}

enum { MODULE_UNASKED, MODULE_DIFFERS, MODULE_SAME };

static void compare_build_ids(struct diff_build *build)
{
	struct diff *diff = build->diff;
	size_t strings = string_table_count(diff->strings);
	CLEANUP(cleanup_free) uint8_t *modules = memory_zeroed(strings + 1, 1);

	for (size_t i = 0; i < diff->function_count; i++) {
		struct diff_function *f = &diff->functions[i];

		if (f->code != DIFF_CODE_UNKNOWN || f->module == 0)
			continue;
		if (modules[f->module] == MODULE_UNASKED)
			modules[f->module] = module_is_same(build, f->module) ? MODULE_SAME : MODULE_DIFFERS;
		if (modules[f->module] == MODULE_SAME)
			f->code = DIFF_CODE_SAME;
	}
}

enum { HOST_SAME = 1, HOST_CHANGED = 2, HOST_UNKNOWN = 4 };

static void note_hosts(const struct diff_build *build, enum diff_side side, uint8_t *hosts)
{
	const struct profile *profile = build->profiles[side];

	for (size_t i = 0; i < profile->location_count; i++) {
		const struct profile_location *location = &profile->locations[i];
		const struct profile_line *lines = &profile->lines[location->first_line];
		uint32_t host;

		if (location->line_count < 2)
			continue;
		host = build_function(build, side, lines[location->line_count - 1].function);
		for (uint32_t line = 0; line + 1 < location->line_count; line++) {
			uint32_t id = build_function(build, side, lines[line].function);

			if (id == PROFILE_NONE)
				continue;
			enum diff_code code =
				host == PROFILE_NONE ? DIFF_CODE_UNKNOWN : build->diff->functions[host].code;

			hosts[id] |= code == DIFF_CODE_SAME      ? HOST_SAME
				     : code == DIFF_CODE_CHANGED ? HOST_CHANGED
								 : HOST_UNKNOWN;
		}
	}
}

/* Inlined code has no fingerprint of its own: the functions that it is inlined into decide. */
static void compare_hosts(struct diff_build *build)
{
	size_t count = build->diff->function_count;
	CLEANUP(cleanup_free) uint8_t *hosts = memory_zeroed(count + 1, 1);

	free(build->only_inlined);
	build->only_inlined = memory_zeroed(count + 1, sizeof(*build->only_inlined));
	note_hosts(build, DIFF_BASE, hosts);
	note_hosts(build, DIFF_HEAD, hosts);
	for (size_t i = 0; i < count; i++) {
		struct diff_function *f = &build->diff->functions[i];

		build->only_inlined[i] = f->code == DIFF_CODE_UNKNOWN && hosts[i] != 0;
		if (build->only_inlined[i])
			f->code = hosts[i] & HOST_CHANGED ? DIFF_CODE_CHANGED
				  : hosts[i] == HOST_SAME ? DIFF_CODE_SAME
							  : DIFF_CODE_UNKNOWN;
	}
}

void code_compare(struct diff_build *build)
{
	for (size_t i = 0; i < build->diff->function_count; i++)
		build->diff->functions[i].code = DIFF_CODE_UNKNOWN;
	compare_fingerprints(build);
	compare_build_ids(build);
	compare_hosts(build);
}

/* ---- Renames ---- */

static bool match_code_is_plt(const struct diff *diff, const struct diff_function *f)
{
	return f->name_source == PROFILE_NAME_PLT || strstr(diff_string(diff, f->key), "@plt`") != NULL;
}

bool code_is_renamed_inside(const struct diff_build *build, uint32_t base, uint32_t head)
{
	const struct diff_function *functions = build->diff->functions;

	return build->only_inlined[base] && build->only_inlined[head] && functions[base].code == DIFF_CODE_SAME &&
	       functions[head].code == DIFF_CODE_SAME;
}

bool code_may_be_renamed(const struct diff_build *build, uint32_t base, uint32_t head)
{
	const struct diff_function *ends[DIFF_SIDES] = { &build->diff->functions[base], &build->diff->functions[head] };

	for (int side = 0; side < DIFF_SIDES; side++)
		if (match_code_is_plt(build->diff, ends[side]) || ends[side]->code == DIFF_CODE_SAME)
			return false;
	return true;
}

static int by_fingerprint(const void *a, const void *b)
{
	const struct code_piece *x = a, *y = b;

	return x->fingerprint != y->fingerprint ? ORDER(x->fingerprint, y->fingerprint)
						: ORDER(x->function, y->function);
}

/*
 * Returns the only function that has this piece of code, or PROFILE_NONE if several have it, as is common for trivial
 * code (`return 0;`). `*at` moves to the next piece.
 */
static uint32_t sole_owner(const struct code_pieces *pieces, uint64_t fingerprint, size_t *at)
{
	size_t first;

	while (*at < pieces->count && pieces->items[*at].fingerprint < fingerprint)
		++*at;
	first = *at;
	while (*at < pieces->count && pieces->items[*at].fingerprint == fingerprint)
		++*at;
	return *at == first + 1 ? pieces->items[first].function : PROFILE_NONE;
}

void code_match_renamed(struct diff_build *build, size_t *renamed)
{
	CLEANUP(pieces_deinit) struct code_pieces base = { 0 };
	CLEANUP(pieces_deinit) struct code_pieces head = { 0 };
	size_t in_base = 0, in_head = 0;

	*renamed = 0;
	code_collect_pieces(build, DIFF_BASE, &base);
	code_collect_pieces(build, DIFF_HEAD, &head);
	qsort(base.items, base.count, sizeof(*base.items), by_fingerprint);
	qsort(head.items, head.count, sizeof(*head.items), by_fingerprint);
	while (in_base < base.count) {
		uint64_t fingerprint = base.items[in_base].fingerprint;
		uint32_t from = sole_owner(&base, fingerprint, &in_base), to = sole_owner(&head, fingerprint, &in_head);

		if (from == PROFILE_NONE || to == PROFILE_NONE || from == to)
			continue;
		if (!align_only_on(build, from, DIFF_BASE) || !align_only_on(build, to, DIFF_HEAD) ||
			!code_may_be_renamed(build, from, to))
			continue;
		align_merge(build, from, to, DIFF_TIER_CODE);
		++*renamed;
	}
}
