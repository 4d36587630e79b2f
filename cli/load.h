/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"
#include "symbolize/symbolize.h"

/*
 * Reads what the user named as one side: a file, "-", or several joined by commas, which become the runs of one profile.
 * (A file whose own name holds a comma is found first.) Functions of profiles that other tools wrote get their origins.
 */
COMMON_MUST_CHECK
bool load_profiles(const char *names, const struct symbolize_options *options, struct profile **profile, struct error *err);
