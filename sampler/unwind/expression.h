/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/unwind/cfi.h"

/* Runs a DWARF expression (DWARF 5, 2.5) as cfi_evaluate() describes it; `program` is the expression's bytes. */
COMMON_MUST_CHECK
bool expression_evaluate(
	struct byte_reader program, const uint64_t *registers, const struct cfi_memory *memory, uint64_t initial, uint64_t *value);
