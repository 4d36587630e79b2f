/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/changes.h"

#include "diff/constants.h"
#include "diff/verdict/explained.h"
#include "diff/wait_sites.h"

#include <math.h>
#include <string.h>

/* A function's difference, and its links to others. */
struct proven_function {
	enum proven_way way; /* PROVEN_NEITHER: nothing is proven of it */
	enum explained_kind kind;
	bool is_self;              /* its difference is that of its self time alone */
	double size;               /* |difference| */
	double depth;              /* mean depth of its places, by their differences */
	double below_listed;       /* what of its difference is below functions of the user and of libraries */
	uint32_t first_place;      /* its places: the first, then those of next_place; 0: none */
	uint32_t outer, inner;     /* the functions of the same difference above and below it; PROFILE_NONE */
	double at_inner;           /* what `inner` has of its difference */
	uint32_t caller;           /* the user's function that nearly all of it is called from; PROFILE_NONE */
	double sum, sum_of_depths; /* of what is added up for one function at a time */
	bool is_touched;
	uint32_t change; /* the change that it is the innermost function of; PROFILE_NONE */
};

struct changes {
	struct diff_build *build;
	struct diff *diff;
	struct proven_function *functions; /* [function] owned */
	uint32_t *next_place;              /* [node] of the same function; owned */
	uint32_t *up;      /* [node] the nearest node above it of whose function something is proven; owned */
	uint32_t *user;    /* [node] the innermost function of the user's code at or above it; owned */
	uint32_t *touched; /* functions whose sums are not 0; owned */
	size_t touched_count;
};

static void changes_deinit(struct changes *c)
{
	free(c->functions);
	free(c->next_place);
	free(c->up);
	free(c->user);
	free(c->touched);
}

static void changes_init(struct changes *c)
{
	size_t functions = c->diff->function_count + 1, nodes = c->diff->node_count + 1;

	c->functions = memory_zeroed(functions, sizeof(*c->functions));
	c->next_place = memory_zeroed(nodes, sizeof(*c->next_place));
	c->up = memory_zeroed(nodes, sizeof(*c->up));
	c->user = memory_zeroed(nodes, sizeof(*c->user));
	c->touched = memory_zeroed(functions, sizeof(*c->touched));
	free(c->diff->changes);
	free(c->diff->change_functions);
	c->diff->change_count = 0;
	c->diff->changes = memory_zeroed(functions, sizeof(*c->diff->changes));
	c->diff->change_functions = memory_zeroed(functions, sizeof(*c->diff->change_functions));
}

/* ---- What is proven of functions, and where it is ---- */

static void choose_difference(struct changes *c, uint32_t function, bool is_interpreter)
{
	const struct diff_function *f = &c->diff->functions[function];
	struct proven_function *p = &c->functions[function];
	bool is_of_others = is_interpreter || explained_is_whole(c->diff, &f->total);
	enum proven_way self = proven_way_of(f->self.state), total = proven_way_of(f->total.state);

	*p = (struct proven_function){
		.outer = PROFILE_NONE,
		.inner = PROFILE_NONE,
		.caller = PROFILE_NONE,
		.change = PROFILE_NONE,
		.kind = explained_kind_of(c->diff, f, is_interpreter),
	};
	if (f->interrupt || c->build->redirect[function] != function)
		return;
	p->is_self = total == PROVEN_NEITHER || (is_of_others && self != PROVEN_NEITHER);
	p->way = p->is_self ? self : is_interpreter ? PROVEN_NEITHER : total;
	p->size = fabs(p->is_self ? f->self.delta : f->total.delta);
}

/* Returns the difference of a function at one of its places, positive in its direction. */
static double at_place(const struct changes *c, const struct proven_function *p, uint32_t node)
{
	double *const *values = p->is_self ? c->diff->node_self : c->diff->node_total;

	return (int)p->way * (values[DIFF_HEAD][node] * c->diff->scale.factor - values[DIFF_BASE][node]);
}

static void verdict_changes_add_place(struct changes *c, struct proven_function *p, uint32_t node)
{
	double size = fabs(at_place(c, p, node));

	c->next_place[node] = p->first_place;
	p->first_place = node;
	p->depth += size * c->diff->nodes[node].depth;
	p->sum += size;
}

