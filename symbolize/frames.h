/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/dwarf.h"
#include "symbolize/fingerprint.h"
#include "symbolize/folded.h"
#include "symbolize/go.h"
#include "symbolize/symbols.h"

/*
 * Makes the frames of an address from the first source that has it: DWARF, Go's table of functions, the procedure
 * linkage table, a symbol, function bounds from unwind information.
 */

/* A string copied into the arena. */
struct kept_string {
	const char *from, *copy;
};

struct namer {
	/* Set by the caller, borrowed. */
	struct arena *arena; /* frames and their strings */
	struct symbols *symbols;
	struct go_table *go;                 /* NULL: no Go program */
	struct fingerprinter *fingerprinter; /* NULL: not requested, or not possible */
	const char *module;
	uint64_t entry;            /* the program's entry point; 0: it is a library */
	const uint64_t *addresses; /* rising */
	const struct dwarf_answer *answers;
	size_t count;
	bool no_inlines;
	bool only_unnamed; /* only these get fingerprints */

	size_t at;               /* the current address */
	uint64_t *wanted;        /* rising: addresses whose symbol is looked up */
	struct symbol_hit *hits; /* [wanted] */
	size_t wanted_count;
	struct folded_names folded;
	struct hash_map demangled; /* hash and size of a linkage name -> index of `names` */
	const char **names;
	size_t name_count, name_capacity;
	/* The last strings: addresses rise, so addresses of one function are neighbours and share strings. */
	struct kept_string symbol, file;
	uint64_t bounds_low;
	const char *bounds_name; /* NULL: none yet */
};

/* Looks up the symbols of all addresses in one pass. Pairs with namer_deinit(), also if it fails. */
COMMON_MUST_CHECK
bool namer_init(struct namer *n, struct error *err);
void namer_deinit(struct namer *n);

/* Gives the frames of address `index`: at least one. */
COMMON_MUST_CHECK
bool namer_name(struct namer *n, size_t index, struct symbolize_frames *out, struct error *err);
