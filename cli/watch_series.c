/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/watch_series.h"

#include "cli/cli.h"
#include "cli/load.h"
#include "cli/worker.h"

#include <string.h>

/* The parts of a line, separated by tabs, which no label's value has. */
enum { PART_NAME, PART_BUILD, PART_VERSION, PART_IMAGE, PART_STARTED, PART_WORK, PART_COUNT };

static const char *const part_labels[PART_COUNT] = {
	[PART_BUILD] = WATCH_LABEL_BUILD,
	[PART_VERSION] = PROFILE_LABEL_VERSION,
	[PART_IMAGE] = WATCH_LABEL_IMAGE,
	[PART_STARTED] = WATCH_LABEL_STARTED,
};

/* ---- Printing ---- */

/* Prints the labels in a process without rights. */
static int print_labels(void *context)
{
	const struct load_options options = { 0 };
	const struct load_inputs *inputs = context;
	CLEANUP(profile_cleanup) struct profile *profile = NULL;
	struct error err;

	if (!load_read(inputs, &options, &profile, &err)) {
		cli_print_error(&err);
		return CLI_EXIT_ERROR;
	}
	printf("%s", inputs->names);
	for (int i = PART_BUILD; i <= PART_STARTED; i++) {
		const char *value = profile_label(profile, part_labels[i]);

		printf("\t%s", value ? value : "");
	}
	printf("\t%s\n", profile->requests.source == PROFILE_WORK_UNKNOWN ? "" : "work");
	return CLI_EXIT_OK;
}

static bool print_one(const char *name, struct error *err)
{
	CLEANUP(load_inputs_deinit) struct load_inputs inputs = { 0 };
	const struct load_options options = { 0 };
	struct worker worker = { .subject = name };
	int code;

	if (!load_open(name, &options, &inputs, err))
		return false;
	if (!load_are_named(&inputs))
		return error_set(err, ERROR_UNSUPPORTED, "%s is no profile of a watch", name);
	worker.inputs = inputs.descriptors;
	worker.input_count = inputs.count;
	return worker_run(&worker, print_labels, &inputs, &code, err) && code == CLI_EXIT_OK;
}

int watch_series_print(const char *const *names)
{
	struct error err;

	for (; *names; names++)
		if (!print_one(*names, &err))
			printf("%s\t\t\t\t\t\n", *names);
	return CLI_EXIT_OK;
}

/* ---- Taking ---- */

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