/* A node is a place of its function's total, or of the self time of the function that owns it, but not of both. */
static void verdict_changes_find_places(struct changes *c)
{
	const struct diff *diff = c->diff;

	for (uint32_t node = 1; node < diff->node_count; node++) {
		struct proven_function *own = &c->functions[diff->nodes[node].function],
				       *owner = &c->functions[build_owner(c->build, node)];
		uint32_t parent = diff->nodes[node].parent;
		bool is_user = own->kind == EXPLAINED_USER;

		c->user[node] = is_user ? diff->nodes[node].function : parent ? c->user[parent] : PROFILE_NONE;
		c->up[node] = parent == 0 || c->functions[diff->nodes[parent].function].way != PROVEN_NEITHER
				      ? parent
				      : c->up[parent];
		if (diff->nodes[node].flags & DIFF_NODE_INTERRUPT)
			continue;
		if (own->way != PROVEN_NEITHER && !own->is_self) {
			if (c->build->topmost[node])
				verdict_changes_add_place(c, own, node);
		} else if (owner->way != PROVEN_NEITHER && owner->is_self) {
			verdict_changes_add_place(c, owner, node);
		}
	}
	for (size_t i = 0; i < diff->function_count; i++) {
		struct proven_function *p = &c->functions[i];

		p->depth = p->sum > 0 ? p->depth / p->sum : 0;
		p->sum = 0;
	}
}

/* ---- Links ---- */

static void add_sum(struct changes *c, uint32_t function, double value, double depth)
{
	struct proven_function *p = &c->functions[function];

	if (!p->is_touched)
		c->touched[c->touched_count++] = function;
	p->is_touched = true;
	p->sum += value;
	p->sum_of_depths += value * depth;
}

static void clear_sums(struct changes *c)
{
	for (size_t i = 0; i < c->touched_count; i++) {
		struct proven_function *p = &c->functions[c->touched[i]];

		p->sum = p->sum_of_depths = 0;
		p->is_touched = false;
	}
	c->touched_count = 0;
}

static bool are_equal(const struct proven_function *a, const struct proven_function *b)
{
	return a->size >= changes_same_share * b->size && b->size >= changes_same_share * a->size;
}

/*
 * Adds what a function has at one place to the functions above it, up to one of the user's or of a library that has
 * another difference and is listed itself: what is above that has more than this place. Mean depths of linked functions
 * differ, so that no links form a ring.
 */
static void add_to_callers(struct changes *c, struct proven_function *p, uint32_t place)
{
	double value = at_place(c, p, place);
	bool is_below_listed = false, is_part = false;

	for (uint32_t node = c->up[place]; node != 0 && !(is_part && is_below_listed); node = c->up[node]) {
		uint32_t function = c->diff->nodes[node].function;
		const struct proven_function *outer = &c->functions[function];
		bool is_listed;

		if (outer->way != p->way || outer->is_self || outer == p)
			continue;
		is_listed = outer->kind == EXPLAINED_USER || outer->kind == EXPLAINED_LIBRARY;
		is_below_listed |= is_listed;
		is_part |= is_listed && !are_equal(outer, p);
		if (!is_part && c->build->topmost[node] && outer->depth < p->depth)
			add_sum(c, function, value, c->diff->nodes[node].depth);
	}
	p->below_listed += is_below_listed ? value : 0;
}

/* The innermost of the functions that have nearly all of a function's difference below them. */
static void link_outer(struct changes *c, uint32_t function)
{
	struct proven_function *p = &c->functions[function];
	double deepest = -1;
	uint32_t found = PROFILE_NONE;

	for (uint32_t place = p->first_place; place != 0; place = c->next_place[place])
		add_to_callers(c, p, place);
	for (size_t i = 0; i < c->touched_count; i++) {
		const struct proven_function *outer = &c->functions[c->touched[i]];

		if (outer->sum >= changes_same_share * fmax(p->size, outer->size) &&
			outer->sum_of_depths / outer->sum > deepest) {
			deepest = outer->sum_of_depths / outer->sum;
			found = c->touched[i];
		}
	}
	if (found != PROFILE_NONE && c->functions[found].sum > c->functions[found].at_inner) {
		struct proven_function *outer = &c->functions[found];

		if (outer->inner != PROFILE_NONE)
			c->functions[outer->inner].outer = PROFILE_NONE;
		outer->inner = function;
		outer->at_inner = outer->sum;
		p->outer = found;
	}
	clear_sums(c);
}

