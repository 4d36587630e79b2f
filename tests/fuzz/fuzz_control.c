/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/control.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Commands of --control, as they come through a pipe. */

enum { MOST_BYTES = 1 << 15 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_commands(struct control *control)
{
	enum control_command command;

	while ((command = control_next(control)) != CONTROL_NONE) {
		if (command > CONTROL_OTHER || !memchr(control->line, '\0', sizeof(control->line)))
			abort();
		control_answer(control);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct control control;
	int ends[2];

	if (size > MOST_BYTES || pipe(ends) != 0)
		return 0;
	control_init(&control);
	control.commands = ends[0];
	if (write(ends[1], data, size) != (ssize_t)size)
		abort();
	take_commands(&control);
	close(ends[1]);
	take_commands(&control);
	/* The end of the pipe closes the descriptors that are the control's own; this one is the caller's. */
	close(ends[0]);
	return 0;
}
