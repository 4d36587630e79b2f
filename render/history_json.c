/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a history in JSON by schema kelvin.history/1 (docs/json.md): the profiles of all series one after another. */
#include "render/history_words.h"
#include "render/json_text.h"

#include <math.h>
#include <stdlib.h>

struct document {
	const struct render_history *input;
	const struct history *history;
	struct buffer *out;
	/* The series that is written: */
	const struct history_series *series;
	struct history_words words;
	size_t number, first; /* its index, and that of its first profile among all */
	double *values;       /* owned; [profile of the series] */
};

static void document_deinit(struct document *d)
{
	free(d->values);
}

/* Has the writer write of a series. */
static bool take_series(struct document *d, size_t number, struct error *err)
{
	d->number = number;
	d->first = 0;
	for (size_t i = 0; i < number; i++)
		d->first += d->history->series[i].count;
	d->series = &d->history->series[number];
	d->words = history_words_of(d->history, d->series);
	free(d->values);
	d->values = calloc(d->series->count + 1, sizeof(*d->values));
	return d->values ? true : error_set_memory(err);
}

/* ---- Values ---- */

static void put_integer(struct document *d, const char *key, size_t value)
{
	buffer_printf(d->out, ",\"%s\":%zu", key, value);
}

/* Null if the text is empty. */
static bool history_json_put_text(struct document *d, const char *key, const char *text)
{
	if (text[0])
		return json_text_member(d->out, key, text);
	buffer_printf(d->out, ",\"%s\":null", key);
	return true;
}

static void history_json_put_time(struct document *d, size_t index)
{
	struct format_text time = history_words_stamp(history_words_profile(&d->words, index)->start_unix_ns);

	buffer_append_string(d->out, ",\"time\":");
	if (time.text[0])
		buffer_printf(d->out, "\"%s\"", time.text);
	else
		JSON_TEXT(d->out, "null");
}

/* Writes the profile behind a point: {"index", "name", "time"}. */
static bool history_json_put_place(struct document *d, const char *key, size_t point)
{
	size_t at = d->series->points[point].at;

	buffer_printf(d->out, ",\"%s\":{\"index\":%zu", key, d->first + at);
	if (!json_text_member(
		    d->out, "name", summary_string(d->history->set, history_words_profile(&d->words, at)->name)))
		return false;
	history_json_put_time(d, at);
	JSON_TEXT(d->out, "}");
	return true;
}

/* Returns values in percent of the usual total; those of the total are in the unit. */
static double history_json_percent_of(const struct document *d, uint32_t function, double value)
{
	return function == HISTORY_WHOLE ? format_share(value, d->series->typical_total) : value;
}

/* Writes a value per request or per run. */
static void put_per(struct document *d, const char *key, uint32_t function, double value)
{
	json_text_member_number(d->out, key, d->words.is_per ? history_words_per(&d->words, function, value) : NAN);
}

static bool history_json_put_function(struct document *d, uint32_t function)
{
	const struct summary_set *set = d->history->set;
	const struct summary_function *f = function == HISTORY_WHOLE ? NULL : &set->functions[function];
	char id[PROFILE_FUNCTION_ID_DIGITS + 1] = "";

	if (f)
		history_words_id(set, f, id);
	JSON_TEXT(d->out, "{\"function\":");
	return json_text_string(d->out, history_words_name(&d->words, function)) &&
	       json_text_member(d->out, "module", f ? summary_string(set, f->module) : "") &&
	       history_json_put_text(d, "id", id);
}

/* Its values in each profile of the series, in percent. */
static void put_values(struct document *d, uint32_t function, bool is_self)
{
	history_values(d->history, d->series, function, is_self, d->values);
	JSON_TEXT(d->out, ",\"values_pct\":[");
	for (size_t i = 0; i < d->series->count; i++) {
		buffer_append_string(d->out, i ? "," : "");
		json_text_number(d->out, history_json_percent_of(d, function, d->values[i]));
	}
	JSON_TEXT(d->out, "]");
}

