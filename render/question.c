/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Says what somebody asks about, and how much of everything that is. */
#include "render/question.h"

#include "render/format.h"
#include "render/summary.h"

#include <math.h>
#include <string.h>

/* ---- Ids ---- */

/* The time of a function in interrupts is a row of its own, but not another function. */
static size_t key_size(const char *key, bool interrupt)
{
	const char *suffix = interrupt ? strrchr(key, '(') : NULL;

	return suffix && suffix > key && suffix[-1] == ' ' ? (size_t)(suffix - 1 - key) : strlen(key);
}

void question_id_of_key(const char *key, bool interrupt, char id[static PROFILE_FUNCTION_ID_DIGITS + 1])
{
	CLEANUP(cleanup_free) char *bare = interrupt ? memory_copy_text(key, key_size(key, interrupt)) : NULL;

	profile_function_id(bare ? bare : key, id);
}

void question_id(
	const struct diff *diff, const struct diff_function *function, char id[static PROFILE_FUNCTION_ID_DIGITS + 1])
{
	question_id_of_key(diff_string(diff, function->key), function->interrupt, id);
}

/* ---- Words ---- */

static const struct profile_selection *selection_of(const struct render_input *input)
{
	return input->question ? input->question->selection : NULL;
}

/* Returns the shown name of the function that an id means; NULL: it is not there. */
static const char *name_of_id(const struct diff *diff, const char *text)
{
	if (strncmp(text, "id:", 3) != 0)
		return NULL;
	for (size_t i = 0; i < diff->function_count; i++) {
		char id[PROFILE_FUNCTION_ID_DIGITS + 1];

		question_id(diff, &diff->functions[i], id);
		if (strcasecmp(id, text + 3) == 0)
			return diff_string(diff, diff->functions[i].shown);
	}
	return NULL;
}

static void render_question_append_functions(
	const struct render_input *input, const char *one, const char *many, const char *text, struct buffer *out)
{
	const char *name = name_of_id(input->question->whole ? input->question->whole : input->diff, text);

	if (name)
		buffer_printf(out, "%s`%s`", one, name);
	else
		buffer_printf(out, "%s'%s'", many, text);
}

/* Appends which samples are meant: "stacks with a function like 'parse'". */
static void append_stacks(const struct render_input *input, struct buffer *out)
{
	const struct profile_selection *selection = selection_of(input);

	if (selection->focus)
		render_question_append_functions(
			input, "stacks with ", "stacks with a function like ", selection->focus, out);
	for (size_t i = 0; i < selection->where_count; i++)
		buffer_printf(out, "%s%s=%s",
			i > 0              ? ", "
			: selection->focus ? " where "
					   : "samples where ",
			profile_selection_key_name(&selection->where[i]), selection->where[i].value);
}

static bool has_stacks(const struct profile_selection *selection)
{
	return selection->focus || selection->where_count > 0;
}

static const char *frames_words(enum profile_origin only)
{
	return only == PROFILE_ORIGIN_LIBRARY  ? "code of libraries"
	       : only == PROFILE_ORIGIN_SYSTEM ? "code of the system"
					       : "user code";
}

void question_words(const struct render_input *input, struct buffer *out)
{
	const struct profile_selection *selection = selection_of(input);
	size_t before = out->size;

	if (!selection)
		return;
	if (has_stacks(selection))
		append_stacks(input, out);
	if (selection->hide) {
		buffer_append_string(out, out->size > before ? ", " : "");
		render_question_append_functions(input, "without ", "without functions like ", selection->hide, out);
	}
	if (selection->only != PROFILE_ORIGIN_UNKNOWN)
		buffer_printf(out, "%sonly %s", out->size > before ? ", " : "", frames_words(selection->only));
}

void question_title(const struct render_input *input, struct buffer *out)
{
	size_t before = out->size;

	summary_title(input, out);
	if (selection_of(input) && out->size > before)
		buffer_append_string(out, ": ");
	question_words(input, out);
}

double question_percent(const struct render_input *input, enum diff_side side)
{
	const struct diff *whole = input->question ? input->question->whole : NULL;

	return whole ? format_share(input->diff->raw_total[side], whole->raw_total[side]) : NAN;
}

static void capitalize(struct buffer *out, size_t at)
{
	if (out->size > at && out->data[at] >= 'a' && out->data[at] <= 'z')
		out->data[at] = (char)(out->data[at] - 'a' + 'A');
}

/* Appends "Stacks with … are 34.0 % of base and 41.2 % of head." */
static void render_question_append_share(const struct render_input *input, struct buffer *out)
{
	size_t before = out->size;
	struct format_text head = format_percent(question_percent(input, DIFF_HEAD));

	append_stacks(input, out);
	capitalize(out, before);
	if (input->diff->sides == DIFF_SIDES)
		buffer_printf(out, ": %s of base, %s of head.", format_percent(question_percent(input, DIFF_BASE)).text,
			head.text);
	else
		buffer_printf(out, ": %s of %s of %s.", head.text,
			format_value(input->question->whole->raw_total[DIFF_HEAD],
				diff_string(input->diff, input->diff->unit))
				.text,
			diff_string(input->diff, input->diff->metric_words));
}

void question_sentences(const struct render_input *input, struct buffer *out)
{
	const struct profile_selection *selection = selection_of(input);

	if (!selection)
		return;
	if (has_stacks(selection) && input->question->whole)
		render_question_append_share(input, out);
	if (selection->hide) {
		buffer_append_string(out, out->size > 0 ? " " : "");
		render_question_append_functions(
			input, "Frames of ", "Frames of functions like ", selection->hide, out);
		buffer_append_string(out, " are left out; their time is that of their callers.");
	}
	if (selection->only != PROFILE_ORIGIN_UNKNOWN)
		buffer_printf(out, "%sOnly %s is shown; the time of other frames is that of their callers.",
			out->size > 0 ? " " : "", frames_words(selection->only));
}

/* ---- Lists ---- */

size_t question_rows(const struct render_input *input, size_t usual)
{
	return input->question && input->question->top > 0 ? input->question->top : usual;
}

void question_lists(const struct render_input *input, struct question_list lists[static QUESTION_LISTS])
{
	const struct render_question *question = input->question;
	const struct diff_neighbours *neighbours = question ? question->neighbours : NULL;

	lists[0] = (struct question_list){
		.heading = "What calls it",
		.nobody = "(a thread begins with it)",
		.json = "callers",
		.neighbours = neighbours && question->callers ? &neighbours->callers : NULL,
	};
	lists[1] = (struct question_list){
		.is_callees = true,
		.heading = "What it calls",
		.nobody = "(itself)",
		.json = "callees",
		.neighbours = neighbours && question->callees ? &neighbours->callees : NULL,
	};
}
