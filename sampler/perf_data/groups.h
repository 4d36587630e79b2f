/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/collect/counters.h"
#include "sampler/perf_data/header.h"

/*
 * Groups of events of which only one is sampled, as `perf record -e '{cycles,instructions}:S'` makes them: each of its
 * samples has the totals of all.
 */

struct perf_data_group {
	const struct perf_data_events *events; /* borrowed */
	uint32_t first;                        /* event that leads it */
	struct counters_options counters;      /* what the collector reads; borrows this struct */
};

/* Finds the group of an event. False: its samples have none. */
COMMON_MUST_CHECK
bool perf_data_group_find(const struct perf_data_header *header, uint32_t event, struct perf_data_group *group);
