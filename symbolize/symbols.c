/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/symbols.h"

#include "binary/binary.h"
#include "symbolize/addresses.h"
#include "symbolize/minidebug.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
	MAX_SLOTS = 1 << 26,
	MAX_SIZELESS_BYTES = 1 << 16,
	MAX_NEAR_BYTES = 1 << 12,
	MAX_TABLES = 4,
	PLT_COUNT = 3,
	MAX_COMPARED_BYTES = 1 << 12
};

/* A symbol table and its names. */
struct symbols_table {
	const struct elf_image *image; /* that holds it, borrowed */
	struct elf_section symbols, names;
	bool is_64bit;
};

/* A slot of the global offset table and the function whose address it holds. */
struct symbols_slot {
	uint64_t address;
	const char *name;
};

struct symbols {
	struct elf_image *image;
	struct elf_image *mini; /* owned: .gnu_debugdata; NULL: none */
	struct symbols_table tables[MAX_TABLES];
	size_t table_count;
	struct symbols_slot *slots; /* by address; read when an address lies in a PLT */
	size_t slot_count, slot_capacity;
	bool has_slots;
	struct elf_section plt[PLT_COUNT];
	size_t plt_count;
	const struct elf_segment *segments; /* of the image, borrowed */
	size_t segment_count;
	struct frame_table *functions; /* owned */
};

/*
 * Finds a table of names that ends with its last NUL, so that a name is found without a search for its end: in a
 * hostile table all names are ends of one giant string.
 */
static bool find_names(struct elf_image *image, const char *section, struct elf_section *names)
{
	const uint8_t *last;

	if (!elf_image_section(image, section, names))
		return false;
	last = names->size ? memrchr(names->bytes, 0, names->size) : NULL;
	names->size = last ? (size_t)(last + 1 - names->bytes) : 0;
	return true;
}

static const char *name_at(const struct elf_section *names, uint32_t offset)
{
	return offset < names->size ? (const char *)names->bytes + offset : "";
}

static uint8_t symbolize_symbols_rank_of(uint8_t info)
{
	switch (ELF64_ST_BIND(info)) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE:
		return SYMBOLS_RANK_GLOBAL;
	case STB_WEAK:
		return SYMBOLS_RANK_WEAK;
	default:
		return SYMBOLS_RANK_LOCAL;
	}
}

static Elf64_Sym read_symbol(struct byte_reader *r, bool is_64bit)
{
	const uint8_t *bytes = byte_reader_bytes(r, is_64bit ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
	Elf64_Sym symbol = { 0 };
	Elf32_Sym narrow;

	if (bytes && is_64bit) {
		memcpy(&symbol, bytes, sizeof(symbol));
	} else if (bytes) {
		memcpy(&narrow, bytes, sizeof(narrow));
		symbol = (Elf64_Sym){
			.st_name = narrow.st_name, .st_info = narrow.st_info, .st_other = narrow.st_other
		};
		symbol.st_shndx = narrow.st_shndx;
		symbol.st_value = narrow.st_value;
		symbol.st_size = narrow.st_size;
	}
	return symbol;
}

enum symbols_kind { KIND_OTHER, KIND_FUNCTION, KIND_LABEL, KIND_OBJECT };

/*
 * The kind of a symbol: functions, labels of assembly with a size, other labels of code, and objects of data. GCC marks
 * places in debug information by labels.
 */
static enum symbols_kind symbols_kind_of(const struct symbols_table *table, const Elf64_Sym *symbol)
{
	uint8_t type = ELF64_ST_TYPE(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS || symbol->st_value == 0)
		return KIND_OTHER;
	if (type == STT_FUNC || type == STT_GNU_IFUNC || (type == STT_NOTYPE && symbol->st_size > 0))
		return KIND_FUNCTION;
	if (type == STT_OBJECT && symbol->st_size > 0)
		return KIND_OBJECT;
	return type == STT_NOTYPE && elf_image_section_is_code(table->image, symbol->st_shndx) ? KIND_LABEL
											       : KIND_OTHER;
}

/* ---- Symbol tables ---- */

static int symbolize_symbols_compare_names(const struct symbol_hit *a, const struct symbol_hit *b)
{
	bool a_reserved = strncmp(a->name, "__", 2) == 0, b_reserved = strncmp(b->name, "__", 2) == 0;
	size_t a_size, b_size;

	/* A symbol of unknown size is replaced by one with a size. */
	if ((a->size == 0) != (b->size == 0))
		return a->size == 0 ? 1 : -1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a_reserved != b_reserved)
		return a_reserved ? 1 : -1;
	a_size = strnlen(a->name, MAX_COMPARED_BYTES);
	b_size = strnlen(b->name, MAX_COMPARED_BYTES);
	if (a_size != b_size)
		return a_size < b_size ? -1 : 1;
	return strncmp(a->name, b->name, MAX_COMPARED_BYTES);
}

