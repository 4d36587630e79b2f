/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "kinds_suite.h"

#include "maker.h"
#include "render/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 6, MAX_PARTS = 16, LARGE = 10000, MAX_URI = 160 };

#define MAIN "__libc_start_main!libc.so@s;main"

/* ---- The known suite ---- */

struct known_benchmark {
	const char *name, *uri;
	enum diff_verdict verdict;
	double base_ns, head_ns;        /* NAN: the side lacks it */
	double change_low, change_high; /* of head in parts of base */
	bool has_part;
};

static const struct known_benchmark known[] = {
	{ "test_parse[10]", "tests/test_parse.py::test_parse[10]", DIFF_REGRESSED, 1.2e6, 1.35e6, 0.09, 0.16, true },
	{ "TestPage::test_render", "tests/test_page.py::TestPage::test_render", DIFF_REGRESSED, 80e3, 85.6e3, 0.05,
		0.09, true },
	{ "test_sort", "tests/test_sort.py::test_sort", DIFF_IMPROVED, 5e6, 4e6, -0.22, -0.18, true },
	{ "test_fork", "tests/test_fork.py::test_fork", DIFF_INCONCLUSIVE, 20e6, 20.8e6, -0.03, 0.11, false },
	{ "test_hash", "tests/test_hash.py::test_hash", DIFF_MINOR, 900, 903.6, 0.003, 0.005, false },
	{ "test_audit", "tests/test_audit.py::test_audit", DIFF_UNCHANGED, NAN, 3e6, NAN, NAN, true },
	{ "test_cache", "tests/test_cache.py::test_cache", DIFF_UNCHANGED, 2e6, NAN, NAN, NAN, true },
	{ "test_lex", "tests/test_parse.py::test_lex", DIFF_UNCHANGED, 400e3, 400.4e3, -0.004, 0.006, true },
	{ "test_matrix[a rather long parameter that names a file: data/2026-11-23/measurements.csv]",
		"tests/test_matrix.py::test_matrix[a rather long parameter that names a file: data/2026-11-23/measurements.csv]",
		DIFF_UNCHANGED, 1.5e9, 1.5e9, -0.006, 0.006, false },
	{ "fib(20)", "bench/fib.cpp::fib(20)", DIFF_UNCHANGED, 21.4e3, 21.4e3, -0.001, 0.002, false },
};
enum { KNOWN = sizeof(known) / sizeof(known[0]) };

static const char *const known_warnings[] = {
	"Base ran on Intel Xeon 8370C, head on AMD EPYC 7763: times of different CPUs do not compare.",
	"Base was built with rustc 1.88.0, head with rustc 1.89.0.",
};

/* ---- Profiles of parts ---- */

static int side_ms(double ns)
{
	return isnan(ns) ? 0 : 400;
}

/* A benchmark's measured function has a helper that takes all of the change. */
static struct profile *part_profile(const struct known_benchmark *b, int side)
{
	double ns = side ? b->head_ns : b->base_ns, other = side ? b->base_ns : b->head_ns;
	struct maker maker = maker_create("pytest --codspeed", side ? "22" : "11");
	char name[32], stack[160];
	int more = side && !isnan(other) ? (int)lround(side_ms(ns) * (ns / other - 1)) : 0;

	snprintf(name, sizeof(name), "%.20s", strchr(b->name, '_') ? strchr(b->name, '_') + 1 : b->name);
	name[strcspn(name, "[;!@#")] = '\0';
	for (int run = 0; run < RUNS; run++) {
		int jitter = run * 7 % 5 - 2;

		maker_run(&maker, "pytest", 600);
		snprintf(stack, sizeof(stack), MAIN ";run_%s;setup", name);
		maker_add(&maker, maker_stack_of(&maker, stack), 200 + jitter, 0);
		snprintf(stack, sizeof(stack), MAIN ";run_%s;work_of_%s#~", name, name);
		maker_add(&maker, maker_stack_of(&maker, stack), 200 + more - jitter, 250);
	}
	return maker_finish(&maker);
}

/* All benchmarks in one profile. */
static struct profile *all_profile(int side)
{
	struct maker maker = maker_create("pytest --codspeed", side ? "22" : "11");

