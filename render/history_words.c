/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "render/history_words.h"

#include "render/question.h"

#include <math.h>
#include <string.h>
#include <time.h>

static const int64_t second_ns = 1000000000;

static const struct format_text nothing = { .text = "" };

/* ---- Times ---- */

static struct tm utc_of(int64_t unix_ns)
{
	/* Rounded down, before 1970 too. */
	time_t seconds = (time_t)(unix_ns / second_ns - (unix_ns % second_ns < 0));
	struct tm parts = { .tm_mday = 1 };

	(void)gmtime_r(&seconds, &parts);
	return parts;
}

const struct summary *history_words_profile(const struct history_words *w, size_t index)
{
	return &w->history->set->items[w->series->profiles[index]];
}

/* Years are written where the profiles are of several; seconds where two of them are of one minute. */
static void choose_times(struct history_words *w)
{
	struct tm before = { 0 };

	for (size_t i = 0; i < w->series->count; i++) {
		struct tm now = utc_of(history_words_profile(w, i)->start_unix_ns);

		if (i > 0) {
			w->has_year = w->has_year || now.tm_year != before.tm_year;
			w->has_seconds = w->has_seconds ||
					 (now.tm_min == before.tm_min && now.tm_hour == before.tm_hour &&
						 now.tm_yday == before.tm_yday && now.tm_year == before.tm_year);
		}
		before = now;
	}
}

struct history_words history_words_of(const struct history *history, const struct history_series *series)
{
	struct history_words w = { .history = history, .series = series, .unit = "" };

	w.is_per = series->scale == DIFF_SCALE_PER_REQUEST || series->scale == DIFF_SCALE_PER_RUN;
	if (series->count > 0)
		w.unit = summary_string(history->set, history_words_profile(&w, 0)->unit);
	choose_times(&w);
	return w;
}

struct format_text history_words_day(const struct history_words *w, size_t index)
{
	static const char months[][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov",
		"Dec" };
	int64_t start_ns = history_words_profile(w, index)->start_unix_ns;
	struct tm parts = utc_of(start_ns);
	struct format_text out;

	if (start_ns == 0)
		snprintf(out.text, sizeof(out.text), "profile %zu", index + 1);
	else if (w->has_year)
		snprintf(out.text, sizeof(out.text), "%d %s %d", parts.tm_mday, months[parts.tm_mon],
			parts.tm_year + 1900);
	else
		snprintf(out.text, sizeof(out.text), "%d %s", parts.tm_mday, months[parts.tm_mon]);
	return out;
}

struct format_text history_words_time(const struct history_words *w, size_t index)
{
	int64_t start_ns = history_words_profile(w, index)->start_unix_ns;
	struct tm parts = utc_of(start_ns);
	struct format_text out = history_words_day(w, index);
	size_t size = strlen(out.text);

	if (start_ns == 0)
		return out;
	size += (size_t)snprintf(out.text + size, sizeof(out.text) - size, " %02d:%02d", parts.tm_hour, parts.tm_min);
	if (w->has_seconds)
		snprintf(out.text + size, sizeof(out.text) - size, ":%02d", parts.tm_sec);
	return out;
}

struct format_text history_words_stamp(int64_t unix_ns)
{
	struct tm parts = utc_of(unix_ns);
	int milliseconds = (int)(((unix_ns % second_ns) + second_ns) % second_ns / 1000000);
	struct format_text out = nothing;

	if (unix_ns != 0)
		snprintf(out.text, sizeof(out.text), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900,
			parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, milliseconds);
	return out;
}

/* ---- Functions ---- */

const char *history_words_name(const struct history_words *w, uint32_t function)
{
	const struct summary_set *set = w->history->set;

	if (function == HISTORY_WHOLE)
		return "(total)";
	return summary_string(set, set->functions[function].shown);
}

void history_words_id(const struct summary_set *set, const struct summary_function *function,
	char id[static PROFILE_FUNCTION_ID_DIGITS + 1])
{
	question_id_of_key(summary_string(set, function->key), function->interrupt, id);
}

/* ---- Values ---- */

double history_words_per(const struct history_words *w, uint32_t function, double value)
{
	return function == HISTORY_WHOLE ? value : value / 100 * w->series->typical_total;
}

static bool is_in_unit(const struct history_words *w, uint32_t function)
{
	return w->is_per || function == HISTORY_WHOLE;
}

struct format_text history_words_value(const struct history_words *w, uint32_t function, double value)
{
	/* Less is shown as zero, which needs no unit. */
	static const double least = 0.005;

	if (!is_in_unit(w, function))
		return format_percent(value);
	value = history_words_per(w, function, value);
	return fabs(value) < least ? format_value(0, w->unit) : format_precise(value, w->unit);
}

