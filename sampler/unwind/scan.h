/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/unwind/rules.h"

/*
 * Finds the rule at an instruction that nothing describes (musl's library, assembly, code made at run time) from the
 * instructions themselves: their changes of the stack pointer on a path from there to a return. Compiled code has the
 * same frame at an instruction on every path, so the first path that is found decides. Code that never returns (an
 * endless loop that HotSpot compiles while it runs) has the frame that its prologue made: the rule is then read on the
 * path from the prologue. The rule is a guess all the same: after a call that never returns another function's code
 * follows. The caller of the scanner therefore checks that a call stands before the return address.
 */
enum { SCAN_MOST_RUNS = 512 };

/* Instructions that follow each other in memory: offsets in the code, half-open. */
struct scan_run {
	size_t start, end;
};

struct scanner {
	struct machine_decoder *decoder;      /* owned; NULL: not created yet, or there is none */
	const struct machine *machine;        /* the machine of the decoder */
	struct scan_run runs[SCAN_MOST_RUNS]; /* that the last scan met */
	size_t run_count;
};

void scanner_deinit(struct scanner *scanner);

/* `pushes.cfa_offset` 0: no way to a return or from a prologue was found, within 8,192 instructions or without a
 * decoder. */
struct scan_result {
	struct rules_pushes pushes;
	size_t bytes;     /* length of the following instructions for which the rule holds too */
	bool leaves_code; /* a path led out of the readable code */
	/*
	 * All paths were followed to their ends, no return is on any, and there is no prologue: what holds for this
	 * instruction holds for all in scanner->runs.
	 */
	bool is_hopeless;
};

void scan_rule(struct scanner *scanner, const struct machine *machine, const struct machine_code *code,
	struct scan_result *result);
