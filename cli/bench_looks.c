/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/bench_looks.h"

enum { LOOK_SECONDS = 600 };
static const size_t look_memory_bytes = (size_t)8 << 30;

/* The result of a look at the runs so far, from a process of its own. */
struct look {
	size_t benchmarks, undecided;
	bool has_filter; /* some are decided, and harnesses can be told */
	struct harness_filter filter;
};

struct look_task {
	const struct bench_runs *runs;
	const struct diff_suite_options *options;
};

struct look_result {
	bool ok;
	struct look look;
	struct error err;
};

/* The filter of benchmarks that are not decided, if some are. */
static bool make_filter(const struct diff_suite *suite, struct look *look, struct error *err)
{
	CLEANUP(cleanup_free) const char **uris = calloc(suite->benchmark_count + 1, sizeof(*uris));
	size_t undecided = 0, decided = suite->benchmark_count;

	if (!uris)
		return error_set_memory(err);
	for (size_t i = 0; i < suite->benchmark_count; i++) {
		const struct diff_benchmark *benchmark = &suite->benchmarks[i];
		bool is_open = benchmark->presence == DIFF_IN_BOTH && benchmark->verdict == DIFF_INCONCLUSIVE;

		uris[is_open ? undecided++ : --decided] = diff_suite_string(suite, benchmark->uri);
	}
	look->has_filter = undecided > 0 && undecided < suite->benchmark_count &&
			   harness_filter_make(uris, undecided, uris + undecided, suite->benchmark_count - undecided,
				   &look->filter);
	return true;
}

static bool count_undecided(const struct look_task *task, struct look *look, struct error *err)
{
	const struct bench_runs *runs = task->runs;
	CLEANUP(profile_cleanup) struct profile *base = NULL;
	CLEANUP(profile_cleanup) struct profile *head = NULL;
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = NULL;

	if (!bench_runs_read_all(runs, BENCH_BASE, &base, err) || !bench_runs_read_all(runs, BENCH_HEAD, &head, err) ||
		!diff_suite_create(base, head, task->options, &suite, err))
		return false;
	for (size_t i = 0; i < suite->benchmark_count; i++)
		look->benchmarks += suite->benchmarks[i].presence == DIFF_IN_BOTH;
	look->undecided = suite->verdicts[DIFF_INCONCLUSIVE];
	return make_filter(suite, look, err);
}

static void bench_looks_work(void *context, void *result)
{
	struct look_result *made = result;

	made->ok = count_undecided(context, &made->look, &made->err);
}

static bool take_look(const struct look_task *task, struct look_result *made, struct error *err)
{
	struct isolated isolated = { 0 };
	const int profiles = fileno(task->runs->profiles);
	struct isolated_limits limits = { .seconds = LOOK_SECONDS,
		.memory_bytes = look_memory_bytes,
		.descriptors = &profiles,
		.descriptor_count = 1 };

	if (!isolated_start(&isolated, &limits, sizeof(*made), bench_looks_work, (void *)task, err))
		return false;
	isolated_wait(&isolated);
	*made = *(struct look_result *)isolated.result;
	isolated_deinit(&isolated);
	/* That process has read what the commands wrote. */
	made->look.filter.names[HARNESS_FILTER_BYTES - 1] = '\0';
	made->look.filter.deselected[HARNESS_FILTER_BYTES - 1] = '\0';
	if (made->ok)
		return true;
	if (made->err.code == ERROR_NONE)
		return error_set(err, ERROR_SYSTEM, "the runs made so far could not be compared");
	*err = made->err;
	return false;
}

void bench_looks_deinit(struct bench_looks *looks)
{
	harness_filter_unset(looks->filtering);
	looks->filtering = NULL;
}

bool bench_looks_run_all(struct bench_looks *looks)
{
	if (!looks->filtering)
		return false;
	bench_looks_deinit(looks);
	looks->is_whole = true;
	return true;
}

bool bench_looks_take(
	struct bench_looks *looks, struct bench_runs *runs, const struct diff_suite_options *options, struct error *err)
{
	struct look_task task = { runs, options };
	struct look_result made;

	bench_looks_deinit(looks);
	if (!take_look(&task, &made, err))
		return false;
	runs->benchmarks = made.look.benchmarks;
	runs->undecided = made.look.undecided;
	return !made.look.has_filter || looks->is_whole ||
	       harness_filter_set(&made.look.filter, &looks->filtering, err);
}
