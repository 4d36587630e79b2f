/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/verdict/arguments.h"

#include "diff/statistics/scale.h"
#include "diff/verdict/programs.h"

#include <string.h>

/* A word of a command; points into the command's text. The command is stored as its words with a space between two. */
struct word {
	const char *at;
	size_t size;
};

enum { MAX_WORDS = 256, KNOWN_BYTES = 64 };

struct arguments_command {
	struct word words[MAX_WORDS];
	size_t count;
	size_t program; /* index of the program's own word: the words before it start the program */
};

static void arguments_split(const char *text, struct arguments_command *command)
{
	*command = (struct arguments_command){ 0 };
	while (command->count < MAX_WORDS) {
		text += strspn(text, " ");
		if (!*text)
			return;
		command->words[command->count++] = (struct word){ text, strcspn(text, " ") };
		text += strcspn(text, " ");
	}
}

static struct word base_name(struct word word)
{
	const char *slash = memrchr(word.at, '/', word.size);

	return slash ? (struct word){ slash + 1, (size_t)(word.at + word.size - slash - 1) } : word;
}

static bool word_is(struct word word, const char *text)
{
	return strlen(text) == word.size && memcmp(word.at, text, word.size) == 0;
}

/* Returns the word as text; "" if it is longer than any that is looked for. */
static const char *arguments_text_of(struct word word, char text[static KNOWN_BYTES])
{
	snprintf(text, KNOWN_BYTES, "%.*s", word.size < KNOWN_BYTES ? (int)word.size : 0, word.at);
	return text;
}

/* Returns the index of an interpreter's script, which is the program; the interpreter's index if it has no script. */
static size_t script_of(const struct arguments_command *command, size_t interpreter)
{
	char text[KNOWN_BYTES];
	const char *name = arguments_text_of(base_name(command->words[interpreter]), text);
	enum profile_language language = profile_language_of_module(name);
	const char *const *with_value = profile_languages[language].options_with_value;
	size_t i = interpreter + 1;

	if (language == PROFILE_LANGUAGE_NATIVE && !programs_is_shell(name) && strcmp(name, "Rscript") != 0)
		return interpreter;
	while (i < command->count && command->words[i].at[0] == '-')
		i += glob_matches_any(with_value, arguments_text_of(command->words[i], text)) ? 2 : 1;
	return i < command->count ? i : interpreter;
}

/* Skips `env`, its assignments, and a shell that was only used to start the command. */
static void arguments_find_program(struct arguments_command *command)
{
	char text[KNOWN_BYTES];
	size_t at = 0;

	if (at + 2 < command->count && programs_is_shell(arguments_text_of(base_name(command->words[at]), text)) &&
		word_is(command->words[at + 1], "-c"))
		at += 2;
	if (at + 1 < command->count && word_is(base_name(command->words[at]), "env"))
		at++;
	while (at + 1 < command->count && command->words[at].at[0] != '-' &&
		memchr(command->words[at].at, '=', command->words[at].size))
		at++;
	command->program = at < command->count ? script_of(command, at) : 0;
}

/* ---- The difference of the arguments ---- */

/* Skips a name of the side at the start of both words: "base" and "head", "old" and "new". False if there is none. */
static bool skip_names_of_sides(struct word *base, struct word *head)
{
	static const char *const pairs[][DIFF_SIDES] = { { "base", "head" }, { "old", "new" }, { "before", "after" } };

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		size_t b = strlen(pairs[i][DIFF_BASE]), h = strlen(pairs[i][DIFF_HEAD]);

		if (base->size < b || head->size < h || memcmp(base->at, pairs[i][DIFF_BASE], b) != 0 ||
			memcmp(head->at, pairs[i][DIFF_HEAD], h) != 0)
			continue;
		*base = (struct word){ base->at + b, base->size - b };
		*head = (struct word){ head->at + h, head->size - h };
		return true;
	}
	return false;
}

