/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/records/record.h"

/* The events of a perf.data file, and the event of each record. */

enum { PERF_DATA_EVENT_NAME_BYTES = 64, PERF_DATA_NO_EVENT = 0xffffffff };

struct perf_data_event {
	struct perf_event_attr attr;
	struct record_layout layout;
	char name[PERF_DATA_EVENT_NAME_BYTES]; /* as perf prints it */
	uint64_t samples;                      /* read so far */
};

struct perf_data_events {
	struct perf_data_event *items; /* owned */
	size_t count, capacity;
	struct hash_map by_id; /* id -> event */
};

void perf_data_events_init(struct perf_data_events *events);
void perf_data_events_deinit(struct perf_data_events *events);

/* Adds an event. `attr` has `size` bytes, as the file holds it, and may be of an older or newer perf than ours. */
COMMON_MUST_CHECK
bool perf_data_events_add(struct perf_data_events *events, const uint8_t *attr, size_t size, struct error *err);

/* Reads ids to the reader's end; they belong to the event that was added last. */
COMMON_MUST_CHECK
bool perf_data_events_add_ids(struct perf_data_events *events, struct byte_reader *r, struct error *err);

/* Sets a better name than the attr gives, for the event with this id. */
void perf_data_events_name(struct perf_data_events *events, uint64_t id, const char *name, size_t size);

/*
 * Checks that the events of records can be found: ERROR_UNSUPPORTED if layouts differ and records do not contain their
 * event.
 */
COMMON_MUST_CHECK
bool perf_data_events_check(const struct perf_data_events *events, struct error *err);

/* The event of a record; PERF_DATA_NO_EVENT if no event has its id, or none is known yet. */
uint32_t perf_data_events_find(const struct perf_data_events *events, const uint8_t *bytes, size_t size);

/* Returns whether the user part of call chains comes in records of its own: attr.defer_callchain of Linux 6.19. */
bool perf_data_event_defers(const struct perf_event_attr *attr);

/* Returns whether the event takes no samples, and only reports mappings, names and tasks. */
bool perf_data_event_is_dummy(const struct perf_data_event *event);

/* The first event that takes samples; PERF_DATA_NO_EVENT if none does. */
uint32_t perf_data_events_first(const struct perf_data_events *events);

/* Returns whether the event is cpu-clock or task-clock, whose period is in nanoseconds. */
bool perf_data_event_is_clock(const struct perf_data_event *event);
