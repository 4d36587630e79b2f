/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/interpret/loop.h"

/* A symbol that is looked for by its name. */
struct interpreter_symbol {
	const char *name;
	uint64_t value, size; /* as the file has them; both 0: it is missing */
	uint8_t type;         /* STT_OBJECT, ... */
};

/*
 * Looks for symbols among those that a file exports, and among all that it has, if it has them: the first ones are
 * missing from most programs, the others from those that are stripped. `loop`, with the name `loop_name`, gets what
 * symbols tell of the function that runs a program. False: the file exports no symbol of the first name, which is found
 * without a look at its symbols in nearly all files, and the others are not looked for.
 */
bool interpreter_symbols_find(struct elf_image *elf, struct interpreter_symbol *symbols, size_t count,
	const char *loop_name, struct interpreter_loop_symbols *loop);
