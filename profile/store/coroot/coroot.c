/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables that Coroot fills in ClickHouse, as its collector writes them (collector/profiles.go and ch/client.go of
 * github.com/coroot/coroot, 370a33fd). They are only read.
 *
 * - `profiling_samples` has a row for each sample of each profile; a profile is all rows of one service, type, labels,
 *   start and end. On clusters `..._distributed` tables stand before the tables.
 * - `profiling_stacks` has a row for each *sample*, which lie there until they are merged: of each hash one is taken.
 * - A frame is the text "NAME FILE:LINE", the leaf first; names have spaces. Inlined functions are frames like others,
 *   and nothing tells the binary of a frame, its address, or how many samples were taken.
 */
#include "profile/store/clickhouse/ask.h"
#include "profile/store/clickhouse/assemble.h"
#include "profile/store/clickhouse/parcel.h"
#include "profile/store/clickhouse/row.h"

#include <inttypes.h>
#include <stdio.h>

enum { COROOT_INSTANCES_LEAST = 6, COROOT_INSTANCES_MOST = 1000, COROOT_PARTS = 500, COROOT_MOST_FRAMES = 1 << 12 };

struct coroot {
	struct courier *courier;
	const struct store_address *address;
	struct assembly assembly;
	const char *suffix; /* of tables: "", or "_distributed" */
	bool by_instance, in_parts;
};

static const char *coroot_type(const struct store_address *address)
{
	const char *type = store_address_filter(address, "type");

	return type ? type : "ebpf:cpu:nanoseconds";
}

/* ---- Queries ---- */

static void coroot_where(const struct coroot *coroot, struct clickhouse_query *query)
{
	const struct store_address *address = coroot->address;

	buffer_printf(&query->sql, " FROM profiling_samples%s WHERE Type = ", coroot->suffix);
	clickhouse_query_text(query, coroot_type(address));
	if (address->from_unix_ns)
		buffer_printf(&query->sql, " AND Start >= fromUnixTimestamp64Nano(toInt64(%" PRId64 "))",
			address->from_unix_ns);
	if (address->until_unix_ns)
		buffer_printf(&query->sql, " AND Start < fromUnixTimestamp64Nano(toInt64(%" PRId64 "))",
			address->until_unix_ns);
	for (size_t i = 0; i < address->filter_count; i++) {
		const struct store_filter *filter = &address->filters[i];
		bool is_service = strcmp(filter->key, "service") == 0;

		if (strcmp(filter->key, "type") == 0)
			continue;
		buffer_append_string(&query->sql, is_service ? " AND ServiceName" : " AND Labels[");
		if (!is_service)
			clickhouse_query_text(query, filter->key);
		buffer_append_string(&query->sql, is_service ? " = " : "] = ");
		clickhouse_query_text(query, filter->value);
	}
}

/* Appends the samples with `i`, the instance, and `r`, the key of their run. */
static void coroot_samples(const struct coroot *coroot, struct clickhouse_query *query)
{
	buffer_append_string(&query->sql,
		"SELECT StackHash, Value, Start, End, multiIf(Labels['pod'] != '', Labels['pod'], "
		"Labels['container.id'] != '', Labels['container.id'], Labels['host']) AS i, ");
	buffer_append_string(&query->sql, coroot->by_instance ? "cityHash64(i)" : "cityHash64(i, Start, End)");
	if (coroot->in_parts)
		buffer_printf(&query->sql, " %% %d", COROOT_PARTS);
	buffer_append_string(&query->sql, " AS r");
	coroot_where(coroot, query);
}

