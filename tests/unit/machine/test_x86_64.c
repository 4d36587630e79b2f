/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binary/machine/x86_64.h"
#include "tests/unit/support/unit_test.h"

#include <asm/perf_regs.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define CODE(...) ((const uint8_t[]){ __VA_ARGS__ }), sizeof((const uint8_t[]){ __VA_ARGS__ })

struct expected {
	const uint8_t *bytes;
	size_t size, at;
	bool is_so;
};

static void expect(bool (*tells)(const struct machine_code *code), const struct expected *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct machine_code code = { cases[i].bytes, cases[i].size, cases[i].at };

		if (tells(&code) != cases[i].is_so)
			fail_msg("case %zu", i);
	}
	assert_false(tells(&(struct machine_code){ 0 }));
}

#define EXPECT(tells, cases) expect(machine_x86_64.tells, cases, sizeof(cases) / sizeof((cases)[0]))

static void test_calls(void **state)
{
	const struct expected cases[] = {
		{ CODE(0xe8, 1, 2, 3, 4), 5, true },
		{ CODE(0xff, 0xd0), 2, true },
		{ CODE(0x41, 0xff, 0xd4), 3, true },
		{ CODE(0xff, 0x50, 8), 3, true },
		{ CODE(0xff, 0x54, 0x24, 8), 4, true },
		{ CODE(0xff, 0x15, 1, 2, 3, 4), 6, true },
		{ CODE(0xff, 0x94, 0xc3, 1, 2, 3, 4), 7, true },
		{ CODE(0xff, 0xe0), 2, false },
		{ CODE(0x90, 0x90, 0x90, 0x90), 4, false },
		{ CODE(0xe9, 1, 2, 3, 4), 5, false },
		{ CODE(0xe8, 1, 2, 3, 4), 4, false },
	};

	EXPECT(is_behind_call, cases);
}

static void test_where_calls_and_jumps_lead(void **state)
{
	static const uint8_t call[] = { 0xe8, 0xf0, 0xff, 0xff, 0xff }, jump[] = { 0xe9, 0x10, 0, 0, 0 };
	static const uint8_t branch[] = { 0x0f, 0x84, 0x10, 0, 0, 0 }, indirect[] = { 0xff, 0x25, 0, 0, 0, 0 };
	struct machine_jump found;
	int64_t distance;

	assert_true(machine_x86_64.find_call(&(struct machine_code){ call, 5, 5 }, &distance));
	assert_int_equal(distance, -16);
	assert_false(machine_x86_64.find_call(&(struct machine_code){ call, 5, 4 }, &distance));
	assert_false(machine_x86_64.find_call(&(struct machine_code){ jump, 5, 5 }, &distance));
	assert_true(machine_x86_64.find_jump(&(struct machine_code){ jump, 5, 0 }, &found));
	assert_int_equal(found.distance, 21);
	assert_false(found.is_conditional || found.is_indirect);
	assert_false(machine_x86_64.find_jump(&(struct machine_code){ jump, 4, 0 }, &found));
	assert_true(machine_x86_64.find_jump(&(struct machine_code){ branch, 6, 1 }, &found));
	assert_true(found.is_conditional);
	assert_int_equal(found.distance, 21);
	assert_true(machine_x86_64.find_jump(&(struct machine_code){ indirect, 6, 0 }, &found));
	assert_true(found.is_indirect);
	assert_false(machine_x86_64.find_jump(&(struct machine_code){ call, 5, 0 }, &found));
}

static void test_system_calls(void **state)
{
	const struct expected cases[] = {
		{ CODE(0xb8, 0xe7, 0, 0, 0, 0x0f, 0x05), 7, true }, { CODE(0xb8, 0xe7, 0, 0, 0, 0x0f, 0x05), 5, false },
		{ CODE(0x05), 1, false }, { CODE(0x0f, 0x34), 2, false }, /* sysenter */
	};

	EXPECT(is_behind_system_call, cases);
}

/* `mov $15, %rax; syscall` as glibc and musl assemble it, and with the short move. */
static void test_signal_returns(void **state)
{
	const struct expected cases[] = {
		{ CODE(0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05), 0, true },
		{ CODE(0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05), 0, true },
		{ CODE(0x90, 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05), 1, true },
		{ CODE(0x90, 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05), 0, false },
		{ CODE(0xb8, 0x0f, 0, 0, 0, 0x0f), 0, false },
		{ CODE(0xb8, 0x0e, 0, 0, 0, 0x0f, 0x05), 0, false },
	};

	EXPECT(is_signal_return, cases);
}

