/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the commits of a range as git wrote them: for each NUL, its id, its parents, its subject, each with a NUL
 * behind it; what it changed, by `--raw -z`; a NUL; and a patch without context. Paths are those of the raw form.
 */
#include "diff/repository/code_text.h"
#include "diff/repository/repository.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SUBJECT_BYTES = 400, MAX_STRINGS_BYTES = 256 << 20, MAX_COMMITS = 1 << 22, MAX_LINES = 1 << 28 };

void repository_history_destroy(struct repository_history *history)
{
	if (!history)
		return;
	free(history->commits);
	free(history->hunks);
	free(history->files);
	free(history->texts);
	string_table_destroy(history->strings);
	free(history);
}

struct log_parser {
	struct byte_reader reader;
	struct repository_history *history;
	size_t commit_capacity, hunk_capacity, file_capacity, text_capacity;
	size_t next_file; /* of the commit at hand: the first that no part of the patch was found for */
	struct error *err;
};

static bool repository_history_refuse(const struct log_parser *p, const char *what)
{
	return error_set(p->err, ERROR_FORMAT, "what git wrote of the commits is not as expected: %s (byte %zu)", what,
		byte_reader_offset(&p->reader));
}

static bool at(const struct log_parser *p, const char *text)
{
	size_t size = strlen(text);

	return byte_reader_left(&p->reader) >= size && memcmp(p->reader.pos, text, size) == 0;
}

static bool at_byte(const struct log_parser *p, char byte)
{
	return byte_reader_left(&p->reader) > 0 && *p->reader.pos == (uint8_t)byte;
}

/* Returns the line at hand without its end. */
static const char *repository_history_take_line(struct log_parser *p, size_t *size)
{
	size_t left = byte_reader_left(&p->reader);
	const char *line = (const char *)p->reader.pos, *end = left > 0 ? memchr(line, '\n', left) : NULL;

	*size = end ? (size_t)(end - line) : left;
	byte_reader_skip(&p->reader, *size + (end ? 1 : 0));
	return line;
}

/* ---- Patches ---- */

/* Reads "12,3", or "12" where it is one line. */
static bool take_span(struct text_cursor *text, char sign, uint32_t *line, uint32_t *count)
{
	uint64_t first, lines = 1;

	if (!text_take_byte(text, sign) || !text_take_number(text, MAX_LINES - 1, &first) ||
		(text_take_byte(text, ',') && !text_take_number(text, MAX_LINES - 1, &lines)))
		return false;
	*line = (uint32_t)first;
	*count = (uint32_t)lines;
	return true;
}

/* Reads "@@ -1,2 +3,4 @@ what follows". */
static bool read_hunk_line(const char *line, size_t size, struct repository_hunk *hunk)
{
	struct text_cursor text = { line + 3, line + size };

	return take_span(&text, '-', &hunk->old_line, &hunk->old_count) && text_take_byte(&text, ' ') &&
	       take_span(&text, '+', &hunk->new_line, &hunk->new_count) && text_take_literal(&text, " @@");
}

static bool repository_history_read_texts(struct log_parser *p, char sign, uint32_t count, struct code_text *code)
{
	struct repository_history *history = p->history;

	for (uint32_t i = 0; i < count; i++) {
		const char *line;
		size_t size;

		if (!at_byte(p, sign))
			return repository_history_refuse(p, "a hunk is shorter than it says");
		line = repository_history_take_line(p, &size);
		if (!ARRAY_APPEND(&history->texts, &p->text_capacity, &history->text_count, MAX_LINES, p->err,
			    code_text_line(code, line + 1, size - 1)))
			return false;
		/* Passes over "\ No newline at end of file". */
		if (at_byte(p, '\\'))
			repository_history_take_line(p, &size);
	}
	return true;
}

static bool is_in_order(
	const struct log_parser *p, const struct repository_commit *commit, const struct repository_hunk *hunk)
{
	const struct repository_hunk *before;

	if (commit->hunk_count == 0)
		return true;
	before = &p->history->hunks[p->history->hunk_count - 1];
	return before->file != hunk->file || (hunk->new_line >= before->new_line + before->new_count &&
						     hunk->old_line >= before->old_line + before->old_count);
}

