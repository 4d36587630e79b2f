/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/verify/verify.h"

#include "sampler/process/reader.h"
#include "sampler/verify/code_map.h"
#include "sampler/verify/compare.h"
#include "sampler/verify/reference.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

/* The second opinion on stacks: how walks compare, our own stack by libunwind, and stacks and images that are hostile.
 */

enum { STACK_BYTES = 1 << 16, HOSTILE_STACKS = 300, HOSTILE_IMAGES = 20 };

/* DWARF's numbers of x86-64, for which libunwind is used here. */
enum { RSP = 7, RIP = 16, REGISTERS = 17 };

static void expect_comparison(
	const char *ours, const char *reference, enum profile_comparison expected, size_t expected_common)
{
	uint64_t walks[2][8];
	size_t counts[2] = { strlen(ours), strlen(reference) }, common;

	for (size_t i = 0; i < counts[0]; i++)
		walks[0][i] = (uint64_t)ours[i];
	for (size_t i = 0; i < counts[1]; i++)
		walks[1][i] = (uint64_t)reference[i];
	assert_int_equal(verify_compare(walks[0], counts[0], walks[1], counts[1], &common), expected);
	assert_int_equal(common, expected_common);
}

static void walks_compare_by_where_they_part(void **state)
{
	expect_comparison("abc", "abc", PROFILE_COMPARISON_EQUAL, 3);
	expect_comparison("", "", PROFILE_COMPARISON_EQUAL, 0);
	expect_comparison("abcd", "abc", PROFILE_COMPARISON_LONGER, 3);
	expect_comparison("a", "", PROFILE_COMPARISON_LONGER, 0);
	expect_comparison("ab", "abc", PROFILE_COMPARISON_SHORTER, 2);
	expect_comparison("axc", "abc", PROFILE_COMPARISON_OTHER, 1);
	expect_comparison("abx", "abcd", PROFILE_COMPARISON_OTHER, 2);
	expect_comparison("acd", "abcd", PROFILE_COMPARISON_OTHER, 1);
}

/* ---- Our own stack ---- */

struct fixture {
	struct profile *profile;
	struct process_reader *reader;
	struct process_table table;
	struct process *process;
	struct process_space space;
	struct unwinder *unwinder;
	struct verifier *verifier;
	struct unwind_job job;
	struct compared_stacks *out;
	uint8_t copy[STACK_BYTES];
};

static uint64_t stack_end;

static void capture(struct fixture *fixture, const ucontext_t *context)
{
	/* DWARF's order from glibc's REG_*. */
	static const int greg[REGISTERS] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
		REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };
	uint64_t rsp, size;

	for (size_t i = 0; i < REGISTERS; i++)
		fixture->job.registers.values[i] = (uint64_t)context->uc_mcontext.gregs[greg[i]];
	rsp = fixture->job.registers.values[RSP];
	size = stack_end - rsp < STACK_BYTES ? stack_end - rsp : STACK_BYTES;
	/* Sanitizers guard the space between variables, which is stack all the same. */
	for (volatile size_t i = 0; i < size; i += sizeof(uint64_t)) {
		uint64_t word;

		__asm__ volatile("movq (%1), %0" : "=r"(word) : "r"(rsp + i) : "memory");
		memcpy(fixture->copy + i, &word, sizeof(word));
	}
	fixture->job.dump = (struct unwind_stack_dump){ fixture->copy, size, rsp };
}

__attribute__((noinline)) static int inner(struct fixture *fixture, int x)
{
	ucontext_t context;

	getcontext(&context);
	capture(fixture, &context);
	return x + 1;
}

__attribute__((noinline)) static int outer(struct fixture *fixture, int x)
{
	volatile char room[300];

	room[x] = (char)inner(fixture, x);
	return room[x] + 1;
}

