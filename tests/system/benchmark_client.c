/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <regex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/*
 * A harness of the benchmark protocol, and four benchmarks that spend their time in one function each. What it does
 * beside is the first argument; the second is by how many percent the work of `divide` is more:
 *
 *	suite     four benchmarks, of rounds of equal iterations, with results
 *	marked    the same, each of 100 iterations and without results: only rounds are marked
 *	linear    as criterion's: the iterations grow from round to round
 *	killed    ends by SIGKILL within the third
 *	unknown   sends commands that no runner knows
 *	open      the first never stops
 *	same      the first twice, under one name
 *	many      10,000 of one round each, without work
 *	binary    prints every byte, and much of it
 *	none      says that it is there, and measures nothing
 *	silent    four benchmarks without a runner
 */

enum {
	ROUNDS = 60,
	MARKED_ITERATIONS = 100,
	BENCHMARKS = 4,
	MANY = 10000,
	PATIENCE_MS = 10000,
	MOST_LATENCIES = 1 << 16
};
enum { EXECUTED, START, STOP, ACK, PING, INTEGRATION, ERR, MARKER, VERSION, MODE, MODE_IS };
enum { ROUND_START = 2, ROUND_END = 3 };

static int to_runner = -1, from_runner = -1;
static uint32_t latencies_ns[MOST_LATENCIES];
static size_t latency_count;

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* ---- The protocol ---- */

struct frame {
	uint8_t bytes[512];
	uint32_t size;
};

static void put(struct frame *frame, const void *bytes, size_t size)
{
	memcpy(frame->bytes + frame->size, bytes, size);
	frame->size += (uint32_t)size;
}

static void put32(struct frame *frame, uint32_t value)
{
	put(frame, &value, sizeof(value));
}

static void put64(struct frame *frame, uint64_t value)
{
	put(frame, &value, sizeof(value));
}

static void put_text(struct frame *frame, const char *text)
{
	put64(frame, strlen(text));
	put(frame, text, strlen(text));
}

static void give_up(const char *why)
{
	fprintf(stderr, "benchmark_client: %s\n", why);
	exit(1);
}

static void receive(void *into, size_t size)
{
	struct pollfd wait = { from_runner, POLLIN, 0 };

	if (poll(&wait, 1, PATIENCE_MS) != 1)
		give_up("no answer");
	if (read(from_runner, into, size) != (ssize_t)size)
		give_up("half an answer");
}

/* Sends and returns the command of the answer. */
static uint32_t ask(const struct frame *frame)
{
	uint8_t bytes[sizeof(frame->bytes) + sizeof(uint32_t)];
	uint64_t begin_ns = now_ns();
	uint32_t size, answer[2];

	if (to_runner < 0)
		return ACK;
	memcpy(bytes, &frame->size, sizeof(uint32_t));
	memcpy(bytes + sizeof(uint32_t), frame->bytes, frame->size);
	if (write(to_runner, bytes, frame->size + sizeof(uint32_t)) < 0)
		give_up("cannot write");
	receive(&size, sizeof(size));
	if (size > sizeof(answer))
		give_up("a long answer");
	receive(answer, size);
	if (latency_count < MOST_LATENCIES)
		latencies_ns[latency_count++] = (uint32_t)(now_ns() - begin_ns);
	return answer[0];
}

static void expect(const struct frame *frame, uint32_t answer)
{
	if (ask(frame) != answer)
		give_up("another answer than expected");
}

static void tell(uint32_t command)
{
	struct frame frame = { .size = 0 };

	put32(&frame, command);
	expect(&frame, ACK);
}

static void tell_marker(uint32_t marker, uint64_t time_ns)
{
	struct frame frame = { .size = 0 };

	put32(&frame, MARKER);
	put32(&frame, (uint32_t)getpid());
	put32(&frame, marker);
	put64(&frame, time_ns);
	expect(&frame, ACK);
}

static void tell_executed(const char *uri)
{
	struct frame frame = { .size = 0 };

	put32(&frame, EXECUTED);
	put32(&frame, (uint32_t)getpid());
	put_text(&frame, uri);
	expect(&frame, ACK);
}