/*
 * Compares the symbol with the best one for the first address that is not below it: the nearest wins, then the best
 * name; the larger size is kept.
 */
static void compete(struct symbol_hit *hit, const struct symbol_hit *symbol)
{
	uint64_t size = hit->size > symbol->size ? hit->size : symbol->size;
	bool is_shared;

	if (hit->name && hit->start > symbol->start)
		return;
	if (!hit->name || hit->start < symbol->start) {
		*hit = *symbol;
		return;
	}
	is_shared = hit->is_shared || strncmp(hit->name, symbol->name, MAX_COMPARED_BYTES) != 0;
	if (symbolize_symbols_compare_names(symbol, hit) < 0)
		*hit = *symbol;
	hit->size = size;
	hit->is_shared = is_shared;
}

/*
 * Returns whether the symbol names what it is at: `$x` separates code from data, `foo.loop` is a place in `foo` in
 * NASM. Objects of a function's own may be called `lock.0`.
 */
static bool symbols_is_name(const struct symbol_hit *symbol, enum symbols_kind kind)
{
	if (symbol->name[0] == '\0' || symbol->name[0] == '$')
		return false;
	return kind != KIND_LABEL || symbol->rank < SYMBOLS_RANK_LOCAL ||
	       !memchr(symbol->name, '.', strnlen(symbol->name, MAX_COMPARED_BYTES));
}

static void match_table(const struct symbols_table *table, enum symbols_kind kind, const uint64_t *addresses,
	size_t count, struct symbol_hit *hits)
{
	struct byte_reader r = byte_reader_over(table->symbols.bytes, table->symbols.size);
	uint32_t file = 0;

	while (byte_reader_left(&r) > 0) {
		Elf64_Sym symbol = read_symbol(&r, table->is_64bit);
		struct symbol_hit candidate = { .start = symbol.st_value, .size = symbol.st_size };
		size_t at;

		if (!byte_reader_ok(&r))
			return;
		if (ELF64_ST_TYPE(symbol.st_info) == STT_FILE)
			file = symbol.st_name;
		if (symbol.st_value > addresses[count - 1] || symbols_kind_of(table, &symbol) != kind)
			continue;
		at = addresses_lower_bound(addresses, count, symbol.st_value);
		if (hits[at].name && hits[at].start > symbol.st_value)
			continue;
		candidate.rank = symbolize_symbols_rank_of(symbol.st_info);
		candidate.file = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL ? name_at(&table->names, file) : "";
		candidate.name = name_at(&table->names, symbol.st_name);
		if (symbols_is_name(&candidate, kind))
			compete(&hits[at], &candidate);
	}
}

/* Finds the end of the code segment that contains the address; false if there is none. */
static bool find_code_end(const struct symbols *symbols, uint64_t address, uint64_t *end)
{
	for (size_t i = 0; i < symbols->segment_count; i++) {
		const struct elf_segment *segment = &symbols->segments[i];

		if ((segment->flags & PF_X) && address >= segment->address &&
			address - segment->address < segment->memory_size)
			return checked_add(segment->address, segment->memory_size, end);
	}
	return false;
}

/* The place where the instructions of a function end, of the one that was asked for last: addresses rise. */
struct code_end {
	uint64_t start, end; /* end: UINT64_MAX if it is not known */
};

/*
 * Finds where the instructions from the start of a function on end: at a return, or a jump, behind which none of the
 * branches before leads. What fills up to the next function belongs to it, as for those who go by symbols alone.
 */
static uint64_t symbolize_symbols_find_end(struct elf_image *image, uint64_t start)
{
	enum { MOST_BYTES = 4096 };
	const struct machine *machine = machine_of(elf_image_machine(image));
	struct machine_decoder *decoder = machine ? machine_decoder_create(machine) : NULL;
	size_t size = 0, at = 0, reached = 0;
	const uint8_t *bytes = elf_image_bytes_at(image, start, &size);
	uint64_t end = UINT64_MAX;
	struct machine_step step;

	size = bytes && size > MOST_BYTES ? MOST_BYTES : size;
	while (decoder && bytes && at < size) {
		struct machine_frame frame = machine_frame_none(machine);

		if (!machine->step(decoder, bytes + at, size - at, &frame, &step) ||
			step.flow == MACHINE_FLOW_UNKNOWN || (end != UINT64_MAX && step.flow != MACHINE_FLOW_PADDING))
			break;
		at += step.size;
		if ((step.flow == MACHINE_FLOW_BRANCH || step.flow == MACHINE_FLOW_JUMP) && step.distance > 0 &&
			at + (uint64_t)step.distance > reached)
			reached = at + (uint64_t)step.distance;
		if (end != UINT64_MAX ||
			((step.flow == MACHINE_FLOW_RETURN || step.flow == MACHINE_FLOW_JUMP) && at > reached))
			end = start + at;
	}
	machine_decoder_destroy(decoder);
	return end;
}

