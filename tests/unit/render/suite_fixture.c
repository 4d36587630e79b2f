/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "suite_fixture.h"

#include "tests/unit/support/profile.h"
#include "written_fixture.h"

#include <math.h>
#include <string.h>

enum { RUNS = 5 };
static const double us = 1e3;

/* ---- Profiles ---- */

struct sampled_line {
	const char *function, *file;
	uint32_t definition, line;
	int64_t us[DIFF_SIDES]; /* CPU time of a run */
	bool is_called;         /* by the line before it, of the C library */
};

static uint32_t add_location(struct profile *profile, enum diff_side side, const struct sampled_line *line)
{
	struct profile_mapping mapping = { .end = 1 << 20,
		.path = profile_id(profile, "/srv/parser"),
		.build_id = profile_id(profile, side == DIFF_BASE ? "abcd" : "dcba") };
	struct profile_function function = { .name = profile_id(profile, line->function),
		.file = profile_id(profile, line->file),
		.start_line = line->definition,
		.module = profile_id(profile, line->is_called ? "libc.so" : "parser"),
		.origin = line->is_called ? PROFILE_ORIGIN_SYSTEM : PROFILE_ORIGIN_USER,
		.name_source = PROFILE_NAME_DWARF };
	struct profile_line row = { .line = line->line };
	uint32_t mapping_id, location;
	struct error err;

	must(profile_add_mapping(profile, &mapping, &mapping_id, &err) &&
			profile_add_function(profile, &function, &row.function, &err) &&
			profile_add_location(
				profile, mapping_id, line->definition * 100 + line->line, &location, &err) &&
			profile_set_lines(profile, location, &row, 1, &err),
		&err);
	return location;
}

static void add_samples(struct profile *profile, uint32_t run, enum diff_side side)
{
	static const struct sampled_line lines[] = {
		{ "parse_number", "src/json.c", 38, 41, { 400000, 700000 } },
		{ "parse_number", "src/json.c", 38, 44, { 90000, 90000 } },
		{ "skip_space", "src/json.c", 12, 14, { 600000, 600000 } },
		{ "check_utf8", "src/text.c", 80, 83, { 150000, 60000 } },
		{ "memcpy", "", 1, 0, { 20000, 50000 }, true },
	};
	struct profile_thread thread = { .run = run, .pid = 10, .tid = 10 };
	uint32_t thread_id, main_stack, stack = 0;
	struct error err;

	must(profile_add_thread(profile, &thread, &thread_id, &err) &&
			profile_add_stack(profile, 0,
				add_location(profile, side, &(struct sampled_line){ "main", "src/main.c", 5, 9 }),
				&main_stack, &err),
		&err);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		/* Runs differ by up to 1 %. */
		int64_t ns = lines[i].us[side] * (995 + (int64_t)((run * 7 + i * 3 + side) % 11)), count = ns / 1000000;

		must(profile_add_stack(profile, lines[i].is_called ? stack : main_stack,
			     add_location(profile, side, &lines[i]), &stack, &err) &&
				profile_add_sample(profile, stack, thread_id, (int64_t[]){ count, ns }, -1, &err),
			&err);
	}
}

static struct profile *make_profile(enum diff_side side)
{
	struct profile_run run = { .duration_ns = 1500000000, .exit_status = 0 };
	struct profile *profile;
	struct error err;

	must(profile_create(&profile, &err) && profile_add_value_type(profile, "cpu", "nanoseconds", &err), &err);
	for (uint32_t i = 0, id; i < RUNS; i++) {
		must(profile_add_run(profile, &run, &id, &err), &err);
		add_samples(profile, id, side);
	}
	profile->facts.command = profile_id(profile, side == DIFF_BASE ? "./bench --old" : "./bench --new");
	profile->quality = (struct profile_quality){ .samples = 6200, .stops = { [PROFILE_STOP_ROOT] = 6200 } };
	must(profile_finish(profile, &err), &err);
	return profile;
}