static bool read_hunk(struct log_parser *p, struct repository_commit *commit, size_t file)
{
	struct repository_history *history = p->history;
	const struct repository_file *f = &history->files[file];
	struct repository_hunk hunk = { .file = (uint32_t)file, .old_text = history->text_count };
	struct code_text old, new;
	size_t size;
	const char *line = repository_history_take_line(p, &size);

	if (!read_hunk_line(line, size, &hunk) || !is_in_order(p, commit, &hunk))
		return repository_history_refuse(p, "the head of a hunk");
	old = code_text_of(string_table_get(history->strings, f->new_path ? f->new_path : f->old_path));
	new = old;
	hunk.new_text = hunk.old_text + hunk.old_count;
	if (!repository_history_read_texts(p, '-', hunk.old_count, &old) ||
		!repository_history_read_texts(p, '+', hunk.new_count, &new))
		return false;
	hunk.is_laid_out = hunk.old_count > 0 && hunk.new_count > 0 && old.all == new.all;
	if (!ARRAY_APPEND(&history->hunks, &p->hunk_capacity, &history->hunk_count, MAX_LINES, p->err, hunk))
		return false;
	commit->hunk_count++;
	return true;
}

static bool repository_history_ends_with(const char *line, size_t size, const char *path, size_t path_size)
{
	return path_size > 0 && size >= path_size && memcmp(line + size - path_size, path, path_size) == 0;
}

/* Finds the file that "diff --git a/OLD b/NEW" is of. A file of which only blanks differ may have no such line. */
static bool repository_history_find_file(
	struct log_parser *p, const struct repository_commit *commit, const char *line, size_t size)
{
	const struct repository_history *history = p->history;

	for (; p->next_file < commit->first_file + commit->file_count; p->next_file++) {
		const struct repository_file *file = &history->files[p->next_file];
		uint32_t path = file->new_path ? file->new_path : file->old_path;

		if (repository_history_ends_with(line, size, string_table_get(history->strings, path),
			    string_table_size(history->strings, path)))
			return true;
	}
	return repository_history_refuse(p, "a patch of a file that was not named");
}

static bool read_patch(struct log_parser *p, struct repository_commit *commit)
{
	bool has_file = false;

	while (byte_reader_left(&p->reader) > 0 && !at_byte(p, '\0')) {
		if (at(p, "@@ ")) {
			if (!has_file)
				return repository_history_refuse(p, "a hunk of no file");
			if (!read_hunk(p, commit, p->next_file))
				return false;
			continue;
		}
		if (at(p, "diff --git ")) {
			const char *line;
			size_t size;

			p->next_file += has_file;
			line = repository_history_take_line(p, &size);
			if (!repository_history_find_file(p, commit, line, size))
				return false;
			has_file = true;
			continue;
		}
		repository_history_take_line(p, &(size_t){ 0 });
	}
	return true;
}

/* ---- What was changed ---- */

static bool repository_history_add_path(struct log_parser *p, uint32_t *id)
{
	size_t size;
	const char *path = byte_reader_string(&p->reader, &size);

	return path && size > 0 ? string_table_add(p->history->strings, path, size, id, p->err)
				: repository_history_refuse(p, "a path is missing");
}

static bool repository_history_add_file(
	struct log_parser *p, struct repository_commit *commit, uint32_t old_path, uint32_t new_path)
{
	struct repository_history *history = p->history;

	if (!ARRAY_APPEND(&history->files, &p->file_capacity, &history->file_count, MAX_LINES, p->err,
		    (struct repository_file){ old_path, new_path }))
		return false;
	commit->file_count++;
	return true;
}

/*
 * Reads ":100644 100644 0123456 789abcd R097", a NUL, and a path, or the old and the new one, each with a NUL behind
 * it.
 */
