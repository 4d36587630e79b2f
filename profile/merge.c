/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adds one profile to another. */
#include "profile/copy.h"
#include "profile/index.h"

#include <stdlib.h>
#include <string.h>

/* What a profile says of all its runs it can no longer say once it has runs of other instances and machines, too. */
static bool say_of_each_run(const struct profile *profile, struct profile *into, size_t first, struct error *err)
{
	for (size_t i = 0; i < profile->run_count; i++)
		if (!profile_intern(into, profile_run_instance(profile, i), &into->runs[first + i].instance, err) ||
			!profile_intern(into, profile_run_cpu_model(profile, i), &into->runs[first + i].cpu_model, err))
			return false;
	return true;
}

static bool merge_runs(struct profile_copy *copy, struct error *err)
{
	size_t first = copy->into->run_count;
	uint32_t id;

	for (size_t i = 0; i < copy->from->run_count; i++) {
		struct profile_run run = profile_copied_run(copy, i);

		if (!profile_add_run(copy->into, &run, &id, err))
			return false;
	}
	return copy->fresh || say_of_each_run(copy->from, copy->into, first, err);
}

/* Merges the threads; `threads`: [thread of `from`] thread of `into`. */
static bool merge_threads(struct profile_copy *copy, uint32_t first_run, uint32_t *threads, struct error *err)
{
	for (uint32_t i = 0; i < copy->from->thread_count; i++)
		if (!profile_copy_thread(copy, i, first_run + copy->from->threads[i].run, &threads[i], err))
			return false;
	return true;
}

static int merge_by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return ORDER(*x, *y);
}

/* Finds out whether two stacks of `from` are one in `into`, as where names that it told apart are the same there. */
static bool stacks_became_one(const struct profile_copy *copy, bool *any, struct error *err)
{
	size_t count = copy->from->stack_count;
	CLEANUP(cleanup_free) uint32_t *sorted = malloc((count + 1) * sizeof(*sorted));

	if (!sorted)
		return error_set_memory(err);
	memcpy(sorted, copy->stacks, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), merge_by_number);
	*any = false;
	for (size_t i = 1; i < count; i++)
		*any = *any || sorted[i] == sorted[i - 1];
	return true;
}

/*
 * Samples of different runs have different threads, so a sample of `from` becomes exactly one new sample of `into`,
 * which need not be searched for.
 */
static bool merge_samples(struct profile_copy *copy, const uint32_t *threads, struct error *err)
{
	const struct profile *from = copy->from;
	struct profile *into = copy->into;
	size_t first = into->sample_count, width = into->value_type_count;
	bool timeline = into->has_timeline && from->has_timeline, merged = false;

	if (!stacks_became_one(copy, &merged, err))
		return false;
	for (size_t i = 0; i < from->sample_count; i++) {
		int64_t values[PROFILE_MAX_VALUE_TYPES] = { 0 };
		uint32_t stack = copy->stacks[from->samples[i].stack], thread = threads[from->samples[i].thread];

		for (size_t v = 0; v < width; v++)
			values[copy->values[v]] = from->values[i * width + v];
		if (!(merged ? profile_add_sample(into, stack, thread, values, -1, err)
			     : profile_append_sample(into, stack, thread, values, err)))
			return false;
	}
	into->has_timeline = timeline && into->sample_count - first == from->sample_count;
	if (!into->has_timeline) {
		into->event_count = into->weighted_count = 0;
		return true;
	}
	for (size_t i = 0; i < from->weighted_count; i++)
		if (from->event_weights[i] &&
			!profile_set_event_weight(into, into->event_count + i, from->event_weights[i], err))
			return false;
	if (!ARRAY_RESERVE(&into->events, &into->index->event_capacity, into->event_count + from->event_count + 1,
		    SIZE_MAX / 64, err))
		return false;
	for (size_t i = 0; i < from->event_count; i++)
		into->events[into->event_count++] =
			(struct profile_event){ from->events[i].time_ns, from->events[i].sample + (uint32_t)first };
	return true;
}

static bool merge_waits(struct profile_copy *copy, struct error *err)
{
	if (!profile_copy_locks(copy, err))
		return false;
	for (size_t i = 0; i < copy->from->release_count; i++) {
		struct profile_release release = copy->from->releases[i];

		release.stack = copy->stacks[release.stack];
		release.releaser = copy->stacks[release.releaser];
		release.lock = release.lock == PROFILE_NONE ? PROFILE_NONE : copy->first_lock + release.lock;
		if (!profile_add_release(copy->into, &release, err))
			return false;
	}
	profile_sum_releases(copy->into);
	return true;
}

bool profile_merge(struct profile *into, const struct profile *from, struct error *err)
{
	CLEANUP(profile_copy_deinit) struct profile_copy copy = { 0 };
	CLEANUP(cleanup_free) uint32_t *threads = calloc(from->thread_count + 1, sizeof(*threads));
	uint32_t first_run = (uint32_t)into->run_count;

	if (!threads)
		return error_set_memory(err);
	if (!say_of_each_run(into, into, 0, err))
		return false;
	if (!profile_copy_init(&copy, into, from, err) || !profile_copy_locations(&copy, NULL, err) ||
		!profile_copy_stacks(&copy, NULL, err) || !merge_runs(&copy, err) ||
		!merge_threads(&copy, first_run, threads, err) || !merge_samples(&copy, threads, err) ||
		!merge_waits(&copy, err) || !profile_copy_requests(&copy, first_run, err))
		return false;
	profile_copy_circumstances(&copy);
	return true;
}
