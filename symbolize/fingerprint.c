/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/fingerprint.h"

#include "binary/binary.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* Larger functions are not hashed, to save time. */
static const uint64_t max_code_bytes = (uint64_t)1 << 22;

struct hashed_instruction {
	uint64_t address;
	uint64_t hash;
	uint64_t target; /* of a jump; 0: none */
};

struct fingerprinter {
	const struct elf_image *image;
	const struct machine *machine;
	struct machine_decoder *decoder;
	bool is_fixed; /* linked for one address */
	uint64_t left; /* bytes of code that may still be read */
	struct hashed_instruction *items;
	size_t count, capacity;
	struct hash_map known; /* low address -> index of `hashes` */
	uint64_t *hashes;
	size_t hash_count, hash_capacity;
};

static bool has_fixed_addresses(const struct elf_image *image)
{
	size_t count;
	const struct elf_segment *segments = elf_image_segments(image, &count);

	return count > 0 && segments[0].address != 0;
}

/*
 * Functions are disjoint, but for identical ones that the linker folded; only a hostile table has thousands that
 * overlap, each of which would be disassembled. Where several share code, this many times all code is read.
 */
enum { MAX_READS = 4 };

static uint64_t code_to_read(const struct elf_image *image)
{
	size_t count, file_size;
	const struct elf_segment *segments = elf_image_segments(image, &count);
	uint64_t bytes = 0;

	elf_image_bytes(image, &file_size);
	for (size_t i = 0; i < count; i++)
		if ((segments[i].flags & PF_X) && !checked_add(bytes, segments[i].file_size, &bytes))
			return MAX_READS * file_size;
	return MAX_READS * (bytes < file_size ? bytes : file_size);
}

struct fingerprinter *fingerprinter_create(const struct elf_image *image)
{
	const struct machine *machine = machine_of(elf_image_machine(image));
	struct fingerprinter *made;

	if (!machine)
		return NULL;
	made = calloc(1, sizeof(*made));
	if (!made)
		return NULL;
	made->image = image;
	hash_map_init(&made->known, sizeof(uint64_t));
	made->is_fixed = has_fixed_addresses(image);
	made->left = code_to_read(image);
	made->machine = machine;
	made->decoder = machine_decoder_create(machine);
	if (!made->decoder) {
		fingerprinter_destroy(made);
		return NULL;
	}
	return made;
}

void fingerprinter_destroy(struct fingerprinter *fingerprinter)
{
	if (!fingerprinter)
		return;
	machine_decoder_destroy(fingerprinter->decoder);
	hash_map_deinit(&fingerprinter->known);
	free(fingerprinter->hashes);
	free(fingerprinter->items);
	free(fingerprinter);
}

static bool is_image_address(const struct fingerprinter *f, uint64_t value)
{
	size_t count;
	const struct elf_segment *segments = elf_image_segments(f->image, &count);

	for (size_t i = 0; i < count; i++)
		if (value >= segments[i].address && value - segments[i].address < segments[i].memory_size)
			return true;
	return false;
}

static bool is_in(const struct dwarf_extent *extents, size_t count, uint64_t address)
{
	for (size_t i = 0; i < count; i++)
		if (address >= extents[i].low && address < extents[i].high)
			return true;
	return false;
}

static void zero(uint8_t *bytes, const struct machine_number *number)
{
	memset(bytes + number->offset, 0, number->size);
}

/* Sets addresses to zero. In an image with fixed addresses any number in the image's range may be one. */
static void zero_addresses(
	const struct fingerprinter *f, const struct machine_fields *instruction, const uint8_t *code, uint8_t *bytes)
{
	if (is_image_address(f, machine_number_value(code, &instruction->displacement)))
		zero(bytes, &instruction->displacement);
	for (size_t i = 0; i < sizeof(instruction->immediates) / sizeof(instruction->immediates[0]); i++)
		if (is_image_address(f, machine_number_value(code, &instruction->immediates[i])))
			zero(bytes, &instruction->immediates[i]);
}

/* Hashes the bytes with everything that depends on the place set to zero. */
static uint64_t hash_masked(
	const struct fingerprinter *f, const struct machine_fields *instruction, const uint8_t *code)
{
	uint8_t bytes[MACHINE_MAX_INSTRUCTION_BYTES];

	memcpy(bytes, code, instruction->size);
	if (f->is_fixed)
		zero_addresses(f, instruction, code, bytes);
	if (instruction->is_relative)
		zero(bytes, &instruction->displacement);
	return hash_bytes(bytes, instruction->size);
}

