/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * A program of known CPU shape, for tests that look at what a profiler says of it.
 *
 *   workload_shape MODE [--seconds S] [--rounds N] [--shares A,B,C] [--depth N] [--threads N] [--code N]
 *
 * Works in rounds until S seconds have passed (default 2), or for exactly N rounds: the same work every time. Prints
 * "ready pid PID" before the first round and "done N rounds" after the last. Ends at SIGTERM after the round at hand.
 *
 *   shares     main -> run_shares -> work_a -> leaf_a, work_b, work_c, whose own times are as A : B : C (default
 * 60,30,10). All of work_a's time is leaf_a's. kernel     main -> run_kernel -> read_zeros (read() of /dev/zero, most
 * of the time in the kernel) and call_getpid (many short calls) recursion  main -> run_recursion -> recurse -> ... ->
 * leaf_recursion below N calls of recurse (default 100): all time in the leaf threads    N threads (default 4), named
 * shape-0 ..., each doing `shares` churn      threads that live for one round each, N at a time sleep      sleeps; no
 * CPU time fork       children, one after the other, each doing one round in child_work while the parent waits exec one
 * child that executes this program anew, in mode shares with the same options exit       one round, then exit code N
 * (default 3) dlopen     loads libworkload_plugin.so from its own directory each round, calls plugin_work in it, and
 * unloads it
 *
 * Every other function named here is a real frame: nothing is inlined, cloned, or called as a tail.
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"

#define FRAME __attribute__((noipa))

enum { MAX_THREADS = 256, ZERO_BYTES = 1 << 16, GETPID_CALLS = 400, READ_CALLS = 40, RECURSION_UNITS = 100 };

struct options {
	const char *mode, *program;
	double seconds;
	unsigned long rounds; /* 0: by time */
	unsigned int shares[3];
	unsigned int depth, threads;
	int code;
	int argc;
	char **argv;
};

struct clock {
	double end; /* monotonic seconds */
	unsigned long limit, done;
};

/* What the loops leave behind, so that none of them is dead code. */
static volatile uint64_t sink;
static volatile sig_atomic_t stop_requested;

static void request_stop(int signal_number)
{
	(void)signal_number;
	stop_requested = 1;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static struct clock clock_start(const struct options *options)
{
	return (struct clock){ .end = now() + options->seconds, .limit = options->rounds };
}

/* Whether to work another round; counts it. */
static bool clock_next(struct clock *clock)
{
	if (stop_requested || (clock->limit ? clock->done >= clock->limit : now() >= clock->end))
		return false;
	clock->done++;
	return true;
}

/* ---- shares ---- */

FRAME static uint64_t leaf_a(unsigned int units)
{
	return BURN(units, 3);
}

FRAME static uint64_t work_a(unsigned int units)
{
	return leaf_a(units) + 1;
}

FRAME static uint64_t work_b(unsigned int units)
{
	return BURN(units, 5);
}

FRAME static uint64_t work_c(unsigned int units)
{
	return BURN(units, 7);
}

FRAME static unsigned long run_shares(const struct options *options)
{
	struct clock clock = clock_start(options);

	while (clock_next(&clock))
		sink += work_a(options->shares[0]) + work_b(options->shares[1]) + work_c(options->shares[2]);
	return clock.done;
}

/* ---- kernel ---- */

FRAME static uint64_t read_zeros(int fd, char *bytes)
{
	uint64_t sum = 0;

	for (int i = 0; i < READ_CALLS; i++)
		sum += (uint64_t)read(fd, bytes, ZERO_BYTES);
	return sum;
}

FRAME static uint64_t call_getpid(void)
{
	uint64_t sum = 0;

	/* Not getpid(): a C library may keep its answer. */
	for (int i = 0; i < GETPID_CALLS; i++)
		sum += (uint64_t)syscall(SYS_getpid);
	return sum;
}

FRAME static unsigned long run_kernel(const struct options *options)
{
	static char bytes[ZERO_BYTES];
	struct clock clock = clock_start(options);
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		perror("/dev/zero");
		exit(1);
	}
	while (clock_next(&clock))
		sink += read_zeros(fd, bytes) + call_getpid();
	close(fd);
	return clock.done;
}

