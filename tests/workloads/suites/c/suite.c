/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A suite of 50 benchmarks with the real client of the protocol, instrument-hooks, whose folder is on the include path:
 *
 *   cc -O2 -g -I HOOKS/includes [-D SLOWER=17 -D SLOWER_PERCENT=5] -o suite suite.c HOOKS/dist/core.c -lm
 *   suite [MILLISECONDS]        each benchmark takes this long (default: 20), in rounds of a millisecond
 *
 * With SLOWER, one of them does more, in a line of its own. What a benchmark took is written to
 * $CODSPEED_PROFILE_FOLDER/results, as every harness does; how long answers took is printed.
 */
#include <core.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BENCHMARKS = 50, WORK_STEPS = 2000, MAX_ROUNDS = 10000, ROUND_NS = 1000000 };

#define WORK 0
#include "work.h"
#undef WORK
#define WORK 1
#include "work.h"
#undef WORK
#define WORK 2
#include "work.h"
#undef WORK
#define WORK 3
#include "work.h"
#undef WORK
#define WORK 4
#include "work.h"
#undef WORK
#define WORK 5
#include "work.h"
#undef WORK
#define WORK 6
#include "work.h"
#undef WORK
#define WORK 7
#include "work.h"
#undef WORK
#define WORK 8
#include "work.h"
#undef WORK
#define WORK 9
#include "work.h"
#undef WORK
#define WORK 10
#include "work.h"
#undef WORK
#define WORK 11
#include "work.h"
#undef WORK
#define WORK 12
#include "work.h"
#undef WORK
#define WORK 13
#include "work.h"
#undef WORK
#define WORK 14
#include "work.h"
#undef WORK
#define WORK 15
#include "work.h"
#undef WORK
#define WORK 16
#include "work.h"
#undef WORK
#define WORK 17
#include "work.h"
#undef WORK
#define WORK 18
#include "work.h"
#undef WORK
#define WORK 19
#include "work.h"
#undef WORK
#define WORK 20
#include "work.h"
#undef WORK
#define WORK 21
#include "work.h"
#undef WORK
#define WORK 22
#include "work.h"
#undef WORK
#define WORK 23
#include "work.h"
#undef WORK
#define WORK 24
#include "work.h"
#undef WORK
#define WORK 25
#include "work.h"
#undef WORK
#define WORK 26
#include "work.h"
#undef WORK
#define WORK 27
#include "work.h"
#undef WORK
#define WORK 28
#include "work.h"
#undef WORK
#define WORK 29
#include "work.h"
#undef WORK
#define WORK 30
#include "work.h"
#undef WORK
#define WORK 31
#include "work.h"
#undef WORK
#define WORK 32
#include "work.h"
#undef WORK
#define WORK 33
#include "work.h"
#undef WORK
#define WORK 34
#include "work.h"
#undef WORK
#define WORK 35
#include "work.h"
#undef WORK
#define WORK 36
#include "work.h"
#undef WORK
#define WORK 37
#include "work.h"
#undef WORK
#define WORK 38
#include "work.h"
#undef WORK
#define WORK 39
#include "work.h"
#undef WORK
#define WORK 40
#include "work.h"
#undef WORK
#define WORK 41
#include "work.h"
#undef WORK
#define WORK 42
#include "work.h"
#undef WORK
#define WORK 43
#include "work.h"
#undef WORK
#define WORK 44
#include "work.h"
#undef WORK
#define WORK 45
#include "work.h"
#undef WORK
#define WORK 46
#include "work.h"
#undef WORK
#define WORK 47
#include "work.h"
#undef WORK
#define WORK 48
#include "work.h"
#undef WORK
#define WORK 49
#include "work.h"
#undef WORK

static uint64_t (*const works[BENCHMARKS])(uint64_t) = {
	work_0,
	work_1,
	work_2,
	work_3,
	work_4,
	work_5,
	work_6,
	work_7,
	work_8,
	work_9,
	work_10,
	work_11,
	work_12,
	work_13,
	work_14,
	work_15,
	work_16,
	work_17,
	work_18,
	work_19,
	work_20,
	work_21,
	work_22,
	work_23,
	work_24,
	work_25,
	work_26,
	work_27,
	work_28,
	work_29,
	work_30,
	work_31,
	work_32,
	work_33,
	work_34,
	work_35,
	work_36,
	work_37,
	work_38,
	work_39,
	work_40,
	work_41,
	work_42,
	work_43,
	work_44,
	work_45,
	work_46,
	work_47,
	work_48,
	work_49,
};

static volatile uint64_t sink;
static uint64_t rounds_ns[MAX_ROUNDS], answers_ns[BENCHMARKS * 2 * MAX_ROUNDS];
static size_t answers;

static void mark(InstrumentHooks *hooks, uint8_t type, uint64_t time_ns)
{
	const uint64_t before_ns = instrument_hooks_current_timestamp();

	instrument_hooks_add_marker(hooks, getpid(), type, time_ns);
	answers_ns[answers++] = instrument_hooks_current_timestamp() - before_ns;
}

