/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a history in JSON by schema kelvin.history/1 (docs/json.md): the profiles of all series one after another. */
#include "render/history_json.h"
#include "render/json_text.h"

#include <math.h>
#include <stdlib.h>

struct document_json {
	const struct render_history *input;
	const struct history *history;
	struct buffer *out;
	/* The series that is written: */
	const struct history_series *series;
	struct history_words words;
	size_t number, first; /* its index, and that of its first profile among all */
	double *values;       /* owned; [profile of the series] */
};

static void document_json_deinit(struct document_json *d)
{
	free(d->values);
}

/* Has the writer write of a series. */
static void take_series(struct document_json *d, size_t number)
{
	d->number = number;
	d->first = 0;
	for (size_t i = 0; i < number; i++)
		d->first += d->history->series[i].count;
	d->series = &d->history->series[number];
	d->words = history_words_of(d->history, d->series);
	free(d->values);
	d->values = memory_zeroed(d->series->count + 1, sizeof(*d->values));
}

/* ---- Values ---- */

/* Writes when a profile was recorded. */
static void history_json_put_time(struct document_json *d, size_t index)
{
	json_text_member_if(
		d->out, "time", history_words_stamp(history_words_profile(&d->words, index)->start_unix_ns).text);
}

/* Writes the profile behind a point: {"index", "name", "time"}. */
static void history_json_put_place(struct document_json *d, const char *key, size_t point)
{
	size_t at = d->series->points[point].at;

	json_text_begin(d->out, key, '{');
	json_text_member_integer(d->out, "index", (int64_t)(d->first + at));
	json_text_member(d->out, "name", summary_string(d->history->set, history_words_profile(&d->words, at)->name));
	history_json_put_time(d, at);
	json_text_close(d->out, '}');
}

/* Returns values in percent of the usual total; those of the total are in the unit. */
static double history_json_percent_of(const struct document_json *d, uint32_t function, double value)
{
	return function == HISTORY_WHOLE ? format_share(value, d->series->typical_total) : value;
}

static void put_percent_of(struct document_json *d, const char *key, uint32_t function, double value)
{
	json_text_member_number(d->out, key, history_json_percent_of(d, function, value));
}

/* Writes a value per request or per run. */
static void put_per(struct document_json *d, const char *key, uint32_t function, double value)
{
	json_text_member_number(d->out, key, d->words.is_per ? history_words_per(&d->words, function, value) : NAN);
}

static void history_json_put_function(struct document_json *d, uint32_t function)
{
	const struct summary_set *set = d->history->set;
	const struct summary_function *f = function == HISTORY_WHOLE ? NULL : &set->functions[function];
	char id[PROFILE_FUNCTION_ID_DIGITS + 1] = "";

	if (f)
		history_words_id(set, f, id);
	json_text_member(d->out, "function", history_words_name(&d->words, function));
	json_text_member(d->out, "module", f ? summary_string(set, f->module) : "");
	json_text_member_if(d->out, "id", id);
}

/* Its values in each profile of the series, in percent. */
static void put_values(struct document_json *d, uint32_t function, bool is_self)
{
	history_values(d->history, d->series, function, is_self, d->values);
	json_text_begin(d->out, "values_pct", '[');
	for (size_t i = 0; i < d->series->count; i++)
		json_text_number(d->out, history_json_percent_of(d, function, d->values[i]));
	json_text_close(d->out, ']');
}

/* ---- Changes ---- */

static void put_figures(struct document_json *d, const struct history_change *change)
{
	const uint32_t function = change->function;

	put_percent_of(d, "before_pct", function, change->before);
	put_percent_of(d, "after_pct", function, change->after);
	put_percent_of(d, "last_pct", function, change->last);
	put_percent_of(d, "delta_points", function, change->delta);
	json_text_member_interval(d->out, "ci", history_json_percent_of(d, function, change->ci_low),
		history_json_percent_of(d, function, change->ci_high));
	json_text_member_number(d->out, "q", change->q);
	put_per(d, "before", function, change->before);
	put_per(d, "after", function, change->after);
	put_per(d, "last", function, change->last);
	put_per(d, "delta", function, change->delta);
	json_text_member_integer(d->out, "agree", (int64_t)change->agree);
	json_text_member_integer(d->out, "of", (int64_t)change->of);
}

