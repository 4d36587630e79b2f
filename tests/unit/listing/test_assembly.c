/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/listing/listing.h"

#include "tests/unit/diff/lined_fixture.h"
#include "tests/unit/support/failing_malloc.h"
#include "tests/unit/support/unit_test.h"

#include <elf.h>
#include <string.h>

/* hot(): mov eax, 0x2a; imul rax, rdi; call called; nop; jmp to itself; ret. */
static const char hot_code[] = "\xb8\x2a\x00\x00\x00\x48\x0f\xaf\xc7\xe8\xf2\x00\x00\x00\x90\xeb\xfe\xc3";
enum { HOT = 0x1000, CALLED = 0x1100, HOT_BYTES = sizeof(hot_code) - 1 };

struct made {
	struct profile *profile;
	struct diff *diff;
	struct listing *listing;
	uint32_t mapping, hot, called, inlined;
};

static void made_deinit(struct made *made)
{
	listing_destroy(made->listing);
	diff_destroy(made->diff);
	profile_destroy(made->profile);
}

static uint32_t function_named(struct made *made, const char *name, const char *file)
{
	struct profile_function function = { .name_source = PROFILE_NAME_DWARF, .start_line = 1 };
	struct error err;
	uint32_t id;

	assert_true(profile_intern(made->profile, name, &function.name, &err));
	assert_true(profile_intern(made->profile, file, &function.file, &err));
	function.origin = PROFILE_ORIGIN_USER;
	assert_true(profile_add_function(made->profile, &function, &id, &err));
	return id;
}

/* Samples at an address, in a stack of that alone. */
static void sample(
	struct made *made, uint64_t address, const struct profile_line *lines, size_t line_count, int64_t count)
{
	struct profile *profile = made->profile;
	struct error err;
	uint32_t location, stack;

	assert_true(profile_add_location(profile, made->mapping, address, &location, &err));
	assert_true(profile_set_lines(profile, location, lines, line_count, &err));
	assert_true(profile_add_stack(profile, 0, location, &stack, &err));
	assert_true(profile_add_sample(profile, stack, (uint32_t)profile->thread_count - 1,
		(int64_t[]){ count, count * LINED_SAMPLE_NS }, -1, &err));
}

static void add_code(struct made *made, uint64_t address, const char *bytes, size_t size, uint16_t machine)
{
	const struct profile_code code = { made->mapping, machine, (uint32_t)size, address,
		(uint8_t *)(uintptr_t)bytes };
	struct error err;

	assert_true(profile_add_code(made->profile, &code, &err));
}

static struct made make(void)
{
	struct made made = { .profile = lined_profile() };
	struct profile_mapping mapping = { .start = 0x1000, .end = 0x2000, .kind = PROFILE_MAPPING_FILE };
	struct error err;

	assert_true(profile_intern(made.profile, "/bin/p", &mapping.path, &err));
	assert_true(profile_add_mapping(made.profile, &mapping, &made.mapping, &err));
	made.hot = function_named(&made, "hot", "hot.c");
	made.called = function_named(&made, "called", "called.c");
	made.inlined = function_named(&made, "inlined", "hot.h");
	return made;
}

static bool try_list(struct made *made, struct error *err)
{
	const struct profile *const profiles[DIFF_SIDES] = { NULL, made->profile };

	return listing_create(made->diff, profiles, &(struct listing_options){ .functions = "^hot$", .assembly = true },
		&made->listing, err);
}

static void list(struct made *made)
{
	struct error err;

	assert_true(profile_finish(made->profile, &err));
	assert_true(profile_validate(made->profile, &err));
	assert_true(diff_create_single(made->profile, NULL, &made->diff, &err));
	assert_true(try_list(made, &err));
}

/* All instructions of a line: "1005 30 imul rax, rdi"; a gap is "...". */
static void expect_line(const struct made *made, uint32_t line, const char *expected)
{
	const struct listing_function *listed = &made->listing->functions[0];
	const struct listing_row *row = NULL;
	struct buffer text;

	buffer_init(&text, 1 << 16);
	buffer_append(&text, "", 0);
	for (size_t i = 0; i < listed->row_count; i++)
		if (listed->rows[i].line[DIFF_HEAD] == line)
			row = &listed->rows[i];
	assert_non_null(row);
	for (uint32_t i = 0; i < row->instruction_count[DIFF_HEAD]; i++) {
		const struct listing_instruction *at =
			&made->listing->instructions[DIFF_HEAD][row->first_instruction[DIFF_HEAD] + i];

		buffer_printf(&text, "%s%s%llx %.0f %s", i > 0 ? "\n" : "", at->is_behind_gap ? "...\n" : "",
			(unsigned long long)at->address, at->time / LINED_SAMPLE_NS,
			listing_string(made->listing, at->text));
		if (at->target)
			buffer_printf(&text, " %s", listing_string(made->listing, at->target));
	}
	buffer_append(&text, "", 1);
	assert_string_equal(text.data, expected);
	buffer_deinit(&text);
}

static void instructions_stand_below_their_lines(void **state)
{
	CLEANUP(made_deinit) struct made made = make();

	add_code(&made, HOT, hot_code, HOT_BYTES, EM_X86_64);
	add_code(&made, CALLED, "\xc3", 1, EM_X86_64);
	sample(&made, HOT, &(struct profile_line){ made.hot, 2 }, 1, 10);
	sample(&made, HOT + 5, &(struct profile_line){ made.hot, 3 }, 1, 30);
	sample(&made, HOT + 9, &(struct profile_line){ made.hot, 4 }, 1, 5);
	sample(&made, HOT + 17, &(struct profile_line){ made.hot, 4 }, 1, 7);
	sample(&made, CALLED, &(struct profile_line){ made.called, 2 }, 1, 3);
	list(&made);
	expect_line(&made, 2, "1000 10 mov eax, 0x2a");
	/* Samples may be one instruction late. */
	expect_line(&made, 3, "1000 0 mov eax, 0x2a\n1005 30 imul rax, rdi");
	/* A jump within a function needs no name. */
	expect_line(
		&made, 4, "1005 0 imul rax, rdi\n1009 5 call 0x1100 called\n100e 0 nop\n100f 0 jmp 0x100f\n1011 7 ret");
}

