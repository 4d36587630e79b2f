/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs a recorder beside hostile programs, interrupts it, and prints what it cost, as one line of NAME=VALUE pairs:
 *
 *   workload_hostile_watch [--file FILE] [--seconds S] [--patience S] [--innocent PID] [--hostile PID] -- COMMAND...
 *
 *   peak_kb=       largest memory of the command and all its children together, by their proportional set sizes, looked
 * at 100 times a second; at least the peak that the kernel kept of the largest one cpu=           CPU seconds of the
 * command and its children while it recorded, per second innocent_cpu=  CPU seconds that the process PID used meanwhile
 *   start=         seconds from the command to its recording
 *   late=          seconds from the interrupt (without --seconds: from the start) to the end
 *   ended=         1: by itself; 0: it was killed when the patience was over (default 60 s)
 *   code=          its exit code; -1: nothing ends it
 *
 * Recording lasts from when FILE.part is there, for S seconds. Without --seconds nothing interrupts the command.
 */
#include "hostile.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_PROCESSES = 64, LOOK_MS = 10 };

struct watch {
	const char *file;
	double seconds, patience;
	pid_t pid, innocent, hostile;
	pid_t tree[MAX_PROCESSES];
	size_t tree_count;
	unsigned long peak_kb;
	int status;
	bool has_ended;
};

static double seconds_of(clockid_t clock)
{
	struct timespec time = { 0 };

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double now(void)
{
	return seconds_of(CLOCK_MONOTONIC);
}

static double cpu_of(pid_t pid)
{
	clockid_t clock;

	return pid > 0 && clock_getcpuclockid(pid, &clock) == 0 ? seconds_of(clock) : 0;
}

/* Adds the children of all threads of a process. */
static void add_children(struct watch *watch, pid_t pid)
{
	char command[128];
	FILE *children;
	int child;

	snprintf(command, sizeof(command), "/proc/%d/task/%d/children", pid, pid);
	children = fopen(command, "re");
	while (children && watch->tree_count < MAX_PROCESSES && fscanf(children, "%d", &child) == 1)
		watch->tree[watch->tree_count++] = child;
	if (children)
		fclose(children);
}

static void find_tree(struct watch *watch)
{
	watch->tree[0] = watch->pid;
	watch->tree_count = 1;
	for (size_t i = 0; i < watch->tree_count; i++)
		add_children(watch, watch->tree[i]);
}

static unsigned long memory_kb(pid_t pid)
{
	unsigned long kb = 0;
	char line[256];
	FILE *file;

	snprintf(line, sizeof(line), "/proc/%d/smaps_rollup", pid);
	file = fopen(line, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Pss: %lu", &kb) == 1)
			break;
	if (file)
		fclose(file);
	return kb;
}

static void take_peak(struct watch *watch, unsigned long kb)
{
	if (kb > watch->peak_kb)
		watch->peak_kb = kb;
}

/* Looks once at the command's memory and whether it has ended. */
static void look(struct watch *watch)
{
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };
	struct rusage usage;
	unsigned long kb = 0;

	if (wait4(watch->pid, &watch->status, WNOHANG, &usage) == watch->pid) {
		watch->has_ended = true;
		take_peak(watch, (unsigned long)usage.ru_maxrss);
		return;
	}
	find_tree(watch);
	for (size_t i = 0; i < watch->tree_count; i++)
		kb += memory_kb(watch->tree[i]);
	take_peak(watch, kb);
	nanosleep(&pause, NULL);
}

static void look_until(struct watch *watch, double end)
{
	while (!watch->has_ended && now() < end)
		look(watch);
}

static double cpu_of_tree(struct watch *watch)
{
	double sum = 0;

	find_tree(watch);
	for (size_t i = 0; i < watch->tree_count; i++)
		sum += cpu_of(watch->tree[i]);
	return sum;
}

static void wait_for_recording(struct watch *watch)
{
	double end = now() + watch->patience;
	char path[4096];

	if (!watch->file)
		return;
	snprintf(path, sizeof(path), "%s.part", watch->file);
	while (!watch->has_ended && access(path, F_OK) != 0 && now() < end)
		look(watch);
}

static void finish(struct watch *watch, double begin)
{
	look_until(watch, now() + watch->patience);
	printf("late=%.3f ended=%d peak_kb=%lu ", now() - begin, watch->has_ended, watch->peak_kb);
	if (!watch->has_ended) {
		find_tree(watch);
		for (size_t i = 0; i < watch->tree_count; i++)
			kill(watch->tree[i], SIGKILL);
		/* Where even that does not end it, somebody else has to. */
		for (int i = 0; i < 100 && !watch->has_ended; i++)
			look(watch);
	}
	if (!watch->has_ended)
		printf("code=-1\n");
	else
		printf("code=%d\n",
			WIFEXITED(watch->status) ? WEXITSTATUS(watch->status) : 128 + WTERMSIG(watch->status));
}

static void measure(struct watch *watch)
{
	double begin = now(), start, cpu, innocent, hostile;

	wait_for_recording(watch);
	start = now() - begin;
	if (watch->seconds > 0) {
		begin = now();
		cpu = cpu_of_tree(watch);
		innocent = cpu_of(watch->innocent);
		hostile = cpu_of(watch->hostile);
		look_until(watch, begin + watch->seconds);
		printf("start=%.3f cpu=%.4f innocent_cpu=%.4f hostile_cpu=%.4f ", start,
			(cpu_of_tree(watch) - cpu) / (now() - begin), cpu_of(watch->innocent) - innocent,
			cpu_of(watch->hostile) - hostile);
		begin = now();
		kill(watch->pid, SIGINT);
	}
	finish(watch, begin);
}

static pid_t start(char **command)
{
	pid_t pid = fork();

	if (pid == 0) {
		/* A shell's background jobs ignore it. */
		signal(SIGINT, SIG_DFL);
		execvp(command[0], command);
		hostile_fail(command[0]);
	}
	return pid;
}

int main(int argc, char **argv)
{
	struct watch watch = { .patience = 60 };

	for (int i = 1; i + 1 < argc; i++) {
		if (strcmp(argv[i], "--") == 0) {
			watch.pid = start(argv + i + 1);
			measure(&watch);
			return 0;
		}
		if (strcmp(argv[i], "--file") == 0)
			watch.file = argv[++i];
		else if (strcmp(argv[i], "--seconds") == 0)
			watch.seconds = atof(argv[++i]);
		else if (strcmp(argv[i], "--patience") == 0)
			watch.patience = atof(argv[++i]);
		else if (strcmp(argv[i], "--innocent") == 0)
			watch.innocent = atoi(argv[++i]);
		else if (strcmp(argv[i], "--hostile") == 0)
			watch.hostile = atoi(argv[++i]);
	}
	fprintf(stderr, "usage: workload_hostile_watch [--file FILE] [--seconds S] [--patience S] [--innocent PID] "
			"[--hostile PID] -- COMMAND...\n");
	return 2;
}
