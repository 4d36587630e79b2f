/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the frames and stacks of many profiles. */
#include "profile/store/clickhouse/instances.h"

#include "profile/store/clickhouse/clickhouse.h"
#include "profile/store/clickhouse/row.h"

/* Appends the stacks of the profiles. */
static void instances_stacks(const struct instances *instances, struct clickhouse_query *query)
{
	buffer_append_string(&query->sql, "SELECT DISTINCT stack FROM kelvin_samples WHERE 1");
	clickhouse_query_place(query, instances->address);
	buffer_append_string(&query->sql, " AND push GLOBAL IN (SELECT push FROM (");
	instances_profiles(instances, query);
	buffer_append_string(&query->sql, "))");
}

static bool instances_read_line(struct instances *instances, struct byte_reader *rows, struct profile_line *line,
	uint32_t *module, struct error *err)
{
	struct profile *profile = instances->assembly.profile;
	struct string_table *strings = profile->strings;
	struct profile_function function = { 0 };
	struct row_string name = row_string(rows), linkage = row_string(rows), file = row_string(rows), words;

	if (!string_table_add(strings, name.bytes, name.size, &function.name, err) ||
		!string_table_add(strings, linkage.bytes, linkage.size, &function.linkage_name, err) ||
		!string_table_add(strings, file.bytes, file.size, &function.file, err))
		return false;
	function.start_line = row_u32(rows);
	words = row_string(rows);
	if (!string_table_add(strings, words.bytes, words.size, &function.module, err))
		return false;
	*module = function.module;
	function.fingerprint = row_u64(rows);
	words = row_string(rows);
	for (int i = 0; i < PROFILE_ORIGIN_COUNT; i++)
		if (row_string_is(words, profile_origin_name((enum profile_origin)i)))
			function.origin = (enum profile_origin)i;
	function.origin_rule = row_u16(rows);
	words = row_string(rows);
	for (int i = 0; i < PROFILE_NAME_SOURCE_COUNT; i++)
		if (row_string_is(words, profile_name_source_name((enum profile_name_source)i)))
			function.name_source = (enum profile_name_source)i;
	line->line = row_u32(rows);
	words = row_string(rows);
	return string_table_add(strings, words.bytes, words.size, &line->file, err) &&
	       profile_add_function(profile, &function, &line->function, err);
}

static bool instances_read_mapping(
	struct instances *instances, struct byte_reader *rows, uint32_t *mapping, struct error *err)
{
	struct profile *profile = instances->assembly.profile;
	uint8_t kind = row_u8(rows);
	struct row_string path = row_string(rows), build_id = row_string(rows);
	struct profile_mapping made = { .kind = (enum profile_mapping_kind)kind };

	*mapping = PROFILE_NONE;
	if (kind > PROFILE_MAPPING_ANON)
		return true;
	return string_table_add(profile->strings, path.bytes, path.size, &made.path, err) &&
	       string_table_add(profile->strings, build_id.bytes, build_id.size, &made.build_id, err) &&
	       profile_add_mapping(profile, &made, mapping, err);
}

static bool instances_read_frame(struct instances *instances, struct byte_reader *rows, struct error *err)
{
	enum { MOST_LINES = 256 };
	struct profile_line lines[MOST_LINES] = { 0 };
	uint64_t hash = row_u64(rows);
	uint32_t mapping, module;
	size_t count;

	if (!instances_read_mapping(instances, rows, &mapping, err))
		return false;
	count = row_count(rows);
	if (count > MOST_LINES)
		return error_set(err, ERROR_LIMIT, "a frame has more than %d inlined functions", MOST_LINES);
	for (size_t i = 0; i < count; i++)
		if (!instances_read_line(instances, rows, &lines[i], &module, err))
			return false;
	return !byte_reader_ok(rows) || count == 0 ||
	       assembly_add_frame(&instances->assembly, hash, mapping, lines, count, err);
}

bool instances_read_frames(struct instances *instances, struct error *err)
{
	CLEANUP(clickhouse_query_cleanup) struct clickhouse_query query = { 0 };
	CLEANUP(buffer_deinit) struct buffer answer = { 0 };
	struct byte_reader rows;

	clickhouse_query_init(&query, "cannot read frames");
	buffer_append_string(&query.sql,
		"SELECT toUInt8(165), frame, mapping_kind, path, build_id, lines FROM kelvin_frames WHERE frame "
		"GLOBAL IN (SELECT DISTINCT arrayJoin(frames) FROM kelvin_stacks WHERE stack GLOBAL IN (");
	instances_stacks(instances, &query);
	buffer_append_string(&query.sql, ")) LIMIT 1 BY frame FORMAT RowBinary");
	if (!clickhouse_ask(instances->courier, &query, &answer, err))
		return false;
	rows = byte_reader_over(answer.data, answer.size);
	while (row_next(&rows))
		if (!instances_read_frame(instances, &rows, err))
			return false;
	return row_end(&rows, err);
}

static bool instances_read_stack(struct instances *instances, struct byte_reader *rows, struct error *err)
{
	enum { MOST_FRAMES = 1 << 14 };
	uint64_t hash = row_u64(rows), frames[MOST_FRAMES];
	size_t count = row_count(rows);

	if (count > MOST_FRAMES)
		return error_set(err, ERROR_LIMIT, "a stack has more than %d frames", MOST_FRAMES);
	byte_reader_copy(rows, frames, count * sizeof(frames[0]));
	return !byte_reader_ok(rows) || assembly_add_stack(&instances->assembly, hash, frames, count, err);
}

bool instances_read_stacks(struct instances *instances, struct error *err)
{
	CLEANUP(clickhouse_query_cleanup) struct clickhouse_query query = { 0 };
	CLEANUP(buffer_deinit) struct buffer answer = { 0 };
	struct byte_reader rows;

	clickhouse_query_init(&query, "cannot read stacks");
	buffer_append_string(
		&query.sql, "SELECT toUInt8(165), stack, frames FROM kelvin_stacks WHERE stack GLOBAL IN (");
	instances_stacks(instances, &query);
	buffer_append_string(&query.sql, ") LIMIT 1 BY stack FORMAT RowBinary");
	if (!clickhouse_ask(instances->courier, &query, &answer, err))
		return false;
	rows = byte_reader_over(answer.data, answer.size);
	while (row_next(&rows))
		if (!instances_read_stack(instances, &rows, err))
			return false;
	return row_end(&rows, err);
}
