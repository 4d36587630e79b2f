/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/code.h"

#include "common/common.h"

#include <string.h>

/* Encodings: Intel 64 manual, volume 2. */

#define BEGINS_WITH(code, ...) begins_with(code, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static bool begins_with(const struct code *code, const uint8_t *expected, size_t size)
{
	return code->bytes && checked_range(code->at, size, code->size) && memcmp(code->bytes + code->at, expected, size) == 0;
}

/* `mov $15, %rax; syscall`, in both encodings. */
bool code_is_signal_return(const struct code *code)
{
	return BEGINS_WITH(code, 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05) || BEGINS_WITH(code, 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05);
}

/* `mov %rbx, %rsp; mov (%rsp), %rdi` */
bool code_is_context_start(const struct code *code)
{
	return BEGINS_WITH(code, 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24);
}

static bool has_before(const struct code *code, size_t distance, uint8_t mask, uint8_t value)
{
	return code->bytes && code->at >= distance && code->at <= code->size && (code->bytes[code->at - distance] & mask) == value;
}

bool code_is_behind_syscall(const struct code *code)
{
	return has_before(code, 2, UINT8_MAX, 0x0f) && has_before(code, 1, UINT8_MAX, 0x05);
}

/* By its ModR/M byte, one of that, a SIB byte and a displacement. */
static bool is_behind_indirect_call(const struct code *code)
{
	enum { GROUP_5 = 0xff, CALL_OF_GROUP = 2 << 3, REG_MASK = 7 << 3 };
	static const uint8_t lengths[] = { 2, 3, 4, 6, 7 };

	for (size_t i = 0; i < sizeof(lengths); i++)
		if (has_before(code, lengths[i], UINT8_MAX, GROUP_5) && has_before(code, lengths[i] - 1u, REG_MASK, CALL_OF_GROUP))
			return true;
	return false;
}

bool code_is_behind_call(const struct code *code)
{
	enum { CALL_NEAR = 0xe8 };

	return has_before(code, 5, UINT8_MAX, CALL_NEAR) || is_behind_indirect_call(code);
}

/*
 * exit(main()), pthread_exit(start()) and that of a C11 thread: a call by a pointer, then `mov %eax, %edi`, `mov %rax, %rdi` or
 * `movslq %eax, %rdi`, then a call.
 */
bool code_is_last_return(const struct code *code)
{
	return is_behind_indirect_call(code) && (BEGINS_WITH(code, 0x89, 0xc7, 0xe8) || BEGINS_WITH(code, 0x48, 0x89, 0xc7, 0xe8) ||
							BEGINS_WITH(code, 0x48, 0x63, 0xf8, 0xe8));
}
