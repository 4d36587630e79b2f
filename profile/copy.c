/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/copy.h"

#include "profile/index.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *take_ids(size_t count)
{
	return calloc(count ? count : 1, sizeof(uint32_t));
}

static bool copy_allocate(struct profile_copy *copy, struct error *err)
{
	const struct profile *from = copy->from;

	copy->strings = take_ids(string_table_count(from->strings));
	copy->mappings = take_ids(from->mapping_count);
	copy->functions = take_ids(from->function_count);
	copy->locations = take_ids(from->location_count);
	copy->stacks = take_ids(from->stack_count);
	if (!copy->strings || !copy->mappings || !copy->functions || !copy->locations || !copy->stacks)
		return error_set_memory(err);
	return true;
}

static bool copy_strings(struct profile_copy *copy, struct error *err)
{
	const struct string_table *strings = copy->from->strings;

	for (uint32_t i = 0; i < string_table_count(strings); i++)
		if (!string_table_add(copy->into->strings, string_table_get(strings, i), string_table_size(strings, i),
			    &copy->strings[i], err))
			return false;
	return true;
}

static bool is_type(const struct profile_copy *copy, uint32_t type, const struct profile_value_type *other)
{
	const struct profile_value_type *known = &copy->into->value_types[type];

	return known->type == copy->strings[other->type] && known->unit == copy->strings[other->unit];
}

/*
 * Where the two profiles count the samples of a value type differently, or only one counts them, their number is not
 * known.
 */
static void copy_counts_of(struct profile_copy *copy)
{
	for (uint32_t i = 0; i < copy->from->value_type_count; i++) {
		uint32_t *into = &copy->into->counts_of[copy->values[i]], counts = copy->from->counts_of[i];

		counts = counts == PROFILE_NONE ? PROFILE_NONE : copy->values[counts];
		*into = copy->fresh || *into == counts ? counts : PROFILE_NONE;
	}
}

/* An empty profile takes over the value types of the other. Else both must have the same ones, in any order. */
static bool copy_value_types(struct profile_copy *copy, struct error *err)
{
	struct profile *into = copy->into;
	const struct profile *from = copy->from;
	bool taken[PROFILE_MAX_VALUE_TYPES] = { false };

	if (copy->fresh) {
		into->value_type_count = from->value_type_count;
		into->default_value_type = from->default_value_type;
		into->count_name = copy->strings[from->count_name];
		into->period = from->period;
		into->weight_is_unnamed = from->weight_is_unnamed;
		into->period_type = (struct profile_value_type){ copy->strings[from->period_type.type],
			copy->strings[from->period_type.unit] };
		for (uint32_t i = 0; i < from->value_type_count; i++)
			into->value_types[i] = (struct profile_value_type){ copy->strings[from->value_types[i].type],
				copy->strings[from->value_types[i].unit] };
	}
	if (into->value_type_count != from->value_type_count)
		return error_set(err, ERROR_FORMAT, "%u value types against %u: record both alike",
			into->value_type_count, from->value_type_count);
	for (uint32_t i = 0; i < from->value_type_count; i++) {
		uint32_t k = 0;

		while (k < into->value_type_count && (taken[k] || !is_type(copy, k, &from->value_types[i])))
			k++;
		if (k == into->value_type_count)
			return error_set(err, ERROR_FORMAT, "value type %s is only in one of them: record both alike",
				profile_string(from, from->value_types[i].type));
		copy->values[i] = k;
		taken[k] = true;
	}
	copy_counts_of(copy);
	if (into->period != from->period)
		into->period = 0;
	return true;
}

static bool profile_copy_mappings(struct profile_copy *copy, struct error *err)
{
	for (size_t i = 0; i < copy->from->mapping_count; i++) {
		struct profile_mapping mapping = copy->from->mappings[i];

		mapping.path = copy->strings[mapping.path];
		mapping.build_id = copy->strings[mapping.build_id];
		if (!profile_add_mapping(copy->into, &mapping, &copy->mappings[i], err))
			return false;
	}
	return true;
}

static bool copy_sources(struct profile_copy *copy, struct error *err)
{
	const struct profile *from = copy->from;
	CLEANUP(cleanup_free) uint32_t *files = take_ids(from->source_file_count);

	if (!files)
		return error_set_memory(err);
	for (size_t i = 0; i < from->source_file_count; i++) {
		struct profile_source_file file = from->source_files[i];

		file.path = copy->strings[file.path];
		if (!profile_add_source_file(copy->into, &file, &files[i], err))
			return false;
	}
	for (size_t i = 0; i < from->source_text_count; i++)
		if (!profile_add_source_text(copy->into, files[from->source_texts[i].file],
			    from->source_texts[i].first_line, profile_string(from, from->source_texts[i].text), err))
			return false;
	return true;
}

static bool copy_code(struct profile_copy *copy, struct error *err)
{
	for (size_t i = 0; i < copy->from->code_count; i++) {
		struct profile_code code = copy->from->codes[i];

		code.mapping = copy->mappings[code.mapping];
		if (!profile_add_code(copy->into, &code, err))
			return false;
	}
	return true;
}

