/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "recording/process/process.h"
#include "sampler/live/members.h"
#include "sampler/live/tally.h"

/*
 * How much work the target does while it is recorded (profile/requests.h): exchanges on sockets, which programs in the
 * kernel count (ebpf/requests.h); or an event that the user has named; or a number that he states. They are read a few
 * times a second.
 */
struct requests {
	enum profile_work_source source;
	struct ebpf_requests *programs; /* owned; NULL: nothing is counted */
	struct members members;         /* of these programs */
	struct tally tally;
	bool is_enabled, is_busy; /* is_busy: the last look found something */
	uint64_t looked_ns;       /* by the records' clock, as rated_ns */
	/* One exchange in so many is measured; it follows the rate over a second. */
	uint32_t one_in, most_one_in;
	uint64_t rated_ns, rated_count;
	/* Why exchanges are not counted although they should be; it is told where the target listens. */
	struct error none;
	bool listens;
};

/*
 * Prepares counting; nothing counts yet. Fails only where the event that the user has named cannot be counted: without
 * the right to count exchanges, the recording goes on.
 */
COMMON_MUST_CHECK
bool requests_open(struct requests *requests, const struct sampler_options *options, int32_t child, struct error *err);
void requests_close(struct requests *requests);

/* Tries whether exchanges can be counted here. False, with `err` set: they cannot. */
COMMON_MUST_CHECK
bool requests_probe(struct error *err);

/*
 * Begins or ends to count.
 *
 * clock_ns  by the records' clock
 * time_ns   the time since the start of the run, without pauses
 */
COMMON_MUST_CHECK
bool requests_enable(struct requests *requests, bool enabled, uint64_t clock_ns, int64_t time_ns, struct error *err);

/* To be called again and again while it counts. */
COMMON_MUST_CHECK
bool requests_look(struct requests *requests, const struct sampler_options *options,
	const struct process_table *processes, uint64_t clock_ns, int64_t time_ns, struct error *err);

/* How long to wait for samples at most, until requests_look() is to be called. */
int requests_timeout(const struct requests *requests, int timeout_ms);

/*
 * Once it no longer counts: adds what was counted to a run of the profile, and tells the user what is missing. Requests
 * that cannot be read cost no samples: it fails for want of memory alone.
 */
COMMON_MUST_CHECK
bool requests_finish(struct requests *requests, const struct sampler_options *options,
	const struct process_table *processes, struct profile *profile, uint32_t run, struct buffer *notices,
	struct error *err);
