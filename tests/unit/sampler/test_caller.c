/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/unwind/unwind.h"
#include "tests/unit/frame/elf_bytes.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>

/*
 * Code without rules at MADE_AT, which runs in a frame that it did not make; a described function, whose frame is 16
 * bytes; and the code where execution starts.
 */
enum {
	WORDS = 512,
	STACK_AT = 0x700000,
	MADE_AT = 0x1000,
	MADE_END = 0x2000,
	START_AT = 0x3000,
	START_END = 0x3040,
	SILENT_AT = 0x20000, /* of the image, but not described */
	SILENT_BYTES = 0x40,
	FRAMED_AT = 0x50000, /* the described function again, with a frame pointer */
	RESOLVER_CFA = 32,   /* above rbx: itself, two words of the PLT's, the return address */
	PROBES_AT = 0x90000, /* where the kernel has code for probes of functions */
	PROBES_END = 0x91000,
	RESOLVER_AT =
		0x60000, /* and once more, its frame hanging on rbx as those of glibc's _dl_runtime_resolve_* do */
};

struct image {
	const struct frame_table *table, *framed, *resolver;
	uint8_t code[ELF_BYTES_CODE_SIZE], start[START_END - START_AT], silent[SILENT_BYTES], made[MADE_END - MADE_AT];
	uint8_t patched[ELF_BYTES_CODE_SIZE]; /* the code as it stands in memory, where is_patched */
	bool is_patched, is_go;
	size_t asked; /* whether an address is code */
	struct unwinder *unwinder;
};

/* The described function, as it stands in another image with other rules. */
static bool find_copy(struct image *image, uint64_t address, uint64_t start, const struct frame_table *table,
	struct unwind_code *code)
{
	if (address - start >= ELF_BYTES_CODE_SIZE)
		return false;
	code->table = table;
	code->image_address = address - start + ELF_BYTES_CODE;
	code->code = (struct machine_code){ image->code, sizeof(image->code), address - start };
	return true;
}

static bool find(void *context, uint64_t address, struct unwind_code *code)
{
	struct image *image = context;

	*code = (struct unwind_code){ .image_address = address };
	if (address >= MADE_AT && address < MADE_END)
		return true;
	code->is_return_probe = address >= PROBES_AT && address < PROBES_END;
	if (code->is_return_probe)
		return true;
	if (address - START_AT < START_END - START_AT) {
		code->entry = START_AT;
		code->code = (struct machine_code){ image->start, sizeof(image->start), address - START_AT };
		return true;
	}
	if (find_copy(image, address, FRAMED_AT, image->framed, code) ||
		find_copy(image, address, RESOLVER_AT, image->resolver, code))
		return true;
	code->table = image->table;
	code->is_go = image->is_go;
	if (address - SILENT_AT < SILENT_BYTES) {
		code->code = (struct machine_code){ image->silent, sizeof(image->silent), address - SILENT_AT };
		return true;
	}
	code->code = (struct machine_code){ image->code, sizeof(image->code), address - ELF_BYTES_CODE };
	return address - ELF_BYTES_CODE < ELF_BYTES_CODE_SIZE;
}

/* Code without an image is read in the process, and that of the image where something was put into it. */
static bool read_made(void *context, uint64_t address, size_t bytes, struct machine_code *code)
{
	struct image *image = context;

	(void)bytes;
	if (image->is_patched && address - ELF_BYTES_CODE < sizeof(image->patched)) {
		*code = (struct machine_code){ image->patched, sizeof(image->patched), address - ELF_BYTES_CODE };
		return true;
	}
	if (address - MADE_AT >= sizeof(image->made))
		return false;
	*code = (struct machine_code){ image->made, sizeof(image->made), address - MADE_AT };
	return true;
}

static bool is_code(void *context, uint64_t address)
{
	struct image *image = context;
	struct unwind_code ignored;

	image->asked++;
	return find(context, address, &ignored);
}