static void start_with(struct fixture *fixture, const struct verifier_options *options)
{
	struct error err;

	assert_int_equal(outer(fixture, 1), 3);
	fixture->table.machine = machine_host();
	fixture->space = (struct process_space){ .table = &fixture->table, .process = fixture->process };
	fixture->job.space = (struct unwind_space){ process_space_find, process_space_read, &fixture->space,
		fixture->process->generation, process_space_is_code, machine_host() };
	unwind_stacks(fixture->unwinder, &fixture->job, 1);
	assert_true(fixture->job.result.count > 3);
	assert_true(verifier_create(options, &fixture->verifier, &err));
}

static void start(struct fixture *fixture, uint32_t every)
{
	start_with(fixture, &(struct verifier_options){ .every = every, .may_wait = true });
}

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct error err;

	assert_non_null(fixture);
	assert_true(profile_create(&fixture->profile, &err));
	assert_true(process_reader_create(&fixture->reader, &err));
	process_table_init(&fixture->table, fixture->profile, process_host_live(fixture->reader), NULL);
	assert_true(process_table_get(&fixture->table, getpid(), &fixture->process, &err));
	assert_true(unwinder_create(&fixture->unwinder, &err));
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	verifier_destroy(fixture->verifier);
	unwinder_destroy(fixture->unwinder);
	process_table_deinit(&fixture->table);
	process_reader_destroy(fixture->reader);
	profile_destroy(fixture->profile);
	compared_stacks_destroy(fixture->out);
	free(fixture);
	return 0;
}

static void offer(struct fixture *fixture)
{
	verifier_offer(fixture->verifier, &fixture->table, fixture->process, &fixture->job);
}

static const struct profile_verification *finish(struct fixture *fixture)
{
	struct error err;

	assert_true(verifier_finish(fixture->verifier, fixture->profile, &fixture->out, NULL, &err));
	assert_true(fixture->profile->verification.is_there);
	return &fixture->profile->verification;
}

static void our_own_stack_is_equal(void **state)
{
	struct fixture *fixture = *state;
	const struct profile_verification *found;

	start(fixture, 1);
	for (size_t i = 0; i < 200; i++)
		offer(fixture);
	found = finish(fixture);
	assert_int_equal(found->stacks[PROFILE_COMPARISON_EQUAL], 200);
	assert_int_equal(profile_verification_stacks(found), 200);
	assert_int_equal(fixture->out->difference_count, 0);
}

static void one_in_so_many_is_compared(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, 3);
	for (size_t i = 0; i < 10; i++)
		offer(fixture);
	assert_int_equal(profile_verification_stacks(finish(fixture)), 4);
}

/* Nobody asked for a stack: that nothing was compared is said all the same. */
static void nothing_to_compare_is_an_answer(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, 1);
	assert_int_equal(profile_verification_stacks(finish(fixture)), 0);
}

/* Our walk made wrong in each way, so that the reference contradicts it. */
static void wrong_walks_are_found(void **state)
{
	struct fixture *fixture = *state;
	struct unwind_result *result = &fixture->job.result;
	struct unwind_frame frames[64], *walked;
	const struct profile_verification *found;
	size_t count;

	start(fixture, 1);
	walked = result->frames;
	count = result->count;
	assert_true(count < 63);
	memcpy(frames, walked, count * sizeof(*frames));
	frames[count] = frames[count - 1];
	result->frames = frames;
	result->count = count - 1;
	offer(fixture);
	result->count = count + 1;
	offer(fixture);
	result->count = count;
	frames[2].pc += 1;
	offer(fixture);
	offer(fixture);
	found = finish(fixture);
	assert_int_equal(found->stacks[PROFILE_COMPARISON_SHORTER], 1);
	assert_int_equal(found->stacks[PROFILE_COMPARISON_LONGER], 1);
	assert_int_equal(found->stacks[PROFILE_COMPARISON_OTHER], 2);
	assert_int_equal(found->stacks[PROFILE_COMPARISON_EQUAL], 0);
	/* The same one is shown once; the frames before it are shown with it. */
	assert_int_equal(fixture->out->difference_count, 3);
	assert_int_equal(fixture->out->differences[2].comparison, PROFILE_COMPARISON_OTHER);
	assert_int_equal(fixture->out->differences[2].first, 0);
	assert_int_equal(fixture->out->differences[2].depths[VERIFY_OURS], count);
	assert_int_equal(fixture->out->differences[2].depths[VERIFY_REFERENCE], count);
	assert_int_equal(fixture->out->differences[2].frames[VERIFY_OURS][2].address,
		fixture->out->differences[2].frames[VERIFY_REFERENCE][2].address + 1);
}

