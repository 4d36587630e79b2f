/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/*
 * Finds when each location of a finished profile was first sampled, by the times of its events; INT64_MAX: at no known
 * time. An array by location, to be freed with free(); NULL if memory runs out.
 */
int64_t *first_events_of_locations(const struct profile *profile);
