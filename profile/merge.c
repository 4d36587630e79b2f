/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"

#include "profile/index.h"

#include <stdlib.h>
#include <string.h>

/* Maps the ids of `from` to ids of `into`. */
struct merger {
	struct profile *into;
	const struct profile *from;
	uint32_t *strings, *mappings, *functions, *locations, *threads, *stacks;
	uint32_t values[PROFILE_MAX_VALUE_TYPES]; /* [value type of `from`] value type of `into` */
	uint32_t first_run;
};

static uint32_t *take_ids(size_t count)
{
	return calloc(count ? count : 1, sizeof(uint32_t));
}

static bool merge_allocate(struct merger *m, struct error *err)
{
	const struct profile *from = m->from;

	m->strings = take_ids(string_table_count(from->strings));
	m->mappings = take_ids(from->mapping_count);
	m->functions = take_ids(from->function_count);
	m->locations = take_ids(from->location_count);
	m->threads = take_ids(from->thread_count);
	m->stacks = take_ids(from->stack_count);
	if (!m->strings || !m->mappings || !m->functions || !m->locations || !m->threads || !m->stacks)
		return error_set_memory(err);
	return true;
}

static bool merge_strings(struct merger *m, struct error *err)
{
	const struct string_table *strings = m->from->strings;

	for (uint32_t i = 0; i < string_table_count(strings); i++)
		if (!string_table_add(m->into->strings, string_table_get(strings, i), string_table_size(strings, i),
			    &m->strings[i], err))
			return false;
	return true;
}

static bool is_type(const struct merger *m, uint32_t type, const struct profile_value_type *other)
{
	const struct profile_value_type *known = &m->into->value_types[type];

	return known->type == m->strings[other->type] && known->unit == m->strings[other->unit];
}

/*
 * Where the two profiles count the samples of a value type differently, or only one counts them, their number is not
 * known.
 */
static void merge_counts_of(struct merger *m, bool fresh)
{
	for (uint32_t i = 0; i < m->from->value_type_count; i++) {
		uint32_t *into = &m->into->counts_of[m->values[i]], counts = m->from->counts_of[i];

		counts = counts == PROFILE_NONE ? PROFILE_NONE : m->values[counts];
		*into = fresh || *into == counts ? counts : PROFILE_NONE;
	}
}

/* An empty profile takes over the value types of the other. Else both must have the same ones, in any order. */
static bool merge_value_types(struct merger *m, struct error *err)
{
	struct profile *into = m->into;
	const struct profile *from = m->from;
	bool fresh = into->run_count == 0 && into->sample_count == 0;
	bool taken[PROFILE_MAX_VALUE_TYPES] = { false };

	if (fresh) {
		into->value_type_count = from->value_type_count;
		into->default_value_type = from->default_value_type;
		into->period = from->period;
		into->period_type = (struct profile_value_type){ m->strings[from->period_type.type],
			m->strings[from->period_type.unit] };
		for (uint32_t i = 0; i < from->value_type_count; i++)
			into->value_types[i] = (struct profile_value_type){ m->strings[from->value_types[i].type],
				m->strings[from->value_types[i].unit] };
	}
	if (into->value_type_count != from->value_type_count)
		return error_set(err, ERROR_FORMAT, "%u value types against %u: record both alike",
			into->value_type_count, from->value_type_count);
	for (uint32_t i = 0; i < from->value_type_count; i++) {
		uint32_t k = 0;

		while (k < into->value_type_count && (taken[k] || !is_type(m, k, &from->value_types[i])))
			k++;
		if (k == into->value_type_count)
			return error_set(err, ERROR_FORMAT, "value type %s is only in one of them: record both alike",
				profile_string(from, from->value_types[i].type));
		m->values[i] = k;
		taken[k] = true;
	}
	merge_counts_of(m, fresh);
	if (into->period != from->period)
		into->period = 0;
	return true;
}

