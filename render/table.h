/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * A table of a document. On a terminal columns are aligned by display width, two spaces apart, without lines. If it is
 * too wide, whole columns are dropped, the least important first; at last the flexible ones are shortened. Rows may
 * stand in groups under lines of text. A column without any entry is left out.
 */

enum document_form { DOCUMENT_TEXT = 1, DOCUMENT_MARKDOWN = 2 };

enum { TABLE_MAX_COLUMNS = 14 };

struct table_column {
	const char *title; /* borrowed */
	unsigned int drop; /* 0: never dropped; else the columns with the highest number are dropped first, together */
	enum document_form only; /* the form that has it; 0: both have it */
	bool hidden;             /* no form has it */
	bool left;               /* aligned to the left */
	bool flexible;           /* may be shortened */
	bool is_name;            /* cells are names of functions, which are shortened by the rule for these */
	/* Of Markdown: */
	bool is_code;  /* cells are other code */
	bool is_text;  /* cells are words that may come from a file; else they are figures and words of our own */
	bool is_bold;  /* cells of rows in red and blue are bold */
	bool has_dash; /* an empty cell is a dash */
};

/* TABLE_MAIN: a row that stands out, whose first cell is bold in Markdown. TABLE_GROUP: a line over all columns. */
enum table_style { TABLE_PLAIN, TABLE_BOLD, TABLE_RED, TABLE_BLUE, TABLE_DIM, TABLE_MAIN, TABLE_GROUP };

struct table {
	enum document_form form;
	const struct table_column *columns; /* borrowed */
	size_t column_count;
	char **cells;             /* [row * column_count + column], owned */
	enum table_style *styles; /* [row] */
	size_t row_count, cell_capacity, style_capacity;
	bool failed; /* out of memory: sticky */
};

void table_deinit(struct table *table);

/* Adds a row of `count` cells, one for each column, which are copied; NULL is an empty cell. */
void table_add(struct table *table, enum table_style style, const char *const *cells, size_t count);

/* Does so of cells that may be texts of expressions, such as format_count(1).text. */
#define TABLE_ADD(table, style, ...)                                                                                   \
	table_add((table), (style), (const char *const[]){ __VA_ARGS__ },                                              \
		sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

/* Adds a line that the rows behind it belong to. */
void table_add_group(struct table *table, const char *words);

/* Returns whether the table's form has a column. */
bool table_has(const struct table *table, size_t column);

/* Appends the lines of text, indented by two columns, within `width`. With colour, rows are written in their style. */
void table_write(const struct table *table, size_t width, bool colour, struct buffer *out);

/* Returns the escape sequences that switch a style on and off; "" without colour. */
const char *table_style_on(enum table_style style, bool colour);
const char *table_style_off(enum table_style style, bool colour);
