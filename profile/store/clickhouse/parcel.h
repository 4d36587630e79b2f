/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/store/clickhouse/tables.h"
#include "profile/store/store.h"

/* Does what store_prepare() does for ClickHouse: parts[table] of the parcel are the rows of each table (tables.h). */
COMMON_MUST_CHECK
bool clickhouse_prepare(const struct profile *profile, const struct store_filter *labels, size_t label_count,
	struct store_parcel *parcel, struct error *err);

/* The parts of it, each of which appends the rows of its tables. */

/*
 * The sums of all metrics: rows of kelvin_functions and kelvin_names; and columns of kelvin_profiles: those from
 * `duration_ns` to `lost`, `metrics` and `binaries`.
 */
struct clickhouse_sums {
	struct buffer functions, names, circumstances, metrics, binaries;
	/*
	 * The hash of what profiles have in common that the engine may add up to one point of a series: what a history
	 * keeps apart, and what begins at a deploy.
	 */
	uint64_t kind;
};
COMMON_MUST_CHECK
bool clickhouse_append_sums(const struct profile *profile, const struct store_parcel *parcel,
	struct clickhouse_sums *sums, struct error *err);

COMMON_MUST_CHECK
bool clickhouse_append_stacks(const struct profile *profile, struct buffer *samples, struct buffer *stacks,
	struct buffer *frames, struct error *err);

/* The values of a profile in the columns service and start. */
struct clickhouse_origin {
	const char *service; /* label `service`, else the name of the program; "" where neither is known */
	int64_t start_unix_ns;
	uint32_t start_s; /* within what a DateTime has room for */
};
struct clickhouse_origin clickhouse_origin(const struct profile *profile);

/*
 * Returns the hash by which contents are identified: the first 8 bytes of their MD5, so that SQL has the same
 * (reinterpretAsUInt64(MD5(key))).
 */
uint64_t clickhouse_hash(const void *bytes, size_t size);

/* Begins a row of a table with pushes, and ends it. */
size_t clickhouse_row_begin(struct buffer *rows);
void clickhouse_row_end(struct buffer *rows, size_t begin);
