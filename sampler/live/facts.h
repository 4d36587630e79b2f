/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"
#include "sampler/sampling.h"

/* Fills the facts of a recording: machine, event, what was recorded, and the user's labels. */
COMMON_MUST_CHECK
bool facts_fill(struct profile *profile, const struct sampler_options *options, const char *event, struct error *err);
