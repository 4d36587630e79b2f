/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the functions that somebody means by a regular expression or an id. */
#include "profile/function_pattern.h"

#include "profile/expression.h"
#include "profile/function_name.h"
#include "profile/model.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A longer text is cut: nobody asks for what stands behind so much. */
enum { MOST_TEXT_BYTES = 4096, MOST_PATTERN_BYTES = 4096, ID_BITS = 4 * PROFILE_FUNCTION_ID_DIGITS };

static uint64_t id_of(const char *key)
{
	return hash_bytes(key, strlen(key)) >> (64 - ID_BITS);
}

void profile_function_id(const char *key, char id[static PROFILE_FUNCTION_ID_DIGITS + 1])
{
	snprintf(id, PROFILE_FUNCTION_ID_DIGITS + 1, "%012" PRIx64, id_of(key));
}

/* ---- What a text means ---- */

static const char *without_prefix(const char *text, enum profile_pattern_part *part)
{
	static const char *const prefixes[] = {
		[PROFILE_PATTERN_MODULE] = "module:", [PROFILE_PATTERN_FILE] = "file:", [PROFILE_PATTERN_ID] = "id:"
	};

	*part = PROFILE_PATTERN_NAME;
	for (int i = PROFILE_PATTERN_MODULE; i <= PROFILE_PATTERN_ID; i++) {
		size_t size = strlen(prefixes[i]);

		if (strncmp(text, prefixes[i], size) != 0)
			continue;
		*part = (enum profile_pattern_part)i;
		return text + size + strspn(text + size, " ");
	}
	return text;
}

/*
 * Modules have no version (profile/identity.h), but people copy the name of a file: what `libc.so.6`, `libc\.so\.6` or
 * `^libc.so.6$` says behind `.so` is left out.
 */
static const char *without_version(const char *text, char *out, size_t size)
{
	size_t length = strlen(text), end, start;

	end = length > 0 && text[length - 1] == '$' ? length - 1 : length;
	start = end;
	for (size_t at = end; at > 0 && isdigit((unsigned char)text[at - 1]);) {
		while (at > 0 && isdigit((unsigned char)text[at - 1]))
			at--;
		if (at == 0 || text[at - 1] != '.')
			break;
		at -= at > 1 && text[at - 2] == '\\' ? 2 : 1;
		start = at;
	}
	if (start == end || start < 3 || strncmp(text + start - 3, ".so", 3) != 0 || length >= size)
		return text;
	memcpy(out, text, start);
	memcpy(out + start, text + end, length - end + 1);
	return out;
}

static bool function_pattern_read_id(const char *digits, uint64_t *id)
{
	if (strlen(digits) != PROFILE_FUNCTION_ID_DIGITS ||
		strspn(digits, "0123456789abcdefABCDEF") != PROFILE_FUNCTION_ID_DIGITS)
		return false;
	*id = strtoull(digits, NULL, 16);
	return true;
}

static bool has_capital(const char *text)
{
	for (; *text; text++)
		if (isupper((unsigned char)*text))
			return true;
	return false;
}

static bool compile(struct profile_pattern *pattern, const char *option, const char *text, struct error *err)
{
	struct error why;

	if (expression_create(text, !has_capital(text), &pattern->expression, &why))
		return true;
	if (why.code == ERROR_MEMORY)
		return error_set_memory(err);
	return error_set(err, ERROR_USAGE,
		"%s '%.200s': this is no regular expression (%s); write a backslash before characters that stand for themselves, as 'operator\\(\\)'",
		option, text, why.message);
}

bool profile_pattern_init(struct profile_pattern *pattern, const char *option, const char *text, struct error *err)
{
	char bare[MOST_PATTERN_BYTES + 1];
	const char *rest;

	*pattern = (struct profile_pattern){ .text = text };
	buffer_init(&pattern->shown, (size_t)1 << 24);
	rest = without_prefix(text, &pattern->part);
	if (*rest == '\0')
		return error_set(err, ERROR_USAGE, "%s '%.200s': nothing is asked for; name a function", option, text);
	if (strlen(rest) > MOST_PATTERN_BYTES)
		return error_set(err, ERROR_USAGE, "%s: the expression is longer than %d bytes", option,
			(int)MOST_PATTERN_BYTES);
	if (pattern->part == PROFILE_PATTERN_MODULE)
		rest = without_version(rest, bare, sizeof(bare));
	if (pattern->part != PROFILE_PATTERN_ID)
		return compile(pattern, option, rest, err);
	return function_pattern_read_id(rest, &pattern->id) ||
	       error_set(err, ERROR_USAGE, "%s '%.200s': an id has 12 hexadecimal digits, as id:0f3a9c21b7de", option,
		       text);
}

void profile_pattern_deinit(struct profile_pattern *pattern)
{
	expression_destroy(pattern->expression);
	buffer_deinit(&pattern->shown);
	*pattern = (struct profile_pattern){ 0 };
}

/* ---- Matching ---- */

static bool has_match(const struct profile_pattern *pattern, const char *text)
{
	return *text != '\0' && expression_matches(pattern->expression, text, strnlen(text, MOST_TEXT_BYTES - 1));
}