bool profile_copy_init(struct profile_copy *copy, struct profile *into, const struct profile *from, struct error *err)
{
	*copy = (struct profile_copy){
		.into = into, .from = from, .fresh = into->run_count == 0 && into->sample_count == 0
	};
	return copy_allocate(copy, err) && copy_strings(copy, err) && copy_value_types(copy, err) &&
	       profile_copy_mappings(copy, err) && copy_sources(copy, err) && copy_code(copy, err);
}

void profile_copy_deinit(struct profile_copy *copy)
{
	free(copy->strings);
	free(copy->mappings);
	free(copy->functions);
	free(copy->locations);
	free(copy->stacks);
}

/* ---- Locations and stacks ---- */

bool profile_copy_function(struct profile_copy *copy, size_t id, struct error *err)
{
	struct profile_function function = copy->from->functions[id];

	function.name = copy->strings[function.name];
	function.linkage_name = copy->strings[function.linkage_name];
	function.file = copy->strings[function.file];
	function.module = copy->strings[function.module];
	return profile_add_function(copy->into, &function, &copy->functions[id], err);
}

/* Copies the functions of the chosen locations, in their order in `from`. */
static bool copy_functions(struct profile_copy *copy, const bool *chosen, struct error *err)
{
	const struct profile *from = copy->from;
	CLEANUP(cleanup_free) bool *used = calloc(from->function_count + 1, sizeof(*used));

	if (!used)
		return error_set_memory(err);
	for (size_t i = 0; i < from->location_count; i++)
		for (uint32_t k = 0; (!chosen || chosen[i]) && k < from->locations[i].line_count; k++)
			used[from->lines[from->locations[i].first_line + k].function] = true;
	for (size_t i = 0; i < from->function_count; i++)
		if ((!chosen || used[i]) && !profile_copy_function(copy, i, err))
			return false;
	return true;
}

struct profile_line profile_copied_line(const struct profile_copy *copy, const struct profile_line *line)
{
	return (struct profile_line){ copy->functions[line->function], line->line, copy->strings[line->file] };
}

bool profile_copy_location(struct profile_copy *copy, size_t id, struct error *err)
{
	const struct profile_location *location = &copy->from->locations[id];
	CLEANUP(cleanup_free) struct profile_line *lines = calloc((size_t)location->line_count + 1, sizeof(*lines));
	uint32_t mapping = location->mapping == PROFILE_NONE ? PROFILE_NONE : copy->mappings[location->mapping];

	if (!lines)
		return error_set_memory(err);
	for (uint32_t k = 0; k < location->line_count; k++)
		lines[k] = profile_copied_line(copy, &copy->from->lines[location->first_line + k]);
	return profile_add_named_location(copy->into,
		&(struct profile_location){
			.mapping = mapping, .address = location->address, .line_count = location->line_count },
		lines, &copy->locations[id], err);
}

bool profile_copy_locations(struct profile_copy *copy, const bool *chosen, struct error *err)
{
	if (!copy_functions(copy, chosen, err))
		return false;
	for (size_t i = 0; i < copy->from->location_count; i++)
		if ((!chosen || chosen[i]) && !profile_copy_location(copy, i, err))
			return false;
	return true;
}

bool profile_copy_stacks(struct profile_copy *copy, const bool *chosen, struct error *err)
{
	for (size_t i = 1; i < copy->from->stack_count; i++) {
		const struct profile_stack *stack = &copy->from->stacks[i];

		if ((!chosen || chosen[i]) && !profile_add_stack(copy->into, copy->stacks[stack->parent],
						      copy->locations[stack->location], &copy->stacks[i], err))
			return false;
	}
	return true;
}

struct profile_run profile_copied_run(const struct profile_copy *copy, size_t id)
{
	struct profile_run run = copy->from->runs[id];

	run.name = copy->strings[run.name];
	run.instance = copy->strings[run.instance];
	run.cpu_model = copy->strings[run.cpu_model];
	return run;
}

bool profile_copy_thread(struct profile_copy *copy, uint32_t id, uint32_t run, uint32_t *thread, struct error *err)
{
	struct profile_thread made = copy->from->threads[id];

	made.run = run;
	made.process_name = copy->strings[made.process_name];
	made.name = copy->strings[made.name];
	made.labels = copy->strings[made.labels];
	return profile_add_thread(copy->into, &made, thread, err);
}

bool profile_copy_locks(struct profile_copy *copy, struct error *err)
{
	uint32_t id;

	copy->first_lock = (uint32_t)copy->into->lock_count;
	for (size_t i = 0; i < copy->from->lock_count; i++) {
		struct profile_lock lock = copy->from->locks[i];

		lock.name = copy->strings[lock.name];
		lock.module = copy->strings[lock.module];
		if (!profile_add_lock(copy->into, &lock, &id, err))
			return false;
	}
	return true;
}

/* ---- Requests ---- */

