/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hashes lines of programs, so that layout and comments make no difference. */
#include "diff/repository/code_text.h"

#include "common/common.h"

#include <string.h>

/* Letters and digits of a line that is not found in two places by chance. */
enum { DISTINCT_CHARACTERS = 20 };

static const char *const hash_comments[] = { "py", "pyi", "pyx", "rb", "pl", "pm", "sh", "r", "R", "jl", "ex", "exs",
	"nim" };

struct code_text code_text_of(const char *path)
{
	const char *dot = strrchr(path, '.');
	struct code_text code = { 0 };

	for (size_t i = 0; dot && i < sizeof(hash_comments) / sizeof(hash_comments[0]); i++)
		code.has_hash_comments |= strcmp(dot + 1, hash_comments[i]) == 0;
	return code;
}

static bool code_text_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

static bool code_text_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f';
}

/* A line being read. */
struct code_line {
	const char *at, *end;
	uint64_t hash;
	size_t words; /* letters and digits */
	char quote;   /* of the string that `at` is in; 0: none */
};

static bool starts(const struct code_line *line, const char *with)
{
	size_t size = strlen(with);

	return (size_t)(line->end - line->at) >= size && memcmp(line->at, with, size) == 0;
}

static void code_text_take(struct code_text *code, struct code_line *line)
{
	char c = *line->at++;

	line->words += code_text_is_word(c);
	line->hash = hash_mix(line->hash ^ (unsigned char)c, UINT64_C(0x9e3779b97f4a7c15));
	code->all = hash_mix(code->all ^ (unsigned char)c, UINT64_C(0xd6e8feb86659fd93));
}

/* Moves behind the comment that is open, or to the line's end. */
static void skip_comment(struct code_text *code, struct code_line *line)
{
	const char *mark = code->comment == '*' ? "*/" : code->comment == '"' ? "\"\"\"" : "'''";

	while (line->at < line->end && !starts(line, mark))
		line->at++;
	if (line->at == line->end)
		return;
	line->at += strlen(mark);
	code->comment = 0;
}

/* Opens the comment that starts here; one that ends with its line is skipped. */
static bool open_comment(struct code_text *code, struct code_line *line)
{
	const char *opening = code->has_hash_comments ? "#" : "//";

	if (starts(line, opening)) {
		line->at = line->end;
		return true;
	}
	if (code->has_hash_comments || !starts(line, "/*"))
		return false;
	code->comment = '*';
	line->at += 2;
	return true;
}

/* Lines within a comment that began above: ` * like this`; and a text that begins a line, which documents in Python. */
static void open_line(struct code_text *code, struct code_line *line)
{
	bool is_star = !code->has_hash_comments && line->at < line->end && *line->at == '*' &&
		       (line->at + 1 == line->end || code_text_is_blank(line->at[1]) || line->at[1] == '/');

	if (is_star)
		line->at = line->end;
	if (!code->has_hash_comments || (!starts(line, "\"\"\"") && !starts(line, "'''")))
		return;
	code->comment = *line->at;
	line->at += 3;
}

static void take_next(struct code_text *code, struct code_line *line)
{
	char c = *line->at;

	if (line->quote == 0 && open_comment(code, line))
		return;
	if (code_text_is_blank(c)) {
		line->at++;
		return;
	}
	if (c == '\\' && line->quote && line->at + 1 < line->end)
		code_text_take(code, line);
	else if (line->quote == 0 && (c == '"' || c == '\''))
		line->quote = c;
	else if (c == line->quote)
		line->quote = 0;
	code_text_take(code, line);
}

uint32_t code_text_line(struct code_text *code, const char *text, size_t size)
{
	struct code_line line = { .at = text, .end = text + size };
	uint32_t hash;

	while (line.at < line.end && code_text_is_blank(*line.at))
		line.at++;
	if (!code->comment)
		open_line(code, &line);
	while (line.at < line.end) {
		if (code->comment)
			skip_comment(code, &line);
		else
			take_next(code, &line);
	}
	if (line.words == 0)
		return 0;
	hash = (uint32_t)(line.hash >> 32) | 1U;
	/* An even number that is not 0. */
	return line.words >= DISTINCT_CHARACTERS ? hash : (hash ^ 1U) | 2U;
}
