/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/fingerprint.h"

#include "symbolize/capstone.h"

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
	struct capstone capstone;
	csh handle;
	cs_insn *insn;
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
	if (!capstone_init(&made->capstone) || made->capstone.open(CS_ARCH_X86, CS_MODE_64, &made->handle) != CS_ERR_OK) {
		capstone_deinit(&made->capstone);
		free(made);
		return NULL;
	}
	made->capstone.option(made->handle, CS_OPT_DETAIL, CS_OPT_ON);
	made->insn = made->capstone.new_insn(made->handle);
	if (!made->insn) {
		fingerprinter_destroy(made);
		return NULL;
	}
	return made;
}

void fingerprinter_destroy(struct fingerprinter *fingerprinter)
{
	if (!fingerprinter)
		return;
	if (fingerprinter->insn)
		fingerprinter->capstone.free_insn(fingerprinter->insn, 1);
	fingerprinter->capstone.close(&fingerprinter->handle);
	capstone_deinit(&fingerprinter->capstone);
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

static bool is_padding(const cs_insn *insn)
{
	/* Two-byte `xchg %ax,%ax` is a no-operation that capstone calls by its other name. */
	return insn->id == X86_INS_NOP || insn->id == X86_INS_INT3 ||
	       (insn->id == X86_INS_XCHG && insn->size == 2 && insn->bytes[0] == 0x66 && insn->bytes[1] == 0x90);
}

static bool is_in(const struct dwarf_extent *extents, size_t count, uint64_t address)
{
	for (size_t i = 0; i < count; i++)
		if (address >= extents[i].low && address < extents[i].high)
			return true;
	return false;
}

static void zero(uint8_t *bytes, const cs_insn *insn, unsigned int offset, unsigned int size)
{
	if (offset > 0 && offset + size <= insn->size)
		memset(bytes + offset, 0, size);
}

/* Capstone says 2 where a prefix of 0x66 belongs to the operation (movdqa): addresses have 4 bytes, and 8 in moves of their own. */
static unsigned int displacement_size(const cs_x86 *x86)
{
	return x86->encoding.disp_size == 8 ? 8 : 4;
}

/* The bytes with what depends on the place set to zero. */
static uint64_t hash_masked(const struct fingerprinter *f, const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;
	uint8_t bytes[sizeof(insn->bytes)];

	memcpy(bytes, insn->bytes, insn->size);
	for (uint8_t i = 0; i < x86->op_count; i++) {
		const cs_x86_op *op = &x86->operands[i];

		if (op->type == X86_OP_MEM && (op->mem.base == X86_REG_RIP || is_image_address(f, (uint64_t)op->mem.disp)))
			zero(bytes, insn, x86->encoding.disp_offset, displacement_size(x86));
		if (op->type == X86_OP_IMM && is_image_address(f, (uint64_t)op->imm))
			zero(bytes, insn, x86->encoding.imm_offset, x86->encoding.imm_size);
	}
	return hash_bytes(bytes, insn->size);
}

/* Jumps and calls with a fixed target come in a short and a long form: what they do counts, not how it is written. */
static bool has_target(const struct fingerprinter *f, const cs_insn *insn, uint64_t *target)
{
	const cs_x86 *x86 = &insn->detail->x86;

	if (!f->capstone.is_in_group(f->handle, insn, CS_GRP_BRANCH_RELATIVE) || x86->op_count != 1 ||
		x86->operands[0].type != X86_OP_IMM)
		return false;
	*target = (uint64_t)x86->operands[0].imm;
	return true;
}

static bool add_instruction(struct fingerprinter *f, const struct dwarf_extent *extents, size_t extent_count)
{
	struct instruction added = { .address = f->insn->address };
	uint64_t target;
	struct error err;

	if (!ARRAY_RESERVE(&f->items, &f->capacity, f->count + 1, max_code_bytes, &err))
		return false;
	if (has_target(f, f->insn, &target)) {
		uint64_t kind = f->insn->id;

		added.hash = hash_bytes(&kind, sizeof(kind));
		added.target = is_in(extents, extent_count, target) ? target : 0;
	} else {
		added.hash = hash_masked(f, f->insn);
	}
	f->items[f->count++] = added;
	return true;
}

static bool disassemble(struct fingerprinter *f, const struct dwarf_extent *extents, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t size;
		const uint8_t *code = elf_image_bytes_at(f->image, extents[i].low, &size);
		uint64_t address = extents[i].low;

		if (!code || size < extents[i].high - extents[i].low || extents[i].high - extents[i].low > max_code_bytes)
			return false;
		size = extents[i].high - extents[i].low;
		while (size > 0) {
			if (!f->capstone.next(f->handle, &code, &size, &address, f->insn))
				return false;
			if (!is_padding(f->insn) && !add_instruction(f, extents, count))
				return false;
		}
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
