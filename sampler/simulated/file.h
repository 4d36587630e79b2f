/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"
#include "sampler/simulated/format.h"

/*
 * Reads the file of one simulated process (sampler/simulated/format.h) in pieces, record by record, and checks it: ids
 * refer to what came before, sizes fit. Its memory grows with the number of blocks, not with the file.
 */

/* Entries and their pointers are valid during the call only. */
struct simulated_block {
	uint64_t address;
	uint32_t mapping; /* SIMULATE_NONE: in none */
	uint16_t instruction_count, exit_count;
	const uint8_t *lengths, *costs; /* [instruction_count] */
	const uint16_t *left_after;     /* [exit_count]: they do not decrease, up to instruction_count */
};

struct simulated_node {
	uint32_t parent, mapping; /* SIMULATE_NONE: none */
	uint64_t call_site;
	enum simulate_node_kind kind;
};

struct simulated_cost {
	uint16_t instruction; /* of the block */
	uint64_t values[SIMULATE_VALUES];
};

/* No value of its costs, and not the sum of its times, is more than INT64_MAX. */
struct simulated_count {
	uint32_t node, block;
	const uint64_t *times; /* [exit_count of the block + 1] */
	const struct simulated_cost *costs;
	size_t cost_count;
};

/*
 * The visitor that is told what a file holds, in its order. A function that is NULL is told nothing; without `count`,
 * counts are skipped without a look at them. Strings end with a 0.
 */
struct simulated_visitor {
	bool (*process)(void *context, const struct simulate_process *process, struct error *err);
	bool (*mapping)(void *context, const struct simulate_mapping *mapping, const char *path, struct error *err);
	bool (*block)(void *context, const struct simulated_block *block, struct error *err);
	bool (*node)(void *context, const struct simulated_node *node, struct error *err);
	bool (*thread)(void *context, const struct simulate_thread *thread, struct error *err);
	bool (*count)(void *context, const struct simulated_count *count, struct error *err);
	bool (*dump)(void *context, const struct simulate_dump *dump, const char *name, struct error *err);
	void *context;
};

/* The end of a file. */
struct simulated_end {
	bool is_cut; /* without a whole SIMULATE_END: the process was killed, or its disk was full */
	struct simulate_end end;
};

/*
 * Reads the first `bytes` bytes of a file from its start. ERROR_FORMAT names the offset of what is wrong. A file that
 * ends within a record is no error: what stands before holds.
 */
COMMON_MUST_CHECK
bool simulated_file_read(
	int fd, uint64_t bytes, const struct simulated_visitor *visitor, struct simulated_end *end, struct error *err);