/* Exchanges of another run are others, so those of `from` get new ids one after the other. */
static bool copy_exchanges(struct profile_copy *copy, uint32_t first_run, uint32_t *ids, struct error *err)
{
	const struct profile_requests *from = &copy->from->requests;

	for (size_t i = 0; i < from->exchange_count; i++) {
		struct profile_exchanges exchanges = from->exchanges[i];

		exchanges.run += first_run;
		exchanges.process_name = copy->strings[exchanges.process_name];
		if (!profile_add_exchanges(copy->into, &exchanges, &ids[i], err))
			return false;
	}
	return true;
}

bool profile_copy_requests(struct profile_copy *copy, uint32_t first_run, struct error *err)
{
	const struct profile_requests *from = &copy->from->requests;
	struct profile_requests *into = &copy->into->requests;
	CLEANUP(cleanup_free) uint32_t *ids = calloc(from->exchange_count + 1, sizeof(*ids));

	if (!ids)
		return error_set_memory(err);
	if (copy->fresh) {
		into->source = from->source;
		into->event = copy->strings[from->event];
		into->one_in = from->one_in;
	}
	if (into->source != from->source || into->event != copy->strings[from->event]) {
		profile_forget_requests(copy->into);
		return true;
	}
	into->one_in = into->one_in > from->one_in ? into->one_in : from->one_in;
	if (!copy_exchanges(copy, first_run, ids, err))
		return false;
	for (size_t i = 0; i < from->reading_count; i++) {
		struct profile_exchange_reading reading = from->readings[i];

		reading.exchanges = ids[reading.exchanges];
		if (!profile_append_exchange_reading(copy->into, &reading, err))
			return false;
	}
	for (size_t i = 0; i < from->latency_count; i++) {
		struct profile_latency latency = from->latencies[i];

		latency.exchanges = ids[latency.exchanges];
		if (!profile_add_latency(copy->into, &latency, err))
			return false;
	}
	return profile_sort_requests(copy->into, err);
}

/* ---- Circumstances ---- */

static void copy_quality(const struct profile_copy *copy)
{
	struct profile *into = copy->into;
	const struct profile *from = copy->from;

	if (from->quality.open_end_count > into->quality.open_end_count) {
		into->quality.open_end = copy->locations[from->quality.open_end];
		into->quality.open_end_count = from->quality.open_end_count;
	}
	if (from->quality.placed_count > into->quality.placed_count) {
		into->quality.placed_in = copy->mappings[from->quality.placed_in];
		into->quality.placed_count = from->quality.placed_count;
	}
	into->quality.samples += from->quality.samples;
	into->quality.lost += from->quality.lost;
	into->quality.throttled += from->quality.throttled;
	into->quality.lost_sideband += from->quality.lost_sideband;
	into->quality.frame_pointer_frames += from->quality.frame_pointer_frames;
	into->quality.frames += from->quality.frames;
	for (size_t i = 0; i < PROFILE_STOP_COUNT; i++)
		into->quality.stops[i] += from->quality.stops[i];
}

static void copy_verification(struct profile_copy *copy)
{
	struct profile_verification from = copy->from->verification;

	for (uint32_t i = 0; i < from.difference_count; i++)
		from.differences[i] = copy->strings[from.differences[i]];
	profile_verification_add(&copy->into->verification, &from);
}

/*
 * A fact that differs between the profiles, or that one of them lacks, is not known of the merged profile, unless it is
 * one that adds up.
 */
static void profile_copy_facts(struct profile_copy *copy)
{
	size_t count;
	const struct profile_fact *facts = profile_facts(&count);

	for (size_t i = 0; i < count; i++) {
		uint32_t into = profile_fact_get(&copy->into->facts, &facts[i]),
			 from = profile_fact_get(&copy->from->facts, &facts[i]);

		if (facts[i].type == PROFILE_FACT_STRING)
			from = copy->strings[from];
		if (facts[i].type == PROFILE_FACT_FLAG)
			from |= into;
		else if (facts[i].adds_up)
			from = into > UINT32_MAX - from ? UINT32_MAX : into + from;
		else if (!copy->fresh && into != from)
			from = 0;
		profile_fact_set(&copy->into->facts, &facts[i], from);
	}
}

/* A label that differs between the profiles, or that one of them lacks, is not one of the merged profile. */
static void copy_labels(struct profile_copy *copy)
{
	struct profile *into = copy->into;
	size_t kept = 0;

	for (size_t i = 0; copy->fresh && i < copy->from->label_count; i++)
		into->labels[i] = (struct profile_label){ copy->strings[copy->from->labels[i].key],
			copy->strings[copy->from->labels[i].value] };
	into->label_count = copy->fresh ? copy->from->label_count : into->label_count;
	for (size_t i = 0; i < into->label_count; i++) {
		const char *other = profile_label(copy->from, profile_string(into, into->labels[i].key));

		if (other && strcmp(other, profile_string(into, into->labels[i].value)) == 0)
			into->labels[kept++] = into->labels[i];
	}
	into->label_count = kept;
}

void profile_copy_circumstances(struct profile_copy *copy)
{
	copy_quality(copy);
	copy_verification(copy);
	profile_copy_facts(copy);
	copy_labels(copy);
	profile_add_notes(&copy->into->notes, &copy->from->notes, copy->strings);
}