/* ---- Changes ---- */

static void history_json_put_interval(struct document *d, const struct history_change *change)
{
	if (!isfinite(change->ci_low) || !isfinite(change->ci_high)) {
		JSON_TEXT(d->out, ",\"ci\":null");
		return;
	}
	JSON_TEXT(d->out, ",\"ci\":[");
	json_text_number(d->out, history_json_percent_of(d, change->function, change->ci_low));
	JSON_TEXT(d->out, ",");
	json_text_number(d->out, history_json_percent_of(d, change->function, change->ci_high));
	JSON_TEXT(d->out, "]");
}

static void put_figures(struct document *d, const struct history_change *change)
{
	const uint32_t function = change->function;

	json_text_member_number(d->out, "before_pct", history_json_percent_of(d, function, change->before));
	json_text_member_number(d->out, "after_pct", history_json_percent_of(d, function, change->after));
	json_text_member_number(d->out, "last_pct", history_json_percent_of(d, function, change->last));
	json_text_member_number(d->out, "delta_points", history_json_percent_of(d, function, change->delta));
	history_json_put_interval(d, change);
	json_text_member_number(d->out, "q", change->q);
	put_per(d, "before", function, change->before);
	put_per(d, "after", function, change->after);
	put_per(d, "last", function, change->last);
	put_per(d, "delta", function, change->delta);
	put_integer(d, "agree", change->agree);
	put_integer(d, "of", change->of);
}

static bool history_json_put_change(struct document *d, const struct history_change *change)
{
	const struct history_point *point = &d->series->points[change->point];
	bool is_open = change->went == SIZE_MAX;

	if (!history_json_put_function(d, change->function))
		return false;
	json_text_flag(d->out, "is_total", change->function == HISTORY_WHOLE);
	json_text_flag(d->out, "is_self", change->is_self);
	put_integer(d, "series", d->number);
	if (!history_json_put_place(d, "at", change->point))
		return false;
	put_integer(d, "point", change->point);
	if (is_open)
		JSON_TEXT(d->out, ",\"went_at\":null");
	else if (!history_json_put_place(d, "went_at", change->went))
		return false;
	put_figures(d, change);
	buffer_printf(d->out, ",\"state\":\"%s\",\"code\":\"%s\"", is_open ? "open" : "went",
		history_code_name(change->code));
	json_text_flag(d->out, "is_deploy", point->is_deploy);
	if (!history_json_put_text(d, "fact", history_string(d->history, point->fact)))
		return false;
	put_values(d, change->function, change->is_self);
	JSON_TEXT(d->out, "}");
	return true;
}

/* Writes the changes of all series, or the functions whose cost only moved, an entry a line. */
static bool history_json_put_changes(struct document *d, const char *key, bool moved, struct error *err)
{
	size_t count = 0;

	buffer_printf(d->out, ",\n \"%s\": [", key);
	for (size_t i = 0; i < d->history->series_count; i++) {
		if (!take_series(d, i, err))
			return false;
		for (size_t j = 0; j < d->series->change_count; j++) {
			if (d->series->changes[j].has_moved != moved)
				continue;
			buffer_append_string(d->out, count++ ? ",\n  " : "\n  ");
			if (!history_json_put_change(d, &d->series->changes[j]))
				return error_set_memory(err);
		}
	}
	buffer_append_string(d->out, count ? "\n ]" : "]");
	return true;
}

