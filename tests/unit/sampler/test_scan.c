/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binary/machine/x86_64.h"
#include "sampler/unwind/negative.h"
#include "sampler/unwind/scan.h"
#include "tests/unit/support/unit_test.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct scanner));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	scanner_deinit(*state);
	free(*state);
	return 0;
}

#define CODE(...) ((const uint8_t[]){ __VA_ARGS__ }), sizeof((const uint8_t[]){ __VA_ARGS__ })

/* In the order of machine_x86_64.saved_registers: rbx, rbp, r12, r13, r14, r15. */
struct expected {
	const char *what;
	const uint8_t *bytes;
	size_t size, at;
	uint8_t cfa_register; /* 0: no rule */
	int32_t cfa_offset;
	uint8_t saved[MACHINE_SAVED];
};

static void expect_rules(struct scanner *scanner, const struct expected *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct expected *expected = &cases[i];
		const struct machine_code code = { expected->bytes, expected->size, expected->at };
		struct scan_result result;
		const struct rules_pushes *pushes = &result.pushes;

		scan_rule(scanner, &machine_x86_64, &code, &result);
		if (pushes->cfa_register != expected->cfa_register || pushes->cfa_offset != expected->cfa_offset ||
			memcmp(pushes->saved, expected->saved, MACHINE_SAVED) != 0)
			fail_msg("%s: %d%+d", expected->what, pushes->cfa_register, pushes->cfa_offset);
	}
}

static void test_ways_to_a_return(void **state)
{
	const struct expected cases[] = {
		{ "ret", CODE(0xc3), 0, X86_64_RSP, 8, { 0 } },
		{ "add $24, %rsp; pop %rbx; pop %rbp; ret", CODE(0x48, 0x83, 0xc4, 24, 0x5b, 0x5d, 0xc3), 0, X86_64_RSP,
			48, { 3, 2 } },
		{ "its pops alone", CODE(0x48, 0x83, 0xc4, 24, 0x5b, 0x5d, 0xc3), 4, X86_64_RSP, 24, { 3, 2 } },
		{ "push %rbx; pop %rbx; ret: nothing is saved yet", CODE(0x53, 0x5b, 0xc3), 0, X86_64_RSP, 8, { 0 } },
		{ "leave; ret", CODE(0xc9, 0xc3), 0, X86_64_RBP, 16, { 0, 2 } },
		{ "push %rbp; mov %rsp, %rbp; sub $32, %rsp; leave; ret",
			CODE(0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 32, 0xc9, 0xc3), 0, X86_64_RSP, 8, { 0 } },
		{ "the same behind its push", CODE(0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 32, 0xc9, 0xc3), 1,
			X86_64_RSP, 16, { 0, 2 } },
		{ "lea -16(%rbp), %rsp; pop %r12; pop %rbx; pop %rbp; ret",
			CODE(0x48, 0x8d, 0x65, 0xf0, 0x41, 0x5c, 0x5b, 0x5d, 0xc3), 0, X86_64_RBP, 16, { 3, 2, 4 } },
		{ "mov 8(%rsp), %rbx; add $16, %rsp; ret", CODE(0x48, 0x8b, 0x5c, 0x24, 8, 0x48, 0x83, 0xc4, 16, 0xc3),
			0, X86_64_RSP, 24, { 2 } },
		{ "call; test %eax, %eax; je to pop %rbp; ret, else hlt",
			CODE(0xe8, 0, 0, 0, 0, 0x85, 0xc0, 0x74, 1, 0xf4, 0x5d, 0xc3), 0, X86_64_RSP, 16, { 0, 2 } },
		{ "a loop backwards; ret", CODE(0xff, 0xc9, 0x75, 0xfc, 0xc3), 0, X86_64_RSP, 8, { 0 } },
		{ "jmp to ret", CODE(0xeb, 1, 0xf4, 0xc3), 0, X86_64_RSP, 8, { 0 } },
		{ "pop %rbx; jmp to push %rbx; pop %rbx; ret: of the callee's own",
			CODE(0x5b, 0xeb, 0, 0x53, 0x5b, 0xc3), 0, X86_64_RSP, 16, { 2 } },
		{ "jmp *1(%rip), as a PLT has it", CODE(0xff, 0x25, 1, 0, 0, 0), 0, X86_64_RSP, 8, { 0 } },
		{ "sub %rax, %rsp; then leave; ret", CODE(0x48, 0x29, 0xc4, 0xc9, 0xc3), 0, 0, 0, { 0 } },
		{ "jmp *%rax", CODE(0xff, 0xe0, 0xc3), 0, 0, 0, { 0 } },
		{ "jmp to itself", CODE(0xeb, 0xfe, 0xc3), 0, 0, 0, { 0 } },
		{ "jmp out of what is at hand", CODE(0xe9, 0xff, 0xff, 0, 0, 0xc3), 0, 0, 0, { 0 } },
		{ "call; then another function: push %rbx", CODE(0xe8, 0, 0, 0, 0, 0x53, 0x5b, 0xc3), 0, 0, 0, { 0 } },
		{ "more popped than was pushed", CODE(0x6a, 0, 0x48, 0x83, 0xec, 8, 0xc3), 0, 0, 0, { 0 } },
		{ "ret $16", CODE(0xc2, 16, 0), 0, 0, 0, { 0 } },
		{ "cut within an instruction", CODE(0x48, 0x83), 0, 0, 0, { 0 } },
	};

	expect_rules(*state, cases, sizeof(cases) / sizeof(cases[0]));
}

