/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/match/interrupts.h"

#include <math.h>
#include <string.h>

static enum profile_interrupt interrupts_kind_of(const struct diff *diff, const struct diff_function *f)
{
	return profile_interrupt_of(diff_string(diff, f->name), diff_string(diff, f->module));
}

/* Returns whether a wait is for a CPU in a comparison, where it is the machine's. */
static bool is_of_machine(const struct diff_build *build, uint32_t node)
{
	const struct diff *diff = build->diff;

	return (build_two_sided(build) || build->is_for_comparison) && diff->waiting != DIFF_WAITING_NONE && node > 0 &&
	       diff_wait_class(diff, &diff->functions[diff->nodes[node].function]) == PROFILE_WAIT_RUN_QUEUE;
}

/*
 * Fills [node] with whether waits of the program are below it. In the report of one recording, being preempted is
 * waiting for a CPU, and no time of the interrupt at which it began.
 */
static void match_interrupts_find_waits(const struct diff_build *build, bool *waits)
{
	const struct diff *diff = build->diff;

	for (int side = 0; side < DIFF_SIDES && diff->waiting != DIFF_WAITING_NONE; side++) {
		const struct profile *profile = build->profiles[side];

		for (size_t i = 0; profile && i < profile->sample_count; i++) {
			uint32_t node =
				build->union_nodes[side][build->trees[side]->stack_nodes[profile->samples[i].stack]];

			if (!build_is_wait(diff, node) || is_of_machine(build, node) ||
				!(build_value(build, side, i) > 0))
				continue;
			for (; node != 0 && !waits[node]; node = diff->nodes[node].parent)
				waits[node] = true;
		}
	}
}

static bool is_interrupt(const struct diff_build *build, const uint8_t *kinds, const bool *waits, uint32_t node)
{
	const struct diff *diff = build->diff;
	const struct diff_node *n = &diff->nodes[node], *parent = &diff->nodes[n->parent];

	if (is_of_machine(build, node))
		return true;
	if (waits[node])
		return false;
	if (parent->flags & DIFF_NODE_INTERRUPT)
		return true;
	return profile_interrupt_begins((enum profile_interrupt)kinds[n->function],
		n->parent == 0 ? PROFILE_INTERRUPT_NONE : (enum profile_interrupt)kinds[parent->function]);
}

static void interrupts_mark_nodes(const struct diff_build *build)
{
	struct diff *diff = build->diff;
	CLEANUP(cleanup_free) uint8_t *kinds = memory_alloc(diff->function_count + 1);
	CLEANUP(cleanup_free) bool *waits = memory_zeroed(diff->node_count + 1, sizeof(*waits));

	match_interrupts_find_waits(build, waits);
	for (size_t i = 0; i < diff->function_count; i++)
		kinds[i] = (uint8_t)interrupts_kind_of(diff, &diff->functions[i]);
	for (uint32_t node = 1; node < diff->node_count; node++)
		if (is_interrupt(build, kinds, waits, node))
			diff->nodes[node].flags |= DIFF_NODE_INTERRUPT;
}

/* ---- Whether a side has time outside interrupts ---- */

static bool side_has_own_time(const struct diff_build *build, enum diff_side side)
{
	const struct profile *profile = build->profiles[side];

	for (size_t i = 0; i < profile->sample_count; i++) {
		uint32_t node = build->union_nodes[side][build->trees[side]->stack_nodes[profile->samples[i].stack]];

		if (!(build->diff->nodes[node].flags & DIFF_NODE_INTERRUPT) && build_value(build, side, i) > 0)
			return true;
	}
	return false;
}

static bool has_own_time(const struct diff_build *build)
{
	if (build->diff->whole)
		return !build->diff->whole->interrupts_are_work;
	for (int side = 0; side < DIFF_SIDES; side++)
		if (build->profiles[side] && !side_has_own_time(build, (enum diff_side)side))
			return false;
	return true;
}

/* ---- Functions for the time in interrupts ---- */

/* Reserves room for one more function in every array that is indexed by function. */
static void reserve_function(struct diff_build *build)
{
	struct diff *diff = build->diff;
	size_t count = diff->function_count + 1;
	uint32_t *redirect, *of, *compilation_of;

	ARRAY_GROW(&diff->functions, &build->function_capacity, count);
	redirect = memory_resize(build->redirect, count + 1, sizeof(*redirect));
	build->redirect = redirect ? redirect : build->redirect;
	of = memory_resize(build->interrupt_of, count + 1, sizeof(*of));
	build->interrupt_of = of ? of : build->interrupt_of;
	compilation_of = memory_resize(build->compilation_of, count + 1, sizeof(*compilation_of));
	build->compilation_of = compilation_of ? compilation_of : build->compilation_of;
	for (int side = 0; side < DIFF_SIDES; side++) {
		bool *present = memory_resize(build->present[side], count + 1, sizeof(*present));

		build->present[side] = present ? present : build->present[side];
	}
}

