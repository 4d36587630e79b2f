/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* What each line takes of a thread's CPU time, by the program's own clock: "FILE:LINE NANOSECONDS". */

enum { MOST_LAPS = 32 };

struct lap {
	const char *file;
	int line;
	uint64_t ns;
};

static struct lap laps[MOST_LAPS];

/* Where the time began that is charged next: calls that contain others have a start of their own. */
struct stopwatch {
	uint64_t ns;
};

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void charge(const char *file, int line, uint64_t ns)
{
	size_t i = 0;

	while (i + 1 < MOST_LAPS && laps[i].file && (laps[i].line != line || strcmp(laps[i].file, file) != 0))
		i++;
	laps[i].file = file;
	laps[i].line = line;
	laps[i].ns += ns;
}

/* The time since the last one was that of a line. */
static __attribute__((noinline)) void lap(struct stopwatch *watch, const char *file, int line)
{
	uint64_t now = cpu_ns();

	if (line)
		charge(file, line, now - watch->ns);
	watch->ns = cpu_ns();
}

#define BEGIN(watch) lap(watch, "", 0)
/* The line before it. */
#define LAP(watch) lap(watch, strrchr("/" __FILE__, '/') + 1, __LINE__ - 1)

static void print_laps(const struct stopwatch *whole)
{
	printf("total %llu\n", (unsigned long long)(cpu_ns() - whole->ns));
	for (size_t i = 0; i < MOST_LAPS && laps[i].file; i++)
		printf("%s:%d %llu\n", laps[i].file, laps[i].line, (unsigned long long)laps[i].ns);
}
