/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/history/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Compares the circumstances that are known at each profile. A fact that a profile does not know differs from nothing:
 * it is compared with the last profile that knew it.
 */

enum { SHORT_ID = 7, MAX_WORD = 80 };

/* The labels that tell which program it is, what people know best first. */
static const char *const program_labels[] = { PROFILE_LABEL_VERSION, PROFILE_LABEL_COMMIT, "image", "build", NULL };

/* Facts of the machine and of the build that change what code costs. */
static const char *const machine_facts[] = { "kernel", "cpu_model", "governor", "cpu_limit", "cpu_count", "toolchain",
	NULL };

struct history_facts_words {
	const char *what, *before, *after; /* borrowed */
	char texts[2][MAX_WORD];           /* of numbers */
	int shown;                         /* characters of both values; 0: all */
};

/* ---- Labels ---- */

static bool label_changed(const struct history *history, const struct history_series *series, size_t at,
	const char *key, struct history_facts_words *words)
{
	const char *after = summary_label(history->set, series_summary(history, series, at), key), *before = NULL;

	for (size_t i = at; after && !before && i-- > 0;)
		before = summary_label(history->set, series_summary(history, series, i), key);
	if (!after || !before || strcmp(before, after) == 0)
		return false;
	*words = (struct history_facts_words){ .what = key, .before = before, .after = after };
	if (strcmp(key, PROFILE_LABEL_COMMIT) == 0 || strcmp(key, "build") == 0 || strcmp(key, "image") == 0)
		words->shown = 12;
	return true;
}

/* ---- Binaries ---- */

static const struct summary_binary *binary_of(const struct summary *summary, uint32_t module, bool is_program)
{
	for (size_t i = 0; i < summary->binary_count; i++) {
		const struct summary_binary *binary = &summary->binaries[i];

		if (binary->module == module && binary->is_program == is_program && binary->build_id)
			return binary;
	}
	return NULL;
}

static bool has_build(const struct summary *summary, const struct summary_binary *wanted)
{
	for (size_t i = 0; i < summary->binary_count; i++) {
		if (summary->binaries[i].module == wanted->module && summary->binaries[i].build_id == wanted->build_id)
			return true;
	}
	return false;
}

/* Returns "3.0.11" of "/usr/lib/libssl.so.3.0.11"; NULL: the path has no version. */
static const char *version_of(const char *path)
{
	const char *version = strstr(path, ".so.");

	return version ? version + strlen(".so.") : NULL;
}

static void binary_words(const struct history *history, const struct summary_binary *before,
	const struct summary_binary *after, struct history_facts_words *words)
{
	const struct summary_set *set = history->set;
	const char *old_version = version_of(summary_string(set, before->path));
	const char *new_version = version_of(summary_string(set, after->path));

	*words = (struct history_facts_words){ .what = summary_string(set, after->module) };
	if (old_version && new_version && strcmp(old_version, new_version) != 0) {
		words->before = old_version;
		words->after = new_version;
		return;
	}
	words->before = summary_string(set, before->build_id);
	words->after = summary_string(set, after->build_id);
	words->shown = SHORT_ID;
}

static bool binary_changed(const struct history *history, const struct history_series *series, size_t at,
	bool is_program, struct history_facts_words *words)
{
	const struct summary *summary = series_summary(history, series, at);

	for (size_t b = 0; b < summary->binary_count; b++) {
		const struct summary_binary *after = &summary->binaries[b], *before = NULL;

		if (after->is_program != is_program || !after->build_id)
			continue;
		for (size_t i = at; !before && i-- > 0;) {
			const struct summary *earlier = series_summary(history, series, i);

			before = binary_of(earlier, after->module, is_program);
			/* Several binaries may have the same name: what was there is nothing new. */
			if (before && has_build(earlier, after))
				break;
		}
		if (before && before->build_id != after->build_id &&
			!(has_build(series_summary(history, series, at - 1), after))) {
			binary_words(history, before, after, words);
			return true;
		}
	}
	return false;
}

/* ---- Facts of the recording ---- */

