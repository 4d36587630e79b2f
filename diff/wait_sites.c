/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/wait_sites.h"

#include "diff/metric.h"
#include "diff/totals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Functions through which programs wait, by name. They are the user's own code where they are linked or inlined into
 * the program.
 */
static const char *const *const waiting_functions = GLOBS("pthread_*", "__pthread_*", "___pthread_*", "__lll_*",
	"lll_*", "sem_*", "__new_sem_*", "*futex*", "syscall", "std::mutex::*", "std::*_mutex::*",
	"std::condition_variable*", "std::unique_lock<*", "std::lock_guard<*", "std::scoped_lock<*", "std::sys::*",
	"std::sync::*", "parking_lot*", "sync.(*Mutex)*", "sync.runtime_*", "runtime.*");

void wait_sites_find_releases(struct diff_build *build)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct profile *profile = build->profiles[side];
		size_t count = profile ? profile->release_count : 0;

		if (count == 0)
			continue;
		build->release_nodes[side] = memory_zeroed(count, sizeof(*build->release_nodes[side]));
		for (size_t i = 0; i < count; i++) {
			const struct profile_release *release = &profile->releases[i];
			const uint32_t stacks[2] = { release->stack, release->releaser };

			for (size_t k = 0; k < 2; k++)
				build->release_nodes[side][i][k] =
					build->union_nodes[side][build->trees[side]->stack_nodes[stacks[k]]];
		}
	}
}

/* ---- Places ---- */

uint32_t wait_sites_responsible(const struct diff *diff, uint32_t node)
{
	uint32_t library = PROFILE_NONE;

	for (; node != 0; node = diff->nodes[node].parent) {
		uint32_t function = diff->nodes[node].function;
		const struct diff_function *f = &diff->functions[function];

		if ((f->origin != PROFILE_ORIGIN_USER && f->origin != PROFILE_ORIGIN_LIBRARY) ||
			diff_wait_class(diff, f) != PROFILE_WAIT_NONE ||
			glob_matches_any(waiting_functions, diff_string(diff, f->name)))
			continue;
		if (f->origin == PROFILE_ORIGIN_USER)
			return function;
		if (library == PROFILE_NONE)
			library = function;
	}
	return library;
}

/* The kinds of sums that are made of a site: its waits, those that one function ended, or those for one lock. */
enum sum_kind { SUM_WAITS, SUM_RELEASER, SUM_LOCK, SUM_NAMELESS_LOCK };

struct sum_key {
	uint32_t function, wait_class, kind;
	uint32_t id; /* function, string, or number of a lock; 0 for SUM_WAITS */
};

struct wait_sum {
	struct sum_key key;
	double raw[DIFF_SIDES];
};

struct collection {
	struct diff_build *build;
	double *ns[DIFF_SIDES]; /* [node] of waits; owned */
	struct wait_sum *sums;  /* owned */
	size_t sum_count, sum_capacity;
	struct hash_map index;
};

static void collection_deinit(struct collection *c)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		free(c->ns[side]);
	free(c->sums);
	hash_map_deinit(&c->index);
}

static void add_to_sum(struct collection *c, const struct sum_key *key, enum diff_side side, double ns)
{
	uint32_t *slot;
	bool added;

	slot = hash_map_enter(&c->index, key, (uint32_t)c->sum_count, &added);
	if (added) {
		ARRAY_PUSH(&c->sums, &c->sum_capacity, &c->sum_count, (struct wait_sum){ .key = *key });
	}
	c->sums[*slot].raw[side] += ns;
}

/*
 * Adds the nanoseconds of a sample of waits: idle ones are a column of their own. Of the elapsed time they have those
 * in which nothing else ran.
 */
static void wait_sites_sum_nodes(struct collection *c, enum diff_side side)
{
	const struct diff *diff = c->build->diff;
	const struct profile *profile = c->build->profiles[side];
	struct profile_wait_values values;
	uint32_t metric = c->build->metric[side];

	c->ns[side] = memory_zeroed(diff->node_count + 1, sizeof(*c->ns[side]));
	if (!profile || !profile_has_waits(profile))
		return;
	values = profile_wait_values(profile);
	for (size_t i = 0; i < profile->sample_count; i++) {
		const int64_t *sample = &profile->values[i * profile->value_type_count];

		c->ns[side][diff->sample_nodes[side][i]] +=
			metric_is_elapsed(profile, metric)
				? (double)sample[metric]
				: (double)sample[values.off_cpu] + (double)sample[values.idle];
	}
}

