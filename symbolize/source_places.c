/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds, for each location of a profile, how often it was sampled, and what the processes have in common in which it
 * was. */
#include "symbolize/source_places.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* NO_PLACE has no samples; of UNKNOWN_PLACE nothing is known. With more than MOST_PLACES a user costs the rest theirs.
 */
enum { NO_PLACE, UNKNOWN_PLACE, FIRST_PLACE, MOST_PLACES = 256 };

struct source_place source_place_join(const struct source_place *left, const struct source_place *right)
{
	return (struct source_place){
		.tree = left->tree == right->tree ? left->tree : 0,
		.start_ns = left->start_ns < right->start_ns ? left->start_ns : right->start_ns,
		.user = left->user,
		.is_user_known = left->is_user_known && right->is_user_known && left->user == right->user,
		.has_stayed = left->has_stayed && right->has_stayed,
		.is_root_built = left->is_root_built && right->is_root_built,
	};
}

static bool source_places_is_same(const struct source_place *left, const struct source_place *right)
{
	return left->tree == right->tree && left->start_ns == right->start_ns && left->user == right->user &&
	       left->is_user_known == right->is_user_known && left->has_stayed == right->has_stayed &&
	       left->is_root_built == right->is_root_built;
}

static uint16_t source_places_find_place(struct source_places *places, const struct source_place *wanted)
{
	/* Places that were met last are the most likely. */
	for (size_t i = places->count; i-- > UNKNOWN_PLACE;)
		if (source_places_is_same(&places->places[i], wanted))
			return (uint16_t)i;
	if (places->count == MOST_PLACES)
		return UNKNOWN_PLACE;
	places->places[places->count] = *wanted;
	return (uint16_t)places->count++;
}

static void source_places_join(struct source_places *places, uint16_t *into, uint16_t other)
{
	struct source_place joined;

	if (other == NO_PLACE || *into == other)
		return;
	if (*into == NO_PLACE) {
		*into = other;
		return;
	}
	joined = source_place_join(&places->places[*into], &places->places[other]);
	*into = source_places_find_place(places, &joined);
}

/* ---- Threads ---- */

static struct source_place place_of_process(
	const struct profile *profile, const struct profile_thread *thread, const struct profile_process *process)
{
	int64_t run_ns = profile->runs[thread->run].start_unix_ns;

	/* A simulated command was ours when it began. */
	if (!process)
		return (struct source_place){
			.start_ns = run_ns, .user = geteuid(), .is_user_known = true, .is_root_built = true
		};
	return (struct source_place){ .tree = process->tree,
		.start_ns = process->start_ns ? process->start_ns : run_ns,
		.user = process->user,
		.is_user_known = process->is_user_known,
		.has_stayed = process->has_stayed,
		.is_root_built = true };
}

static bool map_pids(struct hash_map *by_pid, const struct profile_symbols *symbols, struct error *err)
{
	uint32_t *value;
	bool added;

	for (uint32_t i = 0; i < symbols->process_count; i++)
		if (!hash_map_add(by_pid, &symbols->processes[i].pid, i, &value, &added, err))
			return false;
	return true;
}

/* [thread] place */
static bool place_threads(struct source_places *places, const struct profile *profile,
	const struct profile_symbols *symbols, uint16_t *of_threads, struct error *err)
{
	struct hash_map by_pid;
	bool ok;

	hash_map_init(&by_pid, sizeof(int32_t));
	ok = map_pids(&by_pid, symbols, err);
	for (size_t i = 0; ok && i < profile->thread_count; i++) {
		const struct profile_thread *thread = &profile->threads[i];
		uint32_t id = hash_map_get(&by_pid, &thread->pid);
		struct source_place place =
			place_of_process(profile, thread, id == HASH_MAP_NONE ? NULL : &symbols->processes[id]);

		of_threads[i] = source_places_find_place(places, &place);
	}
	hash_map_deinit(&by_pid);
	return ok;
}

/* ---- Locations ---- */

uint32_t source_places_value(const struct profile *profile)
{
	for (size_t i = 0; i < profile->sample_count; i++)
		if (profile->values[i * profile->value_type_count] > 0)
			return 0;
	return profile->default_value_type;
}

static void source_places_add_samples(struct source_places *places, const struct profile *profile,
	const uint16_t *of_threads, uint64_t *weights, uint16_t *of_stacks)
{
	uint32_t value = source_places_value(profile);

	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct profile_sample *sample = &profile->samples[i];
		uint64_t count = (uint64_t)profile->values[i * profile->value_type_count + value];

		weights[sample->stack] += count;
		places->samples += count;
		source_places_join(places, &of_stacks[sample->stack], of_threads[sample->thread]);
	}
}

/* A stack has what its callees have; these have greater ids. */
static void source_places_add_stacks(
	struct source_places *places, const struct profile *profile, uint64_t *weights, uint16_t *of_stacks)
{
	for (size_t i = profile->stack_count; i-- > 1;) {
		const struct profile_stack *stack = &profile->stacks[i];

		weights[stack->parent] += weights[i];
		places->weights[stack->location] += weights[i];
		source_places_join(places, &of_stacks[stack->parent], of_stacks[i]);
		source_places_join(places, &places->of_locations[stack->location], of_stacks[i]);
	}
}

bool source_places_make(struct source_places *places, const struct profile *profile,
	const struct profile_symbols *symbols, struct error *err)
{
	CLEANUP(cleanup_free) uint16_t *of_threads = calloc(profile->thread_count + 1, sizeof(*of_threads));
	CLEANUP(cleanup_free) uint16_t *of_stacks = calloc(profile->stack_count + 1, sizeof(*of_stacks));
	CLEANUP(cleanup_free) uint64_t *weights = calloc(profile->stack_count + 1, sizeof(*weights));
	*places = (struct source_places){ .count = FIRST_PLACE,
		.places = calloc(MOST_PLACES, sizeof(*places->places)),
		.weights = calloc(profile->location_count + 1, sizeof(*places->weights)),
		.of_locations = calloc(profile->location_count + 1, sizeof(*places->of_locations)) };
	if (!of_threads || !of_stacks || !weights || !places->places || !places->weights || !places->of_locations)
		return error_set_memory(err);
	if (!place_threads(places, profile, symbols, of_threads, err))
		return false;
	source_places_add_samples(places, profile, of_threads, weights, of_stacks);
	source_places_add_stacks(places, profile, weights, of_stacks);
	return true;
}

void source_places_deinit(struct source_places *places)
{
	free(places->places);
	free(places->weights);
	free(places->of_locations);
}
