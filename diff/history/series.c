/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/build.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * A clock that says it is before 2000 or behind 2100 was never set. Profiles are dated by the clock of the machine that
 * made them.
 */
static const int64_t first_believed_s = 946684800, last_believed_s = 4102444800, second_ns = 1000000000;

enum { SERIES_MAX_TEXT_BYTES = 1 << 26, SERIES_MAX_KEY_BYTES = 1 << 28, SERIES_ID_DIGITS = 12 };

struct history_series_entry {
	uint32_t key; /* string of the history: what its series is of */
	size_t summary;
	bool is_left_out;
};

/* ---- What a profile is of ---- */

static const char *label_or_empty(const struct summary_set *set, const struct summary *summary, const char *key)
{
	const char *value = summary_label(set, summary, key);

	return value ? value : "";
}

/*
 * The command without what another process of it has another of: "server" of "pid 812 (server)", and no id of a
 * container. The texts are those of the sampler.
 */
static void history_series_append_command(struct buffer *out, const char *command)
{
	for (const char *at = command; *at;) {
		size_t id = strspn(at, "0123456789abcdef");
		const char *open, *close;

		if (id >= SERIES_ID_DIGITS) {
			at += id;
			continue;
		}
		if (strncmp(at, "pid ", 4) != 0 || !isdigit((unsigned char)at[4])) {
			buffer_append_byte(out, (uint8_t)*at++);
			continue;
		}
		at += 4 + strspn(at + 4, "0123456789");
		open = strncmp(at, " (", 2) == 0 ? at + 2 : NULL;
		close = open ? strchr(open, ')') : NULL;
		if (close) {
			buffer_append(out, open, (size_t)(close - open));
			at = close + 1;
		} else {
			buffer_append_string(out, "a process");
		}
	}
}

static void history_series_append_title(
	struct buffer *out, const struct summary_set *set, const struct summary *summary)
{
	const char *service = label_or_empty(set, summary, PROFILE_LABEL_SERVICE);
	const char *environment = label_or_empty(set, summary, PROFILE_LABEL_ENVIRONMENT);
	const char *command = summary_string(set, summary->facts.command);

	if (*service)
		buffer_append_string(out, service);
	else if (*command)
		history_series_append_command(out, command);
	else
		buffer_append_string(out, "a program");
	if (*environment)
		buffer_printf(out, " in %s", environment);
}

static void history_series_append_facts(
	struct buffer *out, const struct summary_set *set, const struct summary *summary)
{
	const char *event = summary_string(set, summary->facts.event), *metric = summary_string(set, summary->metric);
	const char *cpu = summary_string(set, summary->facts.cpu_model);

	buffer_append_string(out, *event ? event : metric);
	if (*event && strcmp(event, metric) != 0)
		buffer_printf(out, " (%s)", metric);
	if (summary->facts.frequency_hz)
		buffer_printf(out, ", %" PRIu32 " Hz", summary->facts.frequency_hz);
	if (*cpu)
		buffer_printf(out, ", %s", cpu);
	if (summary->facts.user_only)
		buffer_append_string(out, ", without kernel code");
}

/* A separator that is in no text. */
static void history_series_append_key(struct buffer *out, const struct summary_set *set, const struct summary *summary)
{
	history_series_append_title(out, set, summary);
	buffer_append_byte(out, 0);
	history_series_append_facts(out, set, summary);
	buffer_append_byte(out, 0);
	buffer_append_string(out, summary_string(set, summary->unit));
	buffer_append_byte(out, summary->whole_commands);
	buffer_append_string(out, label_or_empty(set, summary, "host.class"));
}

static bool history_series_intern(struct string_table *strings, struct buffer *text, uint32_t *id, struct error *err)
{
	return buffer_ok(text, err) && string_table_add(strings, text->data ? text->data : "", text->size, id, err);
}

static bool find_keys(
	struct history_build *build, struct history_series_entry *entries, struct string_table *keys, struct error *err)
{
	const struct summary_set *set = build->history->set;

	for (size_t i = 0; i < set->count; i++) {
		CLEANUP(buffer_deinit) struct buffer text = BUFFER_INIT(SERIES_MAX_TEXT_BYTES);

		history_series_append_key(&text, set, &set->items[i]);
		entries[i] = (struct history_series_entry){ .summary = i };
		if (!history_series_intern(keys, &text, &entries[i].key, err))
			return false;
	}
	return true;
}

/* ---- Order ---- */

static int by_series_and_time(const void *a, const void *b, void *context)
{
	const struct history_series_entry *x = a, *y = b;
	const struct summary_set *set = context;
	const struct summary *m = &set->items[x->summary], *n = &set->items[y->summary];
	int order;

	if (x->is_left_out != y->is_left_out)
		return ORDER(x->is_left_out, y->is_left_out);
	if (x->key != y->key)
		return ORDER(x->key, y->key);
	if (m->start_unix_ns != n->start_unix_ns)
		return ORDER(m->start_unix_ns, n->start_unix_ns);
	order = strcmp(summary_string(set, m->name), summary_string(set, n->name));
	return order ? order : ORDER(x->summary, y->summary);
}

static int by_id(const void *a, const void *b, void *context)
{
	const struct history_series_entry *x = a, *y = b;
	const struct summary_set *set = context;
	const struct summary *m = &set->items[x->summary], *n = &set->items[y->summary];

	for (int i = 0; i < 2; i++) {
		if (m->id[i] != n->id[i])
			return ORDER(m->id[i], n->id[i]);
	}
	return ORDER(x->summary, y->summary);
}

/* ---- Profiles of no series ---- */

static bool leave_out(struct history *history, struct history_series_entry *entry, const char *why, struct error *err)
{
	entry->is_left_out = true;
	return notices_add(history, &history->notices, &history->notice_count, err, "%s %s",
		summary_string(history->set, history->set->items[entry->summary].name), why);
}

