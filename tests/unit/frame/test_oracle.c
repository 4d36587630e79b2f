/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binary/frame/frame.h"
#include "binary/machine/x86_64.h"
#include "tests/unit/elf/libelf_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <string.h>

/*
 * Our reading of .eh_frame against libdw's, over real libraries: at every address that is looked at, both must know a
 * rule or neither, and for the CFA, the return address and every callee-saved register it must be the same one.
 */

enum { STRIDE = 37 };

struct counts {
	size_t addresses, rules, compared;
};

static bool is_plain_sum(const Dwarf_Op *ops, size_t count, unsigned int *number, int64_t *offset)
{
	if (count != 1)
		return false;
	if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
		*number = (unsigned int)ops[0].atom - DW_OP_breg0;
		*offset = (int64_t)ops[0].number;
		return true;
	}
	if (ops[0].atom != DW_OP_bregx)
		return false;
	*number = (unsigned int)ops[0].number;
	*offset = (int64_t)ops[0].number2;
	return true;
}

static void compare_cfa(Dwarf_Frame *frame, const struct frame_rule *rule, struct counts *counts)
{
	unsigned int number;
	int64_t offset;
	Dwarf_Op *ops;
	size_t count;

	assert_int_equal(dwarf_frame_cfa(frame, &ops, &count), 0);
	if (!is_plain_sum(ops, count, &number, &offset)) {
		assert_int_equal(rule->cfa.kind, FRAME_VAL_EXPRESSION);
		return;
	}
	assert_int_equal(rule->cfa.kind, FRAME_REGISTER);
	assert_int_equal(rule->cfa_register, number);
	assert_int_equal(rule->cfa.offset, offset);
	counts->compared++;
}

static void compare_register(Dwarf_Frame *frame, const struct frame_rule *rule, int number, struct counts *counts)
{
	const struct frame_register_rule *ours = &rule->registers[number];
	Dwarf_Op memory[3], *ops;
	size_t count;

	assert_int_equal(dwarf_frame_register(frame, number, memory, &ops, &count), 0);
	if (count == 0) {
		/* libdw has the same operations for "same value" with ops NULL and "undefined" without; by default some
		 * are undefined. */
		assert_true(ours->kind == FRAME_SAME || ours->kind == FRAME_UNDEFINED);
		if (number == X86_64_RIP)
			assert_int_equal(ours->kind, ops == NULL ? FRAME_SAME : FRAME_UNDEFINED);
	} else if (count == 2 && ops[0].atom == DW_OP_call_frame_cfa && ops[1].atom == DW_OP_plus_uconst) {
		assert_int_equal(ours->kind, FRAME_AT_CFA);
		assert_int_equal(ours->offset, (int64_t)ops[1].number);
	} else if (count == 1 && ops[0].atom == DW_OP_regx) {
		assert_int_equal(ours->kind, FRAME_REGISTER);
		assert_int_equal(ours->offset, (int64_t)ops[0].number);
	} else {
		assert_true(ours->kind == FRAME_EXPRESSION || ours->kind == FRAME_VAL_EXPRESSION ||
			    ours->kind == FRAME_VAL_OFFSET || ours->kind == FRAME_AT_CFA);
		return;
	}
	counts->compared++;
}

/* It may end sooner where the rules behind it say the same again. */
static void compare_row(Dwarf_Frame *frame, const struct frame_rule *rule, uint64_t address)
{
	Dwarf_Addr start, end;

	assert_true(dwarf_frame_info(frame, &start, &end, NULL) >= 0);
	assert_in_range(rule->start, start, address);
	assert_in_range(rule->start + rule->size, address + 1, end);
}

static void compare_address(const struct frame_table *table, Dwarf_CFI *cfi, uint64_t address, struct counts *counts)
{
	static const int kept[] = { X86_64_RBX, X86_64_RBP, 12, 13, 14, 15, X86_64_RIP };
	Dwarf_Frame *frame = NULL;
	struct frame_rule rule;
	bool known = frame_table_find_rule(table, address, &rule);

	counts->addresses++;
	if (dwarf_cfi_addrframe(cfi, address, &frame) != 0) {
		assert_false(known);
		return;
	}
	assert_true(known);
	counts->rules++;
	compare_cfa(frame, &rule, counts);
	compare_row(frame, &rule, address);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		compare_register(frame, &rule, kept[i], counts);
	free(frame);
}

static void compare_library(const char *path, struct counts *counts)
{
	const struct elf_segment *segments;
	struct frame_table *table;
	struct elf_image *image;
	struct error err;
	Dwarf_CFI *cfi;
	Elf *elf;
	size_t count;

	if (!elf_image_open_path(path, &image, &err))
		return;
	assert_true(frame_table_create(image, FRAME_RULES, &table, &err));
	elf = libelf_of(image);
	cfi = dwarf_getcfi_elf(elf);
	assert_non_null(cfi);
	segments = elf_image_segments(image, &count);
	for (size_t i = 0; i < count; i++)
		for (uint64_t into = 0; (segments[i].flags & PF_X) && into < segments[i].file_size; into += STRIDE)
			compare_address(table, cfi, segments[i].address + into, counts);
	dwarf_cfi_end(cfi);
	elf_end(elf);
	frame_table_destroy(table);
	elf_image_unref(image);
}

static void test_libraries(void **state)
{
	static const char *const paths[] = { "/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libcrypto.so.3",
		"/lib/x86_64-linux-gnu/libm.so.6", "/lib64/ld-linux-x86-64.so.2",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/lib/x86_64-linux-gnu/libgcc_s.so.1", "/lib64/libc.so.6" };
	struct counts counts = { 0 };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		compare_library(paths[i], &counts);
	print_message(
		"%zu addresses, %zu rules, %zu parts compared\n", counts.addresses, counts.rules, counts.compared);
	if (counts.addresses == 0)
		skip();
	assert_true(counts.rules > counts.addresses / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_libraries) };

	return cmocka_run_group_tests_name("frame.oracle", tests, NULL, NULL);
}
