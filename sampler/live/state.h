/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/collect/collect.h"
#include "sampler/live/command.h"
#include "sampler/live/event.h"
#include "sampler/live/filter.h"
#include "sampler/live/instrument.h"
#include "sampler/live/order.h"
#include "sampler/live/priority.h"
#include "sampler/live/refused.h"
#include "sampler/live/run_clock.h"
#include "sampler/live/surroundings.h"
#include "sampler/live/target.h"
#include "sampler/live/watch.h"
#include "sampler/part/part.h"

/* The state of a recording, which open.c, reading.c, sampler.c, adapt.c and finish.c share. */

/* The counts when adaptation was last decided. */
struct adaptation {
	uint64_t samples;
	struct collector_cuts cuts;
	uint64_t births, births_at_ns; /* by the records' clock */
	uint64_t forks;
	uint64_t programs, program_at_ns; /* when the last one was met */
	bool may_deepen, may_widen, may_follow, may_part_clocks;
	bool has_refused;            /* processes of the target run that have no samples */
	uint64_t refused_not_before; /* by the records' clock: what these use is not read again before */
	struct event_extras extras;
};

/* The reading of the rings of the open events. */
struct sampler_reading {
	struct record_layout sample_layout, sideband_layout;
	struct order order;
	struct sampler_watch watch;
	uint64_t lost_before, broken_before; /* samples and rings, of event sets that were closed */
};

/* The usage when the recording began. */
struct usage {
	int64_t target_cpu_ns, own_cpu_ns;
	struct surroundings surroundings;
};

struct sampler {
	struct sampler_options options;
	pid_t *pids;       /* owned copy of the target's */
	int64_t *ended_ns; /* owned: of each, when it was seen to have ended, since the recording's start; 0: it has not
			    */
	struct event_set events;
	struct filter filter;
	struct ebpf_frame_reader *frame_reader; /* owned; NULL: not wanted, or not permitted */
	struct priority priority;
	struct process_reader *reader; /* outlives the collector */
	struct collector *collector;   /* owned */
	struct command command;
	struct sampler_reading reading;
	struct remaps remaps;
	struct instruments instruments;
	struct part part;
	struct error ended_early; /* ERROR_NONE: it did not */
	struct buffer notices;
	struct run_clock clock;
	struct usage before;
	struct adaptation adaptation;
	struct refused refused;
};

/* Prepares the rings and processes of the open events for waiting and reading. */
COMMON_MUST_CHECK
bool sampler_prepare_reading(struct sampler *sampler, struct error *err);

/* Handles records in order of time up to the limit, in place. */
COMMON_MUST_CHECK
bool sampler_drain(struct sampler *sampler, uint64_t limit_ns, struct error *err);

/*
 * Releases rings, caches and tables of the recording, which saves memory while names are resolved and the file is
 * written.
 */
void sampler_release(struct sampler *sampler);

/* Returns whether the event follows CPU time. */
bool sampler_counts_time(const struct sampler *sampler);

/* Notes which processes of the target have ended. */
void sampler_note_ends(struct sampler *sampler, uint64_t clock_ns);

/* Returns whether all processes of the target have ended. */
bool sampler_target_is_gone(struct sampler *sampler);

/* Says why a recording has no samples; returns false. */
COMMON_MUST_CHECK
bool sampler_fail_empty(struct sampler *sampler, struct error *err);

/*
 * Returns what the events of the sampler are to be opened for: threads whose waits are sampled may be switched all the
 * time. Counters are read for the threads themselves where that is possible.
 */
static inline enum target_preference sampler_preference(const struct sampler *sampler)
{
	return sampler->options.off_cpu_ns > 0 && !sampler->options.counters ? TARGET_PREFERS_CPUS
									     : TARGET_PREFERS_THREADS;
}
