/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <getopt.h>
#include <sys/types.h>

/*
 * Parsing of options, as all commands share it. Messages end with the next step; the caller exits with CLI_EXIT_ERROR.
 */

/*
 * Results of options_next() other than an option's value. Long options without a letter count up from
 * OPTIONS_LONG_ONLY, those that commands share from OPTIONS_SHARED.
 */
enum { OPTIONS_END = -1, OPTIONS_WRONG = '?', OPTIONS_LONG_ONLY = 256, OPTIONS_SHARED = 512 };

/* --mode, of every command that writes files: for getopt_long(), and for the help. */
enum { OPTIONS_MODE = OPTIONS_SHARED + 32 };
#define OPTIONS_MODE_ROW                                                                                               \
	{                                                                                                              \
		"mode", required_argument, NULL, OPTIONS_MODE                                                          \
	}
#define OPTIONS_MODE_HELP                                                                                              \
	"      --mode MODE             permissions of what is written, octal, as 640 (default: 600; your own file keeps its)\n"

struct options {
	int argc;
	char **argv;
	const char *command;
	const char *letters; /* for getopt_long(), with ':' first */
	const struct option *names;
	size_t spare_words; /* number of words beyond those that the command needs: they are files of output options */
};

/*
 * The next option; its value is in `optarg`. OPTIONS_WRONG if the option is unknown, ambiguous or without its value;
 * the message has been printed then.
 */
int options_next(const struct options *options);

/*
 * Passes every option to take(), with its value in `optarg`; prints `help` for -h. False: the command has to end with
 * `*code`; all messages have been printed.
 */
bool options_read(const struct options *options, const char *help,
	bool (*take)(void *context, int option, struct error *err), void *context, int *code);

/*
 * For commands whose output options may omit their FILE (`--json`, `--json FILE`, `--json=FILE`): counts the words
 * beyond the `needed` ones. Must be called before the first options_next().
 */
void options_count_spare(struct options *options, size_t needed);

/*
 * The path of an output option's file; "-" also for other names of standard output. By such a name, a file that `>>`
 * appends to would be replaced, and messages would be written into the profile.
 */
const char *options_output_file(const char *word);

/* The FILE of the output option that options_next() has just returned; "-", standard output, if it is omitted. */
const char *options_take_file(struct options *options);

/* Prints a usage error that refers to the command's help; returns CLI_EXIT_ERROR. */
__attribute__((format(printf, 2, 3))) int options_fail(const char *command, const char *format, ...);

/* A whole decimal number of at most `max`; ERROR_USAGE names the option. */
COMMON_MUST_CHECK
bool options_parse_count(const char *option, const char *text, uint64_t max, uint64_t *value, struct error *err);

/* The value of --off-cpu=MS, or NULL for --off-cpu: the waiting time that a sample stands for. */
COMMON_MUST_CHECK
bool options_parse_off_cpu(const char *text, uint64_t *ns, struct error *err);

/*
 * A duration with or without its unit: "30", "2.5s", "500ms", "2m", "1h". A bare number counts units of `bare_s`
 * seconds. ERROR_USAGE names the option and gives an example.
 */
COMMON_MUST_CHECK
bool options_parse_duration(const char *option, const char *text, double bare_s, double *seconds, struct error *err);

/* A decimal number greater than 0, as "2.5". */
COMMON_MUST_CHECK
bool options_parse_positive(const char *option, const char *text, double *value, struct error *err);

/* Permissions as an octal number, for file_write(). */
COMMON_MUST_CHECK
bool options_parse_mode(const char *text, mode_t *mode, struct error *err);

/* The values of a repeated option; they are borrowed. */
struct options_list {
	const char **items; /* owned */
	size_t count, capacity;
};

COMMON_MUST_CHECK
bool options_list_add(struct options_list *list, const char *item, struct error *err);
void options_list_deinit(struct options_list *list);
