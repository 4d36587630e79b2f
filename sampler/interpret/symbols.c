/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/interpret/symbols.h"

#include <string.h>

enum { MOST_SEARCHED_BYTES = 1 << 18 };

/* A table of symbols, and their names. */
struct interpreter_symbol_table {
	struct elf_section symbols, names;
};

/* The symbols that are looked for. */
struct interpreter_symbols_search {
	struct interpreter_symbol *symbols;
	size_t count;
	const char *loop_name;
	struct interpreter_loop_symbols *loop;
};

static bool interpret_symbols_find_table(
	struct elf_image *elf, const char *symbols, const char *names, struct interpreter_symbol_table *table)
{
	return elf_image_section(elf, symbols, &table->symbols) && elf_image_section(elf, names, &table->names);
}

/*
 * Returns whether a name stands in the table, maybe as the end of another one. Tables that are larger than those of
 * interpreters are not looked through.
 */
static bool interpret_symbols_has_text(const struct interpreter_symbol_table *table, const char *name)
{
	return table->names.size <= MOST_SEARCHED_BYTES &&
	       memmem(table->names.bytes, table->names.size, name, strlen(name) + 1) != NULL;
}

/* Returns whether the symbol's name is `name`, with something behind it if `is_prefix`. */
static bool interpret_symbols_has_name(
	const struct interpreter_symbol_table *table, const Elf64_Sym *symbol, const char *name, bool is_prefix)
{
	size_t size = strlen(name);
	const char *at = (const char *)table->names.bytes + symbol->st_name;

	return checked_range(symbol->st_name, size + 1, table->names.size) && memcmp(at, name, size) == 0 &&
	       at[size] == (is_prefix ? '.' : '\0');
}

static void take_loop(struct interpreter_symbols_search *search, const struct interpreter_symbol_table *table,
	const Elf64_Sym *symbol)
{
	struct interpreter_loop_symbols *loop = search->loop;
	struct interpreter_range range = { .start = symbol->st_value };

	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || !checked_add(symbol->st_value, symbol->st_size, &range.end))
		return;
	if (interpret_symbols_has_name(table, symbol, search->loop_name, false))
		loop->loop = range;
	else if (interpret_symbols_has_name(table, symbol, search->loop_name, true) && symbol->st_size > 0 &&
		 loop->part_count < INTERPRETER_MOST_RANGES)
		loop->parts[loop->part_count++] = range;
}

static void interpret_symbols_take_symbol(struct interpreter_symbols_search *search,
	const struct interpreter_symbol_table *table, const Elf64_Sym *symbol)
{
	for (size_t i = 0; i < search->count; i++)
		if (interpret_symbols_has_name(table, symbol, search->symbols[i].name, false)) {
			search->symbols[i].value = symbol->st_value;
			search->symbols[i].size = symbol->st_size;
			search->symbols[i].type = ELF64_ST_TYPE(symbol->st_info);
		}
	take_loop(search, table, symbol);
}

static void interpret_symbols_take_table(
	struct interpreter_symbols_search *search, const struct interpreter_symbol_table *table)
{
	struct byte_reader r = byte_reader_over(table->symbols.bytes, table->symbols.size);

	while (byte_reader_left(&r) >= sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;

		byte_reader_copy(&r, &symbol, sizeof(symbol));
		if (symbol.st_shndx != SHN_UNDEF)
			interpret_symbols_take_symbol(search, table, &symbol);
	}
}

bool interpreter_symbols_find(struct elf_image *elf, struct interpreter_symbol *symbols, size_t count,
	const char *loop_name, struct interpreter_loop_symbols *loop)
{
	struct interpreter_symbols_search search = { symbols, count, loop_name, loop };
	struct interpreter_symbol_table dynamic = { 0 }, all = { 0 };

	*loop = (struct interpreter_loop_symbols){ 0 };
	if (!elf_image_is_64bit(elf) || !interpret_symbols_find_table(elf, ".dynsym", ".dynstr", &dynamic) ||
		!interpret_symbols_has_text(&dynamic, symbols[0].name))
		return false;
	interpret_symbols_take_table(&search, &dynamic);
	if (interpret_symbols_find_table(elf, ".symtab", ".strtab", &all)) {
		interpret_symbols_take_table(&search, &all);
		loop->has_all = true;
	}
	return true;
}
