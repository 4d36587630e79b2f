/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/suite.h"

#include <stdlib.h>

/* Two profiles of suites of benchmarks, compared benchmark by benchmark, explained and shown; or one alone. Input: as
 * of fuzz_diff: the size of the first (16 bits; 0: there is none), the first, the second. */

enum { MAX_OUTPUT_BYTES = 1 << 26, MOST_EXPLAINED = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
		if (!diff_changed_line(part->diff, (const struct profile *const *)part->profiles, i, &line, &err))
			abort();
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

static struct profile *take_profile(struct byte_reader *r, size_t size, const char *name)
{
	struct profile *profile;
	struct error err;
	const void *bytes;

	size = size < byte_reader_left(r) ? size : byte_reader_left(r);
	bytes = byte_reader_bytes(r, size);
	return bytes && profile_read(bytes, size, name, &profile, &err) ? profile : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct byte_reader r = byte_reader_over(data, size);
	size_t first = byte_reader_u16(&r);
	CLEANUP(profile_cleanup) struct profile *base = take_profile(&r, first, "base");
	CLEANUP(profile_cleanup) struct profile *head = take_profile(&r, byte_reader_left(&r), "head");

	if (head && (base || first == 0))
		show(base, head);
	return 0;
}
