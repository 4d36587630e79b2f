/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/samples.h"

#include "profile/index.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool profile_add_run(struct profile *profile, const struct profile_run *run, uint32_t *id, struct error *err)
{
	if (!ARRAY_RESERVE(&profile->runs, &profile->index->run_capacity, profile->run_count + 1, ARRAY_MAX_IDS, err))
		return false;
	profile->runs[profile->run_count] = *run;
	*id = (uint32_t)profile->run_count++;
	return true;
}

const char *profile_run_instance(const struct profile *profile, size_t run)
{
	static const char *const keys[] = { PROFILE_LABEL_INSTANCE, "service.instance.id", "pod", "k8s.pod.name" };
	const char *known = profile_string(profile, profile->runs[run].instance);

	for (size_t i = 0; known[0] == '\0' && i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *label = profile_label(profile, keys[i]);

		known = label ? label : known;
	}
	if (known[0] == '\0')
		known = profile_string(profile, profile->facts.container);
	if (known[0] == '\0' && profile_label(profile, PROFILE_LABEL_HOST))
		known = profile_label(profile, PROFILE_LABEL_HOST);
	return known;
}

const char *profile_run_cpu_model(const struct profile *profile, size_t run)
{
	uint32_t known = profile->runs[run].cpu_model;

	return profile_string(profile, known ? known : profile->facts.cpu_model);
}

bool profile_add_thread(struct profile *profile, const struct profile_thread *thread, uint32_t *id, struct error *err)
{
	struct profile_thread_key key = { thread->run, thread->pid, thread->tid, thread->process_name, thread->name,
		thread->labels };
	uint32_t *value;
	bool added;

	if (!ARRAY_RESERVE(&profile->threads, &profile->index->thread_capacity, profile->thread_count + 1,
		    ARRAY_MAX_IDS, err) ||
		!hash_map_add(&profile->index->threads, &key, (uint32_t)profile->thread_count, &value, &added, err))
		return false;
	if (added)
		profile->threads[profile->thread_count++] = *thread;
	*id = *value;
	return true;
}

/* ---- Stacks ---- */

static bool reserve_stacks(struct profile *profile, size_t need, struct error *err)
{
	struct profile_index *index = profile->index;

	if (need > index->max_stacks)
		return error_set(err, ERROR_LIMIT,
			"it unfolds to more than %zu different stack frames, which its size does not account for",
			index->max_stacks);
	return ARRAY_RESERVE(&profile->stacks, &index->stack_capacity, need, index->max_stacks, err);
}

void profile_limit_stacks(struct profile *profile, size_t most)
{
	profile->index->max_stacks = most;
}

bool profile_append_stack(struct profile *profile, uint32_t parent, uint32_t location, struct error *err)
{
	struct profile_index *index = profile->index;

	if (profile->stack_count == index->stack_capacity && !reserve_stacks(profile, profile->stack_count + 1, err))
		return false;
	profile->stacks[profile->stack_count++] = (struct profile_stack){ parent, location };
	return true;
}

/*
 * Finds the stack in the index, or adds it as `id`. Most callers call one function only in the samples: that child is
 * found without a hash.
 */
static bool index_stack(
	struct profile *profile, struct profile_stack stack, uint32_t id, uint32_t *found, struct error *err)
{
	uint32_t *first = &profile->index->firsts[stack.parent].child, *value;
	bool added;

	if (*first == PROFILE_NONE)
		*first = id;
	if (*first == id || profile->stacks[*first].location == stack.location) {
		*found = *first;
		return true;
	}
	if (!hash_map_add(&profile->index->stacks, &stack, id, &value, &added, err))
		return false;
	*found = *value;
	return true;
}

