/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sends the rows of a profile. */
#include "profile/store/clickhouse/clickhouse.h"

#include "profile/store/clickhouse/row.h"
#include "profile/store/clickhouse/tables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>

enum { SEND_MAX_PUSHES = 3 };

void clickhouse_uuid(const uint64_t id[2], char text[CLICKHOUSE_UUID_BYTES])
{
	snprintf(text, CLICKHOUSE_UUID_BYTES, "%08" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%012" PRIx64,
		id[0] >> 32, id[0] >> 16 & 0xffff, id[0] & 0xffff, id[1] >> 48, id[1] & 0xffffffffffff);
}

bool clickhouse_check_schema(uint16_t schema, struct error *err)
{
	if (schema <= CLICKHOUSE_SCHEMA)
		return true;
	return error_set(err, ERROR_UNSUPPORTED,
		"the tables are those of a later kelvin (schema %u, this one knows %d): install that version, or name another database",
		schema, CLICKHOUSE_SCHEMA);
}

/* ---- Tables ---- */

/* Asks whether the profile is in the tables; `*are_missing`: there are no tables. */
static bool send_ask_whether_there(struct courier *courier, const struct store_parcel *parcel, bool *is_there,
	bool *are_missing, struct error *err)
{
	CLEANUP(clickhouse_query_cleanup) struct clickhouse_query query = { 0 };
	CLEANUP(buffer_deinit) struct buffer answer = { 0 };
	struct byte_reader rows;
	char id[CLICKHOUSE_UUID_BYTES];
	uint16_t schema = 0;

	*is_there = *are_missing = false;
	clickhouse_uuid(parcel->id, id);
	clickhouse_query_init(&query, "cannot ask whether the profile is there");
	buffer_printf(&query.sql,
		"SELECT toUInt8(165), max(schema), toUInt64(countIf(id = toUUID('%s'))) FROM kelvin_profiles FORMAT RowBinary",
		id);
	if (!clickhouse_ask(courier, &query, &answer, err)) {
		*are_missing = query.code == CLICKHOUSE_UNKNOWN_TABLE;
		return *are_missing;
	}
	rows = byte_reader_over(answer.data, answer.size);
	while (row_next(&rows)) {
		schema = row_u16(&rows);
		*is_there = row_u64(&rows) > 0;
	}
	return row_end(&rows, err) && clickhouse_check_schema(schema, err);
}

static bool send_create_tables(struct courier *courier, struct error *err)
{
	for (size_t i = 0; i < CLICKHOUSE_TABLE_COUNT; i++) {
		int code;

		if (clickhouse_execute(courier, clickhouse_tables[i].create, "cannot create the tables", &code, err))
			continue;
		if (code == CLICKHOUSE_ACCESS_DENIED || code == CLICKHOUSE_READONLY)
			return error_set(err, ERROR_PERMISSION,
				"the user may not create tables in '%s': have somebody who may execute the statements in docs/stores.md, then push again",
				courier->address->path);
		return false;
	}
	return true;
}

/* ---- Rows ---- */

static bool send_read_part(int fd, struct buffer *part, struct error *err)
{
	struct stat status;
	off_t at = 0;

	if (fstat(fd, &status) != 0)
		return error_set_errno(err, errno, "cannot read what is to be sent");
	buffer_init(part, (size_t)1 << 31);
	while (at < status.st_size) {
		char *into = buffer_reserve(part, (size_t)(status.st_size - at));
		ssize_t got = into ? pread(fd, into, (size_t)(status.st_size - at), at) : -1;

		if (!into)
			return buffer_ok(part, err);
		if (got <= 0)
			return error_set_errno(err, got ? errno : EIO, "cannot read what is to be sent");
		buffer_commit(part, (size_t)got);
		at += got;
	}
	return true;
}

