/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the lines of functions in the stacks of a profile, and adds up what counts for each. */
#include "diff/lines.h"

#include <math.h>
#include <string.h>

/* The state of a pass over the stacks of one side. */
struct diff_lines_walk {
	const struct diff *diff;
	const struct profile *profile;
	const bool *wanted;
	struct diff_lines *lines;
	size_t place_capacity, chain_capacity;
	double *values, *samples; /* owned; [stack] of the samples that end there; samples NULL: not known */
	uint32_t *nodes;          /* owned; [stack] the node of its innermost frame; 0: the diff has none */
	bool *ends;               /* owned; [stack] samples end there */
	uint32_t *known;          /* owned; [line of the profile] its place the last time; HASH_MAP_NONE: none yet */
	uint32_t *path;           /* owned; room for the frames of one location */
	uint32_t *met;            /* owned; [place] the last stack that it was met on */
	size_t met_capacity, owner_count, owner_capacity;
	uint64_t *masks; /* owned; [chain] bits of the places on it: what has no bit is not there */
	size_t mask_capacity;
	uint32_t metric;      /* value type */
	struct hash_map ids;  /* struct place_key to place */
	bool without_inlined; /* only the last frame of a location is a node */
};

struct place_key {
	uint32_t function, file, line;
};

static void diff_lines_walk_deinit(struct diff_lines_walk *walk)
{
	free(walk->values);
	free(walk->samples);
	free(walk->nodes);
	free(walk->ends);
	free(walk->known);
	free(walk->path);
	free(walk->met);
	free(walk->masks);
	hash_map_deinit(&walk->ids);
	diff_lines_destroy(walk->lines);
}

void diff_lines_destroy(struct diff_lines *lines)
{
	if (!lines)
		return;
	free(lines->places);
	free(lines->chains);
	free(lines->stack_chains);
	free(lines->owners);
	free(lines->first_owner);
	free(lines->stack_values);
	free(lines);
}

static const struct profile_location *diff_lines_location_of(const struct diff_lines_walk *walk, uint32_t stack)
{
	return &walk->profile->locations[walk->profile->stacks[stack].location];
}

/*
 * Returns how many frames of a location are nodes of the tree, from the innermost on: the last one alone where inlined
 * frames are left out.
 */
static uint32_t diff_lines_frames_of(const struct diff_lines_walk *walk, const struct profile_location *location)
{
	return walk->without_inlined ? 1 : location->line_count;
}

/* Returns the index of a frame's line in the profile. */
static uint32_t diff_lines_line_at(
	const struct diff_lines_walk *walk, const struct profile_location *location, uint32_t depth)
{
	return location->first_line + (walk->without_inlined ? location->line_count - 1 : depth);
}

/* ---- Frames ---- */

/* A frame of a stack, which is one node of the tree. */
struct diff_lines_frame {
	uint32_t stack, node;
	uint32_t depth; /* among the frames of its location, from the innermost on */
};

/* Moves to the caller; false at the root. */
static bool diff_lines_frame_up(const struct diff_lines_walk *walk, struct diff_lines_frame *frame)
{
	frame->node = walk->diff->nodes[frame->node].parent;
	if (++frame->depth >= diff_lines_frames_of(walk, diff_lines_location_of(walk, frame->stack))) {
		frame->stack = walk->profile->stacks[frame->stack].parent;
		frame->depth = 0;
	}
	return frame->stack != 0 && frame->node != 0;
}

/*
 * Moves to the frame of the function whose self value a sample counts to. A sample in an interpreter counts to the
 * function that this runs, where only frames of the interpreter are between.
 */
static void frame_to_owner(const struct diff_lines_walk *walk, struct diff_lines_frame *frame)
{
	const struct diff *diff = walk->diff;
	const struct diff_function *f = &diff->functions[diff->nodes[frame->node].function];
	unsigned int language = f->interprets;
	struct diff_lines_frame above = *frame;

	if (language == PROFILE_LANGUAGE_NATIVE)
		return;
	while (diff_lines_frame_up(walk, &above)) {
		f = &diff->functions[diff->nodes[above.node].function];
		if (f->language == language) {
			*frame = above;
			return;
		}
		if (f->interprets != language)
			return;
	}
}

