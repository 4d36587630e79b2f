/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/unwind.h"

#include "sampler/process/process.h"
#include "sampler/process/reader.h"
#include "tests/unit/frame/elf_bytes.h"
#include "tests/unit/support/unit_test.h"

#include <execinfo.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

enum { STACK_AT = 0x7000, CODE_AT = 0x1000, CODE_END = 0x2000, WORDS = 64 };

static int setup(void **state)
{
	struct unwinder *unwinder;
	struct error err;

	assert_true(unwinder_create(&unwinder, &err));
	*state = unwinder;
	return 0;
}

static int teardown(void **state)
{
	unwinder_destroy(*state);
	return 0;
}

/* ---- A space of code without unwind information, and stacks written by hand ---- */

static bool find_bare(void *context, uint64_t address, struct unwind_code *code)
{
	if (address < CODE_AT || address >= CODE_END)
		return false;
	*code = (struct unwind_code){ .image_address = address, .image = (uint32_t)address };
	return true;
}

static const struct unwind_space bare = { .find = find_bare, .generation = 1, .machine = &machine_x86_64 };

static struct unwind_result unwind_one(struct unwinder *unwinder, const struct unwind_space *space,
	const struct unwind_registers *registers, const struct unwind_stack_dump *dump)
{
	struct unwind_job job = { .space = *space, .registers = *registers, .dump = *dump };

	unwind_stacks(unwinder, &job, 1);
	return job.result;
}

static struct unwind_result unwind_words(struct unwinder *unwinder, const uint64_t *words, uint64_t rbp)
{
	/* Ends where the heap block does, so that a read past it is caught by the sanitizer. */
	uint64_t *dump_words = malloc(WORDS * sizeof(*words));
	struct unwind_stack_dump dump = { (const uint8_t *)dump_words, WORDS * sizeof(*words), STACK_AT };
	struct unwind_registers registers = {
		.values = { [X86_64_RSP] = STACK_AT, [X86_64_RBP] = rbp, [X86_64_RIP] = 0x1100 }
	};
	struct unwind_result result;

	assert_non_null(dump_words);
	memcpy(dump_words, words, WORDS * sizeof(*words));
	result = unwind_one(unwinder, &bare, &registers, &dump);
	free(dump_words);
	return result;
}

static uint64_t at(size_t word)
{
	return STACK_AT + 8 * word;
}

static void test_frame_pointers_to_the_root(void **state)
{
	uint64_t words[WORDS] = { [4] = at(10), [5] = 0x1200, [10] = 0, [11] = 0x1300 };
	struct unwind_result result = unwind_words(*state, words, at(4));

	assert_int_equal(result.stop, PROFILE_STOP_ROOT);
	assert_int_equal(result.count, 3);
	assert_int_equal(result.frames[0].image, 0x1100);
	assert_int_equal(result.frames[1].image, 0x11ff);
	assert_int_equal(unwind_frame_address(&result.frames[0]), 0x1100);
	assert_int_equal(unwind_frame_address(&result.frames[1]), 0x11ff);
	assert_int_equal(result.frames[1].pc, 0x1200);
	assert_int_equal(result.frames[1].stack_pointer, at(6));
	assert_int_equal(result.frames[2].image, 0x12ff);
	assert_int_equal(result.frame_pointer_frames, 2);
}

static void expect_stop(
	struct unwinder *unwinder, const uint64_t *words, uint64_t rbp, enum profile_stop stop, size_t count)
{
	struct unwind_result result = unwind_words(unwinder, words, rbp);

	assert_int_equal(result.stop, stop);
	assert_int_equal(result.count, count);
}

