/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/lines.h"
#include "render/suite.h"

#include "profile_pair.h"
#include "tests/fuzz/target.h"

#include <stdlib.h>

/* Two profiles of suites of benchmarks, compared benchmark by benchmark, explained and shown; or one alone.
 * Input: profile_pair.h. */

enum { MAX_OUTPUT_BYTES = 1 << 26, MOST_EXPLAINED = 3 };

static void render(const struct render_suite *input)
{
	const struct render_text_options text = { .rows = 5 };
	struct buffer out;
	struct error err;
	bool ok;

	buffer_init(&out, MAX_OUTPUT_BYTES);
	ok = render_suite_text(input, &text, &out, &err) && render_suite_json(input, &out, &err) &&
	     (input->suite->sides == 1 || render_suite_markdown(input, &out, &err)) &&
	     render_suite_html(input, &out, &err);
	/* What was compared can be shown, unless it is too large. */
	if (!ok && err.code != ERROR_LIMIT) {
		fprintf(stderr, "%s\n", err.message);
		abort();
	}
	buffer_deinit(&out);
}

static bool explain(const struct diff_suite *suite, uint32_t benchmark, struct diff_part *part)
{
	struct diff_line line;
	struct error err;

	if (!diff_suite_explain(suite, benchmark, part, &err))
		return false;
	for (uint32_t i = 0; i < part->diff->function_count && i < MOST_EXPLAINED; i++)
		diff_changed_line(part->diff, (const struct profile *const *)part->profiles, i, &line);
	return true;
}

static void show(const struct profile *base, const struct profile *head)
{
	struct diff_gate gate = { .subject = DIFF_GATE_FUNCTION, .percent = 5 };
	const struct diff_suite_options options = { .diff = {
							    .runs_in_pairs = true, .gates = &gate, .gate_count = 1 } };
	CLEANUP(diff_suite_cleanup) struct diff_suite *suite = NULL;
	struct diff_part parts[1 + MOST_EXPLAINED] = { 0 };
	struct render_part shown[1 + MOST_EXPLAINED];
	struct render_suite input = { .parts = shown, .names = { "base", "head" }, .tool = "fuzz" };
	struct error err;

	if (!diff_suite_create(base, head, &options, &suite, &err))
		return;
	input.suite = suite;
	/* All benchmarks together come first. */
	for (uint32_t i = 0; i <= MOST_EXPLAINED && i <= suite->benchmark_count; i++) {
		uint32_t benchmark = i == 0 ? DIFF_ALL_BENCHMARKS : i - 1;
		struct diff_part *part = &parts[input.part_count];

		if (!explain(suite, benchmark, part)) {
			if (i == 0)
				return;
			continue;
		}
		shown[input.part_count++] =
			(struct render_part){ benchmark, { .diff = part->diff,
								 .profiles = { part->profiles[0], part->profiles[1] },
								 .names = { "base", "head" },
								 .tool = "fuzz" } };
	}
	render(&input);
	for (size_t i = 0; i < input.part_count; i++)
		diff_part_deinit(&parts[i]);
}

bool fuzz_take(const uint8_t *data, size_t size)
{
	CLEANUP(profile_cleanup) struct profile *base = NULL;
	CLEANUP(profile_cleanup) struct profile *head = NULL;

	if (!profile_pair_take(data, size, &base, &head))
		return false;
	show(base, head);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_take(data, size);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	return mutation_run(data, size, max_size, seed, mutate_profile_pair);
}
