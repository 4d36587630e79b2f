/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Divides the costs of functions among their callers. The model is that of gprof (Graham, Kessler, McKusick 1982): a
 * function costs the same whoever calls it, so that a caller's share of it is the caller's share of the inclusive costs
 * of all calls. Functions that call each other in a circle share one cost.
 */
#include "profile/foreign/callgrind/callgrind.h"

#include <stdlib.h>
#include <string.h>

/* Inclusive costs and self costs agree to this share; what is left over is noise of the measurement. */
static const double graph_noise = 0.01;

void callgrind_graph_deinit(struct callgrind_graph *graph)
{
	free(graph->components);
	free(graph->first_edges);
	free(graph->edges);
	free(graph->sizes);
	free(graph->entries);
	free(graph->weights);
	free(graph->incoming);
	free(graph->callers);
	free(graph->spontaneous);
}

static bool graph_allocate(struct callgrind_graph *graph, size_t vertices, size_t edges, struct error *err)
{
	*graph = (struct callgrind_graph){
		.components = calloc(vertices + 1, sizeof(*graph->components)),
		.first_edges = calloc(vertices + 2, sizeof(*graph->first_edges)),
		.edges = calloc(edges + 1, sizeof(*graph->edges)),
		.sizes = calloc(vertices + 1, sizeof(*graph->sizes)),
		.entries = calloc(vertices + 1, sizeof(*graph->entries)),
		.weights = calloc(vertices + 1, sizeof(*graph->weights)),
		.incoming = calloc(vertices + 1, sizeof(*graph->incoming)),
		.callers = calloc(vertices + 1, sizeof(*graph->callers)),
		.spontaneous = calloc(vertices + 1, sizeof(*graph->spontaneous)),
	};
	if (graph->components && graph->first_edges && graph->edges && graph->sizes && graph->entries &&
		graph->weights && graph->incoming && graph->callers && graph->spontaneous)
		return true;
	callgrind_graph_deinit(graph);
	*graph = (struct callgrind_graph){ 0 };
	return error_set_memory(err);
}

/* Sorts by caller, then the dearest call first, then as in the file. */
static int edge_compare(const void *a, const void *b, void *context)
{
	const struct callgrind_edge *edges = context;
	uint32_t left_id = *(const uint32_t *)a, right_id = *(const uint32_t *)b;
	const struct callgrind_edge *left = &edges[left_id], *right = &edges[right_id];

	if (left->caller != right->caller)
		return left->caller < right->caller ? -1 : 1;
	return left->inclusive != right->inclusive ? ORDER(right->inclusive, left->inclusive)
						   : ORDER(left_id, right_id);
}

static void graph_sort_edges(const struct callgrind_table *table, struct callgrind_graph *graph)
{
	for (uint32_t i = 0; i < table->edge_count; i++) {
		graph->edges[i] = i;
		graph->first_edges[table->edges[i].caller + 1]++;
	}
	for (size_t i = 0; i < table->vertex_count; i++)
		graph->first_edges[i + 1] += graph->first_edges[i];
	if (table->edge_count)
		qsort_r(graph->edges, table->edge_count, sizeof(*graph->edges), edge_compare, table->edges);
}

/* ---- Components ---- */

/* Tarjan's algorithm (1972) with a stack of its own: chains of calls are longer than ours may be. */
struct tarjan {
	uint32_t *indexes; /* [vertex] order of discovery, from 1 on; 0: not met */
	uint32_t *lows;    /* [vertex] the earliest vertex on the stack that it reaches */
	uint32_t *next;    /* [vertex] the next of its edges */
	uint32_t *open;    /* vertices without a component */
	uint32_t *walk;    /* vertices from the start to the current one */
	size_t open_count, walk_count;
	uint32_t met;
};

static void tarjan_deinit(struct tarjan *t)
{
	free(t->indexes);
	free(t->lows);
	free(t->next);
	free(t->open);
	free(t->walk);
}

static bool tarjan_init(struct tarjan *t, size_t vertices, struct error *err)
{
	*t = (struct tarjan){
		.indexes = calloc(vertices + 1, sizeof(uint32_t)),
		.lows = calloc(vertices + 1, sizeof(uint32_t)),
		.next = calloc(vertices + 1, sizeof(uint32_t)),
		.open = calloc(vertices + 1, sizeof(uint32_t)),
		.walk = calloc(vertices + 1, sizeof(uint32_t)),
	};
	return (t->indexes && t->lows && t->next && t->open && t->walk) || error_set_memory(err);
}

