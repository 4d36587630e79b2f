/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page's blocks of a history: its series as JSON, and the values of functions over time as columns. */
#include "render/history_words.h"
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

static bool page_history_list_functions(struct page_history *page, struct error *err)
{
	const struct history_series *series = page->series;
	size_t count = page->set->function_count;
	CLEANUP(cleanup_free) struct sized *sizes = calloc(count + 1, sizeof(*sizes));

	page->listed = calloc(count + 1, sizeof(*page->listed));
	page->places = calloc(count + 1, sizeof(*page->places));
	if (!sizes || !page->listed || !page->places)
		return error_set_memory(err);
	for (size_t i = 0; i < count; i++)
		page->places[i] = NOT_LISTED;
	for (size_t i = 0; i < series->change_count; i++)
		list_function(page, series->changes[i].function);
	for (size_t i = 0; i < series->drift_count; i++)
		list_function(page, series->drifts[i].function);
	list_largest(page, sizes);
	return true;
}

/* ---- JSON ---- */

static void page_history_put_time(struct buffer *out, int64_t unix_ns)
{
	if (unix_ns == 0)
		JSON_TEXT(out, "null");
	else
		json_text_integer(out, unix_ns / 1000000);
}

static bool page_history_put_notices(
	const struct history *history, const uint32_t *notices, size_t count, struct buffer *out)
{
	JSON_TEXT(out, ",\"notices\":[");
	for (size_t i = 0; i < count; i++) {
		buffer_append_string(out, i ? "," : "");
		if (!json_text_string(out, history_string(history, notices[i])))
			return false;
	}
	JSON_TEXT(out, "]");
	return true;
}

static bool put_labels(const struct page_history *page, const struct summary *profile, struct buffer *out)
{
	JSON_TEXT(out, "{");
	for (size_t i = 0; i < profile->label_count; i++) {
		buffer_append_string(out, i ? "," : "");
		if (!json_text_string(out, summary_string(page->set, profile->labels[i].key)))
			return false;
		JSON_TEXT(out, ":");
		if (!json_text_string(out, summary_string(page->set, profile->labels[i].value)))
			return false;
	}
	JSON_TEXT(out, "}");
	return true;
}

static bool page_history_put_profiles(const struct page_history *page, struct buffer *out)
{
	JSON_TEXT(out, ",\"profiles\":[");
	for (size_t i = 0; i < page->series->count; i++) {
		const struct summary *profile = history_words_profile(&page->words, i);

		buffer_append_string(out, i ? ",[" : "[");
		if (!json_text_string(out, summary_string(page->set, profile->name)))
			return false;
		JSON_TEXT(out, ",");
		page_history_put_time(out, profile->start_unix_ns);
		JSON_TEXT(out, ",");
		json_text_integer(out, profile->duration_ns / 1000000);
		buffer_append_string(out, profile->is_time_of_file ? ",true," : ",false,");
		json_text_number(out, profile->total);
		JSON_TEXT(out, ",");
		json_text_number(out, profile->requests);
		JSON_TEXT(out, ",");
		json_text_number(out, profile->lost);
		JSON_TEXT(out, ",");
		if (!put_labels(page, profile, out))
			return false;
		JSON_TEXT(out, "]");
	}
	JSON_TEXT(out, "]");
	return true;
}

static bool is_changed_at(const struct history_series *series, size_t point)
{
	for (size_t i = 0; i < series->change_count; i++)
		if (series->changes[i].point == point || series->changes[i].went == point)
			return true;
	return false;
}

static bool put_pair(const struct page_history *page, size_t point, struct buffer *out, struct error *err)
{
	size_t series = (size_t)(page->series - page->history->series);
	struct history_pair pair;

	JSON_TEXT(out, ",\"pair\":");
	if (!is_changed_at(page->series, point)) {
		JSON_TEXT(out, "null");
		return true;
	}
	pair = history_pair_of(page->history, series, point);
	for (int side = DIFF_BASE; side < DIFF_SIDES; side++) {
		CLEANUP(buffer_deinit) struct buffer words = { 0 };

		buffer_init(&words, HISTORY_MAX_TEXT_BYTES);
		history_words_side(page->input, &pair, (enum diff_side)side, &words);
		buffer_append(&words, "", 0);
		buffer_append_string(out, side ? "," : "[");
		if (!buffer_ok(&words, err))
			return false;
		if (!json_text_string(out, words.data))
			return error_set_memory(err);
	}
	JSON_TEXT(out, "]");
	return true;
}

