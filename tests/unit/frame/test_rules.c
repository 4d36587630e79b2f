/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binary/frame/frame.h"

#include "tests/unit/frame/elf_bytes.h"
#include "tests/unit/support/unit_test.h"

#include <dwarf.h>
#include <elf.h>
#include <string.h>

/* What gcc writes: CFA = rsp + 8, return address at CFA - 8. */
static const uint8_t usual_cie[] = { DW_CFA_def_cfa, X86_64_RSP, 8, DW_CFA_offset | X86_64_RIP, 1 };

static struct frame_table *open_table(const uint8_t *instructions, size_t size, bool has_header)
{
	struct elf_bytes wanted = { usual_cie, instructions, sizeof(usual_cie), size, has_header, false };
	struct frame_table *table;
	struct error err;

	assert_true(elf_bytes_table(&wanted, &table, &err));
	return table;
}

static struct frame_rule rule_at(const struct frame_table *table, uint64_t offset)
{
	struct frame_rule rule;

	memset(&rule, 0, sizeof(rule));
	assert_true(frame_table_find_rule(table, ELF_BYTES_CODE + offset, &rule));
	return rule;
}

static void expect_cfa(const struct frame_rule *rule, unsigned int number, int32_t offset)
{
	assert_int_equal(rule->cfa.kind, FRAME_REGISTER);
	assert_int_equal(rule->cfa_register, number);
	assert_int_equal(rule->cfa.offset, offset);
}

static const uint8_t prologue[] = {
	DW_CFA_advance_loc | 1,
	DW_CFA_def_cfa_offset,
	16,
	DW_CFA_offset | X86_64_RBP,
	2,
	DW_CFA_advance_loc | 3,
	DW_CFA_def_cfa_register,
	X86_64_RBP,
	DW_CFA_advance_loc1,
	0x80,
	DW_CFA_remember_state,
	DW_CFA_def_cfa,
	X86_64_RSP,
	8,
	DW_CFA_restore | X86_64_RBP,
	DW_CFA_advance_loc | 1,
	DW_CFA_restore_state,
};

static void check_prologue(bool has_header)
{
	struct frame_table *table = open_table(prologue, sizeof(prologue), has_header);
	struct frame_rule rule = rule_at(table, 0);

	expect_cfa(&rule, X86_64_RSP, 8);
	assert_int_equal(rule.registers[X86_64_RIP].kind, FRAME_AT_CFA);
	assert_int_equal(rule.registers[X86_64_RIP].offset, -8);
	assert_int_equal(rule.registers[X86_64_RBP].kind, FRAME_SAME);
	rule = rule_at(table, 1);
	expect_cfa(&rule, X86_64_RSP, 16);
	assert_int_equal(rule.registers[X86_64_RBP].offset, -16);
	rule = rule_at(table, 3);
	expect_cfa(&rule, X86_64_RSP, 16);
	rule = rule_at(table, 0x83);
	expect_cfa(&rule, X86_64_RBP, 16);
	rule = rule_at(table, 0x84);
	expect_cfa(&rule, X86_64_RSP, 8);
	assert_int_equal(rule.registers[X86_64_RBP].kind, FRAME_SAME);
	rule = rule_at(table, 0x85);
	expect_cfa(&rule, X86_64_RBP, 16);
	assert_int_equal(rule.registers[X86_64_RBP].kind, FRAME_AT_CFA);
	frame_table_destroy(table);
}

static void test_prologue_and_epilogue(void **state)
{
	check_prologue(true);
}

static void test_without_search_table(void **state)
{
	check_prologue(false);
}

static void test_addresses_outside_have_no_rule(void **state)
{
	struct frame_table *table = open_table(prologue, sizeof(prologue), true);
	struct frame_rule rule;

	assert_false(frame_table_find_rule(table, 0, &rule));
	assert_false(frame_table_find_rule(table, ELF_BYTES_CODE - 1, &rule));
	assert_true(frame_table_find_rule(table, ELF_BYTES_CODE + ELF_BYTES_CODE_SIZE - 1, &rule));
	assert_false(frame_table_find_rule(table, ELF_BYTES_CODE + ELF_BYTES_CODE_SIZE, &rule));
	assert_false(frame_table_find_rule(table, UINT64_MAX, &rule));
	frame_table_destroy(table);
}

/* What an entry says of its code does not matter for where the code begins and ends. */
static void test_bounds_are_known_of_code_without_rules(void **state)
{
	static const uint8_t unknown[] = { 0x3f };
	struct frame_rule rule;
	uint64_t start, end;

	for (int has_header = 0; has_header < 2; has_header++) {
		struct frame_table *table = open_table(unknown, sizeof(unknown), has_header);

		assert_false(frame_table_find_rule(table, ELF_BYTES_CODE + 8, &rule));
		assert_true(frame_table_find_bounds(table, ELF_BYTES_CODE + 8, &start, &end));
		assert_int_equal(start, ELF_BYTES_CODE);
		assert_int_equal(end, ELF_BYTES_CODE + ELF_BYTES_CODE_SIZE);
		assert_false(frame_table_find_bounds(table, end, &start, &end));
		assert_false(frame_table_find_bounds(table, ELF_BYTES_CODE - 1, &start, &end));
		assert_false(frame_table_is_empty(table));
		frame_table_destroy(table);
	}
}

static void test_root_and_signal_frame(void **state)
{
	static const uint8_t undefined[] = { DW_CFA_undefined, X86_64_RIP };
	struct elf_bytes wanted = { usual_cie, undefined, sizeof(usual_cie), sizeof(undefined), true, true };
	struct frame_table *table;
	struct frame_rule rule;
	struct error err;

	assert_true(elf_bytes_table(&wanted, &table, &err));
	rule = rule_at(table, 0);
	assert_int_equal(rule.registers[X86_64_RIP].kind, FRAME_UNDEFINED);
	assert_true(rule.is_signal_frame);
	frame_table_destroy(table);
}

