/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/unwind/recall.h"
#include "sampler/unwind/rule_cache.h"

#include <string.h>

/* The walk up one stack: what the steps by rules (unwind.c) and those without one (fallback/) share. */

/* Of a frame: machine->saved_registers, in words below its CFA; 0: not changed. */
struct pushed {
	uint8_t words[MACHINE_SAVED];
};

/*
 * A candidate of a stack scan for the caller of a frame, on trial: the walk goes on from it, and how that ends is
 * evidence for or against it (fallback/caller.c). The candidates further up that the same frame has are tried where it
 * is refuted.
 */
struct trial {
	uint64_t first_slot;          /* where the scan began: the first whole word above the frame's stack pointer */
	uint64_t slot;                /* where the return address of the candidate stands */
	uint64_t next_slot;           /* where the scan goes on */
	uint64_t refused;             /* a hash of the return addresses that were refuted */
	size_t count;                 /* of frames up to the one whose caller is looked for */
	enum profile_stop stop;       /* the reason that is given where all are refuted */
	bool is_by_frame_pointer;     /* the candidate's own caller is found by a frame pointer that may be none */
	uint64_t kept[MACHINE_SAVED]; /* machine->saved_registers, as the frame has them whose caller is looked for */
	size_t by_frame_pointer, frame_pointer_frames; /* of the walk, and of its result, at that frame */
};

enum { WALK_TRIALS = 8 };

/* Trials within trials: a candidate may lead to another frame whose caller no rule gives. */
struct trials {
	struct trial *open; /* borrowed: WALK_TRIALS of them; the last is that of the frame furthest up */
	size_t count;
	uint16_t candidates, links; /* that were tried and checked in the walk: its work is bounded */
};

struct walk {
	struct rule_cache *cache;
	const struct unwind_space *space;
	const struct machine *machine; /* of the space */
	const struct unwind_stack_dump *dump;
	struct unwind_result *result;
	bool is_exact;        /* the pc is an instruction's own address, not one behind a call */
	struct cached cached; /* of the pc; a copy, since another walk may need its place */
	uint64_t cfa;         /* of CACHED_PUSHES */
	uint64_t pc, stack_pointer;
	uint8_t stack_pointer_number;      /* the machine's */
	struct unwind_registers registers; /* pc and stack pointer are written to it before a rule is evaluated */
	struct pushed *pushed;             /* of each frame */
	/* Of machine->saved_registers: the frame for which `registers` has it. What frames behind that pushed is read
	 * when it is asked for, which it hardly ever is. */
	uint32_t known_at[MACHINE_SAVED];
	size_t by_frame_pointer; /* how many frames lie below the last that was found so */
	struct trials trials;
	struct recall *recall;
};

static inline bool walk_read_piece(const uint8_t *bytes, uint64_t size, uint64_t offset, uint64_t *value)
{
	if (!checked_range(offset, sizeof(*value), size))
		return false;
	memcpy(value, bytes + offset, sizeof(*value));
	return true;
}

/* False where the stack copy does not reach; below it, offsets are larger than any size. */
static inline bool walk_read(const struct unwind_stack_dump *dump, uint64_t address, uint64_t *value)
{
	const struct unwind_piece *far = &dump->far;

	return walk_read_piece(dump->bytes, dump->size, address - dump->address, value) ||
	       walk_read_piece(far->bytes, far->size, address - far->address, value);
}

static inline uint64_t walk_stack_pointer(const struct walk *w)
{
	return w->stack_pointer;
}

static inline uint64_t walk_pc(const struct walk *w)
{
	return w->pc;
}

/* Of machine->saved_registers: what the frames since have pushed of it; where that cannot be read, it stays as it was.
 */
uint64_t walk_saved_register(struct walk *w, size_t index);

static inline uint64_t walk_register(struct walk *w, uint8_t number)
{
	uint8_t index;

	/* Nearly always. */
	if (number == w->stack_pointer_number)
		return w->stack_pointer;
	index = w->machine->saved_index[number];
	return index == MACHINE_NOT_SAVED ? w->registers.values[number] : walk_saved_register(w, index);
}

void walk_take_registers(struct walk *w, const struct unwind_registers *registers);

/* The CFA is the caller's stack pointer: it moves up; where the first frame stands its own rule may know better. */
static inline bool walk_moves_up(const struct walk *w, uint64_t cfa)
{
	return cfa > w->stack_pointer || w->result->count == 1;
}

/* What is known of the call before a return address. Valid until another is asked for. */
const struct cached *walk_find_call(struct walk *w, uint64_t return_address);

void walk_go_to_caller(struct walk *w, uint64_t stack_pointer, uint64_t pc);

/* Why a read beyond the stack copy failed: what lies above it was not copied; what lies elsewhere is another stack. */
enum profile_stop walk_stop_of_read(const struct walk *w, uint64_t address);

/* From the code that a signal handler returns to, to what the signal interrupted. */
bool walk_step_from_signal(struct walk *w, enum profile_stop *stop);

/* ---- The caller of a frame without a rule: fallback/caller.c ---- */

/* Goes to the caller by the first candidate that the evidence is for. False at the end, with the reason. */
bool walk_step_without_rule(struct walk *w, enum profile_stop *stop);

/* The same by the words of the stack alone. The result has the reason that is given where no candidate holds. */
bool walk_scan_for_caller(struct walk *w);

/* While a candidate is on trial, of the frame that the walk comes to: false where that refutes the candidate. */
bool walk_caller_may_hold(struct walk *w);

/* At the end of a walk: the verdict on the candidate on trial. True where the walk goes on from another one. */
bool walk_try_another_caller(struct walk *w);
