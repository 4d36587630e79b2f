/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keeps source files and lines of their text in a profile: each line of a file once, in order. */
#include "profile/index.h"

#include <string.h>

static const char *const proof_words[PROFILE_SOURCE_PROOF_COUNT] = {
	[PROFILE_SOURCE_MAY_DIFFER] = "may differ from what was built",
	[PROFILE_SOURCE_NOT_NEWER] = "not changed since the build",
	[PROFILE_SOURCE_SAME_BYTES] = "its MD5 is the build's",
};

const char *profile_source_proof_words(enum profile_source_proof proof)
{
	return proof_words[proof];
}

/* ---- Files ---- */

uint32_t profile_find_source_file(const struct profile *profile, uint32_t path)
{
	return hash_map_get(&profile->index->source_files, &path);
}

/* From now on nothing shows which build the texts are of, whatever is merged later. */
static void profile_source_mix(struct profile_source_file *file)
{
	file->is_mixed = true;
	file->has_md5 = file->is_md5_of_build = false;
	memset(file->md5, 0, sizeof(file->md5));
	file->proof = PROFILE_SOURCE_MAY_DIFFER;
}

static void complete_file(struct profile_source_file *known, const struct profile_source_file *found)
{
	known->is_embedded |= found->is_embedded;
	if (known->is_mixed || found->is_mixed ||
		(known->has_md5 && found->has_md5 && memcmp(known->md5, found->md5, sizeof(known->md5)) != 0)) {
		profile_source_mix(known);
		return;
	}
	if (found->has_md5) {
		known->has_md5 = true;
		memcpy(known->md5, found->md5, sizeof(known->md5));
		known->is_md5_of_build |= found->is_md5_of_build;
	}
	if (found->proof > known->proof)
		known->proof = found->proof;
}

bool profile_add_source_file(
	struct profile *profile, const struct profile_source_file *file, uint32_t *id, struct error *err)
{
	struct profile_index *index = profile->index;
	uint32_t *value;
	bool added;

	*id = profile_find_source_file(profile, file->path);
	if (*id != PROFILE_NONE) {
		complete_file(&profile->source_files[*id], file);
		return true;
	}
	if (profile->source_file_count == PROFILE_MAX_SOURCE_FILES)
		return true;
	if (!ARRAY_RESERVE(&profile->source_files, &index->source_file_capacity, profile->source_file_count + 1,
		    PROFILE_MAX_SOURCE_FILES, err) ||
		!hash_map_add(
			&index->source_files, &file->path, (uint32_t)profile->source_file_count, &value, &added, err))
		return false;
	*id = (uint32_t)profile->source_file_count++;
	profile->source_files[*id] = *file;
	if (file->is_mixed)
		profile_source_mix(&profile->source_files[*id]);
	return true;
}

/* ---- Texts ---- */

/* A line of a text that is read line by line. `at` NULL: it has no more lines. */
struct source_cursor {
	const char *at;
	uint32_t line;
};

static size_t line_bytes(const struct source_cursor *cursor)
{
	return (size_t)(strchrnul(cursor->at, '\n') - cursor->at);
}

static void profile_source_next_line(struct source_cursor *cursor)
{
	cursor->at += line_bytes(cursor);
	cursor->at = *cursor->at ? cursor->at + 1 : NULL;
	cursor->line++;
}

uint32_t profile_count_lines(const char *text)
{
	uint32_t count = 1;

	for (; (text = strchr(text, '\n')); text++)
		count++;
	return count;
}

/* Returns the first text that begins behind this line of the file. */
static size_t profile_source_find_text(const struct profile *profile, uint32_t file, uint32_t line)
{
	return BISECT(profile->source_text_count, i,
		profile->source_texts[i].file < file ||
			(profile->source_texts[i].file == file && profile->source_texts[i].first_line <= line));
}

static bool is_text_of(const struct profile *profile, size_t at, uint32_t file)
{
	return at < profile->source_text_count && profile->source_texts[at].file == file;
}

/* Moves behind the lines that a text has already. False: one of them is another one there. */
static bool pass_known_lines(const struct profile *profile, size_t at, struct source_cursor *lines)
{
	const struct profile_source_text *text = &profile->source_texts[at];
	struct source_cursor known = { profile_string(profile, text->text), text->first_line };
	bool is_same = true;

	while (known.at && known.line < lines->line)
		profile_source_next_line(&known);
	for (; known.at && lines->at; profile_source_next_line(&known), profile_source_next_line(lines))
		is_same &=
			line_bytes(&known) == line_bytes(lines) && memcmp(known.at, lines->at, line_bytes(lines)) == 0;
	return is_same;
}

bool profile_append_source_text(
	struct profile *profile, size_t at, uint32_t file, uint32_t first_line, uint32_t string, struct error *err)
{
	struct profile_source_text *texts;

	if (!ARRAY_RESERVE(&profile->source_texts, &profile->index->source_text_capacity,
		    profile->source_text_count + 1, PROFILE_MAX_SOURCE_TEXTS, err))
		return false;
	texts = profile->source_texts;
	memmove(&texts[at + 1], &texts[at], (profile->source_text_count - at) * sizeof(*texts));
	texts[at] = (struct profile_source_text){ file, first_line, string };
	profile->source_text_count++;
	profile->index->source_bytes += string_table_size(profile->strings, string);
	return true;
}

