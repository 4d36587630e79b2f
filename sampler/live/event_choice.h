/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/live/event.h"

/*
 * Fills the attributes of a set's two kinds of event, with the hardware event where the machine counts it. ERROR_USAGE
 * for an event that is not known, ERROR_UNSUPPORTED for one that cannot be counted here.
 */
COMMON_MUST_CHECK
bool event_choose(
	struct event_set *set, const struct sampler_options *options, struct event_extras extras, struct error *err);

/* perf_event_open(2), close-on-exec and without a group: a descriptor, or -1 and errno. */
int event_open(struct perf_event_attr *attr, int pid, int cpu, unsigned long flags);

/* The same, counted together with an event that leads a group; -1: it leads one itself. */
int event_open_in_group(struct perf_event_attr *attr, int pid, int cpu, int leader, unsigned long flags);
