/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/collect/collect.h"
#include "sampler/live/command.h"
#include "sampler/live/event.h"
#include "sampler/live/filter.h"
#include "sampler/live/order.h"
#include "sampler/live/priority.h"
#include "sampler/live/watch.h"
#include "sampler/part/part.h"

/* A recording as it runs: what sampler.c and adapt.c share. */

/* What was counted when the way of sampling was last looked at. */
struct adaptation {
	uint64_t samples, cuts, lost_ways;
	uint64_t births, births_at_ns; /* as records tell the time */
	uint64_t forks;
	bool may_deepen, may_widen, may_follow, may_part_clocks;
	struct event_extras extras;
};

struct sampler {
	struct sampler_options options;
	pid_t *pids; /* owned copy of the target's */
	struct event_set events;
	struct filter filter;
	struct priority priority;
	struct record_layout sample_layout, sideband_layout;
	struct collector collector;
	struct command command;
	struct order order;
	struct watch watch;
	struct part part;
	uint64_t part_written_ns;
	struct buffer notices;
	int64_t clock_offset_ns;       /* of CLOCK_MONOTONIC here, before the records' times */
	uint64_t start_ns, stop_ns;    /* as records tell the time */
	uint64_t off_since_ns, off_ns; /* sampling is off since then, unless `enabled`; was off for so long before */
	int64_t target_cpu_before_ns, own_cpu_before_ns;
	struct adaptation adaptation;
	uint64_t broken_rings; /* of rings that were given up */
	uint64_t lost_before;  /* samples, by event sets that were given up */
	bool enabled;
};

/* Makes rings and processes of the set of events that is open ready to be waited for and read. */
COMMON_MUST_CHECK
bool sampler_prepare_reading(struct sampler *sampler, struct error *err);

/* Takes records in order of time up to the limit, in place. */
COMMON_MUST_CHECK
bool sampler_drain(struct sampler *sampler, uint64_t limit_ns, struct error *err);
