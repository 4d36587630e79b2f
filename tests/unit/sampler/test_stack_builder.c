/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/collect/stack_builder.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { LOCATIONS = 40, DEPTH = 60, ROUNDS = 4000 };

struct fixture {
	struct profile *profile;
	struct stack_builder *builder;
};

static int setup(void **state)
{
	static struct fixture fixture;
	struct error err;
	uint32_t id;

	assert_true(profile_create(&fixture.profile, &err));
	assert_true(stack_builder_create(fixture.profile, &fixture.builder, &err));
	for (uint32_t i = 0; i < LOCATIONS; i++)
		assert_true(profile_add_location(fixture.profile, PROFILE_NONE, 0x1000 + i, &id, &err));
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
static void assert_is(const struct profile *profile, uint32_t stack, const struct unwind_result *walked)
{
	for (size_t i = 0; i < walked->count; i++, stack = profile->stacks[stack].parent)
		assert_int_equal(profile->stacks[stack].location, walked->frames[i].location);
	assert_int_equal(stack, 0);
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
			walked[i] = (struct unwind_result){ .frames = frames[i], .count = next_random(&random) % (DEPTH + 1) };
			for (size_t k = 0; k < walked[i].count; k++)
				frames[i][k].location = next_random(&random) % (k + 8 > walked[i].count ? 2 : LOCATIONS);
			stack_builder_expect(f->builder, i, &walked[i]);
		}
		for (size_t i = 0; i < UNWIND_TOGETHER; i++)
			assert_is(f->profile, build(f, i, &walked[i]), &walked[i]);
	}
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
		frames[i].location = i % LOCATIONS;
	stack_builder_expect(f->builder, 0, &walked);
	first = build(f, 0, &walked);
	test_stacks_are_what_was_walked(state);
	stacks = f->profile->stack_count;
	stack_builder_expect(f->builder, 0, &walked);
	assert_int_equal(build(f, 0, &walked), first);
	assert_int_equal(f->profile->stack_count, stacks);
}

/* Frame by frame is the same as all at once. */
static void test_frame_by_frame(void **state)
{
	struct unwind_frame frames[3] = { { .location = 3 }, { .location = 2 }, { .location = 1 } };
	struct unwind_result walked = { .frames = frames, .count = 3 };
	struct fixture *f = *state;
	struct stack_path path = stack_builder_root(f->builder);
	struct error err;

	for (uint32_t location = 1; location <= 3; location++)
		assert_true(stack_builder_add(f->builder, location, &path, &err));
	stack_builder_expect(f->builder, 0, &walked);
	assert_int_equal(build(f, 0, &walked), path.stack);
}

/* The kernel's part goes below the user's: callers by the byte before their return address, the leaf by its own. */
static void test_kernel_part(void **state)
{
	const uint64_t addresses[] = { PERF_CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff81000020, 0xffffffff81000030,
		PERF_CONTEXT_USER, 0x400000 };
	const struct record_sample sample = { .callchain = {
						      (const uint8_t *)addresses, sizeof(addresses) / sizeof(addresses[0]) } };
	struct stitch_chain chain = stitch_chain_of(&sample, PERF_CONTEXT_KERNEL);
	const uint64_t expected[] = { 0xffffffff81000110, 0xffffffff8100011f, 0xffffffff8100012f };
	struct fixture *f = *state;
	uint32_t first = 0;
	struct error err;

	assert_int_equal(chain.count, 3);
	for (int again = 0; again < 2; again++) {
		struct stack_path path = stack_builder_root(f->builder);
		uint32_t stack;

		assert_true(stack_builder_add(f->builder, 5, &path, &err));
		assert_true(stack_builder_add_kernel(f->builder, PROFILE_NONE, 0x100, &chain, &path, &err));
		stack = path.stack;
		for (size_t i = 0; i < 3; i++, stack = f->profile->stacks[stack].parent)
			assert_int_equal(f->profile->locations[f->profile->stacks[stack].location].address, expected[i]);
		assert_int_equal(f->profile->stacks[stack].location, 5);
		assert_true(again == 0 || path.stack == first);
		first = path.stack;
	}
}

/* A file may repeat a mark: the second part is none of the first. */
static void test_a_mark_twice(void **state)
{
	const uint64_t addresses[] = { PERF_CONTEXT_USER, 0x10, PERF_CONTEXT_USER, 0x20, PERF_CONTEXT_USER };
	struct record_sample sample = { .callchain = { (const uint8_t *)addresses, 5 } };
	struct stitch_chain chain = stitch_chain_of(&sample, PERF_CONTEXT_USER);

	(void)state;
	assert_int_equal(chain.count, 1);
	assert_int_equal(stitch_chain_address(&chain, 0), 0x10);
	sample.callchain = (struct record_words){ (const uint8_t *)(addresses + 4), 1 };
	assert_int_equal(stitch_chain_of(&sample, PERF_CONTEXT_USER).count, 0);
	assert_int_equal(stitch_chain_of(&sample, PERF_CONTEXT_KERNEL).count, 0);
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