/* The C library at hand tells the kernel where its handlers return to. */
static void test_signal_return_of_the_c_library(void **state)
{
	enum { MASK_BYTES = 8, RESTORER_BYTES = 9 };
	struct {
		void *handler;
		unsigned long flags;
		const uint8_t *restorer;
		uint64_t mask;
	} installed;

	assert_true(signal(SIGUSR2, SIG_DFL) != SIG_ERR);
	assert_int_equal(syscall(SYS_rt_sigaction, SIGUSR2, NULL, &installed, MASK_BYTES), 0);
	assert_true(machine_x86_64.is_signal_return(&(struct machine_code){ installed.restorer, RESTORER_BYTES, 0 }));
}

static volatile bool has_checked;

/* The kernel's registers of what was interrupted lie where the record says: above the handler's return address. */
static void check_context(int number, siginfo_t *info, void *context)
{
	static const int registers[X86_64_REGISTERS] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP,
		REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };
	const ucontext_t *interrupted = context;

	has_checked = true;
	for (size_t i = 0; i < X86_64_REGISTERS; i++)
		has_checked &= (const uint8_t *)&interrupted->uc_mcontext.gregs[registers[i]] ==
			       (const uint8_t *)context + machine_x86_64.signal_offsets[i];
}

static void test_registers_of_a_signal(void **state)
{
	struct sigaction action = { .sa_sigaction = check_context, .sa_flags = SA_SIGINFO }, before;

	assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
	assert_int_equal(raise(SIGUSR1), 0);
	assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
	assert_true(has_checked);
}

static void test_last_returns(void **state)
{
	const struct expected cases[] = {
		{ CODE(0xff, 0xd0, 0x89, 0xc7, 0xe8, 0, 0, 0, 0), 2, true },
		{ CODE(0xff, 0xd0, 0x48, 0x89, 0xc7, 0xe8, 0, 0, 0, 0), 2, true },
		{ CODE(0xff, 0xd0, 0x48, 0x63, 0xf8, 0xe8, 0, 0, 0, 0), 2, true },
		{ CODE(0xff, 0xd0, 0x89, 0xc7, 0xe9, 0, 0, 0, 0), 2, false },
		{ CODE(0x90, 0x90, 0x89, 0xc7, 0xe8, 0, 0, 0, 0), 2, false },
	};

	EXPECT(is_last_return, cases);
}

static void test_context_starts(void **state)
{
	const struct expected cases[] = {
		{ CODE(0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24), 0, true },
		{ CODE(0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c), 0, false },
	};

	EXPECT(is_context_start, cases);
}

/* Entries as ld writes them: without and with indirect branch tracking, and the older one with a bound prefix. */
static void test_slots_of_linkage_tables(void **state)
{
	static const uint8_t lazy[16] = { 0xff, 0x25, 0xe2, 0x2f, 0, 0, 0x68, 0, 0, 0, 0, 0xe9, 0xe0, 0xff, 0xff,
		0xff };
	static const uint8_t tracked[16] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0xb6, 0x2f, 0, 0 };
	static const uint8_t bound[16] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x25, 0xf5, 0xff, 0xff, 0xff };
	struct machine_code code = { lazy, sizeof(lazy), 0 };
	uint64_t slot;

	assert_true(machine_x86_64.find_slot_jump(&code, 0x1030, &slot));
	assert_int_equal(slot, 0x1036 + 0x2fe2);
	assert_false(machine_x86_64.find_slot_jump(&code, 0x1030, &slot));
	code = (struct machine_code){ tracked, sizeof(tracked), 0 };
	assert_true(machine_x86_64.find_slot_jump(&code, 0x1050, &slot));
	assert_int_equal(slot, 0x105a + 0x2fb6);
	code = (struct machine_code){ bound, sizeof(bound), 0 };
	assert_true(machine_x86_64.find_slot_jump(&code, 0x1050, &slot));
	assert_int_equal(slot, 0x105b - 11);
	/* One that is cut off is none. */
	code = (struct machine_code){ lazy, 5, 0 };
	assert_false(machine_x86_64.find_slot_jump(&code, 0x1030, &slot));
}

