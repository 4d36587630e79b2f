/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/epilogue.h"

/* Instructions and their encodings: Intel 64 manual, volume 2 (ADD, LEAVE, POP, RET). */
enum {
	REX_W = 0x48,
	REX_B = 0x41,
	ADD_IMM8 = 0x83,
	ADD_IMM32 = 0x81,
	TO_RSP = 0xc4,
	POP_FIRST = 0x58,
	POP_LAST = 0x5f,
	LEAVE = 0xc9,
	RET = 0xc3,
	WORD_BYTES = 8,
	MOST_POPS = 15,
	MOST_ROOM_BYTES = 1 << 20,
};

/* Bytes of room that are given up first; 0 when the code does not begin with that. */
static int32_t read_room(struct byte_reader *r)
{
	struct byte_reader ahead = *r;
	int32_t room = 0;
	uint8_t opcode;

	if (byte_reader_u8(&ahead) != REX_W)
		return 0;
	opcode = byte_reader_u8(&ahead);
	if (byte_reader_u8(&ahead) != TO_RSP)
		return 0;
	if (opcode == ADD_IMM8)
		room = (int8_t)byte_reader_u8(&ahead);
	else if (opcode == ADD_IMM32)
		room = (int32_t)byte_reader_u32(&ahead);
	if (!byte_reader_ok(&ahead) || room <= 0 || room > MOST_ROOM_BYTES || room % WORD_BYTES != 0)
		return 0;
	*r = ahead;
	return room;
}

/* DWARF's numbers (System V ABI x86-64, figure 3.36) of the registers in the order of their encoding. */
static bool read_pop(struct byte_reader *r, uint8_t *number)
{
	static const uint8_t numbers[] = { 0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 };
	struct byte_reader ahead = *r;
	uint8_t byte = byte_reader_u8(&ahead), high = 0;

	if (byte == REX_B) {
		high = 8;
		byte = byte_reader_u8(&ahead);
	}
	if (!byte_reader_ok(&ahead) || byte < POP_FIRST || byte > POP_LAST)
		return false;
	*number = numbers[high + byte - POP_FIRST];
	*r = ahead;
	return true;
}

static void save(struct rules_pushes *pushes, uint8_t number, int32_t words_below)
{
	for (int i = 0; i < RULES_SAVED; i++)
		if (rules_saved_registers[i] == number)
			pushes->saved[i] = (uint8_t)words_below;
}

bool epilogue_rule(const uint8_t *bytes, size_t byte_count, struct rules_pushes *pushes)
{
	struct byte_reader r = byte_reader_over(bytes, byte_count);
	struct rules_pushes made = { .cfa_register = CFI_RSP };
	uint8_t popped[MOST_POPS];
	int32_t count = 0;

	if (byte_count >= 2 && bytes[0] == LEAVE && bytes[1] == RET) {
		made.cfa_register = CFI_RBP;
		made.cfa_offset = 2 * WORD_BYTES;
		save(&made, CFI_RBP, 2);
		*pushes = made;
		return true;
	}
	made.cfa_offset = read_room(&r);
	while (count < MOST_POPS && read_pop(&r, &popped[count]))
		count++;
	if (byte_reader_u8(&r) != RET || !byte_reader_ok(&r))
		return false;
	made.cfa_offset += (count + 1) * WORD_BYTES;
	/* The last pop lies right below the return address. */
	for (int32_t i = 0; i < count; i++)
		save(&made, popped[i], count - i + 1);
	*pushes = made;
	return true;
}
