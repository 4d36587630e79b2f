/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The conditions of an address as SQL. */
#include "profile/store/clickhouse/clickhouse.h"

#include <inttypes.h>

/* Returns the column that has what a condition is of; NULL: it is a label. */
static const char *query_column(const char *key)
{
	static const char *const columns[] = { "service", "version", "host", "instance", "command" };

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (strcmp(columns[i], key) == 0)
			return columns[i];
	return NULL;
}

static void query_start(struct clickhouse_query *query, const struct store_address *address, const char *begin,
	const char *end, int64_t unit_ns)
{
	if (address->from_unix_ns)
		buffer_printf(
			&query->sql, " AND start >= %s%" PRId64 "%s", begin, address->from_unix_ns / unit_ns, end);
	if (address->until_unix_ns)
		buffer_printf(&query->sql, " AND start %s %s%" PRId64 "%s", unit_ns > 1 ? "<=" : "<", begin,
			address->until_unix_ns / unit_ns, end);
}

static void query_where(struct clickhouse_query *query, const struct store_address *address)
{
	buffer_append_string(&query->sql, " WHERE 1");
	query_start(query, address, "fromUnixTimestamp64Nano(toInt64(", "))", 1);
	for (size_t i = 0; i < address->filter_count; i++) {
		const struct store_filter *filter = &address->filters[i];
		const char *column = query_column(filter->key);

		if (strcmp(filter->key, "metric") == 0)
			continue;
		buffer_printf(&query->sql, " AND %s", column ? column : "labels[");
		if (!column)
			clickhouse_query_text(query, filter->key);
		buffer_append_string(&query->sql, column ? " = " : "] = ");
		clickhouse_query_text(query, filter->value);
	}
}

void clickhouse_query_profiles(struct clickhouse_query *query, const struct store_address *address, const char *columns)
{
	buffer_printf(&query->sql, "SELECT %s FROM kelvin_profiles", columns);
	query_where(query, address);
	buffer_append_string(&query->sql, " ORDER BY push LIMIT 1 BY id");
}

void clickhouse_query_place(struct clickhouse_query *query, const struct store_address *address)
{
	const char *service = store_address_filter(address, "service");

	query_start(query, address, "toDateTime(", ")", 1000000000);
	if (service) {
		buffer_append_string(&query->sql, " AND service = ");
		clickhouse_query_text(query, service);
	}
}
