/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "elf/elf.h"
#include "machine/machine.h"

/*
 * Call frame information: what .eh_frame says about one instruction (DWARF 5, 6.4; LSB, "Exception Frames"; System V
 * ABI x86-64, 3.6.2). Register numbers are DWARF's, which registers there are is the machine's to say.
 */

/* Where a caller's register is found. */
enum frame_place {
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
	uint16_t place; /* enum frame_place */
	uint16_t size;  /* of an expression, in bytes */
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

/* An image's .eh_frame and .debug_frame with an index of their entries. */
struct frame_table;

/*
 * Reads the header's search table, or scans .eh_frame where there is none. An image without any has a table that finds
 * nothing, and so has one of a processor that is not known.
 */
COMMON_MUST_CHECK
bool frame_table_create(struct elf_image *image, struct frame_table **table, struct error *err);
void frame_table_destroy(struct frame_table *table);

/* Whose registers its rules are about; NULL: a processor that is not known. */
const struct machine *frame_table_machine(const struct frame_table *table);

/* The rules at an image address; false when nothing describes it, or what does is damaged. */
COMMON_MUST_CHECK
bool frame_table_find_rule(const struct frame_table *table, uint64_t address, struct frame_rule *rule);

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