static void history_json_put_change(struct document_json *d, const struct history_change *change)
{
	const struct history_point *point = &d->series->points[change->point];
	bool is_open = change->went == SIZE_MAX;

	json_text_open(d->out, '{');
	history_json_put_function(d, change->function);
	json_text_flag(d->out, "is_total", change->function == HISTORY_WHOLE);
	json_text_flag(d->out, "is_self", change->is_self);
	json_text_member_integer(d->out, "series", (int64_t)d->number);
	history_json_put_place(d, "at", change->point);
	json_text_member_integer(d->out, "point", (int64_t)change->point);
	if (is_open)
		json_text_member_null(d->out, "went_at");
	else
		history_json_put_place(d, "went_at", change->went);
	put_figures(d, change);
	json_text_member(d->out, "state", is_open ? "open" : "went");
	json_text_member(d->out, "code", history_code_name(change->code));
	json_text_flag(d->out, "is_deploy", point->is_deploy);
	json_text_member_if(d->out, "fact", history_string(d->history, point->fact));
	put_values(d, change->function, change->is_self);
	json_text_close(d->out, '}');
}

static void put_drift(struct document_json *d, const struct history_drift *drift)
{
	json_text_open(d->out, '{');
	history_json_put_function(d, drift->function);
	json_text_flag(d->out, "is_total", drift->function == HISTORY_WHOLE);
	json_text_member_integer(d->out, "series", (int64_t)d->number);
	put_percent_of(d, "first_pct", drift->function, drift->first);
	put_percent_of(d, "last_pct", drift->function, drift->last);
	put_per(d, "first", drift->function, drift->first);
	put_per(d, "last", drift->function, drift->last);
	json_text_member_number(d->out, "q", drift->q);
	put_values(d, drift->function, false);
	json_text_close(d->out, '}');
}

/* ---- Series ---- */

static void history_json_put_notices(struct document_json *d, const uint32_t *notices, size_t count)
{
	json_text_open(d->out, '[');
	for (size_t i = 0; i < count; i++)
		json_text_string(d->out, history_string(d->history, notices[i]));
	json_text_close(d->out, ']');
}

/* Writes the profiles of a side of a pair, as indexes among all. */
static void history_json_put_side(struct document_json *d, const struct history_pair *pair, enum diff_side side)
{
	size_t at = 0;

	json_text_begin(d->out, diff_side_name(side), '[');
	for (size_t i = 0; i < pair->count[side]; i++) {
		while (at < d->series->count && d->series->profiles[at] != pair->profiles[side][i])
			at++;
		json_text_integer(d->out, (int64_t)(d->first + at));
	}
	json_text_close(d->out, ']');
}

static void put_point(struct document_json *d, size_t number)
{
	const struct history_point *point = &d->series->points[number];
	struct history_pair pair = history_pair_of(d->history, d->number, number);
	CLEANUP(buffer_deinit) struct buffer command = { 0 };

	buffer_init(&command, HISTORY_MAX_TEXT_BYTES);
	history_words_command(&d->words, d->input, number, &command);
	d->out->failed |= command.failed;
	json_text_line(d->out, 3);
	json_text_open(d->out, '{');
	json_text_member_integer(d->out, "index", (int64_t)(d->first + point->at));
	json_text_flag(d->out, "is_deploy", point->is_deploy);
	json_text_member_if(d->out, "fact", history_string(d->history, point->fact));
	history_json_put_side(d, &pair, DIFF_BASE);
	history_json_put_side(d, &pair, DIFF_HEAD);
	json_text_member(d->out, "command", command.data);
	json_text_close(d->out, '}');
}

static void put_one_series(struct document_json *d)
{
	const struct history_series *series = d->series;
	const struct summary *first = series->count > 0 ? history_words_profile(&d->words, 0) : NULL;

	json_text_line(d->out, 2);
	json_text_open(d->out, '{');
	json_text_member(d->out, "title", history_string(d->history, series->title));
	json_text_member(d->out, "facts", history_string(d->history, series->facts));
	history_json_words(&d->words, "verdict_text", history_words_verdict, d->out);
	json_text_member_integer(d->out, "first", (int64_t)d->first);
	json_text_member_integer(d->out, "count", (int64_t)series->count);
	json_text_member(d->out, "metric", first ? summary_string(d->history->set, first->metric) : "");
	json_text_member(d->out, "unit", d->words.unit);
	json_text_member(d->out, "scale", diff_scale_mode_name(series->scale));
	json_text_member_number(d->out, "usual_total", d->words.is_per ? series->typical_total : NAN);
	json_text_key(d->out, "notices");
	history_json_put_notices(d, series->notices, series->notice_count);
	json_text_begin(d->out, "points", '[');
	for (size_t i = 0; i < series->point_count; i++)
		put_point(d, i);
	json_text_close(d->out, ']');
	json_text_close(d->out, '}');
}