static bool put_drifts(struct document *d, struct error *err)
{
	size_t count = 0;

	buffer_append_string(d->out, ",\n \"drifts\": [");
	for (size_t i = 0; i < d->history->series_count; i++) {
		if (!take_series(d, i, err))
			return false;
		for (size_t j = 0; j < d->series->drift_count; j++) {
			const struct history_drift *drift = &d->series->drifts[j];

			buffer_append_string(d->out, count++ ? ",\n  " : "\n  ");
			if (!history_json_put_function(d, drift->function))
				return error_set_memory(err);
			json_text_flag(d->out, "is_total", drift->function == HISTORY_WHOLE);
			put_integer(d, "series", d->number);
			json_text_member_number(
				d->out, "first_pct", history_json_percent_of(d, drift->function, drift->first));
			json_text_member_number(
				d->out, "last_pct", history_json_percent_of(d, drift->function, drift->last));
			put_per(d, "first", drift->function, drift->first);
			put_per(d, "last", drift->function, drift->last);
			json_text_member_number(d->out, "q", drift->q);
			put_values(d, drift->function, false);
			JSON_TEXT(d->out, "}");
		}
	}
	buffer_append_string(d->out, count ? "\n ]" : "]");
	return true;
}

/* ---- Series ---- */

static bool history_json_put_notices(struct document *d, const uint32_t *notices, size_t count)
{
	JSON_TEXT(d->out, "[");
	for (size_t i = 0; i < count; i++) {
		buffer_append_string(d->out, i ? "," : "");
		if (!json_text_string(d->out, history_string(d->history, notices[i])))
			return false;
	}
	JSON_TEXT(d->out, "]");
	return true;
}

/* Writes the profiles of a side of a pair, as indexes among all. */
static void history_json_put_side(struct document *d, const struct history_pair *pair, enum diff_side side)
{
	size_t at = 0;

	buffer_printf(d->out, ",\"%s\":[", diff_side_name(side));
	for (size_t i = 0; i < pair->count[side]; i++) {
		while (at < d->series->count && d->series->profiles[at] != pair->profiles[side][i])
			at++;
		buffer_printf(d->out, "%s%zu", i ? "," : "", d->first + at);
	}
	JSON_TEXT(d->out, "]");
}

static bool history_json_put_points(struct document *d, struct error *err)
{
	JSON_TEXT(d->out, ",\"points\":[");
	for (size_t i = 0; i < d->series->point_count; i++) {
		const struct history_point *point = &d->series->points[i];
		struct history_pair pair = history_pair_of(d->history, d->number, i);
		CLEANUP(buffer_deinit) struct buffer command = { 0 };

		buffer_init(&command, HISTORY_MAX_TEXT_BYTES);
		history_words_command(&d->words, d->input, i, &command);
		if (!buffer_ok(&command, err))
			return false;
		buffer_printf(d->out, "%s\n   {\"index\":%zu", i ? "," : "", d->first + point->at);
		json_text_flag(d->out, "is_deploy", point->is_deploy);
		if (!history_json_put_text(d, "fact", history_string(d->history, point->fact)))
			return error_set_memory(err);
		history_json_put_side(d, &pair, DIFF_BASE);
		history_json_put_side(d, &pair, DIFF_HEAD);
		if (!json_text_member(d->out, "command", command.data))
			return error_set_memory(err);
		JSON_TEXT(d->out, "}");
	}
	JSON_TEXT(d->out, "]");
	return true;
}

static bool put_one_series(struct document *d, struct error *err)
{
	const struct history_series *series = d->series;
	const struct summary *first = series->count > 0 ? history_words_profile(&d->words, 0) : NULL;
	CLEANUP(buffer_deinit) struct buffer verdict = { 0 };

	buffer_init(&verdict, HISTORY_MAX_TEXT_BYTES);
	history_words_verdict(&d->words, &verdict);
	if (!buffer_ok(&verdict, err))
		return false;
	JSON_TEXT(d->out, "{\"title\":");
	if (!json_text_string(d->out, history_string(d->history, series->title)) ||
		!json_text_member(d->out, "facts", history_string(d->history, series->facts)) ||
		!json_text_member(d->out, "verdict_text", verdict.data))
		return error_set_memory(err);
	put_integer(d, "first", d->first);
	put_integer(d, "count", series->count);
	if (!json_text_member(d->out, "metric", first ? summary_string(d->history->set, first->metric) : "") ||
		!json_text_member(d->out, "unit", d->words.unit) ||
		!json_text_member(d->out, "scale", diff_scale_mode_name(series->scale)))
		return error_set_memory(err);
	json_text_member_number(d->out, "usual_total", d->words.is_per ? series->typical_total : NAN);
	JSON_TEXT(d->out, ",\"notices\":");
	if (!history_json_put_notices(d, series->notices, series->notice_count))
		return error_set_memory(err);
	if (!history_json_put_points(d, err))
		return false;
	JSON_TEXT(d->out, "}");
	return true;
}