/* ---- Places ---- */

static void diff_lines_add_place(
	struct diff_lines_walk *walk, const struct place_key *key, const struct profile_line *line, uint32_t *id)
{
	struct diff_lines *lines = walk->lines;
	uint32_t new_id = (uint32_t)lines->place_count, *found;
	bool added = false;

	found = hash_map_enter(&walk->ids, key, new_id, &added);
	*id = *found;
	if (!added)
		return;
	ARRAY_GROW(&lines->places, &walk->place_capacity, lines->place_count + 1);
	ARRAY_GROW(&walk->met, &walk->met_capacity, lines->place_count + 1);
	walk->met[new_id] = 0;
	lines->places[lines->place_count++] = (struct diff_place){
		.function = key->function,
		.of = line ? line->function : PROFILE_NONE,
		.file = key->file,
		.line = key->line,
		.samples = walk->samples ? 0 : NAN,
	};
}

/*
 * Returns the function that the lines of a node belong to: a function that was renamed is one, which has its later
 * name.
 */
static uint32_t diff_lines_function_of(const struct diff *diff, uint32_t node)
{
	uint32_t function = diff->nodes[node].function;
	const struct diff_function *f = &diff->functions[function];
	bool is_earlier = diff_tier_is_rename(f->tier) && f->moved_to != PROFILE_NONE && f->raw_total[DIFF_BASE] == 0 &&
			  f->raw_total[DIFF_HEAD] == 0;

	return is_earlier ? f->moved_to : function;
}

/*
 * Returns whether a frame is none of a call: compilers that split a function (GCC's `f.part.0`) describe the part as
 * the function itself, inlined into it at the line of its definition.
 */
static bool is_of_split_function(
	const struct diff_lines_walk *walk, const struct profile_location *location, uint32_t depth)
{
	const struct profile_line *line = &walk->profile->lines[location->first_line + depth];
	const struct profile_function *function = &walk->profile->functions[line->function];

	return depth > 0 && line->line != 0 && line->line == function->start_line &&
	       walk->profile->functions[line[-1].function].key == function->key;
}

/* The place of a frame, which is made where there is none yet; PROFILE_NONE: its function is not wanted. */
static void diff_lines_place_of(
	struct diff_lines_walk *walk, uint32_t stack, uint32_t depth, uint32_t node, uint32_t *place)
{
	const struct profile_location *location = diff_lines_location_of(walk, stack);
	const struct profile_line *line = NULL;
	struct place_key key = { 0 };

	*place = PROFILE_NONE;
	if (node == 0)
		return;
	key.function = diff_lines_function_of(walk->diff, node);
	if (!walk->wanted[key.function])
		return;
	if (depth < location->line_count) {
		uint32_t *known = &walk->known[diff_lines_line_at(walk, location, depth)];

		if (is_of_split_function(walk, location, depth))
			return;
		if (*known != HASH_MAP_NONE && walk->lines->places[*known].function == key.function) {
			*place = *known;
			return;
		}
		line = &walk->profile->lines[diff_lines_line_at(walk, location, depth)];
		key.file = line->file ? line->file : walk->profile->functions[line->function].file;
		key.line = line->line;
	}
	diff_lines_add_place(walk, &key, line, place);
	if (line)
		walk->known[diff_lines_line_at(walk, location, depth)] = *place;
}

/* ---- Chains ---- */

static uint64_t mask_of(uint32_t place)
{
	return UINT64_C(1) << (place % 64);
}

static bool chain_has(const struct diff_lines_walk *walk, uint32_t chain, uint32_t place)
{
	for (; walk->masks[chain] & mask_of(place); chain = walk->lines->chains[chain].parent)
		if (walk->lines->chains[chain].place == place)
			return true;
	return false;
}

/* Moves `*chain` to itself with one place more. */
static void diff_lines_extend(struct diff_lines_walk *walk, uint32_t place, uint32_t *chain)
{
	struct diff_lines *lines = walk->lines;
	size_t count = lines->chain_count;

	ARRAY_GROW(&lines->chains, &walk->chain_capacity, count + 1);
	ARRAY_GROW(&walk->masks, &walk->mask_capacity, count + 1);
	lines->chains[count] = (struct diff_chain){ *chain, place };
	walk->masks[count] = count > 0 ? walk->masks[*chain] | mask_of(place) : 0;
	*chain = (uint32_t)count;
	lines->chain_count++;
}

