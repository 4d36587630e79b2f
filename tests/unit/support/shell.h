/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "tests/unit/support/unit_test.h"

#include <sys/wait.h>
#include <unistd.h>

/* Has the shell run a script in a directory; fails the test unless it succeeds. */
static inline void shell_in(const char *directory, const char *script)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		if (chdir(directory) == 0)
			execl("/bin/sh", "sh", "-euc", script, (char *)NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status != 0)
		fail_msg("failed: %s", script);
}