/* Indexes the stacks that were appended without it, and reserves room for one more. */
static bool index_stacks(struct profile *profile, struct error *err)
{
	struct profile_index *index = profile->index;
	uint32_t found;

	if (index->indexed_stacks == profile->stack_count && profile->stack_count < index->first_capacity)
		return true;
	if (!ARRAY_RESERVE(&index->firsts, &index->first_capacity, profile->stack_count + 1, ARRAY_MAX_IDS, err))
		return false;
	for (; index->indexed_stacks < profile->stack_count; index->indexed_stacks++) {
		size_t id = index->indexed_stacks;

		index->firsts[id] = (struct profile_firsts){ PROFILE_NONE, PROFILE_NONE };
		if (id > 0 && !index_stack(profile, profile->stacks[id], (uint32_t)id, &found, err))
			return false;
	}
	return true;
}

bool profile_add_stack(struct profile *profile, uint32_t parent, uint32_t location, uint32_t *id, struct error *err)
{
	struct profile_index *index = profile->index;
	uint32_t next = (uint32_t)profile->stack_count;

	if (!index_stacks(profile, err) || !reserve_stacks(profile, profile->stack_count + 1, err) ||
		!index_stack(profile, (struct profile_stack){ parent, location }, next, id, err))
		return false;
	if (*id != next)
		return true;
	index->firsts[index->indexed_stacks++] = (struct profile_firsts){ PROFILE_NONE, PROFILE_NONE };
	return profile_append_stack(profile, parent, location, err);
}

/* ---- Samples ---- */

static bool reserve_sample(struct profile *profile, struct error *err)
{
	struct profile_index *index = profile->index;
	size_t width = profile->value_type_count;

	if (profile->sample_count < index->sample_capacity &&
		(profile->sample_count + 1) * width <= index->value_capacity)
		return true;
	return ARRAY_RESERVE(
		       &profile->samples, &index->sample_capacity, profile->sample_count + 1, ARRAY_MAX_IDS, err) &&
	       ARRAY_RESERVE(&profile->values, &index->value_capacity, (profile->sample_count + 1) * width,
		       SIZE_MAX / 64, err);
}

bool profile_reserve_samples(struct profile *profile, size_t count, struct error *err)
{
	struct profile_index *index = profile->index;
	size_t need = count + profile->sample_count + 1, stacks = count + profile->stack_count;

	return reserve_stacks(profile, stacks < index->max_stacks ? stacks : index->max_stacks, err) &&
	       ARRAY_RESERVE(&profile->samples, &index->sample_capacity, need, ARRAY_MAX_IDS, err) &&
	       ARRAY_RESERVE(
		       &profile->values, &index->value_capacity, need * profile->value_type_count, SIZE_MAX / 64, err);
}

bool profile_append_sample(
	struct profile *profile, uint32_t stack, uint32_t thread, const int64_t *values, struct error *err)
{
	size_t width = profile->value_type_count;

	if (!reserve_sample(profile, err))
		return false;
	memcpy(&profile->values[profile->sample_count * width], values, width * sizeof(*values));
	profile->samples[profile->sample_count++] = (struct profile_sample){ stack, thread };
	profile->has_timeline = false;
	return true;
}

/* Finds or adds a sample as index_stack() does: most stacks occur in one thread only. */
static bool index_sample(
	struct profile *profile, struct profile_sample sample, uint32_t id, uint32_t *found, struct error *err)
{
	uint32_t *first = &profile->index->firsts[sample.stack].sample, *value;
	bool added;

	if (*first == PROFILE_NONE)
		*first = id;
	if (*first == id || profile->samples[*first].thread == sample.thread) {
		*found = *first;
		return true;
	}
	if (!hash_map_add(&profile->index->samples, &sample, id, &value, &added, err))
		return false;
	*found = *value;
	return true;
}

static bool index_samples(struct profile *profile, struct error *err)
{
	struct profile_index *index = profile->index;
	uint32_t found;

	if (!index_stacks(profile, err))
		return false;
	for (; index->indexed_samples < profile->sample_count; index->indexed_samples++) {
		size_t id = index->indexed_samples;

		if (!index_sample(profile, profile->samples[id], (uint32_t)id, &found, err))
			return false;
	}
	return true;
}

void profile_forget_samples(struct profile *profile)
{
	struct profile_index *index = profile->index;

	hash_map_deinit(&index->samples);
	hash_map_init(&index->samples, sizeof(struct profile_sample));
	for (size_t i = 0; i < index->indexed_stacks; i++)
		index->firsts[i].sample = PROFILE_NONE;
	index->indexed_samples = profile->sample_count = 0;
}

