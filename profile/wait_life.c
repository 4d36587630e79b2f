/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/wait_life.h"

#include "profile/index.h"

#include <stdlib.h>
#include <string.h>

static const double least_at_site = 0.9, least_lived = 0.5, least_work = 0.01;

struct life_key {
	uint64_t path; /* hash of the functions' keys */
	uint64_t wait_class;
};

/* A site of one profile, or of all. */
struct life_site {
	double at_ns;    /* waited there */
	double life_ns;  /* of all threads that did */
	double below_ns; /* of that, within what leads to the site: for timers */
	double work_ns;  /* of that, waited at the same place for work */
	double lived_ns; /* with what they waited for a CPU */
	double run_ns;   /* the length of their runs */
	bool is_timer;
	bool is_barred; /* one of the threads is none to which the model applies */
	bool is_idle;
};

/* The states of a profile's stacks and threads. */
struct lives {
	struct profile *profile;
	const bool *kept;
	uint64_t *paths;     /* owned: [stack] */
	double *life_ns;     /* owned: [thread] */
	double *lived_ns;    /* owned: [thread] with what it waited for a CPU */
	bool *is_only;       /* owned: [thread] no other one of its process was recorded */
	bool *calls_out;     /* owned: [thread] its process calls others, or it is not known */
	struct hash_map map; /* of life_key: index of the site */
	struct life_site *sites;
	size_t site_count, site_capacity;
};

static void lives_deinit(struct lives *l)
{
	free(l->paths);
	free(l->life_ns);
	free(l->lived_ns);
	free(l->is_only);
	free(l->calls_out);
	free(l->sites);
	hash_map_deinit(&l->map);
}

/* ---- Stacks ---- */

/*
 * Returns whether a frame lies below the site in which a thread waits: the kernel and the C library, which waits now
 * so, now so.
 */
static bool is_below(const struct profile *profile, const struct profile_location *location)
{
	const struct profile_mapping *in =
		location->mapping == PROFILE_NONE ? NULL : &profile->mappings[location->mapping];

	return in && (in->kind == PROFILE_MAPPING_KERNEL || profile_is_c_library(profile_string(profile, in->module)));
}

static bool find_paths(struct lives *l, struct error *err)
{
	const struct profile *profile = l->profile;

	if (!ARRAY_ZEROED(&l->paths, profile->stack_count, err))
		return false;
	l->paths[0] = 0;
	for (size_t i = 1; i < profile->stack_count; i++) {
		const struct profile_location *location = &profile->locations[profile->stacks[i].location];
		uint64_t path = l->paths[profile->stacks[i].parent];

		for (uint32_t k = location->line_count; k-- > 0 && !is_below(profile, location);) {
			uint32_t function = profile->lines[location->first_line + k].function;
			uint32_t key = profile->functions[function].key;

			path = hash_mix(path ^ hash_bytes(profile_string(profile, key),
						       string_table_size(profile->strings, key)),
				UINT64_C(0x9e3779b97f4a7c15));
		}
		l->paths[i] = path;
	}
	return true;
}

/* ---- Threads ---- */

struct life_process {
	uint32_t run;
	int32_t pid;
};

static bool wait_life_count_threads(struct lives *l, struct error *err)
{
	const struct profile *profile = l->profile;
	struct hash_map first;
	bool ok = true;

	hash_map_init(&first, sizeof(struct life_process));
	for (uint32_t i = 0; i < profile->thread_count && ok; i++) {
		struct life_process process = { profile->threads[i].run, profile->threads[i].pid };
		uint32_t *slot;
		bool added = false;

		ok = hash_map_add(&first, &process, i, &slot, &added, err);
		l->is_only[i] = added;
		if (ok && !added)
			l->is_only[*slot] = false;
	}
	hash_map_deinit(&first);
	return ok;
}

