/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/* Reads a text of another tool with each allocation failing in turn: the error tells it, until none is left to fail. */
void read_with_failing_allocations(const char *text);

/* Fails unless a value of a profile has these folded stacks. */
void expect_stacks(const struct profile *profile, uint32_t value_type, const char *expected);