/* ---- recursion ---- */

FRAME static uint64_t leaf_recursion(unsigned int units)
{
	return BURN(units, 11);
}

FRAME static uint64_t recurse(unsigned int depth)
{
	return depth <= 1 ? leaf_recursion(RECURSION_UNITS) : recurse(depth - 1) + depth;
}

FRAME static unsigned long run_recursion(const struct options *options)
{
	struct clock clock = clock_start(options);

	while (clock_next(&clock))
		sink += recurse(options->depth);
	return clock.done;
}

/* ---- inlined ---- */

static inline __attribute__((always_inline)) uint64_t work_inside(unsigned int units)
{
	return BURN(units, 19);
}

FRAME static uint64_t work_around(unsigned int units)
{
	return work_inside(units) + 1;
}

FRAME static unsigned long run_inlined(const struct options *options)
{
	struct clock clock = clock_start(options);

	while (clock_next(&clock))
		sink += work_around(options->shares[0] + options->shares[1] + options->shares[2]);
	return clock.done;
}

/* ---- threads ---- */

struct worker {
	pthread_t thread;
	const struct options *options;
	unsigned int number;
	unsigned long done;
};

static void *run_thread(void *context)
{
	struct worker *worker = context;
	char name[16];

	snprintf(name, sizeof(name), "shape-%u", worker->number);
	pthread_setname_np(pthread_self(), name);
	worker->done = run_shares(worker->options);
	return NULL;
}

static unsigned long run_workers(const struct options *options)
{
	struct worker workers[MAX_THREADS];
	unsigned long done = 0;

	for (unsigned int i = 0; i < options->threads; i++) {
		workers[i] = (struct worker){ .options = options, .number = i };
		errno = pthread_create(&workers[i].thread, NULL, run_thread, &workers[i]);
		if (errno) {
			perror("pthread_create");
			exit(1);
		}
	}
	for (unsigned int i = 0; i < options->threads; i++) {
		pthread_join(workers[i].thread, NULL);
		done += workers[i].done;
	}
	return done;
}

static unsigned long run_churn(const struct options *options)
{
	struct options one = *options;
	struct clock clock = clock_start(options);
	unsigned long done = 0;

	one.rounds = 1;
	while (clock_next(&clock))
		done += run_workers(&one);
	return done;
}

/* ---- sleep, processes ---- */

static unsigned long run_sleep(const struct options *options)
{
	struct clock clock = clock_start(options);

	while (clock_next(&clock))
		nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	return clock.done;
}

FRAME static uint64_t child_work(const struct options *options)
{
	return BURN(options->shares[0] + options->shares[1] + options->shares[2], 13);
}

static int wait_for(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return status;
}

static unsigned long run_fork(const struct options *options)
{
	struct clock clock = clock_start(options);

	while (clock_next(&clock)) {
		pid_t child = fork();

		if (child < 0) {
			perror("fork");
			exit(1);
		}
		if (child == 0) {
			sink += child_work(options);
			_exit(0);
		}
		wait_for(child);
	}
	return clock.done;
}

static unsigned long run_exec(const struct options *options)
{
	pid_t child = fork();

	if (child < 0) {
		perror("fork");
		exit(1);
	}
	if (child == 0) {
		options->argv[1] = "shares";
		execv("/proc/self/exe", options->argv);
		perror("/proc/self/exe");
		_exit(127);
	}
	if (wait_for(child) != 0)
		exit(1);
	return 1;
}

/* ---- dlopen ---- */

