/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/generations.h"

#include "profile/index.h"

#include <stdlib.h>
#include <string.h>

/* What became of a stack, which holds for events of one run from `from_ns` on and before `until_ns`. */
struct generation_stack {
	int64_t from_ns, until_ns; /* equal: nothing is known yet */
	uint32_t stack;
	bool is_doubtful;
};

/* The generations of a location, [first, end). */
struct generation_range {
	uint32_t first, end;
};

/* What is known of a generation and of all those before it at its location. */
struct generation_prefix {
	int64_t until_ns; /* the latest of theirs */
	bool is_untimed;  /* it is not known of one of them when it was replaced */
};

struct generation_work {
	struct profile *profile;
	const struct profile_generation *generations;
	size_t count;
	struct generation_range *ranges;    /* owned: [location] */
	struct generation_prefix *prefixes; /* owned: [generation] */
	bool *has_generations;              /* owned: [stack] of the profile as it was */
	struct generation_stack *stacks;    /* owned: [stack] likewise */
	struct profile_sample *samples;     /* owned: as they were, with their values */
	int64_t *values;                    /* owned */
	size_t sample_count, stack_count, location_count;
	uint32_t *kept;           /* owned: [sample] its number now; PROFILE_NONE: it is shared out among its events */
	int64_t *weights, *taken; /* owned: [sample] weight of its events, and of those that were placed */
	uint32_t *path;           /* owned: room for the locations of a stack */
	double doubtful, total;
};

static void generation_work_deinit(struct generation_work *w)
{
	free(w->ranges);
	free(w->prefixes);
	free(w->has_generations);
	free(w->stacks);
	free(w->samples);
	free(w->values);
	free(w->kept);
	free(w->weights);
	free(w->taken);
	free(w->path);
}

static bool generation_work_init(struct generation_work *w, struct error *err)
{
	const struct profile *profile = w->profile;
	size_t value_bytes = profile->sample_count * profile->value_type_count * sizeof(*w->values);

	w->sample_count = profile->sample_count;
	w->stack_count = profile->stack_count;
	w->location_count = profile->location_count;
	w->ranges = calloc(w->location_count + 1, sizeof(*w->ranges));
	w->prefixes = calloc(w->count + 1, sizeof(*w->prefixes));
	w->has_generations = calloc(w->stack_count + 1, sizeof(*w->has_generations));
	w->stacks = calloc(w->stack_count + 1, sizeof(*w->stacks));
	w->samples = malloc((w->sample_count + 1) * sizeof(*w->samples));
	w->values = malloc(value_bytes + 1);
	w->kept = malloc((w->sample_count + 1) * sizeof(*w->kept));
	w->weights = calloc(w->sample_count + 1, sizeof(*w->weights));
	w->taken = calloc(w->sample_count + 1, sizeof(*w->taken));
	w->path = malloc((w->stack_count + 1) * sizeof(*w->path));
	if (!w->ranges || !w->prefixes || !w->has_generations || !w->stacks || !w->samples || !w->values || !w->kept ||
		!w->weights || !w->taken || !w->path)
		return error_set_memory(err);
	if (w->sample_count > 0) {
		memcpy(w->samples, profile->samples, w->sample_count * sizeof(*w->samples));
		memcpy(w->values, profile->values, value_bytes);
	}
	return true;
}

static void find_generation_ranges(struct generation_work *w)
{
	for (uint32_t i = 0; i < w->count; i++) {
		struct generation_range *range = &w->ranges[w->generations[i].location];
		int64_t until_ns = w->generations[i].until_ns;
		struct generation_prefix before = { .until_ns = INT64_MIN };

		if (range->end == 0)
			range->first = i;
		else
			before = w->prefixes[i - 1];
		range->end = i + 1;
		w->prefixes[i] = (struct generation_prefix){ until_ns > before.until_ns ? until_ns : before.until_ns,
			before.is_untimed || until_ns == INT64_MIN };
	}
}

static void find_stacks_with_generations(struct generation_work *w)
{
	const struct profile *profile = w->profile;

	find_generation_ranges(w);
	for (size_t i = 1; i < w->stack_count; i++)
		w->has_generations[i] = w->has_generations[profile->stacks[i].parent] ||
					w->ranges[profile->stacks[i].location].end != 0;
	for (size_t i = 0; i < profile->event_count; i++) {
		int64_t *weight = &w->weights[profile->events[i].sample];

		*weight = saturating_add(*weight, profile_event_weight(profile, i));
	}
}

/* ---- Stacks ---- */

/* Nothing changes up to the boundaries around a time: `before_ns` is the last up to it, `after_ns` the next one. */
static void bound_known(struct generation_stack *known, int64_t before_ns, int64_t after_ns)
{
	if (before_ns > known->from_ns)
		known->from_ns = before_ns;
	if (after_ns < known->until_ns)
		known->until_ns = after_ns;
}

