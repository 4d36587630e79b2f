/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/ebpf/ebpf.h"
#include "sampler/sampling.h"

/*
 * The processes of a target, for the programs in the kernel that meet every process: those that are named, or in the
 * control group, and their descendants. What they fork from then on is added by the kernel itself.
 */
struct members {
	struct ebpf_process_set *set; /* owned; NULL: all processes are of the target */
	struct hash_map known;        /* pids that were added */
	size_t threads;               /* of the target, when its members were found first */
};

/* `child`: of a command. The target of one thread has its process. */
COMMON_MUST_CHECK
bool members_init(struct members *members, const struct sampler_target *target, int32_t child, struct error *err);
void members_deinit(struct members *members);

/* Adds processes that were put into the control group since. */
COMMON_MUST_CHECK
bool members_update(struct members *members, const struct sampler_target *target, struct error *err);
