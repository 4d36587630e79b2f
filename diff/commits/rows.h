/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <stddef.h>

/* Arrays of structs that are in the order of one of their members. */
struct rows {
	const void *items; /* borrowed */
	size_t count, item_bytes;
	size_t offset; /* of that member, a uint32_t */
};

/* The rows of an array of struct `type` that is in the order of `member`. */
#define ROWS_BY(type, array, array_count, member)                                                                      \
	((struct rows){ (array), (array_count), sizeof(struct type), offsetof(struct type, member) })

/* Returns the first of the rows that has this value, and how many do; where none does, the place where it would be. */
size_t rows_find(const struct rows *rows, uint32_t value, size_t *found);