struct profile_stack *profile_take_stacks(struct profile *profile, size_t *count)
{
	struct profile_index *index = profile->index;

	hash_map_deinit(&index->stacks);
	hash_map_deinit(&index->samples);
	hash_map_init(&index->stacks, sizeof(struct profile_stack));
	hash_map_init(&index->samples, sizeof(struct profile_sample));
	index->indexed_stacks = index->indexed_samples = index->stack_capacity = 0;
	*count = profile->stack_count;
	profile->stack_count = 0;
	return TAKE(profile->stacks);
}

void profile_expect_sample(const struct profile *profile, uint32_t stack, uint32_t thread)
{
	const struct profile_index *index = profile->index;
	const struct profile_sample sample = { stack, thread };

	__builtin_prefetch(&index->firsts[stack]);
	hash_map_prefetch(&index->samples, &sample);
}

bool profile_find_sample(struct profile *profile, uint32_t stack, uint32_t thread, uint32_t *id, struct error *err)
{
	size_t width = profile->value_type_count;
	uint32_t next = (uint32_t)profile->sample_count;

	if (!index_samples(profile, err) || !reserve_sample(profile, err) ||
		!index_sample(profile, (struct profile_sample){ stack, thread }, next, id, err))
		return false;
	if (*id != next) {
		__builtin_prefetch(&profile->values[*id * width], 1);
		return true;
	}
	memset(&profile->values[next * width], 0, width * sizeof(*profile->values));
	profile->samples[profile->sample_count++] = (struct profile_sample){ stack, thread };
	profile->index->indexed_samples++;
	return true;
}

/*
 * Asks the kernel for the pages of the next events. A recorder that was just woken waits 16 µs for a page that it
 * writes to for the first time, but only 2 µs a page if it asks for many at once. A kernel without this call gives the
 * pages one by one.
 */
static void fetch_event_pages(struct profile *profile, size_t events)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), left = profile->index->event_capacity - profile->event_count;
	const struct profile_event *next = &profile->events[profile->event_count];
	uintptr_t from = ((uintptr_t)next + page_bytes - 1) / page_bytes * page_bytes;
	uintptr_t to = (uintptr_t)(next + (events < left ? events : left)) / page_bytes * page_bytes;

	if (to > from)
		(void)madvise((void *)from, to - from, MADV_POPULATE_WRITE);
}

static bool add_event(struct profile *profile, int64_t time_ns, uint32_t sample, struct error *err)
{
	enum { FETCHED_EVENTS = 8192 };

	if (!ARRAY_RESERVE(
		    &profile->events, &profile->index->event_capacity, profile->event_count + 1, SIZE_MAX / 64, err))
		return false;
	if (profile->event_count % FETCHED_EVENTS == 0)
		fetch_event_pages(profile, FETCHED_EVENTS);
	profile->events[profile->event_count++] = (struct profile_event){ time_ns, sample };
	return true;
}

bool profile_count_sample(
	struct profile *profile, uint32_t sample, const int64_t *values, int64_t time_ns, struct error *err)
{
	size_t width = profile->value_type_count;
	int64_t *sums = &profile->values[sample * width];

	for (size_t i = 0; i < width; i++)
		sums[i] = saturating_add(sums[i], values[i]);
	if (time_ns < 0) {
		profile->has_timeline = false;
		return true;
	}
	return add_event(profile, time_ns, sample, err);
}

bool profile_add_sample(struct profile *profile, uint32_t stack, uint32_t thread, const int64_t *values,
	int64_t time_ns, struct error *err)
{
	uint32_t sample;

	return profile_find_sample(profile, stack, thread, &sample, err) &&
	       profile_count_sample(profile, sample, values, time_ns, err);
}

