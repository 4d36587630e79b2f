/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * The dialects of benchmark programs, line by line: which programs are known, and what each of them prints when a
 * benchmark begins and ends. A line is read by itself; what follows from a sequence of them is
 * sampler/harness/output.c's.
 *
 * Formats, as these programs print them into a pipe:
 *	go test -bench    testing.BenchmarkResult.String() of Go 1.8 to 1.26 (golang.org/design/14313-benchmark-format)
 *	google-benchmark  console_reporter.cc of 1.5 to 1.9
 *	criterion         the report CliReport of 0.3 to 0.8; by `cargo bench` also the line of each binary
 *	hyperfine         1.0 to 1.20
 *	JMH               TextReportFormat of 1.37
 */
enum output_dialect {
	OUTPUT_GO,
	OUTPUT_GOOGLE,
	OUTPUT_CRITERION,
	OUTPUT_HYPERFINE,
	OUTPUT_JMH,
	OUTPUT_DIALECTS,
};

enum output_event_kind {
	OUTPUT_NOTHING,
	OUTPUT_SCOPE,    /* benchmarks from now on belong to what is named: a package, a binary */
	OUTPUT_TABLE,    /* lines of the dialect's table follow: without it, lines that look like them are none */
	OUTPUT_BOUNDARY, /* no benchmark has begun before this line that has not ended */
	OUTPUT_BEGIN,    /* the named benchmark begins, unless it already has */
	OUTPUT_TITLE,    /* it begins; from now on the line of its result does not, where it repeats the name */
	OUTPUT_VARIANT,  /* what began last is run with these parameters */
	OUTPUT_MEASURE,  /* what it has done so far was warm-up */
	OUTPUT_AGAIN,    /* the same of what began last, which may be measured once more, in another process */
	OUTPUT_END,      /* it has ended; what was measured comes later */
	OUTPUT_RESULT,   /* it has ended, and this was measured */
	OUTPUT_ROUND,    /* this was measured of what began last, and it goes on */
	OUTPUT_ROUNDS,   /* how many rounds the result before consists of */
};

struct output_event {
	enum output_event_kind kind;
	enum output_dialect dialect;
	struct text_cursor name; /* of the line; empty: what began last */
	double time_ns;          /* of one iteration */
	double stdev_ns;         /* of this time, between rounds; 0: not known */
	double error_ns;         /* of this time; 0: not known */
	uint64_t rounds;         /* 0: not known */
	uint64_t iterations;     /* 0: not known */
};

/* Name of a dialect for people, such as "google-benchmark". */
const char *output_dialect_name(enum output_dialect dialect);

/*
 * Reads a line without escape sequences and control characters other than tabs. A line that is not complete says
 * nothing but that a benchmark begins. OUTPUT_NOTHING for lines that no dialect knows.
 */
struct output_event output_dialect_read(struct text_cursor line, bool is_complete);
