/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * The command line: the only code that prints, exits or handles signals. `main.c` dispatches, each command has its
 * cmd_*.c, which returns the program's exit code. Results go to standard output, everything else to standard error.
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

/* argv[0] is the command's name. */
int cmd_record(int argc, char **argv);
int cmd_simulate(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_bench(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_recover(int argc, char **argv);
int cmd_symbolize(int argc, char **argv);
int cmd_doctor(int argc, char **argv);

/*
 * Writes to standard error. Text of files, symbols and arguments is cleaned, so that it cannot control the terminal.
 * Line ends stay.
 */
__attribute__((format(printf, 1, 2))) void cli_say(const char *format, ...);

/* `kelvin: MESSAGE` on standard error. */
void cli_print_error(const struct error *err);

/* Prints lines, each with its newline, on standard error. */
void cli_print_notices(const struct buffer *notices);

/*
 * Ends standard output before the process ends with `code`, and returns the code to end with: if output could not be
 * written (a full disk behind `>`), the command fails.
 */
int cli_close_stdout(int code);
