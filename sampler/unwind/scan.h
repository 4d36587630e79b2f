/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/unwind/rules.h"

/*
 * The rule at an instruction that nothing describes (musl's library, assembly, code made at run time), read from the
 * instructions themselves: what they do to the stack pointer on a way from there to a return. Compiled code has the
 * same frame at an instruction whatever way it takes, so any way will do, and the first that is found is taken. Code
 * that never returns (an endless loop that HotSpot compiles while it runs) has the frame that its prologue made: the
 * rule is read on the way from there.
 *
 * It is a guess all the same: behind a call that never returns stands another function's code. Whoever follows it looks
 * whether the return address is one, that is, whether a call stands before it.
 */
struct scanner {
	struct machine_decoder *decoder; /* owned; NULL: not made so far, or there is none */
	const struct machine *machine;   /* whose decoder was asked for */
};

void scanner_deinit(struct scanner *scanner);

/* `pushes.cfa_offset` 0: no way to a return or from a prologue was found, within 8,192 instructions or without a
 * decoder. */
struct scan_result {
	struct rules_pushes pushes;
	size_t bytes;     /* from the address on: instructions for which it holds as well */
	bool leaves_code; /* a way led to where there is no code at hand */
};

void scan_rule(struct scanner *scanner, const struct machine *machine, const struct machine_code *code,
	struct scan_result *result);