static void page_history_put_part(
	const struct page_history *page, size_t point, const bool *left_out, struct buffer *out)
{
	size_t series = (size_t)(page->series - page->history->series);
	const struct render_history_part *part = render_history_part_of(page->input, series, point);
	size_t number = part ? (size_t)(part - page->input->parts) : 0;

	if (part && !left_out[number])
		buffer_printf(out, ",\"part\":%zu", number);
	else
		JSON_TEXT(out, ",\"part\":null");
}

static bool page_history_put_points(
	const struct page_history *page, const bool *left_out, struct buffer *out, struct error *err)
{
	JSON_TEXT(out, ",\"points\":[");
	for (size_t i = 0; i < page->series->point_count; i++) {
		const struct history_point *point = &page->series->points[i];

		buffer_printf(out, "%s{\"at\":%zu", i ? "," : "", point->at);
		json_text_flag(out, "isDeploy", point->is_deploy);
		if (!json_text_member(out, "fact", history_string(page->history, point->fact)))
			return error_set_memory(err);
		page_history_put_part(page, i, left_out, out);
		if (!put_pair(page, i, out, err))
			return false;
		JSON_TEXT(out, "}");
	}
	JSON_TEXT(out, "]");
	return true;
}

static bool put_functions(const struct page_history *page, struct buffer *out)
{
	JSON_TEXT(out, ",\"functions\":[");
	for (size_t i = 0; i < page->listed_count; i++) {
		const struct summary_function *f = &page->set->functions[page->listed[i]];
		char id[PROFILE_FUNCTION_ID_DIGITS + 1];

		history_words_id(page->set, f, id);
		buffer_printf(out, "%s{\"id\":\"%s\"", i ? "," : "", id);
		if (!json_text_member(out, "name", summary_string(page->set, f->name)) ||
			!json_text_member(out, "shown", summary_string(page->set, f->shown)) ||
			!json_text_member(out, "shownIn", summary_string(page->set, f->shown_in)) ||
			!json_text_member(out, "module", summary_string(page->set, f->module)) ||
			!json_text_member(out, "file", summary_string(page->set, f->file)))
			return false;
		buffer_printf(
			out, ",\"origin\":\"%s\",\"language\":%d}", profile_origin_name(f->origin), (int)f->language);
	}
	JSON_TEXT(out, "]");
	return true;
}

/* Begins the object of a change or a drift with its function. */
static void page_history_put_function(const struct page_history *page, uint32_t function, size_t i, struct buffer *out)
{
	buffer_append_string(out, i ? ",{\"function\":" : "{\"function\":");
	if (function == HISTORY_WHOLE)
		JSON_TEXT(out, "null");
	else
		buffer_printf(out, "%u", page->places[function]);
}

static void page_history_put_changes(const struct page_history *page, struct buffer *out)
{
	JSON_TEXT(out, ",\"changes\":[");
	for (size_t i = 0; i < page->series->change_count; i++) {
		const struct history_change *change = &page->series->changes[i];

		page_history_put_function(page, change->function, i, out);
		json_text_flag(out, "isSelf", change->is_self);
		buffer_printf(out, ",\"point\":%zu,\"went\":", change->point);
		if (change->went == SIZE_MAX)
			JSON_TEXT(out, "null");
		else
			buffer_printf(out, "%zu", change->went);
		json_text_member_number(out, "before", change->before);
		json_text_member_number(out, "after", change->after);
		json_text_member_number(out, "last", change->last);
		json_text_member_number(out, "delta", change->delta);
		json_text_member_number(out, "low", change->ci_low);
		json_text_member_number(out, "high", change->ci_high);
		json_text_member_number(out, "q", change->q);
		buffer_printf(out, ",\"agree\":%zu,\"of\":%zu,\"code\":\"%s\"", change->agree, change->of,
			history_code_name(change->code));
		json_text_flag(out, "hasMoved", change->has_moved);
		JSON_TEXT(out, "}");
	}
	JSON_TEXT(out, "],\"drifts\":[");
	for (size_t i = 0; i < page->series->drift_count; i++) {
		const struct history_drift *drift = &page->series->drifts[i];

		page_history_put_function(page, drift->function, i, out);
		json_text_member_number(out, "first", drift->first);
		json_text_member_number(out, "last", drift->last);
		json_text_member_number(out, "q", drift->q);
		JSON_TEXT(out, "}");
	}
	JSON_TEXT(out, "]");
}

