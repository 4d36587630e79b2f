/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/symbols.h"

#include <dwarf.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SYMBOLS = 1 << 26, PLT_ENTRY_BYTES = 16, GOT_JUMP_BYTES = 6 };

struct symbol {
	uint64_t start, size;
	const char *name;
	uint8_t rank; /* of its binding: lower is better */
};

/* A slot of the global offset table and the function it leads to. */
struct slot {
	uint64_t address;
	const char *name;
};

struct symbols {
	struct symbol *items; /* by start; the best name of a start first */
	size_t count, capacity;
	struct slot *slots; /* by address */
	size_t slot_count, slot_capacity;
	struct elf_section plt[3];
	size_t plt_count;
	struct elf_section eh_frame_hdr, eh_frame;
	size_t fde_count;
	uint64_t fde_table; /* offset of the search table in the header */
};

static const char *name_at(const struct elf_section *strings, uint32_t offset)
{
	struct byte_reader r = byte_reader_over(strings->bytes, strings->size);
	const char *name;

	byte_reader_seek(&r, offset);
	name = byte_reader_string(&r, NULL);
	return name ? name : "";
}

static uint8_t rank_of(uint8_t info)
{
	switch (ELF64_ST_BIND(info)) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE:
		return 0;
	case STB_WEAK:
		return 1;
	default:
		return 2;
	}
}

static Elf64_Sym read_symbol(struct byte_reader *r, bool is_64bit)
{
	Elf64_Sym symbol = { .st_name = byte_reader_u32(r) };

	if (!is_64bit) {
		symbol.st_value = byte_reader_u32(r);
		symbol.st_size = byte_reader_u32(r);
	}
	symbol.st_info = byte_reader_u8(r);
	symbol.st_other = byte_reader_u8(r);
	symbol.st_shndx = byte_reader_u16(r);
	if (is_64bit) {
		symbol.st_value = byte_reader_u64(r);
		symbol.st_size = byte_reader_u64(r);
	}
	return symbol;
}

/* Functions, and labels of assembly that have a size. */
static bool is_code(const Elf64_Sym *symbol)
{
	uint8_t type = ELF64_ST_TYPE(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS || symbol->st_value == 0)
		return false;
	return type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && symbol->st_size > 0);
}

static bool read_table(struct symbols *symbols, struct elf_image *image, const char *table, const char *names, struct error *err)
{
	struct elf_section section, strings;
	struct byte_reader r;

	if (!elf_image_section(image, table, &section) || !elf_image_section(image, names, &strings))
		return true;
	r = byte_reader_over(section.bytes, section.size);
	while (byte_reader_left(&r) > 0) {
		Elf64_Sym symbol = read_symbol(&r, elf_image_is_64bit(image));
		const char *name;

		if (!byte_reader_ok(&r))
			break;
		if (!is_code(&symbol))
			continue;
		name = name_at(&strings, symbol.st_name);
		if (name[0] == '\0' || name[0] == '$')
			continue;
		if (!ARRAY_RESERVE(&symbols->items, &symbols->capacity, symbols->count + 1, MAX_SYMBOLS, err))
			return false;
		symbols->items[symbols->count++] =
			(struct symbol){ symbol.st_value, symbol.st_size, name, rank_of(symbol.st_info) };
	}
	return true;
}

static int compare_names(const struct symbol *a, const struct symbol *b)
{
	bool a_reserved = strncmp(a->name, "__", 2) == 0, b_reserved = strncmp(b->name, "__", 2) == 0;
	size_t a_size = strlen(a->name), b_size = strlen(b->name);

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a_reserved != b_reserved)
		return a_reserved ? 1 : -1;
	if (a_size != b_size)
		return a_size < b_size ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int compare_symbols(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	/* A name of unknown extent gives way to one that covers something. */
	if ((a->size == 0) != (b->size == 0))
		return a->size == 0 ? 1 : -1;
	return compare_names(a, b);
}

