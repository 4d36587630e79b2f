/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Histories that are arranged from recordings, many a second, for tests/bench/history:
 *
 *   bench_history_arranged <HISTORIES
 *
 * A line for each history, of fields between tabs: its name; "known" or "unknown": what is known of its program's code
 * and labels is kept, or taken away, so that a change is to be searched for; how many of the profiles lie before the
 * change that a diff of both sides is to tell of (0: no diff); the profiles, in order of time. Answers, a line each:
 *
 *   H name series scale seconds   the history; seconds are those of history_create() alone
 *   N sentence                    a notice
 *   C key self|total at went before after q code moved|- listed|-    a change; `went` is -1 where it is open
 *   V key self|total value...     what a function had in each profile, in percent of the typical total; key *: the
 * total D change key self|total       a function of a change that the diff of both sides lists P key state base head q
 * a function whose own time differs, by that diff
 *   E
 */
#include "diff/history/history.h"
#include "profile/foreign/foreign.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const size_t max_file_bytes = (size_t)1 << 28;
static const int64_t first_unix_ns = 1760000000000000000, hour_ns = 3600000000000;
static const double least_shown_percent = 0.1;

/* A file that was read once, its profile where a diff needed it. */
struct kept_recording {
	char *path;
	struct profile *profile;
	struct buffer summary;
};

static struct {
	struct kept_recording *items;
	size_t count;
} recordings;

static void must(bool ok, const struct error *err)
{
	if (ok)
		return;
	fprintf(stderr, "%s\n", err->message);
	exit(1);
}

static void *must_have(void *memory)
{
	struct error err;

	must(memory || error_set_memory(&err), &err);
	return memory;
}

static struct profile *read_profile(const char *path)
{
	struct profile *read, *joined = NULL;
	struct buffer bytes;
	struct error err;

	buffer_init(&bytes, max_file_bytes);
	must(file_read(path, &bytes, &err) && foreign_read(bytes.data, bytes.size, path, &read, &err) &&
			profile_join_phases(read, &joined, &err),
		&err);
	buffer_deinit(&bytes);
	if (!joined)
		return read;
	profile_destroy(read);
	return joined;
}

static struct kept_recording *recording_of(const char *path)
{
	struct summary_options options = { .name = path };
	struct profile *profile;
	struct summary_set *set;
	struct kept_recording *made;
	struct error err;

	for (size_t i = 0; i < recordings.count; i++)
		if (strcmp(recordings.items[i].path, path) == 0)
			return &recordings.items[i];
	recordings.items = must_have(realloc(recordings.items, (recordings.count + 1) * sizeof(*made)));
	made = &recordings.items[recordings.count++];
	made->path = must_have(strdup(path));
	made->profile = NULL;
	profile = read_profile(path);
	buffer_init(&made->summary, max_file_bytes);
	must(summary_set_create(&set, &err) && history_summarize(set, profile, &options, &err) &&
			summary_write(set, 0, &made->summary, &err),
		&err);
	summary_set_destroy(set);
	profile_destroy(profile);
	return made;
}

/* Borrowed. Most recordings are wanted as summaries alone. */
static const struct profile *profile_of(const char *path)
{
	struct kept_recording *recording = recording_of(path);

	if (!recording->profile)
		recording->profile = read_profile(path);
	return recording->profile;
}

/* ---- A history ---- */

struct arranged {
	char *name;
	bool is_known;
	size_t middle, count;
	char **paths;
	struct summary_set *set;
	struct history *history;
};

