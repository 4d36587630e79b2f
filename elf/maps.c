/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "elf/elf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* seq_file escapes what would break the line as backslash and three octal digits (proc(5), fs/seq_file.c). */
static void unescape(char *path)
{
	char *to = path;

	for (const char *from = path; *from; to++) {
		if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' && from[2] <= '7' && from[3] >= '0' &&
			from[3] <= '7') {
			*to = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 | (from[3] - '0'));
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* A number in `base` that ends at `stop`; moves past it. */
static bool number(char **pos, int base, char stop, uint64_t *value)
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

	if (!number(&pos, 16, '-', &parsed.mapping.start) || !number(&pos, 16, ' ', &parsed.mapping.end) ||
		parsed.mapping.start >= parsed.mapping.end)
		return error_set(err, ERROR_FORMAT, "bad address range");
	if (strnlen(pos, 5) < 5 || pos[4] != ' ')
		return error_set(err, ERROR_FORMAT, "bad permissions");
	parsed.executable = pos[2] == 'x';
	pos += 5;
	if (!number(&pos, 16, ' ', &parsed.mapping.file_offset) || !number(&pos, 16, ':', &major) || !number(&pos, 16, ' ', &minor))
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
