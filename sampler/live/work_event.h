/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/live/work_places.h"

#include <limits.h>
#include <linux/perf_event.h>

/* An event that the user names in place of requests (sampler/live/work.h), as the kernel knows it. */
struct work_event {
	const char *name; /* borrowed: what the user wrote */
	uint32_t type;    /* of the kernel's PMU */
	uint64_t config;
	uint32_t semaphore_shift; /* in `config`: where the place of a semaphore goes */
	char path[PATH_MAX];      /* "": a tracepoint, which has one place */
	struct work_place places[WORK_MOST_PLACES];
	size_t place_count;
};

/* Checks whether it could be an event at all; ERROR_USAGE: it could not. */
COMMON_MUST_CHECK
bool work_event_check(const char *text, struct error *err);

/* Finds it. `text` is borrowed. */
COMMON_MUST_CHECK
bool work_event_find(struct work_event *event, const char *text, struct error *err);

/* Returns attributes for perf_event_open(), disabled. It borrows from `event`. */
struct perf_event_attr work_event_attr(const struct work_event *event, size_t place);
