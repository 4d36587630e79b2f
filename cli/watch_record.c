/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/watch_record.h"

#include "cli/captured.h"
#include "cli/cli.h"
#include "cli/watch_series.h"

#include <string.h>

enum { MOST_WORDS = 2 * PROFILE_MAX_LABELS + 24 };

/* The words of a command line, which stay for as long as the process lives. */
struct watch_record_words {
	const char *items[MOST_WORDS + 1];
	size_t count;
};

__attribute__((format(printf, 2, 3))) static void add_word(struct watch_record_words *words, const char *format, ...)
{
	char *word = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&word, format, args) < 0)
		word = NULL;
	va_end(args);
	if (word && words->count < MOST_WORDS)
		words->items[words->count++] = word;
}

static bool has_label(const struct labels *labels, const char *key)
{
	for (size_t i = 0; i < labels->count; i++)
		if (strcmp(labels->items[i].key, key) == 0)
			return true;
	return false;
}

/* A label that the user has given stays. */
static void add_label(struct watch_record_words *words, const struct labels *labels, const char *key, const char *value)
{
	struct error ignored;

	if (has_label(labels, key) || !profile_label_check(key, value, &ignored))
		return;
	add_word(words, "--label");
	add_word(words, "%s=%s", key, value);
}

static void watch_record_add_labels(struct watch_record_words *words, const struct watch_recording *recording)
{
	const struct watch_process *process = recording->process;
	int64_t boot_wall_ns = clock_read_ns(CLOCK_REALTIME) - clock_read_ns(CLOCK_BOOTTIME);
	struct watch_identity identity = { 0 };
	char started[WATCH_TIME_BYTES];
	struct error err;

	if (!watch_identify(process, &identity, &err))
		cli_print_error(&err);
	watch_time_words((boot_wall_ns + process->began_boot_ns) / 1000000000, started);
	add_label(words, recording->labels, WATCH_LABEL_BUILD, identity.build.build_id);
	add_label(words, recording->labels, WATCH_LABEL_IMAGE, identity.build.image);
	add_label(words, recording->labels, PROFILE_LABEL_VERSION, identity.build.version);
	add_label(words, recording->labels, PROFILE_LABEL_SERVICE, identity.service);
	add_label(words, recording->labels, WATCH_LABEL_STARTED, started);
	for (size_t i = 0; i < recording->labels->count; i++) {
		add_word(words, "--label");
		add_word(words, "%s=%s", recording->labels->items[i].key, recording->labels->items[i].value);
	}
}

int watch_recording_make(const struct watch_recording *recording)
{
	const char *const names[] = { recording->name, NULL };
	struct watch_record_words words = { 0 };
	int code;

	add_word(&words, "record");
	add_word(&words, "-q");
	watch_record_add_labels(&words, recording);
	add_word(&words, "-d");
	add_word(&words, "%.9gs", recording->duration_s);
	add_word(&words, "-o");
	add_word(&words, "%s", recording->name);
	if (recording->group) {
		add_word(&words, "--cgroup");
		add_word(&words, "%s", recording->group);
	} else {
		add_word(&words, "-p");
		add_word(&words, "%d", (int)recording->process->pid);
	}
	code = captured_run_command(words.items);
	return code == CLI_EXIT_OK ? watch_series_print(names) : code;
}
