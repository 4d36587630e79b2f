/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses lines of /proc/PID/maps. */
#include "binary/elf/elf.h"

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

/* Takes a hexadecimal number and what must stand behind it. */
static bool maps_take_hex(struct text_cursor *text, char behind, uint64_t *number)
{
	return text_take_hex(text, number) && text_take_byte(text, behind);
}

bool elf_maps_parse_line(char *line, pid_t pid, struct elf_maps_entry *entry, struct error *err)
{
	struct elf_maps_entry parsed = { .mapping = { .pid = pid } };
	struct text_cursor text = text_over(line, strlen(line));
	uint64_t major, minor, inode;

	if (!maps_take_hex(&text, '-', &parsed.mapping.start) || !maps_take_hex(&text, ' ', &parsed.mapping.end) ||
		parsed.mapping.start >= parsed.mapping.end)
		return error_set(err, ERROR_FORMAT, "bad address range");
	if (text_left(text) < 5 || text.at[4] != ' ')
		return error_set(err, ERROR_FORMAT, "bad permissions");
	parsed.executable = text.at[2] == 'x';
	text.at += 5;
	if (!maps_take_hex(&text, ' ', &parsed.mapping.file_offset) || !maps_take_hex(&text, ':', &major) ||
		!maps_take_hex(&text, ' ', &minor))
		return error_set(err, ERROR_FORMAT, "bad offset or device");
	if (!text_take_number(&text, UINT64_MAX, &inode) || (text_left(text) > 0 && *text.at != ' '))
		return error_set(err, ERROR_FORMAT, "bad inode");
	line += text.at - line;
	line += strspn(line, " ");
	unescape(line);
	parsed.mapping.device_major = (uint32_t)major;
	parsed.mapping.device_minor = (uint32_t)minor;
	parsed.mapping.inode = inode;
	parsed.mapping.path = line;
	*entry = parsed;
	return true;
}

bool elf_maps_parse(char *text, pid_t pid,
	bool (*take)(void *context, const struct elf_maps_entry *entry, struct error *err), void *context,
	struct error *err)
{
	char *line = text, *rest;

	for (; line && *line; line = rest) {
		struct elf_maps_entry entry;
		struct error ignored;

		rest = strchr(line, '\n');
		if (rest)
			*rest++ = '\0';
		if (elf_maps_parse_line(line, pid, &entry, &ignored) && !take(context, &entry, err))
			return false;
	}
	return true;
}
