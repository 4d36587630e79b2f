/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/fallback/other_stack.h"

#include "sampler/unwind/fallback/link.h"

enum { WORD_BYTES = 8, LEFT_WORDS = 3, MOST_FRAME_WORDS = 32 };

static bool is_in_other(const struct walk *w, uint64_t address)
{
	return address - w->dump->other.address < w->dump->other.size;
}

/* Returns whether a place in the stack that the walk has left is above all of the frames that it had there. */
static bool is_above_all_there(const struct walk *w, uint64_t slot)
{
	const struct unwind_frame *frames = w->result->frames;

	for (size_t i = w->result->count; i-- > 0;)
		if (is_in_other(w, frames[i].stack_pointer) == is_in_other(w, slot))
			return slot >= frames[i].stack_pointer;
	return true;
}

/* Reads the word at a place of the other stack where the return address may stand. */
static bool other_stack_read_slot(const struct walk *w, uint64_t slot, struct other_stack_caller *caller)
{
	*caller = (struct other_stack_caller){ .slot = slot };
	return is_in_other(w, slot) != is_in_other(w, walk_stack_pointer(w)) && is_above_all_there(w, slot) &&
	       walk_read(w->dump, slot, &caller->return_address);
}

static bool is_called_there(const struct walk *w, uint64_t slot, struct other_stack_caller *caller)
{
	const struct unwind_frame *last = &w->result->frames[w->result->count - 1];

	return other_stack_read_slot(w, slot, caller) &&
	       link_is_of_small_function(w->space, caller->return_address, unwind_frame_address(last));
}

bool other_stack_find(struct walk *w, struct other_stack_caller *caller)
{
	const uint64_t frame = walk_register(w, w->machine->frame_pointer), left = w->dump->other.address;

	if (w->cached.kind != CACHED_GO || w->dump->other.size == 0)
		return false;
	if (is_called_there(w, frame + WORD_BYTES, caller)) {
		caller->frame_pointer = frame;
		return true;
	}
	for (uint64_t i = 0; i < LEFT_WORDS; i++)
		if (is_called_there(w, left + i * WORD_BYTES, caller))
			return true;
	for (uint64_t i = 1; i < MOST_FRAME_WORDS; i++)
		if (is_called_there(w, frame - i * WORD_BYTES, caller))
			return true;
	return false;
}
