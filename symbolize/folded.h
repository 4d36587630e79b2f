/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/symbols.h"

/*
 * Names of code that several functions share. Linkers fold functions whose code is the same (--icf of lld, mold and
 * gold), compilers merge them, and empty ones end up together: which of them ran cannot be told from an address, so the
 * name says all of them.
 *
 * Several names of one address may as well be aliases of one function, as `write` and `__write`, which have one name as
 * ever. Mangled names that say different things are different functions, since languages that mangle have no aliases.
 * Plain names are believed to be so only where the linker folds; weak and reserved ones (C11, 7.1.3: `_IO_puts`) are
 * aliases even there.
 */
struct folded_names {
	uint64_t *starts;   /* rising: where such code starts, owned */
	const char **names; /* [start]; NULL: the names are aliases */
	size_t count;
};

/*
 * Finds the names of all hits whose symbol shares its start, in one pass over the tables; `arena` gets them. They are
 * in alphabetical order, whatever the order of linking: `Avatar::render() [or Invoice::total(), Zebra::a()]`. Fails if
 * memory runs out. Pairs with folded_names_deinit(), also then.
 */
COMMON_MUST_CHECK
bool folded_names_find(const struct symbols *symbols, const struct symbol_hit *hits, size_t count, struct arena *arena,
	struct folded_names *folded, struct error *err);
void folded_names_deinit(struct folded_names *folded);

/* The name of what starts there, in the arena; NULL: it is one function. */
const char *folded_names_at(const struct folded_names *folded, uint64_t start);
