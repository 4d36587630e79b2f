/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/instruction.h"

#include "common/common.h"

#include <stdlib.h>
#include <string.h>

enum { SHAPE_BITS = 13, MAX_KEY_BYTES = 8 };

/* What begins with the bytes of the key has these parts. */
struct shape {
	uint64_t key;
	uint8_t key_size; /* 0: free */
	struct instruction instruction;
};

struct instruction_decoder {
	struct decoder zydis;
	struct shape shapes[1 << SHAPE_BITS]; /* the later pushes out the earlier */
};

struct instruction_decoder *instruction_decoder_create(void)
{
	struct instruction_decoder *made = calloc(1, sizeof(*made));

	if (made && decoder_init(&made->zydis))
		return made;
	free(made);
	return NULL;
}

void instruction_decoder_destroy(struct instruction_decoder *decoder)
{
	if (!decoder)
		return;
	decoder_deinit(&decoder->zydis);
	free(decoder);
}

/* ---- What Zydis says ---- */

static bool is_padding(const ZydisDecodedInstruction *in, const uint8_t *bytes)
{
	/* Two-byte `xchg %ax,%ax` is a no-operation that may be called by its other name. */
	return in->mnemonic == ZYDIS_MNEMONIC_NOP || in->mnemonic == ZYDIS_MNEMONIC_INT3 ||
	       (in->length == 2 && bytes[0] == 0x66 && bytes[1] == 0x90);
}

/* Relative to the instruction pointer (Intel SDM 2, table 2-7). */
static bool is_relative(const ZydisDecodedInstruction *in)
{
	return (in->attributes & ZYDIS_ATTRIB_HAS_MODRM) && in->raw.modrm.mod == 0 && in->raw.modrm.rm == 5;
}

/* `bits` of a part that stands at `offset`. */
static struct instruction_number number_at(const ZydisDecodedInstruction *in, uint8_t offset, uint8_t bits, bool is_signed)
{
	if (offset == 0 || offset + bits / 8 > in->length)
		return (struct instruction_number){ 0 };
	return (struct instruction_number){ offset, bits / 8, is_signed };
}

static struct instruction parts_of(const ZydisDecodedInstruction *in, const uint8_t *bytes)
{
	const ZydisDecodedInstructionRaw *raw = &in->raw;
	struct instruction parts = {
		.size = in->length,
		.opcode = in->opcode,
		.is_two_byte = in->opcode_map == ZYDIS_OPCODE_MAP_0F,
		.is_padding = is_padding(in, bytes),
		.is_jump = raw->imm[0].is_relative,
		.is_relative = is_relative(in),
		.displacement = number_at(in, raw->disp.offset, raw->disp.size, true),
	};

	for (size_t i = 0; i < sizeof(raw->imm) / sizeof(raw->imm[0]); i++)
		parts.immediates[i] = number_at(in, raw->imm[i].offset, raw->imm[i].size, raw->imm[i].is_signed);
	return parts;
}

/* How many bytes decide about the rest; 0: not known to. 3DNow! has its opcode at the end. */
static uint8_t deciding_bytes(const ZydisDecodedInstruction *in, const struct instruction *parts)
{
	if (in->opcode_map == ZYDIS_OPCODE_MAP_0F0F)
		return 0;
	if (in->attributes & ZYDIS_ATTRIB_HAS_SIB)
		return in->raw.sib.offset + 1;
	if (in->attributes & ZYDIS_ATTRIB_HAS_MODRM)
		return in->raw.modrm.offset + 1;
	if (parts->displacement.size > 0)
		return parts->displacement.offset;
	return parts->immediates[0].size > 0 ? parts->immediates[0].offset : parts->size;
}

/* ---- Shapes ---- */

static uint64_t first_bytes(uint64_t word, size_t size)
{
	return size < MAX_KEY_BYTES ? word & (((uint64_t)1 << 8 * size) - 1) : word;
}

static struct shape *place_of(struct instruction_decoder *decoder, uint64_t key, size_t key_size)
{
	return &decoder->shapes[((key ^ key_size) * 0x9e3779b97f4a7c15) >> (64 - SHAPE_BITS)];
}

static const struct instruction *find_shape(struct instruction_decoder *decoder, uint64_t word, size_t size)
{
	for (size_t key_size = 1; key_size <= MAX_KEY_BYTES && key_size <= size; key_size++) {
		uint64_t key = first_bytes(word, key_size);
		const struct shape *shape = place_of(decoder, key, key_size);

		if (shape->key_size == key_size && shape->key == key)
			return shape->instruction.size <= size ? &shape->instruction : NULL;
	}
	return NULL;
}

static void keep_shape(struct instruction_decoder *decoder, uint64_t word, uint8_t key_size, const struct instruction *instruction)
{
	uint64_t key = first_bytes(word, key_size);

	if (key_size > 0 && key_size <= MAX_KEY_BYTES)
		*place_of(decoder, key, key_size) = (struct shape){ key, key_size, *instruction };
}

bool instruction_decode(struct instruction_decoder *decoder, const uint8_t *bytes, size_t size, struct instruction *instruction)
{
	const struct instruction *known;
	ZydisDecodedInstruction decoded;
	uint64_t word = 0;

	memcpy(&word, bytes, size < sizeof(word) ? size : sizeof(word));
	known = find_shape(decoder, word, size);
	if (known) {
		*instruction = *known;
		return true;
	}
	if (!decoder_decode(&decoder->zydis, bytes, size, &decoded))
		return false;
	*instruction = parts_of(&decoded, bytes);
	keep_shape(decoder, word, deciding_bytes(&decoded, instruction), instruction);
	return true;
}

uint64_t instruction_value(const uint8_t *bytes, const struct instruction_number *number)
{
	unsigned int unused_bits = 64 - 8 * (unsigned int)number->size;
	uint64_t value = 0;

	if (number->size == 0 || number->size > sizeof(value))
		return 0;
	memcpy(&value, bytes + number->offset, number->size);
	return number->is_signed ? (uint64_t)((int64_t)(value << unused_bits) >> unused_bits) : value;
}
