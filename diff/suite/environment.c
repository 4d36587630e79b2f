/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Warnings of a comparison of suites: environments, programs and measurements that differ. */
#include "diff/suite/work.h"

#include "diff/verdict/warnings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A warning names this many modules or benchmarks, and counts the others. */
enum { MAX_WARNINGS = 32, MOST_NAMED = 4, MAX_TEXT_BYTES = 1 << 20 };

static bool warn(struct diff_suite *suite, bool blocks_gate, const struct buffer *text, struct error *err)
{
	uint32_t id;

	if (!buffer_ok(text, err))
		return false;
	if (suite->warning_count == MAX_WARNINGS)
		return true;
	id = string_table_enter(suite->strings, text->data ? text->data : "", text->size);
	suite->warnings[suite->warning_count++] = (struct diff_warning){ .text = id, .blocks_gate = blocks_gate };
	return true;
}

static bool warn_words(struct diff_suite *suite, bool blocks_gate, const char *words, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(MAX_TEXT_BYTES);

	buffer_append_string(&text, words);
	return warn(suite, blocks_gate, &text, err);
}

/* Appends a name to a list that names the first ones and counts the others. `number`: counted from 0. */
static void list_name(struct buffer *list, const char *name, size_t number, size_t count)
{
	enum { COLUMNS = 80 };

	if (number < MOST_NAMED) {
		buffer_append_string(list, number ? ", " : "");
		unicode_append_middle(list, name, COLUMNS);
	} else if (number + 1 == count) {
		buffer_printf(list, " and %zu more", count - MOST_NAMED);
	}
}

/* ---- The environment ---- */

static bool suite_environment_compare_facts(struct diff_suite *suite, struct error *err)
{
	size_t count;
	const struct profile_fact *facts = profile_facts(&count);

	for (size_t i = 0; i < count; i++) {
		CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(MAX_TEXT_BYTES);

		if (warnings_compare_fact(suite->profiles, &facts[i], suite->is_exact, &text) &&
			!warn(suite, facts[i].blocks_gate && !suite->is_exact, &text, err))
			return false;
	}
	return true;
}

enum { BUILD_NONE = UINT32_MAX, BUILD_SEVERAL = UINT32_MAX - 1 };

/* A module of both sides, by its name. */
struct module_build {
	uint32_t name;              /* string of the suite */
	uint32_t build[DIFF_SIDES]; /* string of the suite; BUILD_NONE, or BUILD_SEVERAL: it has no single one */
	bool is_user;               /* it has code of the user, which is what the comparison is about */
	bool is_library;            /* it has code of a library or of the system */
};

struct modules {
	struct diff_suite *suite;
	struct module_build *modules; /* owned */
	size_t count, capacity;
	struct hash_map known; /* owned: name -> index */
};

static void suite_environment_find_module(struct modules *m, const char *name, struct module_build **found)
{
	uint32_t id, *value;
	bool added;

	id = string_table_enter(m->suite->strings, name, strlen(name));
	ARRAY_GROW(&m->modules, &m->capacity, m->count + 1);
	value = hash_map_enter(&m->known, &id, (uint32_t)m->count, &added);
	if (added)
		m->modules[m->count++] = (struct module_build){ .name = id, .build = { BUILD_NONE, BUILD_NONE } };
	*found = &m->modules[*value];
}

static void add_builds(struct modules *m, enum diff_side side)
{
	const struct profile *profile = m->suite->profiles[side];
	struct module_build *module;

	for (size_t i = 0; i < profile->mapping_count; i++) {
		const struct profile_mapping *mapping = &profile->mappings[i];
		const char *build = profile_string(profile, mapping->build_id);
		uint32_t id;

		if (mapping->kind != PROFILE_MAPPING_FILE || build[0] == '\0')
			continue;
		suite_environment_find_module(m, profile_string(profile, mapping->module), &module);
		id = string_table_enter(m->suite->strings, build, strlen(build));
		module->build[side] =
			module->build[side] == BUILD_NONE || module->build[side] == id ? id : BUILD_SEVERAL;
	}
}