static void collect_waits(struct collection *c)
{
	struct diff *diff = c->build->diff;

	for (uint32_t node = 1; node < diff->node_count; node++) {
		struct sum_key key = { .kind = SUM_WAITS };

		if (!(c->ns[DIFF_BASE][node] > 0) && !(c->ns[DIFF_HEAD][node] > 0))
			continue;
		if (!build_is_wait(diff, node))
			continue;
		key.wait_class = (uint32_t)diff_wait_class(diff, &diff->functions[diff->nodes[node].function]);
		key.function = wait_sites_responsible(diff, node);
		for (int side = 0; side < DIFF_SIDES; side++) {
			add_to_sum(c, &key, (enum diff_side)side, c->ns[side][node]);
			diff->waits[key.wait_class].raw[side] += c->ns[side][node];
		}
	}
}

/* Copies the name of a release's lock into the diff; 0: it has none. */
static void name_lock(
	const struct diff_build *build, enum diff_side side, const struct profile_release *release, uint32_t *name)
{
	const struct profile *profile = build->profiles[side];
	uint32_t from = release->lock < profile->lock_count ? profile->locks[release->lock].name : 0;

	*name = 0;
	if (from != 0)
		*name = string_table_enter(
			build->diff->strings, profile_string(profile, from), string_table_size(profile->strings, from));
}

static void collect_release(struct collection *c, enum diff_side side, size_t release)
{
	const struct diff *diff = c->build->diff;
	const struct profile_release *r = &c->build->profiles[side]->releases[release];
	const uint32_t *nodes = c->build->release_nodes[side][release];
	struct sum_key key = { .function = wait_sites_responsible(diff, nodes[0]) };
	double ns = (double)r->weight_ns;

	if (!build_is_wait(diff, nodes[0]))
		return;
	key.wait_class = (uint32_t)diff_wait_class(diff, &diff->functions[diff->nodes[nodes[0]].function]);
	key.kind = SUM_RELEASER;
	key.id = wait_sites_responsible(diff, nodes[1]);
	if (key.id != PROFILE_NONE)
		add_to_sum(c, &key, side, ns);
	key.kind = SUM_LOCK;
	name_lock(c->build, side, r, &key.id);
	if (key.id != 0) {
		add_to_sum(c, &key, side, ns);
		return;
	}
	/* Locks of different recordings that have no name are not the same one; those of head are told from each other.
	 */
	if (side != DIFF_HEAD || r->lock >= c->build->profiles[side]->lock_count)
		return;
	key.kind = SUM_NAMELESS_LOCK;
	key.id = r->lock + 1;
	add_to_sum(c, &key, side, ns);
}

static void collect_releases(struct collection *c)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		for (size_t i = 0; c->build->release_nodes[side] && i < c->build->profiles[side]->release_count; i++)
			collect_release(c, (enum diff_side)side, i);
}

/* Sums of a site follow each other, its waits first; those of one kind by falling time in head, then in base. */
static int by_site(const void *a, const void *b)
{
	const struct wait_sum *x = a, *y = b;

	if (x->key.function != y->key.function)
		return x->key.function < y->key.function ? -1 : 1;
	if (x->key.wait_class != y->key.wait_class)
		return x->key.wait_class < y->key.wait_class ? -1 : 1;
	if (x->key.kind != y->key.kind)
		return x->key.kind < y->key.kind ? -1 : 1;
	for (int side = DIFF_SIDES; side-- > 0;)
		if (x->raw[side] != y->raw[side])
			return x->raw[side] > y->raw[side] ? -1 : 1;
	return ORDER(x->key.id, y->key.id);
}

