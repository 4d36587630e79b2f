/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes which commits can be the cause. */
#include "render/json_commits.h"

#include "render/json_text.h"

static json_t *functions(const struct diff *diff, const struct commits_suspect *suspect)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < suspect->function_count; i++) {
		const struct diff_function *f = &diff->functions[suspect->functions[i]];

		if (json_array_append_new(array, json_valid_string(diff_string(diff, f->name))) != 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

json_t *json_commits(const struct commits *commits)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < commits->suspect_count; i++) {
		const struct commits_suspect *suspect = &commits->suspects[i];
		const struct repository_commit *commit = &commits->history->commits[suspect->commit];
		json_t *object = json_pack("{s:s, s:o, s:o, s:o, s:I, s:b}", "id", commit->id, "subject",
			json_valid_string(string_table_get(commits->history->strings, commit->subject)), "functions",
			functions(commits->diff, suspect), "share_pct", json_number(suspect->share * 100), "rank",
			(json_int_t)i + 1, "executed", 1);

		if (json_array_append_new(array, object) != 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

json_t *json_commits_not_executed(const struct commits *commits)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < commits->history->commit_count; i++) {
		if (commits->is_executed[i])
			continue;
		if (json_array_append_new(array, json_string(commits->history->commits[i].id)) != 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}
