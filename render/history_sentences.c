/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sentences about a history, and the commands that it names. */
#include "render/history_words.h"

#include <string.h>

enum { NAME_COLUMNS = 60 };

/* Returns "request", "run" */
static const char *one_of(const struct history_words *w)
{
	return w->series->scale == DIFF_SCALE_PER_REQUEST ? "request" : "run";
}

/* Returns "CPU time" */
static const char *history_sentences_metric_words(const struct history_words *w)
{
	return w->series->count > 0 ? summary_string(w->history->set, history_words_profile(w, 0)->metric_words) : "";
}

void history_words_measure(const struct history_words *w, struct buffer *out)
{
	if (w->is_per)
		buffer_printf(out, "%s per %s", history_sentences_metric_words(w), one_of(w));
	else
		buffer_printf(out, "%% of the %s", history_sentences_metric_words(w));
}

/* ---- Sentences ---- */

const char *history_words_title(const struct history_words *w)
{
	const char *title = history_string(w->history, w->series->title);

	return title[0] ? title : "(no title)";
}

void history_words_facts(const struct history_words *w, struct buffer *out)
{
	const char *facts = history_string(w->history, w->series->facts);
	size_t count = w->series->count;

	if (count == 0)
		return;
	buffer_printf(out, "%s profile%s", format_count((double)count).text, count == 1 ? "" : "s");
	if (count > 1)
		buffer_printf(
			out, " from %s to %s", history_words_time(w, 0).text, history_words_time(w, count - 1).text);
	else
		buffer_printf(out, " of %s", history_words_time(w, 0).text);
	buffer_printf(out, " (UTC)%s%s.", facts[0] ? ", " : "", facts);
}

void history_words_of_changes(const struct history_words *w, struct buffer *out)
{
	struct history_words_count count = history_words_count(w->series);
	bool has_functions = false;

	for (size_t i = 0; i < w->series->change_count; i++)
		has_functions = has_functions || w->series->changes[i].function != HISTORY_WHOLE;
	buffer_append_string(out, "Values are ");
	history_words_measure(w, out);
	if (has_functions && w->is_per)
		buffer_printf(out, ". Changes are in points: percent of its usual total, %s",
			history_words_value(w, HISTORY_WHOLE, w->series->typical_total).text);
	else if (has_functions)
		buffer_append_string(out, ", and changes are in points");
	buffer_append_byte(out, '.');
	if (count.moved > 0)
		buffer_printf(out, " Of %zu more functions the time only moved to or from others.", count.moved);
}

/* Appends " 1.21 → 1.55 ms per request". */
static void append_values(const struct history_words *w, const struct history_change *change, struct buffer *out)
{
	buffer_printf(out, " %s", history_words_values(w, change->function, change->before, change->after).text);
	if (w->is_per)
		buffer_printf(out, " per %s", one_of(w));
	else if (change->function != HISTORY_WHOLE)
		buffer_printf(out, " of the %s", history_sentences_metric_words(w));
	if (change->function == HISTORY_WHOLE)
		buffer_printf(out, " (%s)", history_words_delta(change).text);
}

/* Returns the largest change of a function at the point of the largest one, where that is of the total. */
static const struct history_change *above_all(const struct history_words *w, const struct history_change *largest)
{
	const struct history_series *series = w->series;

	for (size_t i = 0; largest->function == HISTORY_WHOLE && i < series->change_count; i++)
		if (series->changes[i].function != HISTORY_WHOLE && series->changes[i].point == largest->point &&
			history_words_is_open(&series->changes[i]) &&
			history_words_is_more(&series->changes[i]) == history_words_is_more(largest))
			return &series->changes[i];
	return NULL;
}

static void history_sentences_append_name(const struct history_words *w, uint32_t function, struct buffer *out)
{
	buffer_append_byte(out, '`');
	profile_shorten_name(history_words_name(w, function), NAME_COLUMNS, out);
	buffer_append_byte(out, '`');
}

static void append_largest(const struct history_words *w, struct buffer *out)
{
	const struct history_change *change = history_words_largest(w->series), *most;
	const char *fact;

	if (!change)
		return;
	fact = history_words_fact(w, change);
	most = above_all(w, change);
	buffer_append_string(out, " The largest: ");
	if (change->function == HISTORY_WHOLE)
		buffer_append_string(out, history_sentences_metric_words(w));
	else
		history_sentences_append_name(w, change->function, out);
	append_values(w, change, out);
	buffer_printf(out, " since %s", history_words_time(w, w->series->points[change->point].at).text);
	if (fact[0])
		buffer_printf(out, " (%s)", fact);
	if (most) {
		buffer_append_string(out, ", above all ");
		history_sentences_append_name(w, most->function, out);
		append_values(w, most, out);
	}
	buffer_append_byte(out, '.');
}

