/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a command in a child, within a deadline, and takes what it writes. */
#include "cli/mcp.h"

#include "cli/cli.h"
#include "cli/lines.h"
#include "cli/options.h"
#include "cli/source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The limits of an answer; one that writes more is wrong. */
enum { MOST_BYTES = 16 << 20, MOST_WORDS = 256, MOST_FILES = 1024 };

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
	struct mcp_command *command, const struct mcp_roots *roots, const char *name, struct error *err)
{
	struct mcp_given *given;

	if (!ARRAY_RESERVE(&command->files, &command->file_capacity, command->file_count + 1, MOST_FILES, err))
		return false;
	given = &command->files[command->file_count];
	if (!mcp_open_file(roots, name, &given->fd, err))
		return false;
	given->name = strdup(name);
	command->file_count++;
	return given->name || error_set_memory(err);
}

bool mcp_add_files(struct mcp_command *command, const struct mcp_roots *roots, const char *names, struct error *err)
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

static const struct cli_command *mcp_call_find_command(const char *name)
{
	return strcmp(name, cmd_diff.name) == 0 ? &cmd_diff : &cmd_report;
}

static void limit(int resource, rlim_t most)
{
	struct rlimit now;

	if (getrlimit(resource, &now) != 0)
		return;
	now.rlim_cur = now.rlim_max != RLIM_INFINITY && now.rlim_max < most ? now.rlim_max : most;
	(void)setrlimit(resource, &now);
}

/* It is what a shell would start, but reads its files from descriptors, and writes to memory. */
static _Noreturn void be_command(
	const struct mcp_command *command, const struct mcp_roots *roots, pid_t parent, int out, int said)
{
	static char columns[] = "COLUMNS=140", colour[] = "NO_COLOR=1";
	int directories[MCP_MOST_ROOTS];
	struct options options;

	(void)setpgid(0, 0);
	child_end_with(parent);
	/* Whatever a command looks for around its directory, as a repository, is not there. */
	if (chdir("/proc") != 0)
		_exit(CLI_EXIT_ERROR);
	signal(SIGPIPE, SIG_DFL);
	if (dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
		dup2(said, STDERR_FILENO) < 0)
		_exit(CLI_EXIT_ERROR);
	putenv(columns);
	putenv(colour);
	limit(RLIMIT_FSIZE, MOST_BYTES);
	for (size_t i = 0; i < command->file_count; i++)
		if (!source_file_give(command->files[i].name, command->files[i].fd))
			_exit(CLI_EXIT_ERROR);
	source_file_refuse_others();
	for (size_t i = 0; i < roots->count; i++)
		directories[i] = roots->roots[i].fd;
	lines_stay_below(directories, roots->count);
	options_init(&options, mcp_call_find_command(command->words[0]), (int)command->count, command->words);
	exit(cli_close_stdout(options.command->run(&options)));
}

/* ---- The parent ---- */

/* Takes what was written, without what a terminal would obey; its lines stay. */
static void mcp_call_take(int fd, struct buffer *text)
{
	CLEANUP(buffer_deinit) struct buffer raw = BUFFER_INIT(MOST_BYTES + 1);
	struct error ignored;

	if (!file_read_opened(&(struct file_opened){ (char *)(uintptr_t) "answer", fd }, &raw, &ignored) || !raw.data)
		return;
	for (const char *at = raw.data; *at;) {
		uint32_t code = unicode_next(&at);

		unicode_append(text, code == '\n' ? code : unicode_clean(code));
	}
}

enum mcp_call_ending { ENDED, TOO_LATE, CLIENT_GONE };

/* Waits until the child has closed its end of a pipe, which it does when it ends. */
static enum mcp_call_ending wait_for_end(int alive, double deadline_s)
{
	int64_t end_ns = clock_read_ns(CLOCK_MONOTONIC) + (int64_t)(deadline_s * 1e9);

	for (;;) {
		struct pollfd fds[] = { { .fd = alive, .events = POLLIN }, { .fd = STDOUT_FILENO } };
		int64_t left_ns = end_ns - clock_read_ns(CLOCK_MONOTONIC);
		int ready;

		if (left_ns <= 0)
			return TOO_LATE;
		ready = poll(fds, 2, left_ns / 1000000 > 1000 ? 1000 : (int)(left_ns / 1000000) + 1);
		if (ready > 0 && fds[0].revents)
			return ENDED;
		if (ready > 0 && (fds[1].revents & (POLLERR | POLLNVAL)))
			return CLIENT_GONE;
	}
}

static int mcp_call_end_child(pid_t pid, enum mcp_call_ending ending)
{
	int status = 0;

	if (ending != ENDED) {
		(void)kill(-pid, SIGKILL);
		(void)kill(pid, SIGKILL);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static bool mcp_call_judge(enum mcp_call_ending ending, int status, double deadline_s, int *code, struct error *err)
{
	if (ending == TOO_LATE)
		return error_set(err, ERROR_SYSTEM,
			"there is no answer within %g s: ask for less, or start the server with a greater --deadline",
			deadline_s);
	if (ending == CLIENT_GONE)
		return error_set(err, ERROR_SYSTEM, "nobody waits for the answer");
	if (!WIFEXITED(status))
		return error_set(
			err, ERROR_SYSTEM, "the process that answers was ended (%s)", strsignal(WTERMSIG(status)));
	*code = WEXITSTATUS(status);
	return true;
}

static bool run_within(const struct mcp_command *command, const struct mcp_server *server, int out, int said,
	struct mcp_outcome *outcome, struct error *err)
{
	pid_t self = getpid(), pid;
	enum mcp_call_ending ending;
	int alive[2];

	if (pipe2(alive, O_CLOEXEC) != 0)
		return error_set_errno(err, errno, "cannot start a process that answers");
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(alive[0]);
		be_command(command, &server->roots, self, out, said);
	}
	close(alive[1]);
	ending = pid < 0 ? ENDED : wait_for_end(alive[0], server->deadline_s);
	close(alive[0]);
	if (pid < 0)
		return error_set_errno(err, errno, "cannot start a process that answers");
	return mcp_call_judge(ending, mcp_call_end_child(pid, ending), server->deadline_s, &outcome->code, err);
}

bool mcp_run(const struct mcp_command *command, const struct mcp_server *server, struct mcp_outcome *outcome,
	struct error *err)
{
	CLEANUP(cleanup_close) int out = file_in_memory("answer", err);
	CLEANUP(cleanup_close) int said = out < 0 ? -1 : file_in_memory("messages", err);

	buffer_init(&outcome->out, 4 * (size_t)MOST_BYTES);
	buffer_init(&outcome->said, 4 * (size_t)MOST_BYTES);
	if (said < 0 || !run_within(command, server, out, said, outcome, err))
		return false;
	mcp_call_take(out, &outcome->out);
	mcp_call_take(said, &outcome->said);
	return buffer_ok(&outcome->out, err) && buffer_ok(&outcome->said, err);
}

void mcp_outcome_deinit(struct mcp_outcome *outcome)
{
	buffer_deinit(&outcome->out);
	buffer_deinit(&outcome->said);
}
