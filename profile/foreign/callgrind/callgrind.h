/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/model.h"

/*
 * Files of callgrind and cachegrind. The format is described in "Callgrind Format Specification" of the manual of
 * Valgrind; other tools write it too.
 *
 *	read.c	lines to numbers: headers, positions, costs, calls
 *	names.c	names, their ids, and contexts
 *	table.c	functions in their contexts, their lines and calls
 *	values.c	events to value types
 *	graph.c	which share of a function's cost belongs to which caller
 *	tree.c	from there to stacks
 */

enum { CALLGRIND_MAX_EVENTS = 32, CALLGRIND_EVENT_BYTES = 64 };

/* ---- Names ---- */

enum callgrind_name_kind { CALLGRIND_FILE, CALLGRIND_FUNCTION, CALLGRIND_OBJECT };
enum { CALLGRIND_NAME_KINDS = 3 };

/* A context: a function's name, and those of its callers. Node 0 is the empty one. It is a trie from the callers on. */
struct callgrind_path {
	uint32_t parent, name; /* string of the profile */
};

struct callgrind_names {
	struct hash_map files, functions, objects; /* id in the file -> string, path, string */
	struct hash_map path_map;                  /* struct callgrind_path -> path */
	struct callgrind_path *paths;              /* owned */
	size_t path_count, path_capacity;
	bool has_contexts; /* `'` in the name of a function separates it from its callers */
	bool has_numbers;  /* pprof's trees: `name [2/3]` is the second place of a function in the tree */
	size_t unnamed[CALLGRIND_NAME_KINDS]; /* [kind] ids that are referred to, and have no name */
};

void callgrind_names_init(struct callgrind_names *names);
void callgrind_names_deinit(struct callgrind_names *names);

/*
 * Reads `name`, `(id) name` or `(id)`: `*result` becomes the string, or for a function the path. An id without a name
 * is a function of the name `(id)`, and a file or an object that is not known.
 */
COMMON_MUST_CHECK
bool callgrind_name(struct callgrind_names *names, struct profile *profile, enum callgrind_name_kind kind,
	const char *text, size_t size, uint32_t *result, struct error *err);

/* ---- Events ---- */

struct callgrind_event {
	char name[CALLGRIND_EVENT_BYTES];
	int64_t factors[CALLGRIND_MAX_EVENTS]; /* [column] of a derived event */
};

/* The events that a value type of the profile is made of. */
struct callgrind_value {
	enum { CALLGRIND_SUM, CALLGRIND_CYCLES, CALLGRIND_DERIVED } kind;
	uint32_t columns; /* of a sum: bit by bit */
	int64_t factor;   /* of a sum */
	size_t derived;
};

struct callgrind_events {
	struct callgrind_event columns[CALLGRIND_MAX_EVENTS], derived[CALLGRIND_MAX_EVENTS];
	size_t column_count, derived_count;
	/* [0] sysTime, [1] sysCpuTime: nanoseconds of a unit */
	int64_t time_ns[2];
	bool is_simulation; /* valgrind wrote the file: its numbers are exact counts */
	uint32_t negative;  /* columns, bit by bit, that have a number below 0 and are no value types */
	struct callgrind_value values[PROFILE_MAX_VALUE_TYPES]; /* [value type of the profile], but the first */
};

/* Reads what follows `event:`. */
COMMON_MUST_CHECK
bool callgrind_events_describe(struct callgrind_events *events, const char *text, size_t size, struct error *err);

/* Returns the column of an event; CALLGRIND_MAX_EVENTS: there is none. */
size_t callgrind_events_find(const struct callgrind_events *events, const char *name, size_t size);

/* Returns the column by which costs are compared: instructions, else the first one. */
size_t callgrind_events_main(const struct callgrind_events *events);

/* Gives the profile the value types of the events, and its period. */
COMMON_MUST_CHECK
bool callgrind_events_add_types(struct callgrind_events *events, struct profile *profile, struct error *err);

/* Makes the values of the profile's types from a line's columns. */
void callgrind_events_values(
	const struct callgrind_events *events, const struct profile *profile, const int64_t *columns, int64_t *values);

/* ---- Functions, lines, calls ---- */

/* A function in one of its contexts, in a thread of the profile. */
struct callgrind_vertex {
	uint32_t path, object, file, thread;
	bool is_described;                  /* by a line `fn=`, not only by calls */
	uint32_t first_record, last_record; /* PROFILE_NONE: no cost of its own */
	int64_t self;                       /* of the main column */
};