static void wait_life_find_callers(struct lives *l)
{
	const struct profile *profile = l->profile;
	const struct profile_requests *requests = &profile->requests;

	for (size_t i = 0; i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];

		l->calls_out[i] = requests->source != PROFILE_WORK_SOCKETS;
		for (size_t k = 0; k < requests->exchange_count && !l->calls_out[i]; k++) {
			const struct profile_exchanges *e = &requests->exchanges[k];

			l->calls_out[i] = e->run == thread->run && e->pid == thread->pid &&
					  e->kind == PROFILE_EXCHANGE_CALLED_OUT && e->count > 0;
		}
	}
}

static double life_time_of_sample(const struct profile *profile, const struct profile_wait_values *types, size_t sample)
{
	const int64_t *values = &profile->values[sample * profile->value_type_count];

	return (double)values[types->off_cpu] + (double)values[types->idle] +
	       (types->cpu == PROFILE_NONE ? 0 : (double)values[types->cpu]);
}

/* Returns the time of a sample that belongs to a life. */
static double life_of_sample(const struct profile *profile, const struct profile_wait_values *types, size_t sample)
{
	return profile_wait_class_of_stack(profile, profile->samples[sample].stack) == PROFILE_WAIT_RUN_QUEUE
		       ? 0
		       : life_time_of_sample(profile, types, sample);
}

static bool find_threads(struct lives *l, struct error *err)
{
	const struct profile *profile = l->profile;
	struct profile_wait_values types = profile_wait_values(profile);
	size_t count = profile->thread_count + 1;

	if (!ARRAY_ZEROED(&l->life_ns, count, err) || !ARRAY_ZEROED(&l->lived_ns, count, err) ||
		!ARRAY_ZEROED(&l->is_only, count, err) || !ARRAY_ZEROED(&l->calls_out, count, err))
		return false;
	for (size_t i = 0; i < profile->sample_count; i++) {
		l->life_ns[profile->samples[i].thread] += life_of_sample(profile, &types, i);
		l->lived_ns[profile->samples[i].thread] += life_time_of_sample(profile, &types, i);
	}
	wait_life_find_callers(l);
	return wait_life_count_threads(l, err);
}

/* ---- Places ---- */

static bool add_site(struct lives *l, const struct life_key *key, uint32_t *site, struct error *err)
{
	uint32_t *slot;
	bool added;

	if (!hash_map_add(&l->map, key, (uint32_t)l->site_count, &slot, &added, err))
		return false;
	*site = *slot;
	if (!added)
		return true;
	return ARRAY_APPEND(&l->sites, &l->site_capacity, &l->site_count, ARRAY_MAX_IDS, err,
		(struct life_site){ .is_timer = key->wait_class == PROFILE_WAIT_TIMER });
}

/* Each thread's life counts once at a site. */
static bool wait_life_add_wait(struct lives *l, struct hash_map *members, size_t sample, double ns, struct error *err)
{
	const struct profile *profile = l->profile;
	uint32_t stack = profile->samples[sample].stack, thread = profile->samples[sample].thread;
	struct life_key key = { l->paths[profile->stacks[stack].parent],
		(uint64_t)profile_wait_class_of_stack(profile, stack) };
	uint32_t member[2] = { 0, thread }, *slot;
	struct life_site *site;
	bool added;

	if (!add_site(l, &key, &member[0], err) || !hash_map_add(members, member, 0, &slot, &added, err))
		return false;
	site = &l->sites[member[0]];
	site->at_ns += ns;
	if (!added)
		return true;
	site->life_ns += l->life_ns[thread];
	site->lived_ns += l->lived_ns[thread];
	site->run_ns += (double)profile->runs[profile->threads[thread].run].duration_ns;
	site->is_barred |= l->is_only[thread] || (key.wait_class == PROFILE_WAIT_NETWORK && l->calls_out[thread]);
	return true;
}