/* Functions tell whose code a module is; one of which no function was sampled does not matter. */
static void add_origins(struct modules *m, enum diff_side side)
{
	const struct profile *profile = m->suite->profiles[side];
	struct module_build *module;

	for (size_t i = 0; i < profile->function_count; i++) {
		const struct profile_function *function = &profile->functions[i];

		if (function->origin == PROFILE_ORIGIN_UNKNOWN)
			continue;
		suite_environment_find_module(m, profile_string(profile, function->module), &module);
		module->is_user |= function->origin == PROFILE_ORIGIN_USER;
		module->is_library |= function->origin != PROFILE_ORIGIN_USER;
	}
}

static bool is_other_build(const struct module_build *module)
{
	uint32_t base = module->build[DIFF_BASE], head = module->build[DIFF_HEAD];

	return module->is_library && !module->is_user && base < BUILD_SEVERAL && head < BUILD_SEVERAL && base != head;
}

static bool warn_of_builds(struct modules *m, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(MAX_TEXT_BYTES);
	size_t count = 0, number = 0;

	for (size_t i = 0; i < m->count; i++)
		count += is_other_build(&m->modules[i]);
	for (size_t i = 0; i < m->count; i++)
		if (is_other_build(&m->modules[i]))
			list_name(&text, diff_suite_string(m->suite, m->modules[i].name), number++, count);
	buffer_append_string(&text, count == 1 ? " is another build in head" : " are other builds in head");
	return count == 0 || warn(m->suite, false, &text, err);
}

static bool compare_libraries(struct diff_suite *suite, struct error *err)
{
	struct modules m = { .suite = suite };

	hash_map_init(&m.known, sizeof(uint32_t));
	for (int side = 0; side < DIFF_SIDES; side++) {
		add_builds(&m, (enum diff_side)side);
		add_origins(&m, (enum diff_side)side);
	}
	if (!warn_of_builds(&m, err))
		return false;
	hash_map_deinit(&m.known);
	free(m.modules);
	return true;
}

/* ---- What limits the comparison ---- */

static bool suite_environment_check_exits(struct diff_suite *suite, enum diff_side side, struct error *err)
{
	const struct profile *profile = suite->profiles[side];
	size_t failed = 0, all = profile_execution_count(profile);
	char words[160];

	for (size_t i = 0; i < profile->run_count; i++)
		failed += profile->runs[i].whole_command && profile->runs[i].exit_status > 0;
	if (failed == 0)
		return true;
	snprintf(words, sizeof(words), "%zu of %zu executions of %s failed", failed, all, diff_side_name(side));
	return warn_words(suite, true, words, err);
}

static bool say_single(struct diff_suite *suite, struct error *err)
{
	if (suite->is_exact || suite->executions[DIFF_BASE] != 1 || suite->executions[DIFF_HEAD] != 1)
		return true;
	return warn_words(suite, false,
		"there is one execution on each side, which does not show how far executions differ, so that only changes beyond what executions of other suites do are proven; 'kelvin bench --benchmarks' runs both sides in turn, and several files on a side are separated by commas",
		err);
}

/* What all benchmarks have in common may be the machine. Each is compared beside that. */
static bool say_common(struct diff_suite *suite, struct error *err)
{
	bool is_less = suite->common < 0;
	char words[320];

	if (!(suite->common_low > 0 || suite->common_high < 0) || !(fabs(suite->common) > suite->options.precision))
		return true;
	snprintf(words, sizeof(words),
		"all benchmarks together take %.1f %% %s in head (95 %% interval %.1f to %.1f %%), as on another machine; each is compared beside that, and runs in turn would tell whether it is the program",
		fabs(suite->common) * 100, is_less ? "less" : "more",
		100 * (is_less ? -suite->common_high : suite->common_low),
		100 * (is_less ? -suite->common_low : suite->common_high));
	return warn_words(suite, false, words, err);
}

/*
 * Times of benchmarks that wait vary more. Benchmarks of one thread that only compute have a CPU all the time, unless
 * other programs have it.
 */
