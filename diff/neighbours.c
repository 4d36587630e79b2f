/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds who calls some functions, and what they call: samples become groups by their caller and by their callee, and a
 * diff of these groups tests each as it tests functions.
 */
#include "diff/neighbours.h"
#include "diff/build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stands in place of a function: of callers, the thread begins there; of callees, the functions themselves. */
static const uint32_t no_function = PROFILE_NONE;

enum { NAME_BYTES = 12 };

/* The state of a node, from the frames between the root and it. */
struct neighbours_place {
	bool is_below;     /* it is of a function that is meant, or below one */
	bool is_beside;    /* and its time is that of an interrupt there, which is in no total */
	bool is_interrupt; /* the outermost such frame is one of an interrupt itself */
	uint32_t caller, callee;
};

struct neighbourhood {
	const struct diff *diff;
	const struct profile *const *profiles;
	const bool *meant;
	struct neighbours_place *places; /* owned: [node] */
	char (*texts)[NAME_BYTES];
	const char **names; /* owned: [function, and no function behind them] */
};

static void neighbourhood_deinit(struct neighbourhood *n)
{
	free(n->places);
	free(n->texts);
	free(n->names);
}

static void neighbourhood_init(struct neighbourhood *n)
{
	size_t groups = n->diff->function_count + 1;

	n->places = memory_zeroed(n->diff->node_count + 1, sizeof(*n->places));
	n->texts = memory_zeroed(groups, sizeof(*n->texts));
	n->names = memory_zeroed(groups, sizeof(*n->names));
	for (size_t i = 0; i < groups; i++) {
		snprintf(n->texts[i], NAME_BYTES, "%zu", i);
		n->names[i] = n->texts[i];
	}
}

/* Each stack counts once: for the caller of the outermost frame that is meant, and for what the innermost one calls. */
static void neighbours_find_places(struct neighbourhood *n)
{
	const struct diff *diff = n->diff;

	for (uint32_t i = 1; i < diff->node_count; i++) {
		const struct diff_node *node = &diff->nodes[i];
		const struct neighbours_place *above = &n->places[node->parent];
		struct neighbours_place *place = &n->places[i];
		bool is_interrupt = node->flags & DIFF_NODE_INTERRUPT;

		*place = *above;
		if (n->meant[node->function]) {
			if (!above->is_below) {
				place->caller = node->parent == 0 ? no_function : diff->nodes[node->parent].function;
				place->is_interrupt = is_interrupt;
			}
			place->is_below = true;
			place->callee = no_function;
		} else if (above->is_below && above->callee == no_function) {
			place->callee = node->function;
		}
		place->is_beside = place->is_below && is_interrupt && !place->is_interrupt;
	}
}

/* Makes the profile of a side whose functions are the callers, or the callees; NULL: it has none. */
static bool neighbours_regroup_side(const struct neighbourhood *n, enum diff_side side, bool is_callees,
	struct profile **regrouped, struct error *err)
{
	const struct profile *profile = n->profiles[side];
	size_t none = n->diff->function_count;
	CLEANUP(cleanup_free) uint32_t *first = memory_zeroed(profile->sample_count + 1, sizeof(*first));
	CLEANUP(cleanup_free) uint32_t *groups = memory_zeroed(profile->sample_count + 1, sizeof(*groups));
	CLEANUP(cleanup_free) bool *left_out = memory_zeroed(profile->sample_count + 1, sizeof(*left_out));

	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct neighbours_place *place = &n->places[n->diff->sample_nodes[side][i]];
		uint32_t neighbour = is_callees ? place->callee : place->caller;

		left_out[i] = !place->is_below || place->is_beside;
		groups[first[i]] = neighbour == no_function ? (uint32_t)none : neighbour;
		first[i + 1] = first[i] + !left_out[i];
	}
	return profile_regroup(profile,
		&(struct profile_regrouping){
			.names = n->names,
			.group_count = none + 1,
			.first = first,
			.groups = groups,
			.rest = n->names[none],
			.left_out = left_out,
		},
		regrouped, err);
}

