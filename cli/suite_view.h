/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/output.h"
#include "render/render.h"

/*
 * The parts of a suite of benchmarks that outputs show: all of them, of which those that differ are explained, or a
 * single one as an ordinary diff or report.
 */
struct suite_view {
	const struct diff_suite *suite; /* borrowed */
	const char *names[DIFF_SIDES];  /* borrowed: the user's names of the sides */
	struct diff_part *details;      /* owned, as those of `parts` */
	struct render_part *parts;      /* owned; the first is all benchmarks together, if anything was recorded */
	size_t count;
	size_t told;             /* parts that outputs other than the page show */
	struct lines_made *made; /* owned: listings of some parts */
	size_t made_count;
	char *title; /* owned; of a single benchmark; NULL: all are shown */
};

/* Computes what `outputs` need of all benchmarks. The view is to be released in any case. */
COMMON_MUST_CHECK
bool suite_view_all(struct suite_view *view, const struct outputs *outputs, const struct diff_suite *suite,
	const char *const names[DIFF_SIDES], struct error *err);

/* Shows the benchmark that the user named by its URI or name. The view is to be released in any case. */
COMMON_MUST_CHECK
bool suite_view_one(struct suite_view *view, const struct diff_suite *suite, const char *benchmark,
	const char *const names[DIFF_SIDES], struct error *err);
void suite_view_deinit(struct suite_view *view);

/* Returns the functions of all benchmarks together, or of the single one; NULL: nothing was recorded of them. */
const struct diff *suite_view_diff(const struct suite_view *view);

/* Renders and writes all outputs. */
COMMON_MUST_CHECK
bool suite_view_write(const struct suite_view *view, const struct outputs *outputs, struct error *err);

/* ERROR_USAGE, with what to do, unless the profile, which the user calls so, has benchmarks. */
COMMON_MUST_CHECK
bool suite_view_check(const struct profile *profile, const char *name, struct error *err);
