/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Figures as people read them, the same in every output: three significant digits, a fitting unit, thousands separated
 * by a comma, and a dash for unknown values. Independent of the locale.
 */
struct format_text {
	char text[48];
};

extern const char format_unknown[];

/* Returns "1,203" */
struct format_text format_count(double value);

/* Returns how often something happens in a unit of time: "1,203", "12.0", "0.21", "0.0021" */
struct format_text format_rate(double value);

/*
 * Returns a value of a metric: "412 ms", "1.30 s" or "1,203 s" for nanoseconds, "1.50 MiB" for bytes, else a count with
 * its unit.
 */
struct format_text format_value(double value, const char *unit);

/* Returns the value with its sign: "+412 ms", "-1.30 s"; "0" has none. */
struct format_text format_delta(double value, const char *unit);

/*
 * Writes values as these do, but with three digits below a microsecond too, as iterations of benchmarks have: "3.21
 * ns", "+0.40 ns".
 */
struct format_text format_precise(double value, const char *unit);
struct format_text format_precise_delta(double value, const char *unit);

/* Returns "12.3 %", "2.8 %", "0.04 %": one digit behind the point, as in the sentences of diff/. */
struct format_text format_percent(double percent);

/* Returns "+12.3 %". The caller writes "new" and "gone" itself. */
struct format_text format_signed_percent(double percent);

/* Returns the change from base to head: "+12.3 %", or "8.76×" from twice as much on. */
struct format_text format_change(double base, double head);
/* Returns whether it is written as a factor. */
bool format_is_factor(double base, double head);

/* Points of the total: "+1.02" */
struct format_text format_points(double points);

/* Returns an interval of points: "19.6 to 22.2", "-0.43 to 1.63"; "" if it is not known. */
struct format_text format_interval(double low, double high);

/* Returns an interval of percentages: "9.0 to 15.0 %", "-0.4 to 1.6 %"; "" if it is not known. */
struct format_text format_percent_interval(double low, double high);

/*
 * Returns the name of a module for a reader: "kernel" for "[kernel.kallsyms]", else the same. Borrowed from `module`.
 */
const char *format_module(const char *module);

/* part / whole in percent; NAN if `whole` is 0. */
double format_share(double part, double whole);