/* CFA: the register + the offset; the return address right below it. */
static const struct frame_table *make_table(uint8_t cfa_register, uint8_t cfa_offset)
{
	static const uint8_t fde[] = { 0 };
	const uint8_t cie[] = { 0x0c, cfa_register, cfa_offset, 0x90, 1 };
	struct elf_bytes wanted = { cie, fde, sizeof(cie), sizeof(fde), true, false };
	struct frame_table *table;
	struct error err;

	assert_true(elf_bytes_table(&wanted, &table, &err));
	return table;
}

/* A call in the described function that returns to `at`. */
static void put_call(struct image *image, size_t at, int32_t target)
{
	int32_t distance = target - (int32_t)at;

	image->code[at - 5] = 0xe8;
	memcpy(&image->code[at - 4], &distance, sizeof(distance));
}

/* Behind two calls in the described function, and one where execution starts, there is a return address. */
static int set_up(void **state)
{
	struct image *image = calloc(1, sizeof(*image));
	struct error err;

	assert_non_null(image);
	image->table = make_table(X86_64_RSP, 16);
	image->framed = make_table(X86_64_RBP, 16);
	image->resolver = make_table(X86_64_RBX, RESOLVER_CFA);
	image->start[0x0b] = 0xe8;
	put_call(image, 0x40, 0x10000);
	put_call(image, 0x80, 0x10000);
	assert_true(unwinder_create(&image->unwinder, &err));
	*state = image;
	return 0;
}

static int tear_down(void **state)
{
	struct image *image = *state;

	unwinder_destroy(image->unwinder);
	frame_table_destroy((struct frame_table *)image->table);
	frame_table_destroy((struct frame_table *)image->framed);
	frame_table_destroy((struct frame_table *)image->resolver);
	free(image);
	return 0;
}

/* What was found before. */
static void forget(struct image *image)
{
	struct error err;

	unwinder_destroy(image->unwinder);
	assert_true(unwinder_create(&image->unwinder, &err));
}

static struct unwind_result walk_probed(
	struct image *image, const uint64_t *words, uint64_t pc, const struct unwind_probes *probes)
{
	struct unwind_job job = { .space = { find, read_made, image, 1, is_code, &machine_x86_64 },
		.registers = { .values = { [X86_64_RSP] = STACK_AT, [X86_64_RBP] = 0x99, [X86_64_RIP] = pc } },
		.dump = { (const uint8_t *)words, WORDS * sizeof(*words), STACK_AT, .probes = *probes } };

	unwind_stacks(image->unwinder, &job, 1);
	return job.result;
}

static struct unwind_result walk_from(struct image *image, const uint64_t *words, uint64_t pc)
{
	return walk_probed(image, words, pc, &(struct unwind_probes){ 0 });
}

static struct unwind_result walk(struct image *image, const uint64_t *words)
{
	return walk_from(image, words, MADE_AT + 0x100);
}

static void test_the_caller_is_found_in_the_stack(void **state)
{
	struct image *image = *state;
	/* What is behind no call, what leads nowhere, then the caller and the start. */
	uint64_t words[WORDS] = { 5, ELF_BYTES_CODE + 0x33, ELF_BYTES_CODE + 0x40, 7, ELF_BYTES_CODE + 0x80, 8,
		START_AT + 0x10 };
	struct unwind_result result;
	size_t asked;

	result = walk(image, words);
	assert_int_equal(result.stop, PROFILE_STOP_ROOT);
	/* From the first of them rules lead to the second: what is proven is taken. */
	assert_int_equal(result.count, 4);
	assert_int_equal(result.frames[1].pc, ELF_BYTES_CODE + 0x40);
	assert_int_equal(result.frames[2].pc, ELF_BYTES_CODE + 0x80);
	assert_int_equal(result.frames[3].pc, START_AT + 0x10);
	/* It is known from then on: only what stands below it is scanned again. */
	asked = image->asked;
	result = walk(image, words);
	assert_int_equal(result.count, 4);
	assert_int_equal(image->asked, asked + 2);
	/* Until something else stands there. */
	words[2] = 0;
	result = walk(image, words);
	assert_int_equal(result.stop, PROFILE_STOP_ROOT);
	assert_int_equal(result.count, 3);
	assert_int_equal(result.frames[1].pc, ELF_BYTES_CODE + 0x80);
}

