/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "render/document.h"
#include "render/summary.h"

/* Parts that several documents have. Nothing is written of what is not there. */

/* Writes what a document of two sides begins with: the verdict, and whether a limit is exceeded. */
void parts_verdict(struct document *d, bool gate_failed);

/* Writes the commits that can be the cause, if somebody asked for them. */
void parts_commits(struct document *d);

/* A side's recording and its quality, to be told. executions: of benchmarks; 0: they are not told. */
struct parts_recording {
	const char *label;   /* "base: " */
	const char *command; /* "": not known */
	const char *name;    /* the user's; may be NULL */
	const struct profile *profile;
	size_t executions;
};
void parts_side(struct document *d, const struct parts_recording *recording);

void parts_warnings(
	struct document *d, const struct string_table *strings, const struct diff_warning *warnings, size_t count);

/* Lists functions as summary_list() does. */
struct summary_list parts_list(struct document *d, enum summary_order order, size_t limit);

/* The functions of one profile in an order of one side. */
void parts_top(struct document *d, enum summary_order order);

/* What the threads of a side waited for, in one line. */
void parts_waits(struct document *d, enum diff_side side, const char *label);

/* The functions of one profile where its threads wait, and who ended their waits. */
void parts_waiting_functions(struct document *d);

/* The named locks that threads of two profiles waited for most. */
void parts_waiting_changes(struct document *d);

/* Places by how much their waits changed, as far as the metric has them. */
void parts_waiting_places(struct document *d);

/* The whole document of two sides. */
void parts_compared(struct document *d);

/* Returns the id of a function in lists, "" if nobody asks for it: `id` is filled with it. */
const char *parts_id(const struct document *d, const struct diff_function *function, char *id);