static void plugin_path(char *path, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", path, size - 1);
	char *slash;

	path[length > 0 ? length : 0] = '\0';
	slash = strrchr(path, '/');
	if (!slash || (size_t)(slash + 1 - path) + sizeof("libworkload_plugin.so") > size) {
		fprintf(stderr, "cannot tell where libworkload_plugin.so lies\n");
		exit(1);
	}
	strcpy(slash + 1, "libworkload_plugin.so");
}

FRAME static unsigned long run_dlopen(const struct options *options)
{
	struct clock clock = clock_start(options);
	char path[4096];

	plugin_path(path, sizeof(path));
	while (clock_next(&clock)) {
		void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		uint64_t (*work)(unsigned int) =
			plugin ? (uint64_t(*)(unsigned int))dlsym(plugin, "plugin_work") : NULL;

		if (!work) {
			fprintf(stderr, "%s\n", dlerror());
			exit(1);
		}
		sink += work(options->shares[0] + options->shares[1] + options->shares[2]);
		dlclose(plugin);
	}
	return clock.done;
}

/* ---- main ---- */

static unsigned long run_exit(const struct options *options)
{
	struct options one = *options;

	one.rounds = 1;
	return run_shares(&one);
}

static const struct {
	const char *name;
	unsigned long (*run)(const struct options *options);
} modes[] = {
	{ "shares", run_shares },
	{ "kernel", run_kernel },
	{ "recursion", run_recursion },
	{ "inlined", run_inlined },
	{ "threads", run_workers },
	{ "churn", run_churn },
	{ "sleep", run_sleep },
	{ "fork", run_fork },
	{ "exec", run_exec },
	{ "exit", run_exit },
	{ "dlopen", run_dlopen },
};

static void usage(void)
{
	fprintf(stderr,
		"usage: workload_shape shares|kernel|recursion|inlined|threads|churn|sleep|fork|exec|exit|dlopen [--seconds S] [--rounds N] "
		"[--shares A,B,C] [--depth N] [--threads N] [--code N]\n");
	exit(2);
}

static void parse_option(struct options *options, const char *name, const char *value)
{
	if (strcmp(name, "--seconds") == 0)
		options->seconds = strtod(value, NULL);
	else if (strcmp(name, "--rounds") == 0)
		options->rounds = strtoul(value, NULL, 10);
	else if (strcmp(name, "--depth") == 0)
		options->depth = (unsigned int)strtoul(value, NULL, 10);
	else if (strcmp(name, "--threads") == 0)
		options->threads = (unsigned int)strtoul(value, NULL, 10);
	else if (strcmp(name, "--code") == 0)
		options->code = (int)strtol(value, NULL, 10);
	else if (strcmp(name, "--shares") != 0 ||
		 sscanf(value, "%u,%u,%u", &options->shares[0], &options->shares[1], &options->shares[2]) != 3)
		usage();
}

static struct options parse(int argc, char **argv)
{
	struct options options = { .seconds = 2,
		.shares = { 60, 30, 10 },
		.depth = 100,
		.threads = 4,
		.code = 3,
		.argc = argc,
		.argv = argv };

	if (argc < 2 || argc % 2 != 0)
		usage();
	options.mode = argv[1];
	for (int i = 2; i + 1 < argc; i += 2)
		parse_option(&options, argv[i], argv[i + 1]);
	if (options.threads == 0 || options.threads > MAX_THREADS || options.depth == 0)
		usage();
	return options;
}

int main(int argc, char **argv)
{
	struct options options = parse(argc, argv);
	struct sigaction action = { .sa_handler = request_stop };

	sigaction(SIGTERM, &action, NULL);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(modes[i].name, options.mode) != 0)
			continue;
		printf("ready pid %d\n", (int)getpid());
		fflush(stdout);
		printf("done %lu rounds\n", modes[i].run(&options));
		return strcmp(options.mode, "exit") == 0 ? options.code : 0;
	}
	usage();
	return 2;
}
