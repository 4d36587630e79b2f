/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ends whatever a test has started and left, above all where it failed: processes become children of the test when
 * their parents end, and those that are there at its end are killed.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t tested;

__attribute__((constructor)) static void adopt_leftovers(void)
{
	tested = getpid();
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/* A child of the only thread that is left; 0: there is none. */
static pid_t find_leftover(void)
{
	FILE *children = fopen("/proc/thread-self/children", "re");
	int pid = 0;

	if (children && fscanf(children, "%d", &pid) != 1)
		pid = 0;
	if (children)
		fclose(children);
	return pid;
}

__attribute__((destructor)) static void end_leftovers(void)
{
	pid_t pid;

	if (getpid() != tested)
		return;
	while ((pid = find_leftover()) > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}
