/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/child.h"

#include "cli/interrupt.h"
#include "common/common.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

void child_signal(int number)
{
	CLEANUP(buffer_deinit) struct buffer pids = BUFFER_INIT(4096);
	struct error ignored;

	(void)!proc_read_children(getpid(), getpid(), &pids, &ignored);
	for (size_t at = 0; at < pids.size; at += sizeof(int32_t))
		kill(*(const int32_t *)(const void *)(pids.data + at), number);
}

int child_exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int child_wait(void)
{
	int status;
	pid_t pid;

	do {
		pid = wait(&status);
	} while (pid < 0 && errno == EINTR);
	return pid < 0 ? -1 : status;
}

int child_wait_for(pid_t pid)
{
	bool is_passed_on = false;
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
		if (is_passed_on || !interrupt_is_for_us_alone())
			continue;
		kill(pid, interrupt_signal());
		is_passed_on = true;
	}
	return status;
}
