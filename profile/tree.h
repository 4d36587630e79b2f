/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

struct profile;

/*
 * The calling-context tree: stacks by function identity instead of by address. Inlined frames are nodes, and functions
 * with equal keys are one. Node 0 is the root ("all"); a parent's id is smaller than its children's.
 */
struct profile_tree {
	size_t node_count;
	uint32_t *parents;     /* [node] */
	uint32_t *functions;   /* [node] the first function of its identity; PROFILE_NONE for the root */
	uint32_t *stack_nodes; /* [stack id of the profile] its leaf's node */
};

/* What a tree leaves out of stacks. The time of a frame that is left out is that of the frame which it is in. */
struct profile_tree_cut {
	const bool *leads; /* [function] borrowed: frames of these are left out where they lead; NULL: none */
	bool inlined;      /* inlined frames are left out */
};

/* `cut` NULL: nothing is left out. */
COMMON_MUST_CHECK
bool profile_tree_create(const struct profile *profile, const struct profile_tree_cut *cut, struct profile_tree **tree,
	struct error *err);
void profile_tree_destroy(struct profile_tree *tree);

static inline void profile_tree_cleanup(struct profile_tree **tree)
{
	profile_tree_destroy(*tree);
}
