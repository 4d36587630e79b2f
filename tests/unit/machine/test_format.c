/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binary/elf/elf.h"
#include "binary/machine/x86_64.h"
#include "tests/unit/support/unit_test.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static int create(void **state)
{
	*state = machine_decoder_create(&machine_x86_64);
	return *state ? 0 : -1;
}

static int destroy(void **state)
{
	machine_decoder_destroy(*state);
	return 0;
}

static void expect_text(
	struct machine_decoder *decoder, const char *bytes, size_t size, const char *expected, uint64_t target)
{
	struct machine_text text;

	assert_true(machine_format_instruction(decoder, (const uint8_t *)bytes, size, 0x401000, &text));
	assert_string_equal(text.text, expected);
	assert_int_equal(text.size, size);
	assert_int_equal(text.has_target, target != 0);
	assert_int_equal(text.target, target);
}

static void writes_what_instructions_do(void **state)
{
	expect_text(*state, "\xc3", 1, "ret", 0);
	expect_text(*state, "\x48\x0f\xaf\xc7", 4, "imul rax, rdi", 0);
	expect_text(*state, "\x48\x8b\x44\xcb\x10", 5, "mov rax, [rbx+rcx*8+0x10]", 0);
	expect_text(*state, "\xb8\x2a\x00\x00\x00", 5, "mov eax, 0x2a", 0);
}

static void addresses_are_absolute_and_targets_told(void **state)
{
	expect_text(*state, "\xe8\xfb\x0f\x00\x00", 5, "call 0x402000", 0x402000);
	expect_text(*state, "\xeb\xfe", 2, "jmp 0x401000", 0x401000);
	expect_text(*state, "\x0f\x84\x00\x01\x00\x00", 6, "jz 0x401106", 0x401106);
	expect_text(*state, "\x48\x8b\x05\xf9\x0f\x00\x00", 7, "mov rax, [0x402000]", 0);
	/* Where it leads is not known before it runs. */
	expect_text(*state, "\xff\xd0", 2, "call rax", 0);
}

static void bytes_of_no_meaning_have_no_text_or_one_that_ends(void **state)
{
	uint64_t random = 88172645463325252;
	size_t written = 0;

	for (size_t i = 0; i < 200000; i++) {
		uint8_t bytes[16];
		struct machine_text text;
		size_t size = 1 + i % sizeof(bytes);

		for (size_t k = 0; k < 2; k++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			memcpy(bytes + 8 * k, &random, 8);
		}
		bytes[0] = i % 4 == 1 ? 0x62 : i % 4 == 2 ? 0xc4 : bytes[0];
		if (!machine_format_instruction(*state, bytes, size, random, &text))
			continue;
		written++;
		assert_in_range(text.size, 1, size);
		assert_non_null(memchr(text.text, '\0', sizeof(text.text)));
		for (const char *at = text.text; *at; at++)
			assert_in_range(*at, 0x20, 0x7e);
	}
	assert_in_range(written, 1000, 200000);
}

static void processors_without_text_have_none(void **state)
{
	struct machine without = machine_x86_64;
	struct machine_decoder decoder = { &without };
	struct machine_text text;

	without.format = NULL;
	assert_false(machine_format_instruction(&decoder, (const uint8_t *)"\xc3", 1, 0, &text));
}

/* ---- Against objdump ---- */

/* What objdump says of a line: "  401136:\t48 89 e5\tmov    rbp,rsp". False: it is no instruction's first line. */
static bool read_line(char *line, uint64_t *address, size_t *size, char **text)
{
	char *bytes, *end;

	*address = strtoull(line, &end, 16);
	if (end == line || strncmp(end, ":\t", 2) != 0)
		return false;
	bytes = end + 2;
	*text = strchr(bytes, '\t');
	if (!*text)
		return false;
	*(*text)++ = '\0';
	*size = 0;
	for (char *at = bytes; *at; at++)
		*size += *at != ' ' && (at == bytes || at[-1] == ' ');
	return true;
}

