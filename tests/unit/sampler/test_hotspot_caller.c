/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "hotspot_fixture.h"

#include "sampler/interpret/hotspot/caller.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

/* Callers of frames in the code cache of a HotSpot in memory, whose method and stubs are made here. */
enum {
	STACK = 0x7f0000001000, /* of the copy: WORDS words */
	WORDS = 64,
	FRAME_WORDS =
		4, /* of the method's frames: one for variables, the alignment, the frame pointer, the return address */
	COMPLETE_AT = 5,
	DISPATCH_SEGMENT = 20,
	ADAPTER_SEGMENT = 24,
	THAWING_SEGMENT = 28,
	FRAMELESS_SEGMENT = 32,
	LOOP = START + 0x8000, /* the interpreter: outside of the heap, within the code cache */
	LOOP_BYTES = 0x1000,
	LOOP_FRAMED = 0x40, /* the first codelet is an entry of methods: from here on it has a frame */
	ENTRY_RETURN = STUB + 0x90,
	RBP = 6,
	R13 = 13,
	RAX = 0,
};

/* push %rbp; sub $0x10,%rsp; nop; add $0x10,%rsp; pop %rbp; cmp 0x10(%r15),%rsp; ja; ret */
static const uint8_t instructions[] = { 0x55, 0x48, 0x83, 0xec, 0x10, 0x90, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0x49, 0x3b,
	0x67, 0x10, 0x77, 0x05, 0xc3 };

struct asking {
	struct jvm *jvm;
	struct hotspot_process *process;
	struct machine_decoder *decoder;
	uint64_t stack[WORDS];
	struct unwind_stack_dump dump;
	struct unwind_registers registers;
	struct unwind_made_caller caller;
};

static uint64_t slot(size_t word)
{
	return STACK + word * sizeof(uint64_t);
}

static uint64_t blob_in(size_t segment)
{
	return CODE + ((uint64_t)segment << SEGMENT_SHIFT) + BLOCK_HEAD;
}

static uint64_t stub_code(size_t segment)
{
	return blob_in(segment) + 0x80;
}

static void put_stub(struct jvm *jvm, size_t segment, const char *name, uint64_t frame_words)
{
	uint64_t blob = blob_in(segment);

	hotspot_fixture_put_block(jvm, segment, 0x180);
	hotspot_fixture_put_blob(jvm, blob, blob + 0x80, blob + 0x180, name);
	hotspot_fixture_put(jvm, blob + hotspot_fixture_layout.blob_frame_size.offset, frame_words, 4);
	hotspot_fixture_put(jvm, blob + hotspot_fixture_layout.blob_frame_complete_offset.offset, UINT32_MAX, 4);
}

static void put_everything(struct jvm *jvm)
{
	hotspot_fixture_put(jvm, NMETHOD + hotspot_fixture_layout.blob_frame_size.offset, FRAME_WORDS, 4);
	hotspot_fixture_put(jvm, NMETHOD + hotspot_fixture_layout.blob_frame_complete_offset.offset, COMPLETE_AT, 4);
	hotspot_fixture_put(
		jvm, NMETHOD + hotspot_fixture_layout.nmethod_deopt_handler_begin.offset, NMETHOD_CODE + 0x100, 8);
	hotspot_fixture_put(jvm, NMETHOD + hotspot_fixture_layout.nmethod_orig_pc_offset.offset, 8, 4);
	memcpy(jvm->memory + (NMETHOD_CODE - START), instructions, sizeof(instructions));
	put_stub(jvm, DISPATCH_SEGMENT, "vtable chunks", 0);
	put_stub(jvm, ADAPTER_SEGMENT, "I2C/C2I adapters", 0);
	put_stub(jvm, THAWING_SEGMENT, "StubRoutines (continuation stubs)", 0);
	put_stub(jvm, FRAMELESS_SEGMENT, "unwind_exception Runtime1 stub", UINT32_MAX);
}

