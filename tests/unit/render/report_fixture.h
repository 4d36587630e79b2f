/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/render.h"

/*
 * Diffs made by hand, so that what is drawn does not depend on what the diff room computes. Each has profiles with
 * facts and quality counts but without samples. Failure to make one fails the test.
 */
struct fixture {
	struct diff *diff;
	struct profile *profiles[DIFF_SIDES];
	struct render_input input; /* borrows from the others */
};

enum fixture_kind {
	FIXTURE_SHOP,    /* a server whose normalize_query takes more, one function gone, one new, one renamed; runs as
			    evidence */
	FIXTURE_SINGLE,  /* its head alone */
	FIXTURE_HOSTILE, /* names that try to break out of every format; estimates that are not numbers */
	FIXTURE_EMPTY,   /* two sides without a function and without time */
	FIXTURE_EQUAL,   /* nothing differs; one recording a side */
	FIXTURE_EXACT,   /* the shop's as instructions of a simulator: no intervals, nothing tested */
};

struct fixture fixture_create(enum fixture_kind kind);
void fixture_destroy(struct fixture *fixture);

/* What was written, NUL-terminated; to be freed. A width of 0: names in full. */
char *fixture_text(const struct fixture *fixture, unsigned int width, bool colour);
char *fixture_json(const struct fixture *fixture);
char *fixture_markdown(const struct fixture *fixture);
char *fixture_svg(const struct fixture *fixture, unsigned int width);

/* The same function many times over, `count` in all: a large diff. */
struct fixture fixture_create_large(size_t count);