static void test_prologues(void **state)
{
	static const uint8_t bytes[] = { 0x90, 0x55, 0x48, 0x81, 0xec, 0, 1, 0, 0, 0x90, 0x55, 0x48, 0x83, 0xec, 96,
		0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90 };
	struct machine_code code = { bytes, sizeof(bytes), sizeof(bytes) };
	int32_t room_bytes;
	size_t end;

	assert_true(machine_x86_64.find_prologue(&code, &end, &room_bytes));
	assert_int_equal(end, 15);
	assert_int_equal(room_bytes, 96);
	/* The nearer one has not ended there. */
	code.at = 14;
	assert_true(machine_x86_64.find_prologue(&code, &end, &room_bytes));
	assert_int_equal(end, 9);
	assert_int_equal(room_bytes, 256);
	code.at = 8;
	assert_false(machine_x86_64.find_prologue(&code, &end, &room_bytes));
	assert_false(machine_x86_64.find_prologue(&(struct machine_code){ bytes, 7, 7 }, &end, &room_bytes));
}

static void test_prologues_are_near(void **state)
{
	enum { FAR = 2 * MACHINE_MOST_FUNCTION_BYTES };
	static const uint8_t prologue[] = { 0x55, 0x48, 0x83, 0xec, 96 };
	uint8_t *bytes = malloc(FAR);
	struct machine_code code = { bytes, FAR, MACHINE_MOST_FUNCTION_BYTES };
	int32_t room_bytes;
	size_t end;

	assert_non_null(bytes);
	memset(bytes, 0x55, FAR);
	memcpy(bytes, prologue, sizeof(prologue));
	assert_true(machine_x86_64.find_prologue(&code, &end, &room_bytes));
	assert_int_equal(end, sizeof(prologue));
	code.at++;
	assert_false(machine_x86_64.find_prologue(&code, &end, &room_bytes));
	free(bytes);
}

/* perf's numbers are those of the kernel's header, DWARF's those of the ABI. */
static void test_registers_of_perf(void **state)
{
	static const uint8_t perf[X86_64_REGISTERS] = { PERF_REG_X86_AX, PERF_REG_X86_DX, PERF_REG_X86_CX,
		PERF_REG_X86_BX, PERF_REG_X86_SI, PERF_REG_X86_DI, PERF_REG_X86_BP, PERF_REG_X86_SP, PERF_REG_X86_R8,
		PERF_REG_X86_R9, PERF_REG_X86_R10, PERF_REG_X86_R11, PERF_REG_X86_R12, PERF_REG_X86_R13,
		PERF_REG_X86_R14, PERF_REG_X86_R15, PERF_REG_X86_IP };

	for (size_t i = 0; i < X86_64_REGISTERS; i++) {
		uint64_t below = ((uint64_t)1 << perf[i]) - 1;
		int place = __builtin_popcountll(machine_x86_64.perf_registers & below);

		assert_true(machine_x86_64.perf_registers >> perf[i] & 1);
		assert_int_equal(machine_x86_64.perf_order[place], i);
	}
}

/* ---- One instruction at a time ---- */

static struct machine_step step_over(
	struct machine_decoder *decoder, const uint8_t *bytes, size_t size, struct machine_frame *frame)
{
	struct machine_step step;

	assert_true(machine_x86_64.step(decoder, bytes, size, frame, &step));
	assert_int_equal(step.size, size);
	return step;
}

