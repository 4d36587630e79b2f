/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "tests/fuzz/elf_around.h"
#include "tests/fuzz/mutation.h"

/*
 * Appends a mutant of the contents of a section, which is taken apart by its name: units and call frame entries keep
 * lengths that are right, abbreviations stay declarations, notes notes, and strings end.
 */
void mutate_section(struct mutation *m, const char *name, const struct mutation_span *section, struct buffer *out);

/* Changes a section of an input of elf_around(). */
void mutate_elf_around(struct mutation *m, const struct elf_around_section *sections, size_t count,
	const struct mutation_span *input, struct buffer *out);
