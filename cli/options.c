/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* getopt_long() returns a letter, or LONG_OPTION plus the number of an entry. */
enum { LONG_OPTION = 256, NONE = -1, WRONG = '?', NO_VALUE = ':', MAX_LIST_ITEMS = 10000 };

/* ---- Rows ---- */

bool options_set_flag(void *flag, const char *value, struct error *err)
{
	(void)value;
	(void)err;
	*(bool *)flag = true;
	return true;
}

bool options_set_text(void *text, const char *value, struct error *err)
{
	(void)err;
	*(const char **)text = value;
	return true;
}

bool options_set_output(void *path, const char *value, struct error *err)
{
	bool is_stdout = glob_matches_any(GLOBS("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"), value);

	return options_set_text(path, is_stdout ? "-" : value, err);
}

bool options_ignore(void *at, const char *value, struct error *err)
{
	(void)at;
	(void)value;
	(void)err;
	return true;
}

bool options_take_runs(void *runs, const char *text, struct error *err)
{
	return options_parse_count("--runs", text, OPTIONS_MAX_RUNS, runs, err) &&
	       (*(uint64_t *)runs > 0 || error_set(err, ERROR_USAGE, "--runs 0: the least is one run"));
}

/* Permissions as an octal number, for file_write(). */
static bool options_take_mode(void *mode, const char *text, struct error *err)
{
	size_t digits = strspn(text, "01234567");
	unsigned long parsed = digits > 0 && digits <= 4 && text[digits] == '\0' ? strtoul(text, NULL, 8) : 0;

	if (parsed == 0 || parsed > 0777)
		return error_set(err, ERROR_USAGE, "--mode '%.20s': write an octal number up to 777, as 640", text);
	*(mode_t *)mode = (mode_t)parsed;
	return true;
}

const struct options_row options_mode_rows[] = {
	{ 0, "mode", "MODE", "permissions of what is written, octal, as 640 (default: 600; your own file keeps its)",
		options_take_mode, .words = "600 640 644" },
	{ 0 },
};

const struct options_row options_no_args_rows[] = {
	{ 0, "no-args", NULL, "keeps only the command's program in the profile, without its arguments",
		options_set_flag },
	{ 0 },
};

static const struct options_row help_rows[] = {
	{ 'h', "help", NULL, "this text", options_ignore },
	{ 0 },
};

static bool may_omit_argument(const struct options_row *row)
{
	return row->argument && row->argument[0] == '[';
}

static const char *repeatable_text(const struct options_row *row)
{
	return row->repeatable ? "; repeatable" : "";
}

static bool takes_next_word(const struct options_row *row)
{
	return row->argument && strcmp(row->argument, "[FILE]") == 0;
}

/* ---- The options of one command line ---- */

static void options_add_names(struct options *options, const struct options_row *row, size_t *count)
{
	size_t end = strlen(options->letters);
	int has_argument = may_omit_argument(row) ? optional_argument : row->argument ? required_argument : no_argument;

	options->names[(*count)++] =
		(struct option){ row->name, has_argument, NULL, LONG_OPTION + (int)options->count };
	if (row->letter)
		snprintf(options->letters + end, sizeof(options->letters) - end, "%c%s", row->letter,
			row->argument ? ":" : "");
}

static void options_add_rows(struct options *options, const struct options_row *rows, size_t at, size_t *names)
{
	for (; rows->name || rows->rows; rows++) {
		if (rows->rows) {
			options_add_rows(options, rows->rows, at + rows->at, names);
			continue;
		}
		assert(options->count + 1 < OPTIONS_MAX);
		if (rows->take)
			options_add_names(options, rows, names);
		options->entries[options->count++] = (struct options_entry){ rows, at + rows->at };
	}
}

void options_init(struct options *options, const struct cli_command *command, int argc, char **argv)
{
	size_t names = 0;

	*options = (struct options){ .argc = argc, .argv = argv, .command = command, .letters = " :" };
	options_add_rows(options, command->rows, 0, &names);
	options_add_rows(options, help_rows, 0, &names);
}

