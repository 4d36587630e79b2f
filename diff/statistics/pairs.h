/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "profile/profile.h"

/*
 * Returns whether run i of base and run i of head are runs of whole commands that were made one after the other, as
 * `bench` makes them: before both runs of the next pair. Runs of several layouts are no pairs, since these differ by
 * more.
 */
bool pairs_were_made(const struct profile *base, const struct profile *head);