/* ---- Suites ---- */

static uint32_t suite_id(struct diff_suite *suite, const char *text)
{
	struct error err;
	uint32_t id;

	must(string_table_add(suite->strings, text, strlen(text), &id, &err), &err);
	return id;
}

static struct diff_benchmark make_benchmark(
	struct diff_suite *suite, const char *uri, enum diff_verdict verdict, double base_us, double change)
{
	const char *name = strrchr(uri, ':');

	return (struct diff_benchmark){ .uri = suite_id(suite, uri),
		.name = suite_id(suite, name ? name + 1 : uri),
		.verdict = verdict,
		.value = { base_us * us, base_us * us * (1 + change) },
		.change = change,
		.change_low = change - (verdict == DIFF_INCONCLUSIVE ? 0.02 : 0.004),
		.change_high = change + (verdict == DIFF_INCONCLUSIVE ? 0.021 : 0.005),
		.p = 0.001,
		.q = verdict == DIFF_UNCHANGED ? 0.6 : 0.004,
		.executions = { RUNS, RUNS },
		.rounds = { 250, 240 },
		.iterations = { 500000, 490000 } };
}

static void make_side_only(struct diff_benchmark *b, enum diff_presence presence)
{
	enum diff_side other = presence == DIFF_ADDED ? DIFF_BASE : DIFF_HEAD;

	b->presence = presence;
	b->value[other] = b->change = b->change_low = b->change_high = b->p = b->q = NAN;
	b->executions[other] = b->rounds[other] = b->iterations[other] = 0;
}

static void count_verdicts(struct diff_suite *suite)
{
	for (size_t i = 0; i < suite->benchmark_count; i++) {
		const struct diff_benchmark *b = &suite->benchmarks[i];

		suite->verdicts[b->verdict] += b->presence == DIFF_IN_BOTH;
		suite->added += b->presence == DIFF_ADDED;
		suite->removed += b->presence == DIFF_REMOVED;
	}
}

static void add_warnings(struct diff_suite *suite, const char *const *texts, size_t count)
{
	suite->warnings = calloc(count, sizeof(*suite->warnings));
	assert_non_null(suite->warnings);
	suite->warning_count = count;
	for (size_t i = 0; i < count; i++)
		suite->warnings[i] = (struct diff_warning){ .text = suite_id(suite, texts[i]), .blocks_gate = i == 0 };
}

static void make_parser(struct diff_suite *suite)
{
	enum { NAMED = 6, UNCHANGED = 30 };
	static const char *const warnings[] = {
		"the CPUs differ: base AMD EPYC 7763, head Intel Xeon 8370C",
		"the compilers differ: base gcc 12.2.0, head gcc 13.1.0",
	};
	struct diff_benchmark *b = calloc(NAMED + UNCHANGED, sizeof(*b));

	assert_non_null(b);
	suite->benchmarks = b;
	suite->benchmark_count = NAMED + UNCHANGED;
	b[0] = make_benchmark(suite, "tests/bench.cpp::parse[numbers]", DIFF_REGRESSED, 12.4, 0.212);
	b[1] = make_benchmark(suite, "tests/bench.cpp::dump[small]", DIFF_IMPROVED, 0.0321, -0.0714);
	b[2] = make_benchmark(suite, "tests/bench.cpp::parse[strings]", DIFF_INCONCLUSIVE, 31.2, 0.008);
	b[2].change_low = 0.001;
	b[3] = make_benchmark(suite, "tests/bench.cpp::parse[empty]", DIFF_MINOR, 2600, 0.0061);
	b[4] = make_benchmark(suite, "tests/bench.cpp::parse[comments]", DIFF_UNCHANGED, 700, 0);
	make_side_only(&b[4], DIFF_ADDED);
	b[5] = make_benchmark(suite, "tests/bench.cpp::parse[bom]", DIFF_UNCHANGED, 1500, 0);
	make_side_only(&b[5], DIFF_REMOVED);
	for (size_t i = 0; i < UNCHANGED; i++) {
		char uri[64];

		snprintf(uri, sizeof(uri), "tests/bench.cpp::format[%zu]", i);
		b[NAMED + i] =
			make_benchmark(suite, uri, DIFF_UNCHANGED, 10 * (double)(i + 1), 0.0004 * (double)(i % 5));
	}
	suite->verdict = DIFF_MIXED;
	suite->verdict_text =
		suite_id(suite, "1 of 34 benchmarks is slower: parse[numbers] by 21.2 % (20.8 to 21.7 %); 1 is faster");
	add_warnings(suite, warnings, 2);
}

