/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/unwind.h"
#include "tests/unit/frame/elf_bytes.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

/*
 * An image of Go without rules: a function that switches stacks at SWITCH_AT, its caller, another function with one of
 * its own, and what a goroutine returns to at EXIT_AT. The thread is on its own stack, of which THREAD_AT is the top.
 */
enum {
	WORDS = 64,
	THREAD_AT = 0x700000,
	LEFT_AT = 0x100000, /* the goroutine's stack, from where it was left on */
	SWITCH_AT = 0x1000,
	OTHER_AT = 0x1100,
	CALLER_AT = 0x1800,
	RETURN_AT = CALLER_AT + 0x20, /* behind a call of the function that switches stacks */
	OTHER_RETURN_AT = CALLER_AT + 0x40,
	EXIT_AT = 0x1c01, /* one behind the beginning of goexit, as the run time writes it */
	CODE_AT = 0x1000,
	CODE_END = 0x2000,
	INSIDE = SWITCH_AT + 0x10,
};

struct image {
	struct frame_table *table;
	uint8_t code[CODE_END - CODE_AT];
	uint64_t thread[WORDS], goroutine[WORDS];
	struct unwinder *unwinder;
};

static bool find(void *context, uint64_t address, struct unwind_code *code)
{
	struct image *image = context;

	if (address < CODE_AT || address >= CODE_END)
		return false;
	*code = (struct unwind_code){ .table = image->table,
		.image_address = address,
		.is_go = true,
		.code = { image->code, sizeof(image->code), address - CODE_AT } };
	return true;
}

static void put_call(struct image *image, uint64_t return_address, uint64_t target)
{
	int32_t distance = (int32_t)(target - return_address);

	image->code[return_address - CODE_AT - 5] = 0xe8;
	memcpy(&image->code[return_address - CODE_AT - 4], &distance, sizeof(distance));
}

static int set_up(void **state)
{
	static const uint8_t cie[] = { 0x0c, X86_64_RSP, 16, 0x90, 1 }, fde[] = { 0 };
	struct elf_bytes wanted = { cie, fde, sizeof(cie), sizeof(fde), true, false };
	struct image *image = calloc(1, sizeof(*image));
	struct error err;

	assert_non_null(image);
	assert_true(elf_bytes_table(&wanted, &image->table, &err));
	memset(image->code, 0x90, sizeof(image->code));
	/* Functions are divided by traps. */
	memset(&image->code[OTHER_AT - CODE_AT - 4], 0xcc, 4);
	memset(&image->code[CALLER_AT - CODE_AT - 4], 0xcc, 4);
	put_call(image, RETURN_AT, SWITCH_AT);
	put_call(image, OTHER_RETURN_AT, OTHER_AT);
	assert_true(unwinder_create(&image->unwinder, &err));
	*state = image;
	return 0;
}

static int tear_down(void **state)
{
	struct image *image = *state;

	unwinder_destroy(image->unwinder);
	frame_table_destroy(image->table);
	free(image);
	return 0;
}

static uint64_t left(size_t word)
{
	return LEFT_AT + word * sizeof(uint64_t);
}

/* The leaf is inside of the function that has switched stacks. */
static struct unwind_result walk(struct image *image, uint64_t frame_pointer, bool has_other)
{
	struct unwind_job job = { .space = { find, NULL, image, 1, NULL, &machine_x86_64 },
		.registers = { .values = { [X86_64_RSP] = THREAD_AT,
				       [X86_64_RBP] = frame_pointer,
				       [X86_64_RIP] = INSIDE } },
		.dump = { (const uint8_t *)image->thread, sizeof(image->thread), THREAD_AT } };

	if (has_other)
		job.dump.other =
			(struct unwind_piece){ (const uint8_t *)image->goroutine, sizeof(image->goroutine), LEFT_AT };
	unwind_stacks(image->unwinder, &job, 1);
	return job.result;
}

static void expect_whole(const struct unwind_result *result, size_t slot)
{
	assert_int_equal(result->stop, PROFILE_STOP_ROOT);
	assert_int_equal(result->count, 3);
	assert_int_equal(result->frames[1].pc, RETURN_AT);
	assert_int_equal(result->frames[1].stack_pointer, left(slot + 1));
	assert_int_equal(result->frames[2].pc, EXIT_AT);
}

/* The frame of the caller, whose frame pointer is 0: it was called by goexit, so to speak. */
static void put_caller(struct image *image, size_t frame)
{
	image->goroutine[frame] = 0;
	image->goroutine[frame + 1] = EXIT_AT;
}

static void test_the_frame_pointer_shows_the_frame(void **state)
{
	struct image *image = *state;
	struct unwind_result result;

	image->goroutine[6] = left(10);
	image->goroutine[7] = RETURN_AT;
	put_caller(image, 10);
	result = walk(image, left(6), true);
	expect_whole(&result, 7);
	/* Without the other stack nothing is known of it. */
	result = walk(image, left(6), false);
	assert_int_equal(result.stop, PROFILE_STOP_OPEN);
	assert_int_equal(result.count, 1);
}

/* The function has none: the register is that of its caller. */
static void test_a_function_without_a_frame(void **state)
{
	struct image *image = *state;
	struct unwind_result result;

	image->goroutine[4] = RETURN_AT;
	put_caller(image, 10);
	result = walk(image, left(10), true);
	expect_whole(&result, 4);
	/* It is where the stack was left, though the register is lost. */
	image->goroutine[4] = 0;
	image->goroutine[1] = RETURN_AT;
	result = walk(image, 5, true);
	assert_int_equal(result.count, 2);
	assert_int_equal(result.frames[1].pc, RETURN_AT);
	assert_int_equal(result.stop, PROFILE_STOP_OPEN);
}

/* A call that leads to another function was not made by the caller: the register is left over. */
static void test_another_functions_caller_is_none(void **state)
{
	struct image *image = *state;
	struct unwind_result result;

	image->goroutine[6] = left(10);
	image->goroutine[7] = OTHER_RETURN_AT;
	put_caller(image, 10);
	result = walk(image, left(6), true);
	assert_int_equal(result.stop, PROFILE_STOP_OPEN);
	assert_int_equal(result.count, 1);
}

/* Two stacks that show each other: each is walked upwards only. */
static void test_stacks_that_lead_to_each_other(void **state)
{
	struct image *image = *state;
	struct unwind_result result;

	for (size_t i = 0; i + 1 < WORDS; i += 2) {
		image->goroutine[i] = THREAD_AT + 8 * i;
		image->thread[i] = left(0);
		image->goroutine[i + 1] = image->thread[i + 1] = INSIDE;
	}
	put_call(image, INSIDE, SWITCH_AT);
	result = walk(image, left(0), true);
	assert_true(result.count <= WORDS);
	assert_int_not_equal(result.stop, PROFILE_STOP_DEPTH);
	assert_int_not_equal(result.stop, PROFILE_STOP_ROOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_frame_pointer_shows_the_frame, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_function_without_a_frame, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_another_functions_caller_is_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_stacks_that_lead_to_each_other, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