/* Returns the user's function that nearly all of a function's difference is called from. */
static uint32_t find_user_caller(struct changes *c, const struct proven_function *p)
{
	uint32_t found = PROFILE_NONE;

	for (uint32_t place = p->first_place; place != 0; place = c->next_place[place])
		if (c->user[place] != PROFILE_NONE)
			add_sum(c, c->user[place], at_place(c, p, place), 0);
	for (size_t i = 0; i < c->touched_count; i++)
		if (c->functions[c->touched[i]].sum >= changes_same_share * p->size)
			found = c->touched[i];
	clear_sums(c);
	return found;
}

/* ---- Changes ---- */

/* A kind that goes before another names a chain; of one kind the innermost function does. */
static void verdict_changes_name_change(const struct changes *c, struct diff_change *change)
{
	const uint32_t *functions = &c->diff->change_functions[change->first];
	const struct proven_function *named;
	const struct diff_function *f;

	change->function = functions[change->count - 1];
	for (size_t i = change->count; i-- > 0;)
		if (c->functions[functions[i]].kind < c->functions[change->function].kind)
			change->function = functions[i];
	named = &c->functions[change->function];
	f = &c->diff->functions[change->function];
	change->is_self =
		named->is_self || (proven_way_of(f->self.state) == named->way &&
					  fabs(f->self.delta) >= changes_greater_share * fabs(f->total.delta));
}

/* Returns whether other changes say all of a change. */
static bool is_of_others(const struct changes *c, const struct diff_change *change)
{
	bool is_whole = true, is_below_all = true, has_self = false;

	for (size_t i = 0; i < change->count; i++) {
		uint32_t function = c->diff->change_functions[change->first + i];
		const struct diff_function *f = &c->diff->functions[function];
		const struct proven_function *p = &c->functions[function];

		is_whole &= !p->is_self && explained_is_whole(c->diff, &f->total);
		is_below_all &= p->kind >= EXPLAINED_SYSTEM && p->below_listed >= changes_same_share * p->size;
		has_self |= proven_way_of(f->self.state) != PROVEN_NEITHER;
	}
	return is_whole || (is_below_all && change->caller == PROFILE_NONE) || (c->diff->is_exact && !has_self);
}

static void make_change(struct changes *c, uint32_t innermost)
{
	struct diff *diff = c->diff;
	struct diff_change *change = &diff->changes[diff->change_count];
	size_t count = 0;

	*change = (struct diff_change){ .caller = PROFILE_NONE };
	if (diff->change_count > 0)
		change->first = change[-1].first + change[-1].count;
	for (uint32_t at = innermost; at != PROFILE_NONE; at = c->functions[at].outer)
		count++;
	change->count = count;
	for (uint32_t at = innermost; at != PROFILE_NONE; at = c->functions[at].outer)
		diff->change_functions[change->first + --count] = at;
	verdict_changes_name_change(c, change);
	if (c->functions[change->function].kind != EXPLAINED_USER)
		change->caller = find_user_caller(c, &c->functions[innermost]);
	change->is_of_others = is_of_others(c, change);
	c->functions[innermost].change = (uint32_t)diff->change_count++;
}

static enum proven_way way_of(const struct changes *c, const struct diff_change *change)
{
	return c->functions[change->function].way;
}

/* Counts the changes in a direction in which all are of others. */
static void count_some(struct changes *c, enum proven_way way)
{
	struct diff *diff = c->diff;

	for (size_t i = 0; i < diff->change_count; i++)
		if (way_of(c, &diff->changes[i]) == way && !diff->changes[i].is_of_others)
			return;
	for (size_t i = 0; i < diff->change_count; i++)
		if (way_of(c, &diff->changes[i]) == way)
			diff->changes[i].is_of_others = false;
}