/* ---- Profiles ---- */

void history_json_words(const struct history_words *words, const char *key,
	void (*say)(const struct history_words *, struct buffer *), struct buffer *out)
{
	CLEANUP(buffer_deinit) struct buffer text = { 0 };

	buffer_init(&text, HISTORY_MAX_TEXT_BYTES);
	say(words, &text);
	out->failed |= text.failed;
	json_text_member(out, key, text.data);
}

void history_json_labels(const struct summary_set *set, const struct summary *profile, struct buffer *out)
{
	json_text_open(out, '{');
	for (size_t i = 0; i < profile->label_count; i++) {
		json_text_string(out, summary_string(set, profile->labels[i].key));
		buffer_append_byte(out, ':');
		json_text_string(out, summary_string(set, profile->labels[i].value));
	}
	json_text_close(out, '}');
}

static void put_profile(struct document_json *d, size_t index)
{
	const struct summary_set *set = d->history->set;
	const struct summary *profile = history_words_profile(&d->words, index);

	json_text_line(d->out, 2);
	json_text_open(d->out, '{');
	json_text_member(d->out, "name", summary_string(set, profile->name));
	history_json_put_time(d, index);
	json_text_key(d->out, "labels");
	history_json_labels(set, profile, d->out);
	json_text_member_integer(d->out, "series", (int64_t)d->number);
	json_text_flag(d->out, "is_time_of_file", profile->is_time_of_file);
	json_text_member_integer(d->out, "duration_ns", profile->duration_ns);
	json_text_member_number(d->out, "total", profile->total);
	json_text_member_number(d->out, "requests", profile->requests > 0 ? profile->requests : NAN);
	json_text_member_number(d->out, "factor", d->series->factor[index]);
	json_text_close(d->out, '}');
}

/* ---- Lists ---- */

static void put_profiles(struct document_json *d)
{
	for (size_t i = 0; i < d->series->count; i++)
		put_profile(d, i);
}

static void put_changes_of(struct document_json *d, bool moved)
{
	for (size_t i = 0; i < d->series->change_count; i++) {
		if (d->series->changes[i].has_moved != moved)
			continue;
		json_text_line(d->out, 2);
		history_json_put_change(d, &d->series->changes[i]);
	}
}

static void put_changes_of_cost(struct document_json *d)
{
	put_changes_of(d, false);
}

/* Functions whose cost only moved. */
static void put_moves(struct document_json *d)
{
	put_changes_of(d, true);
}

static void put_drifts(struct document_json *d)
{
	for (size_t i = 0; i < d->series->drift_count; i++) {
		json_text_line(d->out, 2);
		put_drift(d, &d->series->drifts[i]);
	}
}

/* Writes a list of the entries of all series, an entry a line. */
static void put_of_all_series(struct document_json *d, const char *key, void (*put)(struct document_json *))
{
	json_text_list(d->out, key);
	for (size_t i = 0; i < d->history->series_count; i++) {
		take_series(d, i);
		put(d);
	}
	json_text_end_list(d->out);
}

bool render_history_json(const struct render_history *input, struct buffer *out, struct error *err)
{
	CLEANUP(document_json_deinit)
	struct document_json d = { .input = input, .history = input->history, .out = out };

	buffer_append_string(out, "{\n \"schema\": \"kelvin.history/1\",\n \"tool\": ");
	json_text_string(out, input->tool);
	buffer_append_string(out, ",\n \"notices\": ");
	history_json_put_notices(&d, d.history->notices, d.history->notice_count);
	put_of_all_series(&d, "series", put_one_series);
	put_of_all_series(&d, "profiles", put_profiles);
	put_of_all_series(&d, "changes", put_changes_of_cost);
	put_of_all_series(&d, "moved", put_moves);
	put_of_all_series(&d, "drifts", put_drifts);
	buffer_append_string(out, "\n}\n");
	return buffer_ok(out, err);
}
