/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "frame/frame.h"

/*
 * Unwind rules as the walk wants them: only what a frame changes, each distinct rule once. Few are distinct (about
 * 2,000 over all libraries of a system), so that they stay in the cache while the addresses that use them come and go.
 */

/* Where one of the caller's registers is found. */
struct rules_place {
	struct frame_register_rule rule;
	uint32_t number; /* the register */
};

struct rules_rule {
	const struct frame_table *table; /* borrowed: where its expressions lie; NULL: it has none */
	struct frame_register_rule cfa;
	struct frame_register_rule return_address;
	uint8_t cfa_register;
	bool is_signal_frame;
	uint16_t place_count;
	struct rules_place places[MACHINE_MAX_REGISTERS]; /* of changed registers but the return address */
};

/*
 * What nearly every function does: the return address right below the CFA, which a register gives, and callee-saved
 * registers pushed somewhere below that. Small enough to stand beside the address it holds at.
 */
struct rules_pushes {
	int32_t cfa_offset;
	uint8_t cfa_register;
	uint8_t saved[MACHINE_SAVED]; /* of machine->saved_registers, in words below the CFA; 0: not changed */
};

/* False when the rule says more than that. */
COMMON_MUST_CHECK
bool rules_as_pushes(const struct machine *machine, const struct frame_rule *rule, struct rules_pushes *pushes);

struct rules {
	struct rules_rule *rules; /* owned */
	size_t count, capacity;
	struct hash_map by_content;
};

void rules_init(struct rules *rules);
void rules_deinit(struct rules *rules);

/* The id of the rule with this content, made when it is new. It is a rule of the table, which is kept for its
 * expressions. */
COMMON_MUST_CHECK
bool rules_intern(struct rules *rules, const struct frame_rule *rule, const struct frame_table *table, uint32_t *id,
	struct error *err);
