/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/diff.h"

/* A service that answers requests: those of head take longer, and it calls out. */
void kinds_requests(struct profile *profiles[DIFF_SIDES]);

/* Its head alone. */
void kinds_requests_single(struct profile *profiles[DIFF_SIDES]);

/* Says that an event with this name happened five times. */
void kinds_requests_of_event(struct profile *profile, const char *event);
