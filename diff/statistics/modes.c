/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/modes.h"

#include "diff/statistics/floor.h"
#include "diff/statistics/mix.h"

#include <math.h>
#include <string.h>

/* A function of the run time stands in for compiled code if this part of its time is in calls from such code. */
static const double most = 0.5;

/* Chance hides this part of the time of another function that decisions may have moved from there. */
static const double hidden = 0.1;

/* A function with this part of the program's time on both sides is what it runs in. */
static const double nearly_whole = 0.8;

/* Nodes above and below the functions in question that are looked at in all; beyond it no row has a bound. */
static const uint64_t visits_per_node = 200, least_visits = 20000000;

struct modes {
	const struct diff_build *build;
	double *all, *called;    /* [function] time of both sides, in all and where compiled code calls it; owned */
	bool *is_below;          /* [node] whether an ancestor is compiled; owned */
	uint32_t *first;         /* [function] its first node; PROFILE_NONE: it has none; owned */
	uint32_t *next;          /* [node] the next node of the same function; owned */
	uint32_t *above, *below; /* [function] the last search that met it above or below its function; owned */
	uint32_t search;
	uint32_t *met;  /* functions that this search met below; owned */
	double *inside; /* [function] time of calls by compiled code below; owned */
	size_t met_count;
	uint64_t visits;
	double nameless_self, nameless_total; /* how much more of both compiled code without names has in head */
	enum profile_language language;
};

static void modes_deinit(struct modes *m)
{
	free(m->all);
	free(m->called);
	free(m->is_below);
	free(m->first);
	free(m->next);
	free(m->above);
	free(m->below);
	free(m->met);
	free(m->inside);
}

/* Returns whether a function is compiled at run time, but nobody knows its name. */
static bool is_nameless(const struct diff *diff, uint32_t function)
{
	const struct diff_function *f = &diff->functions[function];

	return f->name_source == PROFILE_NAME_NONE && !f->interrupt &&
	       profile_is_made_at_run_time(diff_string(diff, f->module));
}

static bool is_compiled(const struct diff *diff, uint32_t function)
{
	return build_is_compiled_at_run_time(&diff->functions[function]) || is_nameless(diff, function);
}

static bool is_node_compiled(const struct diff *diff, uint32_t node)
{
	return node > 0 && is_compiled(diff, diff->nodes[node].function);
}

/* Returns how much more total time a node has in head, scaled. */
static double modes_node_delta(const struct diff *diff, uint32_t node)
{
	return diff->node_total[DIFF_HEAD][node] * diff->scale.factor - diff->node_total[DIFF_BASE][node];
}

/* Adds a node to what is known of its function. Parents come before their children. */
static void modes_add_node(struct modes *m, uint32_t node)
{
	const struct diff *diff = m->build->diff;
	uint32_t function = diff->nodes[node].function, parent = diff->nodes[node].parent;
	double time = diff->node_total[DIFF_BASE][node] + diff->node_total[DIFF_HEAD][node] * diff->scale.factor;

	m->is_below[node] = m->is_below[parent] || is_node_compiled(diff, parent);
	m->all[function] += time;
	m->called[function] += is_node_compiled(diff, parent) ? time : 0;
	m->next[node] = m->first[function];
	m->first[function] = node;
}

static void modes_init(struct modes *m, const struct diff_build *build)
{
	size_t functions = build->diff->function_count + 1, nodes = build->diff->node_count + 1;

	m->build = build;
	m->language = floor_language(build->diff);
	m->all = memory_zeroed(functions, sizeof(*m->all));
	m->called = memory_zeroed(functions, sizeof(*m->called));
	m->is_below = memory_zeroed(nodes, sizeof(*m->is_below));
	m->first = memory_zeroed(functions, sizeof(*m->first));
	m->next = memory_zeroed(nodes, sizeof(*m->next));
	m->above = memory_zeroed(functions, sizeof(*m->above));
	m->below = memory_zeroed(functions, sizeof(*m->below));
	m->met = memory_zeroed(functions, sizeof(*m->met));
	m->inside = memory_zeroed(functions, sizeof(*m->inside));
	memset(m->first, 0xff, functions * sizeof(*m->first));
	for (uint32_t node = 1; node < build->diff->node_count; node++)
		modes_add_node(m, node);
	for (uint32_t i = 0; i < build->diff->function_count; i++) {
		if (!is_nameless(build->diff, i))
			continue;
		m->nameless_self += build->diff->functions[i].self.delta;
		m->nameless_total += build->diff->functions[i].total.delta;
	}
}