static bool merge_mappings(struct merger *m, struct error *err)
{
	for (size_t i = 0; i < m->from->mapping_count; i++) {
		struct profile_mapping mapping = m->from->mappings[i];

		mapping.path = m->strings[mapping.path];
		mapping.build_id = m->strings[mapping.build_id];
		if (!profile_add_mapping(m->into, &mapping, &m->mappings[i], err))
			return false;
	}
	return true;
}

static bool merge_functions(struct merger *m, struct error *err)
{
	for (size_t i = 0; i < m->from->function_count; i++) {
		struct profile_function function = m->from->functions[i];

		function.name = m->strings[function.name];
		function.linkage_name = m->strings[function.linkage_name];
		function.file = m->strings[function.file];
		function.module = m->strings[function.module];
		if (!profile_add_function(m->into, &function, &m->functions[i], err))
			return false;
	}
	return true;
}

static bool merge_location(struct merger *m, size_t id, struct error *err)
{
	const struct profile_location *location = &m->from->locations[id];
	CLEANUP(cleanup_free) struct profile_line *lines = calloc((size_t)location->line_count + 1, sizeof(*lines));
	uint32_t mapping = location->mapping == PROFILE_NONE ? PROFILE_NONE : m->mappings[location->mapping];

	if (!lines)
		return error_set_memory(err);
	for (uint32_t k = 0; k < location->line_count; k++) {
		lines[k] = m->from->lines[location->first_line + k];
		lines[k].function = m->functions[lines[k].function];
	}
	return profile_add_named_location(m->into,
		&(struct profile_location){
			.mapping = mapping, .address = location->address, .line_count = location->line_count },
		lines, &m->locations[id], err);
}

static bool merge_stacks(struct merger *m, struct error *err)
{
	for (size_t i = 0; i < m->from->location_count; i++)
		if (!merge_location(m, i, err))
			return false;
	for (size_t i = 1; i < m->from->stack_count; i++) {
		const struct profile_stack *stack = &m->from->stacks[i];

		if (!profile_add_stack(
			    m->into, m->stacks[stack->parent], m->locations[stack->location], &m->stacks[i], err))
			return false;
	}
	return true;
}

static bool merge_runs_and_threads(struct merger *m, struct error *err)
{
	uint32_t id;

	m->first_run = (uint32_t)m->into->run_count;
	for (size_t i = 0; i < m->from->run_count; i++) {
		struct profile_run run = m->from->runs[i];

		run.name = m->strings[run.name];
		if (!profile_add_run(m->into, &run, &id, err))
			return false;
	}
	for (size_t i = 0; i < m->from->thread_count; i++) {
		struct profile_thread thread = m->from->threads[i];

		thread.run += m->first_run;
		thread.process_name = m->strings[thread.process_name];
		thread.name = m->strings[thread.name];
		if (!profile_add_thread(m->into, &thread, &m->threads[i], err))
			return false;
	}
	return true;
}

