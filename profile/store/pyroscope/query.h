/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/store/pyroscope/pyroscope.h"

/* A query: the profiles that an address asks for, and what the store says it has of them. */

enum {
	QUERY_MAX_CALLS = 96, /* of those that fetch */
	QUERY_MAX_VALUES = 100000,
	QUERY_MAX_BUCKETS = 2048,
};

struct pyroscope_query {
	struct courier *courier;
	const struct store_address *address;
	char *type;             /* owned: NAME:TYPE:UNIT:PERIOD_TYPE:PERIOD_UNIT; NULL: not known yet */
	struct buffer matchers; /* what stands between the braces of the selector */
	int64_t from_ms, until_ms;
	const char *instance_label; /* borrowed: by which instances are told apart; NULL: by none */
	char **instances;           /* owned, each of them: its values, sorted; "" for series without it */
	size_t instance_count;
	/* The parts of the period in which there are profiles. */
	bool has_profiles[QUERY_MAX_BUCKETS];
	size_t bucket_count;
	int64_t bucket_ms;
};

/* Makes a query, which is to be deinitialized also after an error. */
COMMON_MUST_CHECK
bool pyroscope_query_init(
	struct pyroscope_query *query, struct courier *courier, const struct store_address *address, struct error *err);
void pyroscope_query_deinit(struct pyroscope_query *query);

/* Asks the store for the types and instances, and when there are profiles. ERROR_EMPTY: there are none. */
COMMON_MUST_CHECK
bool pyroscope_query_explore(struct pyroscope_query *query, struct error *err);
