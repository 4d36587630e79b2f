/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/table.h"

#include "profile/profile.h"
#include "render/document.h"

#include <assert.h>
#include <string.h>

enum { GAP = 2, INDENT = 2, MIN_FLEXIBLE = 12, MAX_CELLS = 1 << 20 };

void table_deinit(struct table *table)
{
	for (size_t i = 0; i < table->row_count * table->column_count; i++)
		free(table->cells[i]);
	free(table->cells);
	free(table->styles);
	*table = (struct table){ 0 };
}

/* Cells of text are cleaned first, so that their width is known. */
static char *copy_cell(const struct table *table, const char *words)
{
	CLEANUP(buffer_deinit) struct buffer copy = { 0 }, clean = { 0 };

	/* Compilers write names of megabytes, and a profile may hold any. */
	buffer_init(&copy, (size_t)1 << 30);
	buffer_init(&clean, (size_t)1 << 30);
	if (table->form != DOCUMENT_TEXT) {
		buffer_append_string(&clean, words);
	} else {
		document_text_words(&copy, words);
		buffer_append(&copy, "", 0);
		unicode_append_clean(&clean, copy.failed ? "" : copy.data);
	}
	buffer_append(&clean, "", 0);
	return clean.failed || copy.failed ? NULL : TAKE(clean.data);
}

void table_add(struct table *table, enum table_style style, const char *const *cells, size_t count)
{
	size_t first = table->row_count * table->column_count;
	struct error ignored;

	assert(count == table->column_count || style == TABLE_GROUP);
	if (table->failed ||
		!ARRAY_RESERVE(
			&table->cells, &table->cell_capacity, first + table->column_count, MAX_CELLS, &ignored) ||
		!ARRAY_RESERVE(&table->styles, &table->style_capacity, table->row_count + 1, MAX_CELLS, &ignored)) {
		table->failed = true;
		return;
	}
	for (size_t i = 0; i < table->column_count; i++) {
		table->cells[first + i] = copy_cell(table, i < count && cells[i] ? cells[i] : "");
		table->failed |= !table->cells[first + i];
	}
	table->styles[table->row_count++] = style;
}

void table_add_group(struct table *table, const char *words)
{
	if (table->form == DOCUMENT_TEXT)
		TABLE_ADD(table, TABLE_GROUP, words);
}

bool table_has(const struct table *table, size_t column)
{
	const struct table_column *c = &table->columns[column];

	return !c->hidden && (c->only == 0 || c->only == table->form);
}

static size_t total_width(const struct table *table, const size_t *widths)
{
	size_t total = INDENT, shown = 0;

	for (size_t i = 0; i < table->column_count; i++) {
		total += widths[i];
		shown += widths[i] > 0;
	}
	return total + (shown > 1 ? (shown - 1) * GAP : 0);
}

static void table_measure(const struct table *table, size_t *widths)
{
	for (size_t i = 0; i < table->column_count; i++) {
		size_t most = 0;

		for (size_t row = 0; row < table->row_count; row++) {
			size_t width = unicode_text_width(table->cells[row * table->column_count + i]);

			if (table->styles[row] != TABLE_GROUP && table_has(table, i))
				most = width > most ? width : most;
		}
		/* A column without any entry is left out together with its title. */
		widths[i] = most;
		if (most > 0 && unicode_text_width(table->columns[i].title) > most)
			widths[i] = unicode_text_width(table->columns[i].title);
	}
}

/* Returns the drop priority of the least important column that is left; 0 if all columns must stay. */
static unsigned int highest_drop(const struct table *table, const size_t *widths)
{
	unsigned int highest = 0;

	for (size_t i = 0; i < table->column_count; i++) {
		if (widths[i] > 0 && table->columns[i].drop > highest)
			highest = table->columns[i].drop;
	}
	return highest;
}

static void drop_columns(const struct table *table, size_t *widths, unsigned int drop)
{
	for (size_t i = 0; i < table->column_count; i++) {
		if (table->columns[i].drop == drop)
			widths[i] = 0;
	}
}

