/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/unwind/rule_cache.h"

#include <string.h>

/* The walk up one stack: what the steps by rules (unwind.c) and those without one (without_rule.c) share. */

/* Of a frame: rules_saved_registers, in words below its CFA; 0: not changed. */
struct pushed {
	uint8_t words[RULES_SAVED];
};

/* Where no rule leads to the caller: its return address, looked for among the words of the stack. */
struct look {
	uint64_t first_slot;        /* above the frame's stack pointer */
	uint64_t slot;              /* the next one to look at */
	uint64_t refused;           /* a hash of the return addresses that were not it */
	uint64_t tried;             /* where the one stands that is */
	size_t count;               /* of frames up to the one whose caller is looked for */
	enum profile_stop stop;     /* where none is found */
	bool is_by_frame_pointer;   /* what was tried hangs on one that may be none: that it leads nowhere speaks not against it */
	uint64_t kept[RULES_SAVED]; /* rules_saved_registers, as the frame has them whose caller is looked for */
};

enum { WALK_LOOKS = 8 };

/* What was found may still turn out to be none: those that are open, the way further up being looked for by the later ones. */
struct looks {
	struct look *open; /* borrowed: WALK_LOOKS of them */
	size_t count;
	uint16_t tries, links; /* of all */
};

struct walk {
	struct rule_cache *cache;
	const struct unwind_space *space;
	const struct unwind_stack_dump *dump;
	struct unwind_result *result;
	bool is_exact;        /* the pc is an instruction's own address, not one behind a call */
	struct cached cached; /* of the pc; a copy, since another walk may need its place */
	uint64_t cfa;         /* of CACHED_PUSHES */
	struct unwind_registers registers;
	struct pushed *pushed; /* of each frame */
	/* Of rules_saved_registers: the frame for which `registers` has it. What frames behind that pushed is read when it is asked
	 * for, which it hardly ever is. */
	uint32_t known_at[RULES_SAVED];
	size_t by_frame_pointer; /* how many frames lie below the last that was found so */
	struct looks looks;
};

static inline bool walk_read_piece(const uint8_t *bytes, uint64_t size, uint64_t offset, uint64_t *value)
{
	if (!checked_range(offset, sizeof(*value), size))
		return false;
	memcpy(value, bytes + offset, sizeof(*value));
	return true;
}

/* False where the dump does not reach; below it, offsets are larger than any size. */
static inline bool walk_read(const struct unwind_stack_dump *dump, uint64_t address, uint64_t *value)
{
	const struct unwind_piece *far = &dump->far;

	return walk_read_piece(dump->bytes, dump->size, address - dump->address, value) ||
	       walk_read_piece(far->bytes, far->size, address - far->address, value);
}

/* Of rules_saved_registers: what the frames since have pushed of it; where that cannot be read, it stays as it was. */
uint64_t walk_saved_register(struct walk *w, size_t index);

static inline uint64_t walk_register(struct walk *w, uint8_t number)
{
	/* Nearly always. */
	if (number == CFI_RSP)
		return w->registers.values[CFI_RSP];
	for (size_t i = 0; i < RULES_SAVED; i++)
		if (rules_saved_registers[i] == number)
			return walk_saved_register(w, i);
	return w->registers.values[number];
}

/* The CFA is the caller's stack pointer: it moves up; where the first frame stands its own rule may know better. */
static inline bool walk_moves_up(const struct walk *w, uint64_t cfa)
{
	return cfa > w->registers.values[CFI_RSP] || w->result->count == 1;
}

/* What is known of the call before a return address. Valid until another is asked for. */
const struct cached *walk_find_call(struct walk *w, uint64_t return_address);

void walk_go_to_caller(struct walk *w, uint64_t stack_pointer, uint64_t pc);

/*
 * The last resort, for code that runs in the frame of what jumped to it (traces of LuaJIT, PHP's and Guile's compiled code,
 * Haskell): the lowest word of the stack that is a return address of described code, from which rules lead to a root, each call on
 * the way to the function it calls. What is left over from earlier calls does not pass that.
 */
bool walk_look(struct walk *w);

/* At the walk's end: where what was found has not led to a root, goes on at the next word. False when the walk has ended. */
bool walk_look_again(struct walk *w);

/* Of a walk that is to be proven: whether the frame before may have been called from the pc. */
bool walk_holds(struct walk *w);

/* Why a read beyond the dump failed: what lies above it was not copied; what lies elsewhere is another stack. */
enum profile_stop walk_stop_of_read(const struct walk *w, uint64_t address);

/* What the caller of a frame is found by when no rule is. False at the end, with the reason. */
bool walk_step_without_rule(struct walk *w, enum profile_stop *stop);

/* From the code that a signal handler returns to, to what the signal interrupted. */
bool walk_step_from_signal(struct walk *w, enum profile_stop *stop);
