/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes which commits can be the cause. */
#include "render/commit_lines.h"
#include "render/parts.h"

enum { MOST_SUSPECTS = 5, MOST_FUNCTIONS = 3, ID_CHARACTERS = 10, MAX_LINE_BYTES = 1 << 20 };

/* Returns how many suspects are listed: none where the sentence says all. */
static size_t shown_suspects(const struct commits *commits)
{
	size_t count = commits->suspect_count < MOST_SUSPECTS ? commits->suspect_count : MOST_SUSPECTS;

	return count > 1 ? count : 0;
}

/* Appends the names of at most three functions that a suspect changed, and how many more. */
static void render_commits_append_functions(
	const struct diff *diff, const struct commits_suspect *suspect, struct buffer *words)
{
	for (size_t i = 0; i < suspect->function_count && i < MOST_FUNCTIONS; i++) {
		buffer_append_string(words, i > 0 ? ", " : "");
		document_name(words, diff_string(diff, diff->functions[suspect->functions[i]].shown));
	}
	if (suspect->function_count > MOST_FUNCTIONS)
		buffer_printf(words, " and %zu more", suspect->function_count - MOST_FUNCTIONS);
}

/* Appends how many commits are not listed, and why. */
static void append_rest(const struct commits *commits, struct buffer *out)
{
	size_t all = commits->history->commit_count, none = commits->not_executed_count;
	size_t more = commits->suspect_count > MOST_SUSPECTS ? commits->suspect_count - MOST_SUSPECTS : 0;

	if (more > 0)
		buffer_printf(out, "%zu more commit%s changed functions that are proven to differ. ", more,
			more == 1 ? "" : "s");
	if (none > 0)
		buffer_printf(out, "%zu of %zu commit%s touched no code that was sampled%s.", none, all,
			all == 1 ? "" : "s", commits->diff->whole ? " in this part" : "");
}

static const char *subject_of(const struct commits *commits, const struct repository_commit *commit)
{
	return string_table_get(commits->history->strings, commit->subject);
}

/* ---- Lines ---- */

void commit_lines(const struct commits *commits, void (*take)(void *context, struct buffer *words, bool is_suspect),
	void *context)
{
	CLEANUP(buffer_deinit) struct buffer line = { 0 };

	buffer_init(&line, MAX_LINE_BYTES);
	buffer_printf(&line, "Commits: %s.", string_table_get(commits->strings, commits->verdict_text));
	take(context, &line, false);
	for (size_t i = 0; i < shown_suspects(commits); i++) {
		const struct commits_suspect *suspect = &commits->suspects[i];
		const struct repository_commit *commit = &commits->history->commits[suspect->commit];

		line.size = 0;
		buffer_printf(&line, "%zu. %.0f %%  %.*s %s — ", i + 1, suspect->share * 100, ID_CHARACTERS, commit->id,
			subject_of(commits, commit));
		render_commits_append_functions(commits->diff, suspect, &line);
		take(context, &line, true);
	}
	line.size = 0;
	append_rest(commits, &line);
	if (line.size > 0)
		take(context, &line, false);
}

static void put_commit_line(void *context, struct buffer *words, bool is_suspect)
{
	struct document *d = context;

	d->words.failed |= words->failed;
	document_put(d, is_suspect ? DOCUMENT_NUMBERED : DOCUMENT_PARAGRAPH, words->data ? words->data : "");
}

/* ---- A table ---- */

static void put_suspects(struct document *d, const struct commits *commits)
{
	static const struct table_column columns[] = { { .title = "commit", .left = true, .is_text = true },
		{ .title = "changed", .left = true, .is_text = true }, { .title = "of what is proven" } };
	CLEANUP(table_deinit) struct table table = DOCUMENT_TABLE(d, columns);

	for (size_t i = 0; i < shown_suspects(commits); i++) {
		const struct commits_suspect *suspect = &commits->suspects[i];
		const struct repository_commit *commit = &commits->history->commits[suspect->commit];
		CLEANUP(buffer_deinit) struct buffer words = { 0 }, names = { 0 };
		char share[16];

		buffer_init(&words, MAX_LINE_BYTES);
		buffer_init(&names, MAX_LINE_BYTES);
		buffer_printf(&words, "%.*s %s", ID_CHARACTERS, commit->id, subject_of(commits, commit));
		render_commits_append_functions(commits->diff, suspect, &names);
		snprintf(share, sizeof(share), "%.0f %%", suspect->share * 100);
		table.failed |= words.failed || names.failed;
		TABLE_ADD(&table, TABLE_PLAIN, words.data, names.data, share);
	}
	document_table(d, &table);
}

void parts_commits(struct document *d)
{
	const struct commits *commits = d->input->commits;

	if (!commits)
		return;
	if (document_is_text(d)) {
		commit_lines(commits, put_commit_line, d);
		return;
	}
	buffer_printf(&d->words, DOCUMENT_BOLD "Commits" DOCUMENT_BOLD ": %s.",
		string_table_get(commits->strings, commits->verdict_text));
	document_put(d, DOCUMENT_PARAGRAPH, "");
	put_suspects(d, commits);
	append_rest(commits, &d->words);
	document_put(d, DOCUMENT_PARAGRAPH, "");
}