static void test_what_leads_to_no_root_is_none(void **state)
{
	struct image *image = *state;
	uint64_t words[WORDS] = { 5, ELF_BYTES_CODE + 0x40, 7, 9 }, empty[WORDS] = { 0 };
	struct unwind_result result;

	result = walk(image, words);
	assert_int_equal(result.stop, PROFILE_STOP_NO_RULE);
	assert_int_equal(result.count, 1);
	assert_int_equal(result.frames[0].pc, MADE_AT + 0x100);
	result = walk(image, empty);
	assert_int_equal(result.stop, PROFILE_STOP_NO_RULE);
	assert_int_equal(result.count, 1);
	/* Above the dump it may be found. */
	words[1] = 0;
	words[WORDS - 1] = ELF_BYTES_CODE + 0x40;
	result = walk(image, words);
	assert_int_equal(result.stop, PROFILE_STOP_DUMP_END);
	assert_int_equal(result.count, 1);
	assert_int_equal(result.caller_stack_pointer, 0);
}

/* A call of a described function that never jumps does not lead to code made at run time. */
static void test_a_call_of_another_function_is_none(void **state)
{
	struct image *image = *state;
	uint64_t words[WORDS] = { 5, ELF_BYTES_CODE + 0x40, 7, ELF_BYTES_CODE + 0x80, 8, START_AT + 0x10 };
	struct unwind_result result;

	put_call(image, 0x40, 0);
	result = walk(image, words);
	assert_int_equal(result.stop, PROFILE_STOP_ROOT);
	assert_int_equal(result.count, 3);
	assert_int_equal(result.frames[1].pc, ELF_BYTES_CODE + 0x80);
}

/*
 * It may be the caller, but the frame pointer that would tell is not known: where one was kept that leads to a call,
 * what stands above is not taken in its place.
 */
static void test_what_cannot_be_told_ends_the_walk(void **state)
{
	struct image *image = *state;
	/* Not right below the return address, where code with a frame would have pushed it. */
	uint64_t words[WORDS] = { 5, STACK_AT + 3 * sizeof(uint64_t), 6, FRAMED_AT + 0x40, ELF_BYTES_CODE + 0x80, 8,
		START_AT + 0x10 };
	struct unwind_result result;

	result = walk(image, words);
	assert_int_equal(result.stop, PROFILE_STOP_NO_RULE);
	assert_int_equal(result.count, 1);
	/* Where nobody kept one, it was left over. */
	words[1] = 7;
	result = walk(image, words);
	assert_int_equal(result.stop, PROFILE_STOP_ROOT);
	assert_int_equal(result.count, 3);
	assert_int_equal(result.frames[1].pc, ELF_BYTES_CODE + 0x80);
}

/* The registers that glibc's resolvers keep, of all widths: fxsave, xsave of AVX and of AVX-512, xsavec. */
static const size_t resolver_state_bytes[] = { 0x240, 0x380, 0xac0, 0x340 };

enum { RESOLVER_ROOM = 400, RESOLVER_SAVED_RBX = 3, RESOLVER_RETURN = 5, RESOLVER_CALLER = RESOLVER_ROOM + 1 };

/* Below the frame of what jumped to the code, a resolver's: it keeps registers, and rbx shows where its own caller
 * stood. */