static bool history_json_put_series(struct document *d, struct error *err)
{
	buffer_append_string(d->out, ",\n \"series\": [");
	for (size_t i = 0; i < d->history->series_count; i++) {
		buffer_append_string(d->out, i ? ",\n  " : "\n  ");
		if (!take_series(d, i, err) || !put_one_series(d, err))
			return false;
	}
	buffer_append_string(d->out, d->history->series_count ? "\n ]" : "]");
	return true;
}

/* ---- Profiles ---- */

static bool put_profile(struct document *d, size_t index)
{
	const struct summary_set *set = d->history->set;
	const struct summary *profile = history_words_profile(&d->words, index);

	JSON_TEXT(d->out, "{\"name\":");
	if (!json_text_string(d->out, summary_string(set, profile->name)))
		return false;
	history_json_put_time(d, index);
	JSON_TEXT(d->out, ",\"labels\":{");
	for (size_t i = 0; i < profile->label_count; i++) {
		buffer_append_string(d->out, i ? "," : "");
		if (!json_text_string(d->out, summary_string(set, profile->labels[i].key)))
			return false;
		JSON_TEXT(d->out, ":");
		if (!json_text_string(d->out, summary_string(set, profile->labels[i].value)))
			return false;
	}
	JSON_TEXT(d->out, "}");
	put_integer(d, "series", d->number);
	json_text_flag(d->out, "is_time_of_file", profile->is_time_of_file);
	JSON_TEXT(d->out, ",\"duration_ns\":");
	json_text_integer(d->out, profile->duration_ns);
	json_text_member_number(d->out, "total", profile->total);
	json_text_member_number(d->out, "requests", profile->requests > 0 ? profile->requests : NAN);
	json_text_member_number(d->out, "factor", d->series->factor[index]);
	JSON_TEXT(d->out, "}");
	return true;
}

static bool history_json_put_profiles(struct document *d, struct error *err)
{
	size_t count = 0;

	buffer_append_string(d->out, ",\n \"profiles\": [");
	for (size_t i = 0; i < d->history->series_count; i++) {
		if (!take_series(d, i, err))
			return false;
		for (size_t j = 0; j < d->series->count; j++) {
			buffer_append_string(d->out, count++ ? ",\n  " : "\n  ");
			if (!put_profile(d, j))
				return error_set_memory(err);
		}
	}
	buffer_append_string(d->out, count ? "\n ]" : "]");
	return true;
}

bool render_history_json(const struct render_history *input, struct buffer *out, struct error *err)
{
	CLEANUP(document_deinit) struct document d = { .input = input, .history = input->history, .out = out };

	JSON_TEXT(out, "{\n \"schema\": \"kelvin.history/1\",\n \"tool\": ");
	if (!json_text_string(out, input->tool ? input->tool : ""))
		return error_set_memory(err);
	JSON_TEXT(out, ",\n \"notices\": ");
	if (!history_json_put_notices(&d, d.history->notices, d.history->notice_count))
		return error_set_memory(err);
	if (!history_json_put_series(&d, err) || !history_json_put_profiles(&d, err) ||
		!history_json_put_changes(&d, "changes", false, err) ||
		!history_json_put_changes(&d, "moved", true, err) || !put_drifts(&d, err))
		return false;
	JSON_TEXT(out, "\n}\n");
	return buffer_ok(out, err);
}
