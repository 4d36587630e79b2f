/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binary/elf/elf.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void lines_of_the_kernel_are_understood(void **state)
{
	char file[] = "7f1000-7f3000 r-xp 0001a000 fe:01 393310                     /usr/lib/lib with blanks.so.1";
	char deleted[] = "7f1000-7f3000 r-xp 00000000 00:2a 7 /srv/server (deleted)";
	char anonymous[] = "7f1000-7f3000 rw-p 00000000 00:00 0 ";
	char bare[] = "7f1000-7f3000 rw-p 00000000 00:00 0";
	char escaped[] = "1000-2000 r--s 00000000 00:01 5 /tmp/a\\012b\\101";
	struct elf_maps_entry entry;
	struct error err;

	assert_true(elf_maps_parse_line(file, 12, &entry, &err));
	assert_true(entry.executable);
	assert_int_equal(entry.mapping.pid, 12);
	assert_int_equal(entry.mapping.start, 0x7f1000);
	assert_int_equal(entry.mapping.end, 0x7f3000);
	assert_int_equal(entry.mapping.file_offset, 0x1a000);
	assert_int_equal(entry.mapping.device_major, 0xfe);
	assert_int_equal(entry.mapping.device_minor, 1);
	assert_int_equal(entry.mapping.inode, 393310);
	assert_string_equal(entry.mapping.path, "/usr/lib/lib with blanks.so.1");
	assert_true(elf_maps_parse_line(deleted, 12, &entry, &err));
	assert_string_equal(entry.mapping.path, "/srv/server (deleted)");
	assert_true(elf_maps_parse_line(anonymous, 12, &entry, &err));
	assert_string_equal(entry.mapping.path, "");
	assert_false(entry.executable);
	assert_true(elf_maps_parse_line(bare, 12, &entry, &err));
	assert_string_equal(entry.mapping.path, "");
	assert_true(elf_maps_parse_line(escaped, 12, &entry, &err));
	assert_string_equal(entry.mapping.path, "/tmp/a\nb\\101");
}

static void damaged_lines_are_refused(void **state)
{
	static const char *const lines[] = { "", "x", "1000", "1000-", "1000-2000", "1000-2000 ",
		"2000-1000 r-xp 0 0:0 0 /x", "1000-1000 r-xp 0 0:0 0 /x", "1000-2000 r-x", "1000-2000 r-xp",
		"1000-2000 r-xp 0", "1000-2000 r-xp 0 00", "1000-2000 r-xp 0 0:0", "1000-2000 r-xp 0 0:0 x",
		"1000-2000 r-xp -5 0:0 0 /x", "-1000-2000 r-xp 0 0:0 0 /x", "1000-2000 r-xp 0 0:0 7/x" };

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		CLEANUP(cleanup_free) char *line = strdup(lines[i]);
		struct elf_maps_entry entry;
		struct error err = { 0 };

		if (elf_maps_parse_line(line, 1, &entry, &err))
			fail_msg("taken: %s", lines[i]);
		assert_int_equal(err.code, ERROR_FORMAT);
	}
}

static void our_own_maps_are_read(void **state)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096];
	bool found = false;

	while (fgets(line, sizeof(line), maps)) {
		struct elf_maps_entry entry;
		struct error err;

		line[strcspn(line, "\n")] = '\0';
		assert_true(elf_maps_parse_line(line, getpid(), &entry, &err));
		found |= entry.executable && entry.mapping.start <= (uint64_t)(uintptr_t)our_own_maps_are_read &&
			 (uint64_t)(uintptr_t)our_own_maps_are_read < entry.mapping.end;
	}
	fclose(maps);
	assert_true(found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_the_kernel_are_understood),
		cmocka_unit_test(damaged_lines_are_refused),
		cmocka_unit_test(our_own_maps_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