static int setup(void **state)
{
	struct asking *asking = calloc(1, sizeof(*asking));
	struct hotspot_process *process;
	struct error err;
	void *jvm;

	assert_non_null(asking);
	hotspot_fixture_setup(&jvm);
	asking->jvm = jvm;
	put_everything(jvm);
	assert_true(hotspot_process_create(
		&asking->jvm->target.memory, &asking->jvm->names, &asking->jvm->debug_bytes, &process, &err));
	process->target.layout = hotspot_fixture_layout;
	process->target.round = 1;
	hotspot_codes_read_heaps(&process->codes);
	process->low = START;
	process->high = START + BYTES;
	process->entry_return = ENTRY_RETURN;
	process->loop = (struct hotspot_loop){ .start = LOOP,
		.end = LOOP + LOOP_BYTES,
		.entries = calloc(1, sizeof(*process->loop.entries)),
		.count = 1 };
	process->loop.entries[0] = (struct hotspot_codelet){ LOOP, LOOP + 0x100, LOOP + LOOP_FRAMED };
	asking->process = process;
	asking->jvm->fixture->table.machine = machine_of(EM_X86_64);
	asking->decoder = machine_decoder_create(asking->jvm->fixture->table.machine);
	asking->dump = (struct unwind_stack_dump){ (const uint8_t *)asking->stack, sizeof(asking->stack), STACK };
	*state = asking;
	return 0;
}

static int teardown(void **state)
{
	struct asking *asking = *state;
	void *jvm = asking->jvm;

	machine_decoder_destroy(asking->decoder);
	hotspot_process_destroy(asking->process);
	hotspot_fixture_teardown(&jvm);
	free(asking);
	return 0;
}

/* Asks for the caller of a frame whose stack pointer is at a word of the stack. */
static enum unwind_answer ask(struct asking *asking, uint64_t pc, bool is_exact, size_t word, uint64_t carried)
{
	const struct unwind_made_frame frame = { .pc = pc,
		.stack_pointer = slot(word),
		.is_exact = is_exact,
		.registers = &asking->registers,
		.dump = &asking->dump,
		.carried = carried };
	enum unwind_answer answer;
	struct error err;

	asking->caller = (struct unwind_made_caller){ .frame_pc = pc };
	assert_true(hotspot_find_caller(asking->process, asking->decoder, &frame, &asking->caller, &answer, &err));
	return answer;
}

static void expect_caller(const struct asking *asking, uint64_t pc, size_t word, unsigned int frame_pointer_words)
{
	uint8_t index = machine_of(EM_X86_64)->saved_index[RBP];

	assert_int_equal(asking->caller.pc, pc);
	assert_int_equal(asking->caller.stack_pointer, slot(word));
	assert_int_equal(asking->caller.saved[index], frame_pointer_words);
}

static void compiled_methods_have_one_size(void **state)
{
	struct asking *asking = *state;

	asking->stack[10 + FRAME_WORDS - 1] = NMETHOD_CODE + 0x30;
	assert_int_equal(ask(asking, NMETHOD_CODE + 0x40, false, 10, 0), UNWIND_ANSWER_CALLER);
	expect_caller(asking, NMETHOD_CODE + 0x30, 10 + FRAME_WORDS, 2);
	/* What an interpreted callee has put above the frame's stack pointer is no part of the frame. */
	asking->stack[12 + FRAME_WORDS - 1] = NMETHOD_CODE + 0x31;
	assert_int_equal(ask(asking, NMETHOD_CODE + 0x40, false, 10, slot(12)), UNWIND_ANSWER_CALLER);
	expect_caller(asking, NMETHOD_CODE + 0x31, 12 + FRAME_WORDS, 2);
	/* Java returns to Java. */
	asking->stack[10 + FRAME_WORDS - 1] = STACK;
	assert_int_equal(ask(asking, NMETHOD_CODE + 0x40, false, 10, 0), UNWIND_ANSWER_UNKNOWN);
}

static void instructions_tell_how_much_of_a_frame_is_there(void **state)
{
	static const struct {
		uint8_t at, words, frame_pointer_words;
	} places[] = { { 0, 1, 0 }, { 1, 2, 0 }, { 5, FRAME_WORDS, 2 }, { 6, FRAME_WORDS, 2 }, { 10, 2, 2 },
		{ 11, 1, 0 }, { 15, 1, 0 }, { 17, 1, 0 } };
	struct asking *asking = *state;

	if (!asking->decoder)
		skip();
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		memset(asking->stack, 0, sizeof(asking->stack));
		asking->stack[20 + places[i].words - 1] = NMETHOD_CODE + 0x30;
		assert_int_equal(ask(asking, NMETHOD_CODE + places[i].at, true, 20, 0), UNWIND_ANSWER_CALLER);
		expect_caller(asking, NMETHOD_CODE + 0x30, 20 + places[i].words, places[i].frame_pointer_words);
	}
}