static void tarjan_meet(struct tarjan *t, const struct callgrind_graph *graph, uint32_t vertex)
{
	t->indexes[vertex] = t->lows[vertex] = ++t->met;
	t->next[vertex] = graph->first_edges[vertex];
	t->open[t->open_count++] = vertex;
	t->walk[t->walk_count++] = vertex;
}

static void tarjan_close(struct tarjan *t, struct callgrind_graph *graph, uint32_t vertex)
{
	uint32_t component = (uint32_t)graph->component_count++, member;

	graph->entries[component] = vertex;
	do {
		member = t->open[--t->open_count];
		graph->components[member] = component;
		graph->sizes[component]++;
		if (member < graph->entries[component])
			graph->entries[component] = member;
	} while (member != vertex);
}

static void tarjan_step(struct tarjan *t, const struct callgrind_table *table, struct callgrind_graph *graph)
{
	uint32_t vertex = t->walk[t->walk_count - 1];

	if (t->next[vertex] < graph->first_edges[vertex + 1]) {
		uint32_t callee = table->edges[graph->edges[t->next[vertex]++]].callee;

		if (t->indexes[callee] == 0)
			tarjan_meet(t, graph, callee);
		else if (graph->components[callee] == PROFILE_NONE && t->indexes[callee] < t->lows[vertex])
			t->lows[vertex] = t->indexes[callee];
		return;
	}
	t->walk_count--;
	if (t->lows[vertex] == t->indexes[vertex])
		tarjan_close(t, graph, vertex);
	if (t->walk_count > 0) {
		uint32_t caller = t->walk[t->walk_count - 1];

		t->lows[caller] = t->lows[vertex] < t->lows[caller] ? t->lows[vertex] : t->lows[caller];
	}
}

static bool graph_find_components(const struct callgrind_table *table, struct callgrind_graph *graph, struct error *err)
{
	CLEANUP(tarjan_deinit) struct tarjan t;

	if (!tarjan_init(&t, table->vertex_count, err))
		return false;
	memset(graph->components, 0xff, table->vertex_count * sizeof(*graph->components));
	for (uint32_t vertex = 0; vertex < table->vertex_count; vertex++) {
		if (t.indexes[vertex] == 0)
			tarjan_meet(&t, graph, vertex);
		while (t.walk_count > 0)
			tarjan_step(&t, table, graph);
	}
	return true;
}

/* ---- Weights ---- */

static void graph_weigh(const struct callgrind_table *table, struct callgrind_graph *graph)
{
	for (size_t i = 0; i < table->vertex_count; i++) {
		graph->weights[graph->components[i]] += (double)table->vertices[i].self;
		graph->total += (double)table->vertices[i].self;
	}
	for (size_t i = 0; i < table->edge_count; i++) {
		const struct callgrind_edge *edge = &table->edges[i];
		uint32_t caller = graph->components[edge->caller], callee = graph->components[edge->callee];

		if (caller == callee)
			continue;
		graph->weights[caller] += (double)edge->inclusive;
		graph->incoming[callee] += (double)edge->inclusive;
		graph->callers[callee]++;
	}
	for (size_t i = 0; i < graph->component_count; i++) {
		double rest = graph->weights[i] - graph->incoming[i];

		if (graph->callers[i] == 0)
			graph->spontaneous[i] = 1;
		else if (graph->incoming[i] > 0 && rest > graph_noise * graph->weights[i])
			graph->spontaneous[i] = rest / graph->weights[i];
	}
}

bool callgrind_graph_create(const struct callgrind_table *table, struct callgrind_graph *graph, struct error *err)
{
	if (!graph_allocate(graph, table->vertex_count, table->edge_count, err))
		return false;
	graph_sort_edges(table, graph);
	if (!graph_find_components(table, graph, err)) {
		callgrind_graph_deinit(graph);
		*graph = (struct callgrind_graph){ 0 };
		return false;
	}
	graph_weigh(table, graph);
	return true;
}

double callgrind_graph_share(const struct callgrind_graph *graph, const struct callgrind_edge *edge)
{
	uint32_t callee = graph->components[edge->callee];
	double called = 1 - graph->spontaneous[callee];

	if (graph->incoming[callee] > 0)
		return called * (double)edge->inclusive / graph->incoming[callee];
	return called / graph->callers[callee];
}