static bool repository_history_read_raw(struct log_parser *p, struct repository_commit *commit)
{
	const char *entry = byte_reader_string(&p->reader, NULL);
	const char *status = entry ? strrchr(entry, ' ') : NULL;
	uint32_t old_path, new_path;

	if (!status)
		return repository_history_refuse(p, "a change without its kind");
	if (!repository_history_add_path(p, &old_path))
		return false;
	new_path = old_path;
	switch (status[1]) {
	case 'A':
		return repository_history_add_file(p, commit, 0, new_path);
	case 'D':
		return repository_history_add_file(p, commit, old_path, 0);
	case 'T': /* the patch removes the one, and adds the other */
		return repository_history_add_file(p, commit, old_path, 0) &&
		       repository_history_add_file(p, commit, 0, new_path);
	case 'R':
	case 'C':
		return repository_history_add_path(p, &new_path) &&
		       repository_history_add_file(p, commit, old_path, new_path);
	default:
		return repository_history_add_file(p, commit, old_path, new_path);
	}
}

static bool read_changes(struct log_parser *p, struct repository_commit *commit)
{
	static const char patch[] = "\0diff --git ";

	while (at_byte(p, '\0') || at_byte(p, '\n'))
		byte_reader_skip(&p->reader, 1);
	if (!at_byte(p, ':'))
		return true;
	while (at_byte(p, ':'))
		if (!repository_history_read_raw(p, commit))
			return false;
	p->next_file = commit->first_file;
	/* A NUL stands before a patch; where there is none, it is the next commit's. */
	if (byte_reader_left(&p->reader) < sizeof(patch) || memcmp(p->reader.pos, patch, sizeof(patch) - 1) != 0)
		return true;
	byte_reader_skip(&p->reader, 1);
	return read_patch(p, commit);
}

/* ---- Commits ---- */

/* Compares the first `size` characters; whatever may follow. */
static bool is_id_of(const char *text, size_t size)
{
	return (size == 40 || size == 64) && strspn(text, "0123456789abcdef") >= size;
}

/* Reads the parents' ids, with blanks between them. */
static void read_merged(const char *parents, struct repository_commit *commit)
{
	const char *second = strchr(parents, ' ');
	size_t size = second ? strcspn(second + 1, " ") : 0;

	commit->is_merge = second != NULL;
	if (size > 0 && is_id_of(second + 1, size))
		memcpy(commit->merged, second + 1, size);
}

static bool read_commit(struct log_parser *p)
{
	struct repository_history *history = p->history;
	struct repository_commit commit = { .first_hunk = history->hunk_count, .first_file = history->file_count };
	size_t id_size = 0, subject_size = 0;
	const char *id = byte_reader_string(&p->reader, &id_size);
	const char *parents = byte_reader_string(&p->reader, NULL);
	const char *subject = byte_reader_string(&p->reader, &subject_size);

	if (!byte_reader_ok(&p->reader) || !is_id_of(id, id_size))
		return repository_history_refuse(p, "the head of a commit");
	memcpy(commit.id, id, id_size + 1);
	read_merged(parents, &commit);
	if (!string_table_add(history->strings, subject,
		    subject_size < MAX_SUBJECT_BYTES ? subject_size : MAX_SUBJECT_BYTES, &commit.subject, p->err) ||
		!read_changes(p, &commit) ||
		!ARRAY_APPEND(
			&history->commits, &p->commit_capacity, &history->commit_count, MAX_COMMITS, p->err, commit))
		return false;
	return true;
}

bool repository_parse_log(const void *bytes, size_t size, struct repository_history **history, struct error *err)
{
	CLEANUP(repository_history_cleanup) struct repository_history *made = memory_zeroed(1, sizeof(*made));
	struct log_parser parser = { .reader = byte_reader_over(bytes, size), .history = made, .err = err };

	made->strings = string_table_begin(MAX_STRINGS_BYTES);
	for (;;) {
		while (at_byte(&parser, '\0') || at_byte(&parser, '\n'))
			byte_reader_skip(&parser.reader, 1);
		if (byte_reader_left(&parser.reader) == 0)
			break;
		if (!read_commit(&parser))
			return false;
	}
	*history = TAKE(made);
	return true;
}
