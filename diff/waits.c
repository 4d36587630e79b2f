/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/waits.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A list in order of sites, then by falling time. */
struct waits_list {
	struct waits_releaser *items; /* owned */
	size_t count;
};

struct waits_side {
	waits_sums total;
	waits_sums *in, *at; /* owned: [function of the diff] */
	struct waits_list releasers, lock_callers, lock_releasers;
	struct waits_lock *locks; /* owned: by falling time */
	size_t lock_count;
	struct waits_release *releases; /* owned: by falling time */
	size_t release_count;
	struct waits_rate rate;
};

struct waits {
	struct waits_side sides[DIFF_SIDES];
};

/* The state while the waits of a side are added up. */
struct waits_work {
	const struct diff *diff;
	const struct profile *profile;
	const uint32_t *nodes; /* [sample] node of its leaf */
	struct waits_side *side;
	uint8_t *classes;  /* owned: [sample] enum profile_wait_class */
	int64_t *sums;     /* owned: [node] */
	bool *outermost;   /* owned: [node] no caller of it is the same function */
	uint32_t *sites;   /* owned: [node] function of the diff that is the site of what happens there */
	uint32_t *callers; /* owned: [stack] function of the profile that is the site of it */
};

static void waits_work_deinit(struct waits_work *w)
{
	free(w->classes);
	free(w->sums);
	free(w->outermost);
	free(w->sites);
	free(w->callers);
}

static void work_init(struct waits_work *w)
{
	size_t nodes = w->diff->node_count, functions = w->diff->function_count + 1;
	size_t releases = w->profile->release_count + 1;
	struct waits_side *side = w->side;

	w->classes = memory_alloc(w->profile->sample_count + 1);
	w->sums = memory_zeroed(nodes + 1, sizeof(*w->sums));
	w->outermost = memory_zeroed(nodes + 1, sizeof(*w->outermost));
	w->sites = memory_zeroed(nodes + 1, sizeof(*w->sites));
	w->callers = memory_zeroed(w->profile->stack_count, sizeof(*w->callers));
	side->in = memory_zeroed(functions, sizeof(*side->in));
	side->at = memory_zeroed(functions, sizeof(*side->at));
	side->releasers.items = memory_zeroed(releases, sizeof(*side->releasers.items));
	side->lock_callers.items = memory_zeroed(releases, sizeof(*side->lock_callers.items));
	side->lock_releasers.items = memory_zeroed(releases, sizeof(*side->lock_releasers.items));
	side->locks = memory_zeroed(w->profile->lock_count + 1, sizeof(*side->locks));
	side->releases = memory_zeroed(releases, sizeof(*side->releases));
}

/* ---- Places ---- */

/* Returns whether code of this origin is rather the site of something than what called it. */
static bool is_rather(enum profile_origin own, enum profile_origin caller)
{
	if (caller == PROFILE_ORIGIN_USER)
		return own == PROFILE_ORIGIN_USER;
	return own != PROFILE_ORIGIN_SYSTEM || caller == PROFILE_ORIGIN_SYSTEM;
}

/* Nodes are in preorder, so that a caller is decided before what it calls, and a node's subtree follows it. */
static void find_sites(struct waits_work *w)
{
	const struct diff *diff = w->diff;
	CLEANUP(cleanup_free) uint32_t *ends = memory_zeroed(diff->function_count + 1, sizeof(*ends));

	w->sites[0] = PROFILE_NONE;
	for (uint32_t i = 1; i < diff->node_count; i++) {
		uint32_t function = diff->nodes[i].function, caller = w->sites[diff->nodes[i].parent];

		w->outermost[i] = i >= ends[function];
		if (w->outermost[i])
			ends[function] = diff->nodes[i].subtree_end;
		w->sites[i] = caller == PROFILE_NONE ||
					      (diff_wait_class(diff, &diff->functions[function]) == PROFILE_WAIT_NONE &&
						      is_rather(diff->functions[function].origin,
							      diff->functions[caller].origin))
				      ? function
				      : caller;
	}
}

static void waits_find_callers(struct waits_work *w)
{
	const struct profile *profile = w->profile;

	w->callers[0] = PROFILE_NONE;
	for (size_t i = 1; i < profile->stack_count; i++) {
		const struct profile_location *location = &profile->locations[profile->stacks[i].location];
		uint32_t site = w->callers[profile->stacks[i].parent];

		for (uint32_t k = location->line_count; k-- > 0;) {
			uint32_t function = profile->lines[location->first_line + k].function;

			if (site == PROFILE_NONE ||
				is_rather(profile->functions[function].origin, profile->functions[site].origin))
				site = function;
		}
		w->callers[i] = site;
	}
}

/* ---- Sums ---- */