static const struct profile_fact *fact_named(const char *name)
{
	size_t count;
	const struct profile_fact *facts = profile_facts(&count);

	for (size_t i = 0; i < count; i++) {
		if (strcmp(facts[i].name, name) == 0)
			return &facts[i];
	}
	return NULL;
}

static const char *fact_text(const struct history *history, const struct profile_fact *fact, uint32_t value, char *text)
{
	switch (fact->type) {
	case PROFILE_FACT_STRING:
		return summary_string(history->set, value);
	case PROFILE_FACT_THOUSANDTHS:
		snprintf(text, MAX_WORD, "%g", value / 1000.0);
		return text;
	case PROFILE_FACT_NUMBER:
	case PROFILE_FACT_FLAG:
		snprintf(text, MAX_WORD, "%u", (unsigned)value);
		return text;
	}
	return "";
}

static bool fact_changed(const struct history *history, const struct history_series *series, size_t at,
	const char *name, struct history_facts_words *words)
{
	const struct profile_fact *fact = fact_named(name);
	uint32_t after = fact ? profile_fact_get(&series_summary(history, series, at)->facts, fact) : 0, before = 0;

	for (size_t i = at; after && !before && i-- > 0;)
		before = profile_fact_get(&series_summary(history, series, i)->facts, fact);
	if (!after || !before || before == after)
		return false;
	*words = (struct history_facts_words){ .what = name };
	words->before = fact_text(history, fact, before, words->texts[0]);
	words->after = fact_text(history, fact, after, words->texts[1]);
	return true;
}

/* Returns "CPU limit" of "cpu_limit". */
static const char *fact_words(const char *name)
{
	static const char *const words[][2] = { { "cpu_model", "CPU" }, { "cpu_limit", "CPU limit" },
		{ "cpu_count", "CPUs" }, { "governor", "CPU frequency governor" } };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i][0], name) == 0)
			return words[i][1];
	}
	return name;
}

/* ---- All of them ---- */

static bool program_changed(const struct history *history, const struct history_series *series, size_t at,
	struct history_facts_words *words)
{
	for (size_t i = 0; program_labels[i]; i++) {
		if (label_changed(history, series, at, program_labels[i], words))
			return true;
	}
	return binary_changed(history, series, at, true, words);
}

/* Labels of who recorded what differ from profile to profile by nature. */
static bool is_about_profile(const char *key)
{
	return strcmp(key, "started") == 0 || strcmp(key, PROFILE_LABEL_HOST) == 0 || strstr(key, "instance") != NULL;
}

static bool other_label_changed(const struct history *history, const struct history_series *series, size_t at,
	struct history_facts_words *words)
{
	const struct summary *summary = series_summary(history, series, at);

	for (size_t i = 0; i < summary->label_count; i++) {
		const char *key = summary_string(history->set, summary->labels[i].key);

		if (!is_about_profile(key) && label_changed(history, series, at, key, words))
			return true;
	}
	return false;
}

bool facts_is_deploy(const struct history *history, const struct history_series *series, size_t at)
{
	struct history_facts_words words;

	return program_changed(history, series, at, &words);
}

static bool any_changed(const struct history *history, const struct history_series *series, size_t at,
	struct history_facts_words *words)
{
	if (program_changed(history, series, at, words) || binary_changed(history, series, at, false, words))
		return true;
	for (size_t i = 0; machine_facts[i]; i++) {
		if (fact_changed(history, series, at, machine_facts[i], words)) {
			words->what = fact_words(words->what);
			return true;
		}
	}
	return other_label_changed(history, series, at, words);
}

bool facts_changed(
	struct history *history, const struct history_series *series, size_t at, uint32_t *id, struct error *err)
{
	struct history_facts_words words;
	char text[4 * MAX_WORD];
	int shown, size;

	*id = 0;
	if (!any_changed(history, series, at, &words))
		return true;
	shown = words.shown ? words.shown : MAX_WORD;
	size = snprintf(
		text, sizeof(text), "%.*s %.*s → %.*s", MAX_WORD, words.what, shown, words.before, shown, words.after);
	return string_table_add(history->strings, text, (size_t)size, id, err);
}
