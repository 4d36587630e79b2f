/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/dwarf/scopes.h"

/* A path, and what the line table tells of the file. */
struct dwarf_described_path {
	const char *path;                   /* in the arena; "" unknown */
	const struct dwarf_line_file *file; /* borrowed from the unit's table; NULL: none */
};

/* Names, files and lines of entries that cover an address; each is computed once. */

struct dwarf_function {
	const char *linkage_name, *name, *decl_file; /* in the arena; "" unknown */
	uint32_t decl_line;
};

struct dwarf_describer {
	struct arena *arena;       /* borrowed: strings go there */
	struct hash_map functions; /* (unit, offset) -> index */
	struct dwarf_function *items;
	size_t count, capacity;
	struct hash_map path_map; /* (unit, file index) -> index */
	struct dwarf_described_path *paths;
	size_t path_count, path_capacity;
	struct hash_map scope_map; /* unit -> index */
	struct dwarf_scopes *scopes;
	size_t scope_count, scope_capacity;
};

void dwarf_describer_init(struct dwarf_describer *describer, struct arena *arena);
void dwarf_describer_deinit(struct dwarf_describer *describer);

/* Describes the function of an entry, through its abstract origin and specification. Fails if memory runs out. */
COMMON_MUST_CHECK
bool dwarf_describe(struct dwarf_describer *describer, struct dwarf_unit *unit, uint64_t offset,
	struct dwarf_function *function, struct error *err);

/* Finds the path of a file of the unit's line table, "" if there is none. */
COMMON_MUST_CHECK
bool dwarf_describe_path(struct dwarf_describer *describer, const struct dwarf_unit *unit, uint64_t index,
	const char **path, struct error *err);
