/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/live/counter_group.h"

/*
 * The counters of a processor that show what holds functions up: which ones it has is found from sysfs and its model,
 * and whether they count here by trying them.
 */

/* The facts that decide which counters there are. */
struct counter_machine {
	char pmu[256];      /* directory of the processor's PMU in sysfs; "": there is none */
	uint32_t pmu_count; /* of the processor's cores: more than one where it has cores of several kinds */
	uint32_t pmu_type;
	bool is_arm, is_intel, is_amd;
	uint32_t family, model; /* of x86 */
};

/* `devices`: /sys/bus/event_source/devices; `cpuinfo`: /proc/cpuinfo. */
void counter_machine_read(const char *devices, const char *cpuinfo, struct counter_machine *machine);

/* Finds whether a group counts here. */
typedef bool counter_trial(void *context, const struct counter_group *group);

/*
 * Chooses the best group that the trial lets pass: counters that are only nice to have are left out one by one.
 * ERROR_UNSUPPORTED says why there is none.
 */
COMMON_MUST_CHECK
bool counter_sets_find(const struct counter_machine *machine, counter_trial *trial, void *context,
	struct counter_group *group, struct error *err);

/* Does the same for this machine, tried by counting ourselves. `*precise`: as in counter_group_counts(). */
COMMON_MUST_CHECK
bool counter_sets_choose(uint32_t *precise, struct counter_group *group, struct error *err);