static void shake_hands(void)
{
	struct frame version = { .size = 0 }, mode = { .size = 0 }, integration = { .size = 0 };

	to_runner = open("/tmp/runner.ctl.fifo", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	from_runner = open("/tmp/runner.ack.fifo", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (to_runner < 0 || from_runner < 0)
		give_up("no runner");
	if (!getenv("CODSPEED_ENV") || strcmp(getenv("CODSPEED_RUNNER_MODE"), "walltime") != 0)
		give_up("not the environment of a runner");
	put32(&version, VERSION);
	put64(&version, 2);
	expect(&version, ACK);
	put32(&mode, MODE);
	expect(&mode, MODE_IS);
	put32(&integration, INTEGRATION);
	put_text(&integration, "benchmark-client");
	put_text(&integration, "1.0");
	expect(&integration, ACK);
}

/* ---- Benchmarks ---- */

enum { STEPS = 10000 };

static volatile uint64_t sink;
static int divide_steps = STEPS;

#define BENCHMARK(name, steps, step)                                                                                   \
	__attribute__((noinline, noclone)) static void name(void)                                                      \
	{                                                                                                              \
		uint64_t value = sink;                                                                                 \
                                                                                                                       \
		for (int i = 0; i < steps; i++)                                                                        \
			value = step;                                                                                  \
		sink = value;                                                                                          \
	}

BENCHMARK(bench_hash, STEPS, value * 6364136223846793005u + (uint64_t)i)
BENCHMARK(bench_rotate, STEPS, (value << 7 | value >> 57) ^ (uint64_t)i)
BENCHMARK(bench_divide, divide_steps, value / (uint64_t)(i + 3) + (value | 1) % 1000003)
BENCHMARK(bench_mix, STEPS, (value ^ value >> 31) * 0x9e3779b97f4a7c15u + (uint64_t)i)

static const struct benchmark {
	void (*run)(void);
	const char *uri;
} benchmarks[BENCHMARKS] = {
	{ bench_hash, "suite.c::hash" },
	{ bench_rotate, "suite.c::rotate" },
	{ bench_divide, "suite.c::divide" },
	{ bench_mix, "suite.c::mix[1::2]" },
};

/* The harness's own work between rounds, which belongs to no benchmark. */
__attribute__((noinline, noclone)) static void harness_work(void)
{
	uint64_t value = sink;

	for (int i = 0; i < 100000; i++)
		value = value * 3 + (uint64_t)i;
	sink = value;
}

__attribute__((noinline, noclone)) static void __codspeed_root_frame__run(void (*run)(void), uint64_t iterations)
{
	for (uint64_t i = 0; i < iterations; i++)
		run();
	sink++;
}

/* As many as take two milliseconds of CPU time. */
static uint64_t find_iterations(void (*run)(void))
{
	uint64_t iterations = 0, begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns < 2000000) {
		run();
		iterations++;
	}
	return iterations;
}

static int compare_times(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static void write_stats(FILE *results, const char *uri, double *times, uint64_t iterations, bool is_first)
{
	double sum = 0;

	for (int i = 0; i < ROUNDS; i++)
		sum += times[i];
	qsort(times, ROUNDS, sizeof(*times), compare_times);
	fprintf(results,
		"%s{\"name\":\"x\",\"uri\":\"%s\",\"stats\":{\"q1_ns\":%f,\"median_ns\":%f,\"q3_ns\":%f,\"mean_ns\":%f,"
		"\"stdev_ns\":1,\"rounds\":%d,\"iter_per_round\":%llu}}",
		is_first ? "" : ",", uri, times[ROUNDS / 4], (times[ROUNDS / 2 - 1] + times[ROUNDS / 2]) / 2,
		times[ROUNDS * 3 / 4], sum / ROUNDS, ROUNDS, (unsigned long long)iterations);
}

static void run_benchmark(const struct benchmark *benchmark, const char *what, FILE *results, bool is_first)
{
	uint64_t iterations = strcmp(what, "marked") == 0 ? MARKED_ITERATIONS : find_iterations(benchmark->run);
	bool is_linear = strcmp(what, "linear") == 0;
	double times[ROUNDS];

	if (is_linear)
		iterations = iterations / ROUNDS + 1;
	tell(START);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t count = is_linear ? iterations * (uint64_t)(i + 1) : iterations;
		uint64_t start_ns = now_ns(), end_ns;

		__codspeed_root_frame__run(benchmark->run, count);
		end_ns = now_ns();
		tell_marker(ROUND_START, start_ns);
		tell_marker(ROUND_END, end_ns);
		times[i] = (double)(end_ns - start_ns) / (double)count;
		harness_work();
		if (strcmp(what, "killed") == 0 && benchmark == &benchmarks[2] && i == ROUNDS / 2)
			raise(SIGKILL);
	}
	if (strcmp(what, "open") == 0 && benchmark == &benchmarks[0])
		return;
	tell(STOP);
	tell_executed(benchmark->uri);
	write_stats(results, benchmark->uri, times, is_linear ? iterations * (ROUNDS + 1) / 2 : iterations, is_first);
}

/* As google-benchmark does, those whose names have a match of its regular expression. */
static bool is_chosen(const struct benchmark *benchmark)
{
	const char *filter = getenv("BENCHMARK_FILTER");
	regex_t pattern;
	bool matches;

	if (!filter)
		return true;
	if (regcomp(&pattern, filter, REG_EXTENDED | REG_NOSUB) != 0)
		give_up("the filter is no regular expression");
	matches = regexec(&pattern, benchmark->uri, 0, NULL, 0) == 0;
	regfree(&pattern);
	return matches;
}

static void run_benchmarks(const char *what, FILE *results)
{
	bool is_first = true;

	for (int i = 0; i < BENCHMARKS; i++) {
		const struct benchmark *benchmark = &benchmarks[strcmp(what, "same") == 0 ? i / 2 : i];

		if (!is_chosen(benchmark))
			continue;
		run_benchmark(benchmark, what, results, is_first);
		is_first = false;
	}
}

static FILE *open_results(const char *what)
{
	const char *folder = getenv("CODSPEED_PROFILE_FOLDER");
	char path[PATH_MAX];
	FILE *file;

	if (!folder || strcmp(what, "marked") == 0)
		return fopen("/dev/null", "w");
	snprintf(path, sizeof(path), "%s/environment-%d.json", folder, (int)getpid());
	file = fopen(path, "w");
	if (file) {
		fprintf(file, "{\"integration_environment\":{\"rust\":{\"rustc\":\"rustc 1.88.0 (abc)\"}}}");
		fclose(file);
	}
	snprintf(path, sizeof(path), "%s/results", folder);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/results/%d.json", folder, (int)getpid());
	return fopen(path, "w");
}

/* ---- What is not well ---- */

static void send_unknown(void)
{
	struct frame command = { .size = 0 }, empty = { .size = 0 }, version = { .size = 0 };
	uint8_t garbage[] = { 0xff, 0xff, 0xff, 0x7f, 1, 2, 3 };
	uint32_t answer[2];

	put32(&command, 4711);
	expect(&command, ERR);
	expect(&empty, ERR);
	put32(&version, VERSION);
	put64(&version, 3);
	expect(&version, ERR);
	if (write(to_runner, garbage, sizeof(garbage)) < 0)
		give_up("cannot write");
	receive(answer, sizeof(answer));
	if (answer[1] != ERR)
		give_up("another answer than expected");
}

static void run_many(void)
{
	char uri[32];

	for (int i = 0; i < MANY; i++) {
		tell(START);
		tell_marker(ROUND_START, now_ns());
		tell_marker(ROUND_END, now_ns());
		tell(STOP);
		snprintf(uri, sizeof(uri), "many::%d", i);
		tell_executed(uri);
	}
}

static void print_bytes(void)
{
	for (int line = 0; line < 2000; line++)
		for (int byte = 0; byte < 256; byte++)
			putchar(byte);
	fflush(stdout);
}

static int compare_latencies(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

static void print_latency(void)
{
	qsort(latencies_ns, latency_count, sizeof(*latencies_ns), compare_latencies);
	if (latency_count > 0)
		fprintf(stderr, "round trips: %zu, median %.1f us, 99 %% %.1f us\n", latency_count,
			latencies_ns[latency_count / 2] / 1e3, latencies_ns[latency_count * 99 / 100] / 1e3);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "suite";
	FILE *results = open_results(what);

	if (argc > 2)
		divide_steps += STEPS * atoi(argv[2]) / 100;
	if (!results)
		give_up("no folder for results");
	if (strcmp(what, "silent") != 0)
		shake_hands();
	fprintf(results, "{\"creator\":{\"pid\":%d},\"benchmarks\":[", (int)getpid());
	if (strcmp(what, "unknown") == 0)
		send_unknown();
	if (strcmp(what, "binary") == 0)
		print_bytes();
	if (strcmp(what, "many") == 0)
		run_many();
	else if (strcmp(what, "none") != 0)
		run_benchmarks(what, results);
	fprintf(results, "]}");
	fclose(results);
	print_latency();
	return 0;
}
