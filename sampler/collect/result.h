/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process/process.h"
#include "sampler/sampler.h"

/* Hands the images and JIT maps of the table's processes over, by mapping of its profile. */
COMMON_MUST_CHECK
bool result_take_images(struct sampler_result *result, struct process_table *table, struct error *err);

/*
 * A mapping without a file becomes one of JIT code when `path`, which is taken over, or the same below our own /tmp can
 * be read: the perf map of its process. To be asked when the recording has ended, for a map grows until then. Needs
 * result->jit_maps.
 */
COMMON_MUST_CHECK
bool result_take_jit_map(
	struct sampler_result *result, struct profile *profile, uint32_t mapping_id, char *path, struct error *err);
