/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/dwarf/walk.h"

#include "symbolize/dwarf/ranges.h"

#include <stdlib.h>

enum { MAX_NESTING = 256 };
static const uint64_t max_steps = (uint64_t)1 << 28;

/* Where the walk stands: in which function, how deep. */
struct place {
	uint32_t node;
	uint32_t depth;
};

static void walk_children(struct dwarf_walk *w, struct byte_reader *r, struct place place);

static size_t lower_bound(const struct dwarf_walk *w, uint64_t address)
{
	size_t low = 0, high = w->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (w->addresses[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint32_t add_node(struct dwarf_walk *w, uint64_t die, uint32_t parent)
{
	if (!ARRAY_RESERVE(&w->nodes, &w->node_capacity, w->node_count + 1, ARRAY_MAX_IDS, w->err)) {
		w->failed = true;
		return DWARF_NO_NODE;
	}
	w->nodes[w->node_count] = (struct dwarf_node){ die, parent };
	return (uint32_t)w->node_count++;
}

static bool spend(struct dwarf_walk *w)
{
	if (w->budget == 0)
		return false;
	w->budget--;
	return true;
}

/* Whether the entry's code holds any of the addresses. */
static bool covers(struct dwarf_walk *w, struct dwarf_ranges ranges)
{
	uint64_t low, high;

	while (spend(w) && dwarf_ranges_next(&ranges, &low, &high)) {
		size_t i = lower_bound(w, low);

		if (i < w->count && w->addresses[i] < high)
			return true;
	}
	return false;
}

/* The deepest wins; of equally deep ones (folded identical code) the first. */
static void mark(struct dwarf_walk *w, struct dwarf_ranges ranges, struct place place)
{
	uint64_t low, high;

	while (spend(w) && dwarf_ranges_next(&ranges, &low, &high)) {
		for (size_t i = lower_bound(w, low); i < w->count && w->addresses[i] < high && spend(w); i++) {
			if (w->depths[i] >= place.depth)
				continue;
			w->depths[i] = place.depth;
			w->deepest[i] = place.node;
		}
	}
}

/* Whether what is below the function is to be walked; `place` is then within it. */
static bool enter_function(
	struct dwarf_walk *w, const struct dwarf_die *die, const struct dwarf_ranges *ranges, struct place *place)
{
	bool is_inlined = die->abbrev->role == DWARF_ROLE_INLINED;
	bool has_hit = covers(w, *ranges);

	if (!has_hit && !w->is_exhaustive)
		return false;
	/* What is inlined below a function without code belongs to nothing that runs. */
	if (!dwarf_ranges_any(ranges) || (is_inlined && place->node == DWARF_NO_NODE)) {
		place->node = DWARF_NO_NODE;
		return true;
	}
	place->node = add_node(w, die->offset, is_inlined ? place->node : DWARF_NO_NODE);
	if (place->node != DWARF_NO_NODE && has_hit)
		mark(w, *ranges, *place);
	return true;
}

static void visit_code(
	struct dwarf_walk *w, struct byte_reader *r, const struct dwarf_abbrev *abbrev, uint64_t offset, struct place place)
{
	struct byte_reader behind_code = *r;
	struct dwarf_ranges ranges;
	struct dwarf_die die;

	if (!dwarf_die_read(w->unit, r, abbrev, &die))
		return;
	die.offset = offset;
	place.depth++;
	dwarf_ranges_init(&ranges, w->unit, &die.low_pc, &die.high_pc, &die.ranges);
	if (place.depth < MAX_NESTING && enter_function(w, &die, &ranges, &place)) {
		if (abbrev->has_children)
			walk_children(w, r, place);
		return;
	}
	*r = behind_code;
	dwarf_die_skip_tree(w->unit, r, abbrev);
}

/* Blocks too: one may say less than the functions inlined in it, since version 2 has no lists of ranges. */
static void visit_scope(struct dwarf_walk *w, struct byte_reader *r, const struct dwarf_abbrev *abbrev, struct place place)
{
	if (place.depth >= MAX_NESTING || !abbrev->has_children) {
		dwarf_die_skip_tree(w->unit, r, abbrev);
		return;
	}
	dwarf_die_skip(w->unit, r, abbrev);
	place.depth++;
	walk_children(w, r, place);
}

static void walk_children(struct dwarf_walk *w, struct byte_reader *r, struct place place)
{
	while (byte_reader_left(r) > 0 && byte_reader_ok(r) && !w->failed) {
		uint64_t offset = byte_reader_offset(r);
		uint64_t code = byte_reader_uleb128(r);
		const struct dwarf_abbrev *abbrev;

		if (code == 0)
			return;
		abbrev = dwarf_abbrevs_find(&w->unit->abbrevs, code);
		if (!abbrev) {
			r->failed = true;
			return;
		}
		switch (abbrev->role) {
		case DWARF_ROLE_FUNCTION:
		case DWARF_ROLE_INLINED:
			if (abbrev->has_code || w->is_exhaustive)
				visit_code(w, r, abbrev, offset, place);
			else
				dwarf_die_skip_tree(w->unit, r, abbrev);
			break;
		case DWARF_ROLE_BLOCK:
			visit_scope(w, r, abbrev, place);
			break;
		case DWARF_ROLE_SCOPE:
			visit_scope(w, r, abbrev, place);
			break;
		case DWARF_ROLE_TYPE:
			if (w->is_exhaustive)
				visit_scope(w, r, abbrev, place);
			else
				dwarf_die_skip_tree(w->unit, r, abbrev);
			break;
		case DWARF_ROLE_OTHER:
			dwarf_die_skip_tree(w->unit, r, abbrev);
			break;
		}
	}
}

static void walk_unit(struct dwarf_walk *w)
{
	struct byte_reader r = dwarf_unit_reader(w->unit, w->unit->first_die);
	const struct dwarf_abbrev *root = dwarf_abbrevs_find(&w->unit->abbrevs, byte_reader_uleb128(&r));

	if (!root || !root->has_children)
		return;
	dwarf_die_skip(w->unit, &r, root);
	w->budget = max_steps;
	walk_children(w, &r, (struct place){ DWARF_NO_NODE, 0 });
}

static bool is_complete(const struct dwarf_walk *w)
{
	for (size_t i = 0; i < w->count; i++)
		if (w->deepest[i] == DWARF_NO_NODE)
			return false;
	return true;
}

/* GCC nests lambdas below functions that do not cover them: what is left is looked for everywhere. */
static void walk_exhaustively(struct dwarf_walk *w)
{
	struct dwarf_walk left = *w;
	size_t *places = malloc(w->count * sizeof(*places));
	uint64_t *addresses = malloc(w->count * sizeof(*addresses));

	left.deepest = malloc(w->count * sizeof(*left.deepest));
	left.depths = calloc(w->count, sizeof(*left.depths));
	left.count = 0;
	if (places && addresses && left.deepest && left.depths) {
		for (size_t i = 0; i < w->count; i++) {
			if (w->deepest[i] != DWARF_NO_NODE)
				continue;
			left.deepest[left.count] = DWARF_NO_NODE;
			places[left.count] = i;
			addresses[left.count++] = w->addresses[i];
		}
		left.addresses = addresses;
		left.is_exhaustive = true;
		walk_unit(&left);
		for (size_t i = 0; i < left.count; i++)
			w->deepest[places[i]] = left.deepest[i];
	} else {
		left.failed = true;
		error_set_memory(w->err);
	}
	w->nodes = left.nodes;
	w->node_count = left.node_count;
	w->node_capacity = left.node_capacity;
	w->failed = left.failed;
	free(places);
	free(addresses);
	free(left.deepest);
	free(left.depths);
}

bool dwarf_walk_run(struct dwarf_walk *walk, struct error *err)
{
	walk->err = err;
	for (size_t i = 0; i < walk->count; i++)
		walk->deepest[i] = DWARF_NO_NODE;
	walk_unit(walk);
	if (!walk->failed && !is_complete(walk))
		walk_exhaustively(walk);
	return !walk->failed;
}

void dwarf_walk_deinit(struct dwarf_walk *walk)
{
	free(walk->nodes);
	walk->nodes = NULL;
}