static void add_variant(struct diff_build *build, uint32_t function, bool compiles, uint32_t *variant)
{
	struct diff *diff = build->diff;
	uint32_t id = (uint32_t)diff->function_count;
	struct diff_function f = diff->functions[function];

	reserve_function(build);
	build_text(diff, &f.key, "%s (%s)", diff_string(diff, f.key), compiles ? "compiler" : "interrupt");
	f.interrupt = true;
	f.compiles = compiles;
	f.origin = PROFILE_ORIGIN_SYSTEM;
	f.tier = DIFF_TIER_SAME;
	f.moved_to = PROFILE_NONE;
	diff->functions[id] = f;
	diff->function_count++;
	build->redirect[id] = id;
	build->interrupt_of[id] = build->compilation_of[id] = id;
	*(compiles ? &build->compilation_of[function] : &build->interrupt_of[function]) = id;
	/* It counts as present on both sides, so that it is neither new nor gone nor matched as a rename. */
	build->present[DIFF_BASE][id] = build->present[DIFF_HEAD][id] = true;
	*variant = id;
}

static void allocate_variants(struct diff_build *build)
{
	size_t count = build->diff->function_count;

	if (build->interrupt_of)
		return;
	build->interrupt_of = memory_zeroed(count + 1, sizeof(*build->interrupt_of));
	build->compilation_of = memory_zeroed(count + 1, sizeof(*build->compilation_of));
	memset(build->interrupt_of, 0xff, count * sizeof(*build->interrupt_of));
	memset(build->compilation_of, 0xff, count * sizeof(*build->compilation_of));
}

/* Returns whether a marked node is in a run-time compiler: it or a node above it is the frame of that. */
static bool is_in_compiler(const struct diff_build *build, uint32_t node)
{
	const struct diff *diff = build->diff;
	const struct diff_node *n = &diff->nodes[node], *parent = &diff->nodes[n->parent];

	return parent->flags & DIFF_NODE_INTERRUPT
		       ? diff->functions[parent->function].compiles
		       : interrupts_kind_of(diff, &diff->functions[n->function]) == PROFILE_INTERRUPT_COMPILER;
}

static void give_functions(struct diff_build *build)
{
	struct diff *diff = build->diff;

	allocate_variants(build);
	for (uint32_t node = 1; node < diff->node_count; node++) {
		struct diff_node *n = &diff->nodes[node];
		bool compiles;
		uint32_t variant;

		if (!(n->flags & DIFF_NODE_INTERRUPT))
			continue;
		compiles = is_in_compiler(build, node);
		variant = compiles ? build->compilation_of[n->function] : build->interrupt_of[n->function];
		if (variant == PROFILE_NONE)
			add_variant(build, n->function, compiles, &variant);
		n->function = variant;
	}
}

static void note_ordinary_nodes(struct diff_build *build)
{
	const struct diff *diff = build->diff;

	free(build->has_nodes);
	build->has_nodes = memory_zeroed(diff->function_count + 1, sizeof(*build->has_nodes));
	for (uint32_t node = 1; node < diff->node_count; node++)
		build->has_nodes[diff->nodes[node].function] = true;
}

void interrupts_mark(struct diff_build *build)
{
	/* What is the machine's is in no group. */
	if (build->mixes)
		return;
	interrupts_mark_nodes(build);
	if (has_own_time(build)) {
		give_functions(build);
		note_ordinary_nodes(build);
		return;
	}
	build->diff->interrupts_are_work = true;
	for (uint32_t node = 1; node < build->diff->node_count; node++)
		build->diff->nodes[node].flags &= (uint8_t)~DIFF_NODE_INTERRUPT;
}

bool interrupts_is_run_queue(const struct diff *diff, uint32_t node)
{
	const struct diff_node *n = &diff->nodes[node];

	return node > 0 && (n->flags & DIFF_NODE_INTERRUPT) &&
	       diff_wait_class(diff, &diff->functions[n->function]) == PROFILE_WAIT_RUN_QUEUE;
}

double interrupts_share(const struct diff *diff, enum diff_side side)
{
	double all = diff->raw_total[side] + diff->interrupts.raw[side];

	return all > 0 ? diff->interrupts.raw[side] / all : 0;
}