/*
 * Returns the next option; `words`: '+' ends the options at the first word, '-' returns words in their order, ':'
 * permutes them.
 */
static int next_option(struct options *options, char words)
{
	options->letters[0] = words;
	opterr = 0;
	return getopt_long(options->argc, options->argv, options->letters + (words == ':'), options->names, NULL);
}

static const struct options_entry *options_find_entry(const struct options *options, int option)
{
	const struct options_entry *entry = options->entries;

	if (option >= LONG_OPTION)
		return &entry[option - LONG_OPTION];
	while (!entry->row->take || entry->row->letter != option)
		entry++;
	return entry;
}

/* The word as the user typed it, since getopt does not give the name of an unknown long option. */
static int fail_option(const struct options *options, int option)
{
	const char *word = optind > 0 && optind <= options->argc ? options->argv[optind - 1] : "";

	if (option == NO_VALUE)
		return options_fail(options->command->name, "option '%s' needs a value", word);
	if (optopt > 0 && optopt < LONG_OPTION && isprint(optopt) && strncmp(word, "--", 2) != 0)
		return options_fail(options->command->name, "unknown option '-%c'", optopt);
	if (optopt > 0)
		return options_fail(options->command->name, "option '%s' takes no value", word);
	return options_fail(options->command->name, "unknown or ambiguous option '%s'", word);
}

static void count_spare_words(struct options *options)
{
	enum { WORD = 1 };
	size_t words = 0, needed = options->command->needed_words;
	int option;

	optind = 0;
	while ((option = next_option(options, '-')) != NONE)
		words += option == WORD;
	if (optind < options->argc)
		words += (size_t)(options->argc - optind);
	options->spare_words = words > needed ? words - needed : 0;
	optind = 0;
}

/* Returns the FILE of the output option that next_option() has just returned. */
static const char *options_take_file(struct options *options)
{
	const char *word = optind < options->argc ? options->argv[optind] : NULL;

	if (optarg)
		return optarg;
	if (options->spare_words == 0 || !word || (word[0] == '-' && word[1] != '\0'))
		return "-";
	options->spare_words--;
	optind++;
	return word;
}

static bool take_option(struct options *options, const struct options_entry *entry, void *context)
{
	const char *value = takes_next_word(entry->row) ? options_take_file(options) : optarg;
	struct error err;

	if (entry->row->take((char *)context + entry->at, value, &err))
		return true;
	options_fail(options->command->name, "%s", err.message);
	return false;
}

bool options_read(struct options *options, void *context, int *code)
{
	const char *word = options->command->word;
	char words = word && strcmp(word, "COMMAND") == 0 ? '+' : ':';
	int option;

	count_spare_words(options);
	*code = CLI_EXIT_ERROR;
	while ((option = next_option(options, words)) != NONE) {
		const struct options_entry *entry;

		if (option == WRONG || option == NO_VALUE) {
			*code = fail_option(options, option);
			return false;
		}
		entry = options_find_entry(options, option);
		if (entry->row == help_rows) {
			options_print_help(options);
			*code = CLI_EXIT_OK;
			return false;
		}
		if (!take_option(options, entry, context))
			return false;
	}
	return true;
}

/* ---- Help and completions ---- */

static void print_row(const struct options_row *row)
{
	char left[80];

	if (!row->take)
		snprintf(left, sizeof(left), "%s", row->name);
	else
		snprintf(left, sizeof(left), "%c%c%c --%s%s%s", row->letter ? '-' : ' ',
			row->letter ? row->letter : ' ', row->letter ? ',' : ' ', row->name,
			row->argument && row->argument[1] != '=' ? " " : "", row->argument ? row->argument : "");
	printf("  %-26s  ", left);
	for (const char *at = row->help; *at; at++) {
		putchar(*at);
		if (*at == '\n')
			printf("%30s", "");
	}
	puts(repeatable_text(row));
}

void options_print_help(const struct options *options)
{
	fputs(options->command->usage, stdout);
	for (size_t i = 0; i < options->count; i++) {
		const struct options_row *row = options->entries[i].row;

		if (row->help)
			print_row(row);
		else if (!row->take)
			printf("\n%s\n", row->name);
	}
	printf("\n%s", options->command->notes);
}