static bool drop_repeated(struct history *history, struct history_series_entry *entries, struct error *err)
{
	const struct summary_set *set = history->set;

	qsort_r(entries, set->count, sizeof(*entries), by_id, (void *)set);
	for (size_t i = 1; i < set->count; i++) {
		const struct summary *before = &set->items[entries[i - 1].summary];
		const struct summary *summary = &set->items[entries[i].summary];

		if ((summary->id[0] || summary->id[1]) && summary->id[0] == before->id[0] &&
			summary->id[1] == before->id[1] &&
			!leave_out(history, &entries[i], "is a copy of another profile, which counts once.", err))
			return false;
	}
	return true;
}

static bool is_believed(int64_t start_unix_ns)
{
	return start_unix_ns >= first_believed_s * second_ns && start_unix_ns < last_believed_s * second_ns;
}

/* Where no profile has a time, they are taken in the order in which they were named. */
static bool drop_undated(
	struct history *history, struct history_series_entry *entries, bool any_dated, struct error *err)
{
	for (size_t i = 0; any_dated && i < history->set->count; i++) {
		const struct summary *summary = &history->set->items[entries[i].summary];
		const char *why = summary->start_unix_ns == 0
					  ? "has no time and is left out."
					  : "has the time of a clock that was not set, and is left out.";

		if (!entries[i].is_left_out && !is_believed(summary->start_unix_ns) &&
			!leave_out(history, &entries[i], why, err))
			return false;
	}
	return any_dated || history->set->count == 0 ||
	       notices_add(history, &history->notices, &history->notice_count, err,
		       "No profile has a time: they are taken in the order of their names.");
}

/* ---- Series ---- */

static bool series_say(struct history *history, struct history_series *series, struct error *err)
{
	size_t of_file = 0, equal = 0;

	for (size_t i = 0; i < series->count; i++) {
		const struct summary *summary = series_summary(history, series, i);

		of_file += summary->is_time_of_file;
		equal += i > 0 && summary->start_unix_ns != 0 &&
			 summary->start_unix_ns == series_summary(history, series, i - 1)->start_unix_ns;
	}
	if (of_file && !notices_add(history, &series->notices, &series->notice_count, err,
			       "%zu of %zu profiles have no time of their own: the time of the file is used.", of_file,
			       series->count))
		return false;
	return !equal ||
	       notices_add(history, &series->notices, &series->notice_count, err,
		       "%zu profiles have the time of the one before: no change is looked for between them.", equal);
}

static bool series_fill(struct history *history, struct history_series *series,
	const struct history_series_entry *entries, size_t count, struct error *err)
{
	const struct summary *last = &history->set->items[entries[count - 1].summary];
	CLEANUP(buffer_deinit) struct buffer title, facts;

	buffer_init(&title, SERIES_MAX_TEXT_BYTES);
	buffer_init(&facts, SERIES_MAX_TEXT_BYTES);
	series->profiles = memory_zeroed(count, sizeof(*series->profiles));
	for (size_t i = 0; i < count; i++)
		series->profiles[i] = entries[i].summary;
	series->count = count;
	history_series_append_title(&title, history->set, last);
	history_series_append_facts(&facts, history->set, last);
	return history_series_intern(history->strings, &title, &series->title, err) &&
	       history_series_intern(history->strings, &facts, &series->facts, err) && series_say(history, series, err);
}

static bool series_split(
	struct history *history, const struct history_series_entry *entries, size_t used, struct error *err)
{
	for (size_t from = 0, to; from < used; from = to) {
		for (to = from + 1; to < used && entries[to].key == entries[from].key;)
			to++;
		if (!series_fill(history, &history->series[history->series_count++], &entries[from], to - from, err))
			return false;
	}
	return true;
}

/* The longest first; of equal ones the one whose last profile is the latest. */
static int by_length(const void *a, const void *b, void *context)
{
	const struct history_series *x = a, *y = b;
	const struct history *history = context;
	int64_t m = series_summary(history, x, x->count - 1)->start_unix_ns;
	int64_t n = series_summary(history, y, y->count - 1)->start_unix_ns;

	if (x->count != y->count)
		return ORDER(y->count, x->count);
	return m != n ? ORDER(n, m) : ORDER(x->profiles[0], y->profiles[0]);
}

bool series_find(struct history_build *build, struct error *err)
{
	struct history *history = build->history;
	const struct summary_set *set = history->set;
	CLEANUP(cleanup_free) struct history_series_entry *entries = memory_zeroed(set->count + 1, sizeof(*entries));
	struct string_table *keys = NULL;
	size_t used = 0;
	bool any_dated = false, ok;

	history->series = memory_zeroed(set->count + 1, sizeof(*history->series));
	keys = string_table_begin(SERIES_MAX_KEY_BYTES);
	ok = find_keys(build, entries, keys, err);
	string_table_destroy(keys);
	for (size_t i = 0; i < set->count; i++)
		any_dated |= is_believed(set->items[i].start_unix_ns);
	if (!ok || !drop_repeated(history, entries, err) || !drop_undated(history, entries, any_dated, err))
		return false;
	qsort_r(entries, set->count, sizeof(*entries), by_series_and_time, (void *)set);
	while (used < set->count && !entries[used].is_left_out)
		used++;
	if (!series_split(history, entries, used, err))
		return false;
	qsort_r(history->series, history->series_count, sizeof(*history->series), by_length, history);
	return history->series_count < 2 ||
	       notices_add(history, &history->notices, &history->notice_count, err,
		       "The profiles are of %zu kinds (program, event, CPU): each is a series of its own.",
		       history->series_count);
}