/* The greatest first. */
static int compare_neighbours(const void *left, const void *right)
{
	const struct diff_neighbour *a = left, *b = right;
	double one = fmax(a->time.base, a->time.head), other = fmax(b->time.base, b->time.head);

	return one != other ? ORDER(other, one) : ORDER(a->function, b->function);
}

static void take_rows(const struct neighbourhood *n, const struct diff *rows, struct diff_neighbour_list *list)
{
	list->rows = memory_zeroed(rows->function_count + 1, sizeof(*list->rows));
	for (size_t i = 0; i < rows->function_count; i++) {
		const struct diff_function *f = &rows->functions[i];
		size_t group = strtoul(diff_string(rows, f->name), NULL, 10);

		/* The frames of waits lie below the groups. */
		if (strcmp(diff_string(rows, f->module), PROFILE_GROUP_MODULE) != 0 ||
			!(f->raw_total[DIFF_BASE] > 0 || f->raw_total[DIFF_HEAD] > 0))
			continue;
		list->rows[list->count++] = (struct diff_neighbour){
			.function = group < n->diff->function_count ? (uint32_t)group : no_function,
			.raw = { f->raw_total[DIFF_BASE], f->raw_total[DIFF_HEAD] },
			.time = f->total,
		};
	}
	qsort(list->rows, list->count, sizeof(*list->rows), compare_neighbours);
}

static bool neighbours_compare_sides(
	const struct neighbourhood *n, struct profile *const sides[DIFF_SIDES], struct diff **rows, struct error *err)
{
	const struct diff_options options = { .metric = diff_string(n->diff, n->diff->metric), .like = n->diff };

	return n->diff->sides == DIFF_SIDES ? diff_create(sides[DIFF_BASE], sides[DIFF_HEAD], &options, rows, err)
					    : diff_create_single(sides[DIFF_HEAD], &options, rows, err);
}

static bool neighbours_collect(
	const struct neighbourhood *n, bool is_callees, struct diff_neighbour_list *list, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *base = NULL;
	CLEANUP(profile_cleanup) struct profile *head = NULL;
	CLEANUP(diff_cleanup) struct diff *rows = NULL;
	struct error why;

	if ((n->profiles[DIFF_BASE] && !neighbours_regroup_side(n, DIFF_BASE, is_callees, &base, err)) ||
		!neighbours_regroup_side(n, DIFF_HEAD, is_callees, &head, err))
		return false;
	if (!neighbours_compare_sides(n, (struct profile *[]){ base, head }, &rows, &why)) {
		*err = why;
		/* Functions that were met in interrupts alone have no time of the program's. */
		return why.code == ERROR_EMPTY;
	}
	take_rows(n, rows, list);
	return true;
}

bool diff_neighbours_create(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES],
	const bool *meant, struct diff_neighbours **neighbours, struct error *err)
{
	CLEANUP(neighbourhood_deinit)
	struct neighbourhood n = { .diff = diff, .profiles = profiles, .meant = meant };
	CLEANUP(diff_neighbours_cleanup) struct diff_neighbours *made = memory_zeroed(1, sizeof(*made));

	neighbourhood_init(&n);
	neighbours_find_places(&n);
	if (!neighbours_collect(&n, false, &made->callers, err) || !neighbours_collect(&n, true, &made->callees, err))
		return false;
	for (size_t i = 0; i < made->callers.count; i++) {
		made->base += made->callers.rows[i].time.base;
		made->head += made->callers.rows[i].time.head;
	}
	*neighbours = TAKE(made);
	return true;
}

void diff_neighbours_destroy(struct diff_neighbours *neighbours)
{
	if (!neighbours)
		return;
	free(neighbours->callers.rows);
	free(neighbours->callees.rows);
	free(neighbours);
}
