/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks the references and counts of a profile. */
#include "profile/index.h"

#include <stdlib.h>

static bool validate_strings(const struct profile *profile, struct error *err)
{
	uint32_t count = string_table_count(profile->strings);

	for (size_t i = 0; i < profile->mapping_count; i++) {
		const struct profile_mapping *mapping = &profile->mappings[i];

		if (mapping->path >= count || mapping->build_id >= count || mapping->module >= count)
			return error_set(err, ERROR_FORMAT, "mapping %zu references a string that is not there", i);
	}
	for (size_t i = 0; i < profile->function_count; i++) {
		const struct profile_function *function = &profile->functions[i];

		if (function->name >= count || function->linkage_name >= count || function->file >= count ||
			function->module >= count || function->key >= count)
			return error_set(err, ERROR_FORMAT, "function %zu references a string that is not there", i);
	}
	for (size_t i = 0; i < profile->run_count; i++)
		if (profile->runs[i].name >= count || profile->runs[i].instance >= count ||
			profile->runs[i].cpu_model >= count)
			return error_set(err, ERROR_FORMAT, "run %zu references a string that is not there", i);
	for (size_t i = 0; i < profile->thread_count; i++)
		if (profile->threads[i].process_name >= count || profile->threads[i].name >= count ||
			profile->threads[i].labels >= count)
			return error_set(err, ERROR_FORMAT, "thread %zu references a string that is not there", i);
	return true;
}

/* Returns whether it can be a time, or the spread of one: comparisons calculate with its square. */
static bool validate_is_time(double ns)
{
	static const double most_ns = 1e18;

	return ns >= 0 && ns <= most_ns;
}

static bool validate_runs(const struct profile *profile, struct error *err)
{
	for (size_t i = 0; i < profile->run_count; i++) {
		const struct profile_measured *measured = &profile->runs[i].measured;

		if (measured->rounds > PROFILE_MAX_ROUNDS || measured->iterations > PROFILE_MAX_ROUNDS)
			return error_set(err, ERROR_FORMAT, "run %zu has an impossible number of rounds", i);
		if (!validate_is_time(measured->quartile_ns) || !validate_is_time(measured->median_ns) ||
			!validate_is_time(measured->mean_ns) || !validate_is_time(measured->stdev_ns) ||
			!validate_is_time(measured->error_ns))
			return error_set(err, ERROR_FORMAT, "run %zu has measured an impossible time", i);
	}
	return true;
}

static bool validate_tables(const struct profile *profile, struct error *err)
{
	for (size_t i = 0; i < profile->location_count; i++) {
		const struct profile_location *location = &profile->locations[i];

		if (location->mapping != PROFILE_NONE && location->mapping >= profile->mapping_count)
			return error_set(err, ERROR_FORMAT, "location %zu references mapping %u, which is not there", i,
				location->mapping);
		if (!checked_range(location->first_line, location->line_count, profile->line_count))
			return error_set(err, ERROR_FORMAT, "location %zu references lines that are not there", i);
	}
	for (size_t i = 0; i < profile->line_count; i++) {
		if (profile->lines[i].function >= profile->function_count)
			return error_set(err, ERROR_FORMAT, "line %zu references function %u, which is not there", i,
				profile->lines[i].function);
		if (profile->lines[i].file >= string_table_count(profile->strings))
			return error_set(err, ERROR_FORMAT, "line %zu references a string that is not there", i);
	}
	for (size_t i = 0; i < profile->thread_count; i++)
		if (profile->threads[i].run >= profile->run_count)
			return error_set(err, ERROR_FORMAT, "thread %zu references run %u, which is not there", i,
				profile->threads[i].run);
	return true;
}

static bool validate_stacks(const struct profile *profile, struct error *err)
{
	for (size_t i = 1; i < profile->stack_count; i++) {
		const struct profile_stack *stack = &profile->stacks[i];

		if (stack->parent >= i)
			return error_set(err, ERROR_FORMAT,
				"stack %zu has the parent %u, which does not come before it", i, stack->parent);
		if (stack->location >= profile->location_count)
			return error_set(err, ERROR_FORMAT, "stack %zu references location %u, which is not there", i,
				stack->location);
	}
	return true;
}

