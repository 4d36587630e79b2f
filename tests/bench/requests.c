/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What counting requests costs the process that answers them: its CPU time for one exchange of one byte each way over
 * TCP, without the programs, with programs that are off, with all exchanges measured, and with one in 64. The three
 * latter take turns every 400 exchanges; of each the fastest twentieth is told, which other programs disturb least.
 */
#include "sampler/ebpf/ebpf.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXCHANGES = 400, WARM = 20, TURNS = 300, BLOCKS = 4, PART = 20, ONE_IN = 64 };
enum way { WITHOUT, OFF, ALL, PARTLY, WAYS };

struct times {
	double ns[TURNS * BLOCKS];
	size_t count;
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "bench_requests: %s\n", what);
	exit(1);
}

/* ---- The other end, which always has something to ask ---- */

static void *drain(void *argument)
{
	static char bytes[1 << 16];
	int fd = *(int *)argument;

	while (read(fd, bytes, sizeof(bytes)) > 0)
		;
	return NULL;
}

static _Noreturn void ask_forever(const struct sockaddr_in *address)
{
	static const char bytes[1 << 16];
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	pthread_t thread;

	must(fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0, "connect");
	must(pthread_create(&thread, NULL, drain, &fd) == 0, "pthread_create");
	while (write(fd, bytes, sizeof(bytes)) > 0)
		;
	exit(0);
}

static int open_connection(pid_t *other)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	must(bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 1) == 0 &&
			getsockname(listener, (struct sockaddr *)&address, &size) == 0,
		"listen");
	*other = fork();
	if (*other == 0)
		ask_forever(&address);
	return accept(listener, NULL, NULL);
}

/* ---- Measuring ---- */

static void measure(int fd, struct times *times)
{
	uint64_t began = 0;
	char byte;

	for (int i = 0; i < WARM + EXCHANGES; i++) {
		if (i == WARM)
			began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		must(read(fd, &byte, 1) == 1 && write(fd, &byte, 1) == 1, "the other end is gone");
	}
	times->ns[times->count++] = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - began) / EXCHANGES;
}

static void measure_with_programs(int fd, const struct ebpf_requests_options *options, struct times *times)
{
	struct ebpf_requests *requests;
	struct error err;

	must(ebpf_requests_create(options, &requests, &err), err.message);
	for (int turn = 0; turn < TURNS; turn++)
		for (int way = OFF; way < WAYS; way++) {
			ebpf_requests_enable(requests, way == OFF ? 0 : 1);
			ebpf_requests_set_one_in(requests, way == PARTLY ? ONE_IN : 1);
			measure(fd, &times[way]);
		}
	ebpf_requests_destroy(requests);
}

static int compare(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

static double fastest_part(struct times *times)
{
	qsort(times->ns, times->count, sizeof(times->ns[0]), compare);
	return times->ns[times->count / PART];
}

int main(void)
{
	static const char *const names[WAYS] = { "no programs", "programs that are off", "all measured",
		"one in 64 measured" };
	static struct times times[WAYS];
	struct ebpf_process_set *processes;
	struct error err;
	pid_t other;
	int fd = open_connection(&other);

	must(fd >= 0 && ebpf_process_set_create(&processes, &err), "that needs root");
	ebpf_process_set_add(processes, getpid());
	for (int block = 0; block < BLOCKS; block++) {
		for (int turn = 0; turn < TURNS; turn++)
			measure(fd, &times[WITHOUT]);
		measure_with_programs(fd, &(struct ebpf_requests_options){ .processes = processes }, times);
	}
	for (int way = WITHOUT; way < WAYS; way++) {
		double ns = fastest_part(&times[way]);

		printf("%-22s %6.0f ns of CPU time for an exchange, %+.0f\n", names[way], ns,
			ns - times[WITHOUT].ns[times[WITHOUT].count / PART]);
	}
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	ebpf_process_set_destroy(processes);
	return 0;
}