static void make_hostile(struct diff_suite *suite)
{
	static const char *const uris[] = { "</details><script>alert(1)</script>|@all|",
		"\033[2J\033]0;owned\007\r\n\tx", "\xff\xfe broken \xe2\x82", "\xe2\x80\xaegnp.exe", "",
		"`a` **b** <!-- kelvin-diff -->" };
	enum { COUNT = sizeof(uris) / sizeof(uris[0]) };
	static const char *const warnings[] = { "\033[31mred `code` <b>", "a\nb" };

	suite->benchmarks = calloc(COUNT, sizeof(*suite->benchmarks));
	assert_non_null(suite->benchmarks);
	suite->benchmark_count = COUNT;
	for (size_t i = 0; i < COUNT; i++)
		suite->benchmarks[i] = make_benchmark(suite, uris[i], (enum diff_verdict)(i % 4), 1, 0.1);
	suite->benchmarks[1].value[DIFF_BASE] = NAN;
	suite->benchmarks[2].change = INFINITY;
	suite->benchmarks[3].change_low = -INFINITY;
	suite->benchmarks[4].q = NAN;
	suite->verdict = DIFF_INCONCLUSIVE;
	suite->verdict_text = suite_id(suite, "head | takes <b>more</b> `time`\n## heading");
	add_warnings(suite, warnings, 2);
}

static void make_large(struct diff_suite *suite)
{
	enum { COUNT = 10000, SLOWER = 4000 };

	suite->benchmarks = calloc(COUNT, sizeof(*suite->benchmarks));
	assert_non_null(suite->benchmarks);
	suite->benchmark_count = COUNT;
	for (size_t i = 0; i < COUNT; i++) {
		char uri[80];

		snprintf(uri, sizeof(uri), "tests/bench_%zu.py::test_with_a_long_name_<like|these>[%zu]", i / 100, i);
		suite->benchmarks[i] = make_benchmark(
			suite, uri, i < SLOWER ? DIFF_REGRESSED : DIFF_UNCHANGED, 10, i < SLOWER ? 0.2 : 0);
	}
	suite->verdict = DIFF_REGRESSED;
	suite->verdict_text = suite_id(suite, "4,000 of 10,000 benchmarks are slower");
}

static void make_suite(struct diff_suite *suite, enum suite_fixture_kind kind)
{
	struct error err;

	*suite = (struct diff_suite){ .sides = kind == SUITE_SINGLE ? 1 : 2,
		.is_measured = true,
		.executions = { RUNS, RUNS },
		.options = { .diff = { .q = 0.05, .runs_in_pairs = true }, .precision = 0.01 } };
	must(string_table_create((size_t)1 << 30, &suite->strings, &err), &err);
	suite->metric = suite_id(suite, "cpu");
	suite->metric_words = suite_id(suite, "time per iteration");
	suite->unit = suite_id(suite, "nanoseconds");
	switch (kind) {
	case SUITE_PARSER:
	case SUITE_SINGLE:
		make_parser(suite);
		break;
	case SUITE_HOSTILE:
		make_hostile(suite);
		break;
	case SUITE_LARGE:
		make_large(suite);
		break;
	}
	if (kind == SUITE_SINGLE) {
		suite->warning_count = 0;
		for (size_t i = 0; i < suite->benchmark_count; i++)
			suite->benchmarks[i].presence = DIFF_ADDED;
		suite->benchmarks[5] = make_benchmark(suite, "tests/bench.cpp::parse[bom]", DIFF_UNCHANGED, 1500, 0);
	}
	count_verdicts(suite);
}

