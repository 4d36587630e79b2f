/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process/process.h"
#include "sampler/recording.h"

/* Hands the images and JIT maps of the table's processes over, by mapping of its profile. */
COMMON_MUST_CHECK
bool result_take_images(struct recording *result, struct process_table *table, struct error *err);

/* Hands over whose the processes of the profile's threads are. To be called when the recording has ended. */
COMMON_MUST_CHECK
bool result_take_processes(struct recording *result, const struct process_table *table, struct error *err);

/*
 * Opens the JIT map at `place`, if there is one and none of the mapping is open yet, as maps[mapping_id]; the mapping
 * becomes one of JIT code. To be called when the recording has ended, for a map grows until then.
 */
COMMON_MUST_CHECK
bool result_take_jit_map(const struct process_host *host, struct file_opened *maps, struct profile *profile,
	uint32_t mapping_id, const struct jit_place *place, struct buffer *notices, struct error *err);
