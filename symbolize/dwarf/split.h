/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/dwarf/package.h"

/* The .dwo file of a unit whose entries were split off (DWARF 5, 3.1.2; GNU's extension to version 4). */
struct dwarf_split {
	struct elf_image *image; /* owned; NULL: not split, or the file is absent */
	struct dwarf_file file;
	struct dwarf_unit *unit; /* of `file`, or of the package; NULL: as above */
};

/* Searches the package, then the path in the unit, then beside the debug file. Fails if memory runs out. */
COMMON_MUST_CHECK
bool dwarf_split_init(struct dwarf_split *split, const struct dwarf_unit *skeleton, const struct dwarf_package *package,
	const char *debug_path, struct error *err);
void dwarf_split_deinit(struct dwarf_split *split);