/* The head's runs as parts that a harness measured, for the spread of their rounds. */
static void name_runs(struct profile *profile)
{
	for (size_t i = 0; i < profile->run_count; i++) {
		profile->runs[i].name = profile_id(profile, "tests/bench.cpp::parse[numbers]");
		profile->runs[i].measured = (struct profile_measured){
			.rounds = 50, .iterations = 100000, .mean_ns = 15000, .stdev_ns = 300
		};
	}
}

void suite_fixture_create(struct suite_fixture *fixture, enum suite_fixture_kind kind)
{
	struct diff_options options = { .scale = DIFF_SCALE_PER_RUN };
	bool single = kind == SUITE_SINGLE;
	struct error err;

	*fixture = (struct suite_fixture){ .profiles = {
						   single ? NULL : make_profile(DIFF_BASE), make_profile(DIFF_HEAD) } };
	for (uint32_t i = 0; i < 2; i++) {
		must(single ? diff_create_single(fixture->profiles[DIFF_HEAD], &options, &fixture->diffs[i], &err)
			    : diff_create(fixture->profiles[DIFF_BASE], fixture->profiles[DIFF_HEAD], &options,
				      &fixture->diffs[i], &err),
			&err);
		fixture->parts[i] = (struct render_part){ .benchmark = i == 0 ? DIFF_ALL_BENCHMARKS : 0,
			.input = { .diff = fixture->diffs[i],
				.profiles = { fixture->profiles[DIFF_BASE], fixture->profiles[DIFF_HEAD] },
				.names = { "before.pb.gz", "after.pb.gz" },
				.tool = "kelvin 0.1.0" } };
	}
	name_runs(fixture->profiles[DIFF_HEAD]);
	make_suite(&fixture->suite, kind);
	fixture->suite.profiles[DIFF_BASE] = fixture->profiles[DIFF_BASE];
	fixture->suite.profiles[DIFF_HEAD] = fixture->profiles[DIFF_HEAD];
	fixture->input = (struct render_suite){ .suite = &fixture->suite,
		.parts = fixture->parts,
		.part_count = 2,
		.names = { "before.pb.gz", "after.pb.gz" },
		.tool = "kelvin 0.1.0" };
}

void suite_fixture_destroy(struct suite_fixture *fixture)
{
	free(fixture->suite.benchmarks);
	free(fixture->suite.warnings);
	string_table_destroy(fixture->suite.strings);
	for (int i = 0; i < 2; i++) {
		diff_destroy(fixture->diffs[i]);
		profile_destroy(fixture->profiles[i]);
	}
}

/* ---- Writing ---- */

char *suite_fixture_text(const struct suite_fixture *fixture, unsigned int width, bool colour)
{
	struct render_text_options options = { .width = width, .is_whole = width == 0, .colour = colour };
	struct buffer out;
	struct error err;

	buffer_init(&out, (size_t)64 << 20);
	return written(&out, render_suite_text(&fixture->input, &options, &out, &err), &err);
}

char *suite_fixture_json(const struct suite_fixture *fixture)
{
	struct buffer out;
	struct error err;

	buffer_init(&out, (size_t)64 << 20);
	return written(&out, render_suite_json(&fixture->input, &out, &err), &err);
}

char *suite_fixture_markdown(const struct suite_fixture *fixture)
{
	struct buffer out;
	struct error err;

	buffer_init(&out, (size_t)64 << 20);
	return written(&out, render_suite_markdown(&fixture->input, &out, &err), &err);
}