/* What was compared is named again: locations of the profile, none of them made for it. */
static void locations_are_those_of_the_profile(void **state)
{
	struct fixture *fixture = *state;
	size_t count;
	struct error err;
	uint32_t id;

	start(fixture, 1);
	for (size_t i = 0; i < fixture->job.result.count; i++) {
		const struct unwind_frame *frame = &fixture->job.result.frames[i];
		struct unwind_code code;

		assert_true(process_space_find(&fixture->space, frame->pc - (i > 0), &code));
		for (size_t image = 0; image < fixture->table.image_count; image++)
			if (fixture->table.images[image].table == code.table)
				assert_true(profile_add_location(fixture->profile,
					fixture->table.images[image].mapping_id, code.image_address, &id, &err));
	}
	count = fixture->profile->location_count;
	offer(fixture);
	finish(fixture);
	assert_int_equal(fixture->profile->location_count, count);
	assert_int_equal(fixture->out->location_count, fixture->job.result.count);
}

/* ---- Code that was made while the program runs ---- */

enum { MADE_CODE = 0x10000, MADE_BYTES = 0x1000, MADE_STACK = 0x7000000, RBP = 6 };

/* The stack of a leaf that two functions have called, each with a frame pointer, and the frames of it. */
static const uint64_t made_stack[] = { 0, MADE_STACK + 0x20, MADE_CODE + 0x20, 0, MADE_STACK + 0x40, MADE_CODE + 0x30,
	0, 0, 0, MADE_CODE + 0x40 };
static const struct unwind_frame made_frames[] = {
	{ .pc = MADE_CODE + 0x10, .stack_pointer = MADE_STACK, .is_exact = true },
	{ .pc = MADE_CODE + 0x20, .stack_pointer = MADE_STACK + 0x18 },
	{ .pc = MADE_CODE + 0x30, .stack_pointer = MADE_STACK + 0x30 },
	{ .pc = MADE_CODE + 0x40, .stack_pointer = MADE_STACK + 0x50 }
};
enum { MADE_FRAMES = sizeof(made_frames) / sizeof(made_frames[0]) };

static bool made_code_keeps(void *context, int32_t pid, const struct elf_image *elf)
{
	(void)context;
	return pid == getpid() && !elf;
}

/* Offers the stack with its frames but for one. */
static void offer_made(struct fixture *fixture, size_t missing, uint64_t frame_pointer)
{
	struct unwind_job *job = &fixture->job;
	struct unwind_frame *frames = job->result.frames;
	size_t count = 0;

	memset(&job->registers, 0, sizeof(job->registers));
	job->registers.values[RIP] = MADE_CODE + 0x10;
	job->registers.values[RSP] = MADE_STACK;
	job->registers.values[RBP] = frame_pointer;
	job->dump = (struct unwind_stack_dump){ (const uint8_t *)made_stack, sizeof(made_stack), MADE_STACK };
	for (size_t i = 0; i < MADE_FRAMES; i++)
		if (i != missing)
			frames[count++] = made_frames[i];
	job->result.count = count;
	offer(fixture);
}

