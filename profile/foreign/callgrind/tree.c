/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes stacks of calls between two functions each. */
#include "profile/foreign/callgrind/callgrind.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Bounds of the part that is estimated: a share below this part of all is not followed further, nor any after so many
 * lines and calls. Stacks of only one way are never cut, except by their depth.
 */
static const double tree_smallest_share = 1.0 / 200000;
enum { TREE_MAX_WORK = 1 << 21, TREE_MAX_FRAMES = 1 << 16 };

/* Shares of a whole are added up in floating point. */
static const double tree_whole = 1 - 1e-9;

/* A component that is called from a stack, and the share of its cost that belongs to this stack. */
struct tree_call {
	uint32_t entry; /* the vertex that is called */
	uint32_t stack; /* of the profile: that of the callers */
	uint32_t depth;
	double share;
};

struct callgrind_tree {
	struct callgrind_table *table;
	const struct callgrind_names *names;
	struct profile *profile;
	struct callgrind_graph graph;
	int64_t *values, *given; /* [record * value_type_count + type]; `given` is NULL until a record is shared */
	double *shares;          /* [vertex] sum of the shares that have been added */
	uint32_t *met;           /* [vertex] number of the last call of its component that reached it */
	uint32_t *stacks;        /* [vertex] the stack of its callers in that call */
	uint32_t *depths;        /* [vertex] */
	uint32_t *functions;     /* [vertex] in its own file, or PROFILE_NONE */
	uint32_t *mappings;      /* [string] of an object; PROFILE_NONE: not made yet */
	size_t mapping_count;    /* entries of `mappings` */
	uint32_t *queue;         /* members of a component */
	struct tree_call *calls; /* still to be followed */
	size_t call_count, call_capacity;
	uint32_t number; /* of the call that is being followed */
	size_t work;     /* lines and calls that were looked at for a share */
	uint32_t main_value;
	double estimated;
};

static void tree_deinit(struct callgrind_tree *t)
{
	callgrind_graph_deinit(&t->graph);
	free(t->values);
	free(t->given);
	free(t->shares);
	free(t->met);
	free(t->stacks);
	free(t->depths);
	free(t->functions);
	free(t->mappings);
	free(t->queue);
	free(t->calls);
}

static bool tree_init(struct callgrind_tree *t, struct error *err)
{
	size_t vertices = t->table->vertex_count + 1;

	t->mapping_count = string_table_count(t->profile->strings);
	t->values = calloc(t->table->record_count + 1, t->profile->value_type_count * sizeof(*t->values));
	t->shares = calloc(vertices, sizeof(*t->shares));
	t->met = calloc(vertices, sizeof(*t->met));
	t->stacks = calloc(vertices, sizeof(*t->stacks));
	t->depths = calloc(vertices, sizeof(*t->depths));
	t->functions = malloc(vertices * sizeof(*t->functions));
	t->mappings = malloc((t->mapping_count + 1) * sizeof(*t->mappings));
	t->queue = calloc(vertices, sizeof(*t->queue));
	if (!t->values || !t->shares || !t->met || !t->stacks || !t->depths || !t->functions || !t->mappings ||
		!t->queue)
		return error_set_memory(err);
	memset(t->functions, 0xff, vertices * sizeof(*t->functions));
	memset(t->mappings, 0xff, (t->mapping_count + 1) * sizeof(*t->mappings));
	return true;
}

/* ---- Frames ---- */

static bool tree_mapping(struct callgrind_tree *t, uint32_t object, uint32_t *id, struct error *err)
{
	struct profile_mapping mapping = { .path = object, .kind = PROFILE_MAPPING_FILE };

	*id = PROFILE_NONE;
	if (object == 0)
		return true;
	if (t->mappings[object] == PROFILE_NONE &&
		!profile_add_mapping(t->profile, &mapping, &t->mappings[object], err))
		return false;
	*id = t->mappings[object];
	return true;
}

static bool is_address(const char *name)
{
	return name[0] == '0' && name[1] == 'x' && isxdigit((unsigned char)name[2]);
}

/* A function without a name has its address in the object: the form in which the model has such functions. */
static bool tree_function_name(struct callgrind_tree *t, const struct callgrind_vertex *vertex,
	struct profile_function *function, struct error *err)
{
	uint32_t name = t->names->paths[vertex->path].name;
	const char *text = profile_string(t->profile, name), *path = profile_string(t->profile, vertex->object);
	const char *slash = strrchr(path, '/');
	struct buffer made = BUFFER_INIT(SIZE_MAX / 2);
	bool ok;

