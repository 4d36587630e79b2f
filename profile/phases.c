/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/phases.h"

#include "profile/copy.h"
#include "profile/index.h"

#include <math.h>
#include <stdlib.h>

bool profile_has_phases(const struct profile *profile)
{
	for (size_t i = 0; i < profile->run_count; i++)
		if (profile->runs[i].name)
			return true;
	return false;
}

uint32_t profile_execution(const struct profile *profile, uint32_t run)
{
	uint32_t execution = run;

	while (execution > 0 && profile->runs[execution].name)
		execution--;
	return profile->runs[execution].name ? run : execution;
}

size_t profile_execution_count(const struct profile *profile)
{
	bool has_execution = false;
	size_t count = 0;

	for (size_t i = 0; i < profile->run_count; i++) {
		has_execution |= profile->runs[i].name == 0;
		count += profile->runs[i].name == 0 || !has_execution;
	}
	return count;
}

/* ---- Choosing phases ---- */

struct phases_choice {
	const struct profile *from;
	const double *factors;
	struct profile_copy copy;
	uint32_t *runs;    /* owned: [run] run of the new profile that it becomes part of */
	int64_t *starts;   /* owned: [run] where it begins in that run */
	uint32_t *samples; /* owned: [sample] sample of the new profile; PROFILE_NONE: it is not chosen */
	/* owned: [stack] waiting time of its samples, before and after */
	double *waited_before, *waited_after;
};

static void choice_deinit(struct phases_choice *c)
{
	profile_copy_deinit(&c->copy);
	free(c->runs);
	free(c->starts);
	free(c->samples);
	free(c->waited_before);
	free(c->waited_after);
}

static bool choice_init(struct phases_choice *c, struct error *err)
{
	const struct profile *from = c->from;

	for (size_t i = 0; i < from->run_count; i++)
		if (!(c->factors[i] >= 0) || isinf(c->factors[i]))
			return error_set(err, ERROR_USAGE, "run %zu has no valid factor", i);
	c->runs = calloc(from->run_count + 1, sizeof(*c->runs));
	c->starts = calloc(from->run_count + 1, sizeof(*c->starts));
	c->samples = calloc(from->sample_count + 1, sizeof(*c->samples));
	c->waited_before = calloc(from->stack_count + 1, sizeof(*c->waited_before));
	c->waited_after = calloc(from->stack_count + 1, sizeof(*c->waited_after));
	return (c->runs && c->starts && c->samples && c->waited_before && c->waited_after) || error_set_memory(err);
}

static uint32_t phases_run_of_sample(const struct profile *profile, size_t sample)
{
	return profile->threads[profile->samples[sample].thread].run;
}

/* Returns an array: [run] how long it is: at least up to its last event. */
static int64_t *run_lengths(const struct profile *profile)
{
	int64_t *lengths = calloc(profile->run_count + 1, sizeof(*lengths));

	for (size_t i = 0; lengths && i < profile->run_count; i++)
		lengths[i] = profile->runs[i].duration_ns > 0 ? profile->runs[i].duration_ns : 0;
	for (size_t i = 0; lengths && i < profile->event_count; i++) {
		const struct profile_event *event = &profile->events[i];
		int64_t *length = &lengths[phases_run_of_sample(profile, event->sample)];

		if (event->time_ns >= *length)
			*length = saturating_add(event->time_ns, 1);
	}
	return lengths;
}

