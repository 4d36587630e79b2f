/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/routes/table_nodes.h"

/* Which values of a segment are a vocabulary of the program: routes_finish() has the model. */
enum { FEW_VALUES = 20, REQUESTS_PER_NEW_VALUE = 50 };

static void merge_places(struct routes *routes, uint32_t into, uint32_t from);

/* Gives a place a child, which may have to be merged with one that is there. */
static void adopt_place(struct routes *routes, uint32_t parent, uint32_t child)
{
	const struct place *adopted = &routes->places[child];
	uint32_t same = !adopted->is_verb && routes->places[parent].joined
				? routes->places[parent].joined
				: places_find(routes, parent, adopted->text, adopted->is_verb);

	if (same)
		merge_places(routes, same, child);
	else
		places_link(routes, parent, child);
}

/* The recursion goes no deeper than a path has segments, for a child is merged with one at its own depth. */
static void merge_places(struct routes *routes, uint32_t into, uint32_t from)
{
	struct place *merged = &routes->places[from];
	uint32_t child = merged->first;

	routes->places[into].requests += merged->requests;
	if (!routes->places[into].protocol)
		routes->places[into].protocol = merged->protocol;
	merged->merged_into = into;
	merged->first = 0;
	/* What one side has joined already is variable on both. */
	if (merged->joined && !routes->places[into].joined)
		places_join(routes, into);
	while (child) {
		uint32_t next = routes->places[child].next;

		adopt_place(routes, into, child);
		child = next;
	}
}

void places_join(struct routes *routes, uint32_t place)
{
	uint32_t text = string_table_enter(routes->texts, PLACE_ANY, strlen(PLACE_ANY));
	uint32_t any = places_find(routes, place, text, false);
	uint32_t child = routes->places[place].first;

	if (routes->places[place].joined)
		return;
	if (!any && (any = places_add(routes, text, false, true)))
		places_link(routes, place, any);
	if (!any)
		return;
	routes->places[place].joined = any;
	routes->places[place].first = 0;
	routes->places[place].values = 1;
	routes->places[any].next = 0;
	while (child) {
		uint32_t next = routes->places[child].next;

		if (routes->places[child].is_verb) {
			routes->places[child].next = routes->places[place].first;
			routes->places[place].first = child;
		} else if (child != any) {
			merge_places(routes, any, child);
		}
		child = next;
	}
	routes->places[any].next = routes->places[place].first;
	routes->places[place].first = any;
}

static uint64_t sum_requests(struct routes *routes, uint32_t place)
{
	uint64_t sum = routes->places[place].requests;

	for (uint32_t child = routes->places[place].first; child; child = routes->places[child].next)
		sum += sum_requests(routes, child);
	routes->places[place].requests = sum;
	return sum;
}

static bool is_vocabulary(const struct routes *routes, uint32_t place)
{
	uint64_t requests = 0, once = 0;

	if (routes->places[place].values <= FEW_VALUES)
		return true;
	for (uint32_t child = routes->places[place].first; child; child = routes->places[child].next) {
		if (routes->places[child].is_verb)
			continue;
		requests += routes->places[child].requests;
		once += routes->places[child].requests == 1;
	}
	return once * REQUESTS_PER_NEW_VALUE <= requests;
}

/* A place is joined before those below it, which then have the values of all that were merged. */
static void join_below(struct routes *routes, uint32_t place)
{
	if (!is_vocabulary(routes, place))
		places_join(routes, place);
	for (uint32_t child = routes->places[place].first; child; child = routes->places[child].next)
		join_below(routes, child);
}

void places_join_variable(struct routes *routes)
{
	static const uint32_t roots[] = { PLACE_PATHS, PLACE_TABLES };

	for (size_t i = 0; i < sizeof(roots) / sizeof(*roots); i++) {
		sum_requests(routes, roots[i]);
		join_below(routes, roots[i]);
	}
}
