/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * A table of a terminal: columns aligned by display width, two spaces apart, no lines. When it is too wide, whole
 * columns are dropped, the least important first, and at last the flexible ones are shortened from the middle.
 */

enum { TABLE_MAX_COLUMNS = 12 };

/*
 * A width within which all columns stay and no name is shortened that a person would read (4,096 columns); what a long
 * one pushes to the right is its own row alone.
 */
static const size_t TABLE_UNLIMITED = SIZE_MAX;

struct table_column {
	const char *title; /* borrowed */
	unsigned int drop; /* 0: never dropped; else the highest goes first, equal ones together */
	bool left;         /* aligned to the left */
	bool flexible;     /* shortened like a name; else never */
};

enum table_style { TABLE_PLAIN, TABLE_BOLD, TABLE_RED, TABLE_BLUE, TABLE_DIM };

struct table {
	const struct table_column *columns; /* borrowed */
	size_t column_count;
	char **cells;             /* [row * column_count + column], owned */
	enum table_style *styles; /* [row] */
	size_t row_count, cell_capacity, style_capacity;
	bool failed; /* out of memory: sticky */
};

void table_init(struct table *table, const struct table_column *columns, size_t column_count);
void table_deinit(struct table *table);

/* A row of column_count cells, copied; NULL is empty. */
void table_add(struct table *table, const char *const *cells, enum table_style style);

/* Lines indented by two columns within `width`. With colour, rows are written in their style. */
COMMON_MUST_CHECK
bool table_write(const struct table *table, size_t width, bool colour, struct buffer *out, struct error *err);

/* What a terminal switches a style on and off with; "" without colour. */
const char *table_style_on(enum table_style style, bool colour);
const char *table_style_off(enum table_style style, bool colour);