/* Makes one run of the chosen phases of each execution that has some. */
static bool choose_runs(struct phases_choice *c, struct error *err)
{
	const struct profile *from = c->from;
	struct profile *into = c->copy.into;
	CLEANUP(cleanup_free) int64_t *lengths = run_lengths(from);
	uint32_t execution = PROFILE_NONE, made_for = PROFILE_NONE, made = 0;
	int64_t end = 0;

	if (!lengths)
		return error_set_memory(err);
	for (uint32_t i = 0; i < from->run_count; i++) {
		if (from->runs[i].name == 0 || execution == PROFILE_NONE || from->runs[execution].name)
			execution = i;
		if (!(c->factors[i] > 0))
			continue;
		if (made_for != execution) {
			const struct profile_run whole = profile_copied_run(&c->copy, execution);
			struct profile_run run = { .start_unix_ns = whole.start_unix_ns,
				.exit_status = -1,
				.instance = whole.instance,
				.cpu_model = whole.cpu_model,
				.layout = whole.layout };

			if (!profile_add_run(into, &run, &made, err))
				return false;
			made_for = execution;
			end = 0;
		}
		c->runs[i] = made;
		c->starts[i] = end;
		end = saturating_add(end, lengths[i]);
		into->runs[made].duration_ns = saturating_add(into->runs[made].duration_ns, from->runs[i].duration_ns);
	}
	return true;
}

/* Copies the stacks that chosen samples have, and those that ended their waits. */
static bool choose_stacks(struct phases_choice *c, struct error *err)
{
	const struct profile *from = c->from;
	CLEANUP(cleanup_free) bool *stacks = calloc(from->stack_count + 1, sizeof(*stacks));
	CLEANUP(cleanup_free) bool *locations = calloc(from->location_count + 1, sizeof(*locations));

	if (!stacks || !locations)
		return error_set_memory(err);
	for (size_t i = 0; i < from->sample_count; i++)
		stacks[from->samples[i].stack] |= c->factors[phases_run_of_sample(from, i)] > 0;
	for (size_t i = 0; i < from->release_count; i++)
		stacks[from->releases[i].releaser] |= stacks[from->releases[i].stack];
	for (size_t i = from->stack_count; i-- > 1;) {
		if (!stacks[i])
			continue;
		stacks[from->stacks[i].parent] = true;
		locations[from->stacks[i].location] = true;
	}
	return profile_copy_locations(&c->copy, locations, err) && profile_copy_stacks(&c->copy, stacks, err);
}

static int64_t choice_scaled(int64_t value, double factor)
{
	static const double most = 9e18;

	return (int64_t)fmin(round((double)value * factor), most);
}

/* Returns whether a value type says how many samples another one is made of, or was taken. */
static bool phases_is_count(const struct profile *profile, uint32_t value_type)
{
	bool counts = value_type == 0;

	for (uint32_t i = 0; i < profile->value_type_count; i++)
		counts |= profile->counts_of[i] == value_type;
	return counts;
}

static bool choose_sample(struct phases_choice *c, size_t sample, const bool *counts, struct error *err)
{
	const struct profile *from = c->from;
	struct profile *into = c->copy.into;
	const struct profile_sample *chosen = &from->samples[sample];
	uint32_t run = phases_run_of_sample(from, sample), thread, *id = &c->samples[sample];
	size_t width = from->value_type_count;
	const int64_t *values = &from->values[sample * width];

	if (!profile_copy_thread(&c->copy, chosen->thread, c->runs[run], &thread, err) ||
		!profile_find_sample(into, c->copy.stacks[chosen->stack], thread, id, err))
		return false;
	for (size_t v = 0; v < width; v++) {
		int64_t *sum = &into->values[*id * width + c->copy.values[v]];

		*sum = saturating_add(*sum, counts[v] ? values[v] : choice_scaled(values[v], c->factors[run]));
	}
	return true;
}

static double waited(const struct profile *profile, const struct profile_wait_values *types, size_t sample)
{
	const int64_t *values = &profile->values[sample * profile->value_type_count];

	return (types->off_cpu == PROFILE_NONE ? 0 : (double)values[types->off_cpu]) +
	       (types->idle == PROFILE_NONE ? 0 : (double)values[types->idle]);
}

