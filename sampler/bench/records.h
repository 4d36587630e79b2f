/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

#include <stdio.h>

/* The profiles of all runs of a bench, one behind the other in a file without a name. */

/* The place of a run's profile in the file. */
struct bench_record {
	uint64_t offset, size;
	int64_t wall_ns; /* of the run as it was recorded: a simulated one takes longer than the command would */
	uint32_t layout; /* that it is of, for its profile to tell; 0: none */
};

/* Reads a run's profile back. */
COMMON_MUST_CHECK
bool bench_read(FILE *profiles, const struct bench_record *record, struct profile **profile, struct error *err);

/* Reads runs back as one profile, in their order. */
COMMON_MUST_CHECK
bool bench_read_all(FILE *profiles, const struct bench_record *records, uint64_t count, struct profile **profile,
	struct error *err);
