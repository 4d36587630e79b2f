/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/suite_view.h"

#include "cli/cli.h"

#include <string.h>

/* Benchmarks that are explained: a page can show others than those that differ. */
enum { MOST_EXPLAINED = 20, MOST_ON_PAGE = 64, MOST_LISTED = 3 };

void suite_view_deinit(struct suite_view *view)
{
	for (size_t i = 0; i < view->count; i++)
		diff_part_deinit(&view->details[i]);
	for (size_t i = 0; i < view->made_count; i++)
		lines_made_deinit(&view->made[i]);
	free(view->details);
	free(view->made);
	free(view->parts);
	free(view->title);
	*view = (struct suite_view){ 0 };
}

static bool reserve(struct suite_view *view, size_t count, struct error *err)
{
	view->details = calloc(count, sizeof(*view->details));
	view->parts = calloc(count, sizeof(*view->parts));
	return (view->details && view->parts) || error_set_memory(err);
}

static bool suite_view_explain(struct suite_view *view, uint32_t benchmark, struct error *err)
{
	struct diff_part *details = &view->details[view->count];

	if (!diff_suite_explain(view->suite, benchmark, details, err))
		return false;
	view->parts[view->count++] = (struct render_part){ .benchmark = benchmark,
		.input = { .diff = details->diff,
			.profiles = { details->profiles[DIFF_BASE], details->profiles[DIFF_HEAD] },
			.title = view->title,
			.names = { view->names[DIFF_BASE], view->names[DIFF_HEAD] },
			.tool = CLI_TOOL,
			.origin_rule_text = output_rule_text } };
	return true;
}

/* Leaves out a benchmark of which nothing was recorded: a harness may have measured it all the same. */
static bool explain_if_recorded(struct suite_view *view, uint32_t benchmark, struct error *err)
{
	struct error why;

	if (suite_view_explain(view, benchmark, &why) || why.code == ERROR_EMPTY)
		return true;
	*err = why;
	return false;
}

static size_t suite_view_lesser(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Lists the functions of all parts for a page; for a comment those of the first benchmarks that differ. */
static bool list_lines(struct suite_view *view, const struct outputs *outputs, struct error *err)
{
	bool by_page = outputs->paths[OUTPUT_HTML], by_comment = outputs->paths[OUTPUT_MARKDOWN];
	size_t commented = 0;

	if (!outputs->lines || (!by_page && !by_comment))
		return true;
	if (!ARRAY_ZEROED(&view->made, view->count + 1, err))
		return false;
	for (size_t i = 0; i < view->count; i++) {
		struct render_input *input = &view->parts[i].input;
		struct lines_made *made = &view->made[view->made_count];
		struct lines_wanted wanted = { .by_page = by_page };

		if (by_comment && i < view->told && commented < MOST_LISTED &&
			view->parts[i].benchmark != DIFF_ALL_BENCHMARKS && input->diff->sides == DIFF_SIDES)
			wanted.by_comment = ++commented > 0;
		if (!wanted.by_page && !wanted.by_comment)
			continue;
		view->made_count++;
		if (!lines_make(outputs->lines, &wanted, outputs->worker, input, made, err))
			return false;
		input->listing = made->listing;
	}
	return true;
}

bool suite_view_all(struct suite_view *view, const struct outputs *outputs, const struct diff_suite *suite,
	const char *const names[DIFF_SIDES], struct error *err)
{
	/* Benchmarks that are proven to be slower or faster come first in the suite. */
	size_t changed =
		suite->sides == DIFF_SIDES ? suite->verdicts[DIFF_REGRESSED] + suite->verdicts[DIFF_IMPROVED] : 0;
	size_t told = suite_view_lesser(changed, MOST_EXPLAINED);
	size_t shown = outputs->paths[OUTPUT_HTML] ? suite_view_lesser(suite->benchmark_count, MOST_ON_PAGE) : told;

	*view = (struct suite_view){ .suite = suite, .names = { names[DIFF_BASE], names[DIFF_HEAD] } };
	if (!reserve(view, 1 + shown, err) || !explain_if_recorded(view, DIFF_ALL_BENCHMARKS, err))
		return false;
	for (uint32_t i = 0; i < shown; i++) {
		if (i == told)
			view->told = view->count;
		if (!explain_if_recorded(view, i, err))
			return false;
	}
	if (shown == told)
		view->told = view->count;
	return list_lines(view, outputs, err);
}

static bool suite_view_make_title(struct suite_view *view, uint32_t benchmark, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer title = { 0 }, raw = { 0 };

	/* It is printed as it is. */
	buffer_init(&title, (size_t)1 << 20);
	buffer_init(&raw, (size_t)1 << 20);
	render_benchmark_title(view->suite, benchmark, &raw);
	if (!buffer_ok(&raw, err))
		return false;
	unicode_append_clean(&title, raw.data);
	if (!buffer_ok(&title, err))
		return false;
	view->title = TAKE(title.data);
	return true;
}

bool suite_view_one(struct suite_view *view, const struct diff_suite *suite, const char *benchmark,
	const char *const names[DIFF_SIDES], struct error *err)
{
	const struct diff_benchmark *found;
	uint32_t number;

	*view = (struct suite_view){ .suite = suite, .names = { names[DIFF_BASE], names[DIFF_HEAD] } };
	if (!diff_suite_find(suite, benchmark, &number, err))
		return false;
	found = &suite->benchmarks[number];
	if (!reserve(view, 1, err) || !suite_view_make_title(view, number, err))
		return false;
	if (!suite_view_explain(view, number, err))
		return error_prefix(err, "benchmark %.200s", diff_suite_string(suite, found->name));
	if (suite->sides == DIFF_SIDES && found->presence != DIFF_IN_BOTH)
		cli_say("kelvin: only %s has the benchmark %s; it is shown alone\n",
			found->presence == DIFF_ADDED ? "head" : "base", diff_suite_string(suite, found->name));
	return true;
}

const struct diff *suite_view_diff(const struct suite_view *view)
{
	bool is_there = view->count > 0 && (view->title || view->parts[0].benchmark == DIFF_ALL_BENCHMARKS);

	return is_there ? view->parts[0].input.diff : NULL;
}

bool suite_view_write(const struct suite_view *view, const struct outputs *outputs, struct error *err)
{
	struct render_suite page = { .suite = view->suite,
		.parts = view->parts,
		.part_count = view->count,
		.names = { view->names[DIFF_BASE], view->names[DIFF_HEAD] },
		.tool = CLI_TOOL };
	struct render_suite other = page;

	if (view->title)
		return outputs_write(outputs, &view->parts[0].input, err);
	other.part_count = view->told;
	return outputs_write_suite(outputs, &page, &other, err);
}

bool suite_view_check(const struct profile *profile, const char *name, struct error *err)
{
	return profile_has_phases(profile) ||
	       error_set(err, ERROR_USAGE,
		       "--benchmark: %.200s has no benchmarks; 'kelvin record --benchmarks -- COMMAND' records them",
		       name);
}