static void start_made(struct fixture *fixture, bool keeps)
{
	const struct elf_mapping made = {
		.pid = getpid(), .start = MADE_CODE, .end = MADE_CODE + MADE_BYTES, .path = "//anon"
	};
	struct error err;

	start_with(fixture,
		&(struct verifier_options){
			.every = 1, .may_wait = true, .frame_pointers = { keeps ? made_code_keeps : NULL, NULL } });
	assert_true(process_table_map(&fixture->table, fixture->process, &made, &err));
}

static void expect_made(struct fixture *fixture, uint64_t equal, uint64_t longer, uint64_t other)
{
	const struct profile_verification *found = finish(fixture);

	assert_int_equal(found->stacks[PROFILE_COMPARISON_EQUAL], equal);
	assert_int_equal(found->stacks[PROFILE_COMPARISON_LONGER], longer);
	assert_int_equal(found->stacks[PROFILE_COMPARISON_SHORTER], 0);
	assert_int_equal(found->stacks[PROFILE_COMPARISON_OTHER], other);
}

static void frame_pointers_of_made_code_are_followed(void **state)
{
	struct fixture *fixture = *state;

	start_made(fixture, true);
	offer_made(fixture, MADE_FRAMES, MADE_STACK + 8);
	/* A leaf without a frame yet: its caller is not in the chain. */
	offer_made(fixture, MADE_FRAMES, MADE_STACK + 0x20);
	/* A callee's frame that was left, and what is no frame pointer: nothing to compare with. */
	offer_made(fixture, MADE_FRAMES, MADE_STACK - 0x20);
	offer_made(fixture, MADE_FRAMES, 1);
	/* A caller was passed over. */
	offer_made(fixture, 1, MADE_STACK + 8);
	offer_made(fixture, 2, MADE_STACK + 8);
	expect_made(fixture, 2, 2, 2);
}

static void made_code_without_frame_pointers_is_not_compared(void **state)
{
	struct fixture *fixture = *state;

	start_made(fixture, false);
	offer_made(fixture, MADE_FRAMES, MADE_STACK + 8);
	offer_made(fixture, 1, MADE_STACK + 8);
	expect_made(fixture, 0, 2, 0);
}

/* The walk tells where a deoptimised frame was; the stack tells what it returns to. */
static void deoptimised_frames_are_the_same(void **state)
{
	struct fixture *fixture = *state;
	struct unwind_frame *frames;

	start_made(fixture, true);
	frames = fixture->job.result.frames;
	offer_made(fixture, MADE_FRAMES, MADE_STACK + 8);
	frames[2].pc = MADE_CODE + 0x38;
	offer(fixture);
	expect_made(fixture, 2, 0, 0);
}

/* ---- Hostile bytes ---- */

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 11;
}

/* Words that are anything, code and stack addresses among them. */
static void scramble(struct fixture *fixture, uint64_t *seed)
{
	uint64_t *words = (uint64_t *)(void *)fixture->copy;

	for (size_t i = 0; i < STACK_BYTES / sizeof(*words); i++) {
		uint64_t random = next_random(seed);

		words[i] = random % 3 == 0   ? (uint64_t)(uintptr_t)inner + random % 4096
			   : random % 3 == 1 ? fixture->job.dump.address + random % STACK_BYTES
					     : random;
	}
	for (size_t i = 0; i < REGISTERS; i++)
		if (i != RSP && i != RIP)
			fixture->job.registers.values[i] = words[next_random(seed) % 1024];
	fixture->job.dump.size = next_random(seed) % STACK_BYTES;
}

static void hostile_stacks_end(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = 1;

	start(fixture, 1);
	for (size_t i = 0; i < HOSTILE_STACKS; i++) {
		scramble(fixture, &seed);
		offer(fixture);
	}
	assert_int_equal(profile_verification_stacks(finish(fixture)), HOSTILE_STACKS);
}

/* A copy of our own program whose unwind information is damaged here and there. */
static struct elf_image *damaged_image(uint64_t *seed)
{
	struct elf_section parts[2];
	struct elf_image *whole, *damaged;
	const uint8_t *bytes;
	struct error err;
	uint8_t *copy;
	size_t size;

