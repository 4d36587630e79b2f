/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/interpret/python/symbols.h"

#include <string.h>

enum { MOST_SEARCHED_BYTES = 1 << 18 };

/* A table of symbols, and their names. */
struct python_symbol_table {
	struct elf_section symbols, names;
};

static bool python_symbols_find_table(
	struct elf_image *elf, const char *symbols, const char *names, struct python_symbol_table *table)
{
	return elf_image_section(elf, symbols, &table->symbols) && elf_image_section(elf, names, &table->names);
}

static bool python_symbols_has_name(const struct python_symbol_table *table, const Elf64_Sym *symbol, const char *name)
{
	size_t size = strlen(name) + 1;

	return checked_range(symbol->st_name, size, table->names.size) &&
	       memcmp(table->names.bytes + symbol->st_name, name, size) == 0;
}

static void python_symbols_take_symbol(
	struct python_symbols *symbols, const struct python_symbol_table *table, const Elf64_Sym *symbol)
{
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_value == 0 || ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT)
		return;
	if (python_symbols_has_name(table, symbol, "_PyRuntime"))
		symbols->runtime = symbol->st_value;
	else if (python_symbols_has_name(table, symbol, "Py_Version"))
		symbols->version = symbol->st_value;
	else if (python_symbols_has_name(table, symbol, "PyUnicode_Type"))
		symbols->text_type = symbol->st_value;
}

static void python_symbols_take_table(struct python_symbols *symbols, const struct python_symbol_table *table)
{
	struct byte_reader r = byte_reader_over(table->symbols.bytes, table->symbols.size);

	while (byte_reader_left(&r) >= sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;

		byte_reader_copy(&r, &symbol, sizeof(symbol));
		python_symbols_take_symbol(symbols, table, &symbol);
	}
}

/* Versions before 3.10 have no section for it. Their tables of names have 40 kB; larger ones are not looked through. */
static bool has_runtime_name(const struct python_symbol_table *table)
{
	static const char name[] = "\0_PyRuntime";

	return table->names.size <= MOST_SEARCHED_BYTES &&
	       memmem(table->names.bytes, table->names.size, name, sizeof(name)) != NULL;
}

bool python_symbols_read(struct elf_image *elf, struct python_symbols *symbols)
{
	struct elf_section runtime;
	struct python_symbol_table dynamic = { 0 }, all = { 0 };
	bool has_section, has_dynamic;

	*symbols = (struct python_symbols){ 0 };
	if (!elf_image_is_64bit(elf))
		return false;
	has_section = elf_image_section(elf, ".PyRuntime", &runtime);
	has_dynamic = python_symbols_find_table(elf, ".dynsym", ".dynstr", &dynamic);
	if (!has_section && !(has_dynamic && has_runtime_name(&dynamic)))
		return false;
	if (has_dynamic)
		python_symbols_take_table(symbols, &dynamic);
	if (python_symbols_find_table(elf, ".symtab", ".strtab", &all))
		python_symbols_take_table(symbols, &all);
	if (has_section)
		symbols->runtime = runtime.address;
	return symbols->runtime != 0;
}