	function->name = name;
	function->name_source = PROFILE_NAME_IMPORTED;
	if (!is_address(text))
		return name != 0 || profile_intern(t->profile, "[unnamed]", &function->name, err);
	function->name_source = PROFILE_NAME_NONE;
	text += 2;
	text += strspn(text, "0");
	buffer_printf(&made, "%s+0x%s", slash ? slash + 1 : path[0] ? path : "[unknown]", *text ? text : "0");
	ok = buffer_ok(&made, err) && string_table_add(t->profile->strings, made.data, made.size, &function->name, err);
	buffer_deinit(&made);
	return ok;
}

static bool tree_function(struct callgrind_tree *t, uint32_t vertex_id, uint32_t file, uint32_t *id, struct error *err)
{
	const struct callgrind_vertex *vertex = &t->table->vertices[vertex_id];
	struct profile_function function = { .file = file };
	uint32_t mapping;

	if (file == vertex->file && t->functions[vertex_id] != PROFILE_NONE) {
		*id = t->functions[vertex_id];
		return true;
	}
	if (!tree_mapping(t, vertex->object, &mapping, err) || !tree_function_name(t, vertex, &function, err))
		return false;
	if (mapping != PROFILE_NONE)
		function.module = t->profile->mappings[mapping].module;
	if (!profile_add_function(t->profile, &function, id, err))
		return false;
	if (file == vertex->file)
		t->functions[vertex_id] = *id;
	return true;
}

/* Inlined code has the file that it is in; the format does not tell its function. */
static bool tree_location(
	struct callgrind_tree *t, uint32_t vertex, uint32_t file, uint32_t line, uint32_t *location, struct error *err)
{
	struct profile_line frame = { .line = line };
	uint32_t mapping;

	return tree_function(t, vertex, file, &frame.function, err) &&
	       tree_mapping(t, t->table->vertices[vertex].object, &mapping, err) &&
	       profile_add_location_of_lines(t->profile, mapping, &frame, 1, location, err);
}

/* ---- Samples ---- */

/* The part of a record that has not been given to a stack yet, up to this share of it; false: nothing. */
static bool tree_take(struct callgrind_tree *t, size_t record, double share, int64_t *taken)
{
	uint32_t count = t->profile->value_type_count;
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		size_t cell = record * count + i;
		int64_t given = t->given ? t->given[cell] : 0, upto = t->values[cell];

		if (share < tree_whole)
			upto = (int64_t)floor((double)upto * share);
		upto = upto < given ? given : upto > t->values[cell] ? t->values[cell] : upto;
		taken[i] = upto - given;
		if (t->given)
			t->given[cell] = upto;
		any = any || taken[i] != 0;
	}
	return any;
}

/* Gives the stack the lines of a vertex up to `share`, of which earlier stacks have taken their parts. */
static bool tree_add_lines(
	struct callgrind_tree *t, uint32_t vertex, uint32_t stack, double share, bool is_estimated, struct error *err)
{
	int64_t taken[PROFILE_MAX_VALUE_TYPES];
	uint32_t leaf;

	for (uint32_t i = t->table->vertices[vertex].first_record; i != PROFILE_NONE; i = t->table->records[i].next) {
		struct callgrind_record *record = &t->table->records[i];

		t->work += share < tree_whole;
		if (!tree_take(t, i, share, taken))
			continue;
		if (record->location == PROFILE_NONE &&
			!tree_location(t, vertex, record->file, record->line, &record->location, err))
			return false;
		if (!profile_add_stack(t->profile, stack, record->location, &leaf, err) ||
			!profile_add_sample(t->profile, leaf, t->table->vertices[vertex].thread, taken, -1, err))
			return false;
		if (is_estimated)
			t->estimated += (double)taken[t->main_value];
	}
	return true;
}

static bool tree_share_lines(struct callgrind_tree *t, uint32_t vertex, const struct tree_call *call, struct error *err)
{
	bool is_estimated = call->share < tree_whole || t->graph.sizes[t->graph.components[vertex]] > 1;

	if (call->share < tree_whole && !t->given) {
		t->given = calloc(t->table->record_count + 1, t->profile->value_type_count * sizeof(*t->given));
		if (!t->given)
			return error_set_memory(err);
	}
	t->shares[vertex] += call->share;
	return tree_add_lines(t, vertex, t->stacks[vertex], t->shares[vertex], is_estimated, err);
}

/* ---- Calls ---- */

static bool tree_is_too_small(
	const struct callgrind_tree *t, const struct callgrind_edge *edge, double share, uint32_t depth)
{
	double weight = t->graph.weights[t->graph.components[edge->callee]];

	if (depth >= TREE_MAX_FRAMES)
		return true;
	return share < tree_whole && (t->work > TREE_MAX_WORK || share * weight < tree_smallest_share * t->graph.total);
}

/*
 * Follows the calls of a vertex: to others of its component, which are met once in a call of that, or to other
 * components.
 */
