/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect/stack_builder.h"

#include <stdlib.h>

enum { KNOWN_BITS = 14, FETCHED = 2 };

struct stack_builder_known {
	uint64_t hash;
	uint32_t stack; /* the stack's id; 0: none */
};

struct stack_builder {
	const struct process_table *table; /* borrowed */
	struct stack_builder_known *known; /* owned: 1 << KNOWN_BITS entries; a later one replaces an earlier one */
	uint64_t seed;
	uint64_t hashes[UNWIND_TOGETHER][UNWIND_MAX_FRAMES + 1]; /* hashes of the outermost 0, 1, 2, ... frames */
};

bool stack_builder_create(const struct process_table *table, struct stack_builder **builder, struct error *err)
{
	struct stack_builder *made = calloc(1, sizeof(*made));

	if (made)
		made->known = calloc((size_t)1 << KNOWN_BITS, sizeof(*made->known));
	if (!made || !made->known) {
		free(made);
		return error_set_memory(err);
	}
	made->table = table;
	made->seed = hash_seed();
	*builder = made;
	return true;
}

void stack_builder_destroy(struct stack_builder *builder)
{
	if (!builder)
		return;
	free(builder->known);
	free(builder);
}

struct stack_path stack_builder_root(const struct stack_builder *builder)
{
	return (struct stack_path){ .hash = builder->seed };
}

/*
 * The hash of a path that is one longer: a sum over what stands at each depth, so that the terms, each a long
 * multiplication, do not wait for each other (Zobrist 1970).
 */
static uint64_t stack_builder_extend(
	const struct stack_builder *builder, uint64_t hash, size_t depth, const struct process_location *location)
{
	/* A stack has less than 1 << 16 frames, so each pair of depth and mapping gives a number of its own. */
	uint64_t place = ((uint64_t)location->mapping << 16) + depth + 1;

	return hash + hash_mix(location->address ^ builder->seed, place * 0x9e3779b97f4a7c15);
}

static struct stack_builder_known *stack_builder_place_of(const struct stack_builder *builder, uint64_t hash)
{
	return &builder->known[hash >> (64 - KNOWN_BITS)];
}

static bool stack_builder_is_known(const struct stack_builder *builder, uint64_t hash, uint32_t *stack)
{
	const struct stack_builder_known *known = stack_builder_place_of(builder, hash);

	if (known->hash != hash || known->stack == 0)
		return false;
	*stack = known->stack;
	return true;
}

static void stack_builder_go_to(struct stack_path *path, uint64_t hash)
{
	path->hash = hash;
	path->depth++;
}

static bool stack_builder_append(struct stack_builder *builder, const struct process_location *location, uint64_t hash,
	struct stack_path *path, struct error *err)
{
	struct profile *profile = builder->table->profile;
	uint32_t id;

	if (!profile_add_location(profile, location->mapping, location->address, &id, err) ||
		!profile_add_stack(profile, path->stack, id, &path->stack, err))
		return false;
	stack_builder_go_to(path, hash);
	*stack_builder_place_of(builder, hash) = (struct stack_builder_known){ hash, path->stack };
	return true;
}

static struct process_location stack_builder_location_of(
	const struct stack_builder *builder, const struct unwind_result *result, size_t from_root)
{
	const struct unwind_frame *frame = &result->frames[result->count - 1 - from_root];

	return process_table_locate(builder->table, frame->image, unwind_frame_address(frame));
}

void stack_builder_expect(struct stack_builder *builder, size_t place, const struct unwind_result *result)
{
	uint64_t *hashes = builder->hashes[place];

	hashes[0] = builder->seed;
	for (size_t i = 0; i < result->count; i++) {
		struct process_location location = stack_builder_location_of(builder, result, i);

		hashes[i + 1] = stack_builder_extend(builder, hashes[i], i, &location);
	}
	/* The new part of a stack is at its leaf. */
	for (size_t i = 0; i < FETCHED && i < result->count; i++)
		__builtin_prefetch(stack_builder_place_of(builder, hashes[result->count - i]));
}

bool stack_builder_add_expected(struct stack_builder *builder, size_t place, const struct unwind_result *result,
	struct stack_path *path, struct error *err)
{
	const uint64_t *hashes = builder->hashes[place];
	size_t known = result->count;

	while (known > 0 && !stack_builder_is_known(builder, hashes[known], &path->stack))
		known--;
	path->hash = hashes[known];
	path->depth = (uint32_t)known;
	for (size_t i = known; i < result->count; i++) {
		struct process_location location = stack_builder_location_of(builder, result, i);

		if (!stack_builder_append(builder, &location, hashes[i + 1], path, err))
			return false;
	}
	return true;
}

bool stack_builder_add(struct stack_builder *builder, const struct process_location *location, struct stack_path *path,
	struct error *err)
{
	uint64_t hash = stack_builder_extend(builder, path->hash, path->depth, location);

	if (!stack_builder_is_known(builder, hash, &path->stack))
		return stack_builder_append(builder, location, hash, path, err);
	stack_builder_go_to(path, hash);
	return true;
}

/*
 * Adds the callers in a kernel callchain. They are return addresses, so the call lies before each. Many samples share
 * them.
 */
static bool add_kernel_callers(struct stack_builder *builder, uint32_t mapping, uint64_t bias,
	const struct callchain *callchain, struct stack_path *path, struct error *err)
{
	const uint8_t *callers = callchain->words->bytes + (callchain->first + 1) * sizeof(uint64_t);
	uint64_t hash = hash_bytes_seeded(callers, (callchain->count - 1) * sizeof(uint64_t), path->hash);
	uint32_t depth = path->depth;

	if (!stack_builder_is_known(builder, hash, &path->stack)) {
		for (size_t i = callchain->count; i-- > 1;) {
			struct process_location caller = { mapping, callchain_address(callchain, i) - 1 + bias };

			if (!stack_builder_add(builder, &caller, path, err))
				return false;
		}
		*stack_builder_place_of(builder, hash) = (struct stack_builder_known){ hash, path->stack };
	}
	path->depth = depth;
	stack_builder_go_to(path, hash);
	return true;
}

bool stack_builder_add_kernel(struct stack_builder *builder, uint32_t mapping, uint64_t bias,
	const struct callchain *callchain, struct stack_path *path, struct error *err)
{
	const struct process_location leaf = { mapping,
		callchain_address(callchain, 0) - callchain->has_callers_only + bias };

	return (callchain->count < 2 || add_kernel_callers(builder, mapping, bias, callchain, path, err)) &&
	       stack_builder_add(builder, &leaf, path, err);
}
