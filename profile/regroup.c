/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes groups of samples the functions of a profile, with their events, threads and runs as they were. */
#include "profile/regroup.h"

#include "profile/copy.h"
#include "profile/index.h"

#include <assert.h>
#include <stdlib.h>

struct regrouper {
	const struct profile *from;
	const struct profile_regrouping *regrouping;
	struct profile_copy copy;
	uint32_t *locations;   /* [group, and `rest` behind them] its location, PROFILE_NONE: it has none yet; owned */
	uint8_t *wait_classes; /* [location of `from`] class whose frame it is; owned */
	uint32_t *threads;     /* [thread of `from`] owned */
	uint32_t *samples;     /* [sample of `from`] its sample; PROFILE_NONE: it is left out; owned */
	int64_t *weights;      /* [sample of `from`] of all its events; owned */
	uint32_t *firsts;      /* [sample] the first one of `from` that it is made of; owned */
	bool *is_mixed;        /* [sample] the weights of its events mean different amounts of its value; owned */
};

static void regrouper_deinit(struct regrouper *r)
{
	profile_copy_deinit(&r->copy);
	free(r->locations);
	free(r->wait_classes);
	free(r->threads);
	free(r->samples);
	free(r->weights);
	free(r->firsts);
	free(r->is_mixed);
}

static bool regrouper_init(struct regrouper *r, struct error *err)
{
	const struct profile *from = r->from;

	r->locations = malloc((r->regrouping->group_count + 1) * sizeof(*r->locations));
	r->wait_classes = malloc(from->location_count + 1);
	r->threads = malloc((from->thread_count + 1) * sizeof(*r->threads));
	r->samples = malloc((from->sample_count + 1) * sizeof(*r->samples));
	r->weights = calloc(from->sample_count + 1, sizeof(*r->weights));
	r->firsts = malloc((from->sample_count + 1) * sizeof(*r->firsts));
	r->is_mixed = calloc(from->sample_count + 1, sizeof(*r->is_mixed));
	if (!r->locations || !r->wait_classes || !r->threads || !r->samples || !r->weights || !r->firsts ||
		!r->is_mixed)
		return error_set_memory(err);
	for (size_t i = 0; i <= r->regrouping->group_count; i++)
		r->locations[i] = PROFILE_NONE;
	return true;
}

/* ---- What stays ---- */

static bool keep_runs_and_threads(struct regrouper *r, struct error *err)
{
	uint32_t id;

	for (size_t i = 0; i < r->from->run_count; i++) {
		struct profile_run run = profile_copied_run(&r->copy, i);

		if (!profile_add_run(r->copy.into, &run, &id, err))
			return false;
	}
	for (uint32_t i = 0; i < r->from->thread_count; i++)
		if (!profile_copy_thread(&r->copy, i, r->from->threads[i].run, &r->threads[i], err))
			return false;
	return true;
}

static bool keep_circumstances(struct regrouper *r, struct error *err)
{
	struct profile *into = r->copy.into;

	profile_copy_circumstances(&r->copy);
	/* They name locations and mappings, and there are none of code. */
	into->quality.open_end = 0;
	into->quality.open_end_count = 0;
	into->quality.placed_count = 0;
	return profile_copy_requests(&r->copy, 0, err);
}

/* ---- Groups ---- */

/*
 * The name is the identity: what a compiler adds to names of functions is no part of a group's name, so that it is not
 * taken away.
 */
static bool regroup_add_group(struct regrouper *r, const char *name, uint32_t *location, struct error *err)
{
	struct profile *into = r->copy.into;
	struct profile_function function = { .name_source = PROFILE_NAME_IMPORTED };
	struct profile_line line = { 0 };
	CLEANUP(buffer_deinit) struct buffer identity = BUFFER_INIT(SIZE_MAX / 2);
	uint32_t key;

	buffer_printf(&identity, "%s`%s", name, PROFILE_GROUP_MODULE);
	if (!buffer_ok(&identity, err) || !string_table_add(into->strings, identity.data, identity.size, &key, err) ||
		!profile_intern(into, name, &function.name, err) ||
		!profile_intern(into, PROFILE_GROUP_MODULE, &function.module, err) ||
		!profile_add_function(into, &function, &line.function, err))
		return false;
	into->functions[line.function].key = key;
	return profile_add_location_of_lines(into, PROFILE_NONE, &line, 1, location, err);
}

/* Adds the frame of a group, or of `rest`, to a stack. */
static bool push_group(struct regrouper *r, size_t group, uint32_t *stack, struct error *err)
{
	const struct profile_regrouping *regrouping = r->regrouping;

	assert(group <= regrouping->group_count);
	if (r->locations[group] == PROFILE_NONE &&
		!regroup_add_group(r, group < regrouping->group_count ? regrouping->names[group] : regrouping->rest,
			&r->locations[group], err))
		return false;
	return profile_add_stack(r->copy.into, *stack, r->locations[group], stack, err);
}

static void find_wait_classes(struct regrouper *r)
{
	const struct profile *from = r->from;

	for (size_t i = 0; i < from->location_count; i++) {
		const struct profile_location *location = &from->locations[i];

		r->wait_classes[i] =
			(uint8_t)(location->line_count == 0 ? PROFILE_WAIT_NONE
							    : profile_wait_class_of_function(from,
								      from->lines[location->first_line].function));
	}
}

