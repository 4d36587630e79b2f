/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page's blocks of a history: its series as JSON, and the values of functions over time as columns. */
#include "render/history_json.h"
#include "render/json_text.h"
#include "render/page_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * The block `history`, whose keys are in the order of their appearance here:
 *
 *     {format: 1, tool, leftOut: how many parts have no room, notices: [text], series: [{
 *       title, facts, verdictText, measureText, scale: "per-request"|"per-run"|"robust", isPer, unit, typicalTotal,
 *       notices: [text],
 *       profiles: [[name, time, duration, isTimeOfFile, total, requests, lost, {label: value}]],
 *       points: [{at, isDeploy, fact, part, pair: [base, head]}],
 *       functions: [{id, name, shown, shownIn, module, file, origin, language}],
 *       changes: [{function, isSelf, point, went, before, after, last, delta, low, high, q, agree, of, code,
 * hasMoved}], drifts: [{function, first, last, q}]
 *     }]}
 *
 * Times are milliseconds since 1970, null where they are not known, and durations are milliseconds. `total` is as
 * recorded, in the unit; `requests` is 0 where they were not counted; `lost` is a part of the samples. `at` and `went`
 * are indexes of profiles and of points; `went` is null for an open change. A `function` is an index of `functions`,
 * null the total. `pair` is what names the sides on the command line, null where nothing changed. Values are as in
 * struct history_change.
 */

/*
 * Limits of each series: enough for every question about the largest functions, and little beside the diffs of points.
 */
enum { MOST_FUNCTIONS = 200, NOT_LISTED = UINT32_MAX };
static const uint64_t most_multiples = UINT16_MAX;

struct page_history {
	const struct render_history *input;
	const struct history *history;
	const struct summary_set *set;
	const struct history_series *series;
	struct history_words words;
	uint32_t *listed; /* owned; [function in the page] id in the set */
	size_t listed_count;
	uint32_t *places; /* owned; [id in the set] function in the page, or NOT_LISTED */
};

static void page_history_deinit(struct page_history *page)
{
	free(page->listed);
	free(page->places);
}

/* ---- Which functions are listed ---- */

static void list_function(struct page_history *page, uint32_t function)
{
	if (function == HISTORY_WHOLE || page->places[function] != NOT_LISTED)
		return;
	page->places[function] = (uint32_t)page->listed_count;
	page->listed[page->listed_count++] = function;
}

struct sized {
	double size;
	uint32_t function;
};

