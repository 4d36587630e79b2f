/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/generations.h"

#include "profile/index.h"
#include "profile/symbols.h"

#include <stdlib.h>
#include <string.h>

/*
 * The greatest number of frames of stacks that are looked at again, which bounds how many are added: a process chooses
 * how deep its stacks are and how often its code changes. The half that one user may have takes a second, and 300 MB at
 * the worst.
 */
static const uint64_t most_frames = (uint64_t)1 << 24;

/* Code that stood at a location until a time that is known. */
struct timed_generation {
	int64_t from_ns, until_ns; /* both rise within a location */
	uint32_t former;
};

/* The code that stood at a location, one after the other. */
struct location_generations {
	uint32_t first, count; /* those with times */
	bool has_unknown;      /* there are others */
};

/* The new id of a stack, which holds for events of one run from `from_ns` on and before `until_ns`. */
struct generation_stack {
	int64_t from_ns, until_ns; /* equal: nothing is known yet */
	uint32_t stack;
	bool is_doubtful;
};

struct generation_work {
	struct profile *profile;
	struct timed_generation *timed;  /* owned */
	struct location_generations *of; /* owned: [location] */
	bool *has_generations;           /* owned: [stack] of the profile as it was */
	struct generation_stack *stacks; /* owned: [stack] likewise */
	struct profile_sample *samples;  /* owned: as they were, with their values */
	int64_t *values;                 /* owned */
	size_t sample_count, stack_count, location_count;
	uint32_t *kept;           /* owned: [sample] its number now; PROFILE_NONE: it is shared out among its events */
	int64_t *weights, *taken; /* owned: [sample] weight of its events, and of those that were placed */
	uint32_t *path;           /* owned: room for the locations of a stack */
	uint32_t *users;          /* owned: [thread] whose process it is; PROFILE_NONE: not known */
	struct shares frames;     /* that are looked at */
	double doubtful, total;
};

static void generation_work_deinit(struct generation_work *w)
{
	free(w->timed);
	free(w->of);
	free(w->has_generations);
	free(w->stacks);
	free(w->samples);
	free(w->values);
	free(w->kept);
	free(w->weights);
	free(w->taken);
	free(w->path);
	free(w->users);
	shares_deinit(&w->frames);
}

static bool generation_work_init(struct generation_work *w, size_t count, struct error *err)
{
	const struct profile *profile = w->profile;
	size_t value_bytes = profile->sample_count * profile->value_type_count * sizeof(*w->values);

	w->sample_count = profile->sample_count;
	w->stack_count = profile->stack_count;
	w->location_count = profile->location_count;
	w->timed = malloc((count + 1) * sizeof(*w->timed));
	w->of = calloc(w->location_count + 1, sizeof(*w->of));
	w->users = malloc((profile->thread_count + 1) * sizeof(*w->users));
	w->has_generations = calloc(w->stack_count + 1, sizeof(*w->has_generations));
	w->stacks = calloc(w->stack_count + 1, sizeof(*w->stacks));
	w->samples = malloc((w->sample_count + 1) * sizeof(*w->samples));
	w->values = malloc(value_bytes + 1);
	w->kept = malloc((w->sample_count + 1) * sizeof(*w->kept));
	w->weights = calloc(w->sample_count + 1, sizeof(*w->weights));
	w->taken = calloc(w->sample_count + 1, sizeof(*w->taken));
	w->path = malloc((w->stack_count + 1) * sizeof(*w->path));
	if (!w->timed || !w->of || !w->users || !w->has_generations || !w->stacks || !w->samples || !w->values ||
		!w->kept || !w->weights || !w->taken || !w->path)
		return error_set_memory(err);
	if (w->sample_count > 0) {
		memcpy(w->samples, profile->samples, w->sample_count * sizeof(*w->samples));
		memcpy(w->values, profile->values, value_bytes);
	}
	return true;
}

/* Times are foreign: where they do not rise, code was replaced no earlier than what had stood there before it. */
static void take_generation(struct generation_work *w, const struct profile_generation *generation, uint32_t *used)
{
	struct location_generations *of = &w->of[generation->location];
	struct timed_generation *made = &w->timed[*used];

	if (generation->until_ns == INT64_MIN) {
		of->has_unknown = true;
		return;
	}
	*made = (struct timed_generation){ generation->from_ns, generation->until_ns, generation->former };
	if (of->count == 0)
		of->first = *used;
	else {
		made->from_ns = made->from_ns > made[-1].from_ns ? made->from_ns : made[-1].from_ns;
		made->until_ns = made->until_ns > made[-1].until_ns ? made->until_ns : made[-1].until_ns;
	}
	of->count++;
	++*used;
}

static void find_stacks_with_generations(
	struct generation_work *w, const struct profile_generation *generations, size_t count)
{
	const struct profile *profile = w->profile;
	uint32_t used = 0;