static bool read_word(const void *context, uint64_t address, uint64_t *value)
{
	if (address != 0x7000)
		return false;
	*value = *(const uint64_t *)context;
	return true;
}

/* The rule of a PLT: CFA = rsp + 8, 16 from the twelfth byte of an entry on. */
static void test_plt_expression(void **state)
{
	static const uint8_t plt[] = { DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg0 + 16, 0, DW_OP_lit15,
		DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };
	struct frame_table *table = open_table(plt, sizeof(plt), true);
	struct frame_memory memory = { read_word, NULL };
	struct frame_rule rule = rule_at(table, 0);
	uint64_t registers[X86_64_REGISTERS] = { 0 }, cfa;

	assert_int_equal(rule.cfa.kind, FRAME_VAL_EXPRESSION);
	registers[X86_64_RSP] = 0x5000;
	registers[X86_64_RIP] = 0x10;
	assert_true(frame_evaluate(table, rule.cfa, registers, &memory, 0, &cfa));
	assert_int_equal(cfa, 0x5008);
	registers[X86_64_RIP] = 0x1b;
	assert_true(frame_evaluate(table, rule.cfa, registers, &memory, 0, &cfa));
	assert_int_equal(cfa, 0x5010);
	frame_table_destroy(table);
}

static void test_dereference(void **state)
{
	static const uint8_t realigned[] = { DW_CFA_def_cfa_expression, 3, DW_OP_breg6, 0x78, DW_OP_deref };
	struct frame_table *table = open_table(realigned, sizeof(realigned), true);
	uint64_t registers[X86_64_REGISTERS] = { 0 }, word = 0x1234, cfa;
	struct frame_memory memory = { read_word, &word };
	struct frame_rule rule = rule_at(table, 0);

	registers[X86_64_RBP] = 0x7008;
	assert_true(frame_evaluate(table, rule.cfa, registers, &memory, 0, &cfa));
	assert_int_equal(cfa, 0x1234);
	registers[X86_64_RBP] = 0x7010;
	assert_false(frame_evaluate(table, rule.cfa, registers, &memory, 0, &cfa));
	frame_table_destroy(table);
}

static void expect_no_rule(const uint8_t *instructions, size_t size)
{
	struct frame_table *table = open_table(instructions, size, true);
	struct frame_rule rule;

	assert_false(frame_table_find_rule(table, ELF_BYTES_CODE + 8, &rule));
	frame_table_destroy(table);
}

static void test_damaged_programs_give_no_rule(void **state)
{
	static const uint8_t unknown[] = { 0x3f };
	static const uint8_t restore_without_remember[] = { DW_CFA_restore_state };
	static const uint8_t register_out_of_range[] = { DW_CFA_def_cfa, 99, 8 };
	static const uint8_t endless_number[] = { DW_CFA_def_cfa_offset, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
		0x80, 0x80 };
	static const uint8_t long_expression[] = { DW_CFA_def_cfa_expression, 0x7f };
	uint8_t remembers[64];

	memset(remembers, DW_CFA_remember_state, sizeof(remembers));
	expect_no_rule(unknown, sizeof(unknown));
	expect_no_rule(restore_without_remember, sizeof(restore_without_remember));
	expect_no_rule(register_out_of_range, sizeof(register_out_of_range));
	expect_no_rule(endless_number, sizeof(endless_number));
	expect_no_rule(long_expression, sizeof(long_expression));
	expect_no_rule(remembers, sizeof(remembers));
}

/* Its registers are others: what such an image says of the stack pointer is not understood, and an expression of it
 * neither. */
static void test_an_unknown_processor_has_bounds_but_no_rules(void **state)
{
	struct elf_bytes wanted = { usual_cie, prologue, sizeof(usual_cie), sizeof(prologue), true,
		.machine = EM_S390 };
	const struct frame_memory memory = { 0 };
	uint64_t registers[MACHINE_MAX_REGISTERS] = { 0 }, value, end;
	struct frame_table *table;
	struct frame_rule rule;
	struct error err;

	for (int has_header = 0; has_header < 2; has_header++) {
		wanted.has_header = has_header;
		assert_true(elf_bytes_table(&wanted, &table, &err));
		assert_null(frame_table_machine(table));
		assert_false(frame_table_find_rule(table, ELF_BYTES_CODE, &rule));
		assert_true(frame_table_find_bounds(table, ELF_BYTES_CODE, &value, &end));
		assert_int_equal(end - value, ELF_BYTES_CODE_SIZE);
		assert_false(frame_evaluate(table, (struct frame_register_rule){ 0 }, registers, &memory, 0, &value));
		frame_table_destroy(table);
	}
	wanted.machine = EM_X86_64;
	assert_true(elf_bytes_table(&wanted, &table, &err));
	assert_ptr_equal(frame_table_machine(table), &machine_x86_64);
	assert_true(frame_table_find_rule(table, ELF_BYTES_CODE, &rule));
	frame_table_destroy(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prologue_and_epilogue),
		cmocka_unit_test(test_without_search_table),
		cmocka_unit_test(test_addresses_outside_have_no_rule),
		cmocka_unit_test(test_bounds_are_known_of_code_without_rules),
		cmocka_unit_test(test_root_and_signal_frame),
		cmocka_unit_test(test_plt_expression),
		cmocka_unit_test(test_dereference),
		cmocka_unit_test(test_damaged_programs_give_no_rule),
		cmocka_unit_test(test_an_unknown_processor_has_bounds_but_no_rules),
	};

	return cmocka_run_group_tests_name("frame.rules", tests, NULL, NULL);
}
