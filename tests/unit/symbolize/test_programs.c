/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/md5.h"
#include "program_fixture.h"
#include "symbolize/symbolize.h"

#include "symbolize/symbols.h"
#include "tests/unit/support/unit_test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is said about whole programs: names of every kind, debug files, fingerprints, and a profile from end to end. */

static struct symbolize_result *resolve(struct elf_image *image, const uint64_t *addresses, size_t count)
{
	const struct symbolize_options options = { .threads = 1 };
	struct symbolize_result *result;
	struct error err;

	assert_true(symbolize_addresses(image, addresses, count, &options, &result, &err));
	return result;
}

/* All addresses of a section; the caller frees both. */
static struct symbolize_result *resolve_section(
	struct elf_image *image, const char *name, uint64_t **addresses, size_t *count)
{
	struct elf_section section;

	assert_true(elf_image_section(image, name, &section));
	*count = section.size;
	*addresses = calloc(*count, sizeof(**addresses));
	assert_non_null(*addresses);
	for (size_t i = 0; i < *count; i++)
		(*addresses)[i] = section.address + i;
	return resolve(image, *addresses, *count);
}

/* The first address whose outermost frame has the name. */
static bool find_function(struct elf_image *image, const char *name, uint64_t *address, uint64_t *fingerprint)
{
	struct symbolize_result *result;
	uint64_t *addresses;
	bool found = false;
	size_t count;

	result = resolve_section(image, ".text", &addresses, &count);
	for (size_t i = 0; i < count && !found; i++) {
		struct symbolize_frames frames = symbolize_result_frames(result, i);

		if (frames.count == 0 || strcmp(frames.frames[frames.count - 1].name, name) != 0)
			continue;
		*address = addresses[i];
		*fingerprint = frames.frames[frames.count - 1].fingerprint;
		found = true;
	}
	symbolize_result_destroy(result);
	free(addresses);
	return found;
}

static void names_plt_entries(void **state)
{
	static const char *const tables[] = { ".plt.sec", ".plt" };
	struct elf_image *image = open_program("c-gcc-5");
	bool found_qsort = false;

	for (size_t t = 0; t < 2; t++) {
		struct symbolize_result *result;
		struct elf_section section;
		uint64_t *addresses;
		size_t count;

		if (!elf_image_section(image, tables[t], &section))
			continue;
		result = resolve_section(image, tables[t], &addresses, &count);
		for (size_t i = 0; i < count; i++)
			found_qsort |= strcmp(symbolize_result_frames(result, i).frames[0].name, "qsort@plt") == 0;
		symbolize_result_destroy(result);
		free(addresses);
	}
	elf_image_unref(image);
	assert_true(found_qsort);
}

static void stripped_code_is_named_by_its_bounds(void **state)
{
	struct elf_image *whole = open_program("c-gcc-5"), *stripped = open_program("stripped");
	uint64_t address, fingerprint, at[2];
	struct symbolize_result *result;
	char expected[64];

	assert_true(find_function(whole, "compare", &address, &fingerprint));
	snprintf(expected, sizeof(expected), "stripped+0x%lx", (unsigned long)address);
	at[0] = address;
	at[1] = address + 2;
	result = resolve(stripped, at, 2);
	for (size_t i = 0; i < 2; i++) {
		struct symbolize_frames frames = symbolize_result_frames(result, i);

		assert_int_equal(frames.count, 1);
		assert_int_equal(frames.frames[0].source, PROFILE_NAME_FDE);
		assert_string_equal(frames.frames[0].name, expected);
		assert_true(frames.frames[0].fingerprint == fingerprint);
	}
	symbolize_result_destroy(result);
	elf_image_unref(whole);
	elf_image_unref(stripped);
}

/* What debug information says is code lies within bounds of the stripped program; padding behind a function does not.
 */
