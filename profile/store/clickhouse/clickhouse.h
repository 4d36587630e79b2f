/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/store/clickhouse/ask.h"

/*
 * Does the courier's work with ClickHouse and Kelvin's own tables (tables.h): store_clickhouse (courier.h) has these.
 */
COMMON_MUST_CHECK
bool clickhouse_send(
	struct courier *courier, const struct store_parcel *parcel, enum store_sent *sent, struct error *err);
COMMON_MUST_CHECK
bool clickhouse_fetch(
	struct courier *courier, const struct store_address *query, struct store_profiles *profiles, struct error *err);
COMMON_MUST_CHECK
bool clickhouse_fetch_ids(struct courier *courier, const struct store_address *query, const uint64_t (*ids)[2],
	size_t count, struct store_profiles *profiles, struct error *err);
COMMON_MUST_CHECK
bool clickhouse_fetch_summaries(struct courier *courier, const struct store_address *query, int fd, struct error *err);

/* ---- Shared by them ---- */

/* "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" */
enum { CLICKHOUSE_UUID_BYTES = 37 };
void clickhouse_uuid(const uint64_t id[2], char text[CLICKHOUSE_UUID_BYTES]);

/*
 * Appends a query that has the columns of the profiles that the address asks for, one row of each, however often it was
 * pushed: "SELECT columns FROM kelvin_profiles WHERE ... LIMIT 1 BY id".
 */
void clickhouse_query_profiles(
	struct clickhouse_query *query, const struct store_address *address, const char *columns);

/* Appends conditions on the columns service and start, which all large tables are in order of: "AND service = ...". */
void clickhouse_query_place(struct clickhouse_query *query, const struct store_address *address);

/* Checks the version of the tables. ERROR_UNSUPPORTED: the tables are of a later Kelvin. */
COMMON_MUST_CHECK
bool clickhouse_check_schema(uint16_t schema, struct error *err);