	for (int run = 0; run < RUNS; run++) {
		maker_run(&maker, "pytest", 1200);
		maker_add(&maker, maker_stack_of(&maker, MAIN ";parse#~"), 300 + 40 * side + run % 3, 0);
		maker_add(&maker, maker_stack_of(&maker, MAIN ";sort#~"), 300 - 60 * side + run % 2, 400);
		maker_add(&maker, maker_stack_of(&maker, MAIN ";steady"), 400 + run % 3, 800);
	}
	return maker_finish(&maker);
}

struct suite_maker {
	struct diff_suite suite;
	struct render_part parts[MAX_PARTS];
	struct profile *profiles[MAX_PARTS][DIFF_SIDES]; /* owned */
	struct diff *diffs[MAX_PARTS];                   /* owned */
	size_t part_count;
};

static uint32_t suite_text(struct suite_maker *maker, const char *text)
{
	struct error err;
	uint32_t id;

	maker_check(string_table_add(maker->suite.strings, text, strlen(text), &id, &err), &err);
	return id;
}

/* The profiles become the maker's. */
static void suite_part(struct suite_maker *maker, uint32_t benchmark, struct profile *base, struct profile *head)
{
	struct diff_options options = { .scale = DIFF_SCALE_PER_RUN };
	size_t i = maker->part_count++;
	struct render_part *part = &maker->parts[i];
	struct error err;

	if (base && head)
		maker_check(diff_create(base, head, &options, &maker->diffs[i], &err), &err);
	else
		maker_check(diff_create_single(head ? head : base, &options, &maker->diffs[i], &err), &err);
	maker->profiles[i][DIFF_BASE] = base;
	maker->profiles[i][DIFF_HEAD] = head;
	part->benchmark = benchmark;
	part->input.diff = maker->diffs[i];
	part->input.tool = "kelvin test";
	part->input.profiles[DIFF_BASE] = base && head ? base : NULL;
	part->input.profiles[DIFF_HEAD] = head ? head : base;
}

static void suite_init(struct suite_maker *maker, size_t sides, size_t benchmarks)
{
	struct diff_suite *suite = &maker->suite;
	struct error err;

	memset(maker, 0, sizeof(*maker));
	maker_check(string_table_create((size_t)1 << 24, &suite->strings, &err), &err);
	suite->sides = sides;
	suite->options.precision = 0.01;
	suite->is_measured = true;
	suite->metric = suite_text(maker, "time per iteration");
	suite->metric_words = suite->metric;
	suite->unit = suite_text(maker, "nanoseconds");
	suite->executions[DIFF_BASE] = suite->executions[DIFF_HEAD] = 5;
	suite->verdict_text = suite_text(maker, "");
	suite->benchmarks = calloc(benchmarks, sizeof(*suite->benchmarks));
	suite->warnings = calloc(2, sizeof(*suite->warnings));
	if (!suite->benchmarks || !suite->warnings)
		exit(EXIT_FAILURE);
}

static void suite_deinit(struct suite_maker *maker)
{
	for (size_t i = 0; i < maker->part_count; i++) {
		diff_destroy(maker->diffs[i]);
		profile_destroy(maker->profiles[i][DIFF_BASE]);
		profile_destroy(maker->profiles[i][DIFF_HEAD]);
	}
	free(maker->suite.benchmarks);
	free(maker->suite.warnings);
	string_table_destroy(maker->suite.strings);
}

