/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/foreign/perf_script/words.h"

/* Makes samples of a profile from the frames of perf script. */

enum { SCRIPT_MAX_EVENTS = PROFILE_MAX_VALUE_TYPES - 1 };

struct script_frame;
struct script_tally;

struct script_samples {
	struct profile *profile;           /* owned */
	struct script_frame *frames;       /* owned: of the sample that is read, the leaf first */
	struct profile_line *inline_lines; /* owned: scratch */
	size_t frame_count, frame_capacity, inline_capacity;
	struct hash_map tally_of;
	struct script_tally *tallies; /* owned */
	size_t tally_count, tally_capacity;
	uint32_t events[SCRIPT_MAX_EVENTS]; /* strings */
	uint32_t event_count;
	bool has_periods;             /* the samples tell theirs */
	uint32_t run, kernel_mapping; /* PROFILE_NONE: no frame of it was met */
	/* The sample that is read; the reader sets the thread and the period. */
	bool is_open;
	uint32_t thread, event;
	int64_t period;
};

COMMON_MUST_CHECK
bool script_samples_init(struct script_samples *samples, struct error *err);
void script_samples_deinit(struct script_samples *samples);

COMMON_MUST_CHECK
bool script_samples_set_event(struct script_samples *samples, struct text_cursor name, struct error *err);

/* Adds a frame to the sample. */
COMMON_MUST_CHECK
bool script_samples_add_frame(struct script_samples *samples, uint64_t address, struct text_cursor name,
	struct text_cursor binary, struct error *err);

/* Counts the sample, if there is one. */
COMMON_MUST_CHECK
bool script_samples_end(struct script_samples *samples, struct error *err);

/* Gives the profile its value types and its samples. */
COMMON_MUST_CHECK
bool script_samples_finish(struct script_samples *samples, struct error *err);
