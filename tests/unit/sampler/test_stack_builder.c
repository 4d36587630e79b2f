/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect/stack_builder.h"
#include "tests/unit/support/unit_test.h"

#include <linux/perf_event.h>
#include <string.h>

enum { LOCATIONS = 40, DEPTH = 60, ROUNDS = 4000, PLACES = 3, OTHER_BIAS = 0x5000 };

/* Two places of one image, and one of another: frames of the first two with the same image address are the same frame.
 */
struct fixture {
	struct profile *profile;
	struct process_place places[PLACES];
	struct process_table table;
	struct stack_builder *builder;
};

static int setup(void **state)
{
	static struct fixture fixture;
	struct error err;

	fixture = (struct fixture){ .places = { { .mapping = 7 }, { .bias = OTHER_BIAS, .mapping = 7 },
					    { .mapping = 8 } } };
	assert_true(profile_create(&fixture.profile, &err));
	fixture.table = (struct process_table){ .profile = fixture.profile, .places = fixture.places };
	assert_true(stack_builder_create(&fixture.table, &fixture.builder, &err));
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	stack_builder_destroy(fixture->builder);
	profile_destroy(fixture->profile);
	return 0;
}

static uint32_t next_random(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*random >> 33);
}

/* The stack's frames, leaf first as a walk gives them, are those that were walked. */
static void assert_is(const struct fixture *f, uint32_t stack, const struct unwind_result *walked)
{
	const struct profile *profile = f->profile;

	for (size_t i = 0; i < walked->count; i++, stack = profile->stacks[stack].parent) {
		const struct profile_location *location = &profile->locations[profile->stacks[stack].location];
		const struct process_place *place = &f->places[walked->frames[i].image];

		assert_int_equal(location->mapping, place->mapping);
		assert_int_equal(location->address, unwind_frame_address(&walked->frames[i]) + place->bias);
	}
	assert_int_equal(stack, 0);
}

/* Frame `number` of LOCATIONS; each is met at two runtime addresses. */
static struct unwind_frame frame_of(uint32_t number, bool is_elsewhere)
{
	struct unwind_frame frame = { .pc = 0x1001 + number / 2, .image = number % 2 ? 2 : 0 };

	if (frame.image == 0 && is_elsewhere) {
		frame.pc -= OTHER_BIAS;
		frame.image = 1;
	}
	return frame;
}

static uint32_t build(struct fixture *f, size_t place, const struct unwind_result *walked)
{
	struct stack_path path = stack_builder_root(f->builder);
	struct error err;

	assert_true(stack_builder_add_expected(f->builder, place, walked, &path, &err));
	return path.stack;
}

/* Far more stacks than are known at a time, several on their way at once: each comes out as it went in. */
static void test_stacks_are_what_was_walked(void **state)
{
	static struct unwind_frame frames[UNWIND_TOGETHER][DEPTH];
	struct fixture *f = *state;
	uint64_t random = 1;

	for (size_t round = 0; round < ROUNDS; round++) {
		struct unwind_result walked[UNWIND_TOGETHER];

		for (size_t i = 0; i < UNWIND_TOGETHER; i++) {
			walked[i] = (struct unwind_result){ .frames = frames[i],
				.count = next_random(&random) % (DEPTH + 1) };
			for (size_t k = 0; k < walked[i].count; k++)
				frames[i][k] =
					frame_of(next_random(&random) % (k + 8 > walked[i].count ? 2 : LOCATIONS),
						next_random(&random) % 2);
			stack_builder_expect(f->builder, i, &walked[i]);
		}
		for (size_t i = 0; i < UNWIND_TOGETHER; i++)
			assert_is(f, build(f, i, &walked[i]), &walked[i]);
	}
	assert_int_equal(f->profile->location_count, LOCATIONS);
}

/* Known or pushed out: a stack has one number. */
static void test_one_number_a_stack(void **state)
{
	static struct unwind_frame frames[DEPTH];
	struct unwind_result walked = { .frames = frames, .count = DEPTH };
	struct fixture *f = *state;
	uint32_t first;
	size_t stacks;

	for (uint32_t i = 0; i < DEPTH; i++)
		frames[i] = frame_of(i % LOCATIONS, false);
	stack_builder_expect(f->builder, 0, &walked);
	first = build(f, 0, &walked);
	test_stacks_are_what_was_walked(state);
	stacks = f->profile->stack_count;
	stack_builder_expect(f->builder, 0, &walked);
	assert_int_equal(build(f, 0, &walked), first);
	/* In another process as well. */
	for (uint32_t i = 0; i < DEPTH; i++)
		frames[i] = frame_of(i % LOCATIONS, true);
	stack_builder_expect(f->builder, 0, &walked);
	assert_int_equal(build(f, 0, &walked), first);
	assert_int_equal(f->profile->stack_count, stacks);
}

