/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The stacks of a profile as rows: what a comparison of many instances reads. */
#include "profile/store/clickhouse/parcel.h"
#include "profile/store/clickhouse/row.h"

#include <stdlib.h>

static void stacks_append_line(const struct profile *profile, const struct profile_line *line, struct buffer *row)
{
	const struct profile_function *function = &profile->functions[line->function];

	row_append_string(row, profile_string(profile, function->name));
	row_append_string(row, profile_string(profile, function->linkage_name));
	row_append_string(row, profile_string(profile, function->file));
	row_append_u32(row, function->start_line);
	row_append_string(row, profile_string(profile, function->module));
	row_append_u64(row, function->fingerprint);
	row_append_string(row, profile_origin_name(function->origin));
	row_append_u16(row, function->origin_rule);
	row_append_string(row, profile_name_source_name(function->name_source));
	row_append_u32(row, line->line);
	row_append_string(row, profile_string(profile, line->file));
}

/* A frame is a place in the code without its address, which differs from one start of a program to the next. */
static uint64_t stacks_append_frame(const struct profile *profile, uint32_t location, struct buffer *frames)
{
	const struct profile_location *where = &profile->locations[location];
	static const struct profile_mapping none = { .kind = PROFILE_MAPPING_ANON };
	const struct profile_mapping *mapping =
		where->mapping == PROFILE_NONE ? &none : &profile->mappings[where->mapping];
	size_t begin = frames->size;
	uint64_t hash = 0;

	row_append_u64(frames, 0);
	row_append_u8(frames, (uint8_t)(where->mapping == PROFILE_NONE ? UINT8_MAX : mapping->kind));
	row_append_string(frames, profile_string(profile, mapping->path));
	row_append_string(frames, profile_string(profile, mapping->build_id));
	row_append_count(frames, where->line_count);
	for (uint32_t i = 0; i < where->line_count; i++)
		stacks_append_line(profile, &profile->lines[where->first_line + i], frames);
	if (!frames->failed) {
		hash = clickhouse_hash(frames->data + begin + sizeof(hash), frames->size - begin - sizeof(hash));
		memcpy(frames->data + begin, &hash, sizeof(hash));
	}
	return hash;
}

/* The hash of a stack, whose row is appended. */
static uint64_t stacks_append_stack(const struct profile *profile, uint32_t stack, const uint64_t *frame_hashes,
	struct buffer *scratch, struct buffer *stacks)
{
	uint64_t hash;

	scratch->size = 0;
	for (; stack; stack = profile->stacks[stack].parent)
		row_append_u64(scratch, frame_hashes[profile->stacks[stack].location]);
	hash = clickhouse_hash(scratch->data, scratch->size);
	row_append_u64(stacks, hash);
	row_append_count(stacks, scratch->size / sizeof(hash));
	buffer_append(stacks, scratch->data, scratch->size);
	return hash;
}

static void stacks_append_sample(const struct profile *profile, const struct clickhouse_origin *origin, uint64_t stack,
	const int64_t *values, struct buffer *samples)
{
	size_t begin = clickhouse_row_begin(samples);

	row_append_string(samples, origin->service);
	row_append_u32(samples, origin->start_s);
	row_append_u64(samples, stack);
	row_append_count(samples, profile->value_type_count);
	buffer_append(samples, values, profile->value_type_count * sizeof(*values));
	clickhouse_row_end(samples, begin);
}

/* Returns the values of each stack, of all threads. */
static int64_t *stacks_values(const struct profile *profile)
{
	int64_t *values = calloc((size_t)profile->stack_count * profile->value_type_count + 1, sizeof(*values));

	for (size_t i = 0; values && i < profile->sample_count; i++)
		for (uint32_t v = 0; v < profile->value_type_count; v++)
			values[(size_t)profile->samples[i].stack * profile->value_type_count + v] +=
				profile->values[i * profile->value_type_count + v];
	return values;
}

bool clickhouse_append_stacks(const struct profile *profile, struct buffer *samples, struct buffer *stacks,
	struct buffer *frames, struct error *err)
{
	CLEANUP(cleanup_free) uint64_t *frame_hashes = malloc((profile->location_count + 1) * sizeof(*frame_hashes));
	CLEANUP(cleanup_free) int64_t *values = stacks_values(profile);
	struct clickhouse_origin origin = clickhouse_origin(profile);
	struct buffer scratch = BUFFER_INIT((size_t)1 << 24);
	bool ok;

	if (!frame_hashes || !values)
		return error_set_memory(err);
	for (uint32_t i = 0; i < profile->location_count; i++)
		frame_hashes[i] = stacks_append_frame(profile, i, frames);
	for (uint32_t i = 0; i < profile->stack_count; i++) {
		const int64_t *of_stack = &values[(size_t)i * profile->value_type_count];
		bool has_value = false;

		for (uint32_t v = 0; v < profile->value_type_count; v++)
			has_value = has_value || of_stack[v] != 0;
		if (has_value)
			stacks_append_sample(profile, &origin,
				stacks_append_stack(profile, i, frame_hashes, &scratch, stacks), of_stack, samples);
	}
	ok = buffer_ok(&scratch, err);
	buffer_deinit(&scratch);
	return ok;
}