static bool regroup_make_stack(struct regrouper *r, size_t sample, uint32_t *stack, struct error *err)
{
	const struct profile_regrouping *regrouping = r->regrouping;
	uint32_t leaf = r->from->samples[sample].stack, first = regrouping->first[sample],
		 end = regrouping->first[sample + 1];
	enum profile_wait_class wait_class =
		leaf ? (enum profile_wait_class)r->wait_classes[r->from->stacks[leaf].location] : PROFILE_WAIT_NONE;

	*stack = 0;
	if (first == end && !push_group(r, regrouping->group_count, stack, err))
		return false;
	for (uint32_t i = first; i < end; i++)
		if (!push_group(r, regrouping->groups[i], stack, err))
			return false;
	return wait_class == PROFILE_WAIT_NONE || profile_add_wait_stack(r->copy.into, *stack, wait_class, stack, err);
}

/* ---- Samples ---- */

static void sum_weights(struct regrouper *r)
{
	for (size_t i = 0; i < r->from->event_count; i++) {
		int64_t *sum = &r->weights[r->from->events[i].sample];

		*sum = saturating_add(*sum, profile_event_weight(r->from, i));
	}
}

static int64_t default_value(const struct regrouper *r, size_t sample)
{
	return r->from->values[sample * r->from->value_type_count + r->from->default_value_type];
}

/* Returns whether a unit of the weight of events means the same amount of the value in both samples. */
static bool weigh_alike(const struct regrouper *r, size_t a, size_t b)
{
	return (__int128)default_value(r, a) * r->weights[b] == (__int128)default_value(r, b) * r->weights[a];
}

static bool regroup_add_to_group(struct regrouper *r, size_t sample, struct error *err)
{
	const struct profile_sample *from = &r->from->samples[sample];
	struct profile *into = r->copy.into;
	size_t width = into->value_type_count, known = into->sample_count;
	uint32_t stack, id;

	if (!regroup_make_stack(r, sample, &stack, err) ||
		!profile_find_sample(into, stack, r->threads[from->thread], &id, err))
		return false;
	r->samples[sample] = id;
	if (id == known)
		r->firsts[id] = (uint32_t)sample;
	else if (!r->is_mixed[id])
		r->is_mixed[id] = !weigh_alike(r, r->firsts[id], sample);
	for (size_t v = 0; v < width; v++) {
		int64_t *sum = &into->values[id * width + r->copy.values[v]];

		*sum = saturating_add(*sum, r->from->values[sample * width + v]);
	}
	return true;
}

static bool regroup_add_samples(struct regrouper *r, struct error *err)
{
	const bool *left_out = r->regrouping->left_out;

	find_wait_classes(r);
	sum_weights(r);
	for (size_t i = 0; i < r->from->sample_count; i++) {
		r->samples[i] = PROFILE_NONE;
		if ((!left_out || !left_out[i]) && !regroup_add_to_group(r, i, err))
			return false;
	}
	return true;
}

/* ---- Events ---- */

/*
 * Returns the weight of an event. Where samples that were added up have events of different values, each event gets its
 * own value as its weight: without that, the time of one group's parts would be spread evenly over all their events.
 */
static int64_t regroup_weight_of(const struct regrouper *r, size_t event)
{
	uint32_t sample = r->from->events[event].sample;
	int64_t weight, own = event < r->from->weighted_count ? r->from->event_weights[event] : 0;

	if (!r->is_mixed[r->samples[sample]])
		return own;
	weight = (int64_t)((__int128)default_value(r, sample) * profile_event_weight(r->from, event) /
			   r->weights[sample]);
	return weight > 0 ? weight : 1;
}

static bool regroup_add_events(struct regrouper *r, struct error *err)
{
	const struct profile *from = r->from;
	struct profile *into = r->copy.into;

	into->has_timeline = from->has_timeline;
	if (!ARRAY_RESERVE(&into->events, &into->index->event_capacity, from->event_count + 1, SIZE_MAX / 64, err))
		return false;
	for (size_t i = 0; i < from->event_count; i++) {
		const struct profile_event *event = &from->events[i];
		uint32_t sample = r->samples[event->sample];
		int64_t weight;

		if (sample == PROFILE_NONE)
			continue;
		weight = regroup_weight_of(r, i);
		if (weight != 0 && !profile_set_event_weight(into, into->event_count, weight, err))
			return false;
		into->events[into->event_count++] = (struct profile_event){ event->time_ns, sample };
	}
	return true;
}

bool profile_regroup(const struct profile *profile, const struct profile_regrouping *regrouping,
	struct profile **regrouped, struct error *err)
{
	CLEANUP(regrouper_deinit) struct regrouper r = { .from = profile, .regrouping = regrouping };
	CLEANUP(profile_cleanup) struct profile *made = NULL;

	if (!regrouper_init(&r, err) || !profile_create(&made, err) ||
		!profile_copy_init(&r.copy, made, profile, err) || !keep_runs_and_threads(&r, err) ||
		!keep_circumstances(&r, err) || !regroup_add_samples(&r, err) || !regroup_add_events(&r, err) ||
		!profile_finish(made, err))
		return false;
	*regrouped = TAKE(made);
	return true;
}