static void test_why_it_stops(void **state)
{
	uint64_t words[WORDS] = { [4] = at(10), [5] = 0x1200, [10] = at(4), [11] = 0x1300 };
	uint64_t no_code[WORDS] = { [4] = at(10), [5] = 0x9999 };
	uint64_t beyond[WORDS] = { [4] = at(WORDS + 8), [5] = 0x1200 };

	/* A frame pointer that goes down again is none. */
	expect_stop(*state, words, at(4), PROFILE_STOP_NO_RULE, 3);
	expect_stop(*state, no_code, at(4), PROFILE_STOP_NO_RULE, 1);
	expect_stop(*state, beyond, at(4), PROFILE_STOP_DUMP_END, 2);
	expect_stop(*state, words, at(4) + 1, PROFILE_STOP_NO_RULE, 1);
	expect_stop(*state, words, STACK_AT - 8, PROFILE_STOP_NO_RULE, 1);
	expect_stop(*state, words, at(WORDS - 1), PROFILE_STOP_DUMP_END, 1);
	expect_stop(*state, words, UINT64_MAX & ~(uint64_t)7, PROFILE_STOP_NO_RULE, 1);
	/* The register of a leaf may have another use than that of a frame pointer. */
	expect_stop(*state, words, 0, PROFILE_STOP_NO_RULE, 1);
}

static void test_an_unknown_processor_has_no_frames(void **state)
{
	uint64_t words[WORDS] = { [4] = at(10), [5] = 0x1200, [10] = 0, [11] = 0x1300 };
	struct unwind_registers registers = {
		.values = { [X86_64_RSP] = STACK_AT, [X86_64_RBP] = at(4), [X86_64_RIP] = 0x1100 }
	};
	struct unwind_stack_dump dump = { (const uint8_t *)words, sizeof(words), STACK_AT };
	struct unwind_job jobs[3];

	for (size_t i = 0; i < 3; i++)
		jobs[i] = (struct unwind_job){ .space = bare, .registers = registers, .dump = dump };
	jobs[1].space.machine = NULL;
	unwind_stacks(*state, jobs, 3);
	assert_int_equal(jobs[1].result.count, 0);
	assert_int_equal(jobs[1].result.stop, PROFILE_STOP_UNWINDER);
	/* Those beside it are walked all the same. */
	assert_int_equal(jobs[0].result.count, 3);
	assert_int_equal(jobs[2].result.count, 3);
}

/* ---- Where threads start without unwind information, told by their code ---- */

static bool find_in_bytes(void *context, uint64_t address, struct unwind_code *code)
{
	if (!find_bare(context, address, code))
		return false;
	code->code = (struct machine_code){ context, CODE_END - CODE_AT, address - CODE_AT };
	return true;
}

/* Code by its bytes, from two before the return address on. */
struct told_by_code {
	const char *bytes;
	size_t size;
	enum profile_stop stop;
	size_t count;
};

/* In spaces of their own, since answers are kept. The frame pointer of the second frame leads nowhere. */
static void expect_told_by_code(
	struct unwinder *unwinder, const struct told_by_code *cases, size_t count, const uint64_t *words)
{
	struct unwind_stack_dump dump = { (const uint8_t *)words, WORDS * sizeof(*words), STACK_AT };
	struct unwind_registers registers = {
		.values = { [X86_64_RSP] = STACK_AT, [X86_64_RBP] = at(4), [X86_64_RIP] = 0x1100 }
	};

	for (size_t i = 0; i < count; i++) {
		uint8_t code[CODE_END - CODE_AT] = { 0 };
		struct unwind_space space = { find_in_bytes, NULL, code, hash_mix((uintptr_t)words, i), NULL,
			&machine_x86_64 };
		struct unwind_result result;

		memcpy(code + 0x200 - 2, cases[i].bytes, cases[i].size);
		/* The leaf keeps frame pointers: push %rbp; mov %rsp, %rbp */
		memcpy(code + 0x80, "\x55\x48\x89\xe5", 4);
		/* musl's __clone: call *%r9; mov %eax, %edi; xor %eax, %eax; mov $60, %al; syscall */
		memcpy(code + 0x400 - 3, "\x41\xff\xd1\x89\xc7\x31\xc0\xb0\x3c\x0f\x05", 11);
		result = unwind_one(unwinder, &space, &registers, &dump);
		assert_int_equal(result.stop, cases[i].stop);
		assert_int_equal(result.count, cases[i].count);
	}
}

