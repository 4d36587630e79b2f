/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/unwind.h"

#include "tests/unit/frame/elf_bytes.h"

#include <stdlib.h>
#include <string.h>

/*
 * Input: registers (17 of 8 bytes), the size of a program of call frame instructions (1 byte), the program, then the
 * stack, which is code with and without such a program as well. Whatever they hold, nothing outside the stack and the
 * code is read and the walk ends.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BARE_CODE = 0x100000 };

struct mapped {
	const struct frame_table *table;
	const uint8_t *bytes;
	size_t size;
};

static bool find(void *context, uint64_t address, struct unwind_code *code)
{
	const struct mapped *mapped = context;

	*code = (struct unwind_code){ .image_address = address, .entry = 0x20, .image = (uint32_t)address };
	if (address < ELF_BYTES_CODE + 2 * ELF_BYTES_CODE_SIZE)
		code->table = mapped->table;
	else if (address - BARE_CODE >= mapped->size)
		return false;
	if (address >= ELF_BYTES_CODE)
		code->code = (struct machine_code){ mapped->bytes, mapped->size, (size_t)(address % ELF_BYTES_CODE) };
	return true;
}

static bool is_code(void *context, uint64_t address)
{
	struct unwind_code ignored;

	return find(context, address, &ignored);
}

static void unwind(
	struct frame_table *table, const struct unwind_registers *registers, const uint8_t *bytes, size_t size)
{
	struct mapped mapped = { table, bytes, size };
	struct unwind_job job = { .space = { find, NULL, &mapped, 1, is_code, &machine_x86_64 },
		.registers = *registers,
		.dump = { bytes, size, registers->values[X86_64_RSP] } };
	struct unwinder *unwinder;
	struct error err;

	if (!unwinder_create(&unwinder, &err))
		return;
	unwind_stacks(unwinder, &job, 1);
	if (job.result.count > UNWIND_MAX_FRAMES || (unsigned int)job.result.stop >= PROFILE_STOP_COUNT)
		abort();
	unwinder_destroy(unwinder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t cie[] = { 0x0c, X86_64_RSP, 8, 0x80 | X86_64_RIP, 1 };
	struct byte_reader r = byte_reader_over(data, size);
	struct elf_bytes wanted = { .cie_instructions = cie, .cie_size = sizeof(cie), .has_header = true };
	struct unwind_registers registers = { 0 };
	struct frame_table *table;
	struct error err;

	for (size_t i = 0; i < X86_64_REGISTERS; i++)
		registers.values[i] = byte_reader_u64(&r);
	wanted.fde_size = byte_reader_u8(&r);
	wanted.fde_instructions = byte_reader_bytes(&r, wanted.fde_size);
	if (byte_reader_ok(&r) && elf_bytes_table(&wanted, &table, &err)) {
		unwind(table, &registers, r.pos, byte_reader_left(&r));
		frame_table_destroy(table);
	}
	return 0;
}