/* One name a start; the extent is the largest of all. */
static void keep_best_names(struct symbols *symbols)
{
	size_t kept = 0;

	if (symbols->count == 0)
		return;
	qsort(symbols->items, symbols->count, sizeof(*symbols->items), compare_symbols);
	for (size_t i = 0; i < symbols->count; i++) {
		if (kept > 0 && symbols->items[kept - 1].start == symbols->items[i].start) {
			if (symbols->items[i].size > symbols->items[kept - 1].size)
				symbols->items[kept - 1].size = symbols->items[i].size;
			continue;
		}
		symbols->items[kept++] = symbols->items[i];
	}
	symbols->count = kept;
}

static bool read_relocations(struct symbols *symbols, struct elf_image *image, const char *table, struct error *err)
{
	struct elf_section section, dynamic, strings;
	struct byte_reader r;

	if (!elf_image_is_64bit(image) || !elf_image_section(image, table, &section) ||
		!elf_image_section(image, ".dynsym", &dynamic) || !elf_image_section(image, ".dynstr", &strings))
		return true;
	r = byte_reader_over(section.bytes, section.size);
	while (byte_reader_left(&r) >= sizeof(Elf64_Rela)) {
		uint64_t address = byte_reader_u64(&r), info = byte_reader_u64(&r);
		uint32_t type = ELF64_R_TYPE(info);
		struct byte_reader entry = byte_reader_over(dynamic.bytes, dynamic.size);
		Elf64_Sym symbol;

		byte_reader_u64(&r); /* addend */
		if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
			continue;
		byte_reader_seek(&entry, ELF64_R_SYM(info) * sizeof(Elf64_Sym));
		symbol = read_symbol(&entry, true);
		if (!byte_reader_ok(&entry))
			continue;
		if (!ARRAY_RESERVE(&symbols->slots, &symbols->slot_capacity, symbols->slot_count + 1, MAX_SYMBOLS, err))
			return false;
		symbols->slots[symbols->slot_count++] = (struct slot){ address, name_at(&strings, symbol.st_name) };
	}
	return true;
}

