/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses rules of origin and of waits, and matches functions against them. */
#include "symbolize/origin.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RULES = 1 << 16 };

enum rules_subject { SUBJECT_PATH, SUBJECT_MODULE, SUBJECT_FUNCTION };

struct rule {
	uint32_t value;
	enum rules_subject subject;
	const char *glob; /* in the arena */
};

struct symbolize_rules {
	struct arena arena;
	struct rule *items;
	size_t count, capacity;
};

static const char *const subject_words[] = { "path", "module", "function" };

/* The words that lines of a kind of rules begin with, and what messages say of them. */
struct rule_words {
	const char *(*word_of)(uint32_t value); /* "": no rule is for the value */
	uint32_t count;
	uint32_t first; /* the value that messages name first */
	const char *what, *example;
};

static const char *origin_word(uint32_t value)
{
	return profile_origin_name((enum profile_origin)value);
}

/* A wait for a CPU is none of the function that was interrupted, so no rule makes one, or another of one. */
static const char *wait_word(uint32_t value)
{
	if (value == PROFILE_WAIT_RUN_QUEUE)
		return "";
	return value == PROFILE_WAIT_NONE ? "keep" : profile_wait_info((enum profile_wait_class)value)->name;
}

static const struct rule_words words_of_kinds[] = {
	[SYMBOLIZE_RULES_OF_ORIGIN] = { origin_word, PROFILE_ORIGIN_COUNT, PROFILE_ORIGIN_USER, "origin",
		"library module libssl*" },
	[SYMBOLIZE_RULES_OF_WAITS] = { wait_word, PROFILE_WAIT_NONE + 1, PROFILE_WAIT_LOCK, "class",
		"idle function *ThreadPool::worker*" },
};

static bool rules_find_word(const struct rule_words *words, const char *word, size_t size, uint32_t *value)
{
	for (uint32_t i = 0; i < words->count; i++) {
		const char *name = words->word_of(i);

		if (strlen(name) == size && memcmp(name, word, size) == 0) {
			*value = i;
			return true;
		}
	}
	return false;
}

/* "user, library, system or unknown" */
static void list_words(const struct rule_words *words, char *out, size_t size)
{
	size_t used = 0;

	for (uint32_t i = 0; i < words->count && used < size; i++) {
		const char *word = words->word_of((words->first + i) % words->count);
		const char *separator = used == 0 ? "" : i + 1 < words->count ? ", " : " or ";

		if (word[0])
			used += (size_t)snprintf(out + used, size - used, "%s%s", separator, word);
	}
}

static bool find_subject(const char *word, size_t size, enum rules_subject *subject)
{
	for (size_t i = 0; i < sizeof(subject_words) / sizeof(subject_words[0]); i++)
		if (strlen(subject_words[i]) == size && memcmp(subject_words[i], word, size) == 0) {
			*subject = (enum rules_subject)i;
			return true;
		}
	return false;
}

/* Reads the next word of a line; false at its end. */
static bool symbolize_rules_next_word(const char **pos, const char *end, const char **word, size_t *size)
{
	while (*pos < end && isspace((unsigned char)**pos))
		(*pos)++;
	*word = *pos;
	while (*pos < end && !isspace((unsigned char)**pos))
		(*pos)++;
	*size = (size_t)(*pos - *word);
	return *size > 0;
}

static bool rules_parse_line(struct symbolize_rules *rules, const struct rule_words *words, const char *pos,
	const char *end, struct error *err)
{
	struct rule rule;
	const char *word;
	char choices[160];
	size_t size;

	if (!symbolize_rules_next_word(&pos, end, &word, &size) || word[0] == '#')
		return true;
	if (!rules_find_word(words, word, size, &rule.value)) {
		list_words(words, choices, sizeof(choices));
		return error_set(
			err, ERROR_FORMAT, "unknown %s '%.*s'; it is %s", words->what, (int)size, word, choices);
	}
	if (!symbolize_rules_next_word(&pos, end, &word, &size) || !find_subject(word, size, &rule.subject))
		return error_set(err, ERROR_FORMAT, "what the rule looks at is path, module or function, as in: %s",
			words->example);
	if (!symbolize_rules_next_word(&pos, end, &word, &size))
		return error_set(err, ERROR_FORMAT, "the rule has no pattern, as in: %s", words->example);
	/* Function names may contain blanks, so the pattern extends to the end of the line. */
	while (end > word && isspace((unsigned char)end[-1]))
		end--;
	rule.glob = arena_copy_string(&rules->arena, word, (size_t)(end - word));
	if (!rule.glob)
		return error_set_memory(err);
	return ARRAY_APPEND(&rules->items, &rules->capacity, &rules->count, MAX_RULES, err, rule);
}

bool symbolize_rules_parse(enum symbolize_rules_kind kind, const char *text, size_t size, const char *name,
	struct symbolize_rules **rules, struct error *err)
{
	struct symbolize_rules *made = calloc(1, sizeof(*made));
	const char *end = text + size;

	if (!made)
		return error_set_memory(err);
	arena_init(&made->arena, 0);
	for (size_t line = 1; text < end; line++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));

		stop = stop ? stop : end;
		if (!rules_parse_line(made, &words_of_kinds[kind], text, stop, err)) {
			symbolize_rules_destroy(made);
			return error_prefix(err, "%s line %zu", name, line);
		}
		text = stop + 1;
	}
	*rules = made;
	return true;
}

void symbolize_rules_destroy(struct symbolize_rules *rules)
{
	if (!rules)
		return;
	arena_deinit(&rules->arena);
	free(rules->items);
	free(rules);
}

static bool rule_matches(const struct rule *rule, const struct origin_evidence *evidence)
{
	switch (rule->subject) {
	case SUBJECT_PATH:
		return glob_matches(rule->glob, evidence->file) || glob_matches(rule->glob, evidence->path);
	case SUBJECT_MODULE:
		return glob_matches(rule->glob, evidence->module);
	case SUBJECT_FUNCTION:
		return glob_matches(rule->glob, evidence->name);
	}
	return false;
}

bool rules_match(const struct symbolize_rules *rules, const struct origin_evidence *evidence, uint32_t *value)
{
	for (size_t i = 0; i < rules->count; i++)
		if (rule_matches(&rules->items[i], evidence)) {
			*value = rules->items[i].value;
			return true;
		}
	return false;
}
