/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the command that the user names, and runs it. */
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/options.h"

#include <fcntl.h>
#include <string.h>

static const struct cli_command *const commands[] = { &cmd_record, &cmd_simulate, &cmd_diff, &cmd_history, &cmd_bench,
	&cmd_report, &cmd_recover, &cmd_watch, &cmd_push, &cmd_symbolize, &cmd_doctor, &cmd_mcp };
enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static const char help_head[] =
	"Usage: kelvin COMMAND [OPTIONS]\n"
	"A sampling profiler that answers one question: after this change, where did the time go?\n"
	"\n"
	"Commands:\n";

static const char help_tail[] = "\n"
				"Options:\n"
				"  --help      this text; 'kelvin COMMAND --help' explains a command\n"
				"  --version   the version\n"
				"\n"
				"Examples:\n"
				"  kelvin record -p PID -d 30 -o before.pb.gz      before the deploy\n"
				"  kelvin record -p PID -d 30 -o after.pb.gz       after it\n"
				"  kelvin diff before.pb.gz after.pb.gz -o diff.html\n";

static void print_help(FILE *stream)
{
	fputs(help_head, stream);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		fprintf(stream, "  %-10s  %s\n", commands[i]->name, commands[i]->summary);
	fputs(help_tail, stream);
}

/* Prints what the completions in docs/completions offer in place of a command. */
static void print_completions(void)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		options_print_completion(commands[i]->name, NULL, NULL, NULL, commands[i]->summary);
	options_print_completion("--help", "-h", NULL, NULL, "explains the commands");
	options_print_completion("--version", "-V", NULL, NULL, "the version");
}

const struct cli_command *cli_find_command(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(name, commands[i]->name) == 0)
			return commands[i];
	return NULL;
}

/* The options of the command that is named; false: there is no such command. */
static bool main_find_command(int argc, char **argv, struct options *options)
{
	const struct cli_command *command = argc > 0 ? cli_find_command(argv[0]) : NULL;

	if (command)
		options_init(options, command, argc, argv);
	return command != NULL;
}

static int dispatch(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	struct options options;

	if (main_find_command(argc - 1, argv + 1, &options))
		return options.command->run(&options);
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		puts(CLI_TOOL);
	else if (strcmp(word, "--complete") == 0 && argc == 2)
		print_completions();
	else if (strcmp(word, "--complete") == 0 && main_find_command(argc - 2, argv + 2, &options))
		options_print_completions(&options);
	else if (strcmp(word, "help") == 0 && argc == 3 && main_find_command(1, argv + 2, &options))
		options_print_help(&options);
	else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
		print_help(stdout);
	else {
		if (argc < 2)
			print_help(stderr);
		else
			cli_say("kelvin: unknown %s '%s'; see 'kelvin --help'\n", word[0] == '-' ? "option" : "command",
				word);
		return CLI_EXIT_ERROR;
	}
	return CLI_EXIT_OK;
}

/*
 * Opens closed standard streams, so that no file of ours gets their number and then receives messages. Using such a
 * stream still fails, as if it were closed.
 */
static void occupy_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			_exit(CLI_EXIT_ERROR);
}

int main(int argc, char **argv)
{
	occupy_standard_streams();
	interrupt_survive_lost_pages();
	interrupt_survive_full_files();
	return cli_close_stdout(dispatch(argc, argv));
}