/* As HotSpot compiles a loop that it entered: all that leads out of it is a call that does not return, or a jump far
 * away. */
static void test_code_that_never_returns(void **state)
{
	const struct expected cases[] = {
		{ "push %rbp; sub $96, %rsp; call; jmp back to the call",
			CODE(0x55, 0x48, 0x83, 0xec, 96, 0xe8, 0, 0, 0, 0, 0xeb, 0xf9), 10, X86_64_RSP, 112, { 0, 2 } },
		{ "the same with more room, and something pushed on the way",
			CODE(0x55, 0x48, 0x81, 0xec, 0, 1, 0, 0, 0x6a, 0, 0xe8, 0, 0, 0, 0, 0xeb, 0xf9), 15, X86_64_RSP,
			280, { 0, 2 } },
		{ "a jump far away instead of a return",
			CODE(0x55, 0x48, 0x83, 0xec, 96, 0xe8, 0, 0, 0, 0, 0x48, 0x83, 0xc4, 96, 0x5d, 0xe9, 0xff, 0xff,
				0, 0),
			10, X86_64_RSP, 112, { 0, 2 } },
		{ "another function's prologue: its own loop is left by no way",
			CODE(0x55, 0x48, 0x83, 0xec, 96, 0xeb, 0xfe, 0x90, 0xeb, 0xfe), 8, 0, 0, { 0 } },
		{ "another function's prologue: it returns",
			CODE(0x55, 0x48, 0x83, 0xec, 96, 0x48, 0x83, 0xc4, 96, 0x5d, 0xc3, 0xeb, 0xfe), 11, 0, 0,
			{ 0 } },
	};

	expect_rules(*state, cases, sizeof(cases) / sizeof(cases[0]));
}

enum { JUMP_BYTES = 5, BRANCH_BYTES = 6, MOST_LONG_BYTES = 1 << 16 };

static size_t put_jump(uint8_t *bytes, size_t at, size_t target)
{
	int32_t distance = (int32_t)target - (int32_t)(at + JUMP_BYTES);

	bytes[at] = 0xe9;
	memcpy(&bytes[at + 1], &distance, sizeof(distance));
	return at + JUMP_BYTES;
}

static size_t put_branch(uint8_t *bytes, size_t at, size_t target)
{
	(void)put_jump(bytes, at + 1, target);
	bytes[at] = 0x0f;
	bytes[at + 1] = 0x84;
	return at + BRANCH_BYTES;
}

static void expect_frame(struct scanner *scanner, const struct machine_code *code, int32_t cfa_offset)
{
	struct scan_result result;

	scan_rule(scanner, &machine_x86_64, code, &result);
	assert_int_equal(result.pushes.cfa_offset, cfa_offset);
}

/*
 * As a large compiled Java method has it: a loop with slow ways that lie behind it, most of which lead back to it, and
 * many of which are the same.
 */
static void test_long_loops_with_many_ways_out(void **state)
{
	enum { WAYS = 400, SAME = 2000 };
	static uint8_t bytes[MOST_LONG_BYTES];
	struct machine_code code = { bytes, sizeof(bytes), 0 };
	size_t at = 0, slow = (WAYS + SAME) * BRANCH_BYTES + JUMP_BYTES;

	memset(bytes, 0xf4, sizeof(bytes));
	for (size_t i = 0; i < SAME; i++)
		at = put_branch(bytes, at, slow);
	for (size_t i = 0; i < WAYS; i++)
		at = put_branch(bytes, at, slow + i * JUMP_BYTES);
	at = put_jump(bytes, at, 0);
	for (size_t i = 0; i < WAYS; i++)
		at = put_jump(bytes, at, 0);
	/* The way out is one of the last, behind 48 kB. */
	(void)put_jump(bytes, at - JUMP_BYTES, 3 * sizeof(bytes) / 4);
	memcpy(&bytes[3 * sizeof(bytes) / 4], "\x48\x83\xc4\x18\x5d\xc3", 6);
	expect_frame(*state, &code, 40);
}