static bool coroot_choose_tables(struct coroot *coroot, struct error *err)
{
	CLEANUP(clickhouse_query_cleanup) struct clickhouse_query query = { 0 };
	CLEANUP(buffer_deinit) struct buffer answer = { 0 };
	struct byte_reader rows;

	coroot->suffix = "";
	clickhouse_query_init(&query, "cannot look for the tables of Coroot");
	buffer_append_string(&query.sql,
		"SELECT toUInt8(165), toUInt64(count()) FROM system.tables WHERE database = currentDatabase() "
		"AND name IN ('profiling_samples_distributed', 'profiling_stacks_distributed') FORMAT RowBinary");
	if (!clickhouse_ask(coroot->courier, &query, &answer, err))
		return false;
	rows = byte_reader_over(answer.data, answer.size);
	while (row_next(&rows))
		if (row_u64(&rows) == 2)
			coroot->suffix = "_distributed";
	return row_end(&rows, err);
}

/* Names the types that the service has instead of the one that was asked for. */
static bool coroot_tell_types(const struct coroot *coroot, struct error *err)
{
	CLEANUP(clickhouse_query_cleanup) struct clickhouse_query query = { 0 };
	CLEANUP(buffer_deinit) struct buffer answer = { 0 }, types = { 0 };
	struct byte_reader rows;

	clickhouse_query_init(&query, "cannot list the types of profiles");
	buffer_printf(&query.sql,
		"SELECT DISTINCT toUInt8(165), Type FROM profiling_samples%s WHERE ServiceName = ", coroot->suffix);
	clickhouse_query_text(&query, store_address_filter(coroot->address, "service"));
	buffer_append_string(&query.sql, " LIMIT 10 FORMAT RowBinary");
	if (!clickhouse_ask(coroot->courier, &query, &answer, err))
		return false;
	buffer_init(&types, 4096);
	rows = byte_reader_over(answer.data, answer.size);
	while (row_next(&rows)) {
		struct row_string type = row_string(&rows);

		buffer_append_string(&types, types.size > 0 ? ", " : "; the service has profiles of the types ");
		http_append_words(coroot->courier->http, &types, type.bytes, type.size);
	}
	if (!row_end(&rows, err))
		return false;
	return error_set(err, ERROR_EMPTY, "Coroot has no profile of the type %s that '%s' asks for%s",
		coroot_type(coroot->address), coroot->address->text, types.size > 0 ? types.data : "");
}

/* Asks how many instances and profiles there are: decides what a run is. */
static bool coroot_choose_runs(struct coroot *coroot, struct error *err)
{
	CLEANUP(clickhouse_query_cleanup) struct clickhouse_query query = { 0 };
	CLEANUP(buffer_deinit) struct buffer answer = { 0 };
	struct byte_reader rows;
	uint64_t instances = 0, profiles = 0, nameless = 0;

	clickhouse_query_init(&query, "cannot list the profiles");
	buffer_append_string(&query.sql,
		"SELECT toUInt8(165), toUInt64(uniqExact(i)), toUInt64(uniqExact(r)), toUInt64(countIf(i = '')) FROM (");
	coroot_samples(coroot, &query);
	buffer_append_string(&query.sql, ") FORMAT RowBinary");
	if (!clickhouse_ask(coroot->courier, &query, &answer, err))
		return false;
	rows = byte_reader_over(answer.data, answer.size);
	while (row_next(&rows)) {
		instances = row_u64(&rows);
		profiles = row_u64(&rows);
		nameless = row_u64(&rows);
	}
	if (!row_end(&rows, err))
		return false;
	if (profiles == 0)
		return coroot_tell_types(coroot, err);
	coroot->by_instance = nameless == 0 && instances >= COROOT_INSTANCES_LEAST;
	coroot->in_parts = (coroot->by_instance ? instances : profiles) > COROOT_INSTANCES_MOST;
	return true;
}

/* ---- Answers ---- */

