/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/model.h"

/*
 * The time that each proven change has for itself. Changes are of totals, and one lies within another where they are no
 * chain: the time of each node of the tree belongs to the innermost function above it that is proven to differ.
 */

/*
 * Fills amounts[change]: scaled, with its sign. `partners`: [function] what it is called on the other side, where it
 * was renamed; PROFILE_NONE.
 */
void amounts_of_changes(const struct diff *diff, const uint32_t *partners, double *amounts);

/*
 * Returns whether the cause of a change of this amount is looked for: where the whole got slower, only of what did, and
 * so on.
 */
bool amounts_matter(const struct diff *diff, double amount);
