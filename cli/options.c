/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/options.h"

#include "cli/cli.h"
#include "sampler/sampler.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { MAX_LIST_ITEMS = 10000 };

/* The word as the user typed it, since getopt does not give the name of an unknown long option. */
static int fail_unknown(const struct options *options)
{
	const char *word = optind > 0 && optind <= options->argc ? options->argv[optind - 1] : "";

	if (optopt > 0 && optopt < OPTIONS_LONG_ONLY && isprint(optopt) && strncmp(word, "--", 2) != 0)
		return options_fail(options->command, "unknown option '-%c'", optopt);
	if (optopt > 0)
		return options_fail(options->command, "option '%s' takes no value", word);
	return options_fail(options->command, "unknown or ambiguous option '%s'", word);
}

int options_next(const struct options *options)
{
	int option;

	opterr = 0;
	option = getopt_long(options->argc, options->argv, options->letters, options->names, NULL);
	if (option == ':') {
		options_fail(options->command, "option '%s' needs a value", options->argv[optind - 1]);
		return OPTIONS_WRONG;
	}
	if (option == OPTIONS_WRONG)
		fail_unknown(options);
	return option;
}

bool options_read(const struct options *options, const char *help,
	bool (*take)(void *context, int option, struct error *err), void *context, int *code)
{
	struct error err;
	int option;

	while ((option = options_next(options)) != OPTIONS_END) {
		*code = CLI_EXIT_ERROR;
		if (option == OPTIONS_WRONG)
			return false;
		if (option == 'h') {
			fputs(help, stdout);
			*code = CLI_EXIT_OK;
			return false;
		}
		if (!take(context, option, &err)) {
			options_fail(options->command, "%s", err.message);
			return false;
		}
	}
	return true;
}

void options_count_spare(struct options *options, size_t needed)
{
	enum { WORD = 1, MAX_LETTERS = 62 };
	char letters[MAX_LETTERS + 2];
	size_t words = 0;
	int option;

	/* With `-` first, getopt returns words in their order and does not permute them. */
	snprintf(letters, sizeof(letters), "-%s", options->letters);
	opterr = 0;
	optind = 0;
	while ((option = getopt_long(options->argc, options->argv, letters, options->names, NULL)) != OPTIONS_END)
		words += option == WORD;
	if (optind < options->argc)
		words += (size_t)(options->argc - optind);
	options->spare_words = words > needed ? words - needed : 0;
	optind = 0;
}

const char *options_output_file(const char *word)
{
	static const char *const names[] = { "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(word, names[i]) == 0)
			return "-";
	return word;
}

const char *options_take_file(struct options *options)
{
	const char *word = optind < options->argc ? options->argv[optind] : NULL;

	if (optarg)
		return options_output_file(optarg);
	if (options->spare_words == 0 || !word || (word[0] == '-' && word[1] != '\0'))
		return "-";
	options->spare_words--;
	optind++;
	return options_output_file(word);
}

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

bool options_parse_mode(const char *text, mode_t *mode, struct error *err)
{
	size_t digits = strspn(text, "01234567");
	unsigned long parsed = digits > 0 && digits <= 4 && text[digits] == '\0' ? strtoul(text, NULL, 8) : 0;

	if (parsed == 0 || parsed > 0777)
		return error_set(err, ERROR_USAGE, "--mode '%.20s': write an octal number up to 777, as 640", text);
	*mode = (mode_t)parsed;
	return true;
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

static bool find_unit(const char *unit, double bare_s, double *unit_s)
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

bool options_parse_off_cpu(const char *text, uint64_t *ns, struct error *err)
{
	enum { MOST_MS = 10000, NS_PER_MS = 1000000 };
	uint64_t ms = SAMPLER_DEFAULT_OFF_CPU_MS;

	if (text && !options_parse_count("--off-cpu", text, MOST_MS, &ms, err))
		return false;
	*ns = ms * NS_PER_MS;
	return ms > 0 || error_set(err, ERROR_USAGE, "--off-cpu=0: the least is 1 ms");
}

bool options_parse_duration(const char *option, const char *text, double bare_s, double *seconds, struct error *err)
{
	char *unit;
	double number = strtod(text, &unit), unit_s;

	if (unit == text || !isfinite(number) || number < 0 || !find_unit(unit, bare_s, &unit_s))
		return error_set(err, ERROR_USAGE,
			"%s '%.80s': this is not a duration; write for example %s 500ms, %s 30s, %s 2m or %s 1h",
			option, text, option, option, option, option);
	*seconds = number * unit_s;
	return true;
}

bool options_list_add(struct options_list *list, const char *item, struct error *err)
{
	if (!ARRAY_RESERVE(&list->items, &list->capacity, list->count + 1, MAX_LIST_ITEMS, err))
		return false;
	list->items[list->count++] = item;
	return true;
}

void options_list_deinit(struct options_list *list)
{
	free(list->items);
	*list = (struct options_list){ 0 };
}
