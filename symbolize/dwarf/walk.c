/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/dwarf/walk.h"

#include "symbolize/addresses.h"
#include "symbolize/dwarf/ranges.h"
#include "symbolize/dwarf/read.h"

#include <stdlib.h>

enum { MAX_NESTING = 256 };
/* Steps over lists of ranges, which entries can share, are spent in groups of this many. For each address, as many are
 * free as entries nest around it. */
enum { STEPS = 1 << 12, FREE_STEPS = 256 };

/* The walk's position: the function that contains it, and the depth. */
struct walk_position {
	uint32_t node;
	uint32_t depth;
};

static void walk_children(struct dwarf_walk *w, struct byte_reader *r, struct walk_position at);

static uint32_t dwarf_walk_add_node(struct dwarf_walk *w, uint64_t die, uint32_t parent)
{
	if (!ARRAY_RESERVE(&w->nodes, &w->node_capacity, w->node_count + 1, ARRAY_MAX_IDS, w->err)) {
		w->failed = true;
		return DWARF_NO_NODE;
	}
	w->nodes[w->node_count] = (struct dwarf_node){
		.die = die,
		.parent = parent,
		.function = parent == DWARF_NO_NODE ? (uint32_t)w->node_count : w->nodes[parent].function,
	};
	return (uint32_t)w->node_count++;
}

static bool spend(struct dwarf_walk *w)
{
	if (w->budget == 0 && !dwarf_file_spend(w->unit->file, DWARF_SECTION_INFO, STEPS))
		return false;
	w->budget = (w->budget ? w->budget : STEPS) - 1;
	return true;
}

/* Returns whether the entry's code holds any of the addresses. */
static bool covers(struct dwarf_walk *w, struct dwarf_ranges ranges)
{
	uint64_t low, high;

	while (spend(w) && dwarf_ranges_next(&ranges, &low, &high)) {
		size_t i = addresses_lower_bound(w->addresses, w->count, low);

		if (i < w->count && w->addresses[i] < high)
			return true;
	}
	return false;
}

/*
 * Returns whether an inlined function may cover the address: its addresses are also those of the function around it.
 * The result must not depend on the other addresses that are looked up.
 */
static bool may_have(const struct dwarf_walk *w, uint32_t node, size_t address)
{
	uint32_t function = w->nodes[node].function;

	return node == function || w->is_exhaustive ||
	       (w->deepest[address] != DWARF_NO_NODE && w->nodes[w->deepest[address]].function == function);
}

/* Marks covered addresses. The deepest function wins; of equally deep ones (folded identical code) the first. */
static void dwarf_walk_mark(struct dwarf_walk *w, struct dwarf_ranges ranges, struct walk_position at)
{
	uint64_t low, high;

	while (spend(w) && dwarf_ranges_next(&ranges, &low, &high)) {
		for (size_t i = addresses_lower_bound(w->addresses, w->count, low);
			i < w->count && w->addresses[i] < high && spend(w); i++) {
			if (w->depths[i] >= at.depth || !may_have(w, at.node, i))
				continue;
			w->depths[i] = at.depth;
			w->deepest[i] = at.node;
		}
	}
}

/*
 * Decides whether to walk below the function; `at` is then inside it. An inlined function may list less code than
 * the functions inside it: version 2 has no lists of ranges, and GCC's lists for it may end at their first entry.
 */
static bool enter_function(struct dwarf_walk *w, uint64_t offset, bool is_inlined, const struct dwarf_ranges *ranges,
	struct walk_position *at)
{
	bool is_within = is_inlined && at->node != DWARF_NO_NODE;

	if (!is_within && !covers(w, *ranges) && !w->is_exhaustive)
		return false;
	/* Functions inlined below a function without code do not run. */
	if (!is_within && (is_inlined || !dwarf_ranges_any(ranges))) {
		at->node = DWARF_NO_NODE;
		return true;
	}
	at->node = dwarf_walk_add_node(w, offset, is_inlined ? at->node : DWARF_NO_NODE);
	if (at->node != DWARF_NO_NODE)
		dwarf_walk_mark(w, *ranges, *at);
	return true;
}

