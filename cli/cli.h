/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <stdio.h>

/*
 * The command line: the only code that prints, exits or handles signals. `main.c` dispatches, each command has its
 * cmd_*.c. Results go to standard output, everything else to standard error.
 */

#define CLI_TOOL "kelvin " KELVIN_VERSION

enum cli_exit {
	CLI_EXIT_OK = 0,
	CLI_EXIT_REGRESSED = 1,
	CLI_EXIT_ERROR = 2, /* usage or input */
	CLI_EXIT_INCONCLUSIVE = 3,
	/*
	 * exit code of a failed `record -- CMD`, as env(1) and timeout(1) have it; on success it is the command's own
	 */
	CLI_EXIT_RECORDER_FAILED = 125,
	CLI_EXIT_NOT_EXECUTABLE = 126,
	CLI_EXIT_NOT_FOUND = 127,
};

struct options;
struct options_row;

/* A command, by its options (options.h). */
struct cli_command {
	const char *name;
	const char *summary; /* one line */
	const char *usage;   /* the help in front of the options, by lines */
	const struct options_row *rows;
	const char *notes; /* the help behind the options: examples and exit codes */
	const char *word;  /* what its words are, as FILE; COMMAND: options end at the first; NULL: there are none */
	size_t needed_words;
	int (*run)(struct options *options); /* returns the program's exit code */
};

extern const struct cli_command cmd_record, cmd_simulate, cmd_diff, cmd_history, cmd_bench, cmd_report, cmd_recover,
	cmd_watch, cmd_push, cmd_symbolize, cmd_doctor, cmd_mcp;

/* Returns the command of this name; NULL: there is none. */
const struct cli_command *cli_find_command(const char *name);

/*
 * Writes whole lines, the last with or without its newline, wrapped (common/wrap.h) to the columns of the stream;
 * `indent` is less than 40. Text of files, symbols and arguments is cleaned, so that it cannot control the terminal.
 * Nothing is written of "".
 */
__attribute__((format(printf, 3, 4))) void cli_write(FILE *stream, size_t indent, const char *format, ...);

/* Writes such lines to standard error. */
__attribute__((format(printf, 1, 2))) void cli_say(const char *format, ...);

enum { CLI_MESSAGE_BYTES = 1 << 16 }; /* enough for a message with a path */

/*
 * Returns how many columns text has on a file descriptor, at least 40: what COLUMNS says; else the width of the
 * terminal, if it is one; else 120. -1 is no terminal.
 */
unsigned int cli_columns(int fd);

/* Prints `kelvin: MESSAGE` on standard error. */
void cli_print_error(const struct error *err);

/* Prints lines, each with its newline, on standard error. */
void cli_print_notices(const struct buffer *notices);

/* Prints such lines as messages of the program: `kelvin: LINE`. */
void cli_print_messages(const struct buffer *lines);

/*
 * Ends standard output before the process ends with `code`, and returns the code to end with: if output could not be
 * written (a full disk behind `>`), the command fails.
 */
int cli_close_stdout(int code);
