/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/statistics/floor.h"

#include "diff/statistics/basis.h"
#include "diff/statistics/row_shares.h"

#include <math.h>
#include <string.h>

/*
 * Relative standard deviations of a function's share of time between processes of one binary, beyond the variation
 * between blocks of time within a process: placement of heap, stack and code, hash seeds, scheduling, and the decisions
 * of garbage collector and run-time compiler. `others` covers nine of ten functions of the programs in
 * tests/unit/diff/data/floor.csv with room for heavier tails. The values are as large as needed for at most 5 of 100
 * pairs of those programs' processes to show a difference. `changed` is lower, so that a change of code can be found at
 * all, and is only the start of the estimate in evidence_single(), which the functions of unchanged code in the pair
 * decide. `by_tier` is the standard deviation over the mean of functions that some processes have and others have not:
 * 1.3 and 2.2 in tests/unit/diff/data/tiers.csv. An exact test with this variance is one of a mixture: all of the time
 * is most likely on one side. `compiled` is for what the compiler cannot have moved between functions: tiers also run
 * at different speeds. There is no data for Java, which uses the floor of `others`.
 */
static const struct {
	struct process_floor floor;
	/*
	 * A language is chosen if its functions and the modules of its runtime have more than this share of a side's
	 * time. The share is low where most code is compiled at run time, since that is in a module of its own.
	 */
	double least_share;
} variations[PROFILE_VARIATION_COUNT] = {
	[PROFILE_VARIATION_NATIVE] = { { .changed = 0.055, .others = 0.20 }, 0 }, /* C, C++, Rust */
	[PROFILE_VARIATION_INTERPRETED] = { { .changed = 0.055, .others = 0.20 }, 0.5 },
	[PROFILE_VARIATION_V8] = { { .changed = 0.055, .others = 0.30, .by_tier = 1.50, .compiled = 0.60 }, 0.125 },
	[PROFILE_VARIATION_HOTSPOT] = { { .changed = 0.055, .others = 0.40 }, 0.0625 },
	[PROFILE_VARIATION_GO] = { { .changed = 0.055, .others = 0.40 }, 0.5 },
	[PROFILE_VARIATION_UNKNOWN] = { { .changed = 0.055, .others = 0.40 }, 0.5 }, /* the least steady is assumed */
};

/*
 * The same of waiting time, in any language. It rests on simulated services (tests/unit/diff/test_waiting_noise.c), of
 * which 6 of 1,200 pairs that did not change show a difference, and on a program of 8 threads that measured its own
 * waits: from process to process those for its locks varied by 12 and 17 %, and those for a disk by 5 %, with nothing
 * else on the machine. With other work on it they varied by a factor of 10, which no floor can cover: see the warning
 * of compare_waiting_for_cpus(). Recordings of services are still to be measured.
 */
static const double waits_rsd = 0.25;

/*
 * The same of all that a program does. Of 22 pairs of starts of unchanged services (tests/bench/services), the CPU time
 * of a request differed by a factor whose logarithm had a standard deviation of 0.145, by the kernel's own accounting:
 * 0.2 for nginx and redis, which used 2 to 8 % of a CPU, and 0.07 for services that used more.
 */
static const double speed_rsd = 0.1;

/* A language's runtime runs a program if a function of it has more than this share of the total. */
static const double runtime_share = 0.125;

static bool has_variation(enum profile_language language)
{
	return profile_languages[language].variation != PROFILE_VARIATION_NATIVE;
}

static enum profile_language language_of_module(const char *module)
{
	enum profile_language language = profile_language_of_module(module);

	return has_variation(language) ? language : PROFILE_LANGUAGE_NATIVE;
}

static enum profile_language language_of_function(const struct diff *diff, const struct diff_function *f)
{
	if (has_variation(f->language))
		return f->language;
	if (f->name_source == PROFILE_NAME_GO)
		return PROFILE_LANGUAGE_GO;
	/* Files of other tools may name no module, which says nothing about the language. */
	if (f->module == 0 && f->origin == PROFILE_ORIGIN_UNKNOWN)
		return PROFILE_LANGUAGE_UNKNOWN;
	return language_of_module(diff_string(diff, f->module));
}

/*
 * Returns the language of a thread that waits: that of the innermost frame that is not native. Threads of all languages
 * wait in the C library.
 */
static enum profile_language language_of_wait(const struct diff *diff, uint32_t node)
{
	while ((node = diff->nodes[node].parent) != 0) {
		const struct diff_function *f = &diff->functions[diff->nodes[node].function];
		enum profile_language language = language_of_function(diff, f);

		if (language != PROFILE_LANGUAGE_NATIVE && language != PROFILE_LANGUAGE_UNKNOWN)
			return language;
	}
	return PROFILE_LANGUAGE_NATIVE;
}

enum profile_language floor_language(const struct diff *diff)
{
	double times[PROFILE_LANGUAGE_COUNT] = { 0 }, all = 0;