static void deoptimised_frames_tell_where_they_go_on(void **state)
{
	struct asking *asking = *state;

	asking->stack[5 + FRAME_WORDS - 1] = NMETHOD_CODE + 0x30;
	asking->stack[5 + 1] = NMETHOD_CODE + 0x22;
	assert_int_equal(ask(asking, NMETHOD_CODE + 0x100, false, 5, 0), UNWIND_ANSWER_CALLER);
	assert_int_equal(asking->caller.frame_pc, NMETHOD_CODE + 0x22);
	expect_caller(asking, NMETHOD_CODE + 0x30, 5 + FRAME_WORDS, 2);
	/* Not in another method. */
	asking->stack[5 + 1] = STUB + 0x100;
	assert_int_equal(ask(asking, NMETHOD_CODE + 0x100, false, 5, 0), UNWIND_ANSWER_CALLER);
	assert_int_equal(asking->caller.frame_pc, NMETHOD_CODE + 0x100);
}

static void jumps_between_methods_have_no_frame(void **state)
{
	struct asking *asking = *state;

	asking->stack[3] = NMETHOD_CODE + 0x30;
	assert_int_equal(ask(asking, stub_code(DISPATCH_SEGMENT) + 7, true, 3, 0), UNWIND_ANSWER_CALLER);
	expect_caller(asking, NMETHOD_CODE + 0x30, 4, 0);
	asking->registers.values[R13] = slot(6);
	assert_int_equal(ask(asking, stub_code(ADAPTER_SEGMENT) + 7, true, 3, 0), UNWIND_ANSWER_CALLER);
	expect_caller(asking, NMETHOD_CODE + 0x30, 4, 0);
	assert_int_equal(asking->caller.carried, slot(6));
	/* While the return address is in a register. */
	asking->stack[3] = 0;
	asking->registers.values[RAX] = NMETHOD_CODE + 0x31;
	assert_int_equal(ask(asking, stub_code(ADAPTER_SEGMENT) + 7, true, 3, 0), UNWIND_ANSWER_CALLER);
	expect_caller(asking, NMETHOD_CODE + 0x31, 3, 0);
	/* Behind a word that aligns the stack. */
	asking->stack[4] = NMETHOD_CODE + 0x30;
	assert_int_equal(ask(asking, stub_code(FRAMELESS_SEGMENT) + 7, false, 3, 0), UNWIND_ANSWER_CALLER);
	expect_caller(asking, NMETHOD_CODE + 0x30, 5, 0);
}

static void interpreted_methods_are_linked(void **state)
{
	struct asking *asking = *state;

	asking->registers.values[RBP] = slot(30);
	asking->stack[29] = slot(35); /* the stack pointer of the sender */
	asking->stack[30] = slot(50);
	asking->stack[31] = NMETHOD_CODE + 0x30;
	assert_int_equal(ask(asking, LOOP + 0x300, false, 20, 0), UNWIND_ANSWER_CALLER);
	expect_caller(asking, NMETHOD_CODE + 0x30, 32, 2);
	assert_int_equal(asking->caller.carried, slot(35));
	/* At its entry a method has no frame yet. */
	asking->stack[20] = NMETHOD_CODE + 0x31;
	assert_int_equal(ask(asking, LOOP + 0x20, true, 20, 0), UNWIND_ANSWER_CALLER);
	expect_caller(asking, NMETHOD_CODE + 0x31, 21, 0);
	assert_int_equal(ask(asking, LOOP + LOOP_FRAMED, true, 20, 0), UNWIND_ANSWER_CALLER);
	expect_caller(asking, NMETHOD_CODE + 0x30, 32, 2);
}

static void the_entry_frame_leads_to_native_code(void **state)
{
	struct asking *asking = *state;
	const uint8_t *index = machine_of(EM_X86_64)->saved_index;

	asking->registers.values[RBP] = slot(30);
	asking->stack[31] = 0x400123;
	assert_int_equal(ask(asking, ENTRY_RETURN, false, 18, 0), UNWIND_ANSWER_CALLER);
	expect_caller(asking, 0x400123, 32, 2);
	assert_int_equal(asking->caller.saved[index[3]], 9);
	assert_int_equal(asking->caller.saved[index[15]], 13);
}

