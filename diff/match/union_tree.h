/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Merges both sides' trees by the functions of the diff, siblings sorted by key. Fills diff->nodes, node_self,
 * node_total, node_count, union_nodes and topmost, owners; a second call replaces them. Nothing recurses: a stack may
 * be 65,535 frames deep; deeper ones are ERROR_LIMIT.
 */
COMMON_MUST_CHECK
bool union_tree_create(struct diff_build *build, struct error *err);

/*
 * Fills [node] with the node to whose self time its own counts: itself, or for the frame of an interpreter the one of
 * the function that it runs.
 */
void union_tree_find_owners(const struct diff *diff, uint32_t *owners);

/* Fills diff->sample_nodes and the inlined flags; needs the trees of the sides. */
void union_tree_place_samples(struct diff_build *build);
