/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/binary.h"

/*
 * Frames of addresses from DWARF: the chain of inlined functions, with their files and lines. The addresses are grouped
 * by unit; one pass over a unit's entries and one over its line table resolve all of them, in one job for each unit. No
 * index is built.
 */

/* A function at an address. Strings belong to the result; "" if not known. */
struct dwarf_frame {
	const char *linkage_name;
	const char *name; /* ns::Class::fn, built from the parents, where there is no linkage name */
	const char *file; /* of the line that was executing, or of the call */
	const char *decl_file;
	uint32_t line, decl_line;
};

enum { DWARF_MD5_BYTES = 16 };

/*
 * The facts that a line table tells of a source file that code is from (DWARF 5): its MD5, and lines of its text where
 * that is embedded. A file with several pieces of text has several of these.
 */
struct dwarf_source {
	const char *path; /* as `file` of frames has it */
	const char *text; /* whole lines with '\n' between them; "": none */
	uint32_t first_line;
	bool has_md5;
	uint8_t md5[DWARF_MD5_BYTES];
};

struct dwarf_extent {
	uint64_t low, high; /* image addresses, half-open */
};

struct dwarf_answer {
	const struct dwarf_frame *frames; /* innermost first */
	size_t count;                     /* 0: not covered by a function */
	/* The code of the outermost function, as its entry lists it. */
	const struct dwarf_extent *extents;
	size_t extent_count;
	/* The line table's row if no function covers the address (assembly). */
	const char *file;
	uint32_t line;
};

struct dwarf_result {
	struct dwarf_answer *answers; /* [address] */
	struct dwarf_source *sources; /* of the files that answers name */
	size_t source_count;
	struct arena *arenas; /* of the jobs; they hold the strings */
	size_t arena_count;
	bool is_refused;       /* reading costs more than the file's size allows: nothing is answered */
	bool is_split;         /* entries are in other files, which may appear or disappear */
	const char *directory; /* in which the first unit other than assembly was compiled; "" unknown */
	struct arena arena;
};

struct dwarf_options {
	struct elf_image *debug;         /* carries the debug information */
	struct elf_image *alt;           /* of dwz; NULL: none */
	const char *path;                /* of the binary, beside which a .dwp file may lie; NULL: of `debug` */
	const struct elf_opener *opener; /* of .dwo and .dwp files; NULL: the process opens them itself */
	unsigned int threads;            /* 0: one per CPU */
	bool no_lines; /* files and lines stay unknown; .debug_line, a fifth of what is compressed, is not read */
	/*
	 * Sets for each of the rising addresses that no entry covers whether it is code of a function, rather than
	 * padding between two: only those are searched for in slow ways. NULL: all are.
	 */
	void (*find_code)(void *context, const uint64_t *addresses, size_t count, bool *is_code);
	/* Returns whether the linker made the code at an address: it is then in no unit. NULL: it made none. */
	bool (*is_linkage)(void *context, uint64_t address);
	void *context;
};

/* Resolves `count` image addresses in rising order without repetition. Pairs with dwarf_result_deinit(). */
COMMON_MUST_CHECK
bool dwarf_resolve(const struct dwarf_options *options, const uint64_t *addresses, size_t count,
	struct dwarf_result *result, struct error *err);
void dwarf_result_deinit(struct dwarf_result *result);
