/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds out whether changed code ran in a benchmark: by the fingerprints of all functions on its stacks; else by the
 * build ids of their files. Functions of both sides are one by their names, whatever file they are in: a suite's binary
 * has another name in each build.
 */
#include "diff/suite/work.h"

#include <stdlib.h>
#include <string.h>

/* Code of less than this part of a benchmark's time says nothing of it. */
static const double least_part = 0.01;

/* Of more than this part of a benchmark's time it is not known whether its code is the same. */
static const double most_unknown = 0.05;

/* What was linked anew has to be most of a benchmark for its place to explain a change. */
static const double most_of_it = 0.5;

/* A piece of a function's code on one side. */
struct code_piece {
	uint64_t fingerprint;
	uint32_t name;
	enum diff_side side;
};

struct code_times {
	double all, changed, unknown, relinked;
};

struct suite_code {
	const struct suite_work *work;
	struct string_table *names;     /* owned: of functions, without their modules */
	uint32_t *names_of[DIFF_SIDES]; /* owned: [function] */
	enum diff_code *codes;          /* owned: [name] */
	bool *relinked[DIFF_SIDES];     /* owned: [mapping] the other side has another file in its place */
	struct code_times *times;       /* owned: [benchmark] */
};

static void suite_code_deinit(struct suite_code *c)
{
	string_table_destroy(c->names);
	free(c->codes);
	free(c->times);
	for (int side = 0; side < DIFF_SIDES; side++) {
		free(c->names_of[side]);
		free(c->relinked[side]);
	}
}

/* ---- Functions ---- */

static int by_name(const void *left, const void *right)
{
	const struct code_piece *a = left, *b = right;

	if (a->name != b->name)
		return ORDER(a->name, b->name);
	return a->fingerprint != b->fingerprint ? ORDER(a->fingerprint, b->fingerprint) : ORDER(a->side, b->side);
}

static bool name_functions(struct suite_code *c, enum diff_side side, struct error *err)
{
	const struct profile *profile = c->work->sides[side].profile;

	c->names_of[side] = calloc(profile->function_count + 1, sizeof(*c->names_of[side]));
	if (!c->names_of[side])
		return error_set_memory(err);
	for (size_t i = 0; i < profile->function_count; i++) {
		const char *key = profile_string(profile, profile->functions[i].key), *module = strrchr(key, '`');
		size_t size = module && module > key ? (size_t)(module - key) : strlen(key);

		if (!string_table_add(c->names, key, size, &c->names_of[side][i], err))
			return false;
	}
	return true;
}

static size_t add_pieces(const struct suite_code *c, enum diff_side side, struct code_piece *pieces)
{
	const struct profile *profile = c->work->sides[side].profile;
	size_t count = 0;

	for (size_t i = 0; i < profile->function_count; i++)
		if (profile->functions[i].fingerprint)
			pieces[count++] =
				(struct code_piece){ profile->functions[i].fingerprint, c->names_of[side][i], side };
	return count;
}

/* One piece that both sides have makes a function the same: another one may not have been sampled on a side. */
static bool compare_functions(struct suite_code *c, struct error *err)
{
	const struct suite_side *sides = c->work->sides;
	size_t most = sides[0].profile->function_count + sides[1].profile->function_count, count;
	CLEANUP(cleanup_free) struct code_piece *pieces = malloc((most + 1) * sizeof(*pieces));

	c->codes = calloc(string_table_count(c->names) + 1, sizeof(*c->codes));
	if (!pieces || !c->codes)
		return error_set_memory(err);
	count = add_pieces(c, DIFF_BASE, pieces);
	count += add_pieces(c, DIFF_HEAD, pieces + count);
	if (count > 0)
		qsort(pieces, count, sizeof(*pieces), by_name);
	for (size_t i = 0, end; i < count; i = end) {
		bool has[DIFF_SIDES] = { 0 }, is_same = false;

		for (end = i; end < count && pieces[end].name == pieces[i].name; end++) {
			has[pieces[end].side] = true;
			is_same |= end > i && pieces[end].fingerprint == pieces[end - 1].fingerprint &&
				   pieces[end].side != pieces[end - 1].side;
		}
		c->codes[pieces[i].name] = is_same                            ? DIFF_CODE_SAME
					   : has[DIFF_BASE] && has[DIFF_HEAD] ? DIFF_CODE_CHANGED
									      : DIFF_CODE_UNKNOWN;
	}
	return true;
}

/* ---- Files ---- */

static bool has_build_id(const struct profile *profile, const char *build_id)
{
	for (size_t i = 0; i < profile->mapping_count; i++)
		if (strcmp(profile_string(profile, profile->mappings[i].build_id), build_id) == 0)
			return true;
	return false;
}

static bool find_relinked(struct suite_code *c, enum diff_side side, struct error *err)
{
	const struct profile *profile = c->work->sides[side].profile, *other = c->work->sides[!side].profile;

	c->relinked[side] = calloc(profile->mapping_count + 1, sizeof(bool));
	if (!c->relinked[side])
		return error_set_memory(err);
	for (size_t i = 0; i < profile->mapping_count; i++) {
		const struct profile_mapping *mapping = &profile->mappings[i];

		c->relinked[side][i] = mapping->kind == PROFILE_MAPPING_FILE && mapping->build_id > 0 &&
				       !has_build_id(other, profile_string(profile, mapping->build_id));
	}
	return true;
}