static size_t put_resolver(uint64_t *words, size_t state_bytes)
{
	size_t rbx_at = RESOLVER_RETURN + 1 + state_bytes / sizeof(*words);

	memset(words, 0, WORDS * sizeof(*words));
	words[RESOLVER_RETURN] = RESOLVER_AT + 0x40;
	words[RESOLVER_CALLER] = ELF_BYTES_CODE + 0x80;
	words[RESOLVER_CALLER + 2] = START_AT + 0x10;
	return rbx_at;
}

static void expect_caller_above_resolver(struct image *image, const uint64_t *words)
{
	struct unwind_result result = walk(image, words);

	assert_int_equal(result.stop, PROFILE_STOP_ROOT);
	assert_int_equal(result.count, 3);
	assert_int_equal(result.frames[1].pc, ELF_BYTES_CODE + 0x80);
	assert_int_equal(result.frames[2].pc, START_AT + 0x10);
}

static void test_what_a_resolver_left_behind(void **state)
{
	struct image *image = *state;
	uint64_t words[WORDS];

	for (size_t i = 0; i < sizeof(resolver_state_bytes) / sizeof(resolver_state_bytes[0]); i++) {
		size_t rbx_at = put_resolver(words, resolver_state_bytes[i]);

		/* Nothing is left of its rbx. */
		expect_caller_above_resolver(image, words);
		/* It is there, but where it leads nothing was called from any more. */
		words[RESOLVER_SAVED_RBX] = STACK_AT + rbx_at * sizeof(*words);
		expect_caller_above_resolver(image, words);
		words[rbx_at + 3] = ELF_BYTES_CODE + 0x33;
		expect_caller_above_resolver(image, words);
	}
}

/*
 * The area in which a resolver keeps the registers is full of what earlier calls left behind, also of return addresses.
 * How large it is depends on the processor; the caller that is found does not.
 */
static void test_the_caller_is_the_same_whatever_a_resolver_saves(void **state)
{
	enum { LEFT_OVER = 4 };
	static const uint64_t left_over[LEFT_OVER] = { STACK_AT, MADE_AT + 0x20, 1, FRAMED_AT + 0x30 };
	struct image *image = *state;
	uint64_t words[WORDS];

	/* A call of the function itself, which never jumps elsewhere. */
	put_call(image, 0x40, 0);
	for (size_t i = 0; i < sizeof(resolver_state_bytes) / sizeof(resolver_state_bytes[0]); i++) {
		size_t rbx_at = put_resolver(words, resolver_state_bytes[i]);

		for (size_t slot = RESOLVER_RETURN + 1; slot < rbx_at; slot++)
			words[slot] = slot % 2 ? ELF_BYTES_CODE + 0x40 : left_over[slot / 2 % LEFT_OVER];
		words[RESOLVER_SAVED_RBX] = STACK_AT + rbx_at * sizeof(*words);
		forget(image);
		expect_caller_above_resolver(image, words);
		/* As it was found before. */
		expect_caller_above_resolver(image, words);
	}
}

/* As the resolver's caller stands what called the code: as long as that call may have led to the resolver, nothing can
 * be told. */
static void test_a_call_that_did_not_lead_to_the_resolver(void **state)
{
	struct image *image = *state;
	uint64_t words[WORDS];
	struct unwind_result result;

	(void)put_resolver(words, resolver_state_bytes[0]);
	words[RESOLVER_SAVED_RBX] = STACK_AT + (RESOLVER_CALLER - 3) * sizeof(*words);
	result = walk(image, words);
	assert_int_equal(result.stop, PROFILE_STOP_NO_RULE);
	assert_int_equal(result.count, 1);
	/* The described function jumps in its own frame: to the code, not to a function. */
	put_call(image, 0x80, 0);
	image->code[0x90] = 0xff;
	image->code[0x91] = 0xe0;
	forget(image);
	expect_caller_above_resolver(image, words);
}