/* Appends a member whose text is made by a function. */
static bool put_words(const struct page_history *page, const char *key,
	void (*say)(const struct history_words *, struct buffer *), struct buffer *out)
{
	CLEANUP(buffer_deinit) struct buffer words = { 0 };

	buffer_init(&words, HISTORY_MAX_TEXT_BYTES);
	say(&page->words, &words);
	buffer_append(&words, "", 0);
	return !words.failed && json_text_member(out, key, words.data);
}

static bool page_history_put_series(
	const struct page_history *page, const bool *left_out, struct buffer *out, struct error *err)
{
	const struct history_series *series = page->series;

	JSON_TEXT(out, "{\"title\":");
	if (!json_text_string(out, history_string(page->history, series->title)) ||
		!json_text_member(out, "facts", history_string(page->history, series->facts)) ||
		!put_words(page, "verdictText", history_words_verdict, out) ||
		!put_words(page, "measureText", history_words_measure, out) ||
		!json_text_member(out, "scale", diff_scale_mode_name(series->scale)))
		return error_set_memory(err);
	json_text_flag(out, "isPer", page->words.is_per);
	if (!json_text_member(out, "unit", page->words.unit))
		return error_set_memory(err);
	json_text_member_number(out, "typicalTotal", series->typical_total);
	if (!page_history_put_notices(page->history, series->notices, series->notice_count, out) ||
		!page_history_put_profiles(page, out))
		return error_set_memory(err);
	if (!page_history_put_points(page, left_out, out, err))
		return false;
	if (!put_functions(page, out))
		return error_set_memory(err);
	page_history_put_changes(page, out);
	JSON_TEXT(out, "}");
	return true;
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

static bool append_columns(const struct page_history *page, struct buffer *out, struct error *err)
{
	const struct history_series *series = page->series;
	CLEANUP(cleanup_free) double *values = calloc(series->count + 1, sizeof(*values));
	CLEANUP(cleanup_free) uint64_t *scratch = calloc(series->count + 1, sizeof(*scratch));

	if (!values || !scratch)
		return error_set_memory(err);
	history_values(page->history, series, HISTORY_WHOLE, false, values);
	append_column(out, values, scratch, series->count);
	for (size_t i = 0; i < page->listed_count; i++) {
		history_values(page->history, series, page->listed[i], true, values);
		append_column(out, values, scratch, series->count);
		history_values(page->history, series, page->listed[i], false, values);
		append_column(out, values, scratch, series->count);
	}
	return true;
}

bool page_data_history(const struct render_history *input, const bool *left_out, struct buffer *list,
	struct buffer *values, struct error *err)
{
	const struct history *history = input->history;
	size_t left_out_count = 0;

	for (size_t i = 0; i < input->part_count; i++)
		left_out_count += left_out[i];
	JSON_TEXT(list, "{\"format\":1,\"tool\":");
	if (!json_text_string(list, input->tool ? input->tool : "kelvin"))
		return error_set_memory(err);
	buffer_printf(list, ",\"leftOut\":%zu", left_out_count);
	if (!page_history_put_notices(history, history->notices, history->notice_count, list))
		return error_set_memory(err);
	JSON_TEXT(list, ",\"series\":[");
	for (size_t i = 0; i < history->series_count; i++) {
		CLEANUP(page_history_deinit)
		struct page_history page = { .input = input,
			.history = history,
			.set = history->set,
			.series = &history->series[i],
			.words = history_words_of(history, &history->series[i]) };

		buffer_append_string(list, i ? "," : "");
		if (!page_history_list_functions(&page, err) || !page_history_put_series(&page, left_out, list, err) ||
			!append_columns(&page, values, err))
			return false;
	}
	JSON_TEXT(list, "]}");
	return buffer_ok(list, err) && buffer_ok(values, err);
}
