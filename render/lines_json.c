/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes functions line by line as JSON: the member `lines` of a document. */
#include "render/json_text.h"
#include "render/lines.h"
#include "render/question.h"
#include "render/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct lines_json {
	const struct render_input *input;
	const struct diff *diff;
	const struct listing *listing;
	struct buffer *out;
	bool failed; /* out of memory: sticky */
};

static const char *const side_names[DIFF_SIDES] = { "base", "head" };

static const char *const place_names[LISTING_PLACE_COUNT] = {
	[LISTING_NOWHERE] = "nowhere",
	[LISTING_KEPT] = "kept",
	[LISTING_EMBEDDED] = "embedded",
	[LISTING_REVISION] = "revision",
	[LISTING_DEBUGINFOD] = "debuginfod",
	[LISTING_DISK] = "disk",
};

static const char *const proof_names[PROFILE_SOURCE_PROOF_COUNT] = {
	[PROFILE_SOURCE_MAY_DIFFER] = "may-differ",
	[PROFILE_SOURCE_NOT_NEWER] = "not-newer",
	[PROFILE_SOURCE_SAME_BYTES] = "same-bytes",
};

/* ---- Values ---- */

static void lines_json_put_key(struct lines_json *j, const char *side, const char *name)
{
	buffer_printf(j->out, ",\"%s%s%s\":", side, side[0] ? "_" : "", name);
}

static void lines_json_put_text(struct lines_json *j, const char *text)
{
	if (!json_text_string(j->out, text))
		j->failed = true;
}

static void put_text_or_null(struct lines_json *j, uint32_t id)
{
	if (id)
		lines_json_put_text(j, listing_string(j->listing, id));
	else
		JSON_TEXT(j->out, "null");
}

static void put_line(struct lines_json *j, uint32_t line)
{
	if (line)
		json_text_integer(j->out, line);
	else
		JSON_TEXT(j->out, "null");
}

/* Values of a metric that is no time have keys without "_ns". */
static void lines_json_put_value(struct lines_json *j, const char *side, const char *name, double value)
{
	char key[32];

	snprintf(key, sizeof(key), "%s%s", name, j->diff->is_time ? "_ns" : "");
	lines_json_put_key(j, side, key);
	if (isfinite(value) && fabs(value) < 9e18)
		json_text_integer(j->out, llround(value));
	else
		json_text_number(j->out, value);
}

static void lines_json_put_flag(struct lines_json *j, const char *name, bool value)
{
	lines_json_put_key(j, "", name);
	if (value)
		JSON_TEXT(j->out, "true");
	else
		JSON_TEXT(j->out, "false");
}

/* ---- Rows ---- */

static void lines_json_put_instructions(struct lines_json *j, const struct listing_row *row, enum diff_side side)
{
	const struct listing_instruction *at = j->listing->instructions[side];

	lines_json_put_key(j, side_names[side], "instructions");
	JSON_TEXT(j->out, "[");
	for (uint32_t i = 0; i < row->instruction_count[side]; i++) {
		const struct listing_instruction *instruction = &at[row->first_instruction[side] + i];

		buffer_printf(j->out, "%s{\"address\":\"0x%llx\",\"text\":", i > 0 ? "," : "",
			(unsigned long long)instruction->address);
		lines_json_put_text(j, listing_string(j->listing, instruction->text));
		lines_json_put_value(j, "", "self", instruction->time);
		lines_json_put_key(j, "", "target");
		put_text_or_null(j, instruction->target);
		JSON_TEXT(j->out, "}");
	}
	JSON_TEXT(j->out, "]");
	lines_json_put_key(j, side_names[side], "instructions_left_out");
	json_text_integer(j->out, row->more_instructions[side]);
}

static void put_row_side(struct lines_json *j, const struct listing_row *row, enum diff_side side)
{
	const char *name = side_names[side];
	const struct listing_time *time = &row->time[side];
	bool has_line = row->line[side] > 0;

	lines_json_put_key(j, name, "line");
	put_line(j, row->line[side]);
	lines_json_put_key(j, name, "text");
	/* An empty line of a known text is "". */
	if (has_line && row->text[side] == 0 && !row->is_gap)
		JSON_TEXT(j->out, "\"\"");
	else
		put_text_or_null(j, row->text[side]);
	lines_json_put_value(j, name, "self", time->self);
	lines_json_put_value(j, name, "inlined", time->inlined);
	lines_json_put_value(j, name, "total", time->total);
	lines_json_put_key(j, name, "samples");
	json_text_number(j->out, time->samples);
	if (j->listing->has_assembly)
		lines_json_put_instructions(j, row, side);
}