	assert_true(elf_image_open_path("/proc/self/exe", &whole, &err));
	bytes = elf_image_bytes(whole, &size);
	copy = malloc(size);
	assert_non_null(copy);
	memcpy(copy, bytes, size);
	elf_image_eh_frame(whole, &parts[0], &parts[1]);
	for (size_t part = 0; part < 2; part++)
		for (size_t i = 0; i < parts[part].size / 4; i++)
			copy[(size_t)(parts[part].bytes - bytes) + next_random(seed) % parts[part].size] =
				(uint8_t)next_random(seed);
	assert_true(elf_image_open_memory(copy, size, "damaged", &damaged, &err));
	free(copy);
	elf_image_unref(whole);
	return damaged;
}

struct hostile {
	struct fixture *fixture;
	struct code_map *map;
	struct unwind_library library; /* the child cannot load it */
};

static void walk_hostile(void *context, void *result)
{
	const struct hostile *hostile = context;
	const struct fixture *fixture = hostile->fixture;
	const struct reference_stack stack = { fixture->job.registers,
		{ fixture->copy, fixture->job.dump.size, fixture->job.dump.address } };
	static uint64_t addresses[UNWIND_MAX_FRAMES];
	struct reference *reference;
	struct error err;

	if (!reference_create(&hostile->library, hostile->map, &reference, &err))
		return;
	*(size_t *)result = reference_walk(reference, &stack, addresses, UNWIND_MAX_FRAMES).count;
}

static void hostile_images_end(void **state)
{
	static const struct isolated_limits limits = { .seconds = 60, .memory_bytes = (size_t)256 << 20 };
	struct fixture *fixture = *state;
	struct hostile hostile = { .fixture = fixture };
	struct isolated isolated = { 0 };
	uint64_t seed = 2;
	struct error err;

	start(fixture, 1);
	assert_true(unwind_library_open(&hostile.library, &err));
	for (size_t made = 0; made < HOSTILE_IMAGES; made++) {
		struct elf_image *image = damaged_image(&seed);
		struct frame_table *frames;

		assert_true(frame_table_create(image, FRAME_RULES, &frames, &err));
		assert_true(code_map_create(
			&fixture->table, fixture->process, &(struct code_frame_pointers){ 0 }, &hostile.map, &err));
		for (size_t i = 0; i < hostile.map->count; i++) {
			struct code_region *region = &hostile.map->regions[i];

			if (region->start <= (uint64_t)(uintptr_t)inner && (uint64_t)(uintptr_t)inner < region->end) {
				region->image = image;
				region->frames = frames;
			}
		}
		assert_true(isolated_start(&isolated, &limits, sizeof(size_t), walk_hostile, &hostile, &err));
		isolated_wait(&isolated);
		assert_true(*(size_t *)isolated.result <= UNWIND_MAX_FRAMES);
		code_map_destroy(hostile.map);
		frame_table_destroy(frames);
		elf_image_unref(image);
	}
	isolated_deinit(&isolated);
	unwind_library_close(&hostile.library);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(walks_compare_by_where_they_part),
		TEST(our_own_stack_is_equal),
		TEST(one_in_so_many_is_compared),
		TEST(nothing_to_compare_is_an_answer),
		TEST(wrong_walks_are_found),
		TEST(locations_are_those_of_the_profile),
		TEST(frame_pointers_of_made_code_are_followed),
		TEST(made_code_without_frame_pointers_is_not_compared),
		TEST(deoptimised_frames_are_the_same),
		TEST(hostile_stacks_end),
		TEST(hostile_images_end),
	};

	/* The strings of the arguments lie above every frame. */
	stack_end = (uint64_t)(uintptr_t)argv[0] & ~(uint64_t)7;
	return cmocka_run_group_tests_name("sampler.verify", tests, NULL, NULL);
}