/* Lengthens the weights to `count`; events that had none have the weight 0, which says the same. */
static bool reserve_weights(struct profile *profile, size_t count, struct error *err)
{
	if (!ARRAY_RESERVE(&profile->event_weights, &profile->index->weight_capacity, count, SIZE_MAX / 64, err))
		return false;
	for (; profile->weighted_count < count; profile->weighted_count++)
		profile->event_weights[profile->weighted_count] = 0;
	return true;
}

bool profile_set_event_weight(struct profile *profile, size_t event, int64_t weight, struct error *err)
{
	if (!reserve_weights(profile, event + 1, err))
		return false;
	profile->event_weights[event] = weight;
	return true;
}

bool profile_weigh_event(struct profile *profile, int64_t weight, struct error *err)
{
	return profile_set_event_weight(profile, profile->event_count - 1, weight, err);
}

bool profile_append_event(struct profile *profile, int64_t time_ns, uint32_t sample, int64_t weight, struct error *err)
{
	return add_event(profile, time_ns, sample, err) && (weight == 0 || profile_weigh_event(profile, weight, err));
}

struct event_order {
	uint32_t run;
	uint32_t position;
	struct profile_event event;
	int64_t weight;
};

static int compare_events(const void *left, const void *right)
{
	const struct event_order *a = left, *b = right;

	if (a->run != b->run)
		return a->run < b->run ? -1 : 1;
	return a->event.time_ns != b->event.time_ns ? ORDER(a->event.time_ns, b->event.time_ns)
						    : ORDER(a->position, b->position);
}

static uint32_t profile_samples_run_of_event(const struct profile *profile, const struct profile_event *event)
{
	return profile->threads[profile->samples[event->sample].thread].run;
}

static bool events_are_in_order(const struct profile *profile)
{
	for (size_t i = 1; i < profile->event_count; i++) {
		const struct profile_event *before = &profile->events[i - 1], *event = &profile->events[i];
		uint32_t run_before = profile_samples_run_of_event(profile, before),
			 run = profile_samples_run_of_event(profile, event);

		if (run < run_before || (run == run_before && event->time_ns < before->time_ns))
			return false;
	}
	return true;
}

static bool sort_events(struct profile *profile, struct error *err)
{
	CLEANUP(cleanup_free) struct event_order *order = NULL;
	bool is_weighted = profile->weighted_count > 0;

	if (events_are_in_order(profile))
		return true;
	if (is_weighted && !reserve_weights(profile, profile->event_count, err))
		return false;
	if (!ARRAY_ZEROED(&order, profile->event_count, err))
		return false;
	for (size_t i = 0; i < profile->event_count; i++) {
		const struct profile_event *event = &profile->events[i];

		order[i] = (struct event_order){ profile_samples_run_of_event(profile, event), (uint32_t)i, *event,
			is_weighted ? profile->event_weights[i] : 0 };
	}
	qsort(order, profile->event_count, sizeof(*order), compare_events);
	for (size_t i = 0; i < profile->event_count; i++)
		profile->events[i] = order[i].event;
	for (size_t i = 0; is_weighted && i < profile->event_count; i++)
		profile->event_weights[i] = order[i].weight;
	return true;
}

/* Orders by everything but the weight. */
static int compare_releases(const void *left, const void *right)
{
	const struct profile_release *a = left, *b = right;
	int order = ORDER(a->stack, b->stack);

	if (order == 0)
		order = ORDER(a->lock, b->lock);
	return order ? order : ORDER(a->releaser, b->releaser);
}

void profile_sum_releases(struct profile *profile)
{
	struct profile_release *releases = profile->releases;
	size_t kept = 0;

	if (profile->release_count == 0)
		return;
	qsort(releases, profile->release_count, sizeof(*releases), compare_releases);
	for (size_t i = 1; i < profile->release_count; i++) {
		if (compare_releases(&releases[kept], &releases[i]) == 0)
			releases[kept].weight_ns = saturating_add(releases[kept].weight_ns, releases[i].weight_ns);
		else
			releases[++kept] = releases[i];
	}
	profile->release_count = kept + 1;
}

bool profile_finish(struct profile *profile, struct error *err)
{
	profile_sum_releases(profile);
	return profile_sort_requests(profile, err) && sort_events(profile, err);
}
