/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the fields of instructions. Zydis is asked once for each shape of instructions: what follows prefixes, opcode,
 * ModRM and SIB decides nothing any more (Intel 64 manual, volume 2, 2.1), so that whatever begins with the same bytes
 * has the same fields. Of a large program's instructions nine in ten are of a shape that is known, which takes a tenth
 * of the time.
 */
#include "binary/machine/x86_64_decoder.h"

#include <stdlib.h>
#include <string.h>

enum { SHAPE_BITS = 13, MAX_KEY_BYTES = 8 };

/* The fields of all instructions that begin with the bytes of the key. */
struct x86_64_shape {
	uint64_t key;
	uint8_t key_size; /* 0: free */
	struct machine_fields fields;
};

/* ---- What Zydis says ---- */

static bool x86_64_fields_is_padding(const ZydisDecodedInstruction *in, const uint8_t *bytes)
{
	/* Two-byte `xchg %ax,%ax` is a no-operation that may be called by its other name. */
	return in->mnemonic == ZYDIS_MNEMONIC_NOP || in->mnemonic == ZYDIS_MNEMONIC_INT3 ||
	       (in->length == 2 && bytes[0] == 0x66 && bytes[1] == 0x90);
}

/* `bits` of a field that stands at `offset`. */
static struct machine_number x86_64_fields_number_at(
	const ZydisDecodedInstruction *in, uint8_t offset, uint8_t bits, bool is_signed)
{
	if (offset == 0 || offset + bits / 8 > in->length)
		return (struct machine_number){ 0 };
	return (struct machine_number){ offset, bits / 8, is_signed };
}

/* Jumps and calls with a fixed target come in a short and a long form: by the opcode of the short form. */
static uint8_t jump_of(const ZydisDecodedInstruction *in)
{
	enum { JUMP_SHORT = 0xeb, JUMP_NEAR = 0xe9, CONDITIONAL_SHORT = 0x70 };

	if (!in->raw.imm[0].is_relative)
		return 0;
	if (in->opcode_map == ZYDIS_OPCODE_MAP_0F)
		return CONDITIONAL_SHORT | (in->opcode & 0xf);
	return in->opcode == JUMP_NEAR ? JUMP_SHORT : in->opcode;
}

static struct machine_fields fields_of(const ZydisDecodedInstruction *in, const uint8_t *bytes)
{
	const ZydisDecodedInstructionRaw *raw = &in->raw;
	struct machine_fields fields = {
		.size = in->length,
		.jump = jump_of(in),
		.is_padding = x86_64_fields_is_padding(in, bytes),
		.is_relative = x86_64_is_relative(in),
		.displacement = x86_64_fields_number_at(in, raw->disp.offset, raw->disp.size, true),
	};

	for (size_t i = 0; i < sizeof(raw->imm) / sizeof(raw->imm[0]); i++)
		fields.immediates[i] =
			x86_64_fields_number_at(in, raw->imm[i].offset, raw->imm[i].size, raw->imm[i].is_signed);
	if (fields.jump)
		fields.target = fields.immediates[0];
	return fields;
}

/* Returns how many bytes decide about the rest; 0: not known to. 3DNow! has its opcode at the end. */
static uint8_t deciding_bytes(const ZydisDecodedInstruction *in, const struct machine_fields *fields)
{
	if (in->opcode_map == ZYDIS_OPCODE_MAP_0F0F)
		return 0;
	if (in->attributes & ZYDIS_ATTRIB_HAS_SIB)
		return in->raw.sib.offset + 1;
	if (in->attributes & ZYDIS_ATTRIB_HAS_MODRM)
		return in->raw.modrm.offset + 1;
	if (fields->displacement.size > 0)
		return fields->displacement.offset;
	return fields->immediates[0].size > 0 ? fields->immediates[0].offset : fields->size;
}

/* ---- Shapes ---- */

static uint64_t first_bytes(uint64_t word, size_t size)
{
	return size < MAX_KEY_BYTES ? word & (((uint64_t)1 << 8 * size) - 1) : word;
}

/* The later shape pushes out the earlier. */
static struct x86_64_shape *x86_64_fields_place_of(struct x86_64_shape *shapes, uint64_t key, size_t key_size)
{
	return &shapes[((key ^ key_size) * 0x9e3779b97f4a7c15) >> (64 - SHAPE_BITS)];
}

static const struct machine_fields *find_shape(struct x86_64_shape *shapes, uint64_t word, size_t size)
{
	for (size_t key_size = 1; key_size <= MAX_KEY_BYTES && key_size <= size; key_size++) {
		uint64_t key = first_bytes(word, key_size);
		const struct x86_64_shape *shape = x86_64_fields_place_of(shapes, key, key_size);

		if (shape->key_size == key_size && shape->key == key)
			return shape->fields.size <= size ? &shape->fields : NULL;
	}
	return NULL;
}

static void keep_shape(
	struct x86_64_shape *shapes, uint64_t word, uint8_t key_size, const struct machine_fields *fields)
{
	uint64_t key = first_bytes(word, key_size);

	if (key_size > 0 && key_size <= MAX_KEY_BYTES)
		*x86_64_fields_place_of(shapes, key, key_size) = (struct x86_64_shape){ key, key_size, *fields };
}

bool x86_64_find_fields(
	struct machine_decoder *decoder, const uint8_t *bytes, size_t size, struct machine_fields *fields)
{
	struct x86_64_decoder *x86_64 = (struct x86_64_decoder *)decoder;
	const struct machine_fields *known;
	ZydisDecodedInstruction decoded;
	uint64_t word = 0;

	/* Without memory for shapes, each instruction is decoded. */
	if (!x86_64->shapes)
		x86_64->shapes = calloc((size_t)1 << SHAPE_BITS, sizeof(*x86_64->shapes));
	memcpy(&word, bytes, size < sizeof(word) ? size : sizeof(word));
	known = x86_64->shapes ? find_shape(x86_64->shapes, word, size) : NULL;
	if (known) {
		*fields = *known;
		return true;
	}
	if (!x86_64_decode(decoder, bytes, size, &decoded))
		return false;
	*fields = fields_of(&decoded, bytes);
	if (x86_64->shapes)
		keep_shape(x86_64->shapes, word, deciding_bytes(&decoded, fields), fields);
	return true;
}
