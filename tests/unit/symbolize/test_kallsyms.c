/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/kallsyms.h"
#include "symbolize/symbolize.h"
#include "tests/unit/support/unit_test.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t kernel_start = 0xffffffff81000000;

static void write_lines(char *path, const char *lines)
{
	int fd = mkstemp(path);
	struct error err;

	assert_true(fd >= 0);
	close(fd);
	assert_true(file_write(path, lines, strlen(lines), 0600, &err));
}

static struct symbol_map *read_file(const char *path, const uint64_t *addresses, size_t count, bool *restricted)
{
	struct file_opened file = { strdup(path), open(path, O_RDONLY | O_CLOEXEC) };
	struct symbol_map *map;
	struct error err;

	assert_true(file.name && file.fd >= 0);
	assert_true(kallsyms_read(&file, addresses, count, &map, restricted, &err));
	file_opened_deinit(&file);
	return map;
}

static struct symbol_map *read_lines(const char *lines, const uint64_t *addresses, size_t count, bool *restricted)
{
	char path[] = "/tmp/kelvin-test-kallsyms-XXXXXX";
	struct symbol_map *map;

	write_lines(path, lines);
	map = read_file(path, addresses, count, restricted);
	unlink(path);
	return map;
}

static void assert_found(const struct symbol_map *map, uint64_t address, const char *name, const char *module)
{
	struct symbol_map_symbol hit;

	assert_true(symbol_map_find(map, address, &hit));
	assert_string_equal(hit.name, name);
	assert_string_equal(hit.module, module);
}

static const char lines[] = "ffffffff81000000 T _stext\n"
			    "ffffffff81000000 T _text\n"
			    "ffffffff81000100 t do_one\n"
			    "ffffffff81000180 d some_data\n"
			    "not a line\n"
			    "\n"
			    "ffffffff81000200 W weak_one\n"
			    "ffffffffc0000000 t mod_fn\t[ext4]\n"
			    "ffffffff81000200\n"
			    "ffffffff81000210 t\n"
			    "fffffffffffffffff81000220 t too_long\n"
			    "ffffffffc0000080 t last_one\t[ext4]";

static void names_the_function_before_each_address(void **state)
{
	static const uint64_t addresses[] = { 0xffffffffc0000090, 0xffffffff81000000, 0xffffffff810001a0,
		0xffffffff81000200, 0xffffffffc0000010, 0xffffffff81000230, 0xffffffff80ffffff, 0xffffffff810001a0 };
	bool restricted = true;
	struct symbol_map *map = read_lines(lines, addresses, sizeof(addresses) / sizeof(addresses[0]), &restricted);
	struct symbol_map_symbol hit;

	assert_false(restricted);
	assert_found(map, 0xffffffff81000000, "_stext", "");
	assert_found(map, 0xffffffff810001a0, "do_one", "");
	assert_found(map, 0xffffffff81000200, "weak_one", "");
	assert_found(map, 0xffffffff81000230, "weak_one", "");
	assert_found(map, 0xffffffffc0000010, "mod_fn", "[ext4]");
	assert_found(map, 0xffffffffc0000090, "last_one", "[ext4]");
	assert_false(symbol_map_find(map, 0xffffffff80ffffff, &hit));
	symbol_map_destroy(map);
}

/* Modules stand behind the kernel, wherever they were loaded. */
static void lines_may_stand_in_any_order(void **state)
{
	static const uint64_t addresses[] = { 0x1008, 0x2008, 0x3008 };
	bool restricted;
	struct symbol_map *map = read_lines(
		"3000 t c\n1000 t a\n2000 t b\n2004 t near\n1000 t alias\n2ff0 t passed\n", addresses, 3, &restricted);

	assert_found(map, 0x1008, "a", "");
	assert_found(map, 0x2008, "near", "");
	assert_found(map, 0x3008, "c", "");
	symbol_map_destroy(map);
}

static void zeros_mean_restricted(void **state)
{
	static const uint64_t address = 0xffffffff81000000;
	bool restricted = false;
	struct symbol_map *map =
		read_lines("0000000000000000 T _stext\n0000000000000000 t do_one\n", &address, 1, &restricted);
	struct symbol_map_symbol hit;

	assert_true(restricted);
	assert_false(symbol_map_find(map, address, &hit));
	symbol_map_destroy(map);
}

/* Where a function was interrupted at its first instruction, the address before it is asked about. */
static void the_room_before_a_function_is_the_functions(void **state)
{
	char path[] = "/tmp/kelvin-test-kallsyms-XXXXXX";
	const struct symbolize_options options = { .threads = 1 };
	const struct profile_symbols symbols = { .kallsyms = path };
	struct profile_mapping mapping = {
		.start = kernel_start, .end = kernel_start + 0x1000, .kind = PROFILE_MAPPING_KERNEL
	};
	struct profile *profile;
	uint32_t id, location, function;
	struct error err;

	write_lines(path, "ffffffff81000000 t __pfx_work\nffffffff81000010 t work\n");
	assert_true(profile_create(&profile, &err));
	assert_true(profile_intern(profile, "[kernel.kallsyms]", &mapping.path, &err));
	assert_true(profile_add_mapping(profile, &mapping, &id, &err));
	assert_true(profile_add_location(profile, id, kernel_start + 0xf, &location, &err));
	assert_true(symbolize_profile(profile, &symbols, &options, NULL, &err));
	function = profile->lines[profile->locations[location].first_line].function;
	assert_string_equal(profile_string(profile, profile->functions[function].name), "work");
	profile_destroy(profile);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_room_before_a_function_is_the_functions),
		cmocka_unit_test(names_the_function_before_each_address),
		cmocka_unit_test(lines_may_stand_in_any_order),
		cmocka_unit_test(zeros_mean_restricted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
