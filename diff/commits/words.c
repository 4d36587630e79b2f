/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Says in a sentence which commit is suspected, or what else can be the cause. */
#include "diff/commits/words.h"

#include <stdarg.h>
#include <string.h>

enum { SHORT_ID = 10, MAX_SUBJECT = 120, NAME_COLUMNS = 60, MAX_NAME_BYTES = 1 << 16 };

__attribute__((format(printf, 2, 4))) static bool say(
	struct commits *commits, const char *format, struct error *err, ...)
{
	va_list args;

	va_start(args, err);
	commits->verdict_text = string_table_enter_text(commits->strings, format, args);
	va_end(args);
	return true;
}

static bool has_proven(const struct diff *diff)
{
	for (size_t i = 0; i < diff->change_count; i++)
		if (!diff->changes[i].is_of_others)
			return true;
	return false;
}

static const struct profile_mapping *commits_words_find_module(const struct profile *profile, const char *module)
{
	for (size_t i = 0; i < profile->mapping_count; i++)
		if (strcmp(profile_string(profile, profile->mappings[i].module), module) == 0)
			return &profile->mappings[i];
	return NULL;
}

/*
 * Returns a library that is another build in head, and that no function of the user's own is in; NULL: none is known.
 */
static const char *changed_library(const struct diff *diff, const struct profile *const profiles[DIFF_SIDES])
{
	const struct profile *base = profiles[DIFF_BASE], *head = profiles[DIFF_HEAD];

	for (size_t i = 0; i < diff->function_count; i++) {
		const struct diff_function *f = &diff->functions[i];
		const char *module = diff_string(diff, f->module);
		const struct profile_mapping *of_base, *of_head;

		if (f->origin != PROFILE_ORIGIN_LIBRARY && f->origin != PROFILE_ORIGIN_SYSTEM)
			continue;
		of_base = commits_words_find_module(base, module);
		of_head = commits_words_find_module(head, module);
		if (of_base && of_head && of_base->kind == PROFILE_MAPPING_FILE && of_base->build_id &&
			of_head->build_id &&
			strcmp(profile_string(base, of_base->build_id), profile_string(head, of_head->build_id)) != 0)
			return module;
	}
	return NULL;
}

/* Returns what a share is of. */
static const char *direction(const struct diff *diff)
{
	if (diff->verdict == DIFF_REGRESSED)
		return "increase";
	return diff->verdict == DIFF_IMPROVED ? "decrease" : "changes";
}

static bool say_suspect(struct commits *commits, const struct diff *diff, struct error *err)
{
	const struct commits_suspect *first = &commits->suspects[0];
	const struct repository_commit *commit = &commits->history->commits[first->commit];
	const char *subject = string_table_get(commits->history->strings, commit->subject);
	size_t size = strlen(subject);
	CLEANUP(buffer_deinit) struct buffer name = BUFFER_INIT(MAX_NAME_BYTES);

	profile_shorten_name(diff_string(diff, diff->functions[first->functions[0]].shown), NAME_COLUMNS, &name);
	buffer_append(&name, "", 0);
	if (!buffer_ok(&name, err))
		return false;
	/* The sentence has an end of its own. */
	if (size > 0 && subject[size - 1] == '.')
		size--;
	return say(commits, "%.*s is the first suspect: it changed %s, %.0f %% of the proven %s: %.*s", err, SHORT_ID,
		commit->id, name.data ? name.data : "", first->share * 100, direction(diff),
		(int)(size < MAX_SUBJECT ? size : MAX_SUBJECT), subject);
}

bool commits_add_words(struct commits *commits, const struct diff *diff,
	const struct profile *const profiles[DIFF_SIDES], struct error *err)
{
	const char *library;

	if (commits->suspect_count > 0)
		return say_suspect(commits, diff, err);
	if (commits->history->commit_count == 0)
		return say(commits, "the range has no commits", err);
	if (!has_proven(diff))
		return say(commits, "nothing is proven to differ, so no commit is suspected", err);
	library = changed_library(diff, profiles);
	if (library)
		return say(commits,
			"no commit of the range touched sampled code that is proven to differ: flags, data or a dependency; %s is another build",
			err, library);
	return say(commits,
		"no commit of the range touched sampled code that is proven to differ: flags, data or a dependency",
		err);
}