static void expect_bounds(const char *whole_name, const char *stripped_name)
{
	struct elf_image *whole = open_program(whole_name), *stripped = open_program(stripped_name);
	struct symbolize_result *result, *bounds;
	uint64_t *addresses, *same;
	size_t count, same_count, in_padding = 0, in_code = 0;

	result = resolve_section(whole, ".text", &addresses, &count);
	bounds = resolve_section(stripped, ".text", &same, &same_count);
	assert_int_equal(count, same_count);
	for (size_t i = 0; i + 1 < count; i++) {
		bool is_code = symbolize_result_frames(result, i).frames[0].source == PROFILE_NAME_DWARF;
		bool is_next_code = symbolize_result_frames(result, i + 1).frames[0].source == PROFILE_NAME_DWARF;

		if (is_code)
			assert_int_equal(symbolize_result_frames(bounds, i).frames[0].source, PROFILE_NAME_FDE);
		if (is_code && !is_next_code)
			assert_int_equal(symbolize_result_frames(bounds, i + 1).frames[0].source, PROFILE_NAME_NONE);
		in_code += is_code;
		in_padding += is_code && !is_next_code;
	}
	assert_true(in_padding > 0 && in_code > 0);
	symbolize_result_destroy(result);
	symbolize_result_destroy(bounds);
	free(addresses);
	free(same);
	elf_image_unref(whole);
	elf_image_unref(stripped);
}

/* Where code may lie anywhere, unwind information is written in other sizes. */
static void bounds_are_known_of_large_code(void **state)
{
	if (access(PROGRAMS "/large", R_OK) != 0)
		skip();
	expect_bounds("large", "stripped-large");
}

static void bounds_are_known_without_a_search_table(void **state)
{
	struct elf_image *stripped = open_program("stripped-unindexed");
	struct elf_section frame, header;

	elf_image_eh_frame(stripped, &frame, &header);
	assert_int_equal(header.size, 0);
	elf_image_unref(stripped);
	expect_bounds("unindexed", "stripped-unindexed");
}

/* A report of one profile tells functions without names apart by their code, and needs no fingerprint of others. */
static void functions_without_names_have_fingerprints_where_others_need_none(void **state)
{
	static const struct symbolize_options options = { .threads = 1, .fingerprints = SYMBOLIZE_FINGERPRINT_UNNAMED };
	static const char *const names[] = { "c-gcc-5", "stripped" };
	struct elf_image *whole = open_program(names[0]);
	uint64_t address, fingerprint;

	assert_true(find_function(whole, "compare", &address, &fingerprint));
	elf_image_unref(whole);
	for (size_t i = 0; i < 2; i++) {
		struct elf_image *image = open_program(names[i]);
		struct symbolize_result *result;
		struct error err;

		assert_true(symbolize_addresses(image, &address, 1, &options, &result, &err));
		assert_true(symbolize_result_frames(result, 0).frames[0].fingerprint == (i == 0 ? 0 : fingerprint));
		symbolize_result_destroy(result);
		elf_image_unref(image);
	}
}

/* How many addresses of .text are named so, the innermost frame or any; at a line of a file. */
static size_t count_named(const char *program, const char *name, bool is_any_frame)
{
	struct elf_image *image = open_program(program);
	struct symbolize_result *result;
	uint64_t *addresses;
	size_t count, named = 0;

	result = resolve_section(image, ".text", &addresses, &count);
	for (size_t i = 0; i < count; i++) {
		struct symbolize_frames frames = symbolize_result_frames(result, i);
		bool is_named = false;

		for (size_t f = 0; f < (is_any_frame ? frames.count : 1); f++)
			is_named |= strcmp(frames.frames[f].name, name) == 0 && frames.frames[f].file[0];
		named += is_named;
	}
	symbolize_result_destroy(result);
	free(addresses);
	elf_image_unref(image);
	return named;
}

/* Where no function is, labels are names; those within a function, within another label's code, or of no code at all
 * are not. */
static void labels_name_what_no_function_holds(void **state)
{
	assert_int_equal(count_named("labels", "after_main", false), 3);
	assert_true(count_named("labels", "global_label", false) >= 3);
	assert_int_equal(count_named("labels", "main", false), 4);
	assert_int_equal(count_named("labels", "within", false), 0);
	assert_int_equal(count_named("labels", "global_label.loop", false), 0);
	assert_int_equal(count_named("labels", "elsewhere_label", false), 0);
}

static void expect_function(const char *program, const char *name)
{
	struct elf_image *image = open_program(program);
	uint64_t address, fingerprint;

	if (!find_function(image, name, &address, &fingerprint))
		fail_msg("%s has no %s", program, name);
	elf_image_unref(image);
}

/* What was folded has all its names, in one order, with debug information or without; an alias is no other function. */
static void functions_with_the_same_code_have_all_their_names(void **state)
{
	expect_function("aliased-g0", "Avatar::render() [or Invoice::total(), Zebra::a()]");
	expect_function("aliased-g1", "Avatar::render() [or Invoice::total(), Zebra::a()]");
	expect_function("aliased-g0", "plain_code");
	expect_function("aliased-g1", "plain_code");
	expect_function("folded-g0", "Avatar::render() [or Invoice::total(), Many::a(), 2 others]");
	expect_function("folded-g1", "Avatar::render() [or Invoice::total(), Many::a(), 2 others]");
	expect_function("folded-g0", "Crate::Crate() [or other_code, plain_code]");
	expect_function("folded-g1", "Crate::Crate() [or other_code, plain_code]");
}