static void test_roots_that_only_their_code_tells(void **state)
{
	static const struct told_by_code cases[] = {
		{ "\xff\xd0\x89\xc7\xe8", 5, PROFILE_STOP_ROOT, 3 },             /* musl: exit(main()) */
		{ "\xff\xd0\x48\x89\xc7\xe8", 6, PROFILE_STOP_ROOT, 3 },         /* musl: pthread_exit(start()) */
		{ "\xff\xd0\x48\x63\xf8\xe8", 6, PROFILE_STOP_ROOT, 3 },         /* musl: the same of a C11 thread */
		{ "\0\0\x48\x89\xdc\x48\x8b\x3c\x24", 9, PROFILE_STOP_ROOT, 2 }, /* glibc: __start_context */
		{ "\xff\xd0\x89\xc7\x31\xc0\xb0\x3c\x0f\x05", 10, PROFILE_STOP_ROOT, 2 }, /* musl: __clone */
		{ "\xff\xd0\x89\xc7\x90", 5, PROFILE_STOP_NO_RULE, 2 },
		{ "\0\0\x89\xc7\xe8", 5, PROFILE_STOP_NO_RULE, 2 }, /* f(g()) */
	};
	/* What the second frame keeps, and its return address. */
	uint64_t words[WORDS] = { [4] = 1, [5] = 0x1200, [6] = 7, [7] = 0x1500, [8] = 0x1400 };

	expect_told_by_code(*state, cases, sizeof(cases) / sizeof(cases[0]), words);
}

/* f(g()) looks like exit(main()): without what starts threads above it, it has a caller like any other. */
static void test_what_looks_like_a_root_is_none(void **state)
{
	static const struct told_by_code cases[] = {
		{ "\xff\xd0\x89\xc7\xe8", 5, PROFILE_STOP_NO_RULE, 2 },
		{ "\xff\xd0\x48\x89\xc7\xe8", 6, PROFILE_STOP_NO_RULE, 2 },
	};
	uint64_t words[WORDS] = { [4] = 1, [5] = 0x1200, [6] = 7, [7] = 0x1500, [40] = 0x1400 };

	expect_told_by_code(*state, cases, sizeof(cases) / sizeof(cases[0]), words);
}

/* ---- Code that its image's table says nothing of ---- */

struct silent_code {
	const struct frame_table *table;
	uint8_t bytes[CODE_END - CODE_AT];
};

static bool find_silent(void *context, uint64_t address, struct unwind_code *code)
{
	struct silent_code *silent = context;

	if (!find_in_bytes(silent->bytes, address, code))
		return false;
	code->table = silent->table;
	return true;
}

/* What was guessed at one instruction is a guess at those beside it, and not believed where it leads behind no call. */
static void test_a_guess_is_no_rule_beside_it(void **state)
{
	static const uint8_t nothing[] = { 0 };
	struct elf_bytes wanted = { nothing, nothing, sizeof(nothing), sizeof(nothing), true, false };
	struct silent_code silent = { .bytes = { 0 } };
	struct unwind_space space = { find_silent, NULL, &silent, 200, NULL, &machine_x86_64 };
	uint64_t words[WORDS] = { 0x1200 };
	struct unwind_stack_dump dump = { (const uint8_t *)words, sizeof(words), STACK_AT };
	struct unwind_registers registers = { .values = { [X86_64_RSP] = STACK_AT } };
	struct frame_table *table;
	struct error err;

	assert_true(elf_bytes_table(&wanted, &table, &err));
	silent.table = table;
	/* nop, nop, nop, ret */
	memcpy(silent.bytes + 0x100, "\x90\x90\x90\xc3", 4);
	for (uint64_t pc = 0x1100; pc < 0x1104; pc++) {
		registers.values[X86_64_RIP] = pc;
		assert_int_equal(unwind_one(*state, &space, &registers, &dump).count, 1);
	}
	/* The same behind a call. */
	memcpy(silent.bytes + 0x1fb, "\xe8", 1);
	space.generation++;
	for (uint64_t pc = 0x1100; pc < 0x1104; pc++) {
		registers.values[X86_64_RIP] = pc;
		assert_true(unwind_one(*state, &space, &registers, &dump).count >= 2);
	}
	frame_table_destroy(table);
}