/* Joins values by arrows. One unit is written once, behind the last one, and 0 is 0 in each. */
static struct format_text join_values(
	const struct history_words *w, uint32_t function, const double *values, size_t count)
{
	struct format_text texts[3], out;
	const char *unit;
	bool is_one = true;
	size_t size = 0;

	for (size_t i = 0; i < count; i++)
		texts[i] = history_words_value(w, function, values[i]);
	unit = strchr(texts[count - 1].text, ' ');
	for (size_t i = 0; i + 1 < count; i++) {
		const char *other = strchr(texts[i].text, ' ');

		is_one = is_one && unit && (!other || strcmp(other, unit) == 0);
	}
	for (size_t i = 0; i < count; i++) {
		if (is_one && i + 1 < count)
			texts[i].text[strcspn(texts[i].text, " ")] = '\0';
		size += (size_t)snprintf(
			out.text + size, sizeof(out.text) - size, "%s%.11s", i ? " → " : "", texts[i].text);
	}
	return out;
}

struct format_text history_words_values(const struct history_words *w, uint32_t function, double before, double after)
{
	return join_values(w, function, (const double[]){ before, after }, 2);
}

struct format_text history_words_course(const struct history_words *w, const struct history_change *change)
{
	return join_values(w, change->function, (const double[]){ change->before, change->after, change->last }, 3);
}

struct format_text history_words_delta(const struct history_change *change)
{
	return change->function == HISTORY_WHOLE ? format_change(change->before, change->after)
						 : format_points(change->delta);
}

struct format_text history_words_interval(const struct history_change *change)
{
	double low = change->ci_low / change->before, high = change->ci_high / change->before;
	struct format_text interval;

	if (change->function != HISTORY_WHOLE)
		return format_interval(change->ci_low, change->ci_high);
	if (!isfinite(low) || !isfinite(high))
		return nothing;
	/* In the unit of the change. */
	if (!format_is_factor(change->before, change->after))
		return format_percent_interval(100 * low, 100 * high);
	interval = format_interval(1 + low, 1 + high);
	if (interval.text[0])
		strcat(interval.text, "×");
	return interval;
}

/* ---- Changes ---- */

const char *history_words_time_kind(const struct history_change *change)
{
	return change->function == HISTORY_WHOLE ? "" : change->is_self ? "self" : "total";
}

struct format_text history_words_q(double q)
{
	static const double least = 0.0001;
	struct format_text out = nothing;

	if (q < least)
		snprintf(out.text, sizeof(out.text), "<%g", least);
	else if (isfinite(q))
		snprintf(out.text, sizeof(out.text), "%.1g", q);
	return out;
}

struct format_text history_words_evidence(const struct history_change *change)
{
	struct format_text q = history_words_q(change->q), out = nothing;
	size_t size = 0;

	if (change->of > 0)
		size = (size_t)snprintf(out.text, sizeof(out.text), "%zu of %zu", change->agree, change->of);
	if (q.text[0])
		snprintf(out.text + size, sizeof(out.text) - size, "%sq %s", size ? ", " : "", q.text);
	return out;
}

const char *history_words_code(const struct history_change *change)
{
	return change->code == HISTORY_CODE_UNKNOWN ? "" : history_code_name(change->code);
}

bool history_words_has_open(const struct history_series *series, size_t point)
{
	for (size_t i = 0; i < series->change_count; i++)
		if (history_words_is_open(&series->changes[i]) && series->changes[i].point == point)
			return true;
	return false;
}

bool history_words_is_more(const struct history_change *change)
{
	return change->delta > 0;
}

bool history_words_is_open(const struct history_change *change)
{
	return !change->has_moved && change->went == SIZE_MAX;
}

bool history_words_has_gone(const struct history_change *change)
{
	return !change->has_moved && change->went != SIZE_MAX;
}

struct history_words_count history_words_count(const struct history_series *series)
{
	struct history_words_count count = { 0 };

	for (size_t i = 0; i < series->change_count; i++) {
		const struct history_change *change = &series->changes[i];

		count.moved += change->has_moved;
		count.went += history_words_has_gone(change);
		count.more += history_words_is_open(change) && history_words_is_more(change);
		count.less += history_words_is_open(change) && !history_words_is_more(change);
	}
	return count;
}

/* Returns how much of the usual total a change is of. */
static double history_words_size(const struct history_series *series, const struct history_change *change)
{
	return fabs(change->delta) * (change->function == HISTORY_WHOLE ? 100 / series->typical_total : 1);
}

const struct history_change *history_words_largest(const struct history_series *series)
{
	const struct history_change *largest = NULL;

	for (size_t i = 0; i < series->change_count; i++) {
		const struct history_change *change = &series->changes[i];

		if (history_words_is_open(change) &&
			(!largest || history_words_size(series, change) > history_words_size(series, largest)))
			largest = change;
	}
	return largest;
}

const char *history_words_fact(const struct history_words *w, const struct history_change *change)
{
	const struct history_point *point = &w->series->points[change->point];
	const char *fact = history_string(w->history, point->fact);

	return !fact[0] && point->is_deploy ? "deploy" : fact;
}