static bool validate_values(const struct profile *profile, struct error *err)
{
	for (uint32_t v = 0; v < profile->value_type_count; v++) {
		int64_t sum = 0;

		if (profile->counts_of[v] != PROFILE_NONE && profile->counts_of[v] >= profile->value_type_count)
			return error_set(err, ERROR_FORMAT,
				"value type %u is counted by value type %u, which is not there", v,
				profile->counts_of[v]);
		for (size_t i = 0; i < profile->sample_count; i++) {
			int64_t value = profile->values[i * profile->value_type_count + v];

			if (value < 0)
				return error_set(err, ERROR_FORMAT, "sample %zu has the negative value %lld", i,
					(long long)value);
			if (__builtin_add_overflow(sum, value, &sum))
				return error_set(err, ERROR_FORMAT, "the values of %s do not fit 63 bits together",
					profile_string(profile, profile->value_types[v].type));
		}
	}
	return true;
}

static bool validate_samples(const struct profile *profile, struct error *err)
{
	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		if (sample->stack >= profile->stack_count)
			return error_set(err, ERROR_FORMAT, "sample %zu references stack %u, which is not there", i,
				sample->stack);
		if (sample->thread >= profile->thread_count)
			return error_set(err, ERROR_FORMAT, "sample %zu references thread %u, which is not there", i,
				sample->thread);
	}
	for (size_t i = 0; i < profile->event_count; i++)
		if (profile->events[i].sample >= profile->sample_count)
			return error_set(err, ERROR_FORMAT, "event %zu references sample %u, which is not there", i,
				profile->events[i].sample);
	return true;
}

/* The events of a sample share its values by their weights, so that either each of them has one, or none has. */
static bool validate_weights(const struct profile *profile, struct error *err)
{
	CLEANUP(cleanup_free) int64_t *weighted = NULL;

	if (profile->weighted_count == 0)
		return true;
	if (!ARRAY_ZEROED(&weighted, profile->sample_count + 1, err))
		return false;
	for (size_t i = 0; i < profile->weighted_count; i++) {
		if (i >= profile->event_count || profile->event_weights[i] < 0)
			return error_set(err, ERROR_FORMAT, "event %zu has no valid weight", i);
		weighted[profile->events[i].sample] += profile->event_weights[i] > 0;
	}
	for (size_t i = 0; i < profile->sample_count; i++)
		if (weighted[i] && weighted[i] != profile->values[i * profile->value_type_count])
			return error_set(err, ERROR_FORMAT, "of the events of sample %zu only some have a weight", i);
	return true;
}

static bool validate_waits(const struct profile *profile, struct error *err)
{
	uint32_t strings = string_table_count(profile->strings);
	int64_t sum = 0;

	for (size_t i = 0; i < profile->lock_count; i++)
		if (profile->locks[i].name >= strings || profile->locks[i].module >= strings)
			return error_set(err, ERROR_FORMAT, "lock %zu references a string that is not there", i);
	for (size_t i = 0; i < profile->release_count; i++) {
		const struct profile_release *release = &profile->releases[i];

		if (release->stack >= profile->stack_count || release->releaser >= profile->stack_count)
			return error_set(err, ERROR_FORMAT, "release %zu references a stack that is not there", i);
		if (release->lock != PROFILE_NONE && release->lock >= profile->lock_count)
			return error_set(err, ERROR_FORMAT, "release %zu references lock %u, which is not there", i,
				release->lock);
		if (release->weight_ns < 0 || __builtin_add_overflow(sum, release->weight_ns, &sum))
			return error_set(err, ERROR_FORMAT, "release %zu has no valid weight", i);
	}
	return true;
}

bool profile_validate(const struct profile *profile, struct error *err)
{
	return validate_strings(profile, err) && validate_runs(profile, err) && validate_tables(profile, err) &&
	       validate_stacks(profile, err) && validate_samples(profile, err) && validate_values(profile, err) &&
	       validate_weights(profile, err) && validate_waits(profile, err) &&
	       profile_validate_requests(profile, err) && profile_validate_sources(profile, err) &&
	       profile_validate_codes(profile, err);
}
