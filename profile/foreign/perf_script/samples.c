/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/foreign/perf_script/samples.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_FRAMES = 1 << 16 };

/* A frame; the innermost first. */
struct script_frame {
	uint32_t name; /* string */
	uint32_t mapping;
	bool is_inlined; /* into the next one */
};

struct perf_script_tally_key {
	uint32_t stack, thread, event;
};

/* Samples are added up here, since their events, which become value types, are all known at the end only. */
struct script_tally {
	struct perf_script_tally_key key;
	int64_t count, period;
};

bool script_samples_init(struct script_samples *r, struct error *err)
{
	struct profile_run run = { .exit_status = -1 };

	*r = (struct script_samples){ .kernel_mapping = PROFILE_NONE };
	hash_map_init(&r->tally_of, sizeof(struct perf_script_tally_key));
	return profile_create(&r->profile, err) && profile_intern(r->profile, "perf", &r->profile->facts.tool, err) &&
	       profile_add_run(r->profile, &run, &r->run, err);
}

void script_samples_deinit(struct script_samples *r)
{
	profile_destroy(r->profile);
	free(r->frames);
	free(r->inline_lines);
	hash_map_deinit(&r->tally_of);
	free(r->tallies);
}

/* perf names code that was made at run time by the file of its map. */
static enum profile_mapping_kind kind_of_binary(struct text_cursor binary)
{
	if (text_starts_with(binary, "[vdso]"))
		return PROFILE_MAPPING_VDSO;
	if (text_starts_with(binary, "//anon") || text_starts_with(binary, "[heap]"))
		return PROFILE_MAPPING_ANON;
	return text_starts_with(binary, "/tmp/perf-") || text_starts_with(binary, "[JIT]") ? PROFILE_MAPPING_JIT
											   : PROFILE_MAPPING_FILE;
}

static bool perf_script_samples_add_mapping(
	struct script_samples *r, struct text_cursor binary, bool is_kernel, uint32_t *id, struct error *err)
{
	static const char deleted[] = " (deleted)";
	struct profile_mapping mapping = { 0 };
	size_t size = text_left(binary);

	if (is_kernel) {
		mapping.kind = PROFILE_MAPPING_KERNEL;
		if (r->kernel_mapping == PROFILE_NONE &&
			(!profile_intern(r->profile, "[kernel.kallsyms]", &mapping.path, err) ||
				!profile_add_mapping(r->profile, &mapping, &r->kernel_mapping, err)))
			return false;
		*id = r->kernel_mapping;
		return true;
	}
	*id = PROFILE_NONE;
	if (size == 0 || text_starts_with(binary, "[unknown]"))
		return true;
	mapping.kind = kind_of_binary(binary);
	mapping.deleted = size > strlen(deleted) && memcmp(binary.end - strlen(deleted), deleted, strlen(deleted)) == 0;
	size -= mapping.deleted ? strlen(deleted) : 0;
	if (mapping.kind == PROFILE_MAPPING_JIT)
		return profile_intern(r->profile, PROFILE_JIT_MODULE, &mapping.path, err) &&
		       profile_add_mapping(r->profile, &mapping, id, err);
	return string_table_add(r->profile->strings, binary.at, size, &mapping.path, err) &&
	       profile_add_mapping(r->profile, &mapping, id, err);
}

bool script_samples_add_frame(struct script_samples *r, uint64_t address, struct text_cursor name,
	struct text_cursor binary, struct error *err)
{
	static const char unnamed[] = "[unnamed]";
	struct script_frame frame = { .mapping = PROFILE_NONE, .is_inlined = text_starts_with(binary, "inlined") };
	bool is_kernel =
		text_starts_with(binary, "[kernel") || text_starts_with(binary, "[guest.kernel") || address >> 63;

	if (r->frame_count == MAX_FRAMES)
		return error_set(err, ERROR_LIMIT, "a stack has more than 65,536 frames");
	if (!frame.is_inlined &&
		!perf_script_samples_add_mapping(r, script_without_offset(binary), is_kernel, &frame.mapping, err))
		return false;
	name = script_without_offset(name);
	if (text_left(name) == 0 || text_starts_with(name, "[unknown]"))
		name = (struct text_cursor){ unnamed, unnamed + sizeof(unnamed) - 1 };
	if (!ARRAY_RESERVE(&r->frames, &r->frame_capacity, r->frame_count + 1, MAX_FRAMES, err) ||
		!string_table_add(r->profile->strings, name.at, text_left(name), &frame.name, err))
		return false;
	r->frames[r->frame_count++] = frame;
	return true;
}

