/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/work_places.h"

#include <elf.h>
#include <string.h>

/* Finds the file offset of an image address; false if the file has no bytes for it. */
static bool work_places_find_offset(const struct elf_image *image, uint64_t address, uint64_t *offset)
{
	size_t count;
	const struct elf_segment *segments = elf_image_segments(image, &count);

	for (size_t i = 0; i < count; i++) {
		if (address < segments[i].address || address - segments[i].address >= segments[i].file_size)
			continue;
		return checked_add(segments[i].file_offset, address - segments[i].address, offset);
	}
	return false;
}

/* ---- Functions ---- */

static bool symbol_is(const Elf64_Sym *symbol, const struct elf_section *names, const char *name)
{
	size_t size = strlen(name) + 1;

	return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
	       checked_range(symbol->st_name, size, names->size) &&
	       memcmp(names->bytes + symbol->st_name, name, size) == 0;
}

static bool find_symbol(
	struct elf_image *image, const char *table, const char *strings, const char *name, uint64_t *address)
{
	struct elf_section symbols, names;

	if (!elf_image_section(image, table, &symbols) || !elf_image_section(image, strings, &names))
		return false;
	for (size_t at = 0; checked_range(at, sizeof(Elf64_Sym), symbols.size); at += sizeof(Elf64_Sym)) {
		Elf64_Sym symbol;

		memcpy(&symbol, symbols.bytes + at, sizeof(symbol));
		if (!symbol_is(&symbol, &names, name))
			continue;
		*address = symbol.st_value;
		return true;
	}
	return false;
}

bool work_places_of_function(struct elf_image *image, const char *function, struct work_place *place, struct error *err)
{
	uint64_t address;

	*place = (struct work_place){ 0 };
	if (!find_symbol(image, ".symtab", ".strtab", function, &address) &&
		!find_symbol(image, ".dynsym", ".dynstr", function, &address))
		return error_set(err, ERROR_NOT_FOUND,
			"%.200s has no function '%.100s': 'nm -D' and 'nm' list those that it has",
			elf_image_path(image), function);
	return work_places_find_offset(image, address, &place->offset) ||
	       error_set(err, ERROR_FORMAT, "%.200s has no code for its function '%.100s'", elf_image_path(image),
		       function);
}

/* ---- Probes ---- */

enum { NOTE_PROBE = 3, NOTE_ALIGNMENT = 4 };
static const char note_owner[] = "stapsdt";

/* Finds where the linker has put what the notes call their base: they are not relocated. */
static uint64_t find_shift(struct elf_image *image, uint64_t noted_base)
{
	struct elf_section base;

	return elf_image_section(image, ".stapsdt.base", &base) ? base.address - noted_base : 0;
}

static bool work_text_is(const char *text, const char *expected)
{
	return text && strcmp(text, expected) == 0;
}

/* True: the note is of the probe, and its place is in the file. */
static bool take_probe(struct elf_image *image, struct byte_reader note, const char *provider, const char *name,
	struct work_place *place)
{
	uint64_t address = byte_reader_u64(&note), base = byte_reader_u64(&note), semaphore = byte_reader_u64(&note);
	const char *noted_provider = byte_reader_string(&note, NULL), *noted_name = byte_reader_string(&note, NULL);
	uint64_t shift;

	if (!work_text_is(noted_provider, provider) || !work_text_is(noted_name, name))
		return false;
	shift = find_shift(image, base);
	*place = (struct work_place){ 0 };
	return work_places_find_offset(image, address + shift, &place->offset) &&
	       (semaphore == 0 || work_places_find_offset(image, semaphore + shift, &place->semaphore));
}

bool work_places_of_probe(struct elf_image *image, const char *provider, const char *name,
	struct work_place places[static WORK_MOST_PLACES], size_t *count, struct error *err)
{
	struct elf_section notes = { 0 };
	struct byte_reader r;

	*count = 0;
	if (!elf_image_section(image, ".note.stapsdt", &notes))
		notes.size = 0;
	r = byte_reader_over(notes.bytes, notes.size);
	while (byte_reader_left(&r) > 0 && byte_reader_ok(&r) && *count < WORK_MOST_PLACES) {
		uint32_t owner_size = byte_reader_u32(&r), size = byte_reader_u32(&r), type = byte_reader_u32(&r);
		const uint8_t *owner = byte_reader_bytes(&r, owner_size);
		struct byte_reader note;

		byte_reader_align(&r, NOTE_ALIGNMENT);
		note = byte_reader_split(&r, size);
		if (byte_reader_left(&r) >= NOTE_ALIGNMENT)
			byte_reader_align(&r, NOTE_ALIGNMENT);
		if (byte_reader_ok(&r) && type == NOTE_PROBE && owner_size == sizeof(note_owner) &&
			memcmp(owner, note_owner, sizeof(note_owner)) == 0)
			*count += take_probe(image, note, provider, name, &places[*count]);
	}
	return *count > 0 || error_set(err, ERROR_NOT_FOUND,
				     "%.200s has no probe '%.100s:%.100s': 'readelf -n' lists those that it has",
				     elf_image_path(image), provider, name);
}
