/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/bench_looks.h"

enum { FIRST_LOOK_PAIRS = 3, LOOK_SECONDS = 600 };
static const size_t look_memory_bytes = (size_t)8 << 30;

/* The pairs of the look after the one at `pairs`. */
static uint64_t next_look(uint64_t pairs)
{
	return pairs + (pairs + 1) / 2;
}

unsigned int bench_look_after(uint64_t pairs)
{
	unsigned int number = 1;

	for (uint64_t at = FIRST_LOOK_PAIRS; at < pairs; at = next_look(at))
		number++;
	return number;
}

unsigned int bench_look_at(uint64_t pairs)
{
	uint64_t at = FIRST_LOOK_PAIRS;

	while (at < pairs)
		at = next_look(at);
	return at == pairs ? bench_look_after(pairs) : 0;
}

/* ---- In a process of its own ---- */

struct look_task {
	const struct bench_runner *runner;
	const struct bench_record *const *records;
	uint64_t pairs;
	const struct diff_suite_options *options;
};

struct look_result {
	bool ok;
	struct bench_look look;
	struct error err;
};

static bool count_undecided(const struct look_task *task, struct bench_look *look, struct error *err)
{
	CLEANUP(profile_cleanup) struct profile *base = NULL;
	CLEANUP(profile_cleanup) struct profile *head = NULL;
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = NULL;

	if (!bench_read_all(task->runner, task->records[DIFF_BASE], task->pairs, &base, err) ||
		!bench_read_all(task->runner, task->records[DIFF_HEAD], task->pairs, &head, err) ||
		!diff_suite_create(base, head, task->options, &suite, err))
		return false;
	for (size_t i = 0; i < suite->benchmark_count; i++)
		look->benchmarks += suite->benchmarks[i].presence == DIFF_IN_BOTH;
	look->undecided = suite->verdicts[DIFF_INCONCLUSIVE];
	return true;
}

static void work(void *context, void *result)
{
	struct look_result *made = result;

	made->ok = count_undecided(context, &made->look, &made->err);
}

bool bench_look(const struct bench_runner *runner, const struct bench_record *const records[DIFF_SIDES], uint64_t pairs,
	const struct diff_suite_options *options, struct bench_look *look, struct error *err)
{
	struct look_task task = { runner, records, pairs, options };
	struct isolated isolated = { 0 };
	const int profiles = fileno(runner->profiles);
	struct isolated_limits limits = { .seconds = LOOK_SECONDS,
		.memory_bytes = look_memory_bytes,
		.descriptors = &profiles,
		.descriptor_count = 1 };
	struct look_result made;

	if (!isolated_start(&isolated, &limits, sizeof(made), work, &task, err))
		return false;
	isolated_wait(&isolated);
	made = *(struct look_result *)isolated.result;
	isolated_deinit(&isolated);
	*look = made.look;
	if (made.ok)
		return true;
	if (made.err.code == ERROR_NONE)
		return error_set(err, ERROR_SYSTEM, "the runs made so far could not be compared");
	*err = made.err;
	return false;
}