/* Of a template with all its arguments DWARF's own name would only be `f`. */
static void what_is_not_demangled_keeps_its_linkage_name(void **state)
{
	assert_true(count_named("mangled", "_ZN3one", false) > 0);
	assert_true(count_named("mangled", "two", false) > 0);
}

static void paths_of_windows_are_absolute(void **state)
{
	struct elf_image *image = open_program("mangled");
	struct symbolize_result *result;
	uint64_t address, fingerprint;

	assert_true(find_function(image, "two", &address, &fingerprint));
	result = resolve(image, &address, 1);
	assert_string_equal(symbolize_result_frames(result, 0).frames[0].file, "C:\\src\\two.c");
	symbolize_result_destroy(result);
	elf_image_unref(image);
}

static void a_closure_is_named_by_its_function(void **state)
{
	assert_true(count_named("cxx-gcc-5", "main::{lambda}::operator()", true) > 0);
	assert_int_equal(count_named("cxx-gcc-5", "(anonymous class)::operator()", true), 0);
}

/* Clang leaves them nameless where it writes lines only. */
static void initializers_are_named_by_their_symbols(void **state)
{
	if (access(PROGRAMS "/initializers", R_OK) != 0)
		skip();
	assert_true(count_named("initializers", "_GLOBAL__sub_I_initializers.cc", true) > 0);
	assert_int_equal(count_named("initializers", "", true), 0);
}

static void a_stripped_program_still_begins_at_start(void **state)
{
	struct elf_image *stripped = open_program("stripped");
	uint64_t at[] = { elf_image_entry(stripped), elf_image_entry(stripped) + 4 };
	struct symbolize_result *result = resolve(stripped, at, 2);

	for (size_t i = 0; i < 2; i++)
		assert_string_equal(symbolize_result_frames(result, i).frames[0].name, "_start");
	symbolize_result_destroy(result);
	elf_image_unref(stripped);
}

/* Far beyond all code, before it, and in a segment that holds none. */
static void outside_of_code_nothing_is_known(void **state)
{
	static const uint64_t addresses[] = { 0, 1, 0x3000, 0x5000, 0x100000, UINT64_MAX };
	enum { COUNT = sizeof(addresses) / sizeof(addresses[0]) };
	struct elf_image *image = open_program("c-gcc-5");
	struct symbolize_result *result = resolve(image, addresses, COUNT);

	for (size_t i = 0; i < COUNT; i++)
		assert_int_equal(symbolize_result_frames(result, i).frames[0].source, PROFILE_NAME_NONE);
	symbolize_result_destroy(result);
	elf_image_unref(image);
}

static void finds_the_debug_file(void **state)
{
	struct elf_image *whole = open_program("c-gcc-5"), *linked = open_program("linked"),
			 *wrong = open_program("wrong");
	uint64_t address, fingerprint;
	struct symbolize_result *result;

	assert_true(find_function(whole, "compare", &address, &fingerprint));
	result = resolve(linked, &address, 1);
	assert_string_equal(symbolize_result_frames(result, 0).frames[0].name, "compare");
	assert_true(symbolize_result_frames(result, 0).frames[0].line > 0);
	symbolize_result_destroy(result);
	/* One with another checksum is refused. */
	result = resolve(wrong, &address, 1);
	assert_int_equal(symbolize_result_frames(result, 0).frames[0].line, 0);
	symbolize_result_destroy(result);
	elf_image_unref(whole);
	elf_image_unref(linked);
	elf_image_unref(wrong);
}

static void order_and_repetition_do_not_matter(void **state)
{
	struct elf_image *image = open_program("cxx-gcc-5");
	struct symbolize_result *sorted, *mixed;
	uint64_t *addresses, shuffled[200];
	size_t count;

	sorted = resolve_section(image, ".text", &addresses, &count);
	for (size_t i = 0; i < 200; i++)
		shuffled[i] = addresses[i * 7919 % count];
	mixed = resolve(image, shuffled, 200);
	for (size_t i = 0; i < 200; i++) {
		struct symbolize_frames a = symbolize_result_frames(sorted, i * 7919 % count);
		struct symbolize_frames b = symbolize_result_frames(mixed, i);

		assert_int_equal(a.count, b.count);
		for (size_t k = 0; k < a.count; k++) {
			assert_string_equal(a.frames[k].name, b.frames[k].name);
			assert_int_equal(a.frames[k].line, b.frames[k].line);
		}
	}
	symbolize_result_destroy(sorted);
	symbolize_result_destroy(mixed);
	free(addresses);
	elf_image_unref(image);
}

