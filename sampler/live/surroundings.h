/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"
#include "profile/profile.h"

/*
 * The load of the machine beside the target while that was recorded: how much of its CPU time was in use, how much the
 * hypervisor gave to others (steal, proc_stat(5)), for how much of the time somebody waited for a CPU
 * (Documentation/accounting/psi.rst), and for how long the target's control group was not let run
 * (Documentation/admin-guide/cgroup-v2.rst, cpu.stat). Read once at the beginning and once at the end.
 */
struct surroundings {
	uint64_t all_ticks, busy_ticks, steal_ticks;
	uint64_t pressure_us, throttled_us; /* 0: the kernel does not report it */
	int64_t time_ns;                    /* CLOCK_MONOTONIC */
};

/*
 * `proc`: "/proc". `mount`: "/sys/fs/cgroup"; `cgroup` as in struct limits: "" for none, then the pressure is that of
 * the machine. What cannot be read is 0.
 */
void surroundings_read(const char *proc, const char *mount, const char *cgroup, struct surroundings *surroundings);

/* Does the same of this machine, for the profile of a control group. */
void surroundings_read_live(const struct profile *profile, struct surroundings *surroundings);

/* Fills the facts of the time between two readings of the same files. */
void surroundings_describe(
	const struct surroundings *before, const struct surroundings *after, struct profile_facts *facts);