static void suite_add(struct suite_maker *maker, const struct known_benchmark *known_one)
{
	struct diff_suite *suite = &maker->suite;
	struct diff_benchmark *b = &suite->benchmarks[suite->benchmark_count++];
	bool single = suite->sides == 1;

	b->uri = suite_text(maker, known_one->uri);
	b->name = suite_text(maker, known_one->name);
	b->verdict = known_one->verdict;
	b->presence = single                      ? DIFF_IN_BOTH
		      : isnan(known_one->base_ns) ? DIFF_ADDED
		      : isnan(known_one->head_ns) ? DIFF_REMOVED
						  : DIFF_IN_BOTH;
	b->value[DIFF_BASE] = single ? NAN : known_one->base_ns;
	b->value[DIFF_HEAD] = known_one->head_ns;
	b->change = single ? NAN : known_one->head_ns / known_one->base_ns - 1;
	b->change_low = single ? NAN : known_one->change_low;
	b->change_high = single ? NAN : known_one->change_high;
	b->more_executions = b->verdict == DIFF_INCONCLUSIVE ? 14 : 0;
	b->p = b->q = NAN;
	for (int side = 0; side < DIFF_SIDES; side++) {
		b->executions[side] = isnan(b->value[side]) ? 0 : 5;
		b->rounds[side] = b->executions[side] * 48;
		b->iterations[side] = b->rounds[side] * 14;
	}
}

static void make_suite(struct suite_maker *maker)
{
	struct diff_suite *suite = &maker->suite;

	suite_init(maker, DIFF_SIDES, KNOWN);
	suite_part(maker, DIFF_ALL_BENCHMARKS, all_profile(DIFF_BASE), all_profile(DIFF_HEAD));
	for (size_t i = 0; i < KNOWN; i++) {
		suite_add(maker, &known[i]);
		if (known[i].has_part)
			suite_part(maker, (uint32_t)i,
				isnan(known[i].base_ns) ? NULL : part_profile(&known[i], DIFF_BASE),
				isnan(known[i].head_ns) ? NULL : part_profile(&known[i], DIFF_HEAD));
	}
	for (size_t i = 0; i < 2; i++)
		suite->warnings[suite->warning_count++].text = suite_text(maker, known_warnings[i]);
	suite->verdict = DIFF_MIXED;
	suite->verdict_text = suite_text(maker,
		"2 of 8 benchmarks are slower: test_parse[10] by 12.5 % (9 to 16 %), TestPage::test_render by 7 % (5 to 9 %); 1 is faster: test_sort by 20 % (18 to 22 %)");
	suite->profiles[DIFF_BASE] = maker->profiles[0][DIFF_BASE];
	suite->profiles[DIFF_HEAD] = maker->profiles[0][DIFF_HEAD];
}

static void make_single(struct suite_maker *maker)
{
	suite_init(maker, 1, KNOWN);
	suite_part(maker, DIFF_ALL_BENCHMARKS, NULL, all_profile(DIFF_HEAD));
	for (size_t i = 0; i < KNOWN; i++) {
		if (isnan(known[i].head_ns))
			continue;
		if (known[i].has_part)
			suite_part(maker, (uint32_t)maker->suite.benchmark_count, NULL,
				part_profile(&known[i], DIFF_HEAD));
		suite_add(maker, &known[i]);
	}
	maker->suite.verdict_text = suite_text(maker, "9 benchmarks in 5 executions");
	maker->suite.profiles[DIFF_HEAD] = maker->profiles[0][DIFF_HEAD];
}

/* Exact counts of a simulation: no intervals, no rounds. */
static void make_exact(struct suite_maker *maker)
{
	static const double counts[][DIFF_SIDES] = { { 1234567, 1334567 }, { 900000, 900000 }, { 52000, 48000 } };
	struct diff_suite *suite = &maker->suite;

	suite_init(maker, DIFF_SIDES, 3);
	for (size_t i = 0; i < 3; i++) {
		struct diff_benchmark *b = &suite->benchmarks[i];

		suite_add(maker, &known[i]);
		memcpy(b->value, counts[i], sizeof(b->value));
		b->change = counts[i][DIFF_HEAD] / counts[i][DIFF_BASE] - 1;
		b->change_low = b->change_high = NAN;
		b->rounds[0] = b->rounds[1] = b->iterations[0] = b->iterations[1] = 0;
		b->verdict = i == 1 ? DIFF_UNCHANGED : i ? DIFF_IMPROVED : DIFF_REGRESSED;
	}
	suite->is_measured = false;
	suite->is_exact = true;
	suite->metric = suite->metric_words = suite_text(maker, "instructions");
	suite->unit = suite_text(maker, "count");
	suite->verdict = DIFF_MIXED;
	suite->verdict_text = suite_text(maker, "1 of 3 benchmarks takes more instructions, 1 takes fewer");
	suite_part(maker, 0, part_profile(&known[0], DIFF_BASE), part_profile(&known[0], DIFF_HEAD));
	suite->profiles[DIFF_BASE] = maker->profiles[0][DIFF_BASE];
	suite->profiles[DIFF_HEAD] = maker->profiles[0][DIFF_HEAD];
}