/* Code that has a frame left the caller's frame pointer below the return address. */
static void test_a_frame_pointer_stands_below_the_return_address(void **state)
{
	enum { FRAME = 7 };
	struct image *image = *state;
	uint64_t words[WORDS] = { 5, STACK_AT + FRAME * sizeof(uint64_t), FRAMED_AT + 0x40, [FRAME + 1] = 9,
		ELF_BYTES_CODE + 0x80, 8, START_AT + 0x10 };
	struct unwind_result result;

	/* Where it leads to a call, but nowhere from there, it may have been none: that speaks not for what stands
	 * above. */
	words[FRAME + 1] = ELF_BYTES_CODE + 0x40;
	result = walk(image, words);
	assert_int_equal(result.stop, PROFILE_STOP_NO_RULE);
	assert_int_equal(result.count, 1);
	/* Where it leads to none, the frame was left over. */
	words[FRAME + 1] = 9;
	result = walk(image, words);
	assert_int_equal(result.stop, PROFILE_STOP_ROOT);
	assert_int_equal(result.frames[1].pc, ELF_BYTES_CODE + 0x80);
	forget(image);
	words[FRAME + 1] = START_AT + 0x10;
	result = walk(image, words);
	assert_int_equal(result.stop, PROFILE_STOP_ROOT);
	assert_int_equal(result.count, 3);
	assert_int_equal(result.frames[1].pc, FRAMED_AT + 0x40);
	assert_int_equal(result.frames[2].pc, START_AT + 0x10);
}

/* After many scans in vain few stacks are scanned, until something is found again. */
static void test_scans_in_vain(void **state)
{
	enum { ENOUGH = 1000 };
	struct image *image = *state;
	uint64_t vain[WORDS] = { 5, ELF_BYTES_CODE + 0x40, 7, 9 },
		 words[WORDS] = { [3] = ELF_BYTES_CODE + 0x80, 8, START_AT + 0x10 };
	size_t asked, found = 0;

	(void)walk(image, vain);
	asked = image->asked;
	for (size_t i = 1; i < ENOUGH; i++)
		(void)walk(image, vain);
	assert_true(image->asked < asked * ENOUGH / 2);
	for (size_t i = 0; i < ENOUGH; i++)
		found += walk(image, words).stop == PROFILE_STOP_ROOT;
	assert_true(found > ENOUGH * 9 / 10);
}

/* A coroutine's first function returns to where no call stands. */
static void test_a_return_address_put_there_by_hand(void **state)
{
	struct image *image = *state;
	uint64_t words[WORDS] = { 5, SILENT_AT + 0x10, 0, 3 };
	struct unwind_result result;

	result = walk_from(image, words, ELF_BYTES_CODE + 0x20);
	assert_int_equal(result.stop, PROFILE_STOP_ROOT);
	assert_int_equal(result.count, 2);
}

/* Behind a call it is a caller like any other, of which nothing is known. */
static void test_a_return_address_of_a_call_is_no_root(void **state)
{
	struct image *image = *state;
	uint64_t words[WORDS] = { 5, SILENT_AT + 0x10, 0, 3 };
	struct unwind_result result;

	image->silent[0x0b] = 0xe8;
	result = walk_from(image, words, ELF_BYTES_CODE + 0x20);
	assert_int_equal(result.stop, PROFILE_STOP_NO_RULE);
	assert_int_equal(result.count, 2);
}

/* Which function a call by a pointer has led to is not known: others may stand between. */
static void test_what_a_call_by_a_pointer_leads_to_is_open(void **state)
{
	struct image *image = *state;
	uint64_t words[WORDS] = { 5, ELF_BYTES_CODE + 0x40, 7, ELF_BYTES_CODE + 0x80, 8, START_AT + 0x10 };
	struct unwind_result result;

	memcpy(&image->code[0x40 - 5], "\x90\x90\x90\xff\xd0", 5);
	result = walk_from(image, words, SILENT_AT + 0x10);
	assert_int_equal(result.stop, PROFILE_STOP_OPEN);
	assert_int_equal(result.count, 4);
	/* As it was found before. */
	result = walk_from(image, words, SILENT_AT + 0x10);
	assert_int_equal(result.stop, PROFILE_STOP_OPEN);
	/* Code that was made at run time is called so, or jumped to. */
	result = walk(image, words);
	assert_int_equal(result.stop, PROFILE_STOP_ROOT);
	assert_int_equal(result.count, 4);
}

