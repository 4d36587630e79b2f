/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/unwind/recall.h"
#include "sampler/unwind/rule_cache.h"

#include <string.h>

/* The walk up one stack: what the steps by rules (unwind.c) and those without one (fallback/) share. */

/*
 * The registers that one frame pushed: the places of machine->saved_registers, in words below its CFA; 0: not changed.
 */
struct pushed {
	uint8_t words[MACHINE_SAVED];
};

/*
 * A candidate of a stack scan for the caller of a frame, on trial: the walk goes on from it, and how that ends is
 * evidence for or against it (fallback/caller.c). The candidates further up that the same frame has are tried where it
 * is refuted.
 */
struct trial {
	uint64_t first_slot;          /* start of the scan: the first whole word above the frame's stack pointer */
	uint64_t slot;                /* place of the candidate's return address */
	uint64_t next_slot;           /* where the scan continues */
	uint64_t refused;             /* a hash of the return addresses that were refuted */
	size_t count;                 /* of frames up to the one whose caller is searched for */
	enum profile_stop stop;       /* the stop reason if all candidates are refuted */
	bool passes_over_frame;       /* words below the candidate may be return addresses of frames without a rule */
	bool is_by_frame_pointer;     /* the candidate's own caller is found by a frame pointer that may not be one */
	uint64_t kept[MACHINE_SAVED]; /* machine->saved_registers in the frame whose caller is searched for */
	size_t by_frame_pointer, frame_pointer_frames; /* of the walk, and of its result, at that frame */
};

enum { WALK_TRIALS = 8 };

/* Trials within trials: a candidate may lead to another frame whose caller no rule gives. */
struct trials {
	struct trial *open; /* borrowed: WALK_TRIALS of them; the last is that of the frame furthest up */
	size_t count;
	uint16_t candidates, links; /* tried and checked in the walk, whose work is bounded */
};

struct walk {
	struct rule_cache *cache;
	const struct unwind_space *space;
	const struct machine *machine; /* of the space */
	const struct unwind_stack_dump *dump;
	const struct unwind_registers *first; /* those of the first frame */
	struct unwind_result *result;
	bool is_exact;        /* the pc is an instruction's own address, not a return address */
	struct cached cached; /* of the pc; a copy, since another walk may need its place */
	uint64_t cfa;         /* of CACHED_PUSHES */
	uint64_t pc, stack_pointer;
	uint8_t stack_pointer_number;      /* the machine's */
	struct unwind_registers registers; /* pc and stack pointer are written to it before a rule is evaluated */
	struct pushed *pushed;             /* of each frame */
	/*
	 * The frame of which `registers` has the value, for each of machine->saved_registers. Values that later frames
	 * pushed are read on demand, which is rare.
	 */
	uint32_t known_at[MACHINE_SAVED];
	size_t by_frame_pointer; /* number of frames below the last one that a frame pointer gave */
	uint64_t carried, left;  /* of struct unwind_made_frame; what the step from the last frame left for the next */
	size_t unproven; /* number of frames below the first one before which others may be missing; 0: there is none */
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

/* False outside the stack copy; for addresses below it, the offset wraps and is larger than any size. */
static inline bool walk_read(const struct unwind_stack_dump *dump, uint64_t address, uint64_t *value)
{
	const struct unwind_piece *far = &dump->far, *other = &dump->other;

	return walk_read_piece(dump->bytes, dump->size, address - dump->address, value) ||
	       walk_read_piece(other->bytes, other->size, address - other->address, value) ||
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

/*
 * The value of one of machine->saved_registers after the pushes of all frames since; unreadable pushes leave it
 * unchanged.
 */
uint64_t walk_saved_register(struct walk *w, size_t index);

static inline uint64_t walk_register(struct walk *w, uint8_t number)
{
	uint8_t index;

	/* Nearly always true. */
	if (number == w->stack_pointer_number)
		return w->stack_pointer;
	index = w->machine->saved_index[number];
	return index == MACHINE_NOT_SAVED ? w->registers.values[number] : walk_saved_register(w, index);
}

void walk_take_registers(struct walk *w, const struct unwind_registers *registers);

/*
 * Returns whether the CFA is above the stack pointer, as the caller's stack pointer must be. The first frame may stand
 * in a function's first instructions, so its own rule decides.
 */
static inline bool walk_moves_up(const struct walk *w, uint64_t cfa)
{
	return cfa > w->stack_pointer || w->result->count == 1;
}

/* The cached data of the call before a return address. Valid until the next lookup. */
const struct cached *walk_find_call(struct walk *w, uint64_t return_address);

void walk_go_to_caller(struct walk *w, uint64_t stack_pointer, uint64_t pc);

/*
 * The stop reason for a failed read: memory above the stack copy was not copied; memory elsewhere belongs to another
 * stack.
 */
enum profile_stop walk_stop_of_read(const struct walk *w, uint64_t address);

/* Steps from the code that a signal handler returns to, to the interrupted frame. */
bool walk_step_from_signal(struct walk *w, enum profile_stop *stop);

/* ---- The caller of a frame without a rule: fallback/caller.c ---- */

/* Steps to the caller by the first candidate that the evidence supports. False at the end, with the reason. */
bool walk_step_without_rule(struct walk *w, enum profile_stop *stop);

enum walk_instructions {
	WALK_UNKNOWN,   /* the instructions do not show the frame */
	WALK_AGREED,    /* they show the frame that its rule has */
	WALK_OTHERWISE, /* they have led to another caller, to which the walk went */
};

/* Steps from the first frame, which had these registers, as its instructions say, after its rule has led to nothing. */
enum walk_instructions walk_step_by_instructions(struct walk *w, const struct unwind_registers *first);

/* Steps from where main() or a thread's first function returns to, to where execution began. */
bool walk_step_to_start(struct walk *w, enum profile_stop *stop);

/* The same by the words of the stack alone. The result has the stop reason for the case that no candidate holds. */
bool walk_scan_for_caller(struct walk *w);

/* Returns, while a candidate is on trial, whether the walk's present frame may hold; false refutes the candidate. */
bool walk_caller_may_hold(struct walk *w);

/* Decides, at the end of a walk, on the candidate on trial. True if the walk continues from another one. */
bool walk_try_another_caller(struct walk *w);
