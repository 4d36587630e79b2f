/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/part/part.h"
#include "sampler/perf_data/header.h"
#include "sampler/process/recorded.h"

/* Reading what part.h describes: part_read.c takes the file apart into chunks, part_tables.c what a chunk holds. */

/* A profile that grows chunk by chunk; ids of the file are places in these arrays, which hold ids of the profile. */
struct part_ids {
	uint32_t *items; /* owned */
	size_t count, capacity;
};

struct part_sample {
	uint32_t stack, thread;
	uint64_t given;                           /* events that were given out already */
	uint64_t values[PROFILE_MAX_VALUE_TYPES]; /* sums */
};

struct part_event {
	int64_t time_ns;
	uint32_t sample;
};

struct part_reader {
	struct perf_data_input input;
	struct recorded_files files;
	struct recorded_kernel kernel;
	struct buffer payload;
	struct buffer *notices;
	struct profile *profile; /* owned */
	struct part_ids strings, mappings, locations, stacks, threads;
	struct part_sample *samples; /* owned */
	size_t sample_count, sample_capacity;
	struct part_event *events; /* owned */
	size_t event_count, event_capacity;
	uint64_t chunks, last_address, kernel_text;
	int64_t last_time_ns, duration_ns, start_unix_ns;
	bool kernel_is_known;
};

/* Takes what `payload` holds. */
COMMON_MUST_CHECK
bool part_take_payload(struct part_reader *reader, struct error *err);

/* False when there is none. */
bool part_parse_build_id(const char *text, struct elf_build_id *id);