/* Samples of different runs have different threads, so a sample of `from` becomes exactly one new sample of `into`. */
static bool merge_samples(struct merger *m, struct error *err)
{
	const struct profile *from = m->from;
	struct profile *into = m->into;
	size_t first = into->sample_count, width = into->value_type_count;
	bool timeline = into->has_timeline && from->has_timeline;

	for (size_t i = 0; i < from->sample_count; i++) {
		int64_t values[PROFILE_MAX_VALUE_TYPES] = { 0 };

		for (size_t v = 0; v < width; v++)
			values[m->values[v]] = from->values[i * width + v];
		if (!profile_add_sample(into, m->stacks[from->samples[i].stack], m->threads[from->samples[i].thread],
			    values, -1, err))
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

static bool merge_waits(struct merger *m, struct error *err)
{
	uint32_t first = (uint32_t)m->into->lock_count, id;

	for (size_t i = 0; i < m->from->lock_count; i++) {
		struct profile_lock lock = m->from->locks[i];

		lock.name = m->strings[lock.name];
		lock.module = m->strings[lock.module];
		if (!profile_add_lock(m->into, &lock, &id, err))
			return false;
	}
	for (size_t i = 0; i < m->from->release_count; i++) {
		struct profile_release release = m->from->releases[i];

		release.stack = m->stacks[release.stack];
		release.releaser = m->stacks[release.releaser];
		release.lock = release.lock == PROFILE_NONE ? PROFILE_NONE : first + release.lock;
		if (!profile_add_release(m->into, &release, err))
			return false;
	}
	profile_sum_releases(m->into);
	return true;
}

static void merge_quality(struct profile *into, const struct profile *from)
{
	into->quality.samples += from->quality.samples;
	into->quality.lost += from->quality.lost;
	into->quality.throttled += from->quality.throttled;
	into->quality.lost_sideband += from->quality.lost_sideband;
	into->quality.frame_pointer_frames += from->quality.frame_pointer_frames;
	into->quality.frames += from->quality.frames;
	for (size_t i = 0; i < PROFILE_STOP_COUNT; i++)
		into->quality.stops[i] += from->quality.stops[i];
}

static void merge_verification(struct merger *m)
{
	struct profile_verification from = m->from->verification;

	for (uint32_t i = 0; i < from.difference_count; i++)
		from.differences[i] = m->strings[from.differences[i]];
	profile_verification_add(&m->into->verification, &from);
}

/* A fact that differs between the profiles, or that one of them lacks, is not known of the merged profile. */
static void merge_facts(struct merger *m, bool fresh)
{
	size_t count;
	const struct profile_fact *facts = profile_facts(&count);

	for (size_t i = 0; i < count; i++) {
		uint32_t into = profile_fact_get(&m->into->facts, &facts[i]),
			 from = profile_fact_get(&m->from->facts, &facts[i]);

		if (facts[i].type == PROFILE_FACT_STRING)
			from = m->strings[from];
		if (facts[i].type == PROFILE_FACT_FLAG)
			from |= into;
		else if (!fresh && into != from)
			from = 0;
		profile_fact_set(&m->into->facts, &facts[i], from);
	}
}

/* A label that differs between the profiles, or that one of them lacks, is not one of the merged profile. */
static void merge_labels(struct merger *m, bool fresh)
{
	struct profile *into = m->into;
	size_t kept = 0;

	for (size_t i = 0; fresh && i < m->from->label_count; i++)
		into->labels[i] = (struct profile_label){ m->strings[m->from->labels[i].key],
			m->strings[m->from->labels[i].value] };
	into->label_count = fresh ? m->from->label_count : into->label_count;
	for (size_t i = 0; i < into->label_count; i++) {
		const char *other = profile_label(m->from, profile_string(into, into->labels[i].key));

		if (other && strcmp(other, profile_string(into, into->labels[i].value)) == 0)
			into->labels[kept++] = into->labels[i];
	}
	into->label_count = kept;
}

bool profile_merge(struct profile *into, const struct profile *from, struct error *err)
{
	struct merger m = { .into = into, .from = from };
	bool fresh = into->run_count == 0 && into->sample_count == 0;
	bool ok = merge_allocate(&m, err) && merge_strings(&m, err) && merge_value_types(&m, err) &&
		  merge_mappings(&m, err) && merge_functions(&m, err) && merge_stacks(&m, err) &&
		  merge_runs_and_threads(&m, err) && merge_samples(&m, err) && merge_waits(&m, err);

	if (ok) {
		merge_quality(into, from);
		merge_verification(&m);
		merge_facts(&m, fresh);
		merge_labels(&m, fresh);
	}
	free(m.strings);
	free(m.mappings);
	free(m.functions);
	free(m.locations);
	free(m.threads);
	free(m.stacks);
	return ok;
}
