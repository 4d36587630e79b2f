/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/zydis.h"
#include "sampler/unwind/code.h"
#include "sampler/unwind/rules.h"

/*
 * The rule at an instruction that nothing describes (musl's library, assembly, code made at run time), read from the instructions
 * themselves: what they do to the stack pointer on a way from there to a return. Compiled code has the same frame at an instruction
 * whatever way it takes, so any way will do, and the first that is found is taken.
 *
 * It is a guess all the same: behind a call that never returns stands another function's code. Whoever follows it looks whether the
 * return address is one, that is, whether a call stands before it.
 */
struct scanner {
	struct zydis zydis;
	bool is_tried;           /* zydis was asked for */
	struct scan_mark *marks; /* owned; NULL: no decoder */
	uint32_t scan;           /* number of the one at hand */
};

void scanner_deinit(struct scanner *scanner);

/* False when no way to a return is found within 4,096 instructions, or without a decoder. */
COMMON_MUST_CHECK
bool scan_rule(struct scanner *scanner, const struct code *code, struct rules_pushes *pushes);
