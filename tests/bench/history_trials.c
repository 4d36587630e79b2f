/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Histories made of recordings of two builds, with the change in the middle:
 *
 *   bench_history_trials TRIALS search|deploy SERIES BASE… -- HEAD…
 *
 * Each trial draws 12 to 40 of the recordings without replacement, half of each build (fewer where there are not so
 * many), and gives them times an hour apart. The truth is what diff_create() proves of the two halves, each recording a
 * run. With `deploy` a label tells the version; `search` takes away all that tells where the deploy was.
 * Where BASE and HEAD are the same files nothing changed. One line is printed a trial:
 *
 *	profiles, changes that are true, of these found within one profile, points that are false
 *
 * SERIES, unless it is "-", gets a line for each series of values: trial, where the change is, whether it is true, the
 * function, and the values, for other methods.
 */
#include "foreign/foreign.h"
#include "history/history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_PROFILES = 12, MOST_PROFILES = 40 };

static const size_t max_file_bytes = (size_t)1 << 28;
static const int64_t first_unix_ns = 1760000000000000000, hour_ns = 3600000000000;
static const double least_percent = 0.1;

static void must(bool ok, const struct error *err)
{
	if (ok)
		return;
	fprintf(stderr, "%s\n", err->message);
	exit(1);
}

struct pool {
	struct profile **profiles;
	size_t count;
};

static struct pool read_pool(char *const *names, size_t count)
{
	struct pool pool = { calloc(count + 1, sizeof(*pool.profiles)), count };
	struct error err;

	for (size_t i = 0; i < count; i++) {
		CLEANUP(buffer_deinit) struct buffer bytes;

		buffer_init(&bytes, max_file_bytes);
		must(file_read(names[i], &bytes, &err), &err);
		must(foreign_read(bytes.data, bytes.size, names[i], &pool.profiles[i], &err), &err);
	}
	return pool;
}

static uint64_t next(uint64_t *state)
{
	/* xorshift64* (Vigna 2016). */
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

static void shuffle(size_t *order, size_t count, uint64_t *state)
{
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	for (size_t i = count; i > 1; i--) {
		size_t other = next(state) % i, moved = order[i - 1];

		order[i - 1] = order[other];
		order[other] = moved;
	}
}

struct trial {
	struct profile *profiles[MOST_PROFILES];
	size_t count, middle;
	bool is_searched;
};

static struct diff *truth_of(const struct trial *trial)
{
	struct profile *sides[DIFF_SIDES];
	struct diff_options options = { .scale = DIFF_SCALE_AUTO };
	struct diff *diff = NULL;
	struct error err;

	for (int side = 0; side < DIFF_SIDES; side++) {
		must(profile_create(&sides[side], &err), &err);
		for (size_t i = side ? trial->middle : 0; i < (side ? trial->count : trial->middle); i++)
			must(profile_merge(sides[side], trial->profiles[i], &err), &err);
		must(profile_finish(sides[side], &err), &err);
	}
	must(diff_create(sides[DIFF_BASE], sides[DIFF_HEAD], &options, &diff, &err), &err);
	for (int side = 0; side < DIFF_SIDES; side++)
		profile_destroy(sides[side]);
	return diff;
}

static struct summary_set *set_of(const struct trial *trial)
{
	struct summary_set *set;
	struct error err;

	must(summary_set_create(&set, &err), &err);
	for (size_t i = 0; i < trial->count; i++) {
		char name[32];
		struct summary_options options = { .name = name, .id = { i + 1, 0 } };
		struct summary *added;

		snprintf(name, sizeof(name), "p%02zu", i);
		must(profile_set_label(trial->profiles[i], PROFILE_LABEL_VERSION, i < trial->middle ? "1" : "2", &err),
			&err);
		must(summary_add(set, trial->profiles[i], &options, &err), &err);
		added = &set->items[i];
		added->start_unix_ns = first_unix_ns + (int64_t)i * hour_ns;
		if (trial->is_searched) {
			added->label_count = added->binary_count = 0;
			for (size_t r = 0; r < added->row_count; r++)
				added->rows[r].fingerprint = 0;
		}
		added->facts.command = set->items[0].facts.command;
	}
	return set;
}

static bool is_near(const struct history_series *series, const struct history_change *change, size_t middle)
{
	size_t at = series->points[change->point].at;

	return at + 1 >= middle && at <= middle + 1;
}

/* Whether the history has a change of the function of this key in the middle; NULL: of the total. */
static bool has_change(const struct history *history, const char *key, size_t middle)
{
	const struct history_series *series = &history->series[0];

	for (size_t i = 0; i < series->change_count; i++) {
		const struct history_change *change = &series->changes[i];
		bool is_whole = change->function == HISTORY_WHOLE;

		if (is_near(series, change, middle) && is_whole == (key == NULL) &&
			(is_whole || strcmp(summary_string(history->set, history->set->functions[change->function].key),
					     key) == 0))
			return true;
	}
	return false;
}

static bool is_true(const struct diff *diff, const char *key)
{
	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];

		if (strcmp(diff_string(diff, f->key), key) == 0)
			return diff_state_is_difference(f->self.state) || diff_state_is_difference(f->total.state);
	}
	return false;
}