/* ---- Waits ---- */

struct site_key {
	uint32_t function, wait_class;
};

static void index_sites(const struct diff *diff, struct hash_map *index)
{
	for (size_t i = 0; i < diff->wait_site_count; i++) {
		struct site_key key = { diff->wait_sites[i].function, (uint32_t)diff->wait_sites[i].wait_class };
		bool added;

		(void)hash_map_enter(index, &key, (uint32_t)i, &added);
	}
}

struct wait_node {
	uint32_t site, node;
};

static int by_wait_site(const void *a, const void *b)
{
	const struct wait_node *x = a, *y = b;

	return x->site != y->site ? ORDER(x->site, y->site) : ORDER(x->node, y->node);
}

static void list_wait_nodes(const struct changes *c, struct wait_node *nodes, size_t *count)
{
	CLEANUP(hash_map_deinit) struct hash_map index;
	const struct diff *diff = c->diff;

	hash_map_init(&index, sizeof(struct site_key));
	index_sites(diff, &index);
	*count = 0;
	for (uint32_t node = 1; node < diff->node_count; node++) {
		struct site_key key = { 0 };
		uint32_t site;

		if ((diff->nodes[node].flags & DIFF_NODE_INTERRUPT) || !build_is_wait(diff, node))
			continue;
		key.function = wait_sites_responsible(diff, node);
		key.wait_class = (uint32_t)diff_wait_class(diff, &diff->functions[diff->nodes[node].function]);
		site = hash_map_get(&index, &key);
		if (site != PROFILE_NONE)
			nodes[(*count)++] = (struct wait_node){ site, node };
	}
	if (*count > 0)
		qsort(nodes, *count, sizeof(*nodes), by_wait_site);
}

/* The state of a change while the waits of one site after the other are added up. */
struct change_waits {
	double sum;                         /* of the site that is added up */
	double greatest[DIFF_CHANGE_WAITS]; /* of change.wait_sites */
	bool is_touched;
};

/* Adds the waits at a node to the changes that it is part of. `touched`: those that the site has waits of. */
static void add_waits(
	struct changes *c, uint32_t node, struct change_waits *waits, uint32_t *touched, size_t *touched_count)
{
	double delta =
		c->diff->node_self[DIFF_HEAD][node] * c->diff->scale.factor - c->diff->node_self[DIFF_BASE][node];

	for (uint32_t at = node; at != 0; at = c->up[at]) {
		const struct proven_function *p = &c->functions[c->diff->nodes[at].function];

		if (p->change == PROFILE_NONE || !c->build->topmost[at])
			continue;
		if (!waits[p->change].is_touched)
			touched[(*touched_count)++] = p->change;
		waits[p->change].is_touched = true;
		waits[p->change].sum += (int)p->way * delta;
	}
}

/* Keeps the sites that have most of a change. */
static void choose_site(struct diff_change *change, struct change_waits *waits, double size, uint32_t site)
{
	size_t place = change->wait_count;

	while (place > 0 && waits->sum > waits->greatest[place - 1])
		place--;
	if (place < DIFF_CHANGE_WAITS && waits->sum >= changes_least_waiting * size) {
		change->wait_count += change->wait_count < DIFF_CHANGE_WAITS;
		for (size_t i = change->wait_count - 1; i > place; i--) {
			waits->greatest[i] = waits->greatest[i - 1];
			change->wait_sites[i] = change->wait_sites[i - 1];
		}
		waits->greatest[place] = waits->sum;
		change->wait_sites[place] = site;
	}
	waits->sum = 0;
	waits->is_touched = false;
}

static void find_wait_sites(struct changes *c)
{
	struct diff *diff = c->diff;
	CLEANUP(cleanup_free) struct wait_node *nodes = memory_zeroed(diff->node_count + 1, sizeof(*nodes));
	CLEANUP(cleanup_free) struct change_waits *waits = memory_zeroed(diff->change_count + 1, sizeof(*waits));
	size_t count = 0, touched = 0;

	list_wait_nodes(c, nodes, &count);
	for (size_t i = 0; i < count; i++) {
		add_waits(c, nodes[i].node, waits, c->touched, &touched);
		if (i + 1 < count && nodes[i + 1].site == nodes[i].site)
			continue;
		for (; touched > 0; touched--) {
			uint32_t change = c->touched[touched - 1];

			choose_site(&diff->changes[change], &waits[change],
				fabs(diff_change_estimate(diff, &diff->changes[change])->delta), nodes[i].site);
		}
	}
}

