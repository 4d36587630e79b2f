/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/elf/elf.h"
#include "binary/machine/machine.h"

/*
 * Call frame tables: what .eh_frame, found through .eh_frame_hdr or read in order, and .debug_frame say about code
 * (DWARF 5, 6.4; LSB, "Exception Frames" and "The .eh_frame_hdr section"; System V ABI x86-64, 3.6.2): the rules that
 * lead from one of its instructions to the caller, and where a function begins and ends. Register numbers are DWARF's,
 * which registers there are is the machine's to say. Addresses are image addresses (binary/elf/elf.h).
 */

/* The place of a caller's register. */
enum frame_rule_kind {
	FRAME_SAME,       /* not changed by the frame */
	FRAME_AT_CFA,     /* in memory at CFA + offset */
	FRAME_VAL_OFFSET, /* the value is CFA + offset */
	FRAME_REGISTER,   /* in register `offset` */
	FRAME_EXPRESSION, /* in memory at the address an expression gives (offset: into the section) */
	FRAME_VAL_EXPRESSION,
	FRAME_UNDEFINED, /* there is none; of the return address: the thread's first frame */
};

struct frame_register_rule {
	int32_t offset;
	uint16_t kind; /* enum frame_rule_kind */
	uint16_t size; /* of an expression, in bytes */
};

/* The rules that hold at one instruction. */
struct frame_rule {
	struct frame_register_rule cfa; /* FRAME_REGISTER: register `cfa_register` + offset; FRAME_VAL_EXPRESSION */
	uint8_t cfa_register;
	bool is_signal_frame; /* the pc above it is exact, not a return address */
	struct frame_register_rule registers[MACHINE_MAX_REGISTERS];
	uint64_t start, size;                   /* image addresses where they hold */
	uint64_t function_start, function_size; /* of the code that is described together with it */
};

/* The tables of an image with an index of their entries. Immutable: any number of threads may ask one. */
struct frame_table;

/* The use that is made of a table. */
enum frame_use {
	FRAME_BOUNDS, /* only bounds, which .eh_frame alone gives */
	FRAME_RULES,  /* rules as well, which .debug_frame may have where .eh_frame has none */
};

/*
 * Uses the header's search table, or lists the entries of .eh_frame where there is none, as in programs that are linked
 * statically by GCC. An image without any has a table that finds nothing. Keeps a reference to the image. Fails for
 * want of memory; entries that are damaged, or in encodings that need a process, are left out.
 */
COMMON_MUST_CHECK
bool frame_table_create(struct elf_image *image, enum frame_use use, struct frame_table **table, struct error *err);
void frame_table_destroy(struct frame_table *table); /* NULL is taken */

/*
 * Returns the processor whose registers the rules are about; NULL: a processor that is not known, of which there are
 * only bounds.
 */
const struct machine *frame_table_machine(const struct frame_table *table);

/* Returns whether it has no entry at all. */
bool frame_table_is_empty(const struct frame_table *table);

/* The memory that the table takes; sections that it had inflated belong to its image. */
size_t frame_table_bytes(const struct frame_table *table);

/* Finds the rules at an image address; false when nothing describes it, or what does is damaged. */
COMMON_MUST_CHECK
bool frame_table_find_rule(const struct frame_table *table, uint64_t address, struct frame_rule *rule);

/*
 * Finds the function [start, end) that one entry describes and that holds the address; false when none does. No
 * instruction of the entry is run.
 */
COMMON_MUST_CHECK
bool frame_table_find_bounds(const struct frame_table *table, uint64_t address, uint64_t *start, uint64_t *end);

/* The binary search table of .eh_frame_hdr: pairs of 4-byte offsets (of a function, of its entry), by function. */
struct frame_search {
	uint64_t base;          /* image address that the offsets count from */
	uint64_t address;       /* image address of the first pair */
	const uint8_t *entries; /* the pairs, borrowed from the image; not aligned */
	size_t count;           /* of pairs */
};

enum { FRAME_SEARCH_ENTRY_BYTES = 8 };

/* Gives the search table to callers that read the tables themselves; false where the image has no search table. */
COMMON_MUST_CHECK
bool frame_table_search(const struct frame_table *table, struct frame_search *search);

/* Memory of the target that an expression may read: false when it is not at hand. */
struct frame_memory {
	bool (*read)(const void *context, uint64_t address, uint64_t *value);
	const void *context;
};

/*
 * Evaluates an expression of a rule. `registers` in DWARF's order, as many as the machine has; `initial` is pushed
 * first (the CFA, for register rules). False on an operation that is not known, or memory that is not at hand.
 */
COMMON_MUST_CHECK
bool frame_evaluate(const struct frame_table *table, struct frame_register_rule expression, const uint64_t *registers,
	const struct frame_memory *memory, uint64_t initial, uint64_t *value);