void options_print_completion(
	const char *name, const char *letter, const char *argument, const char *words, const char *text)
{
	const char *const fields[] = { name, letter, argument, words };

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		printf("%s\t", fields[i] ? fields[i] : "-");
	for (; *text; text++)
		putchar(*text == '\n' ? ' ' : *text);
	putchar('\n');
}

void options_print_completions(const struct options *options)
{
	options_print_completion(NULL, NULL, options->command->word, NULL, "");
	for (size_t i = 0; i < options->count; i++) {
		const struct options_row *row = options->entries[i].row;
		char name[64], letter[] = { '-', row->letter, '\0' }, text[512];

		if (!row->take || !row->help)
			continue;
		snprintf(name, sizeof(name), "--%s", row->name);
		snprintf(text, sizeof(text), "%s%s", row->help, repeatable_text(row));
		options_print_completion(name, row->letter ? letter : NULL, row->argument, row->words, text);
	}
}

/* ---- Values ---- */

int options_fail(const char *command, const char *format, ...)
{
	CLEANUP(cleanup_free) char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	cli_say("kelvin %s: %s; see 'kelvin %s --help'\n", command, text ? text : "out of memory", command);
	return CLI_EXIT_ERROR;
}

bool options_parse_count(const char *option, const char *text, uint64_t max, uint64_t *value, struct error *err)
{
	unsigned long long parsed;
	char *end;

	errno = 0;
	parsed = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end != '\0')
		return error_set(err, ERROR_USAGE, "%s '%.80s': this is not a whole number", option, text);
	if (errno == ERANGE || parsed > max)
		return error_set(
			err, ERROR_USAGE, "%s '%.80s': the most is %llu", option, text, (unsigned long long)max);
	*value = parsed;
	return true;
}

bool options_parse_some(const char *option, const char *text, uint64_t max, uint64_t *value, struct error *err)
{
	return options_parse_count(option, text, max, value, err) &&
	       (*value > 0 || error_set(err, ERROR_USAGE, "%s 0: the least is one, or leave it out", option));
}

bool options_parse_some_time(const char *option, const char *text, double *seconds, struct error *err)
{
	return options_parse_duration(option, text, 1, seconds, err) &&
	       (*seconds > 0 || error_set(err, ERROR_USAGE, "%s 0: give it some time, or leave it out", option));
}

bool options_parse_positive(const char *option, const char *text, double *value, struct error *err)
{
	char *end;
	double parsed = strtod(text, &end);

	if (end == text || *end != '\0' || !isfinite(parsed) || parsed <= 0)
		return error_set(err, ERROR_USAGE, "%s '%.80s': this is not a number greater than 0", option, text);
	*value = parsed;
	return true;
}

static bool options_find_unit(const char *unit, double bare_s, double *unit_s)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = { { "ms", 1e-3 }, { "s", 1 }, { "m", 60 }, { "min", 60 }, { "h", 3600 } };

	*unit_s = bare_s;
	if (*unit == '\0')
		return true;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		*unit_s = units[i].seconds;
		if (strcmp(unit, units[i].name) == 0)
			return true;
	}
	return false;
}

bool options_parse_duration(const char *option, const char *text, double bare_s, double *seconds, struct error *err)
{
	char *unit;
	double number = strtod(text, &unit), unit_s;

	if (unit == text || !isfinite(number) || number < 0 || !options_find_unit(unit, bare_s, &unit_s))
		return error_set(err, ERROR_USAGE,
			"%s '%.80s': this is not a duration; write for example %s 500ms, %s 30s, %s 2m or %s 1h",
			option, text, option, option, option, option);
	*seconds = number * unit_s;
	return true;
}

bool options_list_add(struct options_list *list, const char *item, struct error *err)
{
	return ARRAY_APPEND(&list->items, &list->capacity, &list->count, MAX_LIST_ITEMS, err, item);
}

void options_list_deinit(struct options_list *list)
{
	free(list->items);
	*list = (struct options_list){ 0 };
}