/* Functions that were inlined are in the binary of the frame that they are in, which comes last. */
static bool push_location(struct script_samples *r, size_t first, size_t count, uint32_t *stack, struct error *err)
{
	uint32_t location, mapping = r->frames[first + count - 1].mapping;
	struct profile_function function = { .name_source = PROFILE_NAME_IMPORTED };

	if (!ARRAY_RESERVE(&r->inline_lines, &r->inline_capacity, count, MAX_FRAMES, err))
		return false;
	function.module = mapping == PROFILE_NONE ? 0 : r->profile->mappings[mapping].module;
	for (size_t i = 0; i < count; i++) {
		function.name = r->frames[first + i].name;
		r->inline_lines[i] = (struct profile_line){ 0 };
		if (!profile_add_function(r->profile, &function, &r->inline_lines[i].function, err))
			return false;
	}
	return profile_add_location_of_lines(r->profile, mapping, r->inline_lines, count, &location, err) &&
	       profile_add_stack(r->profile, *stack, location, stack, err);
}

static bool perf_script_samples_count_sample(struct script_samples *r, uint32_t stack, struct error *err)
{
	struct perf_script_tally_key key = { stack, r->thread, r->event };
	struct script_tally *tally;
	uint32_t *value;
	bool added;

	if (!hash_map_add(&r->tally_of, &key, (uint32_t)r->tally_count, &value, &added, err))
		return false;
	if (added) {
		if (!ARRAY_APPEND(&r->tallies, &r->tally_capacity, &r->tally_count, ARRAY_MAX_IDS, err,
			    (struct script_tally){ .key = key }))
			return false;
	}
	tally = &r->tallies[*value];
	tally->count++;
	if (__builtin_add_overflow(tally->period, r->period, &tally->period))
		return error_set(err, ERROR_FORMAT, "its periods are more than can be added up");
	return true;
}

bool script_samples_end(struct script_samples *r, struct error *err)
{
	uint32_t stack = 0;

	if (!r->is_open)
		return true;
	for (size_t end = r->frame_count, first; end > 0; end = first) {
		first = end - 1;
		while (first > 0 && r->frames[first - 1].is_inlined)
			first--;
		if (!push_location(r, first, end - first, &stack, err))
			return false;
	}
	r->is_open = false;
	r->frame_count = 0;
	return perf_script_samples_count_sample(r, stack, err);
}

bool script_samples_set_event(struct script_samples *r, struct text_cursor name, struct error *err)
{
	uint32_t string;

	if (!string_table_add(r->profile->strings, name.at, text_left(name), &string, err))
		return false;
	for (r->event = 0; r->event < r->event_count; r->event++)
		if (r->events[r->event] == string)
			return true;
	if (r->event_count == SCRIPT_MAX_EVENTS)
		return error_set(err, ERROR_LIMIT, "it has more than %d events", SCRIPT_MAX_EVENTS);
	r->events[r->event_count++] = string;
	return true;
}

static bool perf_script_samples_add_value_type(struct script_samples *r, uint32_t event, struct error *err)
{
	const char *name = profile_string(r->profile, r->events[event]);
	bool is_clock = strcmp(name, "cpu-clock") == 0 || strcmp(name, "task-clock") == 0;

	if (!*name)
		name = "weight";
	return profile_add_value_type(r->profile, is_clock ? "cpu" : name, is_clock ? "nanoseconds" : "count", err);
}

bool script_samples_finish(struct script_samples *r, struct error *err)
{
	struct profile *profile = r->profile;
	bool has_values = r->has_periods || r->event_count > 1;

	for (uint32_t i = 0; i < r->event_count && has_values; i++)
		if (!perf_script_samples_add_value_type(r, i, err))
			return false;
	for (size_t i = 0; i < r->tally_count; i++) {
		const struct script_tally *tally = &r->tallies[i];
		int64_t values[PROFILE_MAX_VALUE_TYPES] = { tally->count };

		if (has_values)
			values[1 + tally->key.event] = r->has_periods ? tally->period : tally->count;
		if (!profile_add_sample(profile, tally->key.stack, tally->key.thread, values, -1, err))
			return false;
		profile->quality.samples += (uint64_t)tally->count;
	}
	/* The first is what perf was told to measure first. The count is that of all of them. */
	profile->default_value_type = has_values ? 1 : 0;
	for (uint32_t i = 0; i < profile->value_type_count && r->event_count > 1; i++)
		profile->counts_of[i] = PROFILE_NONE;
	return true;
}