static void test_where_instructions_lead(void **state)
{
	const struct {
		const uint8_t *bytes;
		size_t size;
		enum machine_flow flow;
		int64_t distance;
	} cases[] = {
		{ CODE(0x90), MACHINE_FLOW_PADDING, 0 },
		{ CODE(0x0f, 0x1f, 0x40, 0), MACHINE_FLOW_PADDING, 0 },
		{ CODE(0x31, 0xc0), MACHINE_FLOW_NEXT, 0 },
		{ CODE(0xe8, 0x10, 0, 0, 0), MACHINE_FLOW_CALL, 16 },
		{ CODE(0xff, 0xd0), MACHINE_FLOW_CALL, 0 },
		{ CODE(0xeb, 0xfe), MACHINE_FLOW_JUMP, -2 },
		{ CODE(0xe9, 0x10, 0, 0, 0), MACHINE_FLOW_JUMP, 16 },
		{ CODE(0x74, 0x10), MACHINE_FLOW_BRANCH, 16 },
		{ CODE(0x0f, 0x84, 0x10, 0, 0, 0), MACHINE_FLOW_BRANCH, 16 },
		{ CODE(0xc3), MACHINE_FLOW_RETURN, 0 },
		{ CODE(0xff, 0x25, 1, 0, 0, 0), MACHINE_FLOW_RETURN, 0 },
		{ CODE(0xff, 0xe0), MACHINE_FLOW_UNKNOWN, 0 },
		{ CODE(0xc2, 16, 0), MACHINE_FLOW_UNKNOWN, 16 },
		{ CODE(0xf4), MACHINE_FLOW_UNKNOWN, 0 },
		{ CODE(0x48, 0x29, 0xc4), MACHINE_FLOW_UNKNOWN, 0 },
	};
	struct machine_decoder *decoder = machine_decoder_create(&machine_x86_64);
	struct machine_step ignored;

	assert_non_null(decoder);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct machine_frame frame = machine_frame_none(&machine_x86_64);
		struct machine_step step = step_over(decoder, cases[i].bytes, cases[i].size, &frame);

		if (step.flow != cases[i].flow || step.distance != cases[i].distance)
			fail_msg("case %zu: flow %d, distance %lld", i, step.flow, (long long)step.distance);
		if (step.flow != MACHINE_FLOW_UNKNOWN)
			assert_true(machine_frame_is_none(&machine_x86_64, &frame));
	}
	assert_false(machine_x86_64.step(
		decoder, (const uint8_t[]){ 0x48, 0x83 }, 2, &(struct machine_frame){ 0 }, &ignored));
	machine_decoder_destroy(decoder);
}

static void test_what_instructions_do_to_the_frame(void **state)
{
	struct machine_decoder *decoder = machine_decoder_create(&machine_x86_64);
	struct machine_frame frame = machine_frame_none(&machine_x86_64);

	assert_non_null(decoder);
	assert_true(step_over(decoder, CODE(0x55), &frame).begins_function); /* push %rbp */
	assert_int_equal(frame.stack_pointer.offset, -8);
	step_over(decoder, CODE(0x48, 0x89, 0xe5), &frame); /* mov %rsp, %rbp */
	assert_int_equal(frame.frame_pointer.base, X86_64_RSP);
	assert_int_equal(frame.frame_pointer.offset, -8);
	assert_true(step_over(decoder, CODE(0x48, 0x83, 0xec, 32), &frame).begins_function); /* sub $32, %rsp */
	assert_int_equal(frame.stack_pointer.offset, -40);
	assert_false(step_over(decoder, CODE(0xc9), &frame).begins_function); /* leave */
	assert_int_equal(frame.stack_pointer.offset, 0);
	assert_int_equal(frame.frame_pointer.base, 0);
	/* What was pushed on the way is none of the caller's; what lies above is. */
	assert_int_equal(frame.saved[0].base, 0);
	step_over(decoder, CODE(0x5b), &frame); /* pop %rbx */
	assert_int_equal(frame.saved[machine_x86_64.saved_index[X86_64_RBX]].base, X86_64_RSP);
	assert_int_equal(frame.saved[machine_x86_64.saved_index[X86_64_RBX]].offset, 0);
	machine_decoder_destroy(decoder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_where_calls_and_jumps_lead),
		cmocka_unit_test(test_system_calls),
		cmocka_unit_test(test_signal_returns),
		cmocka_unit_test(test_signal_return_of_the_c_library),
		cmocka_unit_test(test_registers_of_a_signal),
		cmocka_unit_test(test_last_returns),
		cmocka_unit_test(test_context_starts),
		cmocka_unit_test(test_slots_of_linkage_tables),
		cmocka_unit_test(test_prologues),
		cmocka_unit_test(test_prologues_are_near),
		cmocka_unit_test(test_registers_of_perf),
		cmocka_unit_test(test_where_instructions_lead),
		cmocka_unit_test(test_what_instructions_do_to_the_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