/* Code that was made at run time and returns has a frame of its own, which the candidate further up passes over. */
static void test_what_passes_over_a_frame_is_open(void **state)
{
	struct image *image = *state;
	uint64_t words[WORDS] = { 5, MADE_AT + 0x80, 6, ELF_BYTES_CODE + 0x40, 7, ELF_BYTES_CODE + 0x80, 8,
		START_AT + 0x10 };
	struct unwind_result result;

	memcpy(&image->code[0x40 - 5], "\x90\x90\x90\xff\xd0", 5);
	/* It goes nowhere. */
	image->made[0x80 - 5] = 0xe8;
	result = walk(image, words);
	assert_int_equal(result.stop, PROFILE_STOP_ROOT);
	assert_int_equal(result.count, 4);
	forget(image);
	image->made[0x80] = 0xc3;
	result = walk(image, words);
	assert_int_equal(result.stop, PROFILE_STOP_OPEN);
	assert_int_equal(result.count, 4);
}

static void expect_end(
	struct image *image, const uint64_t *words, enum profile_stop stop, size_t count, uint64_t outermost)
{
	struct unwind_result result;

	forget(image);
	result = walk_from(image, words, ELF_BYTES_CODE + 0x20);
	assert_int_equal(result.stop, stop);
	assert_int_equal(result.count, count);
	assert_int_equal(result.frames[count - 1].pc, outermost);
}

/* Where a rule leads to an address that no call has left, it has not led to a caller, whatever describes the code. */
static void test_what_no_call_has_left_is_no_caller(void **state)
{
	struct image *image = *state;
	uint64_t of_leaf[WORDS] = { 5, ELF_BYTES_CODE + 0x33, 7, ELF_BYTES_CODE + 0x80, 8, START_AT + 0x10 };
	uint64_t of_caller[WORDS] = { 5, ELF_BYTES_CODE + 0x40, 7, ELF_BYTES_CODE + 0x33, 8, ELF_BYTES_CODE + 0x80, 9,
		START_AT + 0x10 };
	uint64_t first_byte[WORDS] = { 5, ELF_BYTES_CODE + 0x40, 7, ELF_BYTES_CODE, 8, START_AT + 0x10 };
	/* The byte before is the function's, the address itself is of code that nothing describes. */
	uint64_t behind[WORDS] = { 5, ELF_BYTES_CODE + 0x40, 7, ELF_BYTES_CODE + ELF_BYTES_CODE_SIZE, 8,
		START_AT + 0x10 };

	expect_end(image, of_leaf, PROFILE_STOP_OPEN, 1, ELF_BYTES_CODE + 0x20);
	assert_int_equal(walk_from(image, of_leaf, ELF_BYTES_CODE + 0x20).placed, ELF_BYTES_CODE + 0x33);
	expect_end(image, of_caller, PROFILE_STOP_OPEN, 2, ELF_BYTES_CODE + 0x40);
	expect_end(image, first_byte, PROFILE_STOP_NO_MAPPING, 2, ELF_BYTES_CODE + 0x40);
	expect_end(image, behind, PROFILE_STOP_ROOT, 3, ELF_BYTES_CODE + ELF_BYTES_CODE_SIZE);
	assert_int_equal(walk_from(image, behind, ELF_BYTES_CODE + 0x20).placed, 0);
}

