/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/model.h"

/*
 * Checks what must hold of every comparison, whatever the profiles are: estimates lie within their intervals; what is
 * proven has a direction and an interval without 0; and the verdict, its cause and what is proven do not contradict
 * each other. Returns what does not hold, or NULL. Static.
 */
const char *verdict_check(const struct diff *diff);