/* Hashes what a jump does, rather than its encoding. */
static uint64_t hash_jump(const struct machine_fields *instruction)
{
	uint64_t kind = instruction->jump;

	return hash_bytes(&kind, sizeof(kind));
}

/* The code to hash, and the position in it. */
struct code {
	const struct dwarf_extent *extents;
	size_t extent_count;
	const uint8_t *bytes;
	size_t size; /* end of the present extent */
	uint64_t address;
};

static bool fingerprint_add_instruction(
	struct fingerprinter *f, const struct code *code, const struct machine_fields *instruction)
{
	struct hashed_instruction added = { .address = code->address };
	struct error err;

	if (!ARRAY_RESERVE(&f->items, &f->capacity, f->count + 1, max_code_bytes, &err))
		return false;
	if (instruction->jump) {
		uint64_t target =
			code->address + instruction->size + machine_number_value(code->bytes, &instruction->target);

		added.hash = hash_jump(instruction);
		added.target = is_in(code->extents, code->extent_count, target) ? target : 0;
	} else {
		added.hash = hash_masked(f, instruction, code->bytes);
	}
	f->items[f->count++] = added;
	return true;
}

static bool disassemble_extent(struct fingerprinter *f, struct code *code)
{
	while (code->size > 0) {
		struct machine_fields instruction;

		if (!f->machine->find_fields(f->decoder, code->bytes, code->size, &instruction))
			return false;
		if (!instruction.is_padding && !fingerprint_add_instruction(f, code, &instruction))
			return false;
		code->bytes += instruction.size;
		code->size -= instruction.size;
		code->address += instruction.size;
	}
	return true;
}

static bool disassemble(struct fingerprinter *f, const struct dwarf_extent *extents, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct code code = { .extents = extents, .extent_count = count, .address = extents[i].low };
		size_t size;

		code.bytes = elf_image_bytes_at(f->image, extents[i].low, &size);
		code.size = extents[i].high - extents[i].low;
		if (!code.bytes || size < code.size || code.size > max_code_bytes || code.size > f->left)
			return false;
		f->left -= code.size;
		if (!disassemble_extent(f, &code))
			return false;
	}
	return f->count > 0;
}

/*
 * The index of the function's instruction that a jump leads to, or to whose padding it leads. Extents may be in any
 * order.
 */
static uint64_t index_of(const struct fingerprinter *f, uint64_t target)
{
	return BISECT(f->count, i, f->items[i].address < target);
}

static int compare_extents(const void *left, const void *right)
{
	const struct dwarf_extent *a = left, *b = right;

	return ORDER(a->low, b->low);
}

enum { MAX_EXTENTS = 64 };

static uint64_t hash_code(struct fingerprinter *f, const struct dwarf_extent *extents, size_t count)
{
	struct dwarf_extent sorted[MAX_EXTENTS];
	uint64_t hash = 0;

	if (count == 0 || count > MAX_EXTENTS)
		return 0;
	memcpy(sorted, extents, count * sizeof(*extents));
	qsort(sorted, count, sizeof(*sorted), compare_extents);
	f->count = 0;
	if (!disassemble(f, sorted, count))
		return 0;
	for (size_t i = 0; i < f->count; i++) {
		uint64_t mixed[3] = { hash, f->items[i].hash,
			f->items[i].target ? 1 + index_of(f, f->items[i].target) : 0 };

		hash = hash_bytes(mixed, sizeof(mixed));
	}
	return hash ? hash : 1;
}

uint64_t fingerprint_code(struct fingerprinter *f, const struct dwarf_extent *extents, size_t count)
{
	uint32_t *index;
	struct error ignored;
	bool added;

	if (count == 0 || !hash_map_add(&f->known, &extents[0].low, (uint32_t)f->hash_count, &index, &added, &ignored))
		return 0;
	if (!added)
		return *index < f->hash_count ? f->hashes[*index] : 0;
	if (!ARRAY_RESERVE(&f->hashes, &f->hash_capacity, f->hash_count + 1, ARRAY_MAX_IDS, &ignored))
		return 0;
	f->hashes[f->hash_count] = hash_code(f, extents, count);
	return f->hashes[f->hash_count++];
}