static int compare_slots(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static bool read_plt(struct symbols *symbols, struct elf_image *image, struct error *err)
{
	static const char *const names[] = { ".plt", ".plt.sec", ".plt.got" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (elf_image_section(image, names[i], &symbols->plt[symbols->plt_count]))
			symbols->plt_count++;
	if (symbols->plt_count == 0)
		return true;
	if (!read_relocations(symbols, image, ".rela.plt", err) || !read_relocations(symbols, image, ".rela.dyn", err))
		return false;
	if (symbols->slot_count > 1)
		qsort(symbols->slots, symbols->slot_count, sizeof(*symbols->slots), compare_slots);
	return true;
}

/* The search table of .eh_frame_hdr in the encoding that linkers write (LSB, "The .eh_frame_hdr section"). */
static void read_eh_frame_hdr(struct symbols *symbols, struct elf_image *image)
{
	struct byte_reader r;
	uint32_t encodings, count;

	elf_image_eh_frame(image, &symbols->eh_frame, &symbols->eh_frame_hdr);
	r = byte_reader_over(symbols->eh_frame_hdr.bytes, symbols->eh_frame_hdr.size);
	encodings = byte_reader_u32(&r);
	byte_reader_u32(&r);
	count = byte_reader_u32(&r);
	if (!byte_reader_ok(&r) || encodings != 0x3b031b01 || count > byte_reader_left(&r) / 8)
		return;
	symbols->fde_count = count;
	symbols->fde_table = byte_reader_offset(&r);
}

bool symbols_create(struct elf_image *image, struct elf_image *debug, struct symbols **symbols, struct error *err)
{
	struct symbols *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	if (!read_table(made, debug, ".symtab", ".strtab", err) || !read_table(made, image, ".dynsym", ".dynstr", err) ||
		(debug != image && !read_table(made, image, ".symtab", ".strtab", err)) || !read_plt(made, image, err)) {
		symbols_destroy(made);
		return false;
	}
	keep_best_names(made);
	read_eh_frame_hdr(made, image);
	*symbols = made;
	return true;
}

void symbols_destroy(struct symbols *symbols)
{
	if (!symbols)
		return;
	free(symbols->items);
	free(symbols->slots);
	free(symbols);
}

static uint64_t fde_start_at(const struct symbols *symbols, size_t index)
{
	struct byte_reader r = byte_reader_over(symbols->eh_frame_hdr.bytes, symbols->eh_frame_hdr.size);

	byte_reader_seek(&r, symbols->fde_table + index * 8);
	return symbols->eh_frame_hdr.address + (uint64_t)(int64_t)(int32_t)byte_reader_u32(&r);
}

bool symbols_find_fde(const struct symbols *symbols, uint64_t address, uint64_t *start)
{
	size_t low = 0, high = symbols->fde_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (fde_start_at(symbols, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	*start = fde_start_at(symbols, low - 1);
	return true;
}

/* The last symbol that begins at or before the address. */
static const struct symbol *symbol_before(const struct symbols *symbols, uint64_t address)
{
	size_t low = 0, high = symbols->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &symbols->items[low - 1] : NULL;
}

bool symbols_find_bounds(const struct symbols *symbols, uint64_t address, uint64_t *low, uint64_t *high)
{
	const struct symbol *found = symbol_before(symbols, address);

	if (!found || address - found->start >= found->size)
		return false;
	*low = found->start;
	return checked_add(found->start, found->size, high);
}

const char *symbols_find(const struct symbols *symbols, uint64_t address)
{
	const struct symbol *found = symbol_before(symbols, address);
	uint64_t bound;

	if (!found)
		return NULL;
	if (found->size > 0)
		return address - found->start < found->size ? found->name : NULL;
	/* Without a size it reaches to the next symbol, but not over the start of another function. */
	return symbols_find_fde(symbols, address, &bound) && bound > found->start ? NULL : found->name;
}

static const char *find_slot(const struct symbols *symbols, uint64_t address)
{
	const struct slot key = { .address = address };
	const struct slot *found =
		symbols->slot_count ? bsearch(&key, symbols->slots, symbols->slot_count, sizeof(key), compare_slots) : NULL;

	return found ? found->name : NULL;
}

/* An entry jumps through its slot: `jmp *offset(%rip)`, ff 25 and four bytes, anywhere in the entry. */
static const char *name_of_entry(const struct symbols *symbols, const struct elf_section *plt, uint64_t offset, uint64_t size)
{
	for (uint64_t i = offset; i + GOT_JUMP_BYTES <= offset + size && i + GOT_JUMP_BYTES <= plt->size; i++) {
		struct byte_reader r = byte_reader_over(plt->bytes, plt->size);
		const char *name;
		int32_t displacement;

		if (plt->bytes[i] != 0xff || plt->bytes[i + 1] != 0x25)
			continue;
		byte_reader_seek(&r, i + 2);
		displacement = (int32_t)byte_reader_u32(&r);
		name = find_slot(symbols, plt->address + i + GOT_JUMP_BYTES + (uint64_t)(int64_t)displacement);
		if (name)
			return name;
	}
	return NULL;
}

const char *symbols_find_plt(const struct symbols *symbols, uint64_t address)
{
	for (size_t i = 0; i < symbols->plt_count; i++) {
		const struct elf_section *plt = &symbols->plt[i];
		uint64_t into = address - plt->address, size = plt->entry_size ? plt->entry_size : PLT_ENTRY_BYTES;

		if (address < plt->address || into >= plt->size)
			continue;
		return name_of_entry(symbols, plt, into / size * size, size);
	}
	return NULL;
}
