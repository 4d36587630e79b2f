/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs a recorder for the sampler's benchmark and prints what it cost, as one line of NAME=VALUE pairs:
 *
 *   bench_recorder [--settle S] [--window S] [--target PID] -- COMMAND...
 *
 *   started=     wall clock at the start, seconds since the epoch
 *   monotonic=   the same moment of CLOCK_MONOTONIC
 *   window_cpu=  CPU seconds in the window, which begins S seconds after the start: start-up is not in it
 *   target_cpu=  CPU seconds that the target used in the window
 *   end_cpu=     CPU seconds from the end of the window, where it gets SIGINT, to its exit
 *   end=         seconds of the wall clock from SIGINT to the exit
 *   peak_kb=     largest resident size
 *   code=        exit code
 *
 *   bench_recorder --first FILE.pb.gz
 *
 * prints when the first sample of a profile was taken, seconds since the epoch.
 */
#include "profile/foreign/foreign.h"
#include "profile/profile.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static double seconds_of(clockid_t clock)
{
	struct timespec time = { 0 };

	clock_gettime(clock, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* All threads, those that have ended too; to the nanosecond, which /proc/PID/stat is not. */
static double cpu_seconds(pid_t pid)
{
	clockid_t clock;

	return pid > 0 && clock_getcpuclockid(pid, &clock) == 0 ? seconds_of(clock) : 0;
}

static void sleep_seconds(double seconds)
{
	struct timespec left = { .tv_sec = (time_t)seconds,
		.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9) };

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

static pid_t start(char **command)
{
	pid_t pid = fork();

	if (pid == 0) {
		/* A shell's background jobs ignore it. */
		signal(SIGINT, SIG_DFL);
		execvp(command[0], command);
		perror(command[0]);
		_exit(127);
	}
	return pid;
}

static int measure(double settle, double window, pid_t target, char **command)
{
	double wall = seconds_of(CLOCK_REALTIME), monotonic = seconds_of(CLOCK_MONOTONIC);
	double begin_cpu, begin_target, end_cpu, end_target, end;
	struct rusage usage;
	pid_t pid = start(command);
	int status = 0;

	if (pid < 0)
		return 1;
	sleep_seconds(settle);
	begin_cpu = cpu_seconds(pid);
	begin_target = cpu_seconds(target);
	sleep_seconds(window);
	end_cpu = cpu_seconds(pid);
	end_target = cpu_seconds(target);
	end = seconds_of(CLOCK_MONOTONIC);
	kill(pid, SIGINT);
	while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR)
		;
	printf("started=%.6f monotonic=%.6f window_cpu=%.6f target_cpu=%.6f end_cpu=%.6f end=%.6f peak_kb=%ld code=%d\n",
		wall, monotonic, end_cpu - begin_cpu, end_target - begin_target,
		(double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6 - end_cpu,
		seconds_of(CLOCK_MONOTONIC) - end, usage.ru_maxrss,
		WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}

static int print_first(const char *path)
{
	struct profile *profile;
	struct buffer bytes;
	struct error err;
	bool ok;

	buffer_init(&bytes, (size_t)1 << 30);
	ok = file_read(path, &bytes, &err) && foreign_read(bytes.data, bytes.size, path, &profile, &err);
	buffer_deinit(&bytes);
	if (!ok) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	if (profile->run_count && profile->event_count)
		printf("%.6f\n", (double)(profile->runs[0].start_unix_ns + profile->events[0].time_ns) / 1e9);
	profile_destroy(profile);
	return 0;
}

int main(int argc, char **argv)
{
	double settle = 1, window = 5;
	pid_t target = 0;

	for (int i = 1; i + 1 < argc; i++) {
		if (strcmp(argv[i], "--first") == 0)
			return print_first(argv[i + 1]);
		if (strcmp(argv[i], "--") == 0)
			return measure(settle, window, target, argv + i + 1);
		if (strcmp(argv[i], "--settle") == 0)
			settle = atof(argv[++i]);
		else if (strcmp(argv[i], "--window") == 0)
			window = atof(argv[++i]);
		else if (strcmp(argv[i], "--target") == 0)
			target = atoi(argv[++i]);
	}
	fprintf(stderr, "usage: bench_recorder [--settle S] [--window S] [--target PID] -- COMMAND...\n");
	return 2;
}
