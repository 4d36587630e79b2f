/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/clickhouse/instances.h"

#include "profile/store/clickhouse/clickhouse.h"
#include "profile/store/clickhouse/pairs.h"

#include <inttypes.h>
#include <stdio.h>

/* Appends the profiles with `v`, the hash of what their values are, and `r`, the key of their run. */
void instances_profiles(const struct instances *instances, struct clickhouse_query *query)
{
	const char *key = instances->by_instance ? "cityHash64(instance)" : "push";

	buffer_printf(&query->sql,
		instances->in_parts ? "SELECT *, cityHash64(%s) %% %d AS r FROM (" : "SELECT *, %s AS r FROM (", key,
		INSTANCES_PARTS);
	buffer_append_string(
		&query->sql, "SELECT *, cityHash64(toString(value_types), toString(period_type), period) AS v FROM (");
	clickhouse_query_profiles(query, instances->address, "*");
	buffer_append_string(&query->sql, "))");
	if (instances->values)
		buffer_printf(&query->sql, " WHERE v = %" PRIu64, instances->values);
}

/* ---- What they have in common ---- */

static bool instances_read_value_types(struct instances *instances, struct byte_reader *rows, struct error *err)
{
	struct profile *profile = instances->assembly.profile;
	size_t count = row_count(rows);

	if (count == 0 || count > PROFILE_MAX_VALUE_TYPES)
		return error_set(err, ERROR_FORMAT, "the server sent %zu types of values", count);
	for (uint32_t i = 0; i < count; i++) {
		struct row_string type = row_string(rows), unit = row_string(rows);
		uint8_t counts = row_u8(rows);
		bool is_default = row_u8(rows) != 0;

		if (i > 0 && !profile_add_value_type(profile, "", "", err))
			return false;
		if (!string_table_add(profile->strings, type.bytes, type.size, &profile->value_types[i].type, err) ||
			!string_table_add(profile->strings, unit.bytes, unit.size, &profile->value_types[i].unit, err))
			return false;
		profile->counts_of[i] = counts < count ? counts : PROFILE_NONE;
		if (is_default || i == 0)
			profile->default_value_type = i;
	}
	return true;
}

static bool instances_read_head(struct instances *instances, struct byte_reader *rows, struct error *err)
{
	struct profile *profile = instances->assembly.profile;
	uint64_t all, distinct, nameless;
	struct row_string type, unit;

	instances->values = row_u64(rows);
	all = row_u64(rows);
	instances->profiles = row_u64(rows);
	if (all > instances->profiles)
		buffer_printf(instances->courier->notices,
			"%" PRIu64 " of %" PRIu64 " profiles are left out: they measured other things than the rest\n",
			all - instances->profiles, all);
	distinct = row_u64(rows);
	nameless = row_u64(rows);
	instances->by_instance = nameless == 0 && distinct >= INSTANCES_LEAST;
	instances->in_parts = (instances->by_instance ? distinct : instances->profiles) > INSTANCES_MOST;
	if (!instances_read_value_types(instances, rows, err))
		return false;
	type = row_string(rows);
	unit = row_string(rows);
	profile->period = (int64_t)row_u64(rows);
	return string_table_add(profile->strings, type.bytes, type.size, &profile->period_type.type, err) &&
	       string_table_add(profile->strings, unit.bytes, unit.size, &profile->period_type.unit, err) &&
	       pairs_read_labels(rows, profile->strings, profile->labels, &profile->label_count, err) &&
	       pairs_read_facts(rows, profile->strings, &profile->facts, err);
}

static bool instances_choose(struct instances *instances, struct error *err)
{
	CLEANUP(clickhouse_query_cleanup) struct clickhouse_query query = { 0 };
	CLEANUP(buffer_deinit) struct buffer answer = { 0 };
	struct byte_reader rows;
	size_t count = 0;

	clickhouse_query_init(&query, "cannot list the instances");
	buffer_append_string(&query.sql,
		"SELECT toUInt8(165), v, toUInt64(sum(count()) OVER ()), toUInt64(count()), toUInt64(uniqExact(instance)), "
		"toUInt64(countIf(instance = '')), any(value_types), any(period_type), any(period), " PAIRS_COLUMNS(
			"labels") ", " PAIRS_COLUMNS("facts") " FROM (");
	instances_profiles(instances, &query);
	buffer_append_string(&query.sql, ") GROUP BY v ORDER BY count() DESC, v LIMIT 1 FORMAT RowBinary");
	if (!clickhouse_ask(instances->courier, &query, &answer, err))
		return false;
	rows = byte_reader_over(answer.data, answer.size);
	for (; row_next(&rows); count++)
		if (!instances_read_head(instances, &rows, err))
			return false;
	if (!row_end(&rows, err))
		return false;
	return count == 1 || error_set(err, ERROR_EMPTY, "no profile in the store is what was asked for");
}

/* ---- Runs ---- */