static void inlined_code_is_below_the_line_of_its_call(void **state)
{
	CLEANUP(made_deinit) struct made made = make();

	add_code(&made, HOT, hot_code, HOT_BYTES, EM_X86_64);
	sample(&made, HOT, (struct profile_line[]){ { made.inlined, 9 }, { made.hot, 2 } }, 2, 10);
	sample(&made, HOT + 17, (struct profile_line[]){ { made.inlined, 8 }, { made.hot, 2 } }, 2, 4);
	list(&made);
	expect_line(&made, 2, "1000 10 mov eax, 0x2a\n...\n100f 0 jmp 0x100f\n1011 4 ret");
}

static void without_code_there_are_none(void **state)
{
	CLEANUP(made_deinit) struct made made = make();

	sample(&made, HOT, &(struct profile_line){ made.hot, 2 }, 1, 10);
	list(&made);
	expect_line(&made, 2, "");
	assert_int_equal(made.listing->instruction_counts[DIFF_HEAD], 0);
	assert_true(made.listing->has_assembly);
}

static void of_a_long_line_those_with_the_most_time_are_shown(void **state)
{
	enum { COUNT = 100 };
	CLEANUP(made_deinit) struct made made = make();
	char nops[COUNT];
	const struct listing_row *row = NULL;
	size_t sampled = 0;

	memset(nops, '\x90', sizeof(nops));
	add_code(&made, HOT, nops, COUNT, EM_X86_64);
	for (unsigned int i = 0; i < COUNT; i++)
		sample(&made, HOT + i, &(struct profile_line){ made.hot, 2 }, 1, i % 10 == 0 ? 50 : 1);
	list(&made);
	for (size_t i = 0; i < made.listing->functions[0].row_count; i++)
		if (made.listing->functions[0].rows[i].line[DIFF_HEAD] == 2)
			row = &made.listing->functions[0].rows[i];
	assert_non_null(row);
	for (uint32_t i = 0; i < row->instruction_count[DIFF_HEAD]; i++) {
		double time = made.listing->instructions[DIFF_HEAD][row->first_instruction[DIFF_HEAD] + i].time;

		sampled += time > 0;
		assert_true(time == 0 || time == LINED_SAMPLE_NS || time == 50.0 * LINED_SAMPLE_NS);
	}
	assert_int_equal(sampled, LISTING_MOST_OF_LINE);
	assert_int_equal(row->more_instructions[DIFF_HEAD], COUNT - LISTING_MOST_OF_LINE);
	assert_true(row->time[DIFF_HEAD].self > row->more_time[DIFF_HEAD]);
}

/* Profiles are anybody's: code of no meaning, of another processor, and addresses where no instruction begins. */
static void hostile_code_has_an_end(void **state)
{
	static const uint16_t machines[] = { EM_X86_64, EM_AARCH64, 1, UINT16_MAX };
	uint64_t random = 88172645463325252;

	for (unsigned int round = 0; round < 40; round++) {
		CLEANUP(made_deinit) struct made made = make();
		char bytes[512];

		for (size_t i = 0; i < sizeof(bytes); i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			bytes[i] = (char)random;
		}
		add_code(&made, HOT, bytes, 1 + random % sizeof(bytes), machines[round % 4]);
		for (unsigned int i = 0; i < sizeof(bytes); i++)
			sample(&made, HOT + i, &(struct profile_line){ made.hot, 2 + i % 5 }, 1, 1 + i % 3);
		list(&made);
		for (size_t i = 0; i < made.listing->instruction_counts[DIFF_HEAD]; i++) {
			const struct listing_instruction *at = &made.listing->instructions[DIFF_HEAD][i];

			assert_in_range(at->address, HOT, HOT + sizeof(bytes) - 1);
			assert_true(strlen(listing_string(made.listing, at->text)) > 0);
		}
	}
}

static void without_memory_the_process_ends(void **state)
{
	CLEANUP(made_deinit) struct made made = make();
	struct error err;

	add_code(&made, HOT, hot_code, HOT_BYTES, EM_X86_64);
	add_code(&made, CALLED, "\xc3", 1, EM_X86_64);
	sample(&made, HOT + 9, &(struct profile_line){ made.hot, 4 }, 1, 5);
	sample(&made, CALLED, &(struct profile_line){ made.called, 2 }, 1, 3);
	list(&made);
	/* Without a decoder or its formatter there are no instructions, which is no error. */
	listing_destroy(made.listing);
	made.listing = NULL;
	while (failing_malloc_in_child())
		failing_malloc_end(try_list(&made, &err), &err);
	assert_true(try_list(&made, &err));
	expect_line(&made, 4, "1005 0 imul rax, rdi\n1009 5 call 0x1100 called");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_stand_below_their_lines),
		cmocka_unit_test(inlined_code_is_below_the_line_of_its_call),
		cmocka_unit_test(without_code_there_are_none),
		cmocka_unit_test(of_a_long_line_those_with_the_most_time_are_shown),
		cmocka_unit_test(hostile_code_has_an_end),
		cmocka_unit_test(without_memory_the_process_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
