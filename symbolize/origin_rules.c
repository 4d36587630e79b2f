/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/origin.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RULES = 1 << 16 };

enum subject { SUBJECT_PATH, SUBJECT_MODULE, SUBJECT_FUNCTION };

struct rule {
	enum profile_origin origin;
	enum subject subject;
	const char *glob; /* in the arena */
};

struct symbolize_origin_rules {
	struct arena arena;
	struct rule *items;
	size_t count, capacity;
};

static const char *const subject_words[] = { "path", "module", "function" };

static bool find_origin(const char *word, size_t size, enum profile_origin *origin)
{
	for (int i = 0; i < PROFILE_ORIGIN_COUNT; i++) {
		const char *name = profile_origin_name((enum profile_origin)i);

		if (strlen(name) == size && memcmp(name, word, size) == 0) {
			*origin = (enum profile_origin)i;
			return true;
		}
	}
	return false;
}

static bool find_subject(const char *word, size_t size, enum subject *subject)
{
	for (size_t i = 0; i < sizeof(subject_words) / sizeof(subject_words[0]); i++)
		if (strlen(subject_words[i]) == size && memcmp(subject_words[i], word, size) == 0) {
			*subject = (enum subject)i;
			return true;
		}
	return false;
}

/* Reads the next word of a line; false at its end. */
static bool next_word(const char **pos, const char *end, const char **word, size_t *size)
{
	while (*pos < end && isspace((unsigned char)**pos))
		(*pos)++;
	*word = *pos;
	while (*pos < end && !isspace((unsigned char)**pos))
		(*pos)++;
	*size = (size_t)(*pos - *word);
	return *size > 0;
}

static bool parse_line(struct symbolize_origin_rules *rules, const char *pos, const char *end, struct error *err)
{
	struct rule rule;
	const char *word;
	size_t size;

	if (!next_word(&pos, end, &word, &size) || word[0] == '#')
		return true;
	if (!find_origin(word, size, &rule.origin))
		return error_set(err, ERROR_FORMAT, "unknown origin '%.*s'; it is user, library, system or unknown",
			(int)size, word);
	if (!next_word(&pos, end, &word, &size) || !find_subject(word, size, &rule.subject))
		return error_set(err, ERROR_FORMAT,
			"what the rule looks at is path, module or function, as in: user path /src/shop/*");
	if (!next_word(&pos, end, &word, &size))
		return error_set(err, ERROR_FORMAT, "the rule has no pattern, as in: library module libssl*");
	/* Function names may contain blanks, so the pattern extends to the end of the line. */
	while (end > word && isspace((unsigned char)end[-1]))
		end--;
	rule.glob = arena_copy_string(&rules->arena, word, (size_t)(end - word));
	if (!rule.glob)
		return error_set_memory(err);
	if (!ARRAY_RESERVE(&rules->items, &rules->capacity, rules->count + 1, MAX_RULES, err))
		return false;
	rules->items[rules->count++] = rule;
	return true;
}

bool symbolize_origin_rules_parse(
	const char *text, size_t size, const char *name, struct symbolize_origin_rules **rules, struct error *err)
{
	struct symbolize_origin_rules *made = calloc(1, sizeof(*made));
	const char *end = text + size;

	if (!made)
		return error_set_memory(err);
	arena_init(&made->arena, 0);
	for (size_t line = 1; text < end; line++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));

		stop = stop ? stop : end;
		if (!parse_line(made, text, stop, err)) {
			symbolize_origin_rules_destroy(made);
			return error_prefix(err, "%s line %zu", name, line);
		}
		text = stop + 1;
	}
	*rules = made;
	return true;
}

void symbolize_origin_rules_destroy(struct symbolize_origin_rules *rules)
{
	if (!rules)
		return;
	arena_deinit(&rules->arena);
	free(rules->items);
	free(rules);
}

static bool matches(const struct rule *rule, const struct origin_evidence *evidence)
{
	switch (rule->subject) {
	case SUBJECT_PATH:
		return fnmatch(rule->glob, evidence->file, 0) == 0 || fnmatch(rule->glob, evidence->path, 0) == 0;
	case SUBJECT_MODULE:
		return fnmatch(rule->glob, evidence->module, 0) == 0;
	case SUBJECT_FUNCTION:
		return fnmatch(rule->glob, evidence->name, 0) == 0;
	}
	return false;
}

bool origin_rules_match(
	const struct symbolize_origin_rules *rules, const struct origin_evidence *evidence, enum profile_origin *origin)
{
	for (size_t i = 0; i < rules->count; i++)
		if (matches(&rules->items[i], evidence)) {
			*origin = rules->items[i].origin;
			return true;
		}
	return false;
}
