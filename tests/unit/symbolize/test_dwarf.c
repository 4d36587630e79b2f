/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/file.h"
#include "oracle_fixture.h"
#include "program_fixture.h"
#include "symbolize/dwarf.h"
#include "tests/unit/support/unit_test.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every byte of the program's code, asked of the walk and of libdw. The sanitizers, which look at the walk alone, are
 * content with each third. */
#ifdef __SANITIZE_ADDRESS__
enum { BYTES_APART = 3 };
#else
enum { BYTES_APART = 1 };
#endif

static size_t text_addresses(struct elf_image *image, uint64_t **addresses)
{
	struct elf_section text;

	size_t count;

	assert_true(elf_image_section(image, ".text", &text));
	count = (text.size + BYTES_APART - 1) / BYTES_APART;
	*addresses = calloc(count + 1, sizeof(**addresses));
	assert_non_null(*addresses);
	for (size_t i = 0; i < count; i++)
		(*addresses)[i] = text.address + i * BYTES_APART;
	return count;
}

/* libdw calls a file that is not known "???", and leaves a path as the compiler has written it. */
static bool same_file(const char *ours, const char *theirs)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", strcmp(theirs, "???") == 0 ? "" : theirs);
	return strcmp(ours, path) == 0 || (file_normalize_path(path) && strcmp(ours, path) == 0);
}

/* File 0 is a file since version 5; libdw takes it for none in declarations. */
static bool same_declaration(const struct dwarf_frame *ours, const struct oracle_frame *theirs)
{
	return ours->decl_line == theirs->decl_line &&
	       (!theirs->decl_file[0] || same_file(ours->decl_file, theirs->decl_file));
}

static bool same_frame(const struct dwarf_frame *ours, const struct oracle_frame *theirs)
{
	return strcmp(ours->linkage_name, theirs->linkage_name) == 0 && same_file(ours->file, theirs->file) &&
	       ours->line == theirs->line && same_declaration(ours, theirs);
}

static bool same_answer(const struct dwarf_answer *ours, const struct oracle_answer *theirs)
{
	if (ours->count != theirs->count)
		return false;
	for (size_t i = 0; i < ours->count; i++)
		if (!same_frame(&ours->frames[i], &theirs->frames[i]))
			return false;
	return true;
}

static void print_answers(uint64_t address, const struct dwarf_answer *ours, const struct oracle_answer *theirs)
{
	for (size_t i = 0; i < ours->count; i++)
		print_message("%#lx ours   %s %s:%u decl %s:%u\n", (unsigned long)address, ours->frames[i].name,
			ours->frames[i].file, ours->frames[i].line, ours->frames[i].decl_file,
			ours->frames[i].decl_line);
	for (size_t i = 0; i < theirs->count; i++)
		print_message("%#lx theirs %s %s:%u decl %s:%u\n", (unsigned long)address, theirs->frames[i].name,
			theirs->frames[i].file, theirs->frames[i].line, theirs->frames[i].decl_file,
			theirs->frames[i].decl_line);
}

/* Answers of both; how many differ. */
static size_t compare(const char *name, size_t *covered)
{
	struct dwarf_options options = { .threads = 2 };
	struct oracle_answer *theirs;
	struct dwarf_result result;
	struct arena arena;
	uint64_t *addresses;
	const char *directory;
	size_t count, differences = 0;
	struct error err;

	options.debug = open_program(name);
	count = text_addresses(options.debug, &addresses);
	theirs = calloc(count, sizeof(*theirs));
	assert_non_null(theirs);
	arena_init(&arena, 0);
	assert_true(oracle_resolve(options.debug, NULL, addresses, count, &arena, theirs, &directory, &err));
	assert_true(dwarf_resolve(&options, addresses, count, &result, &err));
	assert_string_equal(result.directory, directory);
	*covered = 0;
	for (size_t i = 0; i < count; i++) {
		*covered += result.answers[i].count > 0;
		if (same_answer(&result.answers[i], &theirs[i]))
			continue;
		if (differences++ < 2)
			print_answers(addresses[i], &result.answers[i], &theirs[i]);
	}
	dwarf_result_deinit(&result);
	arena_deinit(&arena);
	free(theirs);
	free(addresses);
	elf_image_unref(options.debug);
	return differences;
}