static void forget_code(struct summary *summary)
{
	summary->label_count = 0;
	for (size_t i = 0; i < summary->binary_count; i++)
		summary->binaries[i].build_id = 0;
	for (size_t i = 0; i < summary->row_count; i++)
		summary->rows[i].fingerprint = 0;
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double arrange(struct arranged *a)
{
	struct error err;
	double start;

	must(summary_set_create(&a->set, &err), &err);
	for (size_t i = 0; i < a->count; i++) {
		const struct kept_recording *recording = recording_of(a->paths[i]);
		struct summary *summary;

		must(summary_read(a->set, recording->summary.data, recording->summary.size, &err), &err);
		summary = &a->set->items[i];
		summary->id[0] = i + 1;
		summary->start_unix_ns = first_unix_ns + (int64_t)i * hour_ns;
		if (!a->is_known)
			forget_code(summary);
	}
	start = seconds_now();
	must(history_create(a->set, NULL, &a->history, &err), &err);
	return seconds_now() - start;
}

static struct profile *merged(const struct arranged *a, const size_t *profiles, size_t count)
{
	struct profile *all = read_profile(a->paths[profiles[0]]);
	struct error err;

	for (size_t i = 1; i < count; i++)
		must(profile_merge(all, profile_of(a->paths[profiles[i]]), &err), &err);
	return all;
}

static struct diff *diff_of(
	const struct arranged *a, const size_t *const profiles[DIFF_SIDES], const size_t count[DIFF_SIDES])
{
	struct profile *sides[DIFF_SIDES];
	struct diff *diff;
	struct error err;

	for (size_t side = 0; side < DIFF_SIDES; side++)
		sides[side] = merged(a, profiles[side], count[side]);
	must(diff_create(sides[DIFF_BASE], sides[DIFF_HEAD], NULL, &diff, &err), &err);
	for (size_t side = 0; side < DIFF_SIDES; side++)
		profile_destroy(sides[side]);
	return diff;
}

/* ---- What is printed ---- */

static void print_text(const char *text, const char *end)
{
	for (; *text; text++)
		putchar(*text == '\t' || *text == '\n' ? ' ' : *text);
	fputs(end, stdout);
}

static const char *key_of(const struct arranged *a, uint32_t function)
{
	return function == HISTORY_WHOLE ? "*" : summary_string(a->set, a->set->functions[function].key);
}

static const char *what(bool is_self)
{
	return is_self ? "self" : "total";
}

static void print_values(const struct arranged *a, const struct history_series *series)
{
	double *values = must_have(calloc(series->count, sizeof(*values)));

	for (uint32_t f = 0; f < a->set->function_count; f++)
		for (int is_self = 0; is_self < 2; is_self++) {
			double most = 0;

			history_values(a->history, series, f, is_self, values);
			for (size_t i = 0; i < series->count; i++)
				most = fmax(most, values[i]);
			if (most < least_shown_percent)
				continue;
			printf("V\t");
			print_text(key_of(a, f), "\t");
			printf("%s", what(is_self));
			for (size_t i = 0; i < series->count; i++)
				printf("\t%.5g", values[i]);
			putchar('\n');
		}
	printf("V\t*\ttotal");
	for (size_t i = 0; i < series->count; i++)
		printf("\t%.5g",
			a->set->items[series->profiles[i]].total * series->factor[i] * 100 / series->typical_total);
	putchar('\n');
	free(values);
}

static bool is_same(const struct history_change *a, const struct history_change *b)
{
	return a->function == b->function && a->is_self == b->is_self && a->point == b->point;
}

static void explain(struct arranged *a, struct history_series *series)
{
	bool *has_change = must_have(calloc(series->point_count + 1, sizeof(bool)));
	struct error err;

	for (size_t i = 0; i < series->change_count; i++)
		has_change[series->changes[i].point] = true;
	for (size_t point = 0; point < series->point_count; point++) {
		struct history_pair pair = history_pair_of(a->history, 0, point);
		const size_t *const profiles[DIFF_SIDES] = { pair.profiles[DIFF_BASE], pair.profiles[DIFF_HEAD] };
		struct diff *diff;

		if (!has_change[point])
			continue;
		diff = diff_of(a, profiles, pair.count);
		must(history_explain(a->history, &pair, diff, &err), &err);
		diff_destroy(diff);
	}
	free(has_change);
}

static void print_changes(struct arranged *a, struct history_series *series)
{
	size_t count = series->change_count;
	struct history_change *before = must_have(calloc(count + 1, sizeof(*before)));

	if (count > 0)
		memcpy(before, series->changes, count * sizeof(*before));
	explain(a, series);
	for (size_t i = 0; i < count; i++) {
		const struct history_change *c = &before[i], *listed = NULL;

		for (size_t k = 0; k < series->change_count; k++)
			if (is_same(c, &series->changes[k]))
				listed = &series->changes[k];
		printf("C\t");
		print_text(key_of(a, c->function), "\t");
		printf("%s\t%zu\t%zd\t%.4g\t%.4g\t%.3g\t%s\t%s\t%s\n", what(c->is_self), series->points[c->point].at,
			c->went == SIZE_MAX ? (ssize_t)-1 : (ssize_t)series->points[c->went].at, c->before, c->after,
			c->q, history_code_name(c->code), listed && listed->has_moved ? "moved" : "-",
			listed ? "listed" : "-");
	}
	free(before);
}

static const char *state_name(enum diff_state state)
{
	static const char *const names[DIFF_STATE_COUNT] = { [DIFF_STATE_MORE] = "more",
		[DIFF_STATE_LESS] = "less",
		[DIFF_STATE_NEW] = "new",
		[DIFF_STATE_GONE] = "gone",
		[DIFF_STATE_MOVED] = "moved" };

	return names[state];
}

static void print_truth(const struct arranged *a)
{
	size_t *all = must_have(calloc(a->count + 1, sizeof(*all)));
	const size_t *const profiles[DIFF_SIDES] = { all, all + a->middle };
	const size_t count[DIFF_SIDES] = { a->middle, a->count - a->middle };
	struct diff *diff;

	for (size_t i = 0; i < a->count; i++)
		all[i] = i;
	diff = diff_of(a, profiles, count);
	for (size_t i = 0; i < diff->change_count; i++) {
		const struct diff_change *change = &diff->changes[i];

		for (size_t k = 0; k < change->count && !change->is_of_others; k++) {
			const struct diff_function *f = &diff->functions[diff->change_functions[change->first + k]];

			printf("D\t%zu\t", i);
			print_text(diff_string(diff, f->key), "\t");
			printf("%s\n", what(change->is_self));
		}
	}
	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];

		if (!state_name(f->self.state))
			continue;
		printf("P\t");
		print_text(diff_string(diff, f->key), "\t");
		printf("%s\t%.4g\t%.4g\t%.3g\n", state_name(f->self.state), 100 * f->self.base / diff->total.base,
			100 * f->self.head / diff->total.base, f->self.q);
	}
	diff_destroy(diff);
	free(all);
}

