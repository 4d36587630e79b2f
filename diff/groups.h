/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/file_pairs.h"

/*
 * Groups of samples, each with a verdict of its own: those of a thread, of a module, of a route that the program names.
 * A group is compared as a function is (profile/regroup.h): all groups are one family at the diff's rate. What the
 * machine does in the program's threads (interrupts, a run-time compiler) is in none.
 */
enum { DIFF_GROUP_TOP = 3 };

struct diff_group {
	/* string of the groups: "/upload", a file's path in head; DIFF_NO_VALUE for the samples that have none */
	uint32_t value;
	double raw[DIFF_SIDES];
	struct diff_estimate time;
	double samples[DIFF_SIDES];   /* NAN: it is not known how many */
	uint32_t top[DIFF_GROUP_TOP]; /* functions of the diff that differ most in it; of one side, that have most */
	size_t top_count;
};

#define DIFF_NO_VALUE "(none)"

struct diff_groups {
	struct string_table *strings; /* owned */
	const char *key;              /* borrowed: the name of what they are grouped by */
	struct diff_group *items;     /* owned; by falling |delta|, in the one-sided case by falling time */
	size_t count;
};

/*
 * Groups what a diff was made of by the values of a key; `profiles` are its profiles, the key's words must outlive the
 * groups. `files` tells which files are one (NULL: paths do). ERROR_NOT_FOUND: no sample has the key, with the keys
 * that are there.
 */
COMMON_MUST_CHECK
bool diff_groups_create(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES],
	const struct profile_where *key, const struct diff_file_pairs *files, struct diff_groups **groups,
	struct error *err);
void diff_groups_destroy(struct diff_groups *groups);

static inline void diff_groups_cleanup(struct diff_groups **groups)
{
	diff_groups_destroy(*groups);
}

static inline const char *diff_group_value(const struct diff_groups *groups, const struct diff_group *group)
{
	return string_table_get(groups->strings, group->value);
}