static bool instances_read_run(struct instances *instances, struct byte_reader *rows, struct error *err)
{
	struct profile *profile = instances->assembly.profile;
	struct profile_run run = { .exit_status = -1 };
	uint64_t key = row_u64(rows), requests;
	struct row_string instance = row_string(rows), cpu_model = row_string(rows), source, event;
	struct profile_exchanges exchanges = { .run = (uint32_t)profile->run_count };
	uint32_t id;

	run.start_unix_ns = (int64_t)row_u64(rows);
	run.duration_ns = (int64_t)row_u64(rows);
	run.whole_command = row_u8(rows) != 0;
	source = row_string(rows);
	event = row_string(rows);
	requests = row_u64(rows);
	if (!string_table_add(profile->strings, instance.bytes, instance.size, &run.instance, err) ||
		!string_table_add(profile->strings, cpu_model.bytes, cpu_model.size, &run.cpu_model, err) ||
		!assembly_add_run(&instances->assembly, key, &run, err))
		return false;
	if (requests == 0)
		return true;
	exchanges.count = requests;
	profile->requests.source = pairs_work_source(source);
	profile->requests.one_in = 1;
	return string_table_add(profile->strings, event.bytes, event.size, &profile->requests.event, err) &&
	       (profile->requests.source == PROFILE_WORK_UNKNOWN ||
		       profile_add_exchanges(profile, &exchanges, &id, err));
}

static bool instances_read_runs(struct instances *instances, struct error *err)
{
	CLEANUP(clickhouse_query_cleanup) struct clickhouse_query query = { 0 };
	CLEANUP(buffer_deinit) struct buffer answer = { 0 };
	struct byte_reader rows;

	clickhouse_query_init(&query, "cannot read the instances");
	buffer_printf(&query.sql,
		"SELECT toUInt8(165), r, %s, if(min(facts['%s']) = max(facts['%s']), any(facts['%s']), ''), "
		"toUnixTimestamp64Nano(min(start)), sum(duration_ns), min(whole_commands), "
		"if(min(work) = max(work), any(work), ''), any(work_event), "
		"if(min(requests) > 0 AND min(work) = max(work), toUInt64(sum(requests)), 0) FROM (",
		instances->in_parts ? "''" : "any(instance)", "cpu_model", "cpu_model", "cpu_model");
	instances_profiles(instances, &query);
	buffer_append_string(&query.sql, ") GROUP BY r ORDER BY min(start), r FORMAT RowBinary");
	if (!clickhouse_ask(instances->courier, &query, &answer, err))
		return false;
	rows = byte_reader_over(answer.data, answer.size);
	while (row_next(&rows))
		if (!instances_read_run(instances, &rows, err))
			return false;
	return row_end(&rows, err);
}

/* ---- Samples ---- */

static bool instances_read_sample(struct instances *instances, struct byte_reader *rows, struct error *err)
{
	const uint32_t types = instances->assembly.profile->value_type_count;
	int64_t values[PROFILE_MAX_VALUE_TYPES];
	uint64_t run = row_u64(rows), stack = row_u64(rows);
	size_t count = row_count(rows);

	if (count != types && byte_reader_ok(rows))
		return error_set(err, ERROR_FORMAT, "the server sent %zu values for %u types", count, types);
	for (size_t i = 0; i < count; i++)
		values[i] = (int64_t)row_u64(rows);
	return !byte_reader_ok(rows) || assembly_add_sample(&instances->assembly, run, stack, values, err);
}

static bool instances_read_samples(struct instances *instances, struct error *err)
{
	CLEANUP(clickhouse_query_cleanup) struct clickhouse_query query = { 0 };
	CLEANUP(buffer_deinit) struct buffer answer = { 0 };
	struct byte_reader rows;

	clickhouse_query_init(&query, "cannot read samples");
	query.max_answer_bytes = (size_t)1 << 30;
	buffer_append_string(&query.sql,
		"SELECT toUInt8(165), r, stack, sumForEach(values) FROM (SELECT push, stack, values FROM kelvin_samples "
		"WHERE 1");
	clickhouse_query_place(&query, instances->address);
	buffer_append_string(&query.sql, ") AS s GLOBAL INNER JOIN (SELECT push, r FROM (");
	instances_profiles(instances, &query);
	buffer_append_string(&query.sql, ")) AS p USING push GROUP BY r, stack ORDER BY stack, r FORMAT RowBinary");
	if (!clickhouse_ask(instances->courier, &query, &answer, err))
		return false;
	rows = byte_reader_over(answer.data, answer.size);
	while (row_next(&rows))
		if (!instances_read_sample(instances, &rows, err))
			return false;
	return row_end(&rows, err);
}

bool clickhouse_fetch_instances(
	struct courier *courier, const struct store_address *query, struct store_profiles *profiles, struct error *err)
{
	struct instances instances = { .courier = courier, .address = query };
	bool ok = assembly_init(&instances.assembly, err) && instances_choose(&instances, err) &&
		  instances_read_runs(&instances, err) && instances_read_frames(&instances, err) &&
		  instances_read_stacks(&instances, err) && instances_read_samples(&instances, err) &&
		  assembly_hand_over(&instances.assembly, instances.in_parts, instances.by_instance, instances.courier,
			  profiles, err);

	assembly_deinit(&instances.assembly);
	return ok;
}
