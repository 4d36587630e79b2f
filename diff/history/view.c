/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/history.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A page opens as many; what others found is told without. */
enum { MOST_PARTS = 40 };
static const size_t max_findings_bytes = (size_t)1 << 20, max_words_bytes = (size_t)1 << 20;

static void view_part_deinit(struct history_view_part *part)
{
	diff_destroy(part->diff);
	for (size_t side = 0; side < DIFF_SIDES; side++)
		profile_destroy(part->profiles[side]);
}

void history_view_deinit(struct history_view *view)
{
	for (size_t i = 0; i < view->count; i++)
		view_part_deinit(&view->parts[i]);
	free(view->parts);
	for (size_t side = 0; side < DIFF_SIDES; side++)
		buffer_deinit(&view->words[side]);
}

/* Returns what a diff of the pair depends on. */
static uint64_t view_key(const struct history_view *view, const struct history_pair *pair)
{
	const struct summary_set *set = view->history->set;
	const double limits[] = { view->options->q, view->options->min_effect_points };
	uint64_t key = hash_bytes(limits, sizeof(limits));

	for (size_t side = 0; side < DIFF_SIDES; side++)
		for (size_t i = 0; i < pair->count[side]; i++) {
			const struct summary *summary = &set->items[pair->profiles[side][i]];
			const uint64_t parts[] = { key, side, summary->id[0], summary->id[1], summary->metric };

			key = hash_bytes(parts, 4 * sizeof(*parts));
		}
	return key;
}

static bool view_compare(const struct history_view *view, const struct history_pair *pair,
	struct history_view_part *made, struct error *err)
{
	const struct summary *first = &view->history->set->items[pair->profiles[DIFF_HEAD][0]];
	const struct diff_options options = { .metric = summary_string(view->history->set, first->metric),
		.q = view->options->q,
		.min_effect_points = view->options->min_effect_points };

	for (size_t side = 0; side < DIFF_SIDES; side++)
		if (!history_files_profile(view->files, view->reading, pair->profiles[side], pair->count[side],
			    &made->profiles[side], err))
			return false;
	return view->reading->find_idle(view->reading->context, made->profiles, DIFF_SIDES, err) &&
	       diff_create(made->profiles[DIFF_BASE], made->profiles[DIFF_HEAD], &options, &made->diff, err);
}

/*
 * Explains a point by what the diff found, from the cache if only that is needed. A pair that cannot be compared
 * explains nothing.
 */
static bool view_explain_point(struct history_view *view, size_t series, size_t point, struct error *err)
{
	struct history_pair pair = history_pair_of(view->history, series, point);
	struct history_view_part *made = &view->parts[view->count];
	CLEANUP(buffer_deinit) struct buffer found = { 0 };
	uint64_t key = view_key(view, &pair);
	const struct buffer *known = history_cache_finding(view->cache, key);
	bool wanted = view->wants_diffs && view->count < MOST_PARTS;
	struct error why = { 0 };

	if (known && history_apply(view->history, &pair, known->data, known->size, &why) && !wanted)
		return true;
	*made = (struct history_view_part){ .pair = pair };
	if (!view_compare(view, &pair, made, &why)) {
		view->reading->say("kelvin: a change cannot be explained: %s\n", why.message);
	} else if (!known) {
		buffer_init(&found, max_findings_bytes);
		if (!history_find(made->diff, &found, err) ||
			!history_apply(view->history, &pair, found.data, found.size, err) ||
			!history_cache_keep(view->cache, key, &found, err))
			why = *err;
	}
	if (wanted && made->diff && why.code != ERROR_MEMORY) {
		view->count++;
		return true;
	}
	view_part_deinit(made);
	return why.code != ERROR_MEMORY || error_set_memory(err);
}

static bool view_has_change(const struct history_series *series, size_t point)
{
	for (size_t i = 0; i < series->change_count; i++)
		if (series->changes[i].point == point)
			return true;
	return false;
}

bool history_view_explain(struct history_view *view, struct error *err)
{
	const struct history *history = view->history;
	size_t points = 0;

	for (size_t i = 0; i < history->series_count; i++)
		points += history->series[i].point_count;
	view->parts = memory_zeroed(points + 1, sizeof(*view->parts));
	for (size_t i = 0; i < history->series_count; i++)
		for (size_t point = 0; point < history->series[i].point_count; point++)
			if (view_has_change(&history->series[i], point) && !view_explain_point(view, i, point, err))
				return false;
	return true;
}

/* Appends the address without the times that it has. */
static void view_append_address(struct buffer *out, const char *address)
{
	size_t size = strcspn(address, "?");
	char before = '?';

	buffer_append(out, address, size);
	for (address += size; *address; address += size) {
		address++;
		size = strcspn(address, "&");
		if (size == 0 || strncmp(address, "from=", 5) == 0 || strncmp(address, "until=", 6) == 0)
			continue;
		buffer_append_byte(out, (uint8_t)before);
		buffer_append(out, address, size);
		before = '&';
	}
	buffer_append_byte(out, (uint8_t)before);
}

static const int64_t ns_per_ms = 1000000;

/* Appends Unix seconds with three decimals. */
static void view_append_moment(struct buffer *out, const char *name, int64_t unix_ms)
{
	buffer_printf(out, "%s%" PRId64 ".%03" PRId64, name, unix_ms / 1000, unix_ms % 1000);
}

/* Appends the query for the time of a side: from its first profile to the next one behind its last, if there is one. */
static void view_append_query(
	const struct history_view *view, const struct history_pair *pair, enum diff_side side, struct buffer *out)
{
	const struct summary_set *set = view->history->set;
	int64_t first = INT64_MAX, last = 0, next = INT64_MAX;

	for (size_t i = 0; i < pair->count[side]; i++) {
		int64_t start = set->items[pair->profiles[side][i]].start_unix_ns;

		first = start < first ? start : first;
		last = start > last ? start : last;
	}
	for (size_t i = 0; i < set->count; i++)
		if (set->items[i].start_unix_ns > last && set->items[i].start_unix_ns < next)
			next = set->items[i].start_unix_ns;
	view_append_address(out, view->files->address);
	view_append_moment(out, "from=", first / ns_per_ms);
	if (next < INT64_MAX)
		view_append_moment(out, "&until=", next / ns_per_ms - 1);
}

const char *history_view_side_words(void *context, const struct history_pair *pair, enum diff_side side)
{
	struct history_view *view = context;
	CLEANUP(buffer_deinit) struct buffer names = BUFFER_INIT(max_words_bytes);
	struct buffer *words = &view->words[side];

	for (size_t i = 0; !view->files->address && i < pair->count[side]; i++) {
		if (i > 0)
			buffer_append_byte(&names, ',');
		buffer_append_string(&names, view->files->items[view->files->of_summary[pair->profiles[side][i]]].path);
	}
	if (view->files->address)
		view_append_query(view, pair, side, &names);
	buffer_deinit(words);
	buffer_init(words, max_words_bytes);
	shell_append_word(words, names.data ? names.data : "");
	return words->data ? words->data : "";
}
