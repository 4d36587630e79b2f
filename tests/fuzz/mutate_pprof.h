/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "tests/fuzz/mutation.h"

/* Changes a field of a profile in pprof, bare or gzipped, at any depth (mutation_format). */
void mutate_pprof(struct mutation *m, const uint8_t *bytes, size_t size, struct buffer *out);
