/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/* Sums up what threads waited for, where, and who let them go on. Profiles without waits pass through unchanged. */

/* Finds the nodes of releases: fills release_nodes. Needs the trees and the union tree. */
void wait_sites_find_releases(struct diff_build *build);

/*
 * Returns the innermost function of the user's own code at a node or above it, else of a library; PROFILE_NONE: none.
 */
uint32_t wait_sites_responsible(const struct diff *diff, uint32_t node);

/* Fills has_waits, waits, wait_sites and wait_releases. Needs the states of the frames of classes. */
void wait_sites_collect(struct diff_build *build);

/* Gives sites and releases the functions' final numbers: new_ids[old]. */
void wait_sites_reorder(struct diff *diff, const uint32_t *new_ids);