/* What is in memory counts: a call was put there while the program ran. */
static void test_a_call_that_only_memory_has(void **state)
{
	struct image *image = *state;
	uint64_t words[WORDS] = { 5, ELF_BYTES_CODE + 0x33, 7, START_AT + 0x10 };

	memcpy(image->patched, image->code, sizeof(image->patched));
	image->is_patched = true;
	expect_end(image, words, PROFILE_STOP_OPEN, 1, ELF_BYTES_CODE + 0x20);
	image->patched[0x33 - 5] = 0xe8;
	expect_end(image, words, PROFILE_STOP_ROOT, 3, START_AT + 0x10);
}

/* Go has a function that it interrupts call another one, which then returns to where it was. */
static void test_where_go_has_interrupted(void **state)
{
	struct image *image = *state;
	uint64_t words[WORDS] = { 5, ELF_BYTES_CODE + 0x33, 7, START_AT + 0x10 };
	struct unwind_result result;

	image->is_go = true;
	result = walk_from(image, words, ELF_BYTES_CODE + 0x20);
	assert_int_equal(result.stop, PROFILE_STOP_ROOT);
	assert_int_equal(result.count, 3);
	assert_int_equal(unwind_frame_address(&result.frames[1]), ELF_BYTES_CODE + 0x33);
	assert_int_equal(unwind_frame_address(&result.frames[2]), START_AT + 0xf);
}

/*
 * A return address of 0 is the end of a stack where a call has left the frame, or where the first frame's instructions
 * show it there too; else they are followed, for a compiler may have described an epilogue wrongly.
 */
static void test_a_return_address_of_0(void **state)
{
	struct image *image = *state;
	uint64_t above_leaf[WORDS] = { ELF_BYTES_CODE + 0x40, 0, ELF_BYTES_CODE + 0x80, 8, START_AT + 0x10 };
	uint64_t above_caller[WORDS] = { 5, ELF_BYTES_CODE + 0x40, 7, 0, 8, START_AT + 0x10 };
	static const uint8_t as_described[] = { 0x48, 0x83, 0xc4, 0x08, 0xc3 }, otherwise[] = { 0xc3 };

	expect_end(image, above_caller, PROFILE_STOP_ROOT, 2, ELF_BYTES_CODE + 0x40);
	expect_end(image, above_leaf, PROFILE_STOP_OPEN, 1, ELF_BYTES_CODE + 0x20);
	memcpy(&image->code[0x20], as_described, sizeof(as_described));
	expect_end(image, above_leaf, PROFILE_STOP_ROOT, 1, ELF_BYTES_CODE + 0x20);
	memcpy(&image->code[0x20], otherwise, sizeof(otherwise));
	expect_end(image, above_leaf, PROFILE_STOP_ROOT, 4, START_AT + 0x10);
	/* What was found so is a caller as well where the rule has led to no code. */
	above_leaf[1] = 0x99;
	expect_end(image, above_leaf, PROFILE_STOP_ROOT, 4, START_AT + 0x10);
}

/* ---- Return addresses that the kernel has replaced ---- */

static uint64_t slot_of(size_t word)
{
	return STACK_AT + word * sizeof(uint64_t);
}

/* The return addresses in words 1 and 3 lead to the kernel's code. */
static const uint64_t probed[WORDS] = { 5, PROBES_AT, 7, PROBES_AT, 8, START_AT + 0x10 };