static int page_history_by_falling_size(const void *a, const void *b)
{
	const struct sized *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

static void list_largest(struct page_history *page, struct sized *sizes)
{
	const struct summary_set *set = page->set;

	for (uint32_t i = 0; i < set->function_count; i++)
		sizes[i] = (struct sized){ 0, i };
	for (size_t i = 0; i < page->series->count; i++) {
		const struct summary *profile = history_words_profile(&page->words, i);

		for (size_t row = 0; row < profile->row_count; row++)
			sizes[profile->rows[row].function].size += profile->rows[row].total * page->series->factor[i];
	}
	qsort(sizes, set->function_count, sizeof(*sizes), page_history_by_falling_size);
	for (size_t i = 0; i < set->function_count && page->listed_count < MOST_FUNCTIONS && sizes[i].size > 0; i++)
		list_function(page, sizes[i].function);
}

static void page_history_list_functions(struct page_history *page)
{
	const struct history_series *series = page->series;
	size_t count = page->set->function_count;
	CLEANUP(cleanup_free) struct sized *sizes = memory_zeroed(count + 1, sizeof(*sizes));

	page->listed = memory_zeroed(count + 1, sizeof(*page->listed));
	page->places = memory_zeroed(count + 1, sizeof(*page->places));
	for (size_t i = 0; i < count; i++)
		page->places[i] = NOT_LISTED;
	for (size_t i = 0; i < series->change_count; i++)
		list_function(page, series->changes[i].function);
	for (size_t i = 0; i < series->drift_count; i++)
		list_function(page, series->drifts[i].function);
	list_largest(page, sizes);
}

/* ---- JSON ---- */

static void page_history_put_notices(
	const struct history *history, const uint32_t *notices, size_t count, struct buffer *out)
{
	json_text_begin(out, "notices", '[');
	for (size_t i = 0; i < count; i++)
		json_text_string(out, history_string(history, notices[i]));
	json_text_close(out, ']');
}

static void page_history_put_profile(const struct page_history *page, const struct summary *profile, struct buffer *out)
{
	json_text_open(out, '[');
	json_text_string(out, summary_string(page->set, profile->name));
	if (profile->start_unix_ns == 0)
		json_text_null(out);
	else
		json_text_integer(out, profile->start_unix_ns / 1000000);
	json_text_integer(out, profile->duration_ns / 1000000);
	buffer_append_string(out, profile->is_time_of_file ? ",true" : ",false");
	json_text_number(out, profile->total);
	json_text_number(out, profile->requests);
	json_text_number(out, profile->lost);
	history_json_labels(page->set, profile, out);
	json_text_close(out, ']');
}

static bool is_changed_at(const struct history_series *series, size_t point)
{
	for (size_t i = 0; i < series->change_count; i++)
		if (series->changes[i].point == point || series->changes[i].went == point)
			return true;
	return false;
}

static void page_history_put_pair(const struct page_history *page, size_t point, struct buffer *out)
{
	size_t series = (size_t)(page->series - page->history->series);
	struct history_pair pair;

	json_text_key(out, "pair");
	if (!is_changed_at(page->series, point)) {
		json_text_null(out);
		return;
	}
	pair = history_pair_of(page->history, series, point);
	json_text_open(out, '[');
	for (int side = DIFF_BASE; side < DIFF_SIDES; side++) {
		CLEANUP(buffer_deinit) struct buffer words = { 0 };

		buffer_init(&words, HISTORY_MAX_TEXT_BYTES);
		history_words_side(page->input, &pair, (enum diff_side)side, &words);
		out->failed |= words.failed;
		json_text_string(out, words.data);
	}
	json_text_close(out, ']');
}

static void page_history_put_part(
	const struct page_history *page, size_t point, const bool *left_out, struct buffer *out)
{
	size_t series = (size_t)(page->series - page->history->series);
	const struct render_history_part *part = render_history_part_of(page->input, series, point);
	size_t number = part ? (size_t)(part - page->input->parts) : 0;

	json_text_member_known(out, "part", part && !left_out[number], (int64_t)number);
}

static void page_history_put_point(
	const struct page_history *page, size_t number, const bool *left_out, struct buffer *out)
{
	const struct history_point *point = &page->series->points[number];

	json_text_open(out, '{');
	json_text_member_integer(out, "at", (int64_t)point->at);
	json_text_flag(out, "isDeploy", point->is_deploy);
	json_text_member(out, "fact", history_string(page->history, point->fact));
	page_history_put_part(page, number, left_out, out);
	page_history_put_pair(page, number, out);
	json_text_close(out, '}');
}

static void page_history_put_listed(const struct page_history *page, uint32_t function, struct buffer *out)
{
	const struct summary_function *f = &page->set->functions[function];
	char id[PROFILE_FUNCTION_ID_DIGITS + 1];

	history_words_id(page->set, f, id);
	json_text_open(out, '{');
	json_text_member(out, "id", id);
	json_text_member(out, "name", summary_string(page->set, f->name));
	json_text_member(out, "shown", summary_string(page->set, f->shown));
	json_text_member(out, "shownIn", summary_string(page->set, f->shown_in));
	json_text_member(out, "module", summary_string(page->set, f->module));
	json_text_member(out, "file", summary_string(page->set, f->file));
	json_text_member(out, "origin", profile_origin_name(f->origin));
	json_text_member_integer(out, "language", f->language);
	json_text_close(out, '}');
}

/* Begins the object of a change or a drift with its function. */
static void page_history_put_function(const struct page_history *page, uint32_t function, struct buffer *out)
{
	json_text_open(out, '{');
	json_text_member_known(
		out, "function", function != HISTORY_WHOLE, function == HISTORY_WHOLE ? 0 : page->places[function]);
}

static void page_history_put_change(
	const struct page_history *page, const struct history_change *change, struct buffer *out)
{
	page_history_put_function(page, change->function, out);
	json_text_flag(out, "isSelf", change->is_self);
	json_text_member_integer(out, "point", (int64_t)change->point);
	json_text_member_known(out, "went", change->went != SIZE_MAX, (int64_t)change->went);
	json_text_member_number(out, "before", change->before);
	json_text_member_number(out, "after", change->after);
	json_text_member_number(out, "last", change->last);
	json_text_member_number(out, "delta", change->delta);
	json_text_member_number(out, "low", change->ci_low);
	json_text_member_number(out, "high", change->ci_high);
	json_text_member_number(out, "q", change->q);
	json_text_member_integer(out, "agree", (int64_t)change->agree);
	json_text_member_integer(out, "of", (int64_t)change->of);
	json_text_member(out, "code", history_code_name(change->code));
	json_text_flag(out, "hasMoved", change->has_moved);
	json_text_close(out, '}');
}

static void page_history_put_drift(
	const struct page_history *page, const struct history_drift *drift, struct buffer *out)
{
	page_history_put_function(page, drift->function, out);
	json_text_member_number(out, "first", drift->first);
	json_text_member_number(out, "last", drift->last);
	json_text_member_number(out, "q", drift->q);
	json_text_close(out, '}');
}

static void page_history_put_lists(const struct page_history *page, const bool *left_out, struct buffer *out)
{
	const struct history_series *series = page->series;

	json_text_begin(out, "profiles", '[');
	for (size_t i = 0; i < series->count; i++)
		page_history_put_profile(page, history_words_profile(&page->words, i), out);
	json_text_close(out, ']');
	json_text_begin(out, "points", '[');
	for (size_t i = 0; i < series->point_count; i++)
		page_history_put_point(page, i, left_out, out);
	json_text_close(out, ']');
	json_text_begin(out, "functions", '[');
	for (size_t i = 0; i < page->listed_count; i++)
		page_history_put_listed(page, page->listed[i], out);
	json_text_close(out, ']');
	json_text_begin(out, "changes", '[');
	for (size_t i = 0; i < series->change_count; i++)
		page_history_put_change(page, &series->changes[i], out);
	json_text_close(out, ']');
	json_text_begin(out, "drifts", '[');
	for (size_t i = 0; i < series->drift_count; i++)
		page_history_put_drift(page, &series->drifts[i], out);
	json_text_close(out, ']');
}

static void page_history_put_series(const struct page_history *page, const bool *left_out, struct buffer *out)
{
	const struct history_series *series = page->series;

	json_text_open(out, '{');
	json_text_member(out, "title", history_string(page->history, series->title));
	json_text_member(out, "facts", history_string(page->history, series->facts));
	history_json_words(&page->words, "verdictText", history_words_verdict, out);
	history_json_words(&page->words, "measureText", history_words_measure, out);
	json_text_member(out, "scale", diff_scale_mode_name(series->scale));
	json_text_flag(out, "isPer", page->words.is_per);
	json_text_member(out, "unit", page->words.unit);
	json_text_member_number(out, "typicalTotal", series->typical_total);
	page_history_put_notices(page->history, series->notices, series->notice_count, out);
	page_history_put_lists(page, left_out, out);
	json_text_close(out, '}');
}

/* ---- Columns ---- */

static void append_column(struct buffer *out, const double *values, uint64_t *scratch, size_t count)
{
	double most = 0, quantum;
	uint8_t bytes[sizeof(quantum)];

	for (size_t i = 0; i < count; i++)
		most = isfinite(values[i]) && values[i] > most ? values[i] : most;
	quantum = most > 0 ? most / (double)most_multiples : 1;
	for (size_t i = 0; i < count; i++)
		scratch[i] = isfinite(values[i]) && values[i] > 0 ? (uint64_t)llround(values[i] / quantum) : 0;
	memcpy(bytes, &quantum, sizeof(bytes));
	buffer_append(out, bytes, sizeof(bytes));
	page_data_append_fixed(out, scratch, count);
}

static void append_columns(const struct page_history *page, struct buffer *out)
{
	const struct history_series *series = page->series;
	CLEANUP(cleanup_free) double *values = memory_zeroed(series->count + 1, sizeof(*values));
	CLEANUP(cleanup_free) uint64_t *scratch = memory_zeroed(series->count + 1, sizeof(*scratch));

	history_values(page->history, series, HISTORY_WHOLE, false, values);
	append_column(out, values, scratch, series->count);
	for (size_t i = 0; i < page->listed_count; i++) {
		history_values(page->history, series, page->listed[i], true, values);
		append_column(out, values, scratch, series->count);
		history_values(page->history, series, page->listed[i], false, values);
		append_column(out, values, scratch, series->count);
	}
}

bool page_data_history(const struct render_history *input, const bool *left_out, struct buffer *list,
	struct buffer *values, struct error *err)
{
	const struct history *history = input->history;
	size_t left_out_count = 0;

	for (size_t i = 0; i < input->part_count; i++)
		left_out_count += left_out[i];
	json_text_open(list, '{');
	json_text_member_integer(list, "format", 1);
	json_text_member(list, "tool", input->tool ? input->tool : "kelvin");
	json_text_member_integer(list, "leftOut", (int64_t)left_out_count);
	page_history_put_notices(history, history->notices, history->notice_count, list);
	json_text_begin(list, "series", '[');
	for (size_t i = 0; i < history->series_count; i++) {
		CLEANUP(page_history_deinit)
		struct page_history page = { .input = input,
			.history = history,
			.set = history->set,
			.series = &history->series[i],
			.words = history_words_of(history, &history->series[i]) };

		page_history_list_functions(&page);
		page_history_put_series(&page, left_out, list);
		append_columns(&page, values);
	}
	json_text_close(list, ']');
	json_text_close(list, '}');
	return buffer_ok(list, err) && buffer_ok(values, err);
}
