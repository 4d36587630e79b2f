/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cuts the recording of an execution into its phases, by the times of its events. */
#include "profile/phases.h"

#include "profile/copy.h"
#include "profile/index.h"

#include <stdlib.h>
#include <string.h>

/* The phase that an event belongs to: the execution, which is run 0, or a phase, which becomes run 1 + its index. */
struct cutter {
	const struct profile *from;
	const struct profile_cut *cut;
	struct profile_copy copy;
	uint32_t *runs; /* owned: [event] */
	/* owned: [location] how many of its frames, from the innermost on, stay below a root; 0: it has none */
	uint32_t *root_frames;
	bool *needed, *needed_rooted; /* owned: [stack] as it is, or from its root on */
	uint32_t *rooted; /* owned: [stack] from its root on; PROFILE_NONE: it has no root, or is not needed */
	uint32_t *threads, *thread_runs; /* owned: [thread] the thread that it last was, and in which run */
	int64_t *weights, *taken;        /* owned: [sample] weight of its events, and of those that were handed out */
	int64_t *starts;                 /* owned: [run] start of its first stretch */
};

static void cutter_deinit(struct cutter *c)
{
	profile_copy_deinit(&c->copy);
	free(c->runs);
	free(c->root_frames);
	free(c->needed);
	free(c->needed_rooted);
	free(c->rooted);
	free(c->threads);
	free(c->thread_runs);
	free(c->weights);
	free(c->taken);
	free(c->starts);
}

static bool cutter_init(struct cutter *c, struct error *err)
{
	const struct profile *from = c->from;

	if (!ARRAY_ZEROED(&c->runs, from->event_count + 1, err) ||
		!ARRAY_ZEROED(&c->root_frames, from->location_count + 1, err) ||
		!ARRAY_ZEROED(&c->needed, from->stack_count + 1, err) ||
		!ARRAY_ZEROED(&c->needed_rooted, from->stack_count + 1, err) ||
		!ARRAY_ZEROED(&c->rooted, from->stack_count + 1, err) ||
		!ARRAY_ZEROED(&c->threads, from->thread_count + 1, err) ||
		!ARRAY_ZEROED(&c->thread_runs, from->thread_count + 1, err) ||
		!ARRAY_ZEROED(&c->weights, from->sample_count + 1, err) ||
		!ARRAY_ZEROED(&c->taken, from->sample_count + 1, err) ||
		!ARRAY_ZEROED(&c->starts, c->cut->phase_count + 1, err))
		return false;
	memset(c->rooted, 0xff, (from->stack_count + 1) * sizeof(*c->rooted));
	memset(c->thread_runs, 0xff, (from->thread_count + 1) * sizeof(*c->thread_runs));
	return true;
}

static bool check_cut(const struct profile *profile, const struct profile_cut *cut, struct error *err)
{
	int64_t end = 0;

	if (profile->run_count != 1 || profile_has_phases(profile))
		return error_set(err, ERROR_UNSUPPORTED, "only the recording of one execution can be cut into phases");
	if (!profile->has_timeline)
		return error_set(err, ERROR_UNSUPPORTED,
			"the recording does not say when its samples were taken, so it cannot be cut into phases");
	for (size_t i = 0; i < cut->phase_count; i++)
		if (cut->phases[i].name == 0 || cut->phases[i].name >= string_table_count(profile->strings))
			return error_set(err, ERROR_FORMAT, "phase %zu has no name", i);
	for (size_t i = 0; i < cut->stretch_count; i++) {
		const struct profile_stretch *stretch = &cut->stretches[i];

		if (stretch->start_ns < end || stretch->end_ns < stretch->start_ns)
			return error_set(err, ERROR_FORMAT, "stretch %zu begins before the one before it has ended", i);
		if (stretch->phase >= cut->phase_count)
			return error_set(
				err, ERROR_FORMAT, "stretch %zu is of phase %u, which is not there", i, stretch->phase);
		end = stretch->end_ns;
	}
	return true;
}

/* ---- What belongs to which phase ---- */

/* Events and stretches are in order of time. */
static void place_events(struct cutter *c)
{
	const struct profile_cut *cut = c->cut;
	size_t stretch = 0;

	for (size_t i = cut->stretch_count; i-- > 0;)
		c->starts[1 + cut->stretches[i].phase] = cut->stretches[i].start_ns;
	for (size_t i = 0; i < c->from->event_count; i++) {
		const struct profile_event *event = &c->from->events[i];
		int64_t *weight = &c->weights[event->sample];

		while (stretch < cut->stretch_count && event->time_ns >= cut->stretches[stretch].end_ns)
			stretch++;
		if (stretch < cut->stretch_count && event->time_ns >= cut->stretches[stretch].start_ns)
			c->runs[i] = 1 + cut->stretches[stretch].phase;
		*weight = saturating_add(*weight, profile_event_weight(c->from, i));
	}
}

/* ---- Stacks ---- */