/* `r` is after the entry's code. False if the entry is damaged. */
static bool init_ranges(const struct dwarf_walk *w, struct byte_reader r, const struct dwarf_abbrev *abbrev,
	const struct dwarf_scan *scan, struct dwarf_ranges *ranges)
{
	const struct dwarf_value low = dwarf_scan_value(scan, DWARF_SLOT_LOW),
				 high = dwarf_scan_value(scan, DWARF_SLOT_HIGH),
				 list = dwarf_scan_value(scan, DWARF_SLOT_RANGES);
	struct dwarf_die die;

	if (!abbrev->is_odd) {
		dwarf_ranges_init(ranges, w->unit, &low, &high, &list);
		return true;
	}
	if (!dwarf_die_read(w->unit, &r, abbrev, &die))
		return false;
	dwarf_ranges_init(ranges, w->unit, &die.low_pc, &die.high_pc, &die.ranges);
	return true;
}

static void visit_code(struct dwarf_walk *w, struct byte_reader *r, const struct dwarf_abbrev *abbrev, uint64_t offset,
	struct walk_position at)
{
	struct byte_reader behind_code = *r;
	struct dwarf_ranges ranges;
	struct dwarf_scan scan;
	uint64_t sibling;

	dwarf_die_scan(w->unit, r, abbrev, &scan);
	if (!byte_reader_ok(r) || !init_ranges(w, behind_code, abbrev, &scan, &ranges))
		return;
	at.depth++;
	if (at.depth < MAX_NESTING && enter_function(w, offset, abbrev->role == DWARF_ROLE_INLINED, &ranges, &at)) {
		if (abbrev->has_children)
			walk_children(w, r, at);
		return;
	}
	if (!abbrev->has_children)
		return;
	sibling = dwarf_scan_sibling(w->unit, r, &scan);
	if (sibling) {
		byte_reader_seek(r, sibling);
		return;
	}
	*r = behind_code;
	dwarf_die_skip_tree(w->unit, r, abbrev);
}

/*
 * Visits a scope. Blocks are walked too: a block may list less code than the functions inlined in it, since version 2
 * has no lists of ranges.
 */
static void visit_scope(
	struct dwarf_walk *w, struct byte_reader *r, const struct dwarf_abbrev *abbrev, struct walk_position at)
{
	if (at.depth >= MAX_NESTING || !abbrev->has_children) {
		dwarf_die_skip_tree(w->unit, r, abbrev);
		return;
	}
	dwarf_die_skip(w->unit, r, abbrev);
	at.depth++;
	walk_children(w, r, at);
}

static void walk_children(struct dwarf_walk *w, struct byte_reader *r, struct walk_position at)
{
	while (byte_reader_left(r) > 0 && byte_reader_ok(r) && !w->failed) {
		uint64_t offset = byte_reader_offset(r);
		uint64_t code = dwarf_read_uleb128(r);
		const struct dwarf_abbrev *abbrev;

		if (code == 0)
			return;
		abbrev = dwarf_abbrevs_find(w->unit->abbrevs, code);
		if (!abbrev) {
			r->failed = true;
			return;
		}
		switch (abbrev->role) {
		case DWARF_ROLE_FUNCTION:
		case DWARF_ROLE_INLINED:
			if (abbrev->has_code || w->is_exhaustive ||
				(abbrev->role == DWARF_ROLE_INLINED && at.node != DWARF_NO_NODE))
				visit_code(w, r, abbrev, offset, at);
			else
				dwarf_die_skip_tree(w->unit, r, abbrev);
			break;
		case DWARF_ROLE_BLOCK:
		case DWARF_ROLE_SCOPE:
			visit_scope(w, r, abbrev, at);
			break;
		case DWARF_ROLE_TYPE:
			if (w->is_exhaustive)
				visit_scope(w, r, abbrev, at);
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
	const struct dwarf_abbrev *root = dwarf_abbrevs_find(w->unit->abbrevs, byte_reader_uleb128(&r));

	if (!root || !root->has_children ||
		!dwarf_file_spend(w->unit->file, DWARF_SECTION_INFO, w->unit->end - w->unit->offset))
		return;
	dwarf_die_skip(w->unit, &r, root);
	w->budget = STEPS + FREE_STEPS * (uint64_t)w->count;
	walk_children(w, &r, (struct walk_position){ DWARF_NO_NODE, 0 });
}

bool dwarf_walk_run(struct dwarf_walk *walk, struct error *err)
{
	walk->err = err;
	for (size_t i = 0; i < walk->count; i++)
		walk->deepest[i] = DWARF_NO_NODE;
	walk_unit(walk);
	return !walk->failed;
}

void dwarf_walk_deinit(struct dwarf_walk *walk)
{
	free(walk->nodes);
	walk->nodes = NULL;
}