/*
 * Returns whether the symbol covers the address. Without a size it covers up to the next symbol, but neither beyond the
 * start of another function, the end of its own, its segment, nor more than functions of assembly have.
 */
static bool symbolize_symbols_holds(
	const struct symbols *symbols, const struct symbol_hit *hit, uint64_t address, struct code_end *code)
{
	uint64_t end, start, fde_end;

	if (hit->size > 0)
		return address - hit->start < hit->size;
	if (address - hit->start >= MAX_SIZELESS_BYTES || !find_code_end(symbols, hit->start, &end) || address >= end)
		return false;
	if (symbols_find_fde(symbols, address, &start, &fde_end) && start > hit->start)
		return false;
	if (code->end == 0 || code->start != hit->start)
		*code = (struct code_end){ hit->start, symbolize_symbols_find_end(symbols->image, hit->start) };
	return address < code->end;
}

/* Finds for each address the nearest symbol of the kind that is not after it. */
static void find_nearest(const struct symbols *symbols, enum symbols_kind kind, const uint64_t *addresses, size_t count,
	struct symbol_hit *hits)
{
	struct symbol_hit nearest = { 0 };

	for (size_t i = 0; i < count; i++)
		hits[i] = (struct symbol_hit){ 0 };
	for (size_t i = 0; count > 0 && i < symbols->table_count; i++)
		match_table(&symbols->tables[i], kind, addresses, count, hits);
	for (size_t i = 0; i < count; i++) {
		if (hits[i].name)
			nearest = hits[i];
		hits[i] = nearest;
	}
}

/*
 * Returns whether the label is after the function: one before or in the function does not name the code that follows.
 */
static bool is_behind(const struct symbol_hit *label, const struct symbol_hit *function)
{
	return !function->name || (label->start >= function->start && label->start - function->start >= function->size);
}

/* The name of the function before the address, if it is in the same segment and not far; else NULL. */
static const char *near_name(const struct symbols *symbols, const struct symbol_hit *before, uint64_t address)
{
	uint64_t end;

	return before->name && address - before->start < MAX_NEAR_BYTES &&
			       find_code_end(symbols, before->start, &end) && address < end
		       ? before->name
		       : NULL;
}

/*
 * Finds labels for addresses in no function: assemblers write plain labels unless the source declares them as functions
 * (NASM).
 */
static bool match_labels(const struct symbols *symbols, const uint64_t *addresses, size_t count, const bool *is_held,
	struct symbol_hit *hits, struct error *err)
{
	CLEANUP(cleanup_free) struct symbol_hit *labels = calloc(count, sizeof(*labels));
	struct code_end code = { 0 };

	if (!labels)
		return error_set_memory(err);
	find_nearest(symbols, KIND_LABEL, addresses, count, labels);
	for (size_t i = 0; i < count; i++) {
		if (is_held[i])
			continue;
		if (labels[i].name && is_behind(&labels[i], &hits[i]) &&
			symbolize_symbols_holds(symbols, &labels[i], addresses[i], &code))
			hits[i] = labels[i];
		else
			hits[i] = (struct symbol_hit){ .near = near_name(symbols, &hits[i], addresses[i]) };
	}
	return true;
}

bool symbols_match(const struct symbols *symbols, const uint64_t *addresses, size_t count, struct symbol_hit *hits,
	struct error *err)
{
	CLEANUP(cleanup_free) bool *is_held = calloc(count + 1, sizeof(*is_held));
	bool are_all_held = true;
	struct code_end code = { 0 };

	if (!is_held)
		return error_set_memory(err);
	find_nearest(symbols, KIND_FUNCTION, addresses, count, hits);
	for (size_t i = 0; i < count; i++) {
		is_held[i] = hits[i].name && symbolize_symbols_holds(symbols, &hits[i], addresses[i], &code);
		are_all_held &= is_held[i];
	}
	return are_all_held || match_labels(symbols, addresses, count, is_held, hits, err);
}

