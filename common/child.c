/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "common/child.h"

#include "common/cleanup.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

void child_end_with(pid_t parent)
{
	pid_t now;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	now = getppid();
	if (now != parent && now != 0)
		_exit(1);
}

void child_close_between(unsigned int first, unsigned int last)
{
	enum { MOST_CLOSED_SINGLY = 1 << 16 };

	if (first > last || close_range(first, last, 0) == 0)
		return;
	for (unsigned int fd = first; fd <= last && fd < MOST_CLOSED_SINGLY; fd++)
		(void)close((int)fd);
}

struct child_memory child_memory(void)
{
	CLEANUP(cleanup_fclose) FILE *file = fopen("/proc/self/statm", "re");
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	unsigned long mapped, data;

	if (!file || fscanf(file, "%lu %*u %*u %*u %*u %lu", &mapped, &data) != 2)
		return (struct child_memory){ 0 };
	return (struct child_memory){ .mapped = mapped * page_bytes, .data = data * page_bytes };
}

char child_state(pid_t pid)
{
	CLEANUP(cleanup_close) int fd = -1;
	char text[256], path[32];
	const char *end;
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
	text[size > 0 ? size : 0] = '\0';
	end = strrchr(text, ')');
	if (!end || end[1] != ' ')
		return '\0';
	return end[2];
}

#if defined(__SANITIZE_ADDRESS__)
#define CHILD_IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define CHILD_IS_SANITIZED true
#endif
#endif
#ifndef CHILD_IS_SANITIZED
#define CHILD_IS_SANITIZED false
#endif

bool child_is_sanitized(void)
{
	return CHILD_IS_SANITIZED;
}
