/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/suite.h"

enum { FIRST_LOOK = 3 };

/* Returns the executions at the look after the one at `executions`. */
static uint64_t next_look(uint64_t executions)
{
	return executions + (executions + 1) / 2;
}

unsigned int diff_suite_look_after(uint64_t executions)
{
	unsigned int number = 1;

	for (uint64_t at = FIRST_LOOK; at < executions; at = next_look(at))
		number++;
	return number;
}

bool diff_suite_is_look(uint64_t executions)
{
	uint64_t at = FIRST_LOOK;

	while (at < executions)
		at = next_look(at);
	return at == executions;
}