/* The kernel and what it maps are the same if its release is. */
static bool is_same_kernel(const struct suite_code *c)
{
	const struct profile *base = c->work->sides[DIFF_BASE].profile, *head = c->work->sides[DIFF_HEAD].profile;

	return base->facts.kernel && head->facts.kernel &&
	       strcmp(profile_string(base, base->facts.kernel), profile_string(head, head->facts.kernel)) == 0;
}

/* Whether the code of a location is the same on both sides. */
static enum diff_code code_of(const struct suite_code *c, enum diff_side side, const struct profile_location *location)
{
	const struct profile *profile = c->work->sides[side].profile;
	const struct profile_mapping *mapping =
		location->mapping == PROFILE_NONE ? NULL : &profile->mappings[location->mapping];
	enum diff_code code = DIFF_CODE_UNKNOWN;

	/* Of inlined functions, the one that contains their code. */
	if (location->line_count > 0)
		code = c->codes[c->names_of[side]
					   [profile->lines[location->first_line + location->line_count - 1].function]];
	if (code != DIFF_CODE_UNKNOWN || !mapping)
		return code;
	if (mapping->kind == PROFILE_MAPPING_KERNEL || mapping->kind == PROFILE_MAPPING_VDSO)
		return is_same_kernel(c) ? DIFF_CODE_SAME : DIFF_CODE_UNKNOWN;
	return mapping->kind == PROFILE_MAPPING_FILE && mapping->build_id > 0 && !c->relinked[side][location->mapping]
		       ? DIFF_CODE_SAME
		       : DIFF_CODE_UNKNOWN;
}

/* ---- Benchmarks ---- */

/* [stack] whether it has a function whose code differs. */
static bool *find_changed(const struct suite_code *c, enum diff_side side)
{
	const struct profile *profile = c->work->sides[side].profile;
	bool *changed = calloc(profile->stack_count + 1, sizeof(*changed));

	for (size_t i = 1; changed && i < profile->stack_count; i++) {
		const struct profile_stack *stack = &profile->stacks[i];

		changed[i] = changed[stack->parent] ||
			     code_of(c, side, &profile->locations[stack->location]) == DIFF_CODE_CHANGED;
	}
	return changed;
}

static bool add_times(struct suite_code *c, enum diff_side side, struct error *err)
{
	const struct profile *profile = c->work->sides[side].profile;
	const uint32_t *benchmarks = c->work->suite->details->benchmarks[side];
	CLEANUP(cleanup_free) bool *changed = find_changed(c, side);

	if (!changed)
		return error_set_memory(err);
	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct profile_sample *sample = &profile->samples[i];
		uint32_t benchmark = benchmarks[profile->threads[sample->thread].run];
		double value = (double)profile->values[i * profile->value_type_count + profile->default_value_type];
		const struct profile_location *leaf;
		struct code_times *times;

		if (benchmark == PROFILE_NONE || sample->stack == 0)
			continue;
		leaf = &profile->locations[profile->stacks[sample->stack].location];
		times = &c->times[benchmark];
		times->all += value;
		times->changed += changed[sample->stack] ? value : 0;
		times->unknown += code_of(c, side, leaf) == DIFF_CODE_UNKNOWN ? value : 0;
		times->relinked += leaf->mapping != PROFILE_NONE && c->relinked[side][leaf->mapping] ? value : 0;
	}
	return true;
}

static enum diff_code benchmark_code(const struct code_times *times)
{
	if (times->changed > least_part * times->all)
		return DIFF_CODE_CHANGED;
	return times->all > 0 && times->unknown <= most_unknown * times->all ? DIFF_CODE_SAME : DIFF_CODE_UNKNOWN;
}

bool suite_compare_code(struct suite_work *work, struct error *err)
{
	struct diff_suite *suite = work->suite;
	CLEANUP(suite_code_deinit) struct suite_code c = { .work = work };

	work->relinked = calloc(suite->benchmark_count + 1, sizeof(*work->relinked));
	c.times = calloc(suite->benchmark_count + 1, sizeof(*c.times));
	if (!work->relinked || !c.times)
		return error_set_memory(err);
	if (suite->sides == 1)
		return true;
	if (!string_table_create(SIZE_MAX / 2, &c.names, err))
		return false;
	for (int side = 0; side < DIFF_SIDES; side++)
		if (!name_functions(&c, (enum diff_side)side, err) || !find_relinked(&c, (enum diff_side)side, err))
			return false;
	if (!compare_functions(&c, err) || !add_times(&c, DIFF_BASE, err) || !add_times(&c, DIFF_HEAD, err))
		return false;
	for (size_t i = 0; i < suite->benchmark_count; i++) {
		suite->benchmarks[i].code = benchmark_code(&c.times[i]);
		work->relinked[i] = c.times[i].relinked > most_of_it * c.times[i].all;
	}
	return true;
}