static uint64_t fingerprint_of(const char *program, const char *function)
{
	struct elf_image *image = open_program(program);
	uint64_t address, fingerprint;

	assert_true(find_function(image, function, &address, &fingerprint));
	elf_image_unref(image);
	assert_true(fingerprint != 0);
	return fingerprint;
}

static void fingerprints_are_blind_to_places_only(void **state)
{
	static const char *const unchanged[] = { "same", "calls", "mixed" };

	for (size_t i = 0; i < sizeof(unchanged) / sizeof(unchanged[0]); i++) {
		assert_true(fingerprint_of("code-base", unchanged[i]) == fingerprint_of("code-far", unchanged[i]));
		assert_true(fingerprint_of("code-base", unchanged[i]) == fingerprint_of("code-moved", unchanged[i]));
		assert_true(fingerprint_of("code-base", unchanged[i]) == fingerprint_of("code-changed", unchanged[i]));
		assert_true(
			fingerprint_of("code-fixed", unchanged[i]) == fingerprint_of("code-fixed-moved", unchanged[i]));
	}
	assert_true(fingerprint_of("code-base", "changed") == fingerprint_of("code-moved", "changed"));
	assert_true(fingerprint_of("code-base", "changed") != fingerprint_of("code-changed", "changed"));
	assert_true(fingerprint_of("code-base", "same") != fingerprint_of("code-base", "changed"));
}

/* A profile of one location, named: its innermost frame. */
static const struct profile_line *name_line(struct profile *profile, struct elf_image *image, uint64_t address)
{
	const struct symbolize_options options = { .threads = 1, .sources = SYMBOLIZE_SOURCES_ALL };
	const struct profile_symbols symbols = { .images = &image };
	struct profile_mapping mapping = { .start = 0, .end = 1 << 20 };
	uint32_t id, location;
	struct error err;

	assert_true(profile_intern(profile, elf_image_path(image), &mapping.path, &err));
	assert_true(profile_add_mapping(profile, &mapping, &id, &err));
	assert_true(profile_add_location(profile, id, address, &location, &err));
	assert_true(symbolize_profile(profile, &symbols, &options, NULL, &err));
	assert_true(profile->locations[location].line_count >= 1);
	return &profile->lines[profile->locations[location].first_line];
}

static const struct profile_function *name_one(struct profile *profile, struct elf_image *image, uint64_t address)
{
	uint32_t function = name_line(profile, image, address)->function;

	return &profile->functions[function];
}

static void names_a_profile(void **state)
{
	struct elf_image *image = open_program("c-gcc-5");
	const struct profile_function *function;
	uint64_t address, fingerprint;
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct error err;

	assert_true(find_function(image, "compare", &address, &fingerprint));
	assert_true(profile_create(&profile, &err));
	function = name_one(profile, image, address);
	assert_string_equal(profile_string(profile, function->name), "compare");
	assert_int_equal(function->name_source, PROFILE_NAME_DWARF);
	assert_int_equal(function->origin, PROFILE_ORIGIN_USER);
	assert_true(function->fingerprint == fingerprint);
	assert_non_null(strstr(profile_string(profile, function->file), "inlines.c"));
	elf_image_unref(image);
}

/*
 * Looks at each address of a function of elsewhere.c, whose lines are `first` to `last` of it and `other_first` to
 * `other_last` of another file: both have code, and no line goes with the other one's file.
 */