/* The last word of both texts, a number: where a direct jump or call leads. */
static bool is_direct(const char *text, uint64_t *target)
{
	const char *space = strrchr(text, ' ');
	char *end;

	if (text[0] != 'j' && strncmp(text, "call", 4) != 0)
		return false;
	*target = space ? strtoull(space, &end, 16) : 0;
	return space && end != space + 1 && (*end == '\0' || *end == '\n');
}

/* The same instruction has one of these names. */
static bool is_same_name(const char *ours, const char *theirs)
{
	static const char *const twins[][2] = { { "jz", "je" }, { "jnz", "jne" }, { "jnb", "jae" }, { "jnbe", "ja" },
		{ "jnle", "jg" }, { "jnl", "jge" }, { "nop", "xchg" } };
	size_t ours_size = strcspn(ours, " "), theirs_size = strcspn(theirs, " \n");

	if (ours_size == theirs_size && memcmp(ours, theirs, ours_size) == 0)
		return true;
	for (size_t i = 0; i < sizeof(twins) / sizeof(twins[0]); i++)
		if (strlen(twins[i][0]) == ours_size && memcmp(ours, twins[i][0], ours_size) == 0 &&
			strlen(twins[i][1]) == theirs_size && memcmp(theirs, twins[i][1], theirs_size) == 0)
			return true;
	return false;
}

/* Instructions of the C library that both know: the same lengths, and the same targets; names mostly. */
static void agrees_with_objdump(void **state)
{
	struct elf_image *image;
	struct elf_section code;
	size_t count = 0, names = 0, targets = 0;
	struct error err;
	char command[1024], line[1024];
	FILE *objdump;

	if (!OBJDUMP[0] || !elf_image_open_path(C_LIBRARY, &image, &err))
		skip();
	if (elf_image_machine(image) != EM_X86_64 || !elf_image_section(image, ".text", &code)) {
		elf_image_unref(image);
		skip();
	}
	snprintf(command, sizeof(command), "%s -d -w -M intel --section=.text '%s' 2>/dev/null | head -n 60000",
		OBJDUMP, C_LIBRARY);
	objdump = popen(command, "r");
	assert_non_null(objdump);
	while (fgets(line, sizeof(line), objdump)) {
		struct machine_text ours;
		uint64_t address, target;
		size_t size, left;
		const uint8_t *bytes;
		char *theirs;

		if (!read_line(line, &address, &size, &theirs) || strstr(theirs, "(bad)"))
			continue;
		bytes = elf_image_bytes_at(image, address, &left);
		assert_non_null(bytes);
		assert_true(machine_format_instruction(*state, bytes, left, address, &ours));
		assert_int_equal(ours.size, size);
		count++;
		names += is_same_name(ours.text, theirs);
		*strchrnul(theirs, '<') = '\0';
		for (size_t end = strlen(theirs); end > 0 && theirs[end - 1] == ' '; end--)
			theirs[end - 1] = '\0';
		if (ours.has_target && is_direct(theirs, &target)) {
			assert_int_equal(ours.target, target);
			targets++;
		}
	}
	pclose(objdump);
	elf_image_unref(image);
	print_message("%zu instructions, %zu of the same name, %zu targets\n", count, names, targets);
	assert_true(count > 10000);
	assert_true(targets > 1000);
	assert_true(names * 10 > count * 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(writes_what_instructions_do, create, destroy),
		cmocka_unit_test_setup_teardown(addresses_are_absolute_and_targets_told, create, destroy),
		cmocka_unit_test_setup_teardown(bytes_of_no_meaning_have_no_text_or_one_that_ends, create, destroy),
		cmocka_unit_test(processors_without_text_have_none),
		cmocka_unit_test_setup_teardown(agrees_with_objdump, create, destroy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