static void test_code_that_is_not_at_hand(void **state)
{
	uint8_t bytes[MOST_LONG_BYTES] = { 0 };
	struct machine_code code = { bytes, JUMP_BYTES, 0 };
	struct scan_result result;

	(void)put_jump(bytes, 0, MOST_LONG_BYTES - 1);
	bytes[MOST_LONG_BYTES - 1] = 0xc3;
	scan_rule(*state, &machine_x86_64, &code, &result);
	assert_int_equal(result.pushes.cfa_offset, 0);
	assert_true(result.leaves_code);
	code.size = sizeof(bytes);
	scan_rule(*state, &machine_x86_64, &code, &result);
	assert_int_equal(result.pushes.cfa_offset, 8);
	assert_false(result.leaves_code);
}

/* ---- Code in which nothing is found ---- */

static bool is_met(const struct scanner *scanner, size_t at)
{
	for (size_t i = 0; i < scanner->run_count; i++)
		if (at >= scanner->runs[i].start && at < scanner->runs[i].end)
			return true;
	return false;
}

/*
 * As V8 compiles a function: push %rbp; mov %rsp, %rbp; loop: test %eax, %eax; je to jmp *%rax; dec %ecx; jne loop; mov
 * %rbp, %rsp; pop %rbp; ret $16; and behind them another function, push %rbx; pop %rbx; ret.
 */
static void test_code_without_a_return(void **state)
{
	static const uint8_t bytes[] = { 0x55, 0x48, 0x89, 0xe5, 0x85, 0xc0, 0x74, 11, 0xff, 0xc9, 0x75, 0xf8, 0x48,
		0x89, 0xec, 0x5d, 0xc2, 16, 0, 0xff, 0xe0, 0x53, 0x5b, 0xc3 };
	static const size_t starts[] = { 0, 1, 4, 6, 8, 10, 12, 15, 16, 19 };
	struct scanner *scanner = *state;
	struct machine_code code = { bytes, sizeof(bytes), 4 };
	struct scan_result result;

	scan_rule(scanner, &machine_x86_64, &code, &result);
	assert_true(result.is_hopeless);
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		assert_int_equal(is_met(scanner, starts[i]), starts[i] >= 4);
	assert_false(is_met(scanner, 21));
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		code.at = starts[i];
		scan_rule(scanner, &machine_x86_64, &code, &result);
		assert_int_equal(result.pushes.cfa_offset, 0);
		assert_true(result.is_hopeless);
	}
	code.at = 21;
	scan_rule(scanner, &machine_x86_64, &code, &result);
	assert_int_equal(result.pushes.cfa_offset, 8);
	assert_false(result.is_hopeless);
}