static void test_pc_in_no_mapping(void **state)
{
	struct unwind_stack_dump dump = { .address = STACK_AT };
	struct unwind_registers registers = { .values = { [X86_64_RIP] = 0x9999, [X86_64_RSP] = STACK_AT } };
	struct unwind_result result;

	result = unwind_one(*state, &bare, &registers, &dump);
	assert_int_equal(result.stop, PROFILE_STOP_NO_MAPPING);
	assert_int_equal(result.count, 0);
	registers.values[X86_64_RIP] = 0x1100;
	registers.values[X86_64_RBP] = STACK_AT;
	result = unwind_one(*state, &bare, &registers, &dump);
	assert_int_equal(result.count, 1);
}

/* ---- Real stacks of this process, against the unwinder of the C library ---- */

struct captured {
	struct unwind_registers registers;
	uint8_t stack[32768];
	size_t stack_bytes;
	void *oracle[64];
	int oracle_count;
};

static uint64_t stack_end;

static void capture(struct captured *captured, const ucontext_t *context)
{
	/* DWARF's order from glibc's REG_*. */
	static const int greg[X86_64_REGISTERS] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP,
		REG_RSP, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };
	uint64_t rsp;

	for (size_t i = 0; i < X86_64_REGISTERS; i++)
		captured->registers.values[i] = (uint64_t)context->uc_mcontext.gregs[greg[i]];
	rsp = captured->registers.values[X86_64_RSP];
	captured->stack_bytes = stack_end - rsp < sizeof(captured->stack) ? stack_end - rsp : sizeof(captured->stack);
	/* Sanitizers guard the space between variables, which is stack all the same. */
	for (volatile size_t i = 0; i < captured->stack_bytes; i += sizeof(uint64_t)) {
		uint64_t word;

		__asm__ volatile("movq (%1), %0" : "=r"(word) : "r"(rsp + i) : "memory");
		memcpy(captured->stack + i, &word, sizeof(word));
	}
}

static struct captured taken;

__attribute__((noinline)) static int inner(int x)
{
	ucontext_t context;

	getcontext(&context);
	capture(&taken, &context);
	taken.oracle_count = backtrace(taken.oracle, 64);
	return x + 1;
}

__attribute__((noinline)) static int middle(int x)
{
	volatile char room[200];

	room[x] = (char)inner(x);
	return room[x] + 1;
}

__attribute__((noinline)) static int outer(int x)
{
	return middle(x + 1) * 3;
}

/* Where the oracle's chain has our first caller; between them lie the oracle's own frames. */
static size_t find_caller(const struct captured *captured, uint64_t pc)
{
	for (int i = 0; i < captured->oracle_count; i++)
		if ((uint64_t)(uintptr_t)captured->oracle[i] == pc)
			return (size_t)i;
	fail_msg("the oracle does not know the first caller");
	return 0;
}

static void expect_callers(const struct unwind_result *result, const struct captured *captured, size_t first)
{
	for (size_t i = 1; i < result->count && first + i - 1 < (size_t)captured->oracle_count; i++)
		assert_int_equal(result->frames[i].pc, (uint64_t)(uintptr_t)captured->oracle[first + i - 1]);
}