/* Frame by frame is the same as all at once. */
static void test_frame_by_frame(void **state)
{
	struct unwind_frame frames[3] = { frame_of(2, false), frame_of(1, false), frame_of(0, true) };
	struct unwind_result walked = { .frames = frames, .count = 3 };
	struct fixture *f = *state;
	struct stack_path path = stack_builder_root(f->builder);
	struct error err;

	for (uint32_t i = 0; i < 3; i++) {
		struct unwind_frame frame = frame_of(i, false);
		struct process_location location =
			process_table_locate(&f->table, frame.image, unwind_frame_address(&frame));

		assert_true(stack_builder_add(f->builder, &location, &path, &err));
	}
	stack_builder_expect(f->builder, 0, &walked);
	assert_int_equal(build(f, 0, &walked), path.stack);
}

/* The kernel's part goes below the user's: callers by the byte before their return address, the leaf by its own. */
static void test_kernel_part(void **state)
{
	const uint64_t addresses[] = { PERF_CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000020, 0xffffffff81000030,
		PERF_CONTEXT_USER, 0x400000 };
	const struct record_sample sample = { .callchain = { (const uint8_t *)addresses,
						      sizeof(addresses) / sizeof(addresses[0]) } };
	struct callchain callchain = callchain_of(&sample, PERF_CONTEXT_KERNEL);
	const uint64_t expected[] = { 0xffffffff81000110, 0xffffffff8100011f, 0xffffffff8100012f, 0x1005 };
	const struct process_location user = { 7, 0x1005 };
	struct fixture *f = *state;
	uint32_t first = 0;
	struct error err;

	assert_int_equal(callchain.count, 3);
	for (int again = 0; again < 2; again++) {
		struct stack_path path = stack_builder_root(f->builder);
		uint32_t stack;

		assert_true(stack_builder_add(f->builder, &user, &path, &err));
		assert_true(stack_builder_add_kernel(f->builder, PROFILE_NONE, 0x100, &callchain, &path, &err));
		stack = path.stack;
		for (size_t i = 0; i < 4; i++, stack = f->profile->stacks[stack].parent)
			assert_int_equal(
				f->profile->locations[f->profile->stacks[stack].location].address, expected[i]);
		assert_int_equal(stack, 0);
		assert_true(again == 0 || path.stack == first);
		first = path.stack;
	}
	/* Where the leaf's frame was left out, there are callers only. */
	callchain_leave_hook(&callchain, 0xffffffff81000008);
	for (int again = 0; again < 2; again++) {
		struct stack_path path = stack_builder_root(f->builder);
		uint32_t stack;

		assert_true(stack_builder_add_kernel(f->builder, PROFILE_NONE, 0x100, &callchain, &path, &err));
		stack = path.stack;
		for (size_t i = 1; i < 3; i++, stack = f->profile->stacks[stack].parent)
			assert_int_equal(
				f->profile->locations[f->profile->stacks[stack].location].address, expected[i]);
		assert_int_equal(stack, 0);
	}
}

/* A file may repeat a mark: the second part is none of the first. */
static void test_a_mark_twice(void **state)
{
	const uint64_t addresses[] = { PERF_CONTEXT_USER, 0x10, PERF_CONTEXT_USER, 0x20, PERF_CONTEXT_USER };
	struct record_sample sample = { .callchain = { (const uint8_t *)addresses, 5 } };
	struct callchain callchain = callchain_of(&sample, PERF_CONTEXT_USER);

	assert_int_equal(callchain.count, 1);
	assert_int_equal(callchain_address(&callchain, 0), 0x10);
	sample.callchain = (struct record_words){ (const uint8_t *)(addresses + 4), 1 };
	assert_int_equal(callchain_of(&sample, PERF_CONTEXT_USER).count, 0);
	assert_int_equal(callchain_of(&sample, PERF_CONTEXT_KERNEL).count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_stacks_are_what_was_walked, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_number_a_stack, setup, teardown),
		cmocka_unit_test_setup_teardown(test_frame_by_frame, setup, teardown),
		cmocka_unit_test_setup_teardown(test_kernel_part, setup, teardown),
		cmocka_unit_test(test_a_mark_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