static bool phases_choose_samples(struct phases_choice *c, struct error *err)
{
	const struct profile *from = c->from;
	const struct profile_wait_values types = profile_wait_values(from);
	bool counts[PROFILE_MAX_VALUE_TYPES];

	for (uint32_t v = 0; v < from->value_type_count; v++)
		counts[v] = phases_is_count(from, v);
	for (size_t i = 0; i < from->sample_count; i++) {
		double factor = c->factors[phases_run_of_sample(from, i)], wait = waited(from, &types, i);

		c->samples[i] = PROFILE_NONE;
		c->waited_before[from->samples[i].stack] += wait;
		c->waited_after[from->samples[i].stack] += wait * factor;
		if (factor > 0 && !choose_sample(c, i, counts, err))
			return false;
	}
	return c->copy.into->sample_count > 0 ||
	       error_set(err, ERROR_EMPTY, "nothing was recorded in the chosen phases");
}

static bool choose_events(struct phases_choice *c, struct error *err)
{
	const struct profile *from = c->from;
	struct profile *into = c->copy.into;

	into->has_timeline = from->has_timeline;
	for (size_t i = 0; from->has_timeline && i < from->event_count; i++) {
		const struct profile_event *event = &from->events[i];
		uint32_t run = phases_run_of_sample(from, event->sample);
		int64_t weight = i < from->weighted_count ? from->event_weights[i] : 0;

		if (c->samples[event->sample] == PROFILE_NONE)
			continue;
		/* A weight of 0 would say that the event has none. */
		if (weight > 0)
			weight = choice_scaled(weight, c->factors[run]);
		if (weight == 0 && i < from->weighted_count && from->event_weights[i] > 0)
			weight = 1;
		if (!profile_append_event(into, saturating_add(c->starts[run], event->time_ns),
			    c->samples[event->sample], weight, err))
			return false;
	}
	return true;
}

/* It is known of a stack, but not of a phase, who ended its waits: each phase has its share of them. */
static bool choose_releases(struct phases_choice *c, struct error *err)
{
	const struct profile *from = c->from;

	if (!profile_copy_locks(&c->copy, err))
		return false;
	for (size_t i = 0; i < from->release_count; i++) {
		struct profile_release release = from->releases[i];
		double share = c->waited_after[release.stack] / c->waited_before[release.stack];

		if (!(share > 0))
			continue;
		release.weight_ns = choice_scaled(release.weight_ns, share);
		release.stack = c->copy.stacks[release.stack];
		release.releaser = c->copy.stacks[release.releaser];
		release.lock = release.lock == PROFILE_NONE ? PROFILE_NONE : c->copy.first_lock + release.lock;
		if (!profile_add_release(c->copy.into, &release, err))
			return false;
	}
	return true;
}

bool profile_choose_phases(
	const struct profile *profile, const double *factors, struct profile **chosen, struct error *err)
{
	CLEANUP(choice_deinit) struct phases_choice c = { .from = profile, .factors = factors };
	CLEANUP(profile_cleanup) struct profile *made = NULL;

	if (!choice_init(&c, err) || !profile_create(&made, err) || !profile_copy_init(&c.copy, made, profile, err))
		return false;
	profile_copy_circumstances(&c.copy);
	if (!choose_runs(&c, err) || !choose_stacks(&c, err) || !phases_choose_samples(&c, err) ||
		!choose_events(&c, err) || !choose_releases(&c, err) || !profile_finish(made, err) ||
		!profile_validate(made, err))
		return false;
	*chosen = TAKE(made);
	return true;
}

bool profile_join_phases(const struct profile *profile, struct profile **joined, struct error *err)
{
	CLEANUP(cleanup_free) double *factors = NULL;

	if (!profile_has_phases(profile))
		return true;
	if (!ARRAY_ZEROED(&factors, profile->run_count, err))
		return false;
	for (size_t i = 0; i < profile->run_count; i++)
		factors[i] = 1;
	return profile_choose_phases(profile, factors, joined, err);
}
