/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "history/summary.h"

/* Takes the last summary out of the set; strings and functions that it brought stay. For additions that failed. */
void set_drop_last(struct summary_set *set);