static bool tree_follow(
	struct callgrind_tree *t, uint32_t vertex, const struct tree_call *call, size_t *queued, struct error *err)
{
	uint32_t component = t->graph.components[vertex], depth = t->depths[vertex] + 1, location, stack;

	if (call->share < tree_whole)
		t->work += t->graph.first_edges[vertex + 1] - t->graph.first_edges[vertex];
	for (uint32_t i = t->graph.first_edges[vertex]; i < t->graph.first_edges[vertex + 1]; i++) {
		const struct callgrind_edge *edge = &t->table->edges[t->graph.edges[i]];
		bool is_inside = t->graph.components[edge->callee] == component;
		double share = is_inside ? call->share : call->share * callgrind_graph_share(&t->graph, edge);

		if ((is_inside && (t->met[edge->callee] == t->number || depth >= TREE_MAX_FRAMES)) ||
			(!is_inside && tree_is_too_small(t, edge, share, depth)))
			continue;
		if (!tree_location(t, vertex, edge->file, edge->line, &location, err) ||
			!profile_add_stack(t->profile, t->stacks[vertex], location, &stack, err))
			return false;
		if (!is_inside) {
			if (!ARRAY_APPEND(&t->calls, &t->call_capacity, &t->call_count, ARRAY_MAX_IDS, err,
				    (struct tree_call){ edge->callee, stack, depth, share }))
				return false;
			continue;
		}
		t->met[edge->callee] = t->number;
		t->stacks[edge->callee] = stack;
		t->depths[edge->callee] = depth;
		t->queue[(*queued)++] = edge->callee;
	}
	return true;
}

/* Adds the members of a component, each once, by the shortest way from the one that was called. */
static bool tree_add_call(struct callgrind_tree *t, const struct tree_call *call, struct error *err)
{
	size_t queued = 0;

	t->number++;
	t->met[call->entry] = t->number;
	t->stacks[call->entry] = call->stack;
	t->depths[call->entry] = call->depth;
	t->queue[queued++] = call->entry;
	for (size_t i = 0; i < queued; i++)
		if (!tree_share_lines(t, t->queue[i], call, err) || !tree_follow(t, t->queue[i], call, &queued, err))
			return false;
	return true;
}

/* Components are numbered callees first. Whatever is called by nobody stands at the root. */
static bool tree_add_calls(struct callgrind_tree *t, struct error *err)
{
	for (size_t i = t->graph.component_count; i-- > 0;) {
		struct tree_call root = { .entry = t->graph.entries[i], .share = t->graph.spontaneous[i] };

		if (root.share > 0 && !tree_add_call(t, &root, err))
			return false;
		while (t->call_count > 0) {
			struct tree_call call = t->calls[--t->call_count];

			if (!tree_add_call(t, &call, err))
				return false;
		}
	}
	return true;
}

/* Adds the rest of each vertex, so that the sum of a function's costs is that of the file. */
static bool tree_add_rest(struct callgrind_tree *t, struct error *err)
{
	struct profile_function function = { .name_source = PROFILE_NAME_IMPORTED };
	struct profile_line frame = { 0 };
	uint32_t location, stack = PROFILE_NONE;

	for (uint32_t i = 0; i < t->table->vertex_count; i++) {
		if (t->shares[i] >= tree_whole)
			continue;
		if (stack == PROFILE_NONE &&
			(!profile_intern(t->profile, "[other callers]", &function.name, err) ||
				!profile_add_function(t->profile, &function, &frame.function, err) ||
				!profile_add_location_of_lines(t->profile, PROFILE_NONE, &frame, 1, &location, err) ||
				!profile_add_stack(t->profile, 0, location, &stack, err)))
			return false;
		if (!tree_add_lines(t, i, stack, 1, true, err))
			return false;
	}
	return true;
}

bool callgrind_tree_add(struct callgrind_table *table, const struct callgrind_names *names,
	const struct callgrind_events *events, struct profile *profile, double *estimated, struct error *err)
{
	CLEANUP(tree_deinit) struct callgrind_tree t = { .table = table, .names = names, .profile = profile };
	uint32_t instructions = profile_find_metric(profile, "instructions", NULL);

	if (!callgrind_graph_create(table, &t.graph, err) || !tree_init(&t, err))
		return false;
	t.main_value = instructions != PROFILE_NONE ? instructions : profile->default_value_type;
	for (size_t i = 0; i < table->record_count; i++)
		callgrind_events_values(events, profile, table->columns + i * table->column_count,
			t.values + i * profile->value_type_count);
	free(table->columns);
	table->columns = NULL;
	if (!tree_add_calls(&t, err) || !tree_add_rest(&t, err))
		return false;
	*estimated = t.graph.total > 0 ? t.estimated / t.graph.total : 0;
	return true;
}