bool symbols_visit_functions(const struct symbols *symbols,
	bool (*visit)(void *context, const struct symbol_hit *function, struct error *err), void *context,
	struct error *err)
{
	for (size_t i = 0; i < symbols->table_count; i++) {
		const struct symbols_table *table = &symbols->tables[i];
		struct byte_reader r = byte_reader_over(table->symbols.bytes, table->symbols.size);

		while (byte_reader_left(&r) > 0) {
			Elf64_Sym symbol = read_symbol(&r, table->is_64bit);
			struct symbol_hit function = { .start = symbol.st_value,
				.rank = symbolize_symbols_rank_of(symbol.st_info) };

			if (!byte_reader_ok(&r))
				break;
			if (symbols_kind_of(table, &symbol) != KIND_FUNCTION)
				continue;
			function.name = name_at(&table->names, symbol.st_name);
			if (!visit(context, &function, err))
				return false;
		}
	}
	return true;
}

/* Recognises linkers that fold by what they leave in a file: lld and mold in .comment, gold a note. */
bool symbols_are_folded(const struct symbols *symbols)
{
	static const char *const linkers[] = { "LLD ", "mold " };
	struct elf_section section;

	if (elf_image_section(symbols->image, ".note.gnu.gold-version", &section))
		return true;
	if (!elf_image_section(symbols->image, ".comment", &section))
		return false;
	for (size_t i = 0; i < sizeof(linkers) / sizeof(linkers[0]); i++)
		if (memmem(section.bytes, section.size, linkers[i], strlen(linkers[i])))
			return true;
	return false;
}

/* ---- Procedure linkage tables ---- */

static bool read_relocations(
	struct symbols *symbols, const struct machine *machine, const char *table, struct error *err)
{
	struct elf_section section, dynamic, strings;
	struct byte_reader r;

	if (!elf_image_is_64bit(symbols->image) || !elf_image_section(symbols->image, table, &section) ||
		!elf_image_section(symbols->image, ".dynsym", &dynamic) ||
		!find_names(symbols->image, ".dynstr", &strings))
		return true;
	r = byte_reader_over(section.bytes, section.size);
	while (byte_reader_left(&r) >= sizeof(Elf64_Rela)) {
		uint64_t address = byte_reader_u64(&r), info = byte_reader_u64(&r);
		uint32_t type = ELF64_R_TYPE(info);
		struct byte_reader entry = byte_reader_over(dynamic.bytes, dynamic.size);
		Elf64_Sym symbol;

		byte_reader_u64(&r); /* addend */
		if (type != machine->relocation_jump_slot && type != machine->relocation_global_data)
			continue;
		byte_reader_seek(&entry, ELF64_R_SYM(info) * sizeof(Elf64_Sym));
		symbol = read_symbol(&entry, true);
		if (!byte_reader_ok(&entry))
			continue;
		if (!ARRAY_APPEND(&symbols->slots, &symbols->slot_capacity, &symbols->slot_count, MAX_SLOTS, err,
			    (struct symbols_slot){ address, name_at(&strings, symbol.st_name) }))
			return false;
	}
	return true;
}

static int compare_slots(const void *left, const void *right)
{
	const struct symbols_slot *a = left, *b = right;

	return ORDER(a->address, b->address);
}

static bool read_slots(struct symbols *symbols, const struct machine *machine, struct error *err)
{
	if (symbols->has_slots)
		return true;
	symbols->has_slots = true;
	if (!read_relocations(symbols, machine, ".rela.plt", err) ||
		!read_relocations(symbols, machine, ".rela.dyn", err))
		return false;
	if (symbols->slot_count > 1)
		qsort(symbols->slots, symbols->slot_count, sizeof(*symbols->slots), compare_slots);
	return true;
}

static const char *symbolize_symbols_find_slot(const struct symbols *symbols, uint64_t address)
{
	const struct symbols_slot key = { .address = address };
	const struct symbols_slot *found =
		symbols->slot_count ? bsearch(&key, symbols->slots, symbols->slot_count, sizeof(key), compare_slots)
				    : NULL;

	return found ? found->name : NULL;
}

/* Names an entry by the slot through which it jumps, anywhere in the entry. */
static const char *name_of_entry(const struct symbols *symbols, const struct machine *machine,
	const struct elf_section *plt, uint64_t offset, uint64_t size)
{
	struct machine_code code = { plt->bytes, plt->size, (size_t)offset };
	const char *name = NULL;
	uint64_t slot;

	if (size < plt->size - offset)
		code.size = (size_t)(offset + size);
	while (!name && machine->find_slot_jump(&code, plt->address, &slot))
		name = symbolize_symbols_find_slot(symbols, slot);
	return name;
}