static bool words_agree(struct word base, struct word head)
{
	while (base.size && head.size) {
		if (skip_names_of_sides(&base, &head))
			continue;
		if (*base.at != *head.at)
			return false;
		base = (struct word){ base.at + 1, base.size - 1 };
		head = (struct word){ head.at + 1, head.size - 1 };
	}
	return base.size == head.size;
}

/* Returns the word without the directory of the side's program, since files beside the program belong to it. */
static struct word without_directory(const struct arguments_command *command, struct word word)
{
	struct word program = command->words[command->program];
	size_t size = (size_t)(base_name(program).at - program.at);

	if (size > 0 && word.size >= size && memcmp(word.at, program.at, size) == 0)
		return (struct word){ word.at + size, word.size - size };
	return word;
}

static bool arguments_agree(const struct arguments_command *commands[DIFF_SIDES], size_t base, size_t head)
{
	struct word b = commands[DIFF_BASE]->words[base], h = commands[DIFF_HEAD]->words[head];

	return words_agree(b, h) ||
	       words_agree(without_directory(commands[DIFF_BASE], b), without_directory(commands[DIFF_HEAD], h));
}

/* Writes the words from `first` on, without the last `last` ones, shortened if they are many. */
static void excerpt(const struct arguments_command *command, size_t first, size_t last, char *out, size_t size)
{
	enum { MAX_BYTES = 60 };
	size_t end = command->count - last;
	const char *from, *to;

	if (first >= end) {
		snprintf(out, size, "none");
		return;
	}
	from = command->words[first].at;
	to = command->words[end - 1].at + command->words[end - 1].size;
	if (to - from <= MAX_BYTES) {
		snprintf(out, size, "'%.*s'", (int)(to - from), from);
		return;
	}
	to = from + MAX_BYTES;
	while (((unsigned char)*to & 0xc0) == 0x80)
		to--;
	snprintf(out, size, "'%.*s...'", (int)(to - from), from);
}

/* Finds the arguments from the first to the last that differ. An option's name is included with its value. */
static bool find_difference(
	const struct arguments_command *commands[DIFF_SIDES], size_t first[DIFF_SIDES], size_t *same_at_end)
{
	const struct arguments_command *b = commands[DIFF_BASE], *h = commands[DIFF_HEAD];
	size_t i = b->program + 1, k = h->program + 1;

	while (i < b->count && k < h->count && arguments_agree(commands, i, k)) {
		i++;
		k++;
	}
	if (i >= b->count && k >= h->count)
		return false;
	*same_at_end = 0;
	while (*same_at_end < b->count - i && *same_at_end < h->count - k &&
		arguments_agree(commands, b->count - 1 - *same_at_end, h->count - 1 - *same_at_end))
		++*same_at_end;
	if (i > b->program + 1 && b->words[i - 1].at[0] == '-') {
		i--;
		k--;
	}
	first[DIFF_BASE] = i;
	first[DIFF_HEAD] = k;
	return true;
}

bool arguments_differ(const struct diff_build *build, char *text, size_t size)
{
	enum { EXCERPT_BYTES = 80 };
	struct arguments_command commands[DIFF_SIDES];
	char shown[DIFF_SIDES][EXCERPT_BYTES];
	size_t first[DIFF_SIDES], same_at_end;

	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct profile *profile = build->profiles[side];

		if (!scale_whole_commands(profile))
			return false;
		arguments_split(profile_string(profile, profile->facts.command), &commands[side]);
		if (commands[side].count == 0 || commands[side].count == MAX_WORDS)
			return false;
		arguments_find_program(&commands[side]);
	}
	if (!find_difference((const struct arguments_command *[]){ &commands[DIFF_BASE], &commands[DIFF_HEAD] }, first,
		    &same_at_end))
		return false;
	for (int side = 0; side < DIFF_SIDES; side++)
		excerpt(&commands[side], first[side], same_at_end, shown[side], EXCERPT_BYTES);
	snprintf(text, size,
		"base and head were run with different arguments (%s and %s), so they may have done different work; give the work of each as --scale work=BASE:HEAD",
		shown[DIFF_BASE], shown[DIFF_HEAD]);
	return true;
}
