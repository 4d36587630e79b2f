/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/binary.h"

/* A range of image addresses, half-open. */
struct interpreter_range {
	uint64_t start, end;
};

enum { INTERPRETER_MOST_RANGES = 64 };

/* The symbols of the function that runs a program. */
struct interpreter_loop_symbols {
	struct interpreter_range loop; /* both 0: there is none */
	struct interpreter_range
		parts[INTERPRETER_MOST_RANGES]; /* that .symtab tells of, such as _PyEval_EvalFrameDefault.cold */
	size_t part_count;
	bool has_all; /* .symtab is there: the loop has no other parts */
};

/* The code of an interpreter's loop, sorted: the function's own, and what a compiler has moved away from it. */
struct interpreter_loop {
	struct interpreter_range *ranges; /* owned */
	size_t count;                     /* 0: the symbol of the loop is missing */
};

/*
 * Reads a loop. What compilers have moved away from a function (`.cold`) has symbols in .symtab only, which most files
 * lack. There it is found by what a jump means: one that leaves the frame as it is stays in its function. So code that
 * the loop jumps to is a part of it if call frame information begins with a frame there, and has the same rules at both
 * ends of the jump. Owned by the caller. Fails for want of memory.
 */
COMMON_MUST_CHECK
bool interpreter_loop_read(struct elf_image *elf, const struct interpreter_loop_symbols *symbols,
	struct interpreter_loop *loop, struct error *err);
/* Reads likewise the loop that an image address is in, by call frame information alone; none: there is no rule for it.
 */
COMMON_MUST_CHECK
bool interpreter_loop_find(struct elf_image *elf, uint64_t address, struct interpreter_loop *loop, struct error *err);
void interpreter_loop_deinit(struct interpreter_loop *loop);

/* Returns whether an image address is in it. */
bool interpreter_loop_has(const struct interpreter_loop *loop, uint64_t address);