bool symbols_is_plt(const struct symbols *symbols, uint64_t address)
{
	for (size_t i = 0; i < symbols->plt_count; i++)
		if (address >= symbols->plt[i].address && address - symbols->plt[i].address < symbols->plt[i].size)
			return true;
	return false;
}

bool symbols_find_plt(struct symbols *symbols, uint64_t address, const char **name, struct error *err)
{
	const struct machine *machine = machine_of(elf_image_machine(symbols->image));

	*name = NULL;
	for (size_t i = 0; machine && i < symbols->plt_count; i++) {
		const struct elf_section *plt = &symbols->plt[i];
		uint64_t into = address - plt->address,
			 size = plt->entry_size ? plt->entry_size : machine->plt_entry_bytes;

		if (address < plt->address || into >= plt->size)
			continue;
		if (!read_slots(symbols, machine, err))
			return false;
		*name = name_of_entry(symbols, machine, plt, into / size * size, size);
		return true;
	}
	return true;
}

/* ---- Pair ---- */

static void add_table(struct symbols *symbols, struct elf_image *image, const char *table, const char *names)
{
	struct symbols_table *added = &symbols->tables[symbols->table_count];

	if (!elf_image_section(image, table, &added->symbols) || !find_names(image, names, &added->names))
		return;
	added->image = image;
	added->is_64bit = elf_image_is_64bit(image);
	symbols->table_count++;
}

static bool has_symtab(struct elf_image *image)
{
	struct elf_section section;

	return elf_image_section(image, ".symtab", &section);
}

/* Finds the tables, with those of .gnu_debugdata where there are no others. */
static bool open_tables(struct symbols *made, struct elf_image *debug, struct error *err)
{
	struct elf_image *image = made->image;

	add_table(made, debug, ".symtab", ".strtab");
	add_table(made, image, ".dynsym", ".dynstr");
	if (debug != image)
		add_table(made, image, ".symtab", ".strtab");
	if (!has_symtab(debug) && !has_symtab(image) && !minidebug_open(image, &made->mini, err))
		return false;
	if (made->mini)
		add_table(made, made->mini, ".symtab", ".strtab");
	return true;
}

bool symbols_is_signal_return(const struct symbols *symbols, uint64_t address)
{
	const struct machine *machine = machine_of(elf_image_machine(symbols->image));
	struct machine_code code = { .at = 0 };

	code.bytes = elf_image_bytes_at(symbols->image, address, &code.size);
	return machine && code.bytes && machine->is_signal_return(&code);
}

bool symbols_create(struct elf_image *image, struct elf_image *debug, struct symbols **symbols, struct error *err)
{
	static const char *const plt_names[PLT_COUNT] = { ".plt", ".plt.sec", ".plt.got" };
	struct symbols *made = calloc(1, sizeof(*made));

	if (!made)
		return error_set_memory(err);
	made->image = image;
	made->segments = elf_image_segments(image, &made->segment_count);
	for (size_t i = 0; i < PLT_COUNT; i++)
		if (elf_image_section(image, plt_names[i], &made->plt[made->plt_count]))
			made->plt_count++;
	if (!open_tables(made, debug, err) || !frame_table_create(image, FRAME_BOUNDS, &made->functions, err)) {
		symbols_destroy(made);
		return false;
	}
	*symbols = made;
	return true;
}

bool symbols_match_data(struct elf_image *image, struct elf_image *debug, const uint64_t *addresses, size_t count,
	struct symbol_hit *hits, struct error *err)
{
	struct symbols symbols = { .image = image };
	bool ok = open_tables(&symbols, debug, err);

	if (ok)
		find_nearest(&symbols, KIND_OBJECT, addresses, count, hits);
	for (size_t i = 0; ok && i < count; i++)
		if (!hits[i].name || addresses[i] - hits[i].start >= hits[i].size)
			hits[i] = (struct symbol_hit){ 0 };
	elf_image_unref(symbols.mini);
	return ok;
}

bool symbols_any(const struct symbols *symbols)
{
	return !frame_table_is_empty(symbols->functions) ||
	       (symbols->table_count > 0 && symbols->tables[0].symbols.size > 0);
}

void symbols_destroy(struct symbols *symbols)
{
	if (!symbols)
		return;
	elf_image_unref(symbols->mini);
	frame_table_destroy(symbols->functions);
	free(symbols->slots);
	free(symbols);
}

bool symbols_find_fde(const struct symbols *symbols, uint64_t address, uint64_t *start, uint64_t *end)
{
	return frame_table_find_bounds(symbols->functions, address, start, end);
}
