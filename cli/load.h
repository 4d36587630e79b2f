/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"
#include "symbolize/symbolize.h"

struct load_options {
	struct symbolize_options naming;
	const char *metric;    /* of a recording of several events the one to read is called so; NULL: the first */
	uint32_t verify_every; /* of a recording, one stack in so many is compared (cli/verification.h); 0: none */
};

/*
 * Reads what the user named as one side: a file, "-", or several joined by commas, which become the runs of one
 * profile. (A file whose own name holds a comma is found first.) Functions of profiles that other tools wrote get their
 * origins. perf.data and unfinished recordings are read as well, and named with the binaries that are there; notices go
 * to standard error.
 */
COMMON_MUST_CHECK
bool load_profiles(const char *names, const struct load_options *options, struct profile **profile, struct error *err);

/* Only what a killed recorder has left; anything else is ERROR_USAGE. */
COMMON_MUST_CHECK
bool load_part(const char *name, const struct symbolize_options *naming, struct profile **profile, struct error *err);
