/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/store/clickhouse/ask.h"
#include "profile/store/clickhouse/assemble.h"

/*
 * Adds one profile, of all that the address asks for, in which each instance of the program is a run; where instances
 * are not known, or fewer than INSTANCES_LEAST, each profile is one. More than INSTANCES_MOST become as many parts.
 */
enum { INSTANCES_LEAST = 6, INSTANCES_MOST = 1000, INSTANCES_PARTS = 500 };
COMMON_MUST_CHECK
bool clickhouse_fetch_instances(
	struct courier *courier, const struct store_address *query, struct store_profiles *profiles, struct error *err);

/* ---- Shared by its files ---- */

struct instances {
	struct courier *courier;
	const struct store_address *address;
	struct assembly assembly;
	uint64_t values; /* hash of the value types that most profiles have, which are the ones to be read */
	uint64_t profiles;
	bool by_instance, in_parts;
};

/* Appends the profiles with `v`, the hash of what their values are, and `r`, the key of their run. */
void instances_profiles(const struct instances *instances, struct clickhouse_query *query);

/* Reads the frames, and then the stacks, of the profiles. */
COMMON_MUST_CHECK
bool instances_read_frames(struct instances *instances, struct error *err);
COMMON_MUST_CHECK
bool instances_read_stacks(struct instances *instances, struct error *err);