/* Returns how long the waits of a sample were, whether they are idle or not. */
static int64_t wait_of_sample(const struct waits_work *w, const struct profile_wait_values *types, size_t sample)
{
	const int64_t *values = &w->profile->values[sample * w->profile->value_type_count];

	return saturating_add(values[types->off_cpu], values[types->idle]);
}

static void waits_add_to(int64_t *sum, int64_t value)
{
	*sum = saturating_add(*sum, value);
}

static void sum_class(struct waits_work *w, enum profile_wait_class wait_class)
{
	struct profile_wait_values types = profile_wait_values(w->profile);
	const struct diff *diff = w->diff;

	memset(w->sums, 0, diff->node_count * sizeof(*w->sums));
	for (size_t i = 0; i < w->profile->sample_count; i++) {
		int64_t wait_ns = w->classes[i] == wait_class ? wait_of_sample(w, &types, i) : 0;

		if (wait_ns == 0)
			continue;
		waits_add_to(&w->sums[w->nodes[i]], wait_ns);
		waits_add_to(&w->side->total[wait_class], wait_ns);
		if (w->sites[w->nodes[i]] != PROFILE_NONE)
			waits_add_to(&w->side->at[w->sites[w->nodes[i]]][wait_class], wait_ns);
	}
	for (size_t i = diff->node_count; i-- > 1;) {
		waits_add_to(&w->sums[diff->nodes[i].parent], w->sums[i]);
		if (w->outermost[i])
			waits_add_to(&w->side->in[diff->nodes[i].function][wait_class], w->sums[i]);
	}
}

static void sum_classes(struct waits_work *w)
{
	bool occurs[PROFILE_WAIT_COUNT + 1] = { false };

	for (size_t i = 0; i < w->profile->sample_count; i++) {
		w->classes[i] = (uint8_t)profile_wait_class_of_stack(w->profile, w->profile->samples[i].stack);
		occurs[w->classes[i]] = true;
	}
	for (int i = 0; i < PROFILE_WAIT_COUNT; i++)
		if (occurs[i])
			sum_class(w, (enum profile_wait_class)i);
}

/* ---- Releases ---- */

static int by_site_and_key(const void *left, const void *right)
{
	const struct waits_releaser *a = left, *b = right;
	int order = ORDER(a->site, b->site);

	return order ? order : ORDER(a->key, b->key);
}

