/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "tests/fuzz/mutation.h"

/* Changes an event, a record or a feature of a perf.data file, or of its stream (mutation_format). */
void mutate_perf_data(struct mutation *m, const uint8_t *bytes, size_t size, struct buffer *out);