static bool say_waiting(const struct suite_work *work, struct error *err)
{
	static const double least = 0.9;
	double shares[DIFF_SIDES];
	char words[320];

	for (int side = 0; side < DIFF_SIDES; side++)
		shares[side] = work->sides[side].cpu_share;
	if (!work->suite->is_measured || !(fmin(shares[DIFF_BASE], shares[DIFF_HEAD]) < least))
		return true;
	snprintf(words, sizeof(words),
		"the benchmarks had a CPU for %.0f %% of their time in base and %.0f %% in head; if they do not wait by themselves, other programs ran instead of them, and a quieter machine gives narrower intervals",
		shares[DIFF_BASE] * 100, shares[DIFF_HEAD] * 100);
	return warn_words(work->suite, false, words, err);
}

/* Names the benchmarks that `is_named` says. `one` and `many`: the words behind the list. */
static bool warn_of_benchmarks(const struct suite_work *work,
	bool (*is_named)(const struct suite_work *work, size_t benchmark), const char *one, const char *many,
	struct error *err)
{
	struct diff_suite *suite = work->suite;
	CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(MAX_TEXT_BYTES);
	size_t count = 0, number = 0;

	for (size_t i = 0; i < suite->benchmark_count; i++)
		count += is_named(work, i);
	if (count == 0)
		return true;
	buffer_printf(&text, "%zu benchmark%s %s: ", count, count == 1 ? "" : "s", count == 1 ? one : many);
	for (size_t i = 0; i < suite->benchmark_count; i++)
		if (is_named(work, i))
			list_name(&text, diff_suite_string(suite, suite->benchmarks[i].name), number++, count);
	return warn(suite, false, &text, err);
}

static bool has_no_time(const struct suite_work *work, size_t i)
{
	const struct diff_benchmark *benchmark = &work->suite->benchmarks[i];

	return benchmark->presence == DIFF_IN_BOTH &&
	       (isnan(benchmark->value[DIFF_BASE]) || isnan(benchmark->value[DIFF_HEAD]));
}

static bool has_no_iterations(const struct suite_work *work, size_t i)
{
	return work->suite->benchmarks[i].presence == DIFF_IN_BOTH && work->uncounted[i];
}

static bool is_by_rounds(const struct suite_work *work, size_t i)
{
	return work->suite->benchmarks[i].presence == DIFF_IN_BOTH && work->suite->benchmarks[i].by_rounds;
}

static bool is_added(const struct suite_work *work, size_t i)
{
	return work->suite->benchmarks[i].presence == DIFF_ADDED;
}

static bool is_removed(const struct suite_work *work, size_t i)
{
	return work->suite->benchmarks[i].presence == DIFF_REMOVED;
}

static bool warn_of_missing(const struct suite_work *work, struct error *err)
{
	struct diff_suite *suite = work->suite;

	if (!warn_of_benchmarks(work, has_no_time,
		    "has nothing to compare it by on one side: no time, or no number of iterations",
		    "have nothing to compare them by on one side: no times, or no numbers of iterations", err))
		return false;
	if (!warn_of_benchmarks(work, is_by_rounds,
		    "is compared round by round, since its harness tells no number of iterations; if that fits the rounds to a time, this says nothing",
		    "are compared round by round, since their harness tells no numbers of iterations; if that fits the rounds to a time, this says nothing",
		    err))
		return false;
	if (!suite->is_exact && !suite->is_measured &&
		!warn_of_benchmarks(work, has_no_iterations,
			"is compared per execution, since its number of iterations is not known; if it runs for a fixed time, this says nothing",
			"are compared per execution, since their numbers of iterations are not known; if they run for a fixed time, this says nothing",
			err))
		return false;
	return warn_of_benchmarks(work, is_added, "is only in head", "are only in head", err) &&
	       warn_of_benchmarks(work, is_removed, "is only in base", "are only in base", err);
}

bool suite_warn(const struct suite_work *work, struct error *err)
{
	struct diff_suite *suite = work->suite;

	suite->warnings = memory_zeroed(MAX_WARNINGS, sizeof(*suite->warnings));
	if (suite->sides == 1)
		return true;
	return suite_environment_compare_facts(suite, err) && compare_libraries(suite, err) &&
	       suite_environment_check_exits(suite, DIFF_BASE, err) &&
	       suite_environment_check_exits(suite, DIFF_HEAD, err) && say_single(suite, err) &&
	       say_common(suite, err) && say_waiting(work, err) && warn_of_missing(work, err);
}
