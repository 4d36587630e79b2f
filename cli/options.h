/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "cli/cli.h"

#include <getopt.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The options of a command stand in one table of rows, from which come what getopt_long() reads, the help, and what
 * shells complete. Messages end with the next step; the caller exits with CLI_EXIT_ERROR.
 */

enum { OPTIONS_MAX = 64, OPTIONS_MAX_RUNS = 10000 };

/* An option; or, for the help alone, a heading (it has no `help`) or something that is no option (it has no `take`). */
struct options_row {
	char letter;          /* 0: there is none */
	const char *name;     /* without the dashes; of what is no option, its text. NULL ends the table */
	const char *argument; /* as the help shows it: FILE; if it may be left out, [FILE] or [=N]; NULL: none */
	const char *help;     /* a newline separates its lines; NULL: the option is accepted, but not shown */
	/* Keeps the value (NULL: there is none) at the offset `at` in the command's context. */
	bool (*take)(void *at, const char *value, struct error *err);
	size_t at;
	/*
	 * The words that complete the value, separated by spaces; NULL: what its argument says (docs/completions), as
	 * FILE.
	 */
	const char *words;
	bool repeatable;                /* the help says so */
	const struct options_row *rows; /* a table that stands here, of the struct at `at`; the rest is unused */
};

/* `take` and `at` of an option that only keeps its value, whose field has the right type. */
#define OPTIONS_FLAG(type, field) options_set_flag, offsetof(type, field) / _Generic(((type *)0)->field, bool : 1)
#define OPTIONS_TEXT(type, field) options_set_text, OPTIONS_TEXT_AT(type, field)
#define OPTIONS_OUTPUT(type, field) options_set_output, OPTIONS_TEXT_AT(type, field)
#define OPTIONS_TEXT_AT(type, field) (offsetof(type, field) / _Generic(((type *)0)->field, const char * : 1))

bool options_set_flag(void *flag, const char *value, struct error *err);
bool options_set_text(void *text, const char *value, struct error *err);

/*
 * Takes the path of an output option's file; "-" also for other names of standard output. By such a name, a file that
 * `>>` appends to would be replaced, and messages would be written into the profile.
 */
bool options_set_output(void *path, const char *value, struct error *err);

/* Takes --runs N, a uint64_t: from 1 to OPTIONS_MAX_RUNS. */
bool options_take_runs(void *runs, const char *text, struct error *err);

/* Accepts an option that changes nothing. */
bool options_ignore(void *at, const char *value, struct error *err);

/* --mode, of a mode_t; --no-args, of a bool. */
extern const struct options_row options_mode_rows[], options_no_args_rows[];

/* The options of one command line. */
struct options {
	int argc;
	char **argv;
	const struct cli_command *command;
	struct options_entry {
		const struct options_row *row;
		size_t at; /* in the command's context */
	} entries[OPTIONS_MAX];
	size_t count;
	struct option names[OPTIONS_MAX]; /* for getopt_long() */
	char letters[3 * OPTIONS_MAX];    /* likewise; the first character says what becomes of words */
	size_t spare_words; /* number of words beyond those that the command needs: they are files of output options */
};

/* Prepares the options of a command, and of --help; argv[0] is the command's name. */
void options_init(struct options *options, const struct cli_command *command, int argc, char **argv);

/*
 * Hands every option to its row, for `context`; prints the help for --help. False: the command has to end with `*code`;
 * all messages have been printed. The words lie from argv[optind] on. A word behind an option with [FILE] is its file
 * if the command has more words than it needs; without one, and without `=FILE`, the value is "-".
 */
bool options_read(struct options *options, void *context, int *code);

void options_print_help(const struct options *options);

/* Prints a line of `kelvin --complete` (main.c); NULL: "-". */
void options_print_completion(
	const char *name, const char *letter, const char *argument, const char *words, const char *text);

/* Prints such a line for the command's words, without a name, and one for each option. */
void options_print_completions(const struct options *options);

/* Prints a usage error that refers to the command's help; returns CLI_EXIT_ERROR. */
__attribute__((format(printf, 2, 3))) int options_fail(const char *command, const char *format, ...);

/* Parses a whole decimal number of at most `max`; ERROR_USAGE names the option. */
COMMON_MUST_CHECK
bool options_parse_count(const char *option, const char *text, uint64_t max, uint64_t *value, struct error *err);

/* Does the same for an option whose 0 would mean nothing: it is refused. */
COMMON_MUST_CHECK
bool options_parse_some(const char *option, const char *text, uint64_t max, uint64_t *value, struct error *err);

/*
 * Parses a duration with or without its unit: "30", "2.5s", "500ms", "2m", "1h". A bare number counts units of `bare_s`
 * seconds. ERROR_USAGE names the option and gives an example.
 */
COMMON_MUST_CHECK
bool options_parse_duration(const char *option, const char *text, double bare_s, double *seconds, struct error *err);

/* Does the same in seconds, for an option whose 0 would mean nothing: it is refused. */
COMMON_MUST_CHECK
bool options_parse_some_time(const char *option, const char *text, double *seconds, struct error *err);

/* Parses a decimal number greater than 0, as "2.5". */
COMMON_MUST_CHECK
bool options_parse_positive(const char *option, const char *text, double *value, struct error *err);

/* The values of a repeated option; they are borrowed. */
struct options_list {
	const char **items; /* owned */
	size_t count, capacity;
};

COMMON_MUST_CHECK
bool options_list_add(struct options_list *list, const char *item, struct error *err);
void options_list_deinit(struct options_list *list);
