/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "binary/elf/elf.h"

#include <stdlib.h>
#include <string.h>

/* Lines of /proc/PID/maps, whose paths the profiled process chooses. */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse(char *line)
{
	const char *end = line + strlen(line);
	struct elf_maps_entry entry;
	struct error err;

	if (!elf_maps_parse_line(line, 1, &entry, &err))
		return;
	if (entry.mapping.start >= entry.mapping.end)
		abort();
	/* An anonymous mapping may have a path of the parser's own. */
	if (entry.mapping.path[0] &&
		(entry.mapping.path < line || entry.mapping.path + strlen(entry.mapping.path) > end))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size), *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		/* In a block of its own, so that a read past the line is seen. */
		char *exact = strdup(line);

		if (exact)
			parse(exact);
		free(exact);
	}
	free(text);
	return 0;
}