/* Returns whether a function of the run time runs mostly on behalf of compiled code, or before there is some. */
static bool stands_in(const struct modes *m, uint32_t function)
{
	const struct diff_function *f = &m->build->diff->functions[function];

	return f->interprets != PROFILE_LANGUAGE_NATIVE ||
	       (profile_language_of_module(diff_string(m->build->diff, f->module)) == m->language &&
		       m->called[function] > most * m->all[function]);
}

static bool goes_by_tier(const struct modes *m, uint32_t function)
{
	return is_compiled(m->build->diff, function) || stands_in(m, function);
}

/* ---- How much may have moved ---- */

/* Marks a function as one of a set of the present search. Returns whether it is new there. */
static bool modes_add_to(uint32_t *set, uint32_t search, uint32_t function)
{
	bool is_new = set[function] != search;

	set[function] = search;
	return is_new;
}

/*
 * Returns the self time that a function has more or less, opposite to `delta`, if decisions of the compiler may have
 * moved it.
 */
static double opposite_self(const struct modes *m, uint32_t function, double delta)
{
	const struct diff_estimate *own = &m->build->diff->functions[function].self;

	if (!goes_by_tier(m, function))
		return 0;
	return (own->delta * delta < 0 ? fabs(own->delta) : 0) + hidden * fmax(own->base, own->head);
}

/* Sums up what the functions above have, and makes them the set `above`. */
static double opposite_above(struct modes *m, uint32_t function, double delta)
{
	const struct diff *diff = m->build->diff;
	double sum = 0;

	for (uint32_t top = m->first[function]; top != PROFILE_NONE; top = m->next[top])
		for (uint32_t n = diff->nodes[top].parent; n != 0; n = diff->nodes[n].parent, m->visits++)
			if (diff->nodes[n].function != function &&
				modes_add_to(m->above, m->search, diff->nodes[n].function))
				sum += opposite_self(m, diff->nodes[n].function, delta);
	return sum;
}

/*
 * Returns what the functions above call directly more or less of a function that also runs below: that is where its
 * calls go if what is between them is inlined.
 */
static double opposite_calls(struct modes *m, uint32_t function, double delta)
{
	const struct diff *diff = m->build->diff;
	double base = 0, head = 0;

	for (uint32_t n = m->first[function]; n != PROFILE_NONE; n = m->next[n], m->visits++) {
		uint32_t parent = diff->nodes[n].parent;

		if (parent == 0 || m->above[diff->nodes[parent].function] != m->search)
			continue;
		base += diff->node_total[DIFF_BASE][n];
		head += diff->node_total[DIFF_HEAD][n] * diff->scale.factor;
	}
	return (head - base) * delta < 0 ? fabs(head - base) : 0;
}

/* Makes the functions below the set `below`, and sums up how much compiled code calls each of them there. */
static void list_below(struct modes *m, uint32_t function)
{
	const struct diff *diff = m->build->diff;

	m->met_count = 0;
	for (uint32_t top = m->first[function]; top != PROFILE_NONE; top = m->next[top]) {
		uint32_t end = m->build->topmost[top] ? diff->nodes[top].subtree_end : top;

		for (uint32_t n = top + 1; n < end; n++, m->visits++) {
			uint32_t below = diff->nodes[n].function;

			if (below == function)
				continue;
			if (modes_add_to(m->below, m->search, below)) {
				m->met[m->met_count++] = below;
				m->inside[below] = 0;
			}
			if (is_node_compiled(diff, diff->nodes[n].parent))
				m->inside[below] += fmax(diff->node_total[DIFF_BASE][n],
					diff->node_total[DIFF_HEAD][n] * diff->scale.factor);
		}
	}
}

/*
 * Sums up what the functions below have: their self time, or to a total, which includes that, the calls that do not
 * pass through the function in question, as far as such calls do.
 */