static bool name_matches(struct profile_pattern *pattern, const char *name, const char *module)
{
	if (has_match(pattern, name))
		return true;
	pattern->shown.size = 0;
	profile_shown_name(name, module, &pattern->shown);
	return !pattern->shown.failed && pattern->shown.size > 0 && strcmp(pattern->shown.data, name) != 0 &&
	       has_match(pattern, pattern->shown.data);
}

/* Names of interpreted functions tell their file, which profiles need not have elsewhere; reports show it as any other.
 */
static bool file_matches(const struct profile_pattern *pattern, const char *name, const char *file)
{
	struct profile_script_name parts;
	char own[MOST_TEXT_BYTES];

	if (*file || profile_script_name(name, &parts) == PROFILE_LANGUAGE_NATIVE || parts.file_bytes >= sizeof(own))
		return has_match(pattern, file);
	memcpy(own, parts.file, parts.file_bytes);
	own[parts.file_bytes] = '\0';
	return has_match(pattern, own);
}

bool profile_pattern_matches(
	struct profile_pattern *pattern, const char *name, const char *module, const char *file, const char *key)
{
	switch (pattern->part) {
	case PROFILE_PATTERN_NAME:
		return name_matches(pattern, name, module);
	case PROFILE_PATTERN_MODULE:
		return has_match(pattern, module);
	case PROFILE_PATTERN_FILE:
		return file_matches(pattern, name, file);
	case PROFILE_PATTERN_ID:
		return id_of(key) == pattern->id;
	}
	return false;
}

size_t profile_pattern_find(struct profile_pattern *pattern, const struct profile *profile, bool *found)
{
	size_t count = 0;

	for (size_t i = 0; i < profile->function_count; i++) {
		const struct profile_function *f = &profile->functions[i];

		found[i] = profile_pattern_matches(pattern, profile_string(profile, f->name),
			profile_string(profile, f->module), profile_string(profile, f->file),
			profile_string(profile, f->key));
		count += found[i];
	}
	return count;
}

/* ---- Names that are similar ---- */

struct profile_similar profile_similar(const struct profile_pattern *pattern)
{
	struct profile_similar similar = { 0 };
	enum profile_pattern_part part;

	for (const char *at = without_prefix(pattern->text, &part); *at;) {
		size_t size = 0;

		while (isalnum((unsigned char)at[size]) || at[size] == '_')
			size++;
		if (size > similar.word_size) {
			similar.word = at;
			similar.word_size = size;
		}
		at += size ? size : 1;
	}
	return similar;
}

/* Returns the length of the longest text that both have, in either case. */
static size_t longest_common(const char *word, size_t word_size, const char *name)
{
	enum { MOST_WORD = 64, MOST_NAME = 256 };
	uint8_t before[MOST_WORD + 1] = { 0 };
	size_t longest = 0;

	word_size = word_size < MOST_WORD ? word_size : MOST_WORD;
	for (size_t i = 0; name[i] && i < MOST_NAME; i++) {
		uint8_t diagonal = 0;

		for (size_t k = 1; k <= word_size; k++) {
			uint8_t above = before[k];
			bool equal = tolower((unsigned char)name[i]) == tolower((unsigned char)word[k - 1]);

			before[k] = equal ? (uint8_t)(diagonal + 1) : 0;
			longest = before[k] > longest ? before[k] : longest;
			diagonal = above;
		}
	}
	return longest;
}

void profile_similar_offer(struct profile_similar *similar, const char *name)
{
	enum { LEAST = 3, ENOUGH = 4 };
	size_t score = longest_common(similar->word, similar->word_size, name), at = PROFILE_SIMILAR_NAMES;

	if (score < LEAST || (score < ENOUGH && 2 * score < similar->word_size))
		return;
	for (size_t i = 0; i < PROFILE_SIMILAR_NAMES; i++)
		if (similar->best[i].name && strcmp(similar->best[i].name, name) == 0)
			return;
	while (at > 0 && score > similar->best[at - 1].score)
		at--;
	if (at == PROFILE_SIMILAR_NAMES)
		return;
	for (size_t i = PROFILE_SIMILAR_NAMES - 1; i > at; i--)
		similar->best[i] = similar->best[i - 1];
	similar->best[at].name = name;
	similar->best[at].score = score;
}

bool profile_pattern_refuse(const struct profile_pattern *pattern, const char *option,
	const struct profile *const *profiles, size_t count, struct error *err)
{
	struct profile_similar similar = profile_similar(pattern);
	CLEANUP(buffer_deinit) struct buffer names = BUFFER_INIT(4096);

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; profiles[i] && k < profiles[i]->function_count; k++)
			profile_similar_offer(&similar, profile_string(profiles[i], profiles[i]->functions[k].name));
	profile_similar_append(&similar, &names);
	return error_set(err, ERROR_NOT_FOUND, "%s '%.200s': no function is called so%s", option, pattern->text,
		names.data && !names.failed ? names.data : "");
}

void profile_similar_append(const struct profile_similar *similar, struct buffer *out)
{
	for (size_t i = 0; i < PROFILE_SIMILAR_NAMES && similar->best[i].name; i++)
		buffer_printf(out, "%s '%.120s'", i ? "," : "; similar names:", similar->best[i].name);
}
