/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/repository/repository.h"

/*
 * Makes a history in which time goes backwards: the oldest commit comes first, and removes what it made. It borrows
 * strings and texts of the other. It is to be released in any case.
 */
void turn_history(const struct repository_history *history, struct repository_history *turned);
void turned_history_deinit(struct repository_history *turned);