static void put_estimate(struct lines_json *j, const struct listing_row *row)
{
	const struct diff_estimate *e = &row->total;

	lines_json_put_value(j, "", "delta", e->delta);
	lines_json_put_key(j, "", "ci");
	if (isfinite(e->ci_low) && isfinite(e->ci_high)) {
		JSON_TEXT(j->out, "[");
		json_text_number(j->out, summary_points(j->diff, e->ci_low));
		JSON_TEXT(j->out, ",");
		json_text_number(j->out, summary_points(j->diff, e->ci_high));
		JSON_TEXT(j->out, "]");
	} else {
		JSON_TEXT(j->out, "null");
	}
	lines_json_put_key(j, "", "q");
	json_text_number(j->out, e->q);
	lines_json_put_key(j, "", "state");
	lines_json_put_text(j, diff_state_name(e->state));
	lines_json_put_flag(j, "changed", row->is_changed);
}

/* Each member begins with a comma; that of the first is removed. */
static void lines_json_put_row(struct lines_json *j, const struct listing_row *row)
{
	size_t start = j->out->size;

	if (j->diff->sides == DIFF_SIDES)
		put_row_side(j, row, DIFF_BASE);
	put_row_side(j, row, DIFF_HEAD);
	if (j->diff->sides == DIFF_SIDES)
		put_estimate(j, row);
	if (row->file) {
		lines_json_put_key(j, "", "file");
		lines_json_put_text(j, listing_string(j->listing, row->file));
	}
	if (!j->out->failed)
		j->out->data[start] = '{';
	JSON_TEXT(j->out, "}");
}

static bool lines_json_put_rows(struct lines_json *j, const struct listing_function *listed, struct error *err)
{
	CLEANUP(cleanup_free) bool *shown = malloc(listed->row_count + 1);
	bool has_any = false;

	if (!shown)
		return error_set_memory(err);
	listing_mark_shown(listed, shown);
	lines_json_put_key(j, "", "rows");
	JSON_TEXT(j->out, "[");
	for (size_t i = 0; i < listed->row_count && !j->out->failed; i++) {
		if (!shown[i] || listed->rows[i].is_gap)
			continue;
		buffer_append_string(j->out, has_any ? ",\n   " : "\n   ");
		lines_json_put_row(j, &listed->rows[i]);
		has_any = true;
	}
	JSON_TEXT(j->out, "]");
	return true;
}

/* ---- Functions ---- */

static void lines_json_put_place(struct lines_json *j, const struct listing_function *listed, enum diff_side side)
{
	const struct listing_text *text = &listed->text[side];

	buffer_printf(j->out, "\"%s\":{\"place\":\"%s\",\"proof\":", side_names[side], place_names[text->place]);
	if (text->place == LISTING_NOWHERE)
		JSON_TEXT(j->out, "null");
	else
		buffer_printf(j->out, "\"%s\"", proof_names[text->proof]);
	lines_json_put_key(j, "", "revision");
	put_text_or_null(j, text->place == LISTING_REVISION ? j->listing->revision[side] : 0);
	lines_json_put_key(j, "", "file");
	put_text_or_null(j, text->file);
	lines_json_put_key(j, "", "first_line");
	put_line(j, text->first_line);
	lines_json_put_key(j, "", "last_line");
	put_line(j, text->last_line);
	lines_json_put_flag(j, "precise", j->listing->is_precise[side]);
	JSON_TEXT(j->out, "}");
}

static bool lines_json_put_function(struct lines_json *j, const struct listing_function *listed, struct error *err)
{
	const struct diff_function *f = &j->diff->functions[listed->function];
	char id[PROFILE_FUNCTION_ID_DIGITS + 1];
	bool has_two = j->diff->sides == DIFF_SIDES;

	JSON_TEXT(j->out, "{\"function\":");
	lines_json_put_text(j, diff_string(j->diff, f->shown));
	question_id(j->diff, f, id);
	lines_json_put_key(j, "", "id");
	lines_json_put_text(j, id);
	lines_json_put_key(j, "", "file");
	lines_json_put_text(j, diff_string(j->diff, f->file));
	lines_json_put_key(j, "", "texts");
	JSON_TEXT(j->out, "{");
	if (has_two)
		lines_json_put_place(j, listed, DIFF_BASE);
	if (has_two)
		JSON_TEXT(j->out, ",");
	lines_json_put_place(j, listed, DIFF_HEAD);
	JSON_TEXT(j->out, "}");
	if (!lines_json_put_rows(j, listed, err))
		return false;
	JSON_TEXT(j->out, "}");
	return true;
}

bool lines_json(const struct render_input *input, struct buffer *out, struct error *err)
{
	struct lines_json j = { .input = input, .diff = input->diff, .listing = input->listing, .out = out };
	bool has_any = false;

	JSON_TEXT(out, ",\n \"lines\": [");
	for (size_t i = 0; i < j.listing->function_count && !out->failed; i++) {
		if (!j.listing->functions[i].is_named)
			continue;
		buffer_append_string(out, has_any ? ",\n  " : "\n  ");
		if (!lines_json_put_function(&j, &j.listing->functions[i], err))
			return false;
		has_any = true;
	}
	buffer_printf(out, "\n ],\n \"lines_left_out\": %zu", j.listing->left_out);
	return !j.failed || error_set_memory(err);
}
