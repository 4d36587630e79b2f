/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

struct diff;
struct diff_function;

/*
 * A limit on growth that makes the command fail: `total>2%`, `function>5%`, `function:NAME>1%`; of suites also
 * `benchmark>5%` and `benchmark:NAME>5%`.
 */
struct diff_gate {
	enum { DIFF_GATE_TOTAL, DIFF_GATE_FUNCTION, DIFF_GATE_BENCHMARK } subject;
	const char *function;  /* borrowed; NULL: any function. Within a rule's text it ends at the last '>' */
	const char *benchmark; /* likewise; NULL: any benchmark */
	double percent;
};

/*
 * Parses one --fail-on rule; `text` must outlive the gate. ERROR_USAGE names the part that is wrong and shows an
 * example.
 */
COMMON_MUST_CHECK
bool diff_gate_parse(const char *text, struct diff_gate *gate, struct error *err);

/*
 * Returns whether a name in a gate is this one. A gate made by a caller holds the bare name; a parsed one, the name and
 * the text after it.
 */
bool diff_gate_is_about(const char *named, const char *name);

/*
 * Returns whether a gate on a function is on this one, by either of its names. The frame of a class of waits is also
 * called as a verdict calls it: "waiting for a lock".
 */
bool diff_gate_names(const struct diff *diff, const struct diff_gate *gate, const struct diff_function *function);

/* Appends which gates are on functions that do not occur, so that they can never fail, line by line. */
void diff_gates_append_unmet(const struct diff *diff, const struct diff_gate *gates, size_t count, struct buffer *said);
