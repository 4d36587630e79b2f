/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binary/elf/elf.h"
#include "binary/machine/x86_64_decoder.h"
#include "tests/unit/support/unit_test.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* What is remembered of shapes is compared with what Zydis says of each instruction. */
struct pair {
	struct machine_decoder *zydis, *decoder;
};

static int create_pair(void **state)
{
	struct pair *pair = calloc(1, sizeof(*pair));

	assert_non_null(pair);
	*state = pair;
	pair->zydis = machine_decoder_create(&machine_x86_64);
	pair->decoder = machine_decoder_create(&machine_x86_64);
	return pair->zydis && pair->decoder ? 0 : -1;
}

static int destroy_pair(void **state)
{
	struct pair *pair = *state;

	machine_decoder_destroy(pair->decoder);
	machine_decoder_destroy(pair->zydis);
	free(pair);
	return 0;
}

static void assert_same_number(
	const uint8_t *bytes, const struct machine_number *number, uint8_t offset, uint8_t bits, uint64_t value)
{
	assert_int_equal(number->size, bits / 8);
	if (bits == 0)
		return;
	assert_int_equal(number->offset, offset);
	assert_int_equal(machine_number_value(bytes, number), value);
}

/* How long the instruction is; 0: there is none. */
static size_t assert_same_instruction(const struct pair *pair, const uint8_t *bytes, size_t size)
{
	struct machine_fields fields;
	ZydisDecodedInstruction in;
	bool is_one = x86_64_decode(pair->zydis, bytes, size, &in);

	assert_int_equal(machine_x86_64.find_fields(pair->decoder, bytes, size, &fields), is_one);
	if (!is_one)
		return 0;
	assert_int_equal(fields.size, in.length);
	assert_int_equal(fields.jump != 0, in.raw.imm[0].is_relative);
	assert_int_equal(fields.target.size, in.raw.imm[0].is_relative ? fields.immediates[0].size : 0);
	if (in.mnemonic == ZYDIS_MNEMONIC_NOP || in.mnemonic == ZYDIS_MNEMONIC_INT3)
		assert_true(fields.is_padding);
	assert_same_number(
		bytes, &fields.displacement, in.raw.disp.offset, in.raw.disp.size, (uint64_t)in.raw.disp.value);
	for (size_t i = 0; i < 2; i++)
		assert_same_number(
			bytes, &fields.immediates[i], in.raw.imm[i].offset, in.raw.imm[i].size, in.raw.imm[i].value.u);
	return in.length;
}

/* The C library: hand-written code of all extensions of the instruction set is in it. */
static void agrees_on_the_c_library(void **state)
{
	struct elf_image *image;
	struct elf_section text;
	struct error err;
	size_t size, count = 0;

	if (!elf_image_open_path(C_LIBRARY, &image, &err) || elf_image_machine(image) != EM_X86_64 ||
		!elf_image_section(image, ".text", &text))
		skip();
	for (size_t at = 0; at<text.size; at += size> 0 ? size : 1) {
		size = assert_same_instruction(*state, text.bytes + at, text.size - at);
		count++;
	}
	print_message("%zu instructions\n", count);
	assert_true(count > 1000);
	elf_image_unref(image);
}

/* Also where an instruction is cut off, and where there is none. */
static void agrees_on_bytes_of_no_meaning(void **state)
{
	uint64_t random = 88172645463325252;

	for (size_t i = 0; i < 400000; i++) {
		uint8_t bytes[16];

		for (size_t k = 0; k < 2; k++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			memcpy(bytes + 8 * k, &random, 8);
		}
		/* Half of them with the prefixes that much of the instruction set stands behind. */
		if (i % 4 == 1)
			bytes[0] = 0x0f;
		else if (i % 8 == 2)
			bytes[0] = 0x62;
		else if (i % 8 == 6)
			bytes[0] = i % 16 == 6 ? 0xc4 : 0xc5;
		assert_same_instruction(*state, bytes, 1 + i % sizeof(bytes));
	}
}

static void numbers_have_the_sign_they_are_read_with(void **state)
{
	static const uint8_t bytes[] = { 0x00, 0xfe, 0xff, 0xff, 0xff, 0x80, 0xff, 0xff };

	assert_int_equal(machine_number_value(bytes, &(struct machine_number){ 1, 4, true }), UINT64_MAX - 1);
	assert_int_equal(machine_number_value(bytes, &(struct machine_number){ 1, 4, false }), 0xfffffffe);
	assert_int_equal(machine_number_value(bytes, &(struct machine_number){ 5, 1, true }), UINT64_MAX - 127);
	assert_int_equal(machine_number_value(bytes, &(struct machine_number){ 0, 8, true }), 0xffff80fffffffe00);
	assert_int_equal(machine_number_value(bytes, &(struct machine_number){ 0, 0, true }), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_on_the_c_library),
		cmocka_unit_test(agrees_on_bytes_of_no_meaning),
		cmocka_unit_test(numbers_have_the_sign_they_are_read_with),
	};

	return cmocka_run_group_tests(tests, create_pair, destroy_pair);
}