static void expect_lines(const char *program, const char *name, uint32_t first, uint32_t last, const char *other,
	uint32_t other_first, uint32_t other_last)
{
	struct elf_image *image = open_program(program);
	size_t own_count = 0, other_count = 0;
	uint64_t address, fingerprint;

	assert_true(find_function(image, name, &address, &fingerprint));
	for (size_t i = 0; i < 512; i++) {
		CLEANUP(profile_cleanup) struct profile *profile = NULL;
		const struct profile_function *function;
		const struct profile_line *line;
		struct error err;

		assert_true(profile_create(&profile, &err));
		line = name_line(profile, image, address + i);
		function = &profile->functions[line->function];
		if (strcmp(profile_string(profile, function->name), name) != 0)
			break;
		assert_non_null(strstr(profile_string(profile, function->file), "/elsewhere.c"));
		if (line->file) {
			assert_non_null(strstr(profile_string(profile, line->file), other));
			assert_in_range(line->line, other_first, other_last);
			other_count++;
		} else if (line->line) {
			assert_in_range(line->line, first, last);
			own_count++;
		}
	}
	elf_image_unref(image);
	assert_true(own_count > 0 && other_count > 0);
}

static void lines_have_the_file_that_they_are_in(void **state)
{
	static const char *const programs[] = { "elsewhere-gcc", "elsewhere-clang" };

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		char path[512];

		snprintf(path, sizeof(path), PROGRAMS "/%s", programs[i]);
		if (strstr(programs[i], "clang") && access(path, R_OK) != 0)
			continue;
		expect_lines(programs[i], "included", 7, 12, "/elsewhere.inc", 2, 3);
		expect_lines(programs[i], "generated", 24, 26, "grammar.y", 1007, 1009);
	}
}

static const struct profile_source_file *file_of(const struct profile *profile, const char *end)
{
	for (size_t i = 0; i < profile->source_file_count; i++) {
		const char *path = profile_string(profile, profile->source_files[i].path);

		if (strlen(path) > strlen(end) && strcmp(path + strlen(path) - strlen(end), end) == 0)
			return &profile->source_files[i];
	}
	return NULL;
}

/* What clang tells of the files of a function's code, and of it alone. */
static void line_tables_tell_of_source_files(void **state)
{
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	CLEANUP(buffer_deinit) struct buffer text = { 0 };
	const struct profile_source_file *file;
	struct elf_image *image;
	uint64_t address, fingerprint;
	const char *kept;
	uint8_t digest[MD5_BYTES];
	struct error err;

	if (access(PROGRAMS "/embedded", R_OK) != 0)
		skip();
	image = open_program("embedded");
	assert_true(find_function(image, "compare", &address, &fingerprint));
	assert_true(profile_create(&profile, &err));
	name_line(profile, image, address + 1);
	file = file_of(profile, "/inlines.c");
	assert_non_null(file);
	assert_int_equal(profile->source_file_count, 1);
	buffer_init(&text, 1 << 20);
	assert_true(file_read(profile_string(profile, file->path), &text, &err));
	md5(text.data, text.size, digest);
	assert_true(file->has_md5 && file->is_md5_of_build && file->is_embedded);
	assert_memory_equal(file->md5, digest, sizeof(digest));
	assert_int_equal(file->proof, PROFILE_SOURCE_SAME_BYTES);
	assert_int_equal(profile->source_text_count, 1);
	kept = profile_string(profile, profile->source_texts[0].text);
	assert_int_equal(profile->source_texts[0].first_line, 32);
	assert_non_null(strstr(kept, "int compare(const void *left, const void *right)\n{\n"));
	assert_non_null(strstr(kept, "a > b;\n}"));
	assert_null(strstr(kept, "main"));
	assert_null(strstr(kept, "mix"));
	elf_image_unref(image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_plt_entries),
		cmocka_unit_test(stripped_code_is_named_by_its_bounds),
		cmocka_unit_test(bounds_are_known_of_large_code),
		cmocka_unit_test(bounds_are_known_without_a_search_table),
		cmocka_unit_test(functions_without_names_have_fingerprints_where_others_need_none),
		cmocka_unit_test(labels_name_what_no_function_holds),
		cmocka_unit_test(functions_with_the_same_code_have_all_their_names),
		cmocka_unit_test(what_is_not_demangled_keeps_its_linkage_name),
		cmocka_unit_test(paths_of_windows_are_absolute),
		cmocka_unit_test(a_closure_is_named_by_its_function),
		cmocka_unit_test(initializers_are_named_by_their_symbols),
		cmocka_unit_test(a_stripped_program_still_begins_at_start),
		cmocka_unit_test(outside_of_code_nothing_is_known),
		cmocka_unit_test(finds_the_debug_file),
		cmocka_unit_test(order_and_repetition_do_not_matter),
		cmocka_unit_test(fingerprints_are_blind_to_places_only),
		cmocka_unit_test(names_a_profile),
		cmocka_unit_test(lines_have_the_file_that_they_are_in),
		cmocka_unit_test(line_tables_tell_of_source_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
