/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/binary.h"

/*
 * Unwind rules in the form that the walk needs: only the registers that a frame changes, each distinct rule once. About
 * 2,000 rules are distinct over all libraries of a system, so that they stay in the CPU's cache while many addresses
 * use them.
 */

/* The place of one of the caller's registers. */
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
	struct rules_place places[MACHINE_MAX_REGISTERS]; /* of changed registers other than the return address */
};

/*
 * The rule of nearly every function: the return address is directly below the CFA, which a register gives, and
 * callee-saved registers are pushed below it. It is small enough to be stored with its address.
 */
struct rules_pushes {
	int32_t cfa_offset;
	uint8_t cfa_register;
	uint8_t saved[MACHINE_SAVED]; /* of machine->saved_registers, in words below the CFA; 0: not changed */
};

/* False if the rule does not have that form. */
COMMON_MUST_CHECK
bool rules_as_pushes(const struct machine *machine, const struct frame_rule *rule, struct rules_pushes *pushes);

struct rules {
	struct rules_rule *rules; /* owned */
	size_t count, capacity;
	struct hash_map by_content;
};

void rules_init(struct rules *rules);
void rules_deinit(struct rules *rules);

/*
 * Finds the id of the rule with this content; a new one is added. The rule belongs to the table, which is kept for its
 * expressions.
 */
COMMON_MUST_CHECK
bool rules_intern(struct rules *rules, const struct frame_rule *rule, const struct frame_table *table, uint32_t *id,
	struct error *err);
