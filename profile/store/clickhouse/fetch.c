/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fetches profiles as one side of a comparison: up to FETCH_MAX_FILES of them as the files that were pushed, with all
 * that these have. More are added up where the data lies, by instance, into one profile in which each instance is a
 * run: their stacks with functions, lines, modules, origins and fingerprints, without addresses, threads and moments.
 */
#include "profile/store/clickhouse/clickhouse.h"
#include "profile/store/clickhouse/instances.h"

#include "profile/store/clickhouse/row.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { FETCH_MAX_FILES = 20, FETCH_MAX_LISTED = 200000 };

struct fetch_profile {
	uint64_t push, id[2];
	char name[COURIER_MAX_NAME];
};

/* The first FETCH_MAX_FILES of the profiles that are asked for, and how many there are. */
struct fetch_list {
	struct fetch_profile profiles[FETCH_MAX_FILES];
	uint64_t count;
};

static void fetch_name(struct byte_reader *rows, char name[COURIER_MAX_NAME])
{
	struct row_string instance = row_string(rows), file = row_string(rows), start = row_string(rows);
	struct row_string what = instance.size > 0 ? instance : file;

	snprintf(name, COURIER_MAX_NAME, "%.*s%s%.*s", (int)(what.size > 200 ? 200 : what.size), what.bytes,
		what.size > 0 ? ", " : "", (int)(start.size > 30 ? 30 : start.size), start.bytes);
}

static bool fetch_read_list(
	struct courier *courier, struct clickhouse_query *query, struct fetch_list *list, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer answer = { 0 };
	struct byte_reader rows;

	if (!clickhouse_ask(courier, query, &answer, err))
		return false;
	rows = byte_reader_over(answer.data, answer.size);
	while (row_next(&rows)) {
		uint16_t schema = row_u16(&rows);
		struct fetch_profile profile = { .push = row_u64(&rows) };

		profile.id[0] = row_u64(&rows);
		profile.id[1] = row_u64(&rows);
		fetch_name(&rows, profile.name);
		if (byte_reader_ok(&rows) && !clickhouse_check_schema(schema, err))
			return false;
		if (list->count < FETCH_MAX_FILES)
			list->profiles[list->count] = profile;
		list->count++;
	}
	return row_end(&rows, err);
}

/* The columns of a profile in such a list. */
#define FETCH_COLUMNS                                                                                                  \
	"toUInt8(165), schema, push, id, instance, name, formatDateTime(toDateTime(start, 'UTC'), '%Y-%m-%d %H:%i:%S')"

static bool fetch_file(struct courier *courier, const struct fetch_profile *profile, struct store_profiles *profiles,
	struct error *err)
{
	CLEANUP(clickhouse_query_cleanup) struct clickhouse_query query = { 0 };
	CLEANUP(buffer_deinit) struct buffer answer = { 0 };
	CLEANUP(cleanup_close) int fd = -1;
	struct byte_reader rows;
	struct row_string file = { 0 };

	clickhouse_query_init(&query, "cannot read a profile");
	buffer_printf(&query.sql,
		"SELECT toUInt8(165), profile FROM kelvin_files WHERE push = %" PRIu64 " LIMIT 1 FORMAT RowBinary",
		profile->push);
	if (!clickhouse_ask(courier, &query, &answer, err))
		return false;
	rows = byte_reader_over(answer.data, answer.size);
	while (row_next(&rows))
		file = row_bytes(&rows);
	if (!row_end(&rows, err))
		return false;
	if (file.size == 0)
		return error_set(err, ERROR_NOT_FOUND, "%s: its file is not in the store any more", profile->name);
	if (!courier_file(&fd, err))
		return false;
	if (!file_write_all(fd, file.bytes, file.size))
		return error_set_errno(err, errno, "cannot write to a file in memory");
	return courier_add(profiles, profile->name, &fd, err);
}

static bool fetch_files(
	struct courier *courier, const struct fetch_list *list, struct store_profiles *profiles, struct error *err)
{
	for (size_t i = 0; i < list->count && i < FETCH_MAX_FILES; i++)
		if (!fetch_file(courier, &list->profiles[i], profiles, err))
			return false;
	return true;
}

bool clickhouse_fetch(
	struct courier *courier, const struct store_address *query, struct store_profiles *profiles, struct error *err)
{
	CLEANUP(clickhouse_query_cleanup) struct clickhouse_query sql = { 0 };
	struct fetch_list list = { 0 };

	clickhouse_query_init(&sql, "cannot list the profiles");
	buffer_append_string(&sql.sql, "SELECT " FETCH_COLUMNS " FROM (");
	clickhouse_query_profiles(&sql, query, "schema, push, id, instance, name, start");
	buffer_printf(&sql.sql, ") ORDER BY start, id LIMIT %d FORMAT RowBinary", FETCH_MAX_LISTED + 1);
	if (!fetch_read_list(courier, &sql, &list, err))
		return false;
	if (list.count == 0)
		return error_set(err, ERROR_EMPTY, "no profile in the store is what '%s' asks for", query->text);
	if (list.count > FETCH_MAX_LISTED)
		return error_set(err, ERROR_LIMIT,
			"more than %d profiles are what '%s' asks for: add from, until or a label to it",
			FETCH_MAX_LISTED, query->text);
	if (list.count <= FETCH_MAX_FILES)
		return fetch_files(courier, &list, profiles, err);
	return clickhouse_fetch_instances(courier, query, profiles, err);
}

static const struct fetch_profile *fetch_find(const struct fetch_list *list, const uint64_t id[2])
{
	for (size_t i = 0; i < list->count && i < FETCH_MAX_FILES; i++)
		if (memcmp(list->profiles[i].id, id, sizeof(list->profiles[i].id)) == 0)
			return &list->profiles[i];
	return NULL;
}

bool clickhouse_fetch_ids(struct courier *courier, const struct store_address *query, const uint64_t (*ids)[2],
	size_t count, struct store_profiles *profiles, struct error *err)
{
	CLEANUP(clickhouse_query_cleanup) struct clickhouse_query sql = { 0 };
	struct fetch_list list = { 0 };

	(void)query;
	if (count > FETCH_MAX_FILES)
		return error_set(err, ERROR_LIMIT, "%zu profiles are more than %d", count, FETCH_MAX_FILES);
	clickhouse_query_init(&sql, "cannot list the profiles");
	buffer_append_string(&sql.sql, "SELECT " FETCH_COLUMNS " FROM kelvin_profiles WHERE id IN (");
	for (size_t i = 0; i < count; i++) {
		char id[CLICKHOUSE_UUID_BYTES];

		clickhouse_uuid(ids[i], id);
		buffer_printf(&sql.sql, "%s'%s'", i ? ", " : "", id);
	}
	buffer_append_string(&sql.sql, ") ORDER BY push LIMIT 1 BY id FORMAT RowBinary");
	if (!fetch_read_list(courier, &sql, &list, err))
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct fetch_profile *found = fetch_find(&list, ids[i]);

		if (!found)
			return error_set(err, ERROR_NOT_FOUND, "a profile of %zu is not in the store any more", count);
		if (!fetch_file(courier, found, profiles, err))
			return false;
	}
	return true;
}