static bool find_roots(struct cutter *c, struct error *err)
{
	const struct profile *from = c->from;
	CLEANUP(cleanup_free) bool *is_root = calloc(from->function_count + 1, sizeof(*is_root));

	if (!is_root)
		return error_set_memory(err);
	for (size_t i = 0; i < from->function_count; i++)
		is_root[i] = strstr(profile_string(from, from->functions[i].name), c->cut->root) != NULL;
	for (size_t i = 0; i < from->location_count; i++)
		for (uint32_t k = 0; k < from->locations[i].line_count; k++)
			if (is_root[from->lines[from->locations[i].first_line + k].function])
				c->root_frames[i] = k + 1;
	return true;
}

static bool has_root(const struct cutter *c, uint32_t stack)
{
	for (; stack; stack = c->from->stacks[stack].parent)
		if (c->root_frames[c->from->stacks[stack].location] > 0)
			return true;
	return false;
}

/* Marks the stacks that samples and releases will have, with those that they grow from. */
static void phases_cut_mark_stacks(struct cutter *c)
{
	const struct profile *from = c->from;

	for (size_t i = 0; i < from->event_count; i++) {
		uint32_t stack = from->samples[from->events[i].sample].stack;

		(c->runs[i] > 0 ? c->needed_rooted : c->needed)[stack] = true;
	}
	for (size_t i = 0; i < from->sample_count; i++)
		if (c->weights[i] == 0)
			c->needed[from->samples[i].stack] = true;
	for (size_t i = 0; i < from->stack_count; i++)
		if (c->needed_rooted[i] && (!c->cut->root || !has_root(c, (uint32_t)i))) {
			c->needed_rooted[i] = false;
			c->needed[i] = true;
		}
	for (size_t i = 0; i < from->release_count; i++) {
		const struct profile_release *release = &from->releases[i];

		c->needed[release->stack] |= !c->needed_rooted[release->stack];
		c->needed[release->releaser] |= !c->needed_rooted[release->releaser];
	}
	for (size_t i = from->stack_count; i-- > 1;) {
		c->needed[from->stacks[i].parent] |= c->needed[i];
		c->needed_rooted[from->stacks[i].parent] |= c->needed_rooted[i];
	}
}

static bool copy_needed_stacks(struct cutter *c, struct error *err)
{
	const struct profile *from = c->from;
	CLEANUP(cleanup_free) bool *locations = calloc(from->location_count + 1, sizeof(*locations));

	if (!locations)
		return error_set_memory(err);
	for (size_t i = 1; i < from->stack_count; i++)
		locations[from->stacks[i].location] |= c->needed[i] || c->needed_rooted[i];
	return profile_copy_locations(&c->copy, locations, err) && profile_copy_stacks(&c->copy, c->needed, err);
}

/* The location of a root without the frames that it is inlined into. */
static bool cut_location(struct cutter *c, uint32_t id, uint32_t *made, struct error *err)
{
	const struct profile_location *location = &c->from->locations[id];
	uint32_t count = c->root_frames[id];
	CLEANUP(cleanup_free) struct profile_line *lines = NULL;

	*made = c->copy.locations[id];
	if (count == location->line_count)
		return true;
	if (!ARRAY_ZEROED(&lines, count, err))
		return false;
	for (uint32_t k = 0; k < count; k++)
		lines[k] = profile_copied_line(&c->copy, &c->from->lines[location->first_line + k]);
	return profile_add_location_of_lines(c->copy.into,
		location->mapping == PROFILE_NONE ? PROFILE_NONE : c->copy.mappings[location->mapping], lines, count,
		made, err);
}

/* A caller has a smaller id than what it calls, so the outermost root is met first. */
static bool root_stacks(struct cutter *c, struct error *err)
{
	const struct profile *from = c->from;

	for (size_t i = 1; i < from->stack_count; i++) {
		const struct profile_stack *stack = &from->stacks[i];
		uint32_t parent = c->rooted[stack->parent], location = c->copy.locations[stack->location];

		if (!c->needed_rooted[i] || (parent == PROFILE_NONE && c->root_frames[stack->location] == 0))
			continue;
		if (parent == PROFILE_NONE && !cut_location(c, stack->location, &location, err))
			return false;
		if (!profile_add_stack(c->copy.into, parent == PROFILE_NONE ? 0 : parent, location, &c->rooted[i], err))
			return false;
	}
	return true;
}

static bool cut_stacks(struct cutter *c, struct error *err)
{
	if (c->cut->root && !find_roots(c, err))
		return false;
	phases_cut_mark_stacks(c);
	return copy_needed_stacks(c, err) && root_stacks(c, err);
}

static uint32_t stack_in(const struct cutter *c, uint32_t stack, uint32_t run)
{
	return run > 0 && c->rooted[stack] != PROFILE_NONE ? c->rooted[stack] : c->copy.stacks[stack];
}

/* ---- Samples ---- */

