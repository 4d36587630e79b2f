/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the options that ask about a part of profiles, and has the part shown. */
#include "cli/question.h"

#include <string.h>

enum { MOST_TOP = 10000, LEAST_LINES = 5, MOST_LINES = 1000000 };

static bool take_only(void *only, const char *text, struct error *err)
{
	for (int i = PROFILE_ORIGIN_USER; i < PROFILE_ORIGIN_COUNT; i++)
		if (strcmp(text, profile_origin_name((enum profile_origin)i)) == 0) {
			*(enum profile_origin *)only = (enum profile_origin)i;
			return true;
		}
	return error_set(err, ERROR_USAGE, "--only '%.60s': write user, library or system", text);
}

static bool take_top(void *top, const char *text, struct error *err)
{
	return options_parse_count("--top", text, MOST_TOP, top, err) &&
	       (*(uint64_t *)top > 0 || error_set(err, ERROR_USAGE, "--top 0: the least is one row"));
}

static bool take_max_lines(void *lines, const char *text, struct error *err)
{
	return options_parse_count("--max-lines", text, MOST_LINES, lines, err) &&
	       (*(uint64_t *)lines >= LEAST_LINES ||
		       error_set(err, ERROR_USAGE, "--max-lines %.20s: the least is %d lines", text, LEAST_LINES));
}

static bool take_where(void *question, const char *text, struct error *err)
{
	return question_add_where(question, text, err);
}

const struct options_row question_option_rows[] = {
	{ .name = "Questions (REGEX: without a capital letter in either case; module:REGEX, file:REGEX, id:ID):" },
	{ 0, "focus", "REGEX", "only stacks with such a function", OPTIONS_TEXT(struct question, selection.focus) },
	{ 0, "hide", "REGEX", "without the frames of such functions, whose time is that of their callers",
		OPTIONS_TEXT(struct question, selection.hide) },
	{ 0, "only", "ORIGIN", "user, library or system: without all other frames, likewise", take_only,
		offsetof(struct question, selection.only), .words = "user library system" },
	{ 0, "where", "KEY=VALUE", "only samples that have it: see --by; several must all hold", take_where, 0 },
	{ 0, "by", "KEY",
		"a row and a verdict for each function, module, file, line, thread, process, benchmark or label",
		OPTIONS_TEXT(struct question, by), .words = "function module file line thread process benchmark" },
	{ 0, "callers", NULL, "who calls the functions of --focus", OPTIONS_FLAG(struct question, callers) },
	{ 0, "callees", NULL, "what the functions of --focus call", OPTIONS_FLAG(struct question, callees) },
	{ 0, "top", "N", "rows of each list in text, JSON and Markdown", take_top, offsetof(struct question, top) },
	{ 0, "max-lines", "N", "lines of the text, the last of which says how many are left off", take_max_lines,
		offsetof(struct question, max_lines) },
	{ 0, "ids", NULL, "text has the ids of functions, for --focus id:ID; JSON has them anyhow",
		OPTIONS_FLAG(struct question, has_ids) },
	{ 0 },
};

void question_show(const struct question *question, const struct answer *answer, struct render_question *shown,
	struct render_input *input)
{
	*shown = question_shown(question);
	if (answer->part) {
		shown->selection = &question->selection;
		shown->whole = answer->whole;
	}
	shown->neighbours = answer->neighbours;
	shown->meant = answer->meant;
	shown->groups = answer->groups;
	input->diff = answer->part ? answer->part : answer->whole;
	for (int side = 0; side < DIFF_SIDES; side++)
		input->profiles[side] = answer->part ? answer->profiles[side] : answer->all[side];
	input->question = shown;
}

struct render_question question_shown(const struct question *question)
{
	return (struct render_question){
		.callers = question->callers,
		.callees = question->callees,
		.top = (unsigned int)question->top,
		.has_ids = question->has_ids,
	};
}