static void agrees_with_libdw(void **state)
{
	static const char *const names[] = { "c-gcc-2", "c-gcc-3", "c-gcc-4", "c-gcc-5", "c-gcc-64", "c-gcc-strict-2",
		"c-gcc-strict-3", "cxx-gcc-2", "cxx-gcc-3", "cxx-gcc-4", "cxx-gcc-5", "cxx-gcc-O0", "cxx-gcc-lto",
		"cxx-gcc-zlib", "cxx-gcc-types", "c-clang-4", "c-clang-5", "cxx-clang-4", "cxx-clang-5",
		"cxx-clang-types", "cxx-clang-lines" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t covered, differences;

		if (strstr(names[i], "clang") && access(PROGRAMS "/c-clang-4", R_OK) != 0)
			continue;
		differences = compare(names[i], &covered);
		print_message("%s: %zu addresses covered, %zu answers differ\n", names[i], covered, differences);
		assert_true(covered > 200 / BYTES_APART);
		assert_int_equal(differences, 0);
	}
}

static void assert_same_answers(const struct dwarf_answer *a, const struct dwarf_answer *b)
{
	assert_int_equal(a->count, b->count);
	for (size_t f = 0; f < a->count; f++) {
		assert_string_equal(a->frames[f].linkage_name, b->frames[f].linkage_name);
		assert_string_equal(a->frames[f].name, b->frames[f].name);
		assert_string_equal(a->frames[f].file, b->frames[f].file);
		assert_string_equal(a->frames[f].decl_file, b->frames[f].decl_file);
		assert_int_equal(a->frames[f].line, b->frames[f].line);
	}
}

/* What else is asked decides where the walk goes, and not what it finds there. */
static void one_address_answers_as_all_do(void **state)
{
	static const char *const names[] = { "c-gcc-strict-2", "cxx-gcc-strict-2", "cxx-gcc-strict-3", "cxx-gcc-5" };
	enum { STEP = 17 };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct dwarf_options options = { .debug = open_program(names[i]), .threads = 1 };
		struct dwarf_result all, one;
		uint64_t *addresses;
		size_t count = text_addresses(options.debug, &addresses);
		struct error err;

		assert_true(dwarf_resolve(&options, addresses, count, &all, &err));
		for (size_t k = 0; k < count; k += STEP) {
			assert_true(dwarf_resolve(&options, &addresses[k], 1, &one, &err));
			assert_same_answers(&one.answers[0], &all.answers[k]);
			dwarf_result_deinit(&one);
		}
		dwarf_result_deinit(&all);
		free(addresses);
		elf_image_unref(options.debug);
	}
}

/* libdw does not follow every split; these are compared with the twin that is whole. */
static void split_units_answer_as_whole_ones(void **state)
{
	static const char *const pairs[][2] = { { "cxx-gcc-split-4", "cxx-gcc-4" }, { "cxx-gcc-split-5", "cxx-gcc-5" },
		{ "cxx-gcc-split-types", "cxx-gcc-types" } };

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct dwarf_options split = { .threads = 1 }, whole = { .threads = 1 };
		struct dwarf_result a, b;
		uint64_t *addresses;
		struct error err;
		size_t count;

		split.debug = open_program(pairs[i][0]);
		whole.debug = open_program(pairs[i][1]);
		count = text_addresses(whole.debug, &addresses);
		assert_true(dwarf_resolve(&split, addresses, count, &a, &err));
		assert_true(dwarf_resolve(&whole, addresses, count, &b, &err));
		for (size_t k = 0; k < count; k++)
			assert_same_answers(&a.answers[k], &b.answers[k]);
		dwarf_result_deinit(&a);
		dwarf_result_deinit(&b);
		free(addresses);
		elf_image_unref(split.debug);
		elf_image_unref(whole.debug);
	}
}