static void write_series(
	FILE *out, size_t number, const struct trial *trial, const struct history *history, const struct diff *diff)
{
	const struct history_series *series = &history->series[0];
	double values[MOST_PROFILES];

	for (uint32_t f = 0; f < history->set->function_count; f++) {
		const char *key = summary_string(history->set, history->set->functions[f].key);

		for (int is_self = 0; is_self < 2; is_self++) {
			double mean = 0;

			history_values(history, series, f, is_self, values);
			for (size_t i = 0; i < series->count; i++)
				mean += values[i] / (double)series->count;
			if (mean < least_percent || history->set->functions[f].interrupt)
				continue;
			fprintf(out, "%zu\t%zu\t%d\t%s\t", number, trial->middle, is_true(diff, key), key);
			for (size_t i = 0; i < series->count; i++)
				fprintf(out, "%s%.6g", i ? "," : "", values[i]);
			fputc('\n', out);
		}
	}
}

static void judge(const struct trial *trial, size_t number, FILE *out)
{
	struct diff *diff = truth_of(trial);
	struct summary_set *set = set_of(trial);
	struct history *history;
	size_t truths = 0, found = 0, wrong = 0;
	struct error err;

	must(history_create(set, NULL, &history, &err), &err);
	if (history->series_count != 1)
		fprintf(stderr, "%zu series in place of one\n", history->series_count);
	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];

		if (!diff_state_is_difference(f->self.state) && !diff_state_is_difference(f->total.state))
			continue;
		truths++;
		if (has_change(history, diff_string(diff, f->key), trial->middle))
			found++;
		else
			fprintf(stderr, "%zu: missed %s: self %.4g to %.4g, q %.2g; total %.4g to %.4g, q %.2g\n",
				number, diff_string(diff, f->name), f->self.base, f->self.head, f->self.q,
				f->total.base, f->total.head, f->total.q);
	}
	for (size_t i = 0; i < history->series[0].change_count; i++) {
		const struct history_change *change = &history->series[0].changes[i];
		bool is_false = !is_near(&history->series[0], change, trial->middle) || truths == 0;

		wrong += is_false;
		if (is_false)
			fprintf(stderr, "%zu: false %s at %zu of %zu: %.4g to %.4g, q %.2g\n", number,
				change->function == HISTORY_WHOLE
					? "(total)"
					: summary_string(set, set->functions[change->function].name),
				history->series[0].points[change->point].at, trial->count, change->before,
				change->after, change->q);
	}
	printf("%zu %zu %zu %zu\n", trial->count, truths, found, wrong);
	if (out)
		write_series(out, number, trial, history, diff);
	history_destroy(history);
	summary_set_destroy(set);
	diff_destroy(diff);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

int main(int argc, char **argv)
{
	enum { TRIALS = 1, HOW, SERIES, FIRST };
	size_t split = FIRST, orders[2][1024];
	struct pool pools[2];
	bool is_one_pool;
	FILE *out;

	while (split < (size_t)argc && strcmp(argv[split], "--") != 0)
		split++;
	if (argc <= FIRST || split + 1 >= (size_t)argc) {
		fprintf(stderr, "usage: bench_history_trials TRIALS search|deploy SERIES BASE... -- HEAD...\n");
		return 2;
	}
	pools[0] = read_pool(argv + FIRST, split - FIRST);
	pools[1] = read_pool(argv + split + 1, (size_t)argc - split - 1);
	is_one_pool = strcmp(argv[FIRST], argv[split + 1]) == 0;
	out = strcmp(argv[SERIES], "-") == 0 ? NULL : fopen(argv[SERIES], "w");
	for (size_t number = 1; number <= strtoul(argv[TRIALS], NULL, 10); number++) {
		uint64_t state = number * UINT64_C(0x9E3779B97F4A7C15);
		size_t most = is_one_pool ? pools[0].count / 2 : least(pools[0].count, pools[1].count);
		size_t half = least(most, least(MOST_PROFILES / 2, LEAST_PROFILES / 2 + next(&state) % 15));
		struct trial trial = { .count = 2 * half, .middle = half, .is_searched = argv[HOW][0] == 's' };

		shuffle(orders[0], least(pools[0].count, 1024), &state);
		shuffle(orders[1], least(pools[1].count, 1024), &state);
		for (size_t i = 0; i < half; i++) {
			trial.profiles[i] = pools[0].profiles[orders[0][i]];
			trial.profiles[half + i] =
				is_one_pool ? pools[0].profiles[orders[0][half + i]] : pools[1].profiles[orders[1][i]];
		}
		judge(&trial, number, out);
	}
	return out && fclose(out) ? 1 : 0;
}