	for (size_t i = 0; i < count; i++)
		take_generation(w, &generations[i], &used);
	for (size_t i = 1; i < w->stack_count; i++) {
		const struct location_generations *of = &w->of[profile->stacks[i].location];

		w->has_generations[i] =
			w->has_generations[profile->stacks[i].parent] || of->count > 0 || of->has_unknown;
	}
	for (size_t i = 0; i < profile->event_count; i++) {
		int64_t *weight = &w->weights[profile->events[i].sample];

		*weight = saturating_add(*weight, profile_event_weight(profile, i));
	}
}

/* ---- Stacks ---- */

/* Finds the end of what is known at a time: nothing changes up to a boundary that lies behind it. */
static void bound(struct generation_stack *known, int64_t boundary_ns, int64_t time_ns)
{
	if (boundary_ns <= time_ns && boundary_ns > known->from_ns)
		known->from_ns = boundary_ns;
	if (boundary_ns > time_ns && boundary_ns < known->until_ns)
		known->until_ns = boundary_ns;
}

/* Returns how many of them have begun to be replaced at a time, or with `is_over` have been. */
static size_t count_replaced(const struct timed_generation *timed, size_t count, bool is_over, int64_t time_ns)
{
	return BISECT(count, i, (is_over ? timed[i].until_ns : timed[i].from_ns) <= time_ns);
}

/* Returns the location of the code that stood at a location. */
static uint32_t generation_at(
	const struct generation_work *w, uint32_t location, int64_t time_ns, struct generation_stack *known)
{
	const struct location_generations *of = &w->of[location];
	const struct timed_generation *timed = &w->timed[of->first];
	size_t begun = count_replaced(timed, of->count, false, time_ns);
	size_t over = count_replaced(timed, of->count, true, time_ns);

	if (begun > 0)
		bound(known, timed[begun - 1].from_ns, time_ns);
	if (begun < of->count)
		bound(known, timed[begun].from_ns, time_ns);
	if (over > 0)
		bound(known, timed[over - 1].until_ns, time_ns);
	if (over < of->count)
		bound(known, timed[over].until_ns, time_ns);
	known->is_doubtful |= of->has_unknown || over < begun;
	return over < of->count ? timed[over].former : location;
}

/*
 * Finds the new id of a stack at a time. Events are in order of time: what is known mostly holds. What its user may not
 * have looked at stays with what stood there last.
 */
static bool place_stack(struct generation_work *w, uint32_t stack, uint32_t thread, int64_t time_ns, struct error *err)
{
	const struct profile_stack *stacks = w->profile->stacks;
	struct generation_stack *known = &w->stacks[stack];
	uint64_t account = w->users[thread] == PROFILE_NONE ? SHARES_NOBODY : w->users[thread];
	size_t depth = 0;

	if (time_ns >= known->from_ns && time_ns < known->until_ns)
		return true;
	*known = (struct generation_stack){ .from_ns = INT64_MIN, .until_ns = INT64_MAX };
	for (uint32_t at = stack; at != 0; at = stacks[at].parent)
		w->path[depth++] = generation_at(w, stacks[at].location, time_ns, known);
	if (!shares_take(&w->frames, account, depth)) {
		*known = (struct generation_stack){ INT64_MIN, INT64_MAX, stack, true };
		return true;
	}
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

/* Takes an event's part of the values of its sample; rounded so that those of all events are their sum. */
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
	if (!place_stack(w, sample->stack, sample->thread, event->time_ns, err) ||
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

/* Finds the processes' users, as far as a recording knows them. */
static bool find_users(struct generation_work *w, const struct profile_symbols *symbols, struct error *err)
{
	struct hash_map by_pid;
	uint32_t *value;
	bool ok = true, added;

	hash_map_init(&by_pid, sizeof(int32_t));
	for (uint32_t i = 0; ok && i < symbols->process_count; i++)
		ok = !symbols->processes[i].is_user_known ||
		     hash_map_add(&by_pid, &symbols->processes[i].pid, i, &value, &added, err);
	for (size_t i = 0; ok && i < w->profile->thread_count; i++) {
		uint32_t process = hash_map_get(&by_pid, &w->profile->threads[i].pid);

		w->users[i] = process == HASH_MAP_NONE ? PROFILE_NONE : symbols->processes[process].user;
	}
	hash_map_deinit(&by_pid);
	return ok;
}

bool profile_place_generations(struct profile *profile, const struct profile_symbols *symbols,
	const struct profile_generation *generations, size_t count, double *doubtful, struct error *err)
{
	CLEANUP(generation_work_deinit) struct generation_work w = { .profile = profile };
	bool has_timeline = profile->has_timeline;

	shares_init(&w.frames, most_frames);
	*doubtful = 0;
	if (count == 0)
		return true;
	if (!generation_work_init(&w, count, err) || !find_users(&w, symbols, err))
		return false;
	find_stacks_with_generations(&w, generations, count);
	if (!place_samples(&w, err))
		return false;
	profile->has_timeline = has_timeline;
	*doubtful = w.total > 0 ? w.doubtful / w.total : 0;
	return true;
}