/* Releases of waits that were not written themselves belong to no site. */
static void fill_sites(struct diff *diff, const struct wait_sum *sums, size_t count)
{
	struct diff_wait_site *site = NULL;
	double of_lock = 0;

	for (size_t i = 0; i < count; i++) {
		const struct wait_sum *sum = &sums[i];

		if (sum->key.kind == SUM_WAITS) {
			site = &diff->wait_sites[diff->wait_site_count++];
			*site = (struct diff_wait_site){
				.function = sum->key.function,
				.wait_class = (enum profile_wait_class)sum->key.wait_class,
				.raw = { sum->raw[DIFF_BASE], sum->raw[DIFF_HEAD] },
				.base = sum->raw[DIFF_BASE],
				.head = sum->raw[DIFF_HEAD] * diff->scale.factor,
				.first_release = diff->wait_release_count,
			};
			site->delta = site->head - site->base;
			of_lock = 0;
			continue;
		}
		if (!site || site->function != sum->key.function || site->wait_class != sum->key.wait_class)
			continue;
		if (sum->key.kind == SUM_LOCK) {
			of_lock = site->lock ? of_lock : sum->raw[DIFF_HEAD];
			site->lock = site->lock ? site->lock : sum->key.id;
			continue;
		}
		if (sum->key.kind == SUM_NAMELESS_LOCK) {
			if (sum->raw[DIFF_HEAD] > of_lock) {
				of_lock = sum->raw[DIFF_HEAD];
				site->lock = 0;
				site->lock_number = sum->key.id;
			}
			continue;
		}
		diff->wait_releases[diff->wait_release_count++] = (struct diff_wait_release){ .function = sum->key.id,
			.raw = { sum->raw[DIFF_BASE], sum->raw[DIFF_HEAD] } };
		site->release_count++;
	}
}

static int by_falling_difference(const void *a, const void *b)
{
	const struct diff_wait_site *x = a, *y = b;
	bool x_is_idle = x->wait_class == PROFILE_WAIT_IDLE, y_is_idle = y->wait_class == PROFILE_WAIT_IDLE;

	if (x_is_idle != y_is_idle)
		return x_is_idle ? 1 : -1;
	if (fabs(x->delta) != fabs(y->delta))
		return fabs(x->delta) > fabs(y->delta) ? -1 : 1;
	return x->wait_class != y->wait_class ? ORDER(x->wait_class, y->wait_class) : ORDER(x->function, y->function);
}

static void make_sites(struct collection *c)
{
	struct diff *diff = c->build->diff;

	diff->wait_sites = memory_zeroed(c->sum_count + 1, sizeof(*diff->wait_sites));
	diff->wait_releases = memory_zeroed(c->sum_count + 1, sizeof(*diff->wait_releases));
	if (c->sum_count > 0)
		qsort(c->sums, c->sum_count, sizeof(*c->sums), by_site);
	fill_sites(diff, c->sums, c->sum_count);
	if (diff->wait_site_count > 0)
		qsort(diff->wait_sites, diff->wait_site_count, sizeof(*diff->wait_sites), by_falling_difference);
}

/* ---- Classes ---- */

static void estimate_classes(struct diff *diff)
{
	for (size_t i = 0; i < PROFILE_WAIT_COUNT; i++)
		diff->waits[i].total = totals_estimate(diff->waits[i].raw, diff->scale.factor);
	for (size_t i = 0; i < diff->function_count; i++) {
		struct diff_function *f = &diff->functions[i];
		enum profile_wait_class wait_class = diff_wait_class(diff, f);

		if (wait_class == PROFILE_WAIT_NONE || !(f->total.base > 0 || f->total.head > 0))
			continue;
		diff->waits[wait_class].total = f->total;
		/* What is the machine's has no state in lists of the program's functions. */
		if (f->interrupt)
			f->total = totals_estimate(f->raw_total, diff->scale.factor);
	}
}

void wait_sites_collect(struct diff_build *build)
{
	CLEANUP(collection_deinit) struct collection c = { .build = build };

	for (int side = 0; side < DIFF_SIDES; side++)
		build->diff->has_waits |= build->profiles[side] && profile_has_waits(build->profiles[side]);
	if (!build->diff->has_waits)
		return;
	hash_map_init(&c.index, sizeof(struct sum_key));
	for (int side = 0; side < DIFF_SIDES; side++)
		wait_sites_sum_nodes(&c, (enum diff_side)side);
	collect_waits(&c);
	collect_releases(&c);
	make_sites(&c);
	estimate_classes(build->diff);
}

/* ---- The functions' final order ---- */

void wait_sites_reorder(struct diff *diff, const uint32_t *new_ids)
{
	for (size_t i = 0; i < diff->wait_site_count; i++)
		if (diff->wait_sites[i].function != PROFILE_NONE)
			diff->wait_sites[i].function = new_ids[diff->wait_sites[i].function];
	for (size_t i = 0; i < diff->wait_release_count; i++)
		diff->wait_releases[i].function = new_ids[diff->wait_releases[i].function];
}
