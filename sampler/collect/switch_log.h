/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"
#include "sampler/records/record.h"

/*
 * The context switches of a recording (PERF_RECORD_SWITCH and SWITCH_CPU_WIDE), which are kept until its end and then
 * tell where the elapsed time went (elapsed.h): 16 bytes each.
 */
struct switch_log;

COMMON_MUST_CHECK
bool switch_log_create(struct switch_log **switches, struct error *err);
void switch_log_destroy(struct switch_log *switches); /* NULL is allowed */

/* Keeps a switch that is known otherwise: a thread gets a CPU, or leaves it. `time_ns` since the begin, too. */
COMMON_MUST_CHECK
bool switch_log_add(struct switch_log *switches, int64_t time_ns, int32_t tid, bool is_on, struct error *err);

/* Switches that are missing. */
void switch_log_miss(struct switch_log *switches, uint64_t count);

/* Returns whether a record is of a switch, or of the begin or end of a thread. */
bool switch_log_has(const struct record *record);

/* Keeps such a record; `time_ns` since the begin of the recording. */
COMMON_MUST_CHECK
bool switch_log_take(struct switch_log *switches, const struct record *record, int64_t time_ns, struct error *err);

/*
 * Fills in the profile's value `elapsed` from the switches and the times of its events: the values of all samples add
 * up to `end_ns`. To be called before profile_finish(). Says on `notices` what was lost.
 */
COMMON_MUST_CHECK
bool switch_log_share(struct switch_log *switches, struct profile *profile, int64_t end_ns, struct buffer *notices,
	struct error *err);