/* Adds the time of a sample to all sites of timers of its thread that it is below. */
static void add_life_below(struct lives *l, const struct hash_map *members, size_t sample, double ns)
{
	const struct profile *profile = l->profile;
	uint32_t stack = profile->samples[sample].stack;
	enum profile_wait_class wait_class = profile_wait_class_of_stack(profile, stack);
	bool is_work = wait_class == PROFILE_WAIT_IDLE || wait_class == PROFILE_WAIT_NETWORK;
	uint32_t first = wait_class == PROFILE_WAIT_NONE ? stack : profile->stacks[stack].parent;
	uint64_t path = 0;

	for (uint32_t at = first; at != 0; at = profile->stacks[at].parent) {
		struct life_key key = { l->paths[at], PROFILE_WAIT_TIMER };
		uint32_t member[2] = { HASH_MAP_NONE, profile->samples[sample].thread };

		if (l->paths[at] == path)
			continue;
		path = l->paths[at];
		member[0] = hash_map_get(&l->map, &key);
		if (member[0] == HASH_MAP_NONE || hash_map_get(members, member) == HASH_MAP_NONE)
			continue;
		l->sites[member[0]].below_ns += ns;
		l->sites[member[0]].work_ns += is_work && path == l->paths[first] ? ns : 0;
	}
}

static bool site_is_idle(const struct life_site *site)
{
	if (site->is_barred || site->run_ns <= 0 || site->lived_ns < least_lived * site->run_ns)
		return false;
	return site->is_timer
		       ? site->below_ns >= least_at_site * site->life_ns && site->work_ns < least_work * site->life_ns
		       : site->at_ns >= least_at_site * site->life_ns;
}

static bool collect_sites(struct lives *l, struct error *err)
{
	const struct profile *profile = l->profile;
	struct profile_wait_values types = profile_wait_values(profile);
	struct hash_map members;
	bool ok = true;

	hash_map_init(&members, 2 * sizeof(uint32_t));
	for (size_t i = 0; i < profile->sample_count && ok; i++) {
		if (profile_wait_info(profile_wait_class_of_stack(profile, profile->samples[i].stack))->may_be_idle)
			ok = wait_life_add_wait(l, &members, i, life_of_sample(profile, &types, i), err);
	}
	for (size_t i = 0; i < profile->sample_count && ok; i++)
		add_life_below(l, &members, i, life_of_sample(profile, &types, i));
	hash_map_deinit(&members);
	for (size_t i = 0; i < l->site_count; i++)
		l->sites[i].is_idle = site_is_idle(&l->sites[i]);
	return ok;
}

static bool lives_init(struct lives *l, struct error *err)
{
	hash_map_init(&l->map, sizeof(struct life_key));
	return !profile_has_waits(l->profile) || (find_paths(l, err) && find_threads(l, err) && collect_sites(l, err));
}

/* ---- All profiles ---- */

/* The judgement on one profile's waits: those at sites that are idle in all. */
struct judgement {
	const struct lives *lives, *all;
	size_t count;
};

static enum profile_wait_class class_by_life(void *context, uint32_t stack, enum profile_wait_class wait_class)
{
	const struct judgement *j = context;
	struct life_key key = { j->lives->paths[stack], (uint64_t)wait_class };
	uint32_t own = hash_map_get(&j->lives->map, &key);

	if (own == HASH_MAP_NONE || (j->lives->kept && j->lives->kept[stack]))
		return wait_class;
	for (size_t i = 0; i < j->count; i++) {
		uint32_t site = hash_map_get(&j->all[i].map, &key);

		if (site != HASH_MAP_NONE && !j->all[i].sites[site].is_idle)
			return wait_class;
	}
	return PROFILE_WAIT_IDLE;
}

bool profile_find_idle_lives(struct profile *const *profiles, const bool *const *kept, size_t count, struct error *err)
{
	struct lives *all = calloc(count + 1, sizeof(*all));
	bool ok = all || error_set_memory(err);

	for (size_t i = 0; i < count && ok; i++) {
		all[i].profile = profiles[i];
		all[i].kept = kept ? kept[i] : NULL;
		ok = lives_init(&all[i], err);
	}
	for (size_t i = 0; i < count && ok; i++) {
		struct judgement judgement = { &all[i], all, count };

		ok = profile_classify_waits(profiles[i], class_by_life, &judgement, err);
	}
	for (size_t i = 0; i < count && all; i++)
		lives_deinit(&all[i]);
	free(all);
	return ok;
}
