/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/interpret/hotspot/code.h"
#include "sampler/interpret/hotspot/loop.h"
#include "sampler/interpret/hotspot/methods.h"

/* A process with a HotSpot: what was read of it, and the frames that were made of that. */

/* A place in code, or a bytecode of an interpreted method. */
struct hotspot_frame_key {
	uint64_t address; /* the pc, or the Method */
	uint64_t is_bci : 1, is_exact : 1, bci : 62;
};

/* The way from a frame at a place in code to its caller (hotspot/caller.c). */
struct hotspot_step {
	uint8_t kind;              /* enum step_kind; 0: not looked for yet */
	bool keeps_frame_pointer;  /* the caller's, two words below the CFA */
	bool may_be_frame_pointer; /* likewise, if the frame pointer shows there */
	bool is_deoptimised;
	bool leaves_out_frozen; /* frames between it and that caller are in the heap, those of a virtual thread */
	uint32_t bytes;         /* from the stack pointer to the CFA */
};

/* The frame of a key, as long as its owner, a block or a method, is what it was. */
struct hotspot_frame {
	uint32_t owner;   /* in `codes` or `methods`; PROFILE_NONE: nothing was found in `version`, a round */
	uint32_t version; /* of its watch */
	uint32_t image;   /* PROFILE_NONE: the frame stays as it was */
	bool is_named;    /* `image` and `pc` were looked for */
	struct hotspot_step step;
	uint64_t pc;
};

struct hotspot_process {
	bool is_ready;
	uint64_t due_ns;       /* of the next round, or the next try */
	uint64_t retry_ns;     /* until then: twice that of the try before, at most a round */
	uint64_t low, high;    /* the code cache, half-open */
	uint64_t entry_return; /* where Java returns to native code that has called it */
	struct hotspot_loop loop;
	struct hotspot_costs costs;
	struct hotspot_target target;
	struct hotspot_codes codes;
	struct hotspot_methods methods;
	struct hash_map keys;         /* struct hotspot_frame_key -> frames */
	struct hotspot_frame *frames; /* owned */
	size_t frame_count, frame_capacity;
};

/* Returns whether a pc is where Java returns to native code that has called it through JNI or for a thread's start. */
static inline bool hotspot_process_is_entry(const struct hotspot_process *process, uint64_t pc, bool is_exact)
{
	return !is_exact && pc == process->entry_return;
}

/* `host`, `names` and `debug_bytes` (hotspot_costs) are borrowed. Owned by the caller. */
COMMON_MUST_CHECK
bool hotspot_process_create(const struct hotspot_memory *memory, struct interpreter_names *names,
	struct shares *debug_bytes, struct hotspot_process **process, struct error *err);
void hotspot_process_destroy(struct hotspot_process *process); /* NULL is allowed */

/*
 * Begins a new round where one is due: what was used in the last one is looked at again. A process that has just begun
 * has nothing to read yet, and is tried again soon. `bias`: image address = runtime address + bias.
 */
COMMON_MUST_CHECK
bool hotspot_process_keep_up(
	struct hotspot_process *process, const struct hotspot_image *image, uint64_t bias, struct error *err);

/* Returns whether it was tried for long, and could not be read. */
bool hotspot_process_is_unknown(const struct hotspot_process *process);

/* Finds the frame of a key; one that is new has no owner and no image. Valid until the next call. */
COMMON_MUST_CHECK
bool hotspot_process_find_frame(struct hotspot_process *process, const struct hotspot_frame_key *key,
	struct hotspot_frame **frame, struct error *err);

/*
 * Finds the frame of a place in code, with the block that has it as owner: what else is known of it is kept as long as
 * that is what it was. Valid until the next call.
 */
COMMON_MUST_CHECK
bool hotspot_process_find_place(
	struct hotspot_process *process, uint64_t pc, bool is_exact, struct hotspot_frame **frame, struct error *err);