static uint64_t run_round(uint64_t (*work)(uint64_t), uint64_t iterations, uint64_t *start_ns, uint64_t *end_ns)
{
	*start_ns = instrument_hooks_current_timestamp();
	for (uint64_t i = 0; i < iterations; i++)
		sink = work(sink + i);
	*end_ns = instrument_hooks_current_timestamp();
	return *end_ns - *start_ns;
}

static __attribute__((noinline)) size_t __codspeed_root_frame__run(
	InstrumentHooks *hooks, uint64_t (*work)(uint64_t), uint64_t iterations, uint64_t time_ns)
{
	uint64_t start_ns, end_ns, sum_ns = 0;
	size_t rounds = 0;

	while (sum_ns < time_ns && rounds < MAX_ROUNDS) {
		sum_ns += rounds_ns[rounds++] = run_round(work, iterations, &start_ns, &end_ns);
		mark(hooks, MARKER_TYPE_BENCHMARK_START, start_ns);
		mark(hooks, MARKER_TYPE_BENCHMARK_END, end_ns);
	}
	return rounds;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t iterations_of_a_round(uint64_t (*work)(uint64_t))
{
	uint64_t start_ns, end_ns, least_ns = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		const uint64_t ns = run_round(work, 10, &start_ns, &end_ns);

		least_ns = ns < least_ns ? ns : least_ns;
	}
	return ROUND_NS * 10 / least_ns + 1;
}

/* Of one iteration; between two rounds as far as the place is. */
static double quantile(double part, size_t rounds, uint64_t iterations)
{
	const double place = part * (double)(rounds - 1);
	const size_t below = (size_t)place, above = below + 1 < rounds ? below + 1 : below;
	const double low = (double)rounds_ns[below], high = (double)rounds_ns[above];

	return (low + (high - low) * (place - (double)below)) / (double)iterations;
}

static void write_result(FILE *file, int number, size_t rounds, uint64_t iterations)
{
	double sum = 0, squares = 0, mean;

	qsort(rounds_ns, rounds, sizeof(rounds_ns[0]), compare);
	for (size_t i = 0; i < rounds; i++)
		sum += (double)rounds_ns[i];
	mean = sum / (double)rounds;
	for (size_t i = 0; i < rounds; i++)
		squares += ((double)rounds_ns[i] - mean) * ((double)rounds_ns[i] - mean);
	fprintf(file, "%s{\"name\":\"work_%d\",\"uri\":\"suite.c::work_%d\",\"stats\":{", number > 0 ? "," : "", number,
		number);
	fprintf(file, "\"min_ns\":%.1f,\"q1_ns\":%.1f,\"median_ns\":%.1f,\"q3_ns\":%.1f,\"max_ns\":%.1f,",
		quantile(0, rounds, iterations), quantile(0.25, rounds, iterations), quantile(0.5, rounds, iterations),
		quantile(0.75, rounds, iterations), quantile(1, rounds, iterations));
	fprintf(file,
		"\"mean_ns\":%.1f,\"stdev_ns\":%.1f,\"rounds\":%zu,\"total_time\":%.9f,\"iter_per_round\":%" PRIu64
		"}}",
		mean / (double)iterations, sqrt(squares / (double)rounds) / (double)iterations, rounds, sum / 1e9,
		iterations);
}

static FILE *open_results(void)
{
	const char *folder = getenv("CODSPEED_PROFILE_FOLDER");
	char path[4096];

	if (!folder)
		return fopen("/dev/null", "w");
	snprintf(path, sizeof(path), "%s/results", folder);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/results/%d.json", folder, getpid());
	return fopen(path, "w");
}

int main(int count, char **words)
{
	const uint64_t time_ns = (count > 1 ? strtoull(words[1], NULL, 10) : 20) * 1000000;
	InstrumentHooks *hooks = instrument_hooks_init();
	FILE *file = open_results();
	char uri[100];

	if (!hooks || !file)
		return 1;
	instrument_hooks_set_integration(hooks, "suite", "1.0");
	fprintf(file,
		"{\"creator\":{\"name\":\"suite\",\"version\":\"1.0\",\"pid\":%d},"
		"\"instrument\":{\"type\":\"walltime\"},\"benchmarks\":[",
		getpid());
	for (int i = 0; i < BENCHMARKS; i++) {
		const uint64_t iterations = iterations_of_a_round(works[i]);
		size_t rounds;

		instrument_hooks_start_benchmark(hooks);
		rounds = __codspeed_root_frame__run(hooks, works[i], iterations, time_ns);
		instrument_hooks_stop_benchmark(hooks);
		snprintf(uri, sizeof(uri), "suite.c::work_%d", i);
		instrument_hooks_set_executed_benchmark(hooks, getpid(), uri);
		write_result(file, i, rounds, iterations);
	}
	fprintf(file, "]}\n");
	if (fclose(file) != 0)
		return 1;
	qsort(answers_ns, answers, sizeof(answers_ns[0]), compare);
	printf("answers: median %.1f us, 99 %% within %.1f us, at most %.1f us\n",
		(double)answers_ns[answers / 2] / 1e3, (double)answers_ns[answers * 99 / 100] / 1e3,
		(double)answers_ns[answers - 1] / 1e3);
	instrument_hooks_deinit(hooks);
	return 0;
}
