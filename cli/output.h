/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/lines.h"
#include "cli/options.h"
#include "cli/worker.h"
#include "render/render.h"

/* The outputs of `diff` and `report`: several at once. "-" is standard output, which only one of them can use. */
enum output_kind { OUTPUT_HTML, OUTPUT_TEXT, OUTPUT_JSON, OUTPUT_MARKDOWN, OUTPUT_SVG, OUTPUT_FOLDED, OUTPUT_OTLP };
enum { OUTPUT_KIND_COUNT = 7 };

/* The words for --metric. */
#define OUTPUT_METRICS "cpu off-cpu wall idle elapsed samples"

struct outputs {
	const char *paths[OUTPUT_KIND_COUNT]; /* borrowed; NULL: not asked for */
	mode_t mode;                          /* of every file, as file_write() has it */
	const struct worker *worker;          /* borrowed: hands them to whoever writes them; NULL: this process */
	uint64_t max_lines;                   /* of text; 0: all */
	struct lines *lines;                  /* borrowed: which functions are shown line by line; NULL: none */
	const char *folded_metric;            /* borrowed: whose values folded stacks have; NULL: numbers of samples */
};

/* The options of a struct outputs: the heading, -o and --text; --svg. */
extern const struct options_row output_rows[], output_svg_rows[];

/*
 * Adds text on standard output if there are no outputs. Checks that at most one uses standard output and that every
 * directory exists.
 */
COMMON_MUST_CHECK
bool outputs_check(struct outputs *outputs, struct error *err);

/* Fails if an output is one of the profiles that are read; `names` as in load_open(). */
COMMON_MUST_CHECK
bool outputs_spare(const struct outputs *outputs, const char *names, struct error *err);

/* Returns whether an output goes to standard output. */
bool outputs_use_stdout(const struct outputs *outputs);

/* Returns whether the outputs show names only, without files, lines and origins. */
bool outputs_show_names_only(const struct outputs *outputs);

/* Renders and writes all outputs; prints their paths on standard error. */
COMMON_MUST_CHECK
bool outputs_write(const struct outputs *outputs, const struct render_input *input, struct error *err);

/*
 * Does the same for a suite of benchmarks: `page` has the parts of an HTML page, `other` those of all other outputs. A
 * flame graph is that of all benchmarks together.
 */
COMMON_MUST_CHECK
bool outputs_write_suite(const struct outputs *outputs, const struct render_suite *page,
	const struct render_suite *other, struct error *err);

/* Does the same for a history, which has no flame graph but those of its page. */
COMMON_MUST_CHECK
bool outputs_write_history(const struct outputs *outputs, const struct render_history *history, struct error *err);

/* Returns symbolize_rule_text() with the parameter types that render uses. */
const char *output_rule_text(unsigned int rule);

/* Lists the files of the outputs, by kind, for a worker. */
void outputs_list(const struct outputs *outputs, struct worker_output list[OUTPUT_KIND_COUNT]);