/* Adds the frames of one location to the chain of its callers, the outermost first. */
static void chain_stack(struct diff_lines_walk *walk, uint32_t stack)
{
	uint32_t chain = walk->lines->stack_chains[walk->profile->stacks[stack].parent], node = walk->nodes[stack];
	uint32_t count = diff_lines_frames_of(walk, diff_lines_location_of(walk, stack)), place;

	count = count > 0 ? count : 1;
	for (uint32_t depth = 0; depth < count; depth++) {
		walk->path[depth] = node;
		node = node ? walk->diff->nodes[node].parent : 0;
	}
	for (uint32_t depth = count; depth-- > 0;) {
		diff_lines_place_of(walk, stack, depth, walk->path[depth], &place);
		if (place != PROFILE_NONE && !chain_has(walk, chain, place))
			diff_lines_extend(walk, place, &chain);
	}
	walk->lines->stack_chains[stack] = chain;
}

static void chain_stacks(struct diff_lines_walk *walk)
{
	uint32_t none = 0;

	diff_lines_extend(walk, PROFILE_NONE, &none);
	for (uint32_t stack = 1; stack < walk->profile->stack_count; stack++)
		if (walk->nodes[stack])
			chain_stack(walk, stack);
}

/* ---- Sums ---- */

/* Adds up samples by stack, and finds the nodes of all stacks from those at which samples end. */
static void diff_lines_place_stacks(struct diff_lines_walk *walk, enum diff_side side)
{
	const struct diff *diff = walk->diff;
	const struct profile *profile = walk->profile;
	double factor = side == DIFF_HEAD && diff->sides == DIFF_SIDES ? diff->scale.factor : 1;

	for (size_t i = 0; i < profile->sample_count; i++) {
		const int64_t *values = &profile->values[i * profile->value_type_count];
		uint32_t stack = profile->samples[i].stack, node = diff->sample_nodes[side][i];

		/* Time in interrupts is in no total of the functions that were hit. */
		if (node == 0 || diff->nodes[node].flags & DIFF_NODE_INTERRUPT)
			continue;
		walk->nodes[stack] = node;
		walk->ends[stack] = true;
		if (values[walk->metric] <= 0)
			continue;
		walk->values[stack] += (double)values[walk->metric] * factor;
		if (walk->samples)
			walk->samples[stack] += (double)values[profile->counts_of[walk->metric]];
	}
	for (uint32_t stack = (uint32_t)profile->stack_count; stack-- > 1;) {
		uint32_t parent = profile->stacks[stack].parent, node = walk->nodes[stack];
		uint32_t count = diff_lines_frames_of(walk, diff_lines_location_of(walk, stack));

		if (node == 0 || parent == 0 || walk->nodes[parent] != 0)
			continue;
		for (uint32_t i = 0; node && (i == 0 || i < count); i++)
			node = diff->nodes[node].parent;
		walk->nodes[parent] = node;
	}
}

/*
 * Notes that a line is one of those that samples of a stack, whose owners begin at `start`, are at; `self`: the line
 * itself, if that is it.
 */
static void add_owner(struct diff_lines_walk *walk, size_t start, uint32_t self, uint32_t place)
{
	ARRAY_GROW(&walk->lines->owners, &walk->owner_capacity, walk->owner_count + 2);
	if (walk->owner_count == start)
		walk->lines->owners[walk->owner_count++] = self;
	if (self == PROFILE_NONE)
		walk->lines->owners[walk->owner_count++] = place;
}