static double opposite_below(struct modes *m, uint32_t function, double delta, bool of_total)
{
	double sum = 0;

	list_below(m, function);
	for (size_t i = 0; i < m->met_count; i++)
		sum += of_total ? fmin(opposite_calls(m, m->met[i], delta), m->inside[m->met[i]])
				: opposite_self(m, m->met[i], delta);
	return sum;
}

/* Returns what code without names has: which frames have none is also decided anew in every process. */
static double opposite_nameless(const struct modes *m, double delta, bool of_total)
{
	double change = of_total ? m->nameless_total : m->nameless_self;

	return change * delta < 0 ? fabs(change) : 0;
}

static double shift_of_function(struct modes *m, uint32_t function, double delta, bool of_total)
{
	double above, below;

	m->search++;
	above = opposite_above(m, function, delta);
	below = opposite_below(m, function, delta, of_total);
	return fmin(above + below + opposite_nameless(m, delta, of_total), fabs(delta));
}

/* Returns what the function of a node has more or less at its other nodes, opposite to `delta`. */
static double opposite_nodes(struct modes *m, uint32_t node, double delta)
{
	const struct diff *diff = m->build->diff;
	double sum = 0;

	for (uint32_t n = m->first[diff->nodes[node].function]; n != PROFILE_NONE; n = m->next[n], m->visits++) {
		double other = modes_node_delta(diff, n);

		sum += other * delta < 0 ? fabs(other) : 0;
	}
	return sum;
}

static double shift_of(struct modes *m, const struct row *row)
{
	const struct diff *diff = m->build->diff;
	double delta;

	switch (row->kind) {
	case ROW_WHOLE:
		return 0;
	case ROW_SELF:
		return shift_of_function(m, row->id, diff->functions[row->id].self.delta, false);
	case ROW_TOTAL:
		return shift_of_function(m, row->id, diff->functions[row->id].total.delta, true);
	case ROW_NODE:
		delta = modes_node_delta(diff, row->id);
		return shift_of_function(m, diff->nodes[row->id].function, delta, true) +
		       opposite_nodes(m, row->id, delta);
	}
	return INFINITY;
}

/*
 * Returns whether a function is what the whole program runs in: it changes as the whole does, which is tested as such.
 */
static bool is_nearly_whole(const struct diff *diff, uint32_t function)
{
	const struct diff_estimate *total = &diff->functions[function].total, *whole = &build_whole(diff)->total;

	return total->base >= nearly_whole * whole->base && total->head >= nearly_whole * whole->head;
}

static void mark_row(struct modes *m, struct row *row, uint64_t max_visits)
{
	const struct diff *diff = m->build->diff;
	uint32_t function = row->kind == ROW_NODE ? diff->nodes[row->id].function : row->id;

	if (row->kind == ROW_WHOLE)
		return;
	if (row->mix) {
		row->by_tier = mix_is_by_tier(row->mix) && !is_nearly_whole(diff, function);
		row->shift = row->by_tier ? INFINITY : 0;
		return;
	}
	row->by_tier = goes_by_tier(m, function) || (row->kind == ROW_NODE && m->is_below[row->id]);
	row->shift = build_is_compiled_at_run_time(&diff->functions[function]) && !is_nearly_whole(diff, function) &&
				     m->visits < max_visits
			     ? shift_of(m, row)
			     : INFINITY;
}

void modes_mark_rows(const struct diff_build *build, struct experiment *experiment)
{
	CLEANUP(modes_deinit) struct modes modes = { 0 };
	uint64_t max_visits = least_visits + visits_per_node * build->diff->node_count;

	if (!floor_is_compiled_at_run_time(floor_language(build->diff)))
		return;
	modes_init(&modes, build);
	for (uint32_t i = 0; i < build->diff->function_count; i++)
		build->diff->functions[i].by_tier = goes_by_tier(&modes, i);
	for (size_t i = 0; i < experiment->row_count; i++)
		mark_row(&modes, &experiment->rows[i], max_visits);
}

struct row_result modes_without_shift(struct row_result result, double shift)
{
	if (result.head > result.base)
		result.head = fmax(result.head - shift, result.base);
	else
		result.base = fmax(result.base - shift, result.head);
	return result;
}