static void test_return_probes_are_read_through(void **state)
{
	struct image *image = *state;
	const struct unwind_return returns[] = { { slot_of(1), ELF_BYTES_CODE + 0x40 },
		{ slot_of(3), ELF_BYTES_CODE + 0x80 }, { slot_of(5), ELF_BYTES_CODE } };
	struct unwind_probes probes = { returns, 2, 0, 0 };
	struct unwind_result result = walk_probed(image, probed, ELF_BYTES_CODE + 0x20, &probes);

	assert_int_equal(result.stop, PROFILE_STOP_ROOT);
	assert_int_equal(result.count, 4);
	assert_int_equal(result.frames[1].pc, ELF_BYTES_CODE + 0x40);
	assert_int_equal(result.frames[2].pc, ELF_BYTES_CODE + 0x80);
	assert_int_equal(unwind_frame_address(&result.frames[2]), ELF_BYTES_CODE + 0x7f);
	/* The second is not known: its function's caller is not either, and nothing else is put in its place. */
	probes.return_count = 1;
	result = walk_probed(image, probed, ELF_BYTES_CODE + 0x20, &probes);
	assert_int_equal(result.stop, PROFILE_STOP_RETURN_PROBE);
	assert_int_equal(result.count, 2);
	/* What the kernel tells is foreign too: code that no call leaves, another trampoline, nothing. */
	for (size_t i = 0; i < 3; i++) {
		const uint64_t foreign[] = { ELF_BYTES_CODE + 0x33, PROBES_AT, 0x99 };
		const struct unwind_return wrong = { slot_of(1), foreign[i] };

		probes = (struct unwind_probes){ &wrong, 1, 0, 0 };
		result = walk_probed(image, probed, ELF_BYTES_CODE + 0x20, &probes);
		assert_int_not_equal(result.stop, PROFILE_STOP_ROOT);
		assert_int_equal(result.count, 1);
	}
}

/* While the kernel is asked where to go on, its code has a few words below the place of the return address. */
static void test_a_thread_in_the_kernels_code(void **state)
{
	struct image *image = *state;
	const struct unwind_return returns[] = { { slot_of(3), ELF_BYTES_CODE + 0x80 } };
	const uint64_t words[WORDS] = { 1, 2, 3, 4, 8, START_AT + 0x10 };
	struct unwind_probes probes = { returns, 1, 0, 0 };
	struct unwind_result result = walk_probed(image, words, PROBES_AT + 0xd, &probes);

	assert_int_equal(result.stop, PROFILE_STOP_ROOT);
	assert_int_equal(result.count, 3);
	assert_int_equal(result.frames[1].pc, ELF_BYTES_CODE + 0x80);
	probes.return_count = 0;
	result = walk_probed(image, words, PROBES_AT + 0xd, &probes);
	assert_int_equal(result.stop, PROFILE_STOP_RETURN_PROBE);
	assert_int_equal(result.count, 1);
}

/* An instruction that a probe stands on runs elsewhere: the function is that where it stands. */
static void test_an_instruction_that_runs_elsewhere(void **state)
{
	struct image *image = *state;
	const uint64_t words[WORDS] = { 5, ELF_BYTES_CODE + 0x80, 8, START_AT + 0x10 };
	const struct unwind_probes probes = { NULL, 0, PROBES_AT + 0x80, ELF_BYTES_CODE + 0x20 };
	struct unwind_result result = walk_probed(image, words, PROBES_AT + 0x82, &probes);

	assert_int_equal(result.stop, PROFILE_STOP_ROOT);
	assert_int_equal(result.count, 3);
	assert_int_equal(unwind_frame_address(&result.frames[0]), ELF_BYTES_CODE + 0x22);
	/* Of another one nothing is known. */
	result = walk_probed(image, words, PROBES_AT + 0x92, &probes);
	assert_int_equal(result.stop, PROFILE_STOP_RETURN_PROBE);
	assert_int_equal(result.count, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_caller_is_found_in_the_stack, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_leads_to_no_root_is_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_call_of_another_function_is_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_cannot_be_told_ends_the_walk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_a_resolver_left_behind, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_the_caller_is_the_same_whatever_a_resolver_saves, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_call_that_did_not_lead_to_the_resolver, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_a_frame_pointer_stands_below_the_return_address, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_scans_in_vain, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_return_address_put_there_by_hand, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_return_address_of_a_call_is_no_root, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_a_call_by_a_pointer_leads_to_is_open, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_passes_over_a_frame_is_open, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_no_call_has_left_is_no_caller, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_call_that_only_memory_has, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_where_go_has_interrupted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_return_address_of_0, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_return_probes_are_read_through, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_thread_in_the_kernels_code, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_an_instruction_that_runs_elsewhere, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