static int by_site_and_time(const void *left, const void *right)
{
	const struct waits_releaser *a = left, *b = right;
	int order = ORDER(a->site, b->site);

	if (order == 0 && a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return order ? order : ORDER(a->key, b->key);
}

static void list_sum(struct waits_list *list)
{
	struct waits_releaser *items = list->items;
	size_t kept = 0;

	if (list->count == 0)
		return;
	qsort(items, list->count, sizeof(*items), by_site_and_key);
	for (size_t i = 1; i < list->count; i++) {
		if (by_site_and_key(&items[kept], &items[i]) == 0)
			waits_add_to(&items[kept].ns, items[i].ns);
		else
			items[++kept] = items[i];
	}
	list->count = kept + 1;
	qsort(items, list->count, sizeof(*items), by_site_and_time);
}

static const struct waits_releaser *list_find(const struct waits_list *list, size_t site, size_t *count)
{
	size_t low = BISECT(list->count, i, list->items[i].site < site);

	*count = 0;
	while (low + *count < list->count && list->items[low + *count].site == site)
		(*count)++;
	return *count > 0 ? &list->items[low] : NULL;
}

/* Adds a function of the profile that ended waits. */
static void add_releaser(const struct waits_work *w, struct waits_list *list, uint32_t site, uint32_t by, int64_t ns)
{
	const struct profile_function *function = &w->profile->functions[by];

	list->items[list->count++] = (struct waits_releaser){ site, function->key,
		profile_string(w->profile, function->name), profile_string(w->profile, function->module), ns };
}

static int by_node_lock_and_releaser(const void *left, const void *right)
{
	const struct waits_release *a = left, *b = right;
	int order = ORDER(a->node, b->node);

	if (order == 0)
		order = ORDER(a->lock, b->lock);
	return order ? order : ORDER(a->by, b->by);
}

static int by_time_and_node(const void *left, const void *right)
{
	const struct waits_release *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return by_node_lock_and_releaser(left, right);
}

static void join_releases(struct waits_side *side)
{
	size_t kept = 0;

	if (side->release_count == 0)
		return;
	qsort(side->releases, side->release_count, sizeof(*side->releases), by_node_lock_and_releaser);
	for (size_t i = 1; i < side->release_count; i++) {
		if (by_node_lock_and_releaser(&side->releases[kept], &side->releases[i]) == 0)
			waits_add_to(&side->releases[kept].ns, side->releases[i].ns);
		else
			side->releases[++kept] = side->releases[i];
	}
	side->release_count = kept + 1;
	qsort(side->releases, side->release_count, sizeof(*side->releases), by_time_and_node);
}

static void add_releases(struct waits_work *w, const uint32_t *nodes)
{
	for (size_t i = 0; i < w->profile->release_count; i++) {
		const struct profile_release *release = &w->profile->releases[i];
		uint32_t node = nodes[release->stack], site = w->sites[node], by = w->callers[release->releaser];

		w->side->releases[w->side->release_count++] =
			(struct waits_release){ node, release->lock, by, release->weight_ns };
		if (site != PROFILE_NONE && by != PROFILE_NONE)
			add_releaser(w, &w->side->releasers, site, by, release->weight_ns);
	}
	list_sum(&w->side->releasers);
	join_releases(w->side);
}

/* ---- Locks ---- */

/* A lock of the profile, by what makes several of them one. */
struct lock_identity {
	uint32_t name, module, lock;
};

static int by_identity(const void *left, const void *right)
{
	const struct lock_identity *a = left, *b = right;
	int order = ORDER(a->name, b->name);

	order = order ? order : ORDER(a->module, b->module);
	return order ? order : ORDER(a->lock, b->lock);
}

/* Makes one lock of those that have the same name. Sets `lock_of[lock of the profile]`, its index. */
static void join_locks(struct waits_work *w, uint32_t *lock_of)
{
	const struct profile *profile = w->profile;
	struct waits_side *side = w->side;
	CLEANUP(cleanup_free) struct lock_identity *order = memory_zeroed(profile->lock_count + 1, sizeof(*order));

	for (uint32_t i = 0; i < profile->lock_count; i++)
		order[i] = (struct lock_identity){ profile->locks[i].name, profile->locks[i].module, i };
	qsort(order, profile->lock_count, sizeof(*order), by_identity);
	for (size_t i = 0; i < profile->lock_count; i++) {
		const struct lock_identity *o = &order[i];
		const char *name = profile_string(profile, o->name);

		if (i == 0 || name[0] == '\0' || o->name != o[-1].name || o->module != o[-1].module)
			side->locks[side->lock_count++] = (struct waits_lock){
				.name = name, .module = profile_string(profile, o->module), .number = o->lock + 1
			};
		lock_of[o->lock] = (uint32_t)side->lock_count - 1;
	}
}

static int by_lock_time(const void *left, const void *right)
{
	const struct waits_lock *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	return ORDER(a->number, b->number);
}

/* Leaves the locks that threads waited for, with their functions. */
static void finish_locks(struct waits_side *side)
{
	size_t kept = 0;

	list_sum(&side->lock_callers);
	list_sum(&side->lock_releasers);
	for (size_t i = 0; i < side->lock_count; i++) {
		struct waits_lock lock = side->locks[i];

		if (lock.ns == 0)
			continue;
		lock.callers = list_find(&side->lock_callers, i, &lock.caller_count);
		lock.releasers = list_find(&side->lock_releasers, i, &lock.releaser_count);
		side->locks[kept++] = lock;
	}
	side->lock_count = kept;
	if (kept > 0)
		qsort(side->locks, kept, sizeof(*side->locks), by_lock_time);
}

static void add_locks(struct waits_work *w, const uint32_t *nodes)
{
	const struct profile *profile = w->profile;
	CLEANUP(cleanup_free) uint32_t *lock_of = memory_zeroed(profile->lock_count + 1, sizeof(*lock_of));
	struct waits_list *callers = &w->side->lock_callers;

	join_locks(w, lock_of);
	for (size_t i = 0; i < profile->release_count; i++) {
		const struct profile_release *release = &profile->releases[i];
		uint32_t site = w->sites[nodes[release->stack]], by = w->callers[release->releaser], lock;

		if (release->lock == PROFILE_NONE ||
			profile_wait_class_of_stack(profile, release->stack) == PROFILE_WAIT_IDLE)
			continue;
		lock = lock_of[release->lock];
		waits_add_to(&w->side->locks[lock].ns, release->weight_ns);
		if (site != PROFILE_NONE)
			callers->items[callers->count++] = (struct waits_releaser){ lock, site,
				diff_string(w->diff, w->diff->functions[site].name),
				diff_string(w->diff, w->diff->functions[site].module), release->weight_ns };
		if (by != PROFILE_NONE)
			add_releaser(w, &w->side->lock_releasers, lock, by, release->weight_ns);
	}
	finish_locks(w->side);
}

static void sum_releases(struct waits_work *w)
{
	/* [stack] the node of the samples with that stack; 0: it has none. */
	CLEANUP(cleanup_free) uint32_t *nodes = memory_zeroed(w->profile->stack_count, sizeof(*nodes));

	for (size_t i = 0; i < w->profile->sample_count; i++)
		nodes[w->profile->samples[i].stack] = w->nodes[i];
	add_releases(w, nodes);
	add_locks(w, nodes);
}

/* ---- Rates ---- */

static double mean_answer(const struct profile *profile)
{
	uint64_t counts[PROFILE_LATENCY_BUCKETS];

	profile_latency_counts(profile, PROFILE_EXCHANGE_ANSWERED, counts);
	return profile_latency_mean(counts);
}

static struct waits_rate rate_of(const struct diff *diff, const struct profile *profile, enum diff_side side)
{
	double seconds = 0;
	bool whole = profile->run_count > 0;

	for (size_t i = 0; i < profile->run_count; i++) {
		seconds += (double)profile->runs[i].duration_ns / 1e9;
		whole = whole && profile->runs[i].whole_command;
	}
	if (diff->requests[side].count > 0 && diff->requests_doubt == 0)
		return (struct waits_rate){ diff->requests[side].count, "per request", mean_answer(profile) };
	return whole ? (struct waits_rate){ (double)profile->run_count, "per run", NAN }
		     : (struct waits_rate){ seconds, "per second", NAN };
}

struct waits_rate waits_rate(const struct waits *waits, enum diff_side side)
{
	return waits->sides[side].rate;
}

/* ---- Both sides ---- */

static void waits_sum_side(
	const struct diff *diff, const struct profile *profile, enum diff_side side, struct waits *waits)
{
	struct waits_work w = {
		.diff = diff, .profile = profile, .nodes = diff->sample_nodes[side], .side = &waits->sides[side]
	};

	work_init(&w);
	find_sites(&w);
	w.side->rate = rate_of(w.diff, w.profile, side);
	waits_find_callers(&w);
	sum_classes(&w);
	sum_releases(&w);
	waits_work_deinit(&w);
}

static bool side_has_waits(
	const struct diff *diff, const struct profile *const profiles[DIFF_SIDES], enum diff_side side)
{
	return profiles[side] && diff->sample_nodes[side] && profile_has_waits(profiles[side]);
}

void waits_create(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES], struct waits **waits)
{
	struct waits *made;

	*waits = NULL;
	if (!side_has_waits(diff, profiles, DIFF_BASE) && !side_has_waits(diff, profiles, DIFF_HEAD))
		return;
	made = memory_zeroed(1, sizeof(*made));
	for (int side = 0; side < DIFF_SIDES; side++)
		if (side_has_waits(diff, profiles, (enum diff_side)side))
			waits_sum_side(diff, profiles[side], (enum diff_side)side, made);
	*waits = made;
}

