/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/collect/stitch.h"

/*
 * Turns the frames of a sample into a stack of the profile. Most samples share all but their innermost frames with a
 * recent sample. The profile's own index is too large to stay in the CPU's cache, so a small table also keeps recent
 * stacks, by a hash over all their frames that is computed before any frame is looked up. The lookups of several stacks
 * then wait for memory together, and a known stack takes one lookup. Only the new part of a stack becomes locations of
 * the profile. Two stacks with the same 64-bit hash, seeded for each recording, are treated as one.
 */
struct stack_builder;

/* A stack while it is built from the root to the leaf. */
struct stack_path {
	uint64_t hash;
	uint32_t depth; /* a kernel chain that is known as a whole counts as one */
	uint32_t stack; /* of the profile; 0: no frame yet */
};

/* Adds to the table's profile; frames are of its processes. The table is borrowed. */
COMMON_MUST_CHECK
bool stack_builder_create(const struct process_table *table, struct stack_builder **builder, struct error *err);
void stack_builder_destroy(struct stack_builder *builder);

struct stack_path stack_builder_root(const struct stack_builder *builder);

/*
 * Prefetches what adding the walked frames will read. `place`, below UNWIND_TOGETHER, identifies this stack until the
 * frames are added.
 */
void stack_builder_expect(struct stack_builder *builder, size_t place, const struct unwind_result *result);

/* Adds the expected frames to an empty path. */
COMMON_MUST_CHECK
bool stack_builder_add_expected(struct stack_builder *builder, size_t place, const struct unwind_result *result,
	struct stack_path *path, struct error *err);

/* Adds a frame. */
COMMON_MUST_CHECK
bool stack_builder_add(struct stack_builder *builder, const struct process_location *location, struct stack_path *path,
	struct error *err);

/* Adds a chain of kernel addresses. Runtime address + `bias` = address in the kernel's image. */
COMMON_MUST_CHECK
bool stack_builder_add_kernel(struct stack_builder *builder, uint32_t mapping, uint64_t bias,
	const struct callchain *callchain, struct stack_path *path, struct error *err);