/* The generations of a location that other code had begun to replace at a time, or had replaced by then. */
static uint32_t count_generations(
	const struct generation_work *w, const struct generation_range *range, bool are_replaced, int64_t time_ns)
{
	uint32_t low = range->first, high = range->end;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int64_t at_ns = are_replaced ? w->prefixes[middle].until_ns : w->generations[middle].from_ns;

		if (at_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low - range->first;
}

/*
 * The location of the code that stood at a location. A log may have placed code there a hundred thousand times, and
 * events may lie between all of them, so the generation is looked for, not counted up.
 */
static uint32_t generation_at(
	const struct generation_work *w, uint32_t location, int64_t time_ns, struct generation_stack *known)
{
	const struct generation_range *range = &w->ranges[location];
	const struct profile_generation *generations = &w->generations[range->first];
	const struct generation_prefix *prefixes = &w->prefixes[range->first];
	uint32_t count = range->end - range->first, begun, replaced;

	if (count == 0)
		return location;
	begun = count_generations(w, range, false, time_ns);
	replaced = count_generations(w, range, true, time_ns);
	bound_known(known, begun > 0 ? generations[begun - 1].from_ns : INT64_MIN,
		begun < count ? generations[begun].from_ns : INT64_MAX);
	bound_known(known, replaced > 0 ? prefixes[replaced - 1].until_ns : INT64_MIN,
		replaced < count ? prefixes[replaced].until_ns : INT64_MAX);
	known->is_doubtful |= prefixes[count - 1].is_untimed || begun > replaced;
	return replaced < count ? generations[replaced].former : location;
}

/* What became of a stack at a time. Events are in order of time: what is known mostly holds. */
static bool place_stack(struct generation_work *w, uint32_t stack, int64_t time_ns, struct error *err)
{
	const struct profile_stack *stacks = w->profile->stacks;
	struct generation_stack *known = &w->stacks[stack];
	size_t depth = 0;

	if (time_ns >= known->from_ns && time_ns < known->until_ns)
		return true;
	*known = (struct generation_stack){ .from_ns = INT64_MIN, .until_ns = INT64_MAX };
	for (uint32_t at = stack; at != 0; at = stacks[at].parent)
		w->path[depth++] = generation_at(w, stacks[at].location, time_ns, known);
	while (depth > 0)
		if (!profile_add_stack(w->profile, known->stack, w->path[--depth], &known->stack, err))
			return false;
	return true;
}

/* ---- Samples ---- */

static void add_values(struct generation_work *w, uint32_t id, const int64_t *values)
{
	int64_t *sums = &w->profile->values[(size_t)id * w->profile->value_type_count];

	for (size_t v = 0; v < w->profile->value_type_count; v++)
		sums[v] = saturating_add(sums[v], values[v]);
}

/* Samples whose stack has one generation only, or that have no times. */
static bool keep_samples(struct generation_work *w, struct error *err)
{
	for (size_t i = 0; i < w->sample_count; i++) {
		const struct profile_sample *sample = &w->samples[i];

		w->kept[i] = PROFILE_NONE;
		if (w->has_generations[sample->stack] && w->weights[i] > 0)
			continue;
		if (!profile_find_sample(w->profile, sample->stack, sample->thread, &w->kept[i], err))
			return false;
		add_values(w, w->kept[i], &w->values[i * w->profile->value_type_count]);
	}
	return true;
}

/* An event's part of the values of its sample; rounded so that those of all events are their sum. */
static void take_part(struct generation_work *w, size_t event, uint32_t sample, int64_t *values)
{
	int64_t before = w->taken[sample], after = saturating_add(before, profile_event_weight(w->profile, event));
	const int64_t *sums = &w->values[(size_t)sample * w->profile->value_type_count];

	for (size_t v = 0; v < w->profile->value_type_count; v++)
		values[v] = (int64_t)((__int128)sums[v] * after / w->weights[sample] -
				      (__int128)sums[v] * before / w->weights[sample]);
	values[0] = 1;
	w->taken[sample] = after;
}

static bool place_event(struct generation_work *w, struct profile_event *event, size_t index, struct error *err)
{
	const struct profile_sample *sample = &w->samples[event->sample];
	const struct generation_stack *known = &w->stacks[sample->stack];
	int64_t values[PROFILE_MAX_VALUE_TYPES];
	uint32_t id;

	if (w->kept[event->sample] != PROFILE_NONE) {
		event->sample = w->kept[event->sample];
		return true;
	}
	take_part(w, index, event->sample, values);
	if (!place_stack(w, sample->stack, event->time_ns, err) ||
		!profile_find_sample(w->profile, known->stack, sample->thread, &id, err))
		return false;
	event->sample = id;
	add_values(w, id, values);
	if (known->is_doubtful)
		w->doubtful += (double)values[w->profile->default_value_type];
	return true;
}

/* Who ended waits, and of which stack, is known without times: they keep to where the last of their events went. */
static void place_releases(struct generation_work *w)
{
	for (size_t i = 0; i < w->profile->release_count; i++) {
		struct profile_release *release = &w->profile->releases[i];
		const struct generation_stack *stack = &w->stacks[release->stack],
					      *releaser = &w->stacks[release->releaser];

		release->stack = stack->stack != 0 ? stack->stack : release->stack;
		release->releaser = releaser->stack != 0 ? releaser->stack : release->releaser;
	}
	profile_sum_releases(w->profile);
}

static bool place_samples(struct generation_work *w, struct error *err)
{
	struct profile *profile = w->profile;

	for (size_t i = 0; i < w->sample_count; i++)
		w->total += (double)w->values[i * profile->value_type_count + profile->default_value_type];
	profile_forget_samples(profile);
	if (!keep_samples(w, err))
		return false;
	for (size_t i = 0; i < profile->event_count; i++)
		if (!place_event(w, &profile->events[i], i, err))
			return false;
	place_releases(w);
	return true;
}

bool profile_place_generations(struct profile *profile, const struct profile_generation *generations, size_t count,
	double *doubtful, struct error *err)
{
	CLEANUP(generation_work_deinit)
	struct generation_work w = { .profile = profile, .generations = generations, .count = count };
	bool has_timeline = profile->has_timeline;

	*doubtful = 0;
	if (count == 0)
		return true;
	if (!generation_work_init(&w, err))
		return false;
	find_stacks_with_generations(&w);
	if (!place_samples(&w, err))
		return false;
	profile->has_timeline = has_timeline;
	*doubtful = w.total > 0 ? w.doubtful / w.total : 0;
	return true;
}
