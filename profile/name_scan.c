/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/name_scan.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* Deeper brackets count as such without a pair, which bounds the time that a name takes. */
enum { MOST_DEPTH = 64 };

bool name_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || ((unsigned char)c & 0x80);
}

/* Returns the end of an operator's sign that looks like brackets: of `<<` in `operator<<`. */
static const char *skip_sign(const char *at)
{
	static const char *const signs[] = { "()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "->", "<=", ">=", "<",
		">" };

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (name_has(at, signs[i]))
			return at + strlen(signs[i]);
	return at;
}

static const char *name_scan_skip_word(const char *at)
{
	const char *end = at;

	while (name_is_word(*end))
		end++;
	return end - at == 8 && memcmp(at, "operator", 8) == 0 ? skip_sign(end) : end;
}

/* Returns the end of the pair of brackets that opens at `at`; NULL if there is none. */
static const char *skip_brackets(const char *at)
{
	static const char opening[] = "(<[{", closing[] = ")>]}";
	char open[MOST_DEPTH];
	size_t depth = 0;

	do {
		const char *closes = strchr(closing, *at);

		if (name_is_word(*at)) {
			at = name_scan_skip_word(at);
			continue;
		}
		if (strchr(opening, *at)) {
			if (depth == MOST_DEPTH)
				return NULL;
			open[depth++] = *at;
		} else if (*at == '>') {
			depth -= at[-1] != '-' && open[depth - 1] == '<';
		} else if (closes) {
			/* A `<` between round brackets may be a comparison. */
			while (depth > 0 && open[depth - 1] == '<')
				depth--;
			if (depth == 0 || open[--depth] != opening[closes - closing])
				return NULL;
		}
		at++;
	} while (depth > 0 && *at);
	return depth == 0 ? at : NULL;
}

const char *name_skip(const char *at)
{
	const char *end = NULL, *word;

	if (*at != '\0' && strchr("(<[{", *at))
		end = skip_brackets(at);
	if (end || !name_is_word(*at))
		return end ? end : at + 1;
	word = name_scan_skip_word(at);
	/* `decltype (f(1))` is one type. */
	if (word - at == 8 && memcmp(at, "decltype", 8) == 0)
		end = word[0] == ' ' && word[1] == '(' ? skip_brackets(word + 1)
		      : *word == '('                   ? skip_brackets(word)
						       : NULL;
	return end ? end : word;
}

bool name_is_script(const char *file, const char *end)
{
	static const char *const endings[] = { ".py", ".pyx", ".rb", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts",
		".tsx", ".vue", ".svelte", ".php", ".phtml", ".pl", ".pm", ".lua", ".ex", ".exs", ".erl", ".jl", ".clj",
		".groovy", ".R" };

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		size_t size = strlen(endings[i]);

		if ((size_t)(end - file) > size && memcmp(end - size, endings[i], size) == 0)
			return true;
	}
	return false;
}