static bool coroot_read_runs(struct coroot *coroot, struct error *err)
{
	CLEANUP(clickhouse_query_cleanup) struct clickhouse_query query = { 0 };
	CLEANUP(buffer_deinit) struct buffer answer = { 0 };
	struct byte_reader rows;

	clickhouse_query_init(&query, "cannot read the instances");
	buffer_printf(&query.sql,
		"SELECT toUInt8(165), r, %s, toUnixTimestamp64Nano(min(Start)), arraySum(x -> "
		"toUnixTimestamp64Nano(x.3) - toUnixTimestamp64Nano(x.2), groupUniqArray((i, Start, End))) FROM (",
		coroot->in_parts ? "''" : "any(i)");
	coroot_samples(coroot, &query);
	buffer_append_string(&query.sql, ") GROUP BY r ORDER BY min(Start), r FORMAT RowBinary");
	if (!clickhouse_ask(coroot->courier, &query, &answer, err))
		return false;
	rows = byte_reader_over(answer.data, answer.size);
	while (row_next(&rows)) {
		uint64_t key = row_u64(&rows);
		struct row_string instance = row_string(&rows);
		struct profile_run run = { .exit_status = -1, .start_unix_ns = (int64_t)row_u64(&rows) };

		run.duration_ns = (int64_t)row_u64(&rows);
		if (byte_reader_ok(&rows) && (!string_table_add(coroot->assembly.profile->strings, instance.bytes,
						      instance.size, &run.instance, err) ||
						     !assembly_add_run(&coroot->assembly, key, &run, err)))
			return false;
	}
	return row_end(&rows, err);
}

/* Adds the frame "std::map<int, int>::at(int const&) /src/a.cc:12": the file and line are behind the last space. */
static bool coroot_add_frame(struct coroot *coroot, struct row_string text, uint64_t *hash, struct error *err)
{
	struct profile *profile = coroot->assembly.profile;
	struct profile_function function = { .name_source = PROFILE_NAME_IMPORTED };
	struct profile_line line = { 0 };
	const char *end = text.bytes + text.size;
	const char *space = memrchr(text.bytes, ' ', text.size);
	const char *colon = space ? memrchr(space, ':', (size_t)(end - space)) : NULL;

	*hash = clickhouse_hash(text.bytes, text.size);
	if (assembly_has_frame(&coroot->assembly, *hash))
		return true;
	/* Whatever has another form is a name as a whole. */
	if (!colon || space == text.bytes)
		space = end;
	else {
		struct text_cursor left = { colon + 1, end };
		uint64_t number;

		if (text_take_number(&left, UINT32_MAX, &number) && text_left(left) == 0)
			line.line = (uint32_t)number;
		if (!string_table_add(profile->strings, space + 1, (size_t)(colon - space - 1), &function.file, err))
			return false;
	}
	return string_table_add(profile->strings, text.bytes, (size_t)(space - text.bytes), &function.name, err) &&
	       profile_add_function(profile, &function, &line.function, err) &&
	       assembly_add_frame(&coroot->assembly, *hash, PROFILE_NONE, &line, 1, err);
}

static bool coroot_read_stack(struct coroot *coroot, struct byte_reader *rows, struct error *err)
{
	uint64_t hash = row_u64(rows), frames[COROOT_MOST_FRAMES];
	size_t count = row_count(rows);

	if (count > COROOT_MOST_FRAMES)
		return error_set(err, ERROR_LIMIT, "a stack has more than %d frames", COROOT_MOST_FRAMES);
	for (size_t i = 0; i < count && byte_reader_ok(rows); i++)
		if (!coroot_add_frame(coroot, row_string(rows), &frames[i], err))
			return false;
	return !byte_reader_ok(rows) || assembly_add_stack(&coroot->assembly, hash, frames, count, err);
}

static bool coroot_read_stacks(struct coroot *coroot, struct error *err)
{
	CLEANUP(clickhouse_query_cleanup) struct clickhouse_query query = { 0 };
	CLEANUP(buffer_deinit) struct buffer answer = { 0 };
	struct byte_reader rows;

	clickhouse_query_init(&query, "cannot read stacks");
	query.max_answer_bytes = (size_t)1 << 30;
	buffer_printf(&query.sql,
		"SELECT toUInt8(165), Hash, any(Stack) FROM profiling_stacks%s WHERE ServiceName = ", coroot->suffix);
	clickhouse_query_text(&query, store_address_filter(coroot->address, "service"));
	buffer_append_string(&query.sql, " AND Hash GLOBAL IN (SELECT DISTINCT StackHash");
	coroot_where(coroot, &query);
	buffer_append_string(&query.sql, ") GROUP BY Hash FORMAT RowBinary");
	if (!clickhouse_ask(coroot->courier, &query, &answer, err))
		return false;
	rows = byte_reader_over(answer.data, answer.size);
	while (row_next(&rows))
		if (!coroot_read_stack(coroot, &rows, err))
			return false;
	return row_end(&rows, err);
}

