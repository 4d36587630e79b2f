/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses lines of /proc/PID/maps. */
#include "binary/elf/elf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Unescapes a path. The kernel escapes only the line end, as `\012` (fs/proc/task_mmu.c); other backslashes are
 * literal.
 */
static void unescape(char *path)
{
	static const char line_end[] = "\\012";
	char *to = path;

	for (const char *from = path; *from; to++) {
		if (strncmp(from, line_end, sizeof(line_end) - 1) == 0) {
			*to = '\n';
			from += sizeof(line_end) - 1;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* Reads a number in `base` that ends at `stop`, and moves past it. */
static bool maps_number(char **pos, int base, char stop, uint64_t *value)
{
	char *end;

	if (**pos == '-' || **pos == '+' || **pos == ' ')
		return false;
	*value = strtoull(*pos, &end, base);
	if (end == *pos || *end != stop)
		return false;
	*pos = end + 1;
	return true;
}

bool elf_maps_parse_line(char *line, pid_t pid, struct elf_maps_entry *entry, struct error *err)
{
	struct elf_maps_entry parsed = { .mapping = { .pid = pid } };
	uint64_t major, minor, inode = 0;
	char *pos = line;
	char *end;

	if (!maps_number(&pos, 16, '-', &parsed.mapping.start) || !maps_number(&pos, 16, ' ', &parsed.mapping.end) ||
		parsed.mapping.start >= parsed.mapping.end)
		return error_set(err, ERROR_FORMAT, "bad address range");
	if (strnlen(pos, 5) < 5 || pos[4] != ' ')
		return error_set(err, ERROR_FORMAT, "bad permissions");
	parsed.executable = pos[2] == 'x';
	pos += 5;
	if (!maps_number(&pos, 16, ' ', &parsed.mapping.file_offset) || !maps_number(&pos, 16, ':', &major) ||
		!maps_number(&pos, 16, ' ', &minor))
		return error_set(err, ERROR_FORMAT, "bad offset or device");
	inode = strtoull(pos, &end, 10);
	if (end == pos || (*end != ' ' && *end != '\0'))
		return error_set(err, ERROR_FORMAT, "bad inode");
	pos = end + strspn(end, " ");
	unescape(pos);
	parsed.mapping.device_major = (uint32_t)major;
	parsed.mapping.device_minor = (uint32_t)minor;
	parsed.mapping.inode = inode;
	parsed.mapping.path = pos;
	*entry = parsed;
	return true;
}
