/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binary/machine/x86_64_decoder.h"

#include <asm/perf_regs.h>
#include <elf.h>
#include <string.h>

/* ---- What code alone tells of an address ---- */

enum { NEAR_BYTES = 5 }; /* of a jump or call with a distance of four bytes */

#define BEGINS_WITH(code, ...)                                                                                         \
	x86_64_begins_with(code, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static bool x86_64_begins_with(const struct machine_code *code, const uint8_t *expected, size_t size)
{
	return code->bytes && checked_range(code->at, size, code->size) &&
	       memcmp(code->bytes + code->at, expected, size) == 0;
}

/* `mov $15, %rax; syscall`, in both encodings. */
static bool is_signal_return(const struct machine_code *code)
{
	return BEGINS_WITH(code, 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05) ||
	       BEGINS_WITH(code, 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05);
}

/* `mov %rbx, %rsp; mov (%rsp), %rdi` */
static bool is_context_start(const struct machine_code *code)
{
	return BEGINS_WITH(code, 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24);
}

static bool has_before(const struct machine_code *code, size_t distance, uint8_t mask, uint8_t value)
{
	return code->bytes && code->at >= distance && code->at <= code->size &&
	       (code->bytes[code->at - distance] & mask) == value;
}

static int32_t read_i32(const uint8_t *bytes)
{
	int32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static bool is_behind_system_call(const struct machine_code *code)
{
	return has_before(code, 2, UINT8_MAX, 0x0f) && has_before(code, 1, UINT8_MAX, 0x05);
}

/* Recognises an indirect call by its ModR/M byte, one of that, a SIB byte and a displacement. */
static bool is_behind_indirect_call(const struct machine_code *code)
{
	enum { GROUP_5 = 0xff, CALL_OF_GROUP = 2 << 3, REG_MASK = 7 << 3 };
	static const uint8_t lengths[] = { 2, 3, 4, 6, 7 };

	for (size_t i = 0; i < sizeof(lengths); i++)
		if (has_before(code, lengths[i], UINT8_MAX, GROUP_5) &&
			has_before(code, lengths[i] - 1u, REG_MASK, CALL_OF_GROUP))
			return true;
	return false;
}

static bool is_behind_direct_call(const struct machine_code *code)
{
	enum { CALL_NEAR = 0xe8 };

	return has_before(code, NEAR_BYTES, UINT8_MAX, CALL_NEAR);
}

static bool is_behind_call(const struct machine_code *code)
{
	return is_behind_direct_call(code) || is_behind_indirect_call(code);
}

/*
 * exit(main()), pthread_exit(start()) and that of a C11 thread: a call by a pointer, then `mov %eax, %edi`, `mov %rax,
 * %rdi` or `movslq %eax, %rdi`, then a call.
 */
static bool is_last_return(const struct machine_code *code)
{
	return is_behind_indirect_call(code) &&
	       (BEGINS_WITH(code, 0x89, 0xc7, 0xe8) || BEGINS_WITH(code, 0x48, 0x89, 0xc7, 0xe8) ||
		       BEGINS_WITH(code, 0x48, 0x63, 0xf8, 0xe8));
}

/*
 * A call by a pointer, then exit(2): `mov %eax, %edi; xor %eax, %eax; mov $60, %al; syscall` in musl's __clone, and
 * with a fixed code as Go's runtime.clone has it.
 */
static bool is_thread_start(const struct machine_code *code)
{
	return is_behind_indirect_call(code) &&
	       (BEGINS_WITH(code, 0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05) ||
		       BEGINS_WITH(code, 0xbf, 0x6f, 0, 0, 0, 0xb8, 0x3c, 0, 0, 0, 0x0f, 0x05));
}

/* ---- Parts of functions ---- */

/* `push %rbp; mov %rsp, %rbp` */
static bool keeps_frame_pointer(const struct machine_code *code)
{
	enum { MOST_BYTES = 4096 };
	static const uint8_t prologue[] = { 0x55, 0x48, 0x89, 0xe5 };

	if (!code->bytes || code->at > code->size)
		return false;
	for (size_t back = sizeof(prologue); back <= MOST_BYTES && back <= code->at; back++)
		if (memcmp(code->bytes + code->at - back, prologue, sizeof(prologue)) == 0)
			return true;
	return false;
}

static bool find_call(const struct machine_code *code, int64_t *distance)
{
	if (!is_behind_direct_call(code))
		return false;
	*distance = read_i32(code->bytes + code->at - sizeof(int32_t));
	return true;
}

/* `jmp` is e9, conditional ones 0f 80 to 0f 8f, found by their second byte; through a register or memory `ff /4`. */
static bool find_jump(const struct machine_code *code, struct machine_jump *jump)
{
	enum {
		JUMP_NEAR = 0xe9,
		TWO_BYTES = 0x0f,
		CONDITIONAL = 0x80,
		CONDITIONAL_MASK = 0xf0,
		GROUP_5 = 0xff,
		JUMP_OF_GROUP = 4 << 3,
		REG_MASK = 7 << 3
	};
	const uint8_t *bytes = code->bytes + code->at;

	if (!code->bytes || !checked_range(code->at, NEAR_BYTES, code->size))
		return false;
	*jump = (struct machine_jump){ .is_indirect = bytes[0] == GROUP_5,
		.distance = NEAR_BYTES + (int64_t)read_i32(bytes + 1) };
	if (jump->is_indirect)
		return (bytes[1] & REG_MASK) == JUMP_OF_GROUP;
	jump->is_conditional = code->at > 0 && bytes[-1] == TWO_BYTES && (bytes[0] & CONDITIONAL_MASK) == CONDITIONAL;
	return bytes[0] == JUMP_NEAR || jump->is_conditional;
}

/* `jmp *offset(%rip)`: ff 25 and four bytes. */
static bool find_slot_jump(struct machine_code *code, uint64_t address, uint64_t *slot)
{
	enum { JUMP_BYTES = 6, OPERAND = 2 };

	for (; checked_range(code->at, JUMP_BYTES, code->size); code->at++) {
		const uint8_t *bytes = code->bytes + code->at;

		if (bytes[0] != 0xff || bytes[1] != 0x25)
			continue;
		*slot = address + code->at + JUMP_BYTES + (uint64_t)(int64_t)read_i32(bytes + OPERAND);
		code->at++;
		return true;
	}
	return false;
}

/* `push %rbp; sub $room, %rsp`, with a room of one byte or of four. */
static bool read_prologue(const uint8_t *bytes, size_t at, size_t *end, int32_t *room_bytes)
{
	enum { SHORT_BYTES = 5, LONG_BYTES = 8 };
	static const uint8_t with_byte[] = { 0x55, 0x48, 0x83, 0xec }, with_word[] = { 0x55, 0x48, 0x81, 0xec };

	if (memcmp(bytes + at, with_byte, sizeof(with_byte)) == 0) {
		*end = at + SHORT_BYTES;
		*room_bytes = (int8_t)bytes[at + sizeof(with_byte)];
		return true;
	}
	if (memcmp(bytes + at, with_word, sizeof(with_word)) != 0)
		return false;
	*end = at + LONG_BYTES;
	*room_bytes = read_i32(bytes + at + sizeof(with_word));
	return true;
}

/* The file of a large program is one piece of code, so the search has an end. */
static bool find_prologue(const struct machine_code *code, size_t *end, int32_t *room_bytes)
{
	enum { READ_BYTES = 8, PUSH_RBP = 0x55 };
	size_t before, first, found_end;
	int32_t found_room;
	const uint8_t *found;

	if (code->size < READ_BYTES)
		return false;
	before = code->at < code->size - READ_BYTES ? code->at : code->size - READ_BYTES;
	first = before > MACHINE_MOST_FUNCTION_BYTES ? before - MACHINE_MOST_FUNCTION_BYTES : 0;
	while ((found = memrchr(code->bytes + first, PUSH_RBP, before - first))) {
		before = (size_t)(found - code->bytes);
		if (!read_prologue(code->bytes, before, &found_end, &found_room) || found_end > code->at)
			continue;
		*end = found_end;
		*room_bytes = found_room;
		return true;
	}
	return false;
}

/* ---- The record ---- */

enum { NONE = MACHINE_NOT_SAVED };

#define PERF_BIT(name) ((uint64_t)1 << PERF_REG_X86_##name)

/* The kernel lays a ucontext on the stack (asm/sigcontext.h): its registers begin 40 bytes above the stack pointer. */
#define SIGNAL_OFFSET(place) (40 + 8 * (place))

const struct machine machine_x86_64 = {
	.elf_machine = EM_X86_64,
	.name = "x86_64",

	.register_count = X86_64_REGISTERS,
	.stack_pointer = X86_64_RSP,
	.frame_pointer = X86_64_RBP,
	.program_counter = X86_64_RIP,
	.return_column = X86_64_RIP,
	.saved_registers = { X86_64_RBX, X86_64_RBP, 12, 13, 14, 15 },
	.saved_index = { NONE, NONE, NONE, 0, NONE, NONE, 1, NONE, NONE, NONE, NONE, NONE, 2, 3, 4, 5, NONE, NONE, NONE,
		NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE, NONE },

	/* Without flags and segments (asm/perf_regs.h): AX BX CX DX SI DI BP SP IP, then R8 to R15. */
	.perf_registers = PERF_BIT(AX) | PERF_BIT(BX) | PERF_BIT(CX) | PERF_BIT(DX) | PERF_BIT(SI) | PERF_BIT(DI) |
			  PERF_BIT(BP) | PERF_BIT(SP) | PERF_BIT(IP) | PERF_BIT(R8) | PERF_BIT(R9) | PERF_BIT(R10) |
			  PERF_BIT(R11) | PERF_BIT(R12) | PERF_BIT(R13) | PERF_BIT(R14) | PERF_BIT(R15),
	.perf_least_registers = PERF_BIT(SP) | PERF_BIT(IP),
	.perf_register_count = X86_64_REGISTERS,
	.perf_order = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 8, 9, 10, 11, 12, 13, 14, 15 },

	/* R15 to R12, BP, BX, R11 to R8, AX, CX, DX, SI, DI, the call, IP, CS, flags, SP, SS. */
	.kernel_register_count = 21,
	.kernel_order = { 10, 5, 11, 12, 13, 14, 4, 19, 16, 9, 8, 7, 6, 3, 2, 1, 0 },
	.kernel_call = 15,
	.kernel_arguments = { 14, 13 },

	.call_push_bytes = 8,

	/* R8 to R15, RDI, RSI, RBP, RBX, RDX, RAX, RCX, RSP, RIP. */
	.signal_offsets = { SIGNAL_OFFSET(13), SIGNAL_OFFSET(12), SIGNAL_OFFSET(14), SIGNAL_OFFSET(11),
		SIGNAL_OFFSET(9), SIGNAL_OFFSET(8), SIGNAL_OFFSET(10), SIGNAL_OFFSET(15), SIGNAL_OFFSET(0),
		SIGNAL_OFFSET(1), SIGNAL_OFFSET(2), SIGNAL_OFFSET(3), SIGNAL_OFFSET(4), SIGNAL_OFFSET(5),
		SIGNAL_OFFSET(6), SIGNAL_OFFSET(7), SIGNAL_OFFSET(16) },

	.relocation_jump_slot = R_X86_64_JUMP_SLOT,
	.relocation_global_data = R_X86_64_GLOB_DAT,
	.plt_entry_bytes = 16,

	.system_calls = x86_64_calls,
	.system_call_count = X86_64_CALLS,

	.is_behind_call = is_behind_call,
	.find_call = find_call,
	.find_jump = find_jump,
	.is_behind_system_call = is_behind_system_call,
	.is_signal_return = is_signal_return,
	.is_last_return = is_last_return,
	.is_thread_start = is_thread_start,
	.keeps_frame_pointer = keeps_frame_pointer,
	.is_context_start = is_context_start,
	.find_slot_jump = find_slot_jump,
	.find_prologue = find_prologue,
	.create_decoder = x86_64_create_decoder,
	.destroy_decoder = x86_64_destroy_decoder,
	.step = x86_64_step,
	.find_fields = x86_64_find_fields,
	.format = x86_64_format,
};