void waits_destroy(struct waits *waits)
{
	if (!waits)
		return;
	for (int side = 0; side < DIFF_SIDES; side++) {
		free(waits->sides[side].in);
		free(waits->sides[side].at);
		free(waits->sides[side].releasers.items);
		free(waits->sides[side].lock_callers.items);
		free(waits->sides[side].lock_releasers.items);
		free(waits->sides[side].locks);
		free(waits->sides[side].releases);
	}
	free(waits);
}

static const waits_sums no_waits;

const int64_t *waits_total(const struct waits *waits, enum diff_side side)
{
	return waits->sides[side].total;
}

const int64_t *waits_in(const struct waits *waits, enum diff_side side, size_t function)
{
	return waits->sides[side].in ? waits->sides[side].in[function] : no_waits;
}

const int64_t *waits_at(const struct waits *waits, enum diff_side side, size_t function)
{
	return waits->sides[side].at ? waits->sides[side].at[function] : no_waits;
}

const struct waits_releaser *waits_releasers(
	const struct waits *waits, enum diff_side side, size_t function, size_t *count)
{
	return list_find(&waits->sides[side].releasers, function, count);
}

const struct waits_lock *waits_locks(const struct waits *waits, enum diff_side side, size_t *count)
{
	*count = waits->sides[side].lock_count;
	return waits->sides[side].locks;
}

const struct waits_lock *waits_find_lock(const struct waits *waits, enum diff_side side, const struct waits_lock *lock)
{
	const struct waits_side *of = &waits->sides[side];

	for (size_t i = 0; lock->name[0] && i < of->lock_count; i++)
		if (strcmp(of->locks[i].name, lock->name) == 0 && strcmp(of->locks[i].module, lock->module) == 0)
			return &of->locks[i];
	return NULL;
}

const struct waits_release *waits_releases(const struct waits *waits, enum diff_side side, size_t *count)
{
	*count = waits->sides[side].release_count;
	return waits->sides[side].releases;
}

/* ---- Words ---- */

void waits_lock_words(const struct waits_lock *lock, struct buffer *out)
{
	if (lock->name[0])
		buffer_append_string(out, lock->name);
	else
		buffer_printf(out, "lock %" PRIu32 " (no name)", lock->number);
}
