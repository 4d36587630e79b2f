/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/collect/stitch.h"

/*
 * From the frames of a sample to a stack of the profile. Most samples have a stack, or all of one but its innermost
 * frames, that was met a moment ago; the profile's own index is too large to stay in the cache. So what is met is also
 * known here, in a small table: by a hash over all its frames, which is there before the first frame is looked up. The
 * lookups of several stacks then wait for memory together, and a stack that is known takes one. Only what is new in a
 * stack becomes locations of the profile. Two stacks with the same 64-bit hash, seeded for each recording, are taken
 * for one.
 */
struct stack_builder;

/* A stack on its way from the root to the leaf. */
struct stack_path {
	uint64_t hash;
	uint32_t depth; /* what of the kernel's chain is known as a whole counts as one */
	uint32_t stack; /* of the profile; 0: no frame yet */
};

/* Adds to the table's profile; frames are of its processes. The table is borrowed. */
COMMON_MUST_CHECK
bool stack_builder_create(const struct process_table *table, struct stack_builder **builder, struct error *err);
void stack_builder_destroy(struct stack_builder *builder);

struct stack_path stack_builder_root(const struct stack_builder *builder);

/* Fetches what adding the walked frames will look at. `place`, below UNWIND_TOGETHER, is for this stack until they are
 * added. */
void stack_builder_expect(struct stack_builder *builder, size_t place, const struct unwind_result *result);

/* Adds the expected frames to a path without any. */
COMMON_MUST_CHECK
bool stack_builder_add_expected(struct stack_builder *builder, size_t place, const struct unwind_result *result,
	struct stack_path *path, struct error *err);

/* Adds a frame. */
COMMON_MUST_CHECK
bool stack_builder_add(struct stack_builder *builder, const struct process_location *location, struct stack_path *path,
	struct error *err);

/* Adds a chain of the kernel's addresses; they are `bias` lower than in its image. */
COMMON_MUST_CHECK
bool stack_builder_add_kernel(struct stack_builder *builder, uint32_t mapping, uint64_t bias,
	const struct stitch_chain *chain, struct stack_path *path, struct error *err);