static void frozen_frames_are_left_out(void **state)
{
	struct asking *asking = *state;

	asking->stack[20] = slot(40);
	asking->stack[21] = NMETHOD_CODE + 0x30;
	assert_int_equal(ask(asking, stub_code(THAWING_SEGMENT) + 0x20, false, 12, 0), UNWIND_ANSWER_CALLER);
	expect_caller(asking, NMETHOD_CODE + 0x30, 22, 2);
	/* A call of the stub's own. */
	hotspot_fixture_put(asking->jvm, stub_code(THAWING_SEGMENT) + 0x3b, 0xe8, 1);
	asking->process->target.round++;
	hotspot_fixture_put(
		asking->jvm, blob_in(THAWING_SEGMENT) - BLOCK_HEAD + 1, 7, 1); /* another one at its place */
	assert_int_equal(ask(asking, stub_code(THAWING_SEGMENT) + 0x40, false, 12, 0), UNWIND_ANSWER_UNKNOWN);
}

static void stubs_are_known_by_their_calls(void **state)
{
	/* call STUB + 0x100, which ends at offset 0x35 of the method */
	const uint64_t behind = NMETHOD_CODE + 0x35;
	struct asking *asking = *state;

	hotspot_fixture_put(asking->jvm, behind - 5, 0xe8, 1);
	hotspot_fixture_put(asking->jvm, behind - 4, STUB + 0x100 - behind, 4);
	asking->registers.values[RBP] = slot(20);
	asking->stack[21] = NMETHOD_CODE + 0x30;
	asking->stack[3] = behind;
	assert_int_equal(ask(asking, STUB + 0x110, true, 3, 0), UNWIND_ANSWER_CALLER);
	expect_caller(asking, behind, 4, 0);
	asking->stack[21] = behind;
	assert_int_equal(ask(asking, STUB + 0x110, true, 3, 0), UNWIND_ANSWER_CALLER);
	expect_caller(asking, behind, 22, 2);
	/* What lies there may be left over from other calls. */
	asking->stack[3] = asking->stack[21] = NMETHOD_CODE + 0x30;
	assert_int_equal(ask(asking, STUB + 0x110, true, 3, 0), UNWIND_ANSWER_UNKNOWN);
}

static void what_cannot_be_read_is_not_guessed(void **state)
{
	struct asking *asking = *state;

	assert_int_equal(ask(asking, NMETHOD_CODE + 0x40, false, WORDS - 2, 0), UNWIND_ANSWER_NOT_COPIED);
	assert_int_equal(asking->caller.stack_pointer, slot(WORDS - 2 + FRAME_WORDS));
	assert_int_equal(ask(asking, CODE + 0x10, false, 3, 0), UNWIND_ANSWER_UNREADABLE);
	assert_int_equal(ask(asking, START - 0x10, false, 3, 0), UNWIND_ANSWER_UNKNOWN);
	asking->jvm->is_gone = true;
	assert_int_equal(ask(asking, stub_code(DISPATCH_SEGMENT), true, 3, 0), UNWIND_ANSWER_UNREADABLE);
}

/* Whatever memory and the stack say, each question has an answer, above the frame. */
static void memory_that_means_harm(void **state)
{
	struct asking *asking = *state;
	uint64_t random = 88172645463325252;

	for (int turn = 0; turn < 20000; turn++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		asking->stack[random % WORDS] =
			random >> 60 < 8 ? START + (random >> 8) % BYTES : slot((random >> 8) % 80);
		asking->registers.values[RBP] = slot((random >> 16) % 80) + (random >> 62);
		if (random >> 50 & 1)
			hotspot_fixture_put(asking->jvm, START + 0x100 + (random >> 20) % 0x4000 / 4 * 4,
				random >> 30 & 1 ? random : START + (random >> 31) % BYTES, 4);
		if (turn % 16 == 0)
			asking->process->target.round++;
		if (ask(asking, START + (random >> 24) % BYTES, random >> 52 & 1, random % 40,
			    random >> 53 & 1 ? slot(random % 60) : 0) == UNWIND_ANSWER_CALLER)
			assert_true(asking->caller.stack_pointer >= slot(random % 40));
	}
}

#define ASKING_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ASKING_TEST(compiled_methods_have_one_size),
		ASKING_TEST(instructions_tell_how_much_of_a_frame_is_there),
		ASKING_TEST(deoptimised_frames_tell_where_they_go_on),
		ASKING_TEST(jumps_between_methods_have_no_frame),
		ASKING_TEST(interpreted_methods_are_linked),
		ASKING_TEST(the_entry_frame_leads_to_native_code),
		ASKING_TEST(frozen_frames_are_left_out),
		ASKING_TEST(stubs_are_known_by_their_calls),
		ASKING_TEST(what_cannot_be_read_is_not_guessed),
		ASKING_TEST(memory_that_means_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
