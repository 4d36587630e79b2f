/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes which commits can be the cause, as text and as Markdown. */
#include "render/commit_lines.h"
#include "render/markdown_writer.h"
#include "render/text_writer.h"

enum {
	MOST_SUSPECTS = 5,
	MOST_FUNCTIONS = 3,
	ID_CHARACTERS = 10,
	NAME_COLUMNS = 60,
	MAX_SUBJECT = 400,
	MAX_LINE_BYTES = 1 << 20
};

/* Returns how many suspects are listed: none where the sentence says all. */
static size_t shown_suspects(const struct commits *commits)
{
	size_t count = commits->suspect_count < MOST_SUSPECTS ? commits->suspect_count : MOST_SUSPECTS;

	return count > 1 ? count : 0;
}

/* Appends the names of at most three functions that a suspect changed, and how many more. */
static void render_commits_append_functions(const struct diff *diff, const struct commits_suspect *suspect,
	void (*append_name)(struct buffer *out, const char *name), struct buffer *out)
{
	for (size_t i = 0; i < suspect->function_count && i < MOST_FUNCTIONS; i++) {
		buffer_append_string(out, i > 0 ? ", " : "");
		append_name(out, diff_string(diff, diff->functions[suspect->functions[i]].shown));
	}
	if (suspect->function_count > MOST_FUNCTIONS)
		buffer_printf(out, " and %zu more", suspect->function_count - MOST_FUNCTIONS);
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

/* ---- Text ---- */

static void append_short(struct buffer *out, const char *name)
{
	profile_shorten_name(name, NAME_COLUMNS, out);
}

void commit_lines(
	const struct commits *commits, void (*take)(void *context, struct buffer *line, size_t indent), void *context)
{
	CLEANUP(buffer_deinit) struct buffer line = { 0 };

	buffer_init(&line, MAX_LINE_BYTES);
	buffer_printf(&line, "Commits: %s.", string_table_get(commits->strings, commits->verdict_text));
	take(context, &line, 0);
	for (size_t i = 0; i < shown_suspects(commits); i++) {
		const struct commits_suspect *suspect = &commits->suspects[i];
		const struct repository_commit *commit = &commits->history->commits[suspect->commit];

		line.size = 0;
		buffer_printf(&line, "%zu. %.0f %%  %.*s %s — ", i + 1, suspect->share * 100, ID_CHARACTERS, commit->id,
			subject_of(commits, commit));
		render_commits_append_functions(commits->diff, suspect, append_short, &line);
		take(context, &line, 3);
	}
	line.size = 0;
	append_rest(commits, &line);
	if (line.size > 0)
		take(context, &line, 0);
}

static void render_commits_write_line(void *context, struct buffer *line, size_t indent)
{
	const struct text_writer *w = context;

	buffer_append(line, "", 0);
	if (line->failed)
		w->out->failed = true;
	else
		text_paragraph(w, line->data, indent);
}

void text_commits(const struct text_writer *w)
{
	struct text_writer writer = *w;

	if (w->input->commits)
		commit_lines(w->input->commits, render_commits_write_line, &writer);
}

/* ---- Markdown ---- */

static void emit_suspect(struct markdown_writer *w, const struct commits_suspect *suspect)
{
	const struct commits *commits = w->input->commits;
	const struct repository_commit *commit = &commits->history->commits[suspect->commit];
	CLEANUP(buffer_deinit) struct buffer row = { 0 };

	buffer_init(&row, MARKDOWN_MAX_BYTES);
	buffer_printf(&row, "| %.*s ", ID_CHARACTERS, commit->id);
	markdown_escape(&row, subject_of(commits, commit), MAX_SUBJECT);
	buffer_append_string(&row, " | ");
	render_commits_append_functions(commits->diff, suspect, markdown_name, &row);
	buffer_printf(&row, " | %.0f %% |\n", suspect->share * 100);
	markdown_emit(w, &row);
}

void markdown_commits(struct markdown_writer *w)
{
	const struct commits *commits = w->input->commits;
	size_t shown = commits ? shown_suspects(commits) : 0;
	CLEANUP(buffer_deinit) struct buffer text = { 0 }, rest = { 0 };

	if (!commits)
		return;
	buffer_init(&text, MARKDOWN_MAX_BYTES);
	buffer_init(&rest, MARKDOWN_MAX_BYTES);
	buffer_printf(&text, "%s.", string_table_get(commits->strings, commits->verdict_text));
	append_rest(commits, &rest);
	markdown_emit_text(w, "**Commits**: ", &text, "\n\n");
	if (shown > 0)
		markdown_emit_string(w, "| commit | changed | of what is proven |\n|:--|:--|--:|\n");
	for (size_t i = 0; i < shown; i++)
		emit_suspect(w, &commits->suspects[i]);
	if (shown > 0)
		markdown_emit_string(w, "\n");
	if (rest.size > 0)
		markdown_emit_text(w, "", &rest, "\n\n");
}
