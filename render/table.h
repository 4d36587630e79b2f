/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * A table for a terminal: columns aligned by display width, two spaces apart, without lines. If it is too wide, whole
 * columns are dropped, the least important first; at last the flexible ones are shortened. Rows may stand in groups
 * under lines of text.
 */

enum { TABLE_MAX_COLUMNS = 14 };

struct table_column {
	const char *title; /* borrowed */
	unsigned int drop; /* 0: never dropped; else the columns with the highest number are dropped first, together */
	bool left;         /* aligned to the left */
	bool flexible;     /* may be shortened */
	bool is_name;      /* by the rule for names of functions */
};

enum table_style { TABLE_PLAIN, TABLE_BOLD, TABLE_RED, TABLE_BLUE, TABLE_DIM };

struct table {
	const struct table_column *columns; /* borrowed */
	size_t column_count;
	char **cells;             /* [row * column_count + column], owned */
	enum table_style *styles; /* [row] */
	bool *are_groups;         /* [row] whether its first cell is a line over all columns */
	size_t row_count, cell_capacity, style_capacity, group_capacity;
	bool failed; /* out of memory: sticky */
};

void table_init(struct table *table, const struct table_column *columns, size_t column_count);
void table_deinit(struct table *table);

/* Adds a row of column_count cells, which are copied; NULL is an empty cell. */
void table_add(struct table *table, const char *const *cells, enum table_style style);

/* Adds a line that the rows behind it belong to. */
void table_add_group(struct table *table, const char *text);

/* Appends the lines, indented by two columns, within `width`. With colour, rows are written in their style. */
COMMON_MUST_CHECK
bool table_write(const struct table *table, size_t width, bool colour, struct buffer *out, struct error *err);

/* Returns the escape sequences that switch a style on and off; "" without colour. */
const char *table_style_on(enum table_style style, bool colour);
const char *table_style_off(enum table_style style, bool colour);
