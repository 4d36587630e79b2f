/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "binary/frame/frame.h"

/* The arguments of frame_evaluate(), which describes them. */
struct expression_input {
	const uint64_t *registers;
	size_t register_count;
	const struct frame_memory *memory;
	uint64_t initial;
};

/* Runs a DWARF expression (DWARF 5, 2.5); `program` is the expression's bytes. */
COMMON_MUST_CHECK
bool expression_evaluate(struct byte_reader program, const struct expression_input *input, uint64_t *value);