/* Adds the lines before `end`, as many as one text holds, as the text `at`. */
static bool insert_lines(
	struct profile *profile, size_t at, uint32_t file, struct source_cursor *lines, uint32_t end, struct error *err)
{
	const char *start = lines->at;
	uint32_t first_line = lines->line, string;
	size_t bytes = line_bytes(lines);

	/* A single line may be longer than a text: it is cut. */
	if (bytes > PROFILE_MAX_SOURCE_TEXT_BYTES)
		bytes = PROFILE_MAX_SOURCE_TEXT_BYTES;
	profile_source_next_line(lines);
	while (lines->at && lines->line < end) {
		size_t longer = (size_t)(lines->at - start) + line_bytes(lines);

		if (longer > PROFILE_MAX_SOURCE_TEXT_BYTES)
			break;
		bytes = longer;
		profile_source_next_line(lines);
	}
	return string_table_add(profile->strings, start, bytes, &string, err) &&
	       profile_append_source_text(profile, at, file, first_line, string, err);
}

static bool profile_source_has_room(const struct profile *profile)
{
	return profile->source_text_count < PROFILE_MAX_SOURCE_TEXTS &&
	       profile->index->source_bytes + PROFILE_MAX_SOURCE_TEXT_BYTES <= PROFILE_MAX_MERGED_SOURCE_BYTES;
}

bool profile_add_source_text(
	struct profile *profile, uint32_t file, uint32_t first_line, const char *text, struct error *err)
{
	struct source_cursor lines = { text, first_line };
	size_t at;

	if (file == PROFILE_NONE)
		return true;
	if (file >= profile->source_file_count || first_line == 0 ||
		profile_count_lines(text) > UINT32_MAX - first_line)
		return error_set(
			err, ERROR_FORMAT, "the text from line %u of source file %u is of no file", first_line, file);
	at = profile_source_find_text(profile, file, first_line);
	if (at > 0 && is_text_of(profile, at - 1, file))
		at--;
	for (; lines.at; at++) {
		if (is_text_of(profile, at, file) && profile->source_texts[at].first_line <= lines.line) {
			if (!pass_known_lines(profile, at, &lines))
				profile_source_mix(&profile->source_files[file]);
			continue;
		}
		if (!profile_source_has_room(profile))
			return true;
		if (!insert_lines(profile, at, file, &lines,
			    is_text_of(profile, at, file) ? profile->source_texts[at].first_line : UINT32_MAX, err))
			return false;
	}
	return true;
}

/* ---- Checks ---- */

static bool validate_files(const struct profile *profile, struct error *err)
{
	for (uint32_t i = 0; i < profile->source_file_count; i++) {
		const struct profile_source_file *file = &profile->source_files[i];

		if (file->path >= string_table_count(profile->strings) ||
			profile_find_source_file(profile, file->path) != i)
			return error_set(err, ERROR_FORMAT, "source file %u has no path of its own", i);
		if ((unsigned int)file->proof >= PROFILE_SOURCE_PROOF_COUNT ||
			(file->is_md5_of_build && !file->has_md5) ||
			(file->is_mixed && (file->has_md5 || file->proof != PROFILE_SOURCE_MAY_DIFFER)))
			return error_set(err, ERROR_FORMAT, "source file %u contradicts itself", i);
	}
	return true;
}

/* Returns whether a text lies behind the one before it. */
static bool follows(const struct profile *profile, const struct profile_source_text *text)
{
	const struct profile_source_text *before = &text[-1];

	return before->file < text->file || (before->file == text->file && before->first_line < text->first_line &&
						    profile_count_lines(profile_string(profile, before->text)) <=
							    text->first_line - before->first_line);
}

bool profile_validate_sources(const struct profile *profile, struct error *err)
{
	size_t bytes = 0;

	if (!validate_files(profile, err))
		return false;
	for (size_t i = 0; i < profile->source_text_count; i++) {
		const struct profile_source_text *text = &profile->source_texts[i];
		size_t size;

		if (text->file >= profile->source_file_count || text->text >= string_table_count(profile->strings))
			return error_set(err, ERROR_FORMAT, "source text %zu references what is not there", i);
		size = string_table_size(profile->strings, text->text);
		bytes += size;
		if (size > PROFILE_MAX_SOURCE_TEXT_BYTES || bytes > PROFILE_MAX_MERGED_SOURCE_BYTES)
			return error_set(err, ERROR_FORMAT, "source text %zu is too long", i);
		if (strlen(profile_string(profile, text->text)) != size)
			return error_set(err, ERROR_FORMAT, "source text %zu is no text", i);
		if (text->first_line == 0 ||
			profile_count_lines(profile_string(profile, text->text)) > UINT32_MAX - text->first_line)
			return error_set(err, ERROR_FORMAT, "source text %zu begins at no line", i);
		if (i > 0 && !follows(profile, text))
			return error_set(err, ERROR_FORMAT, "source text %zu is not in order", i);
	}
	return true;
}
