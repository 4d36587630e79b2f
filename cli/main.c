/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/cli.h"
#include "cli/interrupt.h"

#include <fcntl.h>
#include <string.h>

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
} commands[] = {
	{ "record", cmd_record, "sample a running process or a command" },
	{ "simulate", cmd_simulate, "count what a command executes, on a simulated processor" },
	{ "diff", cmd_diff, "compare two profiles: where did the time go?" },
	{ "bench", cmd_bench, "run two commands alternately and compare them" },
	{ "report", cmd_report, "show one profile" },
	{ "recover", cmd_recover, "turn what a killed recording left into a profile" },
	{ "symbolize", cmd_symbolize, "name addresses of a binary, as addr2line does" },
	{ "doctor", cmd_doctor, "show what this machine allows, and how to allow more" },
};
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
		fprintf(stream, "  %-10s  %s\n", commands[i].name, commands[i].summary);
	fputs(help_tail, stream);
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(name, commands[i].name) == 0)
			return &commands[i];
	return NULL;
}

static int dispatch(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	const struct command *command = find_command(word);
	char help[] = "--help";

	if (command)
		return command->run(argc - 1, argv + 1);
	if (strcmp(word, "help") == 0 && argc == 3 && (command = find_command(argv[2])))
		return command->run(2, (char *[]){ argv[2], help, NULL });
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
		puts(CLI_TOOL);
		return CLI_EXIT_OK;
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
		print_help(stdout);
		return CLI_EXIT_OK;
	}
	if (argc < 2)
		print_help(stderr);
	else
		cli_say("kelvin: unknown %s '%s'; see 'kelvin --help'\n", word[0] == '-' ? "option" : "command", word);
	return CLI_EXIT_ERROR;
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
