/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/fingerprint.h"

#include "symbolize/zydis.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* A function larger than any that people read is not worth the time. */
static const uint64_t max_code_bytes = (uint64_t)1 << 22;

struct instruction {
	uint64_t address;
	uint64_t hash;
	uint64_t target; /* of a jump; 0: none */
};

struct fingerprinter {
	const struct elf_image *image;
	struct zydis zydis;
	ZydisDecoder decoder;
	bool is_fixed; /* linked for one address */
	struct instruction *items;
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

struct fingerprinter *fingerprinter_create(const struct elf_image *image)
{
	struct fingerprinter *made;

	if (elf_image_machine(image) != EM_X86_64)
		return NULL;
	made = calloc(1, sizeof(*made));
	if (!made)
		return NULL;
	made->image = image;
	hash_map_init(&made->known, sizeof(uint64_t));
	made->is_fixed = has_fixed_addresses(image);
	if (!zydis_init(&made->zydis) ||
		ZYAN_FAILED(made->zydis.init(&made->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) {
		fingerprinter_destroy(made);
		return NULL;
	}
	return made;
}

void fingerprinter_destroy(struct fingerprinter *fingerprinter)
{
	if (!fingerprinter)
		return;
	zydis_deinit(&fingerprinter->zydis);
	hash_map_deinit(&fingerprinter->known);
	free(fingerprinter->hashes);
	free(fingerprinter->items);
	free(fingerprinter);
}

static bool is_image_address(const struct fingerprinter *f, uint64_t value)
{
	size_t count;
	const struct elf_segment *segments = elf_image_segments(f->image, &count);

	for (size_t i = 0; f->is_fixed && i < count; i++)
		if (value >= segments[i].address && value - segments[i].address < segments[i].memory_size)
			return true;
	return false;
}

static bool is_padding(const ZydisDecodedInstruction *instruction, const uint8_t *code)
{
	/* Two-byte `xchg %ax,%ax` is a no-operation that may be called by its other name. */
	return instruction->mnemonic == ZYDIS_MNEMONIC_NOP || instruction->mnemonic == ZYDIS_MNEMONIC_INT3 ||
	       (instruction->length == 2 && code[0] == 0x66 && code[1] == 0x90);
}

static bool is_in(const struct dwarf_extent *extents, size_t count, uint64_t address)
{
	for (size_t i = 0; i < count; i++)
		if (address >= extents[i].low && address < extents[i].high)
			return true;
	return false;
}

/* `bits` of a part that stands at `offset`. */
static void zero(uint8_t *bytes, const ZydisDecodedInstruction *instruction, unsigned int offset, unsigned int bits)
{
	if (offset > 0 && offset + bits / 8 <= instruction->length)
		memset(bytes + offset, 0, bits / 8);
}

/* Relative to the instruction pointer (Intel SDM 2, table 2-7). */
static bool is_relative(const ZydisDecodedInstruction *instruction)
{
	return (instruction->attributes & ZYDIS_ATTRIB_HAS_MODRM) && instruction->raw.modrm.mod == 0 &&
	       instruction->raw.modrm.rm == 5;
}

/* The bytes with what depends on the place set to zero. */
static uint64_t hash_masked(const struct fingerprinter *f, const ZydisDecodedInstruction *instruction, const uint8_t *code)
{
	const ZydisDecodedInstructionRaw *raw = &instruction->raw;
	uint8_t bytes[ZYDIS_MAX_INSTRUCTION_LENGTH];

	memcpy(bytes, code, instruction->length);
	if (raw->disp.size > 0 && (is_relative(instruction) || is_image_address(f, (uint64_t)raw->disp.value)))
		zero(bytes, instruction, raw->disp.offset, raw->disp.size);
	for (size_t i = 0; i < sizeof(raw->imm) / sizeof(raw->imm[0]); i++)
		if (raw->imm[i].size > 0 && is_image_address(f, raw->imm[i].value.u))
			zero(bytes, instruction, raw->imm[i].offset, raw->imm[i].size);
	return hash_bytes(bytes, instruction->length);
}

/*
 * Jumps and calls with a fixed target come in a short and a long form: what they do counts, not how it is written. By the opcode of
 * the short form.
 */
static uint64_t hash_jump(const ZydisDecodedInstruction *instruction)
{
	enum { JUMP_SHORT = 0xeb, JUMP_NEAR = 0xe9, CONDITIONAL_SHORT = 0x70 };
	uint64_t kind = instruction->opcode;

	if (instruction->opcode_map == ZYDIS_OPCODE_MAP_0F)
		kind = CONDITIONAL_SHORT | (kind & 0xf);
	else if (kind == JUMP_NEAR)
		kind = JUMP_SHORT;
	return hash_bytes(&kind, sizeof(kind));
}

/* What is to be hashed and where. */
struct code {
	const struct dwarf_extent *extents;
	size_t extent_count;
	const uint8_t *bytes;
	size_t size; /* up to the end of the extent at hand */
	uint64_t address;
};

static bool add_instruction(struct fingerprinter *f, const struct code *code, const ZydisDecodedInstruction *instruction)
{
	struct instruction added = { .address = code->address };
	struct error err;

	if (!ARRAY_RESERVE(&f->items, &f->capacity, f->count + 1, max_code_bytes, &err))
		return false;
	if (instruction->raw.imm[0].is_relative) {
		uint64_t target = code->address + instruction->length + (uint64_t)instruction->raw.imm[0].value.s;

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
		ZydisDecodedInstruction instruction;

		if (ZYAN_FAILED(f->zydis.decode(&f->decoder, NULL, code->bytes, code->size, &instruction)))
			return false;
		if (!is_padding(&instruction, code->bytes) && !add_instruction(f, code, &instruction))
			return false;
		code->bytes += instruction.length;
		code->size -= instruction.length;
		code->address += instruction.length;
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
		if (!code.bytes || size < code.size || code.size > max_code_bytes || !disassemble_extent(f, &code))
			return false;
	}
	return f->count > 0;
}

/* Which instruction of the function a jump leads to; padding before it belongs to it. Extents may stand in any order. */
static uint64_t index_of(const struct fingerprinter *f, uint64_t target)
{
	uint64_t best = f->count;

	for (size_t low = 0, high = f->count; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (f->items[middle].address >= target) {
			best = middle;
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	return best;
}

static int compare_extents(const void *left, const void *right)
{
	const struct dwarf_extent *a = left, *b = right;

	return a->low < b->low ? -1 : a->low > b->low;
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
		uint64_t mixed[3] = { hash, f->items[i].hash, f->items[i].target ? 1 + index_of(f, f->items[i].target) : 0 };

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