static bool coroot_read_samples(struct coroot *coroot, struct error *err)
{
	CLEANUP(clickhouse_query_cleanup) struct clickhouse_query query = { 0 };
	CLEANUP(buffer_deinit) struct buffer answer = { 0 };
	struct byte_reader rows;

	clickhouse_query_init(&query, "cannot read samples");
	query.max_answer_bytes = (size_t)1 << 30;
	buffer_append_string(&query.sql, "SELECT toUInt8(165), r, StackHash, sum(Value) FROM (");
	coroot_samples(coroot, &query);
	buffer_append_string(&query.sql, ") GROUP BY r, StackHash ORDER BY StackHash, r FORMAT RowBinary");
	if (!clickhouse_ask(coroot->courier, &query, &answer, err))
		return false;
	rows = byte_reader_over(answer.data, answer.size);
	while (row_next(&rows)) {
		uint64_t run = row_u64(&rows), stack = row_u64(&rows);
		/* How many samples there were is not known: 1 for each entry. */
		const int64_t values[] = { 1, (int64_t)row_u64(&rows) };

		if (byte_reader_ok(&rows) && values[1] != 0 &&
			!assembly_add_sample(&coroot->assembly, run, stack, values, err))
			return false;
	}
	return row_end(&rows, err);
}

/* "ebpf:cpu:nanoseconds", "go:profile_cpu:nanoseconds", "java:lock_delay:nanoseconds": `cpu` and `delay`. */
static bool coroot_set_metric(struct coroot *coroot, struct error *err)
{
	struct profile *profile = coroot->assembly.profile;
	const char *type = coroot_type(coroot->address), *first = strchr(type, ':'), *last = strrchr(type, ':');
	const char *prefix = first ? strchr(first, '_') : NULL;
	char name[64];

	if (!first || first == last)
		return error_set(
			err, ERROR_USAGE, "'%s' is no type of Coroot's profiles, such as ebpf:cpu:nanoseconds", type);
	first = prefix && prefix < last ? prefix : first;
	snprintf(name, sizeof(name), "%.*s", (int)(last - first - 1 > 60 ? 60 : last - first - 1), first + 1);
	if (!profile_add_value_type(profile, name, last + 1, err))
		return false;
	profile->counts_of[0] = profile->counts_of[1] = PROFILE_NONE;
	profile->default_value_type = 1;
	return profile_set_label(profile, PROFILE_LABEL_SERVICE, store_address_filter(coroot->address, "service"), err);
}

static bool coroot_fetch(
	struct courier *courier, const struct store_address *query, struct store_profiles *profiles, struct error *err)
{
	struct coroot coroot = { .courier = courier, .address = query };
	bool ok;

	if (!store_address_filter(query, "service"))
		return error_set(err, ERROR_USAGE, "'%s' names no service: add service=NAME", query->text);
	ok = assembly_init(&coroot.assembly, err) && coroot_set_metric(&coroot, err) &&
	     coroot_choose_tables(&coroot, err) && coroot_choose_runs(&coroot, err) && coroot_read_runs(&coroot, err) &&
	     coroot_read_stacks(&coroot, err) && coroot_read_samples(&coroot, err) &&
	     assembly_hand_over(&coroot.assembly, coroot.in_parts, coroot.by_instance, coroot.courier, profiles, err);
	assembly_deinit(&coroot.assembly);
	return ok;
}

const struct store_functions store_coroot = { .fetch = coroot_fetch };