/* 10,000 benchmarks, of which one has a part. */
static void make_large(struct suite_maker *maker)
{
	char uri[MAX_URI];

	suite_init(maker, DIFF_SIDES, LARGE);
	for (size_t i = 0; i < LARGE; i++) {
		double change = (double)(i * 7919 % 2000) / 1e4 - 0.1;
		struct known_benchmark one = { .uri = uri,
			.verdict = change > 0.05    ? DIFF_REGRESSED
				   : change < -0.05 ? DIFF_IMPROVED
						    : DIFF_UNCHANGED,
			.base_ns = 1e3 * (double)(i + 1),
			.head_ns = 1e3 * (double)(i + 1) * (1 + change),
			.change_low = change - 0.01,
			.change_high = change + 0.01 };

		snprintf(uri, sizeof(uri), "bench/test_%zu.py::test_case[%zu]", i / 100, i);
		one.name = strstr(uri, "::") + 2;
		suite_add(maker, &one);
	}
	maker->suite.verdict = DIFF_MIXED;
	maker->suite.verdict_text = suite_text(maker, "2,495 of 10,000 benchmarks are slower, 2,500 are faster");
	suite_part(maker, 0, part_profile(&known[0], DIFF_BASE), part_profile(&known[0], DIFF_HEAD));
	maker->suite.profiles[DIFF_BASE] = maker->profiles[0][DIFF_BASE];
	maker->suite.profiles[DIFF_HEAD] = maker->profiles[0][DIFF_HEAD];
}

/* Names are what foreign programs say. */
static void make_hostile(struct suite_maker *maker)
{
	static const char *const names[] = { "</script><img src=x onerror=window.hacked=1>", "\xff\xfe\x01 \x1b[31m",
		"", "__proto__", "a'b; rm -rf \"$HOME\"", "\u202e" /* text from right to left */ };
	enum { NAMES = sizeof(names) / sizeof(names[0]) };

	suite_init(maker, DIFF_SIDES, NAMES);
	for (size_t i = 0; i < NAMES; i++) {
		struct known_benchmark one = known[0];

		one.name = one.uri = names[i];
		suite_add(maker, &one);
		suite_part(maker, (uint32_t)i, part_profile(&known[0], DIFF_BASE), part_profile(&known[0], DIFF_HEAD));
	}
	maker->suite.warnings[maker->suite.warning_count++].text = suite_text(maker, names[0]);
	maker->suite.verdict = DIFF_REGRESSED;
	maker->suite.verdict_text = suite_text(maker, names[0]);
	maker->suite.profiles[DIFF_BASE] = maker->profiles[0][DIFF_BASE];
	maker->suite.profiles[DIFF_HEAD] = maker->profiles[0][DIFF_HEAD];
}

/* ---- A suite that is compared in earnest ---- */

enum { EXECUTIONS = 4, ROUNDS = 50, ITERATIONS = 500 };

static const struct made_benchmark {
	const char *uri, *stack;
	double ns[DIFF_SIDES]; /* 0: the side lacks it */
} made[] = {
	{ "tests/test_parse.py::test_parse", "bench;parse#~", { 2e6, 2.5e6 } },
	{ "tests/test_sort.py::test_sort", "bench;sort", { 5e6, 5e6 } },
	{ "tests/test_audit.py::test_audit", "bench;audit#~", { 0, 1e6 } },
};

/* A sample stands for a millisecond of the iterations. */
static struct profile *made_profile(int side)
{
	static const double off[] = { 1, 1.002, 0.998, 1.001 };
	struct maker maker = maker_create("pytest --codspeed", side ? "22" : "11");

