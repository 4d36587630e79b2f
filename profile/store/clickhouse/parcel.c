/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the rows of tables from a profile. */
#include "profile/store/clickhouse/parcel.h"

#include "profile/store/clickhouse/row.h"

#include <errno.h>
#include <stdio.h>

static const size_t parcel_max_bytes = (size_t)1 << 30;

uint64_t clickhouse_hash(const void *bytes, size_t size)
{
	uint8_t digest[MD5_BYTES];
	uint64_t hash;

	md5(bytes, size, digest);
	memcpy(&hash, digest, sizeof(hash));
	return hash;
}

size_t clickhouse_row_begin(struct buffer *rows)
{
	size_t begin = rows->size;

	row_append_u32(rows, 0);
	return begin;
}

void clickhouse_row_end(struct buffer *rows, size_t begin)
{
	uint32_t size = (uint32_t)(rows->size - begin - sizeof(size));

	if (!rows->failed)
		memcpy(rows->data + begin, &size, sizeof(size));
}

/* ---- What a profile is of ---- */

static int64_t parcel_start(const struct profile *profile)
{
	int64_t start = 0;

	for (size_t i = 0; i < profile->run_count; i++)
		if (profile->runs[i].start_unix_ns > 0 && (!start || profile->runs[i].start_unix_ns < start))
			start = profile->runs[i].start_unix_ns;
	return start;
}

struct clickhouse_origin clickhouse_origin(const struct profile *profile)
{
	const char *service = profile_label(profile, PROFILE_LABEL_SERVICE);
	int64_t start = parcel_start(profile), seconds = start / 1000000000;

	return (struct clickhouse_origin){
		.service = service ? service : "",
		.start_unix_ns = start,
		.start_s = seconds > UINT32_MAX ? UINT32_MAX : (uint32_t)seconds,
	};
}

static void parcel_label(struct buffer *row, const struct profile *profile, const char *key)
{
	const char *value = profile_label(profile, key);

	row_append_string(row, value ? value : "");
}

static void parcel_labels(struct buffer *row, const struct profile *profile)
{
	row_append_count(row, profile->label_count);
	for (size_t i = 0; i < profile->label_count; i++) {
		row_append_string(row, profile_string(profile, profile->labels[i].key));
		row_append_string(row, profile_string(profile, profile->labels[i].value));
	}
}

static void parcel_facts(struct buffer *row, const struct profile *profile)
{
	size_t count, known = 0;
	const struct profile_fact *facts = profile_facts(&count);

	for (size_t i = 0; i < count; i++)
		known += profile_fact_get(&profile->facts, &facts[i]) != 0;
	row_append_count(row, known);
	for (size_t i = 0; i < count; i++) {
		uint32_t value = profile_fact_get(&profile->facts, &facts[i]);
		char number[16];

		if (!value)
			continue;
		snprintf(number, sizeof(number), "%u", value);
		row_append_string(row, facts[i].name);
		row_append_string(row, facts[i].type == PROFILE_FACT_STRING ? profile_string(profile, value) : number);
	}
}

static void parcel_value_types(struct buffer *row, const struct profile *profile)
{
	row_append_count(row, profile->value_type_count);
	for (uint32_t i = 0; i < profile->value_type_count; i++) {
		row_append_string(row, profile_string(profile, profile->value_types[i].type));
		row_append_string(row, profile_string(profile, profile->value_types[i].unit));
		row_append_u8(row, (uint8_t)profile->counts_of[i]);
		row_append_u8(row, i == profile->default_value_type);
	}
	row_append_string(row, profile_string(profile, profile->period_type.type));
	row_append_string(row, profile_string(profile, profile->period_type.unit));
	row_append_u64(row, (uint64_t)profile->period);
}

static void parcel_profile(
	struct buffer *rows, const struct profile *profile, const uint64_t id[2], const struct clickhouse_sums *sums)
{
	struct clickhouse_origin origin = clickhouse_origin(profile);
	size_t begin = clickhouse_row_begin(rows);