static void run(struct arranged *a)
{
	double seconds = arrange(a);
	struct history *history = a->history;

	printf("H\t%s\t%zu\t%s\t%.6f\n", a->name, history->series_count,
		history->series_count ? diff_scale_mode_name(history->series[0].scale) : "", seconds);
	for (size_t i = 0; i < history->notice_count; i++) {
		printf("N\t");
		print_text(history_string(history, history->notices[i]), "\n");
	}
	for (size_t i = 0; history->series_count && i < history->series[0].notice_count; i++) {
		printf("N\t");
		print_text(history_string(history, history->series[0].notices[i]), "\n");
	}
	if (history->series_count == 1) {
		print_values(a, &history->series[0]);
		print_changes(a, &history->series[0]);
	}
	if (a->middle > 0)
		print_truth(a);
	printf("E\n");
	history_destroy(history);
	summary_set_destroy(a->set);
}

int main(void)
{
	char *line = NULL;
	size_t capacity = 0;

	while (getline(&line, &capacity, stdin) > 0) {
		struct arranged a = { 0 };
		char *rest = line, *field;

		line[strcspn(line, "\n")] = '\0';
		a.paths = must_have(calloc(strlen(line) + 1, sizeof(*a.paths)));
		a.name = strsep(&rest, "\t");
		field = strsep(&rest, "\t");
		a.is_known = field && strcmp(field, "known") == 0;
		field = strsep(&rest, "\t");
		a.middle = field ? (size_t)atoi(field) : 0;
		while ((field = strsep(&rest, "\t")) != NULL)
			a.paths[a.count++] = field;
		if (a.count > 0 && a.middle < a.count)
			run(&a);
		free(a.paths);
	}
	free(line);
	return 0;
}