/* Appends " from 12 Oct to 22 Nov"; of one day " from 22 Nov 09:00 to 22 Nov 18:00" */
static void append_span(const struct history_words *w, struct buffer *out)
{
	size_t last = w->series->count - 1;
	struct format_text from = history_words_day(w, 0), to = history_words_day(w, last);

	if (strcmp(from.text, to.text) == 0) {
		from = history_words_time(w, 0);
		to = history_words_time(w, last);
	}
	buffer_printf(out, " from %s to %s", from.text, to.text);
}

/* Appends "in 42 profiles from 12 Oct to 22 Nov". */
static void append_nothing(const struct history_words *w, struct buffer *out)
{
	size_t count = w->series->count;

	buffer_printf(
		out, "no change is proven in %s profile%s", format_count((double)count).text, count == 1 ? "" : "s");
	if (count > 1)
		append_span(w, out);
}

static void history_sentences_append_open(const struct history_words_count *count, struct buffer *out)
{
	size_t open = count->more + count->less;

	buffer_printf(out, "%zu change%s open", open, open == 1 ? " is" : "s are");
	if (count->less == 0)
		buffer_append_string(out, open == 1 ? ", it costs more" : ", all cost more");
	else if (count->more == 0)
		buffer_append_string(out, open == 1 ? ", it costs less" : ", all cost less");
	else
		buffer_printf(out, ": %zu cost%s more, %zu cost%s less", count->more, count->more == 1 ? "s" : "",
			count->less, count->less == 1 ? "s" : "");
}

void history_words_verdict(const struct history_words *w, struct buffer *out)
{
	const char *title = history_string(w->history, w->series->title);
	struct history_words_count count = history_words_count(w->series);

	if (title[0])
		buffer_printf(out, "%s: ", title);
	if (count.more + count.less > 0)
		history_sentences_append_open(&count, out);
	else if (count.went > 0)
		buffer_append_string(out, "no change is open");
	else
		append_nothing(w, out);
	if (count.went > 0)
		buffer_printf(out, "; %zu came and went", count.went);
	buffer_append_byte(out, '.');
	append_largest(w, out);
}

/* ---- Parts ---- */

const struct render_history_part *render_history_part_of(
	const struct render_history *input, size_t series, size_t point)
{
	for (size_t i = 0; i < input->part_count; i++)
		if (input->parts[i].pair.series == series && input->parts[i].pair.point == point)
			return &input->parts[i];
	return NULL;
}

/* Appends a word of a shell's command. */
static void history_sentences_append_word(const char *word, struct buffer *out)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:@%+=-";

	if (word[0] && !word[strspn(word, plain)]) {
		buffer_append_string(out, word);
		return;
	}
	buffer_append_byte(out, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			buffer_append_string(out, "'\\''");
		else
			buffer_append_byte(out, (uint8_t)*word);
	}
	buffer_append_byte(out, '\'');
}

void history_words_side(
	const struct render_history *input, const struct history_pair *pair, enum diff_side side, struct buffer *out)
{
	const struct summary_set *set = input->history->set;
	CLEANUP(buffer_deinit) struct buffer names = { 0 };

	if (input->side_words) {
		buffer_append_string(out, input->side_words(input->context, pair, side));
		return;
	}
	buffer_init(&names, HISTORY_MAX_TEXT_BYTES);
	for (size_t i = 0; i < pair->count[side]; i++)
		buffer_printf(
			&names, "%s%s", i ? "," : "", summary_string(set, set->items[pair->profiles[side][i]].name));
	buffer_append(&names, "", 0);
	if (names.failed)
		out->failed = true;
	else
		history_sentences_append_word(names.data, out);
}

/* Appends the name of a file of the point: "2026-11-18-1402.html". */
static void history_sentences_append_file(const struct history_words *w, size_t index, struct buffer *out)
{
	struct format_text stamp = history_words_stamp(history_words_profile(w, index)->start_unix_ns);
	const char *text = stamp.text; /* 2026-11-18T14:02:00.000Z */

	if (!text[0]) {
		buffer_printf(out, "profile-%zu.html", index + 1);
		return;
	}
	buffer_printf(out, "%.10s-%.2s%.2s%.2s", text, text + 11, text + 14, w->has_seconds ? text + 17 : "");
	buffer_append_string(out, ".html");
}

void history_words_command(
	const struct history_words *w, const struct render_history *input, size_t point, struct buffer *out)
{
	struct history_pair pair = history_pair_of(w->history, (size_t)(w->series - w->history->series), point);

	buffer_append_string(out, "kelvin diff ");
	history_words_side(input, &pair, DIFF_BASE, out);
	buffer_append_byte(out, ' ');
	history_words_side(input, &pair, DIFF_HEAD, out);
	buffer_append_string(out, " -o ");
	history_sentences_append_file(w, w->series->points[point].at, out);
}
