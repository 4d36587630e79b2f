/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/unwind/cfi.h"

/*
 * Unwind rules as the walk wants them: only what a frame changes, each distinct rule once. Few are distinct (about 2,000 over all
 * libraries of a system), so that they stay in the cache while the addresses that use them come and go.
 */

/* Where one of the caller's registers is found. */
struct rules_place {
	struct cfi_register_rule rule;
	uint32_t number; /* the register */
};

struct rules_rule {
	struct cfi_register_rule cfa;
	struct cfi_register_rule return_address;
	uint8_t cfa_register;
	bool is_signal_frame;
	bool is_simple; /* the CFA comes from a register, everything else from memory below it */
	uint16_t place_count;
	struct rules_place places[CFI_REGISTERS]; /* of changed registers but the return address */
};

struct rules {
	struct rules_rule *rules; /* owned */
	size_t count, capacity;
	struct hash_map by_content;
};

void rules_init(struct rules *rules);
void rules_deinit(struct rules *rules);

/* The id of the rule with this content, made when it is new. */
COMMON_MUST_CHECK
bool rules_intern(struct rules *rules, const struct cfi_rule *rule, const struct cfi_table *table, uint32_t *id, struct error *err);