	for (int execution = 0; execution < EXECUTIONS; execution++) {
		maker_run(&maker, "pytest", 10000);
		maker_add(&maker, maker_stack_of(&maker, "start"), 100, 0);
		for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
			double ns = made[i].ns[side] * off[(execution + (int)i) % EXECUTIONS];
			struct profile_run *run;
			struct error err;

			if (ns == 0)
				continue;
			maker_run(&maker, "pytest", (int64_t)(ns * ITERATIONS / 1e6));
			run = &maker.profile->runs[maker.run];
			maker_check(profile_intern(maker.profile, made[i].uri, &run->name, &err), &err);
			run->whole_command = false;
			run->exit_status = -1;
			run->measured = (struct profile_measured){ ROUNDS, ITERATIONS, ns, ns, ns / 100, ns / 700 };
			maker_add(&maker, maker_stack_of(&maker, made[i].stack), (int64_t)(ns * ITERATIONS / 1e6), 0);
		}
	}
	return maker_finish(&maker);
}

/* The suite with all its parts, made as a command makes them. */
static void made_page(size_t sides, struct buffer *page)
{
	CLEANUP(profile_cleanup) struct profile *base = sides == 2 ? made_profile(DIFF_BASE) : NULL;
	CLEANUP(profile_cleanup) struct profile *head = made_profile(DIFF_HEAD);
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = NULL;
	struct diff_suite_options options = { .diff.runs_in_pairs = true };
	struct diff_part explained[MAX_PARTS];
	struct render_part parts[MAX_PARTS];
	struct render_suite input = {
		.parts = parts, .names = { "before.pb.gz", "after.pb.gz" }, .tool = "kelvin test"
	};
	struct error err;

	maker_check(diff_suite_create(base, head, &options, &suite, &err), &err);
	input.suite = suite;
	input.part_count = suite->benchmark_count + 1;
	for (size_t i = 0; i < input.part_count; i++) {
		uint32_t benchmark = i ? (uint32_t)i - 1 : DIFF_ALL_BENCHMARKS;

		maker_check(diff_suite_explain(suite, benchmark, &explained[i], &err), &err);
		parts[i] = (struct render_part){ .benchmark = benchmark,
			.input = { .diff = explained[i].diff,
				.profiles = { explained[i].profiles[DIFF_BASE], explained[i].profiles[DIFF_HEAD] },
				.tool = "kelvin test" } };
	}
	maker_check(render_suite_html(&input, page, &err), &err);
	for (size_t i = 0; i < input.part_count; i++)
		diff_part_deinit(&explained[i]);
}

static void made_diff_page(struct buffer *page)
{
	made_page(2, page);
}

static void made_single_page(struct buffer *page)
{
	made_page(1, page);
}

/* ---- All of them ---- */

static const struct suite_kind {
	const char *name;
	void (*make)(struct suite_maker *maker);
	void (*page)(struct buffer *page); /* instead of `make` */
} suite_kinds[] = {
	{ "suite", make_suite },
	{ "suite-single", make_single },
	{ "suite-exact", make_exact },
	{ "suite-large", make_large },
	{ "suite-hostile", make_hostile },
	{ "suite-made", .page = made_diff_page },
	{ "suite-made-single", .page = made_single_page },
};

const struct suite_kind *suite_kind_find(const char *name)
{
	for (size_t i = 0; i < sizeof(suite_kinds) / sizeof(suite_kinds[0]); i++) {
		if (strcmp(suite_kinds[i].name, name) == 0)
			return &suite_kinds[i];
	}
	return NULL;
}

void suite_kind_page(const struct suite_kind *kind, struct buffer *page)
{
	struct suite_maker maker;
	struct render_suite input = { .suite = &maker.suite, .parts = maker.parts, .tool = "kelvin test" };
	struct error err;

	if (kind->page) {
		kind->page(page);
		return;
	}
	kind->make(&maker);
	input.part_count = maker.part_count;
	input.names[DIFF_BASE] = "before.pb.gz";
	input.names[DIFF_HEAD] = "after change.pb.gz";
	maker_check(render_suite_html(&input, page, &err), &err);
	suite_deinit(&maker);
}

void suite_kind_list(void)
{
	for (size_t i = 0; i < sizeof(suite_kinds) / sizeof(suite_kinds[0]); i++)
		puts(suite_kinds[i].name);
}
