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
};

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

/* Returns the key of a member of one side: "base_text"; that of a metric's value ends with "_ns" if it is a time. */
static const char *lines_json_key(
	const struct lines_json *j, const char *side, const char *name, bool is_value, char key[static 48])
{
	snprintf(key, 48, "%s%s%s%s", side, side[0] ? "_" : "", name, is_value && j->diff->is_time ? "_ns" : "");
	return key;
}

static void put_text_or_null(const struct lines_json *j, const char *key, uint32_t id)
{
	if (id)
		json_text_member(j->out, key, listing_string(j->listing, id));
	else
		json_text_member_null(j->out, key);
}

static void put_line(const struct lines_json *j, const char *key, uint32_t line)
{
	json_text_member_known(j->out, key, line > 0, line);
}

static void lines_json_put_value(const struct lines_json *j, const char *side, const char *name, double value)
{
	char key[48];

	json_text_member_whole(j->out, lines_json_key(j, side, name, true, key), value);
}

/* ---- Rows ---- */

static void lines_json_put_instructions(const struct lines_json *j, const struct listing_row *row, enum diff_side side)
{
	const struct listing_instruction *at = &j->listing->instructions[side][row->first_instruction[side]];
	const char *name = diff_side_name(side);
	char key[48], address[24];

	json_text_begin(j->out, lines_json_key(j, name, "instructions", false, key), '[');
	for (uint32_t i = 0; i < row->instruction_count[side]; i++) {
		snprintf(address, sizeof(address), "0x%llx", (unsigned long long)at[i].address);
		json_text_open(j->out, '{');
		json_text_member(j->out, "address", address);
		json_text_member(j->out, "text", listing_string(j->listing, at[i].text));
		lines_json_put_value(j, "", "self", at[i].time);
		put_text_or_null(j, "target", at[i].target);
		json_text_close(j->out, '}');
	}
	json_text_close(j->out, ']');
	json_text_member_integer(j->out, lines_json_key(j, name, "instructions_left_out", false, key),
		(int64_t)row->more_instructions[side]);
}

static void put_row_side(const struct lines_json *j, const struct listing_row *row, enum diff_side side)
{
	const char *name = diff_side_name(side);
	const struct listing_time *time = &row->time[side];
	char key[48];

	put_line(j, lines_json_key(j, name, "line", false, key), row->line[side]);
	/* An empty line of a known text is "". */
	lines_json_key(j, name, "text", false, key);
	if (row->line[side] > 0 && row->text[side] == 0 && !row->is_gap)
		json_text_member(j->out, key, "");
	else
		put_text_or_null(j, key, row->text[side]);
	lines_json_put_value(j, name, "self", time->self);
	lines_json_put_value(j, name, "inlined", time->inlined);
	lines_json_put_value(j, name, "total", time->total);
	json_text_member_number(j->out, lines_json_key(j, name, "samples", false, key), time->samples);
	if (j->listing->has_assembly)
		lines_json_put_instructions(j, row, side);
}

static void put_estimate(const struct lines_json *j, const struct listing_row *row)
{
	const struct diff_estimate *e = &row->total;

	lines_json_put_value(j, "", "delta", e->delta);
	json_text_member_interval(
		j->out, "ci", summary_points(j->diff, e->ci_low), summary_points(j->diff, e->ci_high));
	json_text_member_number(j->out, "q", e->q);
	json_text_member(j->out, "state", diff_state_name(e->state));
	json_text_flag(j->out, "changed", row->is_changed);
}

static void lines_json_put_row(const struct lines_json *j, const struct listing_row *row)
{
	json_text_line(j->out, 3);
	json_text_open(j->out, '{');
	if (j->diff->sides == DIFF_SIDES)
		put_row_side(j, row, DIFF_BASE);
	put_row_side(j, row, DIFF_HEAD);
	if (j->diff->sides == DIFF_SIDES)
		put_estimate(j, row);
	if (row->file)
		put_text_or_null(j, "file", row->file);
	json_text_close(j->out, '}');
}

static void lines_json_put_rows(const struct lines_json *j, const struct listing_function *listed)
{
	CLEANUP(cleanup_free) bool *shown = memory_alloc(listed->row_count + 1);

	listing_mark_shown(listed, shown);
	json_text_begin(j->out, "rows", '[');
	for (size_t i = 0; i < listed->row_count && !j->out->failed; i++)
		if (shown[i] && !listed->rows[i].is_gap)
			lines_json_put_row(j, &listed->rows[i]);
	json_text_close(j->out, ']');
}

/* ---- Functions ---- */

static void lines_json_put_place(const struct lines_json *j, const struct listing_function *listed, enum diff_side side)
{
	const struct listing_text *text = &listed->text[side];

	json_text_begin(j->out, diff_side_name(side), '{');
	json_text_member(j->out, "place", place_names[text->place]);
	json_text_member_if(j->out, "proof", text->place == LISTING_NOWHERE ? "" : proof_names[text->proof]);
	put_text_or_null(j, "revision", text->place == LISTING_REVISION ? j->listing->revision[side] : 0);
	put_text_or_null(j, "file", text->file);
	put_line(j, "first_line", text->first_line);
	put_line(j, "last_line", text->last_line);
	json_text_flag(j->out, "precise", j->listing->is_precise[side]);
	json_text_close(j->out, '}');
}

static void lines_json_put_function(const struct lines_json *j, const struct listing_function *listed)
{
	const struct diff_function *f = &j->diff->functions[listed->function];
	char id[PROFILE_FUNCTION_ID_DIGITS + 1];

	question_id(j->diff, f, id);
	json_text_open(j->out, '{');
	json_text_member(j->out, "function", diff_string(j->diff, f->shown));
	json_text_member(j->out, "id", id);
	json_text_member(j->out, "file", diff_string(j->diff, f->file));
	json_text_begin(j->out, "texts", '{');
	if (j->diff->sides == DIFF_SIDES)
		lines_json_put_place(j, listed, DIFF_BASE);
	lines_json_put_place(j, listed, DIFF_HEAD);
	json_text_close(j->out, '}');
	lines_json_put_rows(j, listed);
	json_text_close(j->out, '}');
}

void lines_json(const struct render_input *input, struct buffer *out)
{
	const struct lines_json j = { input, input->diff, input->listing, out };

	json_text_list(out, "lines");
	for (size_t i = 0; i < j.listing->function_count && !out->failed; i++) {
		if (!j.listing->functions[i].is_named)
			continue;
		json_text_line(out, 2);
		lines_json_put_function(&j, &j.listing->functions[i]);
	}
	json_text_end_list(out);
	buffer_printf(out, ",\n \"lines_left_out\": %zu", j.listing->left_out);
}
