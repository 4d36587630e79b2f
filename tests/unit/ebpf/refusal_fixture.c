/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "refusal_fixture.h"
#include "tests/unit/support/unit_test.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534 };

void expect_refusal(void (*refuse)(void))
{
	FILE *said = tmpfile();
	int status;
	pid_t child;

	if (geteuid() != 0)
		skip();
	assert_non_null(said);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		if (dup2(fileno(said), STDOUT_FILENO) < 0 || dup2(fileno(said), STDERR_FILENO) < 0 ||
			setresuid(NOBODY, NOBODY, NOBODY) != 0)
			_exit(1);
		refuse();
		_exit(1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(lseek(fileno(said), 0, SEEK_END), 0);
	fclose(said);
}
