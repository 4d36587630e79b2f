/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect/frame_pointer.h"

#include <string.h>

enum { WORD_BYTES = sizeof(uint64_t) };

static bool word_at(const struct unwind_stack_dump *dump, uint64_t address, uint64_t *word)
{
	if (address < dump->address || !checked_range(address - dump->address, WORD_BYTES, dump->size))
		return false;
	memcpy(word, dump->bytes + (address - dump->address), WORD_BYTES);
	return true;
}

static bool has_return_address(struct process_space *space, const struct unwind_stack_dump *dump, uint64_t pair)
{
	struct unwind_code ignored;
	uint64_t address;

	return word_at(dump, pair + WORD_BYTES, &address) && process_space_find(space, address, &ignored);
}

bool frame_pointer_find(struct process_space *space, struct unwind_job *job)
{
	const struct unwind_result *result = &job->result;
	uint64_t outer, at;

	if (result->stop != PROFILE_STOP_BAD_STACK || result->count == 0)
		return false;
	at = result->frames[result->count - 1].stack_pointer;
	for (; word_at(&job->dump, at, &outer); at += WORD_BYTES)
		if (has_return_address(space, &job->dump, at) &&
			(outer == 0 || (outer > at && has_return_address(space, &job->dump, outer)))) {
			job->registers.values[space->table->machine->frame_pointer] = at;
			return true;
		}
	return false;
}
