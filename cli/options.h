/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <getopt.h>
#include <sys/types.h>

/* What is common to the options of all commands. Messages end with the next step; the caller exits with CLI_EXIT_ERROR.
 */

/* What options_next() returns besides an option's value. A command's long options without a letter count up from
 * OPTIONS_LONG_ONLY, those that commands share from OPTIONS_SHARED. */
enum { OPTIONS_END = -1, OPTIONS_WRONG = '?', OPTIONS_LONG_ONLY = 256, OPTIONS_SHARED = 512 };

struct options {
	int argc;
	char **argv;
	const char *command;
	const char *letters; /* of getopt_long(), with ':' first */
	const struct option *names;
	size_t spare_words; /* more words than the command needs: they are files of output options */
};

/* The next option; its argument is in `optarg`. OPTIONS_WRONG after a message: an option unknown, ambiguous, or without
 * its value.
 */
int options_next(const struct options *options);

/*
 * Hands every option to take(), with its value in `optarg`; prints `help` for -h. False: the command has ended, with
 * `*code`, after what there was to say.
 */
bool options_read(const struct options *options, const char *help,
	bool (*take)(void *context, int option, struct error *err), void *context, int *code);

/*
 * For commands whose output options may leave out their FILE (`--json`, `--json FILE`, `--json=FILE`): counts how many
 * words there are beyond the `needed` ones. To be called before the first options_next().
 */
void options_count_spare(struct options *options, size_t needed);

/*
 * The file that an output option names; "-" also for other names of standard output. Under those a file that `>>`
 * appends to would be replaced, and what a command prints would be written into its profile.
 */
const char *options_output_file(const char *word);

/* The FILE of the output option that options_next() has just returned; "-", standard output, where it is left out. */
const char *options_take_file(struct options *options);

/* Prints a usage error with the way to the command's help; returns CLI_EXIT_ERROR. */
__attribute__((format(printf, 2, 3))) int options_fail(const char *command, const char *format, ...);

/* A whole decimal number of at most `max`; ERROR_USAGE names the option. */
COMMON_MUST_CHECK
bool options_parse_count(const char *option, const char *text, uint64_t max, uint64_t *value, struct error *err);

/*
 * A duration with or without its unit: "30", "2.5s", "500ms", "2m", "1h". A bare number counts units of `bare_s`
 * seconds. ERROR_USAGE names the option and gives an example.
 */
COMMON_MUST_CHECK
bool options_parse_duration(const char *option, const char *text, double bare_s, double *seconds, struct error *err);

/* A decimal number greater than 0, as "2.5". */
COMMON_MUST_CHECK
bool options_parse_positive(const char *option, const char *text, double *value, struct error *err);

/* Strings given by a repeated option; they are borrowed. */
struct options_list {
	const char **items; /* owned */
	size_t count, capacity;
};

COMMON_MUST_CHECK
bool options_list_add(struct options_list *list, const char *item, struct error *err);
void options_list_deinit(struct options_list *list);