/* Adds the samples that end at a stack to the line that was executing, and to those that this was inlined at. */
static void add_self(struct diff_lines_walk *walk, uint32_t stack)
{
	struct diff_lines_frame frame = { stack, walk->nodes[stack], 0 };
	size_t start = walk->owner_count;
	uint32_t first, owner_stack;

	frame_to_owner(walk, &frame);
	first = frame.depth;
	owner_stack = frame.stack;
	do {
		struct diff_place *place;
		uint32_t id;

		diff_lines_place_of(walk, frame.stack, frame.depth, frame.node, &id);
		if (id == PROFILE_NONE || walk->met[id] == stack)
			continue;
		add_owner(walk, start, frame.depth == first ? id : PROFILE_NONE, id);
		walk->met[id] = stack;
		place = &walk->lines->places[id];
		place->self += frame.depth == first ? walk->values[stack] : 0;
		place->inlined += walk->values[stack];
	} while (diff_lines_frame_up(walk, &frame) && frame.stack == owner_stack);
}

/* A chain has each place once, so what is at it or above it is the place's total. */
static void diff_lines_add_totals(struct diff_lines_walk *walk)
{
	struct diff_lines *lines = walk->lines;
	CLEANUP(cleanup_free) double *values = memory_zeroed(lines->chain_count, sizeof(*values));
	CLEANUP(cleanup_free) double *samples = memory_zeroed(lines->chain_count, sizeof(*samples));

	for (size_t stack = 1; stack < walk->profile->stack_count; stack++) {
		values[lines->stack_chains[stack]] += walk->values[stack];
		samples[lines->stack_chains[stack]] += walk->samples ? walk->samples[stack] : 0;
	}
	for (size_t i = lines->chain_count; i-- > 1;) {
		const struct diff_chain *chain = &lines->chains[i];

		lines->places[chain->place].total += values[i];
		lines->places[chain->place].samples += samples[i];
		values[chain->parent] += values[i];
		samples[chain->parent] += samples[i];
	}
}

static void walk_init(struct diff_lines_walk *walk, enum diff_side side)
{
	const struct profile *profile = walk->profile;
	const struct diff *diff = walk->diff;
	uint32_t metric = profile_find_metric(profile, diff_string(diff, diff->metric), diff_string(diff, diff->unit));
	uint32_t most = 1;
	bool is_counted;

	walk->without_inlined = diff->without_inlined[side];
	walk->metric = metric == PROFILE_NONE ? 0 : metric;
	is_counted = profile->counts_of[walk->metric] != PROFILE_NONE;
	for (size_t i = 0; i < profile->location_count; i++)
		most = profile->locations[i].line_count > most ? profile->locations[i].line_count : most;
	hash_map_init(&walk->ids, sizeof(struct place_key));
	walk->lines = memory_zeroed(1, sizeof(*walk->lines));
	walk->values = memory_zeroed(profile->stack_count + 1, sizeof(*walk->values));
	walk->samples = is_counted ? memory_zeroed(profile->stack_count + 1, sizeof(*walk->samples)) : NULL;
	walk->nodes = memory_zeroed(profile->stack_count + 1, sizeof(*walk->nodes));
	walk->ends = memory_zeroed(profile->stack_count + 1, sizeof(*walk->ends));
	walk->known = memory_alloc((profile->line_count + 1) * sizeof(*walk->known));
	walk->path = memory_alloc(most * sizeof(*walk->path));
	memset(walk->known, 0xff, (profile->line_count + 1) * sizeof(*walk->known));
	walk->lines->stack_chains = memory_zeroed(profile->stack_count + 1, sizeof(*walk->lines->stack_chains));
	walk->lines->first_owner = memory_zeroed(profile->stack_count + 2, sizeof(*walk->lines->first_owner));
	diff_lines_place_stacks(walk, side);
}

void diff_lines_create(const struct diff *diff, enum diff_side side, const struct profile *profile, const bool *wanted,
	struct diff_lines **lines)
{
	CLEANUP(diff_lines_walk_deinit)
	struct diff_lines_walk walk = { .diff = diff, .profile = profile, .wanted = wanted };

	walk_init(&walk, side);
	chain_stacks(&walk);
	for (uint32_t stack = 1; stack < profile->stack_count; stack++) {
		if (walk.ends[stack])
			add_self(&walk, stack);
		walk.lines->first_owner[stack + 1] = (uint32_t)walk.owner_count;
	}
	diff_lines_add_totals(&walk);
	walk.lines->stack_values = TAKE(walk.values);
	*lines = TAKE(walk.lines);
}
