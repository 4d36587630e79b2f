/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/unwind.h"

#include "tests/unit/support/unit_test.h"

#include <string.h>

/* Walks through code without call frame information, about whose frames a maker is asked. */
enum { STACK_AT = 0x7000, CODE_AT = 0x1000, CODE_END = 0x2000, WORDS = 32, RSP = 7, RBP = 6, RIP = 16, MOST = 8 };

struct maker {
	struct {
		enum unwind_answer answer;
		struct unwind_made_caller caller;
	} answers[MOST]; /* one after the other */
	struct unwind_made_frame asked[MOST];
	uint64_t frame_pointers[MOST];
	size_t count;
};

static bool find_made(void *context, uint64_t address, struct unwind_code *code)
{
	(void)context;
	*code = (struct unwind_code){ .image_address = address, .image = 7 };
	return address >= CODE_AT && address < CODE_END;
}

static enum unwind_answer answer(
	void *context, const struct unwind_made_frame *frame, struct unwind_made_caller *caller)
{
	struct maker *maker = context;
	size_t i = maker->count++;

	assert_true(i < MOST);
	maker->asked[i] = *frame;
	maker->frame_pointers[i] = frame->registers->values[RBP];
	if (maker->answers[i].answer != UNWIND_ANSWER_UNKNOWN)
		*caller = maker->answers[i].caller;
	return maker->answers[i].answer;
}

static uint64_t at(size_t word)
{
	return STACK_AT + word * sizeof(uint64_t);
}

static struct unwind_job walk(struct maker *maker, const uint64_t *words, struct unwind_frame *frames)
{
	struct unwind_job job = { .space = { .find = find_made,
					  .generation = 1,
					  .machine = machine_of(EM_X86_64),
					  .maker = { answer, maker } },
		.registers = { .values = { [RSP] = STACK_AT, [RBP] = 99, [RIP] = 0x1100 } },
		.dump = { (const uint8_t *)words, WORDS * sizeof(*words), STACK_AT } };
	struct unwinder *unwinder;
	struct error err;

	assert_true(unwinder_create(&unwinder, &err));
	unwind_stacks(unwinder, &job, 1);
	assert_in_range(job.result.count, 1, MOST);
	memcpy(frames, job.result.frames, job.result.count * sizeof(*frames));
	job.result.frames = frames;
	unwinder_destroy(unwinder);
	return job;
}

static void test_answers_are_followed(void **state)
{
	const uint64_t words[WORDS] = { [4] = 0x7777, [5] = 0x1200 };
	struct maker maker = {
		.answers = { { UNWIND_ANSWER_CALLER, { .frame_pc = 0x1100,
							     .pc = 0x1200,
							     .stack_pointer = at(6),
							     .saved = { [1] = 2 },
							     .carried = 5 } },
			{ UNWIND_ANSWER_CALLER, { .frame_pc = 0x1234, .pc = 0x1300, .stack_pointer = at(9) } },
			{ UNWIND_ANSWER_UNREADABLE, { 0 } } }
	};
	struct unwind_frame frames[MOST];
	struct unwind_job job = walk(&maker, words, frames);

	assert_int_equal(job.result.stop, PROFILE_STOP_NO_RULE);
	assert_int_equal(job.result.count, 3);
	assert_int_equal(maker.count, 3);
	assert_true(maker.asked[0].is_exact);
	assert_int_equal(maker.asked[0].carried, 0);
	assert_int_equal(maker.frame_pointers[0], 99);
	assert_false(maker.asked[1].is_exact);
	assert_int_equal(maker.asked[1].stack_pointer, at(6));
	assert_int_equal(maker.asked[1].carried, 5);
	assert_int_equal(maker.frame_pointers[1], 0x7777);
	assert_int_equal(maker.asked[2].carried, 0);
	/* Where a frame goes on may be another place than its callee returns to. */
	assert_int_equal(frames[1].pc, 0x1234);
	assert_int_equal(frames[2].pc, 0x1300);
	assert_int_equal(frames[2].image, 7);
}

static void test_what_was_not_copied(void **state)
{
	const uint64_t words[WORDS] = { 0 };
	struct maker maker = { .answers = { { UNWIND_ANSWER_NOT_COPIED, { .stack_pointer = at(WORDS + 4) } } } };
	struct unwind_frame frames[MOST];
	struct unwind_job job = walk(&maker, words, frames);

	assert_int_equal(job.result.stop, PROFILE_STOP_DUMP_END);
	assert_int_equal(job.result.caller_stack_pointer, at(WORDS + 4));
	assert_int_equal(job.result.count, 1);
}

/* As in code whose maker is not known: by the frame pointer. */
static void test_what_is_not_known_is_guessed(void **state)
{
	const uint64_t words[WORDS] = { [4] = at(10), [5] = 0x1200, [10] = 0, [11] = 0x1300 };
	struct maker maker = {
		.answers = { { UNWIND_ANSWER_CALLER,
			{ .frame_pc = 0x1100, .pc = 0x1180, .stack_pointer = at(2), .saved = { [1] = 1 } } } }
	};
	uint64_t linked[WORDS];
	struct unwind_frame frames[MOST];
	struct unwind_job job;

	memcpy(linked, words, sizeof(linked));
	linked[1] = at(4);
	job = walk(&maker, linked, frames);
	assert_int_equal(job.result.count, 4);
	assert_int_equal(frames[2].pc, 0x1200);
	assert_int_equal(frames[3].pc, 0x1300);
	assert_int_equal(maker.count, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers_are_followed),
		cmocka_unit_test(test_what_was_not_copied),
		cmocka_unit_test(test_what_is_not_known_is_guessed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