static void shrink_flexible(const struct table *table, size_t *widths, size_t width, size_t least)
{
	for (size_t i = 0; i < table->column_count; i++) {
		size_t excess = total_width(table, widths);

		if (!table->columns[i].flexible || excess <= width || widths[i] <= least)
			continue;
		excess -= width;
		widths[i] = widths[i] > least + excess ? widths[i] - excess : least;
	}
}

/*
 * First names are shortened as long as they remain distinct, then columns are dropped, then names are shortened
 * further.
 */
static void table_fit(const struct table *table, size_t *widths, size_t width)
{
	size_t comfortable = width / 4 > MIN_FLEXIBLE ? width / 4 : MIN_FLEXIBLE;

	table_measure(table, widths);
	for (;;) {
		size_t wanted[TABLE_MAX_COLUMNS];
		unsigned int drop = highest_drop(table, widths);

		memcpy(wanted, widths, sizeof(wanted));
		shrink_flexible(table, wanted, width, comfortable);
		if (total_width(table, wanted) <= width || drop == 0)
			break;
		drop_columns(table, widths, drop);
	}
	shrink_flexible(table, widths, width, comfortable);
	shrink_flexible(table, widths, width, 4);
}

static void pad(struct buffer *out, size_t count)
{
	while (count-- > 0)
		buffer_append_byte(out, ' ');
}

static void write_cells(const struct table *table, const size_t *widths, const char *const *cells, struct buffer *out)
{
	size_t pending = INDENT;

	for (size_t i = 0; i < table->column_count; i++) {
		CLEANUP(buffer_deinit) struct buffer cell = { 0 };
		size_t used, width = widths[i];

		if (width == 0)
			continue;
		buffer_init(&cell, (size_t)1 << 20);
		if (table->columns[i].is_name)
			profile_shorten_name(cells[i], width, &cell);
		else
			unicode_append_middle(&cell, cells[i], width);
		buffer_append(&cell, "", 0);
		if (cell.failed) {
			out->failed = true;
			return;
		}
		used = unicode_text_width(cell.data);
		pending += table->columns[i].left ? 0 : width - used;
		/* Lines have no trailing spaces. */
		if (cell.size > 0) {
			pad(out, pending);
			buffer_append(out, cell.data, cell.size);
			pending = 0;
		} else if (!table->columns[i].left) {
			used = 0;
		}
		pending += GAP + (table->columns[i].left ? width - used : 0);
	}
}

const char *table_style_on(enum table_style style, bool colour)
{
	if (!colour)
		return "";
	switch (style) {
	case TABLE_PLAIN:
	case TABLE_MAIN:
		return "";
	case TABLE_BOLD:
	case TABLE_GROUP:
		return "\033[1m";
	case TABLE_RED:
		return "\033[31m";
	case TABLE_BLUE:
		return "\033[34m";
	case TABLE_DIM:
		return "\033[2m";
	}
	return "";
}

const char *table_style_off(enum table_style style, bool colour)
{
	return table_style_on(style, colour)[0] ? "\033[0m" : "";
}

void table_write(const struct table *table, size_t width, bool colour, struct buffer *out)
{
	size_t widths[TABLE_MAX_COLUMNS] = { 0 };
	const char *titles[TABLE_MAX_COLUMNS];

	table_fit(table, widths, width);
	for (size_t i = 0; i < table->column_count; i++)
		titles[i] = table->columns[i].title;
	buffer_append_string(out, table_style_on(TABLE_DIM, colour));
	write_cells(table, widths, titles, out);
	buffer_append_string(out, table_style_off(TABLE_DIM, colour));
	buffer_append_byte(out, '\n');
	for (size_t row = 0; row < table->row_count; row++) {
		const char *const *cells = (const char *const *)&table->cells[row * table->column_count];

		buffer_append_string(out, table_style_on(table->styles[row], colour));
		if (table->styles[row] == TABLE_GROUP)
			unicode_append_middle(out, cells[0], width);
		else
			write_cells(table, widths, cells, out);
		buffer_append_string(out, table_style_off(table->styles[row], colour));
		buffer_append_byte(out, '\n');
	}
}