/* Where one is met, or might be, nothing is said of other instructions. */
static void test_code_that_may_return(void **state)
{
	const struct {
		const char *what;
		const uint8_t *bytes;
		size_t size, at;
	} cases[] = {
		{ "more is popped than was pushed on the way to a return", CODE(0x6a, 0, 0x48, 0x83, 0xec, 8, 0xc3),
			0 },
		{ "a path leads out of the code", CODE(0x74, 100, 0xff, 0xe0), 0 },
		{ "another function's prologue", CODE(0x55, 0x48, 0x83, 0xec, 96, 0xeb, 0xfe, 0x90, 0xeb, 0xfe), 8 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct machine_code code = { cases[i].bytes, cases[i].size, cases[i].at };
		struct scan_result result;

		scan_rule(*state, &machine_x86_64, &code, &result);
		if (result.pushes.cfa_offset != 0 || result.is_hopeless)
			fail_msg("%s: %d", cases[i].what, result.pushes.cfa_offset);
	}
}

static void test_what_is_kept_of_it(void **state)
{
	enum { START = 5 * NEGATIVE_BLOCK_BYTES - 3, END = 6 * NEGATIVE_BLOCK_BYTES + 2 };
	struct negative_cache cache;
	struct error err;

	assert_true(negative_cache_init(&cache, &err));
	assert_false(negative_cache_has(&cache, 6, START));
	negative_cache_add(&cache, 6, START, END);
	for (uint64_t at = START - 2; at < END + 2; at++)
		assert_int_equal(negative_cache_has(&cache, 6, at), at >= START && at < END);
	assert_false(negative_cache_has(&cache, 10, START));
	/* The memory is mapped anew, and other code is in it. */
	negative_cache_add(&cache, 10, START + 1, START + 2);
	assert_false(negative_cache_has(&cache, 6, START));
	assert_false(negative_cache_has(&cache, 10, START));
	assert_true(negative_cache_has(&cache, 10, START + 1));
	negative_cache_deinit(&cache);
}

/* ---- Against what the compiler says of all the C library ---- */

struct agreement {
	size_t all, same, other, calls, seen_calls;
	size_t rows, wrong_rows; /* whether it holds at the last byte that it says it holds at */
};

static void compare(struct scanner *scanner, const struct frame_table *table, uint64_t start,
	const struct machine_code *code, struct agreement *agreement)
{
	struct frame_rule rule, last;
	struct rules_pushes said;
	struct scan_result scanned;

	if (!frame_table_find_rule(table, start + code->at, &rule) || !rules_as_pushes(&machine_x86_64, &rule, &said))
		return;
	agreement->all++;
	scan_rule(scanner, &machine_x86_64, code, &scanned);
	if (scanned.pushes.cfa_register != said.cfa_register)
		return;
	agreement->same += scanned.pushes.cfa_offset == said.cfa_offset;
	agreement->other += scanned.pushes.cfa_offset != said.cfa_offset;
	if (scanned.pushes.cfa_offset != said.cfa_offset ||
		!frame_table_find_rule(table, start + code->at + scanned.bytes - 1, &last))
		return;
	agreement->rows++;
	agreement->wrong_rows += last.cfa_register != rule.cfa_register || last.cfa.offset != rule.cfa.offset;
}

static void compare_all(struct scanner *scanner, const struct frame_table *table, uint64_t start,
	struct machine_code code, struct agreement *agreement)
{
	enum { EVERY = 41 };
	struct machine_decoder *decoder = machine_decoder_create(&machine_x86_64);
	size_t count = 0;

	assert_non_null(decoder);
	while (code.at < code.size) {
		struct machine_frame ignored = machine_frame_none(&machine_x86_64);
		struct machine_step step;
		struct frame_rule rule;

		if (!frame_table_find_rule(table, start + code.at, &rule) ||
			!machine_x86_64.step(decoder, code.bytes + code.at, code.size - code.at, &ignored, &step)) {
			code.at++;
			continue;
		}
		if (count++ % EVERY == 0)
			compare(scanner, table, start, &code, agreement);
		code.at += step.size;
		if (step.flow == MACHINE_FLOW_CALL) {
			agreement->calls++;
			agreement->seen_calls += machine_x86_64.is_behind_call(&code);
		}
	}
	machine_decoder_destroy(decoder);
}

static void test_the_c_library(void **state)
{
	struct agreement agreement = { 0 };
	const struct elf_segment *segments;
	struct elf_image *image;
	struct frame_table *table;
	struct error err;
	size_t count;

	assert_true(elf_image_open_path("/lib/x86_64-linux-gnu/libc.so.6", &image, &err));
	assert_true(frame_table_create(image, FRAME_RULES, &table, &err));
	segments = elf_image_segments(image, &count);
	for (size_t i = 0; i < count; i++) {
		struct machine_code code = { 0 };

		if (!(segments[i].flags & PF_X))
			continue;
		code.bytes = elf_image_bytes_at(image, segments[i].address, &code.size);
		assert_non_null(code.bytes);
		compare_all(*state, table, segments[i].address, code, &agreement);
	}
	frame_table_destroy(table);
	elf_image_unref(image);
	assert_true(agreement.all > 1000);
	assert_true(agreement.same * 100 > agreement.all * 92);
	assert_true(agreement.other * 100 < agreement.all * 2);
	assert_true(agreement.rows > 1000);
	assert_true(agreement.wrong_rows * 100 < agreement.rows);
	assert_int_equal(agreement.seen_calls, agreement.calls);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_ways_to_a_return),
		TEST(test_code_that_never_returns),
		TEST(test_long_loops_with_many_ways_out),
		TEST(test_code_that_is_not_at_hand),
		TEST(test_code_without_a_return),
		TEST(test_code_that_may_return),
		TEST(test_what_is_kept_of_it),
		TEST(test_the_c_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
