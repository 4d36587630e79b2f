/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"
#include "sampler/records/record.h"

/*
 * Counters that are read with each sample. A sample carries the running totals of its group of events; what they have
 * gained since the group's sample before is charged to this sample's stack. So a function's share is right on average,
 * and means something from some dozens of samples on.
 *
 * Totals belong to one instance of the group: of a thread on a CPU, or of a CPU. The kernel lets groups take turns
 * where the processor has too few counters. What was counted is then scaled by the time that the group was to count
 * over the time that it did.
 */
struct counters;

enum { COUNTERS_MAX_MEMBERS = 12, COUNTERS_MAX_COLUMNS = 12, COUNTERS_TYPE_BYTES = 64, COUNTERS_NO_COLUMN = UINT8_MAX };

/* A value type of the profile: the sum of members of the group, each by its factor. */
struct counter_column {
	char type[COUNTERS_TYPE_BYTES]; /* "": it only decides the parts */
	const char *unit;               /* static: "count", "slots", "cycles", "nanoseconds" */
	enum counter_cost_input input;
};

struct counter_member {
	uint8_t column; /* COUNTERS_NO_COLUMN: it is not kept */
	uint8_t factor;
};

struct counter_columns {
	struct counter_column columns[COUNTERS_MAX_COLUMNS];
	size_t column_count;
	struct counter_member members[COUNTERS_MAX_MEMBERS]; /* of the group, in the order in which it is read */
	size_t member_count;
};

struct counters_options {
	struct counter_columns columns;
	/* The member that an event's id stands for, or any other number; NULL: values stand in the members' order. */
	uint32_t (*member_of)(const void *context, uint64_t id);
	const void *context;
	bool are_of_threads; /* the group counts threads, on each CPU by an instance of its own; false: CPUs */
	bool takes_turns;    /* the group's events need counters of the processor: it may have to share them */
	const char
		*parts_unit; /* of the parts that hold the program up, which become value types; static, NULL: none */
};

/* Adds the value types. No number of samples is kept for them: values of one stack differ from sample to sample. */
COMMON_MUST_CHECK
bool counters_create(
	struct profile *profile, const struct counters_options *options, struct counters **counters, struct error *err);
void counters_destroy(struct counters *counters);

/*
 * Takes the totals of a sample, in order of time of its instance, and keeps what they have gained under the number
 * `held`, below UNWIND_TOGETHER. COUNTERS_LEFT_OUT: the sample itself is not kept, and its counts with it.
 */
enum { COUNTERS_LEFT_OUT = UINT32_MAX };
COMMON_MUST_CHECK
bool counters_take(struct counters *counters, const struct record *record, uint32_t held, struct error *err);

/* Fills the counters' value types with what was kept under that number. `is_kernel`: it was taken in kernel code. */
void counters_fill(
	const struct counters *counters, uint32_t held, bool is_kernel, int64_t values[PROFILE_MAX_VALUE_TYPES]);

/* Tells the counters that from now on the group counts threads, or CPUs: its events were opened anew. */
void counters_set_threads(struct counters *counters, bool are_of_threads);

/* Percent of the time in which the counters ran, at most 100. */
double counters_ran_percent(const struct counters *counters);

/*
 * Notes in the profile's facts that values are scaled, and appends what the user should know of the whole recording:
 * that, and that counts were left out. `notices` may be NULL.
 */
void counters_describe(const struct counters *counters, struct profile *profile, struct buffer *notices);