/* Those addresses whose outermost function is of a file; of both units without one. */
static size_t keep_addresses(
	const struct dwarf_result *whole, const char *file, uint64_t *addresses, size_t count, size_t *which)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		const struct dwarf_answer *answer = &whole->answers[i];

		if (file && (answer->count == 0 || !strstr(answer->frames[answer->count - 1].decl_file, file)))
			continue;
		which[kept] = i;
		addresses[kept++] = addresses[i];
	}
	return kept;
}

/* How much of a section was inflated. */
static size_t inflated_bytes(struct elf_image *image, const char *name)
{
	struct elf_section section;

	assert_true(elf_image_section_start(image, name, 1, &section));
	return section.size;
}

struct inflated {
	size_t info, lines;
};

/* How much was inflated for the answers about a file's addresses; about all if `file` is NULL. */
static struct inflated compare_with_packed(const char *name, const char *packed_name, const char *file)
{
	struct dwarf_options plain = { .debug = open_program(name) }, packed = { .debug = open_program(packed_name) };
	struct dwarf_result whole, part;
	struct inflated inflated;
	uint64_t *addresses;
	size_t count = text_addresses(plain.debug, &addresses), kept, *which = calloc(count + 1, sizeof(*which));
	struct error err;

	assert_non_null(which);
	assert_true(dwarf_resolve(&plain, addresses, count, &whole, &err));
	kept = keep_addresses(&whole, file, addresses, count, which);
	assert_true(kept > 20);
	assert_true(dwarf_resolve(&packed, addresses, kept, &part, &err));
	for (size_t i = 0; i < kept; i++)
		assert_same_answers(&part.answers[i], &whole.answers[which[i]]);
	assert_string_equal(part.directory, whole.directory);
	inflated.info = inflated_bytes(packed.debug, ".debug_info");
	inflated.lines = inflated_bytes(packed.debug, ".debug_line");
	dwarf_result_deinit(&whole);
	dwarf_result_deinit(&part);
	free(addresses);
	free(which);
	elf_image_unref(plain.debug);
	elf_image_unref(packed.debug);
	return inflated;
}

static void the_start_answers_as_the_whole(void **state)
{
	struct inflated part, whole;

	part = compare_with_packed("several-plain", "several-plain-zlib", "inlines.c");
	whole = compare_with_packed("several-plain", "several-plain-zlib", NULL);
	print_message("of %zu bytes of .debug_info %zu were needed, of %zu of .debug_line %zu\n", whole.info, part.info,
		whole.lines, part.lines);
	assert_true(part.info < whole.info / 2 && part.lines < whole.lines / 2);
	/* Its first unit names no directory that could be the project's: no reason to look for one in all the others.
	 */
	part = compare_with_packed("several-relative", "several-relative-zlib", "inlines.c");
	assert_true(part.info < whole.info / 2 && part.lines < whole.lines / 2);
	/* The last of the units that are needed has more lines than are expected of it. */
	(void)compare_with_packed("several-plain", "several-plain-zlib", "lines.c");
	/* Functions of any unit may be inlined into any other: what lies behind is found to be needed. */
	(void)compare_with_packed("several-lto", "several-lto-zlib", "inlines.c");
	(void)compare_with_packed("several-lto", "several-lto-zlib", "templates.cc");
	(void)compare_with_packed("several-lto", "several-lto-zlib", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_libdw),
		cmocka_unit_test(one_address_answers_as_all_do),
		cmocka_unit_test(split_units_answer_as_whole_ones),
		cmocka_unit_test(the_start_answers_as_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
