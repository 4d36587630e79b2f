/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/interpret/codes.h"
#include "sampler/interpret/interpret.h"
#include "sampler/interpret/loop.h"
#include "sampler/interpret/source.h"

/*
 * Ruby 3.0 to 3.4 (CRuby), linked statically or as libruby, stripped or not, with and without YJIT.
 */

/* The facts that the file of an interpreter tells. */
struct ruby_image {
	struct elf_image *elf; /* borrowed: of the file */
	struct ebpf_ruby read; /* how its frames are read; `module` is an image address, or 0 */
	/* Offsets in struct rb_iseq_constant_body: insns_info.body, .size and .succ_index_table. */
	uint32_t lines, line_count, line_table;
	uint32_t line_bytes;        /* sizeof(struct iseq_insn_info_entry) */
	bool has_tagged_first_line; /* it is a VALUE */
	/* The loop is found when a process has told where instructions are executed. */
	struct ruby_loop {
		uint32_t searches;
		struct interpreter_loop loop;
	} * loop; /* owned */
};

/*
 * Looks whether an image is an interpreter whose frames can be read: `*ruby` is NULL if it is none. For one that cannot
 * be read, `why` (ERROR_NONE before) says why. Owned by the caller.
 */
COMMON_MUST_CHECK
bool ruby_image_read(struct elf_image *elf, struct ruby_image **ruby, struct error *why, struct error *err);
void ruby_image_destroy(struct ruby_image *ruby); /* NULL is allowed */

/* ---- Code ---- */

struct ruby_code_reader;

/* Owned by the caller. */
COMMON_MUST_CHECK
bool ruby_code_reader_create(const struct process_host *host, struct ruby_code_reader **reader, struct error *err);

/* The name of code is `rb::LABEL:FILE`, with the label that Ruby's backtraces have: "block in parse". */
extern const struct interpreter_code_reader ruby_code_reads;

/*
 * Finds the function that executes instructions: in an instruction sequence each has the address of the code that
 * executes it. `code` is one of a process; where it cannot be read, or leads to no function, the loop is looked for
 * again with another one.
 */
COMMON_MUST_CHECK
bool ruby_find_loop(const struct ruby_image *ruby, uint64_t bias, const struct process_host *host, int32_t pid,
	uint64_t code, struct error *err);

/* ---- Lines ---- */

/*
 * Reads which lines the instructions of a body have, if it still has these: `lines` has room for `most`. Returns how
 * many lines there are; 0: they could not be read.
 */
size_t ruby_lines_read(const struct ruby_image *ruby, const struct interpreter_source *source, uint64_t body,
	uint64_t instructions, struct interpreter_line *lines, size_t most);