static bool cut_runs(struct cutter *c, struct error *err)
{
	struct profile_run execution = profile_copied_run(&c->copy, 0);
	uint32_t id;

	for (size_t i = 0; i < c->cut->stretch_count; i++)
		execution.duration_ns = saturating_add(
			execution.duration_ns, c->cut->stretches[i].start_ns - c->cut->stretches[i].end_ns);
	if (execution.duration_ns < 0)
		execution.duration_ns = 0;
	if (!profile_add_run(c->copy.into, &execution, &id, err))
		return false;
	for (size_t i = 0; i < c->cut->phase_count; i++) {
		struct profile_run phase = c->cut->phases[i];

		phase.name = c->copy.strings[phase.name];
		phase.instance = execution.instance;
		phase.cpu_model = execution.cpu_model;
		if (!profile_add_run(c->copy.into, &phase, &id, err))
			return false;
	}
	return true;
}

static bool phases_cut_find_thread(struct cutter *c, uint32_t thread, uint32_t run, uint32_t *made, struct error *err)
{
	if (c->thread_runs[thread] != run) {
		if (!profile_copy_thread(&c->copy, thread, run, &c->threads[thread], err))
			return false;
		c->thread_runs[thread] = run;
	}
	*made = c->threads[thread];
	return true;
}

/*
 * The values of an event are its share of those of its sample. The shares are rounded so that they add up: each event
 * gets what its weight adds to the share of all events up to it.
 */
static void share_values(struct cutter *c, size_t event, int64_t *values)
{
	const struct profile *from = c->from;
	uint32_t sample = from->events[event].sample;
	int64_t before = c->taken[sample], after = saturating_add(before, profile_event_weight(from, event));
	const int64_t *sums = &from->values[(size_t)sample * from->value_type_count];

	for (uint32_t v = 0; v < from->value_type_count; v++)
		values[v] = (int64_t)((__int128)sums[v] * after / c->weights[sample] -
				      (__int128)sums[v] * before / c->weights[sample]);
	values[0] = 1;
	c->taken[sample] = after;
}

static bool cut_event(struct cutter *c, size_t event, struct error *err)
{
	const struct profile *from = c->from;
	const struct profile_sample *sample = &from->samples[from->events[event].sample];
	int64_t weight = event < from->weighted_count ? from->event_weights[event] : 0;
	int64_t values[PROFILE_MAX_VALUE_TYPES];
	uint32_t run = c->runs[event], thread;

	share_values(c, event, values);
	return phases_cut_find_thread(c, sample->thread, run, &thread, err) &&
	       profile_add_sample(c->copy.into, stack_in(c, sample->stack, run), thread, values,
		       from->events[event].time_ns - c->starts[run], err) &&
	       (weight == 0 || profile_weigh_event(c->copy.into, weight, err));
}

/* A sample without events has no time, and stays with the execution. */
static bool keep_sample(struct cutter *c, size_t sample, struct error *err)
{
	const struct profile *from = c->from;
	struct profile *into = c->copy.into;
	size_t width = from->value_type_count;
	uint32_t thread, id;

	if (!phases_cut_find_thread(c, from->samples[sample].thread, 0, &thread, err) ||
		!profile_find_sample(into, stack_in(c, from->samples[sample].stack, 0), thread, &id, err))
		return false;
	for (size_t v = 0; v < width; v++)
		into->values[id * width + v] =
			saturating_add(into->values[id * width + v], from->values[sample * width + v]);
	return true;
}

static bool cut_samples(struct cutter *c, struct error *err)
{
	for (size_t i = 0; i < c->from->event_count; i++)
		if (!cut_event(c, i, err))
			return false;
	for (size_t i = 0; i < c->from->sample_count; i++)
		if (c->weights[i] == 0 && !keep_sample(c, i, err))
			return false;
	return true;
}

/* It is not known when a wait was ended, but of which stack: a stack that a phase has goes with the phase. */
static bool cut_releases(struct cutter *c, struct error *err)
{
	if (!profile_copy_locks(&c->copy, err))
		return false;
	for (size_t i = 0; i < c->from->release_count; i++) {
		struct profile_release release = c->from->releases[i];

		release.stack = stack_in(c, release.stack, 1);
		release.releaser = stack_in(c, release.releaser, 1);
		release.lock = release.lock == PROFILE_NONE ? PROFILE_NONE : c->copy.first_lock + release.lock;
		if (!profile_add_release(c->copy.into, &release, err))
			return false;
	}
	return true;
}

bool profile_cut_phases(
	const struct profile *profile, const struct profile_cut *cut, struct profile **cut_profile, struct error *err)
{
	CLEANUP(cutter_deinit) struct cutter c = { .from = profile, .cut = cut };
	CLEANUP(profile_cleanup) struct profile *made = NULL;

	if (!check_cut(profile, cut, err) || !cutter_init(&c, err) || !profile_create(&made, err) ||
		!profile_copy_init(&c.copy, made, profile, err))
		return false;
	profile_copy_circumstances(&c.copy);
	place_events(&c);
	if (!cut_stacks(&c, err) || !cut_runs(&c, err) || !cut_samples(&c, err) || !cut_releases(&c, err) ||
		!profile_copy_requests(&c.copy, 0, err) || !profile_finish(made, err) || !profile_validate(made, err))
		return false;
	*cut_profile = TAKE(made);
	return true;
}