	if (diff->whole)
		return basis_of(diff)->language;
	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];
		bool is_wait = diff_wait_class(diff, f) != PROFILE_WAIT_NONE;
		double time = f->interrupt || is_wait ? 0 : f->self.base + f->self.head;

		all += time;
		times[language_of_function(diff, f)] += time;
	}
	for (uint32_t node = 1; diff->waiting != DIFF_WAITING_NONE && node < diff->node_count; node++) {
		double time = diff->node_self[DIFF_BASE][node] + diff->node_self[DIFF_HEAD][node] * diff->scale.factor;

		if (!(time > 0) || !build_is_wait(diff, node))
			continue;
		all += time;
		times[language_of_wait(diff, node)] += time;
	}
	for (int i = PROFILE_LANGUAGE_NATIVE + 1; i < PROFILE_LANGUAGE_COUNT; i++)
		if (times[i] > variations[profile_languages[i].variation].least_share * all)
			return (enum profile_language)i;
	return PROFILE_LANGUAGE_NATIVE;
}

enum profile_language floor_language_of_profile(const struct profile *profile)
{
	for (size_t i = 0; i < profile->mapping_count; i++) {
		enum profile_language language =
			language_of_module(profile_string(profile, profile->mappings[i].module));

		if (language != PROFILE_LANGUAGE_NATIVE)
			return language;
	}
	for (size_t i = 0; i < profile->function_count; i++)
		if (profile->functions[i].name_source == PROFILE_NAME_GO)
			return PROFILE_LANGUAGE_GO;
	return PROFILE_LANGUAGE_NATIVE;
}

bool floor_has_runtime(const struct diff *diff)
{
	double all = diff->total.base + diff->total.head;

	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];
		enum profile_language language = language_of_function(diff, f);

		if (language != PROFILE_LANGUAGE_NATIVE && language != PROFILE_LANGUAGE_UNKNOWN &&
			f->total.base + f->total.head > runtime_share * all)
			return true;
	}
	return false;
}

struct process_floor floor_of(const struct diff_build *build)
{
	struct process_floor floor = variations[profile_languages[floor_language(build->diff)].variation].floor;

	floor.waits = waits_rsd;
	floor.changed_freedom = INFINITY;
	if (build->diff->scale.mode != DIFF_SCALE_ROBUST && build->diff->scale.mode != DIFF_SCALE_SHARE)
		floor.speed = speed_rsd;
	return floor;
}

bool floor_is_compiled_at_run_time(enum profile_language language)
{
	enum profile_variation variation = profile_languages[language].variation;

	return variation == PROFILE_VARIATION_V8 || variation == PROFILE_VARIATION_HOTSPOT;
}

/* ---- Waiting time ---- */

void floor_weigh_waits(const struct diff_build *build, struct experiment *experiment)
{
	const struct diff *diff = build->diff;
	CLEANUP(row_shares_deinit) struct row_shares shares = { 0 };
	CLEANUP(cleanup_free) bool *waits = NULL;

	if (diff->waiting == DIFF_WAITING_NONE)
		return;
	waits = memory_zeroed(diff->node_count + 1, sizeof(*waits));
	for (uint32_t node = 0; node < diff->node_count; node++)
		waits[node] = build_is_wait(diff, node);
	row_shares_sum(build, waits, &shares);
	for (size_t i = 0; i < experiment->row_count; i++)
		experiment->rows[i].waits = row_share(diff, &shares, &experiment->rows[i]);
}

/* ---- Busy CPUs ---- */

/* Returns how many times as long everything takes on a side because threads that could run waited for a CPU. */
static double slowdown(const struct diff_build *build, enum diff_side side)
{
	const struct profile *profile = build->profiles[side];
	double waited = build->diff->run_queue.raw[side],
	       ran = (double)profile_sum(profile, profile_wait_values(profile).cpu);

	return ran > 0 ? (waited + ran) / ran : 1;
}

/* Returns whether a node is a wait that another thread or process ends, which needs a CPU for that. */
static bool is_for_others(const struct diff *diff, uint32_t node)
{
	enum profile_wait_class wait_class =
		node > 0 ? diff_wait_class(diff, &diff->functions[diff->nodes[node].function]) : PROFILE_WAIT_NONE;

	return profile_wait_info(wait_class)->is_ended_by_others;
}

void floor_weigh_busy_cpus(const struct diff_build *build, struct experiment *experiment)
{
	const struct diff *diff = build->diff;
	CLEANUP(row_shares_deinit) struct row_shares shares = { 0 };
	CLEANUP(cleanup_free) bool *marked = NULL;
	struct basis *own = basis_own(build);
	double beyond;

	if (diff->waiting == DIFF_WAITING_NONE)
		return;
	marked = memory_zeroed(diff->node_count + 1, sizeof(*marked));
	for (uint32_t node = 0; node < diff->node_count; node++)
		marked[node] = is_for_others(diff, node);
	row_shares_sum(build, marked, &shares);
	/* The floor of waits has what CPUs differ by from process to process. */
	if (own)
		own->busy_variance = fmax(0, pow(log(slowdown(build, DIFF_HEAD) / slowdown(build, DIFF_BASE)), 2) -
						     DIFF_SIDES * waits_rsd * waits_rsd);
	beyond = basis_of(diff)->busy_variance;
	for (size_t i = 0; i < experiment->row_count; i++) {
		double share = row_share(diff, &shares, &experiment->rows[i]);

		experiment->rows[i].machine_variance += share * share * beyond;
	}
}