	row_append_u16(rows, CLICKHOUSE_SCHEMA);
	row_append_u64(rows, id[0]);
	row_append_u64(rows, id[1]);
	row_append_string(rows, profile_string(profile, profile->facts.command));
	row_append_string(rows, origin.service);
	parcel_label(rows, profile, PROFILE_LABEL_VERSION);
	parcel_label(rows, profile, PROFILE_LABEL_HOST);
	row_append_string(rows, profile->run_count > 0 ? profile_run_instance(profile, 0) : "");
	row_append_string(rows, profile_string(profile, profile->facts.command));
	parcel_labels(rows, profile);
	parcel_facts(rows, profile);
	row_append_u64(rows, (uint64_t)origin.start_unix_ns);
	buffer_append(rows, sums->circumstances.data, sums->circumstances.size);
	row_append_u64(rows, sums->kind);
	parcel_value_types(rows, profile);
	buffer_append(rows, sums->metrics.data, sums->metrics.size);
	buffer_append(rows, sums->binaries.data, sums->binaries.size);
	clickhouse_row_end(rows, begin);
}

static bool parcel_file(struct buffer *rows, const struct profile *profile, struct error *err)
{
	struct clickhouse_origin origin = clickhouse_origin(profile);
	struct buffer file = BUFFER_INIT(parcel_max_bytes);
	size_t begin = clickhouse_row_begin(rows);
	bool ok;

	ok = profile_write_pprof(profile, &file, err);
	row_append_string(rows, origin.service);
	row_append_u32(rows, origin.start_s);
	row_append_bytes(rows, file.data, file.size);
	clickhouse_row_end(rows, begin);
	buffer_deinit(&file);
	return ok;
}

/* ---- The parts ---- */

static bool parcel_part(int fd, const struct buffer *rows, struct error *err)
{
	return buffer_ok(rows, err) && (file_write_all(fd, rows->data, rows->size) ||
					       error_set_errno(err, errno, "cannot write to a file in memory"));
}

static bool parcel_parts(const struct profile *profile, struct buffer *rows, struct clickhouse_sums *sums,
	struct store_parcel *parcel, struct error *err)
{
	if (!clickhouse_append_sums(profile, parcel, sums, err) ||
		!clickhouse_append_stacks(
			profile, &rows[CLICKHOUSE_SAMPLES], &rows[CLICKHOUSE_STACKS], &rows[CLICKHOUSE_FRAMES], err) ||
		!parcel_file(&rows[CLICKHOUSE_FILES], profile, err))
		return false;
	parcel_profile(&rows[CLICKHOUSE_PROFILES], profile, parcel->id, sums);
	for (size_t i = 0; i < CLICKHOUSE_TABLE_COUNT; i++) {
		const struct buffer *part = i == CLICKHOUSE_NAMES       ? &sums->names
					    : i == CLICKHOUSE_FUNCTIONS ? &sums->functions
									: &rows[i];

		if (!parcel_part(parcel->parts[i], part, err))
			return false;
	}
	return true;
}

bool clickhouse_prepare(const struct profile *profile, const struct store_filter *labels, size_t label_count,
	struct store_parcel *parcel, struct error *err)
{
	/* Labels are its own; strings that are added to those it shares are no change of the profile. */
	struct profile labelled = *profile;
	struct clickhouse_sums sums = { 0 };
	struct buffer rows[CLICKHOUSE_TABLE_COUNT], *const all[] = { &sums.functions, &sums.names, &sums.circumstances,
		&sums.metrics, &sums.binaries };
	bool ok = true;

	for (size_t i = 0; ok && i < label_count; i++)
		ok = profile_set_label(&labelled, labels[i].key, labels[i].value, err);
	if (!ok)
		return false;
	for (size_t i = 0; i < CLICKHOUSE_TABLE_COUNT; i++)
		buffer_init(&rows[i], parcel_max_bytes);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		buffer_init(all[i], parcel_max_bytes);
	ok = parcel_parts(&labelled, rows, &sums, parcel, err);
	for (size_t i = 0; i < CLICKHOUSE_TABLE_COUNT; i++)
		buffer_deinit(&rows[i]);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		buffer_deinit(all[i]);
	return ok;
}
