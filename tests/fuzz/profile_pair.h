/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

#include "tests/fuzz/mutation.h"

/*
 * Two profiles of any kind from one input: the size of the first (16 bits; 0: there is none), the first, the second.
 * Both are the caller's. False: one is no profile, and neither is there.
 */
bool profile_pair_take(const uint8_t *data, size_t size, struct profile **base, struct profile **head);

/* Changes one of the two, where that is pprof (mutation_format). */
void mutate_profile_pair(struct mutation *m, const uint8_t *bytes, size_t size, struct buffer *out);
