/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/store/clickhouse/clickhouse.h"
#include "profile/store/clickhouse/parcel.h"

const struct store_functions store_clickhouse = {
	.prepare = clickhouse_prepare,
	.send = clickhouse_send,
	.fetch = clickhouse_fetch,
	.fetch_summaries = clickhouse_fetch_summaries,
	.fetch_ids = clickhouse_fetch_ids,
};
