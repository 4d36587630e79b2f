/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/event.h"
#include "sampler/filter.h"
#include "sampler/sampler.h"

/*
 * Opens the events of a target: every thread that it has, and by inheritance every one it will have. `child` for a command.
 * Where that would be too many descriptors, or a tax on every thread that is created, one event per CPU does, if it is permitted:
 * `filter` is then active and knows the target's processes.
 */
COMMON_MUST_CHECK
bool target_open(
	const struct sampler_target *target, pid_t child, struct event_set *events, struct filter *filter, struct error *err);

/* CPU time that the target's processes have used so far. */
int64_t target_cpu_ns(const struct sampler_target *target);
