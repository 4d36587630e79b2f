/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Describes what the dynamic section leads to as sections (gABI, "Dynamic Section"): a file without section headers
 * (sstrip, strip --strip-section-headers, packers) still tells the loader its symbols and relocations. How many symbols
 * there are is known only from their hash table (gABI, "Hash Table"; for DT_GNU_HASH its description by its author,
 * https://sourceware.org/legacy-ml/binutils/2006-10/msg00377.html).
 */
#include "binary/elf/image.h"

#include <elf.h>
#include <stdlib.h>

/* Entries of a dynamic section that are looked at; linkers write some thirty, and one for each library. */
enum { MAX_ENTRIES = 4096, SECTIONS = 4, HASH_HEADER_BYTES = 16 };

/* Image addresses and sizes in bytes; 0: not told. */
struct dynamic {
	uint64_t symbols, strings, string_bytes, hash, gnu_hash;
	uint64_t relocations, relocation_bytes, plt_relocations, plt_bytes, plt_kind;
};

static void dynamic_take_entry(struct dynamic *dynamic, uint64_t tag, uint64_t value)
{
	switch (tag) {
	case DT_SYMTAB:
		dynamic->symbols = value;
		break;
	case DT_STRTAB:
		dynamic->strings = value;
		break;
	case DT_STRSZ:
		dynamic->string_bytes = value;
		break;
	case DT_HASH:
		dynamic->hash = value;
		break;
	case DT_GNU_HASH:
		dynamic->gnu_hash = value;
		break;
	case DT_RELA:
		dynamic->relocations = value;
		break;
	case DT_RELASZ:
		dynamic->relocation_bytes = value;
		break;
	case DT_JMPREL:
		dynamic->plt_relocations = value;
		break;
	case DT_PLTRELSZ:
		dynamic->plt_bytes = value;
		break;
	case DT_PLTREL:
		dynamic->plt_kind = value;
		break;
	default:
		break;
	}
}

static void dynamic_read_entries(const struct elf_image *image, struct dynamic *dynamic)
{
	size_t word = image->is_64bit ? 8 : 4;

	for (uint64_t i = 0; i < MAX_ENTRIES && (i + 1) * 2 * word <= image->dynamic_size; i++) {
		uint8_t bytes[2 * sizeof(uint64_t)];
		struct byte_reader r = byte_reader_over(bytes, 2 * word);
		uint64_t tag;

		if (!elf_image_read(image, image->dynamic_offset + i * 2 * word, bytes, 2 * word))
			return;
		tag = byte_reader_uint(&r, word);
		if (tag == DT_NULL)
			return;
		dynamic_take_entry(dynamic, tag, byte_reader_uint(&r, word));
	}
}

/* Reads a word of 4 bytes of a table of so many bytes; false if it is not in the table. */
static bool dynamic_read_word(
	const struct elf_image *image, uint64_t offset, uint64_t room, uint64_t at, uint32_t *word)
{
	return checked_range(at, sizeof(*word), room) && elf_image_read(image, offset + at, word, sizeof(*word));
}

/* Finds the highest symbol in whose chain a bucket begins; 0: there is none. */
static bool find_last_bucket(const struct elf_image *image, uint64_t offset, uint64_t room, uint32_t count,
	uint32_t *last, struct error *err)
{
	CLEANUP(cleanup_free) uint32_t *buckets = NULL;
	uint64_t size = (uint64_t)count * sizeof(*buckets);

	*last = 0;
	if (size > room || size > elf_image_most_bytes(image))
		return true;
	buckets = malloc(size ? size : 1);
	if (!buckets)
		return error_set_memory(err);
	if (!elf_image_read(image, offset, buckets, size))
		return true;
	for (uint32_t i = 0; i < count; i++)
		*last = buckets[i] > *last ? buckets[i] : *last;
	return true;
}

/*
 * Counts the symbols up to the end of the chain that symbol `last` is in: its last one has the lowest bit of its hash
 * set. 0: the chain does not end in the table. `chains` holds the hashes from symbol `first` on.
 */
static uint64_t count_to_chain_end(
	const struct elf_image *image, uint64_t chains, uint64_t room, uint32_t first, uint32_t last)
{
	enum { AT_ONCE = 1024 };
	uint64_t limit = elf_image_most_bytes(image), at = (uint64_t)(last - first) * sizeof(uint32_t);
	uint32_t hashes[AT_ONCE];

	for (room = room < limit ? room : limit; at < room; at += sizeof(hashes)) {
		size_t size = room - at < sizeof(hashes) ? room - at : sizeof(hashes);

		if (!elf_image_read(image, chains + at, hashes, size))
			return 0;
		for (size_t i = 0; i < size / sizeof(*hashes); i++)
			if (hashes[i] & 1)
				return first + at / sizeof(*hashes) + i + 1;
	}
	return 0;
}

/* Symbols are in the order of their buckets. */
static bool count_by_gnu_hash(const struct elf_image *image, uint64_t address, uint64_t *count, struct error *err)
{
	uint64_t offset, room, buckets, chains;
	uint32_t bucket_count, first, bloom_words, last;

	*count = 0;
	if (address == 0 || !elf_image_find_bytes(image, address, &offset, &room) ||
		!dynamic_read_word(image, offset, room, 0, &bucket_count) ||
		!dynamic_read_word(image, offset, room, 4, &first) ||
		!dynamic_read_word(image, offset, room, 8, &bloom_words))
		return true;
	buckets = HASH_HEADER_BYTES + (uint64_t)bloom_words * (image->is_64bit ? 8 : 4);
	chains = buckets + (uint64_t)bucket_count * sizeof(uint32_t);
	if (chains > room)
		return true;
	if (!find_last_bucket(image, offset + buckets, room - buckets, bucket_count, &last, err))
		return false;
	*count = last < first ? first : count_to_chain_end(image, offset + chains, room - chains, first, last);
	return true;
}

/* Counts the symbols, by either kind of hash table. */
static bool count_symbols(
	const struct elf_image *image, const struct dynamic *dynamic, uint64_t *count, struct error *err)
{
	uint64_t offset, room;
	uint32_t chains;

	if (dynamic->hash == 0 || !elf_image_find_bytes(image, dynamic->hash, &offset, &room) ||
		!dynamic_read_word(image, offset, room, 4, &chains))
		return count_by_gnu_hash(image, dynamic->gnu_hash, count, err);
	*count = chains;
	return true;
}

/* Adds a section, if the file has all of it. */
static void add_section(
	struct elf_image *image, const char *name, uint32_t type, uint64_t address, uint64_t size, uint64_t entry_size)
{
	uint64_t offset, room;

	if (address == 0 || size == 0 || !elf_image_find_bytes(image, address, &offset, &room) || size > room)
		return;
	image->sections[image->section_count++] = (struct elf_section_header){
		.name = name,
		.type = type,
		.flags = SHF_ALLOC,
		.address = address,
		.offset = offset,
		.size = size,
		.entry_size = entry_size,
	};
}

bool elf_image_take_dynamic(struct elf_image *image, struct error *err)
{
	size_t symbol_bytes = image->is_64bit ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	size_t relocation_bytes = image->is_64bit ? sizeof(Elf64_Rela) : sizeof(Elf32_Rela);
	struct dynamic dynamic = { 0 };
	uint64_t symbols, bytes;

	if (image->section_count > 0 || image->dynamic_size == 0)
		return true;
	dynamic_read_entries(image, &dynamic);
	if (!count_symbols(image, &dynamic, &symbols, err))
		return false;
	free(image->sections);
	image->sections = calloc(SECTIONS, sizeof(*image->sections));
	if (!image->sections)
		return error_set_memory(err);
	if (checked_mul(symbols, symbol_bytes, &bytes))
		add_section(image, ".dynsym", SHT_DYNSYM, dynamic.symbols, bytes, symbol_bytes);
	add_section(image, ".dynstr", SHT_STRTAB, dynamic.strings, dynamic.string_bytes, 0);
	add_section(image, ".rela.dyn", SHT_RELA, dynamic.relocations, dynamic.relocation_bytes, relocation_bytes);
	if (dynamic.plt_kind == DT_RELA)
		add_section(image, ".rela.plt", SHT_RELA, dynamic.plt_relocations, dynamic.plt_bytes, relocation_bytes);
	return true;
}
