/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/collect/counters.h"

/*
 * The events that are counted beside the sampling one. They form a group: the processor counts all of them at the same
 * time, or none.
 */

struct counter_event {
	uint32_t type; /* PERF_TYPE_*, or a PMU's number from sysfs */
	uint64_t config;
};

struct counter_group {
	struct counter_event events[COUNTERS_MAX_MEMBERS]; /* the first one leads; the sampling one's is not used */
	size_t count;                                      /* 0: nothing is counted beside it */
	size_t sampling;        /* place of the sampling event: 0, or 1 behind Intel's slots, which only lead */
	bool takes_turns;       /* it needs counters of the processor */
	const char *kind;       /* "topdown", "raw counters"; NULL: a list that the user gave. Static */
	const char *parts_unit; /* of the parts that its counters count: "slots", "cycles"; NULL: of none. Static */
	struct counter_columns columns;
};

/*
 * Parses the events that a user names, by perf's names or as r followed by a raw code, separated by commas.
 * ERROR_USAGE.
 */
COMMON_MUST_CHECK
bool counter_group_of_list(const char *list, struct counter_group *group, struct error *err);

/*
 * Adds an event to the group, `factor` times in a column of its own, or in that of the same type, unit and input. NULL:
 * it has none. The column is copied.
 */
COMMON_MUST_CHECK
bool counter_group_add(struct counter_group *group, const struct counter_event *event,
	const struct counter_column *column, uint32_t factor, struct error *err);

/*
 * Tries a group by counting ourselves: one that does not fit into the processor is refused, or never runs. `sampling`
 * takes the sampling event's place; `precise` is its precise_ip. `*opened`: the events that were accepted one behind
 * the other, or all of them if they did not run.
 */
COMMON_MUST_CHECK
bool counter_group_counts(
	const struct counter_group *group, const struct counter_event *sampling, uint32_t precise, size_t *opened);