/* ---- */

static int verdict_changes_by_rank(const void *a, const void *b, void *of)
{
	const struct diff *diff = of;
	const struct diff_change *x = a, *y = b;
	double size = fabs(diff_change_estimate(diff, x)->delta), other = fabs(diff_change_estimate(diff, y)->delta);

	if (x->is_of_others != y->is_of_others)
		return x->is_of_others ? 1 : -1;
	if (size != other)
		return size > other ? -1 : 1;
	return strcmp(diff_string(diff, diff->functions[x->function].key),
		diff_string(diff, diff->functions[y->function].key));
}

void changes_collect(struct diff_build *build)
{
	CLEANUP(changes_deinit) struct changes c = { .build = build, .diff = build->diff };
	struct diff *diff = build->diff;
	bool is_named[PROFILE_LANGUAGE_COUNT];

	changes_init(&c);
	proven_named_languages(diff, is_named);
	for (uint32_t i = 0; i < diff->function_count; i++)
		choose_difference(&c, i, is_named[diff->functions[i].interprets]);
	verdict_changes_find_places(&c);
	for (uint32_t i = 0; i < diff->function_count; i++)
		if (c.functions[i].way != PROVEN_NEITHER)
			link_outer(&c, i);
	for (uint32_t i = 0; i < diff->function_count; i++)
		if (c.functions[i].way != PROVEN_NEITHER && c.functions[i].inner == PROFILE_NONE)
			make_change(&c, i);
	count_some(&c, PROVEN_MORE);
	count_some(&c, PROVEN_LESS);
	if (diff->waiting != DIFF_WAITING_NONE)
		find_wait_sites(&c);
	if (diff->change_count > 0)
		qsort_r(diff->changes, diff->change_count, sizeof(*diff->changes), verdict_changes_by_rank, diff);
}

static bool has_function(const struct diff *diff, const struct diff_change *change, uint32_t function)
{
	for (size_t i = 0; i < change->count; i++)
		if (diff->change_functions[change->first + i] == function)
			return true;
	return false;
}

bool diff_change_is_named(const struct diff *diff, const struct diff_change *change)
{
	if (diff->named_wait == PROFILE_NONE)
		return has_function(diff, change, diff->cause.function);
	for (size_t i = 0; i < change->wait_count; i++)
		if (change->wait_sites[i] == diff->named_wait)
			return true;
	return false;
}

/*
 * Returns the counted change that the verdict names; of several that wait at the place, that of the function which
 * waits.
 */
static size_t named_change(const struct diff *diff)
{
	size_t found = diff->change_count;

	for (size_t i = 0; i < diff->change_count && !diff->changes[i].is_of_others; i++) {
		if (!diff_change_is_named(diff, &diff->changes[i]))
			continue;
		if (diff->named_wait == PROFILE_NONE ||
			has_function(diff, &diff->changes[i], diff->wait_sites[diff->named_wait].function))
			return i;
		if (found == diff->change_count)
			found = i;
	}
	return found;
}

void changes_put_named_first(struct diff *diff)
{
	size_t found = named_change(diff);
	struct diff_change named;

	if (found == diff->change_count)
		return;
	named = diff->changes[found];
	memmove(diff->changes + 1, diff->changes, found * sizeof(named));
	diff->changes[0] = named;
}

void changes_reorder(struct diff *diff, const uint32_t *new_ids)
{
	size_t functions = 0;

	for (size_t i = 0; i < diff->change_count; i++) {
		struct diff_change *change = &diff->changes[i];

		functions += change->count;
		change->function = new_ids[change->function];
		if (change->caller != PROFILE_NONE)
			change->caller = new_ids[change->caller];
	}
	for (size_t i = 0; i < functions; i++)
		diff->change_functions[i] = new_ids[diff->change_functions[i]];
}
