/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds out whether changed code ran in a benchmark: by the fingerprints of all functions on its stacks; else by the
 * build ids of their files. Functions of both sides are one by their names, whatever file they are in: a suite's binary
 * has another name in each build.
 */
#include "diff/match/pieces.h"
#include "diff/suite/work.h"

#include <stdlib.h>
#include <string.h>

/* Code of less than this part of a benchmark's time says nothing of it. */
static const double least_part = 0.01;

/* The most of a benchmark's time of which it may be unknown whether its code is the same. */
static const double most_unknown = 0.05;

/* What was linked anew has to be most of a benchmark for its place to explain a change. */
static const double most_of_it = 0.5;

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
	bool has_one_kernel;            /* and so what it maps is the same */
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

static void suite_code_name_functions(struct suite_code *c, enum diff_side side)
{
	const struct profile *profile = c->work->sides[side].profile;

	c->names_of[side] = memory_zeroed(profile->function_count + 1, sizeof(*c->names_of[side]));
	for (size_t i = 0; i < profile->function_count; i++) {
		const char *key = profile_string(profile, profile->functions[i].key), *module = strrchr(key, '`');
		size_t size = module && module > key ? (size_t)(module - key) : strlen(key);

		c->names_of[side][i] = string_table_enter(c->names, key, size);
	}
}

static void suite_code_set_code(void *context, uint32_t name, enum diff_code code)
{
	struct suite_code *c = context;

	c->codes[name] = code;
}

static void compare_functions(struct suite_code *c)
{
	CLEANUP(pieces_deinit) struct code_pieces base = { 0 };
	CLEANUP(pieces_deinit) struct code_pieces head = { 0 };

	c->codes = memory_zeroed(string_table_count(c->names) + 1, sizeof(*c->codes));
	pieces_collect(c->work->sides[DIFF_BASE].profile, c->names_of[DIFF_BASE], &base);
	pieces_collect(c->work->sides[DIFF_HEAD].profile, c->names_of[DIFF_HEAD], &head);
	pieces_compare(&base, &head, suite_code_set_code, c);
}

/* ---- Files ---- */

static void suite_code_find_relinked(struct suite_code *c, enum diff_side side)
{
	const struct profile *profile = c->work->sides[side].profile, *other = c->work->sides[!side].profile;

	c->relinked[side] = memory_zeroed(profile->mapping_count + 1, sizeof(*c->relinked[side]));
	for (size_t i = 0; i < profile->mapping_count; i++) {
		const struct profile_mapping *mapping = &profile->mappings[i];

		c->relinked[side][i] = mapping->kind == PROFILE_MAPPING_FILE && mapping->build_id > 0 &&
				       !profile_has_build_id(other, profile_string(profile, mapping->build_id));
	}
}

/* Compares the code of a location on both sides. */
static enum diff_code suite_code_of(
	const struct suite_code *c, enum diff_side side, const struct profile_location *location)
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
		return c->has_one_kernel ? DIFF_CODE_SAME : DIFF_CODE_UNKNOWN;
	return mapping->kind == PROFILE_MAPPING_FILE && mapping->build_id > 0 && !c->relinked[side][location->mapping]
		       ? DIFF_CODE_SAME
		       : DIFF_CODE_UNKNOWN;
}

/* ---- Benchmarks ---- */

/* Returns an array: [stack] whether it has a function whose code differs. */
static bool *suite_code_find_changed(const struct suite_code *c, enum diff_side side)
{
	const struct profile *profile = c->work->sides[side].profile;
	bool *changed = memory_zeroed(profile->stack_count + 1, sizeof(*changed));

	for (size_t i = 1; changed && i < profile->stack_count; i++) {
		const struct profile_stack *stack = &profile->stacks[i];

		changed[i] = changed[stack->parent] ||
			     suite_code_of(c, side, &profile->locations[stack->location]) == DIFF_CODE_CHANGED;
	}
	return changed;
}

static void suite_code_add_times(struct suite_code *c, enum diff_side side)
{
	const struct profile *profile = c->work->sides[side].profile;
	const uint32_t *benchmarks = c->work->suite->details->benchmarks[side];
	CLEANUP(cleanup_free) bool *changed = suite_code_find_changed(c, side);

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
		times->unknown += suite_code_of(c, side, leaf) == DIFF_CODE_UNKNOWN ? value : 0;
		times->relinked += leaf->mapping != PROFILE_NONE && c->relinked[side][leaf->mapping] ? value : 0;
	}
}

static enum diff_code benchmark_code(const struct code_times *times)
{
	if (times->changed > least_part * times->all)
		return DIFF_CODE_CHANGED;
	return times->all > 0 && times->unknown <= most_unknown * times->all ? DIFF_CODE_SAME : DIFF_CODE_UNKNOWN;
}

void suite_compare_code(struct suite_work *work)
{
	struct diff_suite *suite = work->suite;
	CLEANUP(suite_code_deinit) struct suite_code c = { .work = work };

	work->relinked = memory_zeroed(suite->benchmark_count + 1, sizeof(*work->relinked));
	c.times = memory_zeroed(suite->benchmark_count + 1, sizeof(*c.times));
	if (suite->sides == 1)
		return;
	c.has_one_kernel = pieces_are_of_one_kernel(work->sides[DIFF_BASE].profile, work->sides[DIFF_HEAD].profile);
	c.names = string_table_begin(SIZE_MAX / 2);
	for (int side = 0; side < DIFF_SIDES; side++) {
		suite_code_name_functions(&c, (enum diff_side)side);
		suite_code_find_relinked(&c, (enum diff_side)side);
	}
	compare_functions(&c);
	suite_code_add_times(&c, DIFF_BASE);
	suite_code_add_times(&c, DIFF_HEAD);
	for (size_t i = 0; i < suite->benchmark_count; i++) {
		suite->benchmarks[i].code = benchmark_code(&c.times[i]);
		work->relinked[i] = c.times[i].relinked > most_of_it * c.times[i].all;
	}
}
