/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a command in a child, within a deadline, and takes what it writes. */
#include "cli/mcp.h"

#include "cli/cli.h"
#include "cli/lines.h"
#include "cli/source_file.h"

#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_WORDS = 256, MOST_FILES = 1024 };

/* ---- The command ---- */

static bool mcp_call_add_text(struct mcp_command *command, char *text, struct error *err)
{
	if (!text)
		return error_set_memory(err);
	if (!ARRAY_RESERVE(&command->words, &command->capacity, command->count + 2, MOST_WORDS, err)) {
		free(text);
		return false;
	}
	command->words[command->count++] = text;
	command->words[command->count] = NULL;
	return true;
}

bool mcp_add_word(struct mcp_command *command, struct error *err, const char *format, ...)
{
	char *text;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return mcp_call_add_text(command, text, err);
}

static bool mcp_call_add_file(
	struct mcp_command *command, const struct profile_roots *roots, const char *name, struct error *err)
{
	struct mcp_given *given;

	if (!ARRAY_RESERVE(&command->files, &command->file_capacity, command->file_count + 1, MOST_FILES, err))
		return false;
	given = &command->files[command->file_count];
	if (!profile_roots_open_file(roots, name, &given->fd, err))
		return false;
	given->name = strdup(name);
	command->file_count++;
	return given->name || error_set_memory(err);
}

bool mcp_add_files(struct mcp_command *command, const struct profile_roots *roots, const char *names, struct error *err)
{
	CLEANUP(cleanup_free) char *copy = strdup(names);
	char *rest = NULL;

	if (!copy)
		return error_set_memory(err);
	if (strtok_r(copy, ",", &rest) == NULL)
		return error_set(err, ERROR_USAGE, "the name of a profile is empty");
	for (char *name = copy + strspn(copy, ","); name; name = strtok_r(NULL, ",", &rest))
		if (!mcp_call_add_file(command, roots, name, err))
			return false;
	return mcp_add_word(command, err, "%s", names);
}

void mcp_command_deinit(struct mcp_command *command)
{
	for (size_t i = 0; i < command->count; i++)
		free(command->words[i]);
	for (size_t i = 0; i < command->file_count; i++) {
		free(command->files[i].name);
		close(command->files[i].fd);
	}
	free(command->words);
	free(command->files);
	*command = (struct mcp_command){ 0 };
}

/* ---- The child ---- */

struct mcp_call_work {
	const struct mcp_command *command;
	const struct profile_roots *roots;
};

/* It is what a shell would start, but reads its files from descriptors, and writes to memory. */
static int mcp_call_run_command(void *context)
{
	static char columns[] = "COLUMNS=140";
	const struct mcp_call_work *work = context;
	const struct mcp_command *command = work->command;
	int directories[PROFILE_MOST_ROOTS];

	putenv(columns);
	child_limit(&(struct child_limit){ RLIMIT_FSIZE, CAPTURED_MOST_BYTES, false }, 1);
	for (size_t i = 0; i < command->file_count; i++)
		if (!source_file_give(command->files[i].name, command->files[i].fd))
			return CLI_EXIT_ERROR;
	source_file_refuse_others();
	for (size_t i = 0; i < work->roots->count; i++)
		directories[i] = work->roots->roots[i].fd;
	lines_stay_below(directories, work->roots->count);
	return captured_run_command((const char *const *)command->words);
}

/* ---- The parent ---- */

static bool mcp_call_is_unwanted(void)
{
	struct pollfd client = { .fd = STDOUT_FILENO };

	return poll(&client, 1, 0) > 0 && client.revents & (POLLERR | POLLNVAL);
}

static bool mcp_call_judge(const struct captured_outcome *outcome, double deadline_s, struct error *err)
{
	if (outcome->ending == CAPTURED_LATE)
		return error_set(err, ERROR_SYSTEM,
			"there is no answer within %g s: ask for less, or start the server with a greater --deadline",
			deadline_s);
	if (outcome->ending == CAPTURED_UNWANTED)
		return error_set(err, ERROR_SYSTEM, "nobody waits for the answer");
	if (!WIFEXITED(outcome->status))
		return error_set(err, ERROR_SYSTEM, "the process that answers was ended (%s)",
			strsignal(WTERMSIG(outcome->status)));
	return buffer_ok(&outcome->out, err) && buffer_ok(&outcome->said, err);
}

bool mcp_run(const struct mcp_command *command, const struct mcp_server *server, struct captured_outcome *outcome,
	struct error *err)
{
	struct mcp_call_work work = { command, &server->roots };
	/* Whatever a command looks for around its directory, as a repository, is not there. */
	CLEANUP(cleanup_close) int nowhere = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct captured child = { 0 };

	if (!captured_start(&child, nowhere, NULL, server->deadline_s, mcp_call_run_command, &work, err))
		return false;
	captured_wait(&child, mcp_call_is_unwanted, outcome);
	return mcp_call_judge(outcome, server->deadline_s, err);
}
