/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Splits source text into lines. */
#include "diff/listing/text.h"

#include <string.h>

void text_deinit(struct text *text)
{
	for (size_t i = 0; i < text->block_count; i++)
		free(text->blocks[i].lines);
	free(text->blocks);
	free(text->bytes);
	*text = (struct text){ 0 };
}

static bool listing_text_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f';
}

static size_t listing_text_count_lines(const char *bytes, size_t size)
{
	size_t count = 1;

	for (const char *at = bytes, *end = bytes + size; (at = memchr(at, '\n', (size_t)(end - at)));)
		if (++at == end)
			return count;
		else
			count++;
	return count;
}

/* Nothing follows a '\n' at the end of the block. */
static void listing_text_split(struct text_block *block)
{
	const char *at = block->bytes, *end = at + block->size;

	block->line_count = block->size > 0 ? listing_text_count_lines(at, block->size) : 0;
	block->lines = memory_zeroed(block->line_count + 1, sizeof(*block->lines));
	for (size_t i = 0; i < block->line_count; i++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;

		block->lines[i] = (struct text_line){ at, (size_t)(stop - at) };
		while (block->lines[i].size > 0 && listing_text_is_blank(at[block->lines[i].size - 1]))
			block->lines[i].size--;
		at = newline ? newline + 1 : end;
	}
	/* No line has a number that does not exist. */
	if (block->line_count > UINT32_MAX - block->first_line)
		block->line_count = UINT32_MAX - block->first_line;
}

void text_of_file(char *bytes, size_t size, struct text *text)
{
	*text = (struct text){ .bytes = bytes, .size = size, .blocks = memory_zeroed(1, sizeof(*text->blocks)) };
	text->block_count = 1;
	text->blocks[0] = (struct text_block){ .first_line = 1, .bytes = bytes, .size = size };
	listing_text_split(&text->blocks[0]);
}

/* The texts of one file follow each other in a profile. */
static size_t find_texts(const struct profile *profile, uint32_t source_file, size_t *count)
{
	size_t first = 0, end;

	while (first < profile->source_text_count && profile->source_texts[first].file != source_file)
		first++;
	for (end = first; end < profile->source_text_count && profile->source_texts[end].file == source_file;)
		end++;
	*count = end - first;
	return first;
}

/* Appends a text to the block that it goes on with, or to a new one, whose bytes are offsets for now. */
static void listing_text_append_text(
	const struct profile *profile, const struct profile_source_text *from, struct text *text, uint64_t *next_line)
{
	size_t size = string_table_size(profile->strings, from->text);
	struct text_block *block = text->block_count > 0 ? &text->blocks[text->block_count - 1] : NULL;

	if (!block || from->first_line != *next_line) {
		block = &text->blocks[text->block_count++];
		*block = (struct text_block){ .first_line = from->first_line, .bytes = text->bytes + text->size };
	}
	memcpy(text->bytes + text->size, profile_string(profile, from->text), size);
	text->bytes[text->size + size] = '\n';
	text->size += size + 1;
	block->size += size + 1;
	*next_line = (uint64_t)from->first_line + profile_count_lines(profile_string(profile, from->text));
}

void text_of_profile(const struct profile *profile, uint32_t source_file, struct text *text)
{
	size_t count, first = find_texts(profile, source_file, &count), bytes = 1;
	uint64_t next_line = 0;

	*text = (struct text){ 0 };
	for (size_t i = 0; i < count; i++)
		bytes += string_table_size(profile->strings, profile->source_texts[first + i].text) + 1;
	text->bytes = memory_alloc(bytes);
	text->blocks = memory_zeroed(count + 1, sizeof(*text->blocks));
	for (size_t i = 0; i < count; i++)
		listing_text_append_text(profile, &profile->source_texts[first + i], text, &next_line);
	for (size_t i = 0; i < text->block_count; i++)
		listing_text_split(&text->blocks[i]);
}

const struct text_block *text_block_at(const struct text *text, uint32_t line)
{
	size_t low = 0, high = text->block_count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct text_block *block = &text->blocks[middle];

		if (line < block->first_line)
			high = middle;
		else if (line - block->first_line >= block->line_count)
			low = middle + 1;
		else
			return block;
	}
	return NULL;
}

const struct text_line *text_line_at(const struct text *text, uint32_t line)
{
	const struct text_block *block = text_block_at(text, line);

	return block ? &block->lines[line - block->first_line] : NULL;
}

bool text_intern_shown(
	struct string_table *strings, const struct text_line *line, size_t most_bytes, uint32_t *id, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer shown = BUFFER_INIT(SIZE_MAX);
	size_t size = most_bytes;

	if (line->size <= most_bytes)
		return string_table_add(strings, line->text, line->size, id, err);
	/* No character is cut. */
	while (size > most_bytes - 4 && ((unsigned char)line->text[size] & 0xc0) == 0x80)
		size--;
	buffer_append(&shown, line->text, size);
	buffer_append_string(&shown, "…");
	return buffer_ok(&shown, err) && string_table_add(strings, shown.data, shown.size, id, err);
}