/* Walked together, each stack is what it is alone: the whole one among ones cut shorter and shorter. */
static void walk_together(struct unwinder *unwinder, const struct unwind_space *space, const struct captured *captured)
{
	struct unwind_job jobs[UNWIND_TOGETHER];

	for (size_t i = 0; i < UNWIND_TOGETHER; i++) {
		size_t size = captured->stack_bytes * i / (UNWIND_TOGETHER - 1);

		jobs[i] = (struct unwind_job){ .space = *space,
			.registers = captured->registers,
			.dump = { captured->stack, size, captured->registers.values[X86_64_RSP] } };
	}
	unwind_stacks(unwinder, jobs, UNWIND_TOGETHER);
	for (size_t i = 0; i < UNWIND_TOGETHER; i++) {
		struct unwind_result together = jobs[i].result;
		struct unwind_result alone;

		/* Alone a stack is walked in the place of the first. */
		if (i == 0)
			continue;
		alone = unwind_one(unwinder, space, &jobs[i].registers, &jobs[i].dump);
		assert_int_equal(alone.count, together.count);
		assert_int_equal(alone.stop, together.stop);
		for (size_t frame = 0; frame < alone.count; frame++) {
			assert_int_equal(alone.frames[frame].pc, together.frames[frame].pc);
			assert_int_equal(alone.frames[frame].stack_pointer, together.frames[frame].stack_pointer);
		}
	}
}

static void compare_with_oracle(struct unwinder *unwinder, const struct captured *captured)
{
	struct unwind_stack_dump dump = { captured->stack, captured->stack_bytes,
		captured->registers.values[X86_64_RSP] };
	struct process_reader *reader;
	struct process_table table;
	struct process_space space = { .table = &table };
	struct unwind_space finder;
	struct unwind_result result;
	struct process *process;
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct error err;
	size_t first;

	assert_true(profile_create(&profile, &err));
	assert_true(process_reader_create(&reader, &err));
	process_table_init(&table, profile, process_host_live(reader), NULL);
	assert_true(process_table_get(&table, getpid(), &process, &err));
	space.process = process;
	finder = (struct unwind_space){ process_space_find, process_space_read, &space, process->generation, NULL,
		&machine_x86_64 };
	result = unwind_one(unwinder, &finder, &captured->registers, &dump);
	assert_true(result.count > 5);
	assert_int_equal(result.stop, PROFILE_STOP_ROOT);
	first = find_caller(captured, result.frames[1].pc);
	assert_int_equal(result.count - 1, (size_t)captured->oracle_count - first);
	expect_callers(&result, captured, first);
	walk_together(unwinder, &finder, captured);
	/* Whatever the dump is cut to, what is found agrees, and nothing outside is read. */
	for (size_t size = 0; size < captured->stack_bytes; size += 104) {
		struct unwind_stack_dump cut = { malloc(size + 1), size, dump.address };

		assert_non_null(cut.bytes);
		memcpy((uint8_t *)cut.bytes, captured->stack, size);
		result = unwind_one(unwinder, &finder, &captured->registers, &cut);
		expect_callers(&result, captured, first);
		free((uint8_t *)cut.bytes);
	}
	process_table_deinit(&table);
	process_reader_destroy(reader);
}

static void test_own_stack(void **state)
{
	assert_int_equal(outer(1), 12);
	compare_with_oracle(*state, &taken);
}

static void on_signal(int number)
{
	inner(1);
}

__attribute__((noinline)) static int raises(int x)
{
	raise(SIGUSR1);
	return x + 1;
}

/* Through the kernel's signal frame; the oracle is inside the handler as well. */
static void test_through_a_signal_handler(void **state)
{
	struct sigaction action = { .sa_handler = on_signal }, before;

	sigaction(SIGUSR1, &action, &before);
	assert_int_equal(raises(1), 2);
	sigaction(SIGUSR1, &before, NULL);
	compare_with_oracle(*state, &taken);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(test_frame_pointers_to_the_root),
		TEST(test_why_it_stops),
		TEST(test_an_unknown_processor_has_no_frames),
		TEST(test_roots_that_only_their_code_tells),
		TEST(test_what_looks_like_a_root_is_none),
		TEST(test_a_guess_is_no_rule_beside_it),
		TEST(test_pc_in_no_mapping),
		TEST(test_own_stack),
		TEST(test_through_a_signal_handler),
	};

	/* The strings of the arguments lie above every frame. */
	stack_end = (uint64_t)(uintptr_t)argv[0] & ~(uint64_t)7;
	return cmocka_run_group_tests_name("sampler.unwind", tests, NULL, NULL);
}