/* The cost of one line of a vertex. */
struct callgrind_record {
	uint32_t vertex, file, line, next;
	uint32_t location; /* of the profile; PROFILE_NONE: not made yet */
};

struct callgrind_edge {
	uint32_t caller, callee;
	uint32_t file, line; /* of the call; line 0 where there are calls from several lines */
	int64_t inclusive;   /* of the main column */
};

struct callgrind_table {
	struct hash_map vertex_map, record_map, edge_map;
	struct callgrind_vertex *vertices; /* owned, as all arrays here */
	struct callgrind_record *records;
	struct callgrind_edge *edges;
	int64_t *columns; /* [record * column_count + column] */
	size_t vertex_count, vertex_capacity, record_count, record_capacity, edge_count, edge_capacity, cell_capacity;
	size_t column_count, main_column;
};

void callgrind_table_init(struct callgrind_table *table);
void callgrind_table_deinit(struct callgrind_table *table);

COMMON_MUST_CHECK
bool callgrind_table_vertex(
	struct callgrind_table *table, const struct callgrind_vertex *vertex, uint32_t *id, struct error *err);

/* Adds a cost; `record`: without `next` and `location`. */
COMMON_MUST_CHECK
bool callgrind_table_cost(struct callgrind_table *table, const struct callgrind_record *record, const int64_t *columns,
	struct error *err);
/*
 * Joins functions that only calls name with the function of that name and file, where there is one only: callgrind
 * names the object of a call, pprof and others do not.
 */
COMMON_MUST_CHECK
bool callgrind_table_join(struct callgrind_table *table, struct error *err);
COMMON_MUST_CHECK
bool callgrind_table_call(struct callgrind_table *table, const struct callgrind_edge *edge, struct error *err);

/* ---- Shares of callers ---- */

/*
 * Functions that call each other in a circle are one component; every other function is a component of its own.
 * Components form a graph without circles.
 */
struct callgrind_graph {
	uint32_t *components;  /* [vertex] */
	uint32_t *first_edges; /* [vertex], and one more: its calls in `edges`, the dearest first */
	uint32_t *edges;       /* edges of the table */
	uint32_t *sizes;       /* [component] its vertices */
	uint32_t *entries;     /* [component] its first vertex */
	double *weights;       /* [component] with all that it calls */
	double *incoming;      /* [component] inclusive costs of the calls from outside */
	uint32_t *callers;     /* [component] calls from outside */
	double *spontaneous;   /* [component] share of its cost that no caller accounts for */
	size_t component_count;
	double total;
};

COMMON_MUST_CHECK
bool callgrind_graph_create(const struct callgrind_table *table, struct callgrind_graph *graph, struct error *err);
void callgrind_graph_deinit(struct callgrind_graph *graph);

/* Returns the share of the called component's cost that belongs to this call, by the rule of gprof. */
double callgrind_graph_share(const struct callgrind_graph *graph, const struct callgrind_edge *edge);

/* ---- Stacks ---- */

/*
 * Adds stacks and samples of the table's costs to the profile, exactly all of them: where the calls have one way only
 * to a function, its own stack; else its cost is shared among its callers, and so on down. Shares that are too small to
 * be followed stand below one frame, `[other callers]`. `*estimated`: the part of all (0 to 1) that was shared.
 */
COMMON_MUST_CHECK
bool callgrind_tree_add(struct callgrind_table *table, const struct callgrind_names *names,
	const struct callgrind_events *events, struct profile *profile, double *estimated, struct error *err);

/* ---- The file ---- */

/*
 * Reads a file of callgrind or cachegrind, of which memory holds the functions, their lines and their calls, but never
 * the text. Value types are those of `kelvin simulate` (profile/cost_model.h), as far as the file has them, then its
 * other events; value 0 is 0, since nothing was sampled. The fact call_graph tells what the stacks are: "exact" where
 * every function has one context, as with --separate-callers; PROFILE_CALL_GRAPH_ESTIMATED where costs were shared
 * among callers; "none" for cachegrind. Notes tell that names or the end are missing, and which events are left out
 * because they have numbers below 0, as Xdebug's memory; by the first event, stacks are shared out, so it must have
 * none.
 */
COMMON_MUST_CHECK
bool callgrind_read(const struct text_source *text, bool is_cachegrind, const char *name, struct profile **profile,
	struct error *err);