/* Puts the push in place of the sizes of rows. */
static bool send_number_rows(
	const struct buffer *part, uint64_t push, struct buffer *rows, uint64_t *count, struct error *err)
{
	struct byte_reader reader = byte_reader_over(part->data, part->size);

	*count = 0;
	while (byte_reader_left(&reader) > 0) {
		uint32_t size = byte_reader_u32(&reader);
		const uint8_t *row = byte_reader_bytes(&reader, size);

		if (!row)
			return error_set(err, ERROR_FORMAT, "what is to be sent is no table's rows");
		row_append_u64(rows, push);
		buffer_append(rows, row, size);
		++*count;
	}
	return buffer_ok(rows, err);
}

static bool send_table(struct courier *courier, const struct store_parcel *parcel, enum clickhouse_table table,
	uint64_t push, uint64_t *count, struct error *err)
{
	const struct clickhouse_table_row *row = &clickhouse_tables[table];
	CLEANUP(buffer_deinit) struct buffer part = { 0 }, rows = { 0 };
	char insert[600], token[64];

	snprintf(insert, sizeof(insert), "INSERT INTO %s (%s%s) FORMAT RowBinary", row->name,
		row->has_push ? "push, " : "", row->columns);
	snprintf(token, sizeof(token), "%016" PRIx64 "-%d", push, (int)table);
	if (!send_read_part(parcel->parts[table], &part, err))
		return false;
	if (!row->has_push)
		return clickhouse_insert(courier, insert, token, &part, err);
	buffer_init(&rows, (size_t)1 << 31);
	return send_number_rows(&part, push, &rows, count, err) &&
	       clickhouse_insert(courier, insert, token, &rows, err);
}

/*
 * Asks whether a table has more rows of the push than were sent: an insert was repeated, and the engine did not notice.
 */
static bool send_has_more(struct courier *courier, enum clickhouse_table table, uint64_t push, uint64_t sent,
	bool *has_more, struct error *err)
{
	CLEANUP(clickhouse_query_cleanup) struct clickhouse_query query = { 0 };
	CLEANUP(buffer_deinit) struct buffer answer = { 0 };
	struct byte_reader rows;

	clickhouse_query_init(&query, "cannot count the rows that were sent");
	buffer_printf(&query.sql,
		"SELECT toUInt8(165), toUInt64(count()) FROM %s WHERE push = %" PRIu64 " FORMAT RowBinary",
		clickhouse_tables[table].name, push);
	if (!clickhouse_ask(courier, &query, &answer, err))
		return false;
	rows = byte_reader_over(answer.data, answer.size);
	while (row_next(&rows))
		*has_more = row_u64(&rows) > sent || *has_more;
	return row_end(&rows, err);
}

/* Sends all rows with one push, but for that of the profile; `*is_clean`: each is there once. */
static bool send_push(
	struct courier *courier, const struct store_parcel *parcel, uint64_t push, bool *is_clean, struct error *err)
{
	bool has_more = false;

	for (enum clickhouse_table table = 0; table < CLICKHOUSE_PROFILES; table++) {
		uint64_t count = 0;

		if (!send_table(courier, parcel, table, push, &count, err) ||
			(clickhouse_tables[table].has_push &&
				!send_has_more(courier, table, push, count, &has_more, err)))
			return false;
	}
	*is_clean = !has_more;
	return true;
}

bool clickhouse_send(
	struct courier *courier, const struct store_parcel *parcel, enum store_sent *sent, struct error *err)
{
	bool is_there, are_missing;
	uint64_t count;

	if (!send_ask_whether_there(courier, parcel, &is_there, &are_missing, err) ||
		(are_missing && !send_create_tables(courier, err)))
		return false;
	*sent = is_there ? STORE_WAS_THERE : STORE_SENT;
	if (is_there)
		return true;
	for (int i = 0; i < SEND_MAX_PUSHES; i++) {
		uint64_t push;
		bool is_clean;

		if (getrandom(&push, sizeof(push), 0) != sizeof(push))
			return error_set_errno(err, errno, "cannot draw a random number");
		if (!send_push(courier, parcel, push, &is_clean, err))
			return false;
		if (is_clean)
			return send_table(courier, parcel, CLICKHOUSE_PROFILES, push, &count, err);
	}
	return error_set(err, ERROR_SYSTEM,
		"the rows of the profile arrive more than once at '%s', by whatever lies between; nothing of it counts",
		courier->address->path);
}
