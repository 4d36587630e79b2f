/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/options.h"
#include "render/render.h"

/* What `diff` and `report` write: several at once, "-" is standard output, which only one of them can have. */
enum output_kind { OUTPUT_HTML, OUTPUT_TEXT, OUTPUT_JSON, OUTPUT_MARKDOWN, OUTPUT_SVG, OUTPUT_FOLDED };
enum { OUTPUT_KIND_COUNT = 6 };

/* Rows of getopt_long()'s table: output options are numbered by their kind. */
enum { OUTPUT_OPTION = OPTIONS_SHARED + 64 };
#define OUTPUT_OPTIONS                                                                                                 \
	{ "output", required_argument, NULL, 'o' }, { "text", optional_argument, NULL, OUTPUT_OPTION + OUTPUT_TEXT },  \
		{ "json", optional_argument, NULL, OUTPUT_OPTION + OUTPUT_JSON },                                      \
	{                                                                                                              \
		"svg", optional_argument, NULL, OUTPUT_OPTION + OUTPUT_SVG                                             \
	}

struct outputs {
	const char *paths[OUTPUT_KIND_COUNT]; /* borrowed; NULL: not asked for */
};

/* Takes one of these options, with its value in `optarg`; false for any other. */
bool outputs_take(struct outputs *outputs, struct options *options, int option);

/* Adds text on standard output when nothing was asked for; checks that standard output is asked for once and every
 * directory is there. */
COMMON_MUST_CHECK
bool outputs_check(struct outputs *outputs, struct error *err);

/* Refuses to write over one of the profiles that are read, `names` as load_profiles() takes them. */
COMMON_MUST_CHECK
bool outputs_spare(const struct outputs *outputs, const char *names, struct error *err);

/* Whether something goes to standard output. */
bool outputs_use_stdout(const struct outputs *outputs);

/* Whether names are all that is shown: no files, lines or origins. */
bool outputs_show_names_only(const struct outputs *outputs);

/* Renders and writes all of them; says on standard error where they lie. */
COMMON_MUST_CHECK
bool outputs_write(const struct outputs *outputs, const struct render_input *input, struct error *err);

/* symbolize_rule_text() in the shape that render asks for. */
const char *output_rule_text(unsigned int rule);
