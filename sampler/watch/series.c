/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/watch/watch.h"

#include <string.h>

/* The parts of a line, separated by tabs, which no label's value has. */
enum { PART_NAME, PART_BUILD, PART_VERSION, PART_IMAGE, PART_STARTED, PART_WORK, PART_COUNT };

static const char *const part_labels[PART_COUNT] = {
	[PART_BUILD] = WATCH_LABEL_BUILD,
	[PART_VERSION] = PROFILE_LABEL_VERSION,
	[PART_IMAGE] = WATCH_LABEL_IMAGE,
	[PART_STARTED] = WATCH_LABEL_STARTED,
};

void watch_series_append(const struct profile *profile, const char *name, struct buffer *line)
{
	buffer_append_string(line, name);
	for (int i = PART_BUILD; i <= PART_STARTED; i++) {
		const char *value = profile_label(profile, part_labels[i]);

		buffer_printf(line, "\t%s", value ? value : "");
	}
	buffer_printf(line, "\t%s\n", profile->requests.source == PROFILE_WORK_UNKNOWN ? "" : "work");
}

static void watch_series_copy_word(char word[static WATCH_WORD_BYTES], const char *text)
{
	snprintf(word, WATCH_WORD_BYTES, "%s", text);
}

static void watch_series_take_line(struct watch_series *series, char *line)
{
	char *parts[PART_COUNT];
	struct watch_file file;
	size_t at;

	for (int i = 0; i < PART_COUNT; i++)
		parts[i] = line ? strsep(&line, "\t") : NULL;
	if (!parts[PART_COUNT - 1] || !watch_file_parse(parts[PART_NAME], &file) || file.kind != WATCH_PROFILE)
		return;
	if (series->count == WATCH_SERIES_MOST) {
		size_t kept = --series->count;

		memmove(series->files, series->files + 1, kept * sizeof(series->files[0]));
		memmove(series->builds, series->builds + 1, kept * sizeof(series->builds[0]));
		memmove(series->started_s, series->started_s + 1, kept * sizeof(series->started_s[0]));
		memmove(series->has_work, series->has_work + 1, kept * sizeof(series->has_work[0]));
	}
	at = series->count++;
	series->files[at] = file;
	series->has_work[at] = parts[PART_WORK][0] != '\0';
	watch_series_copy_word(series->builds[at].build_id, parts[PART_BUILD]);
	watch_series_copy_word(series->builds[at].version, parts[PART_VERSION]);
	watch_series_copy_word(series->builds[at].image, parts[PART_IMAGE]);
	if (!watch_time_parse(parts[PART_STARTED], &series->started_s[at]))
		series->started_s[at] = 0;
}

void watch_series_take(struct watch_series *series, const char *text)
{
	CLEANUP(cleanup_free) char *copy = strdup(text);

	for (char *rest = copy, *line; rest && (line = strsep(&rest, "\n")) != NULL;)
		watch_series_take_line(series, line);
}

static bool has_any_work(const struct watch_series *series, size_t from, size_t end)
{
	for (; from < end; from++)
		if (series->has_work[from])
			return true;
	return false;
}

bool watch_series_is_compared(const struct watch_series *series, const struct watch_deploy *deploy, size_t profile)
{
	return series->has_work[profile] || !has_any_work(series, deploy->before, deploy->at) ||
	       !has_any_work(series, deploy->at, deploy->end);
}

int64_t watch_series_deploy_s(const struct watch_series *series, const struct watch_deploy *deploy)
{
	int64_t before_s = series->files[deploy->at - 1].unix_s, first_s = series->files[deploy->at].unix_s;
	int64_t started_s = series->started_s[deploy->at];

	return started_s > before_s && started_s <= first_s ? started_s : first_s;
}
