/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/suite.h"

/*
 * Suites made by hand, whose explained benchmarks are real diffs of two small profiles with lines. Failure to make one
 * fails the test.
 */
struct suite_fixture {
	struct diff_suite suite;
	struct profile *profiles[DIFF_SIDES]; /* of the suite, and of each part */
	struct diff *diffs[2];                /* of all benchmarks together, and of the first one */
	struct render_part parts[2];
	struct render_suite input; /* borrows from the others */
};

enum suite_fixture_kind {
	/* a benchmark of each verdict, one added, one removed, and 30 that are unchanged; the first is explained */
	SUITE_PARSER,
	SUITE_SINGLE,  /* its head alone */
	SUITE_HOSTILE, /* names that try to break out of every format; figures that are not numbers */
	SUITE_LARGE,   /* 10,000 benchmarks, of which 4,000 are slower */
};

void suite_fixture_create(struct suite_fixture *fixture, enum suite_fixture_kind kind);
void suite_fixture_destroy(struct suite_fixture *fixture);

/* What was written, NUL-terminated; to be freed. A width of 0: names in full. */
char *suite_fixture_text(const struct suite_fixture *fixture, unsigned int width, bool colour);
char *suite_fixture_json(const struct suite_fixture *fixture);
char *suite_fixture_markdown(const struct suite_fixture *fixture);
