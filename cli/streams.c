/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/streams.h"

#include <string.h>
#include <unistd.h>

const int *streams_apart_from(const char *output)
{
	static const int streams[CHILD_STREAMS] = { -1, STDERR_FILENO, -1 };

	return strcmp(output, "-") == 0 ? streams : NULL;
}
