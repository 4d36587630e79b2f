/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/symbolize.h"

/*
 * Go's own table of functions, which every Go program has for its tracebacks and which survives stripping: names,
 * files, lines and the tree of inlined calls (go/src/runtime/symtab.go, cmd/link/internal/ld/pcln.go). Versions from Go
 * 1.18; the lines where functions begin from Go 1.20. The bytes are foreign: malformed data count as absent.
 */
struct go_table;

/* Borrows the image. `*table` is NULL if the image is no Go program. Fails if memory runs out. */
COMMON_MUST_CHECK
bool go_table_create(struct elf_image *image, struct go_table **table, struct error *err);
void go_table_destroy(struct go_table *table);

/*
 * Finds the frames at an image address, innermost first, in the arena; none if no function contains it. Fails if memory
 * runs out.
 */
COMMON_MUST_CHECK
bool go_table_find(const struct go_table *table, uint64_t address, struct arena *arena, struct symbolize_frames *frames,
	struct error *err);
