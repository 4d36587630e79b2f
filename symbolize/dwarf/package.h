/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "symbolize/dwarf/unit.h"

/* A .dwp file: the split units of a whole program in one file (DWARF 5, 7.3.5; GNU's version 2 of it for DWARF 4). */
struct dwarf_package {
	const struct elf_opener *opener; /* borrowed; opens .dwp and .dwo files; NULL: the process opens them itself */
	struct elf_image *image;         /* owned; NULL: there is none */
	struct dwarf_file file;
	struct elf_section index;
};

/*
 * Searches for PATH.dwp, where PATH is that of the binary (`path`, may be NULL) or of the file with the skeleton units
 * (`debug_path`), in GDB's order. Fails if memory runs out.
 */
COMMON_MUST_CHECK
bool dwarf_package_init(struct dwarf_package *package, const struct elf_opener *opener, const char *path,
	const char *debug_path, struct error *err);
void dwarf_package_deinit(struct dwarf_package *package);

/*
 * The unit of a skeleton, with the places of its tables in the package; not open yet. NULL: the package has none. Only
 * one thread at a time may ask for a skeleton.
 */
struct dwarf_unit *dwarf_package_find(const struct dwarf_package *package, const struct dwarf_unit *skeleton);
