/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process.h"
#include "sampler/sampler.h"

/* Hands the images and JIT maps of the table's processes over, by mapping of its profile. */
COMMON_MUST_CHECK
bool result_take_images(struct sampler_result *result, struct process_table *table, struct error *err);
