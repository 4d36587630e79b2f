/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/captured.h"

#include "cli/cli.h"
#include "cli/options.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The limit of what is kept of a child's words. */
enum { MOST_BYTES = 1 << 20 };

int captured_run_command(const char *const *words)
{
	const struct cli_command *command = cli_find_command(words[0]);
	struct options options;
	size_t count = 0;

	while (words[count])
		count++;
	if (!command)
		return CLI_EXIT_ERROR;
	options_init(&options, command, (int)count, (char **)(uintptr_t)words);
	return command->run(&options);
}

/* ---- The child ---- */

static _Noreturn void be_child(const struct captured *child, int directory, const sigset_t *mask, pid_t parent,
	int (*work)(void *context), void *context)
{
	static char no_colour[] = "NO_COLOR=1";

	/* The terminal's Ctrl-C is for the watch, which has the recording kept. */
	(void)setpgid(0, 0);
	child_end_with(parent);
	signal(SIGPIPE, SIG_DFL);
	if (fchdir(directory) != 0 || dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO) < 0 ||
		dup2(child->out, STDOUT_FILENO) < 0 || dup2(child->said, STDERR_FILENO) < 0)
		_exit(CLI_EXIT_ERROR);
	putenv(no_colour);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (child->forgets)
		store_secrets_deinit(child->forgets);
	exit(cli_close_stdout(work(context)));
}

/* ---- The watch ---- */

static void close_streams(struct captured *child)
{
	cleanup_close(&child->out);
	cleanup_close(&child->said);
	*child = (struct captured){ .forgets = child->forgets };
}

bool captured_start(struct captured *child, int directory, const sigset_t *mask, double deadline_s,
	int (*work)(void *context), void *context, struct error *err)
{
	pid_t self = getpid();

	*child = (struct captured){ .forgets = child->forgets,
		.out = file_in_memory("answer", err),
		.said = file_in_memory("messages", err),
		.end_ns = clock_read_ns(CLOCK_BOOTTIME) + (int64_t)(deadline_s * 1e9) };
	fflush(NULL);
	child->pid = child->out < 0 || child->said < 0 ? -1 : fork();
	if (child->pid == 0)
		be_child(child, directory, mask, self, work, context);
	if (child->pid > 0) {
		(void)setpgid(child->pid, child->pid);
		return true;
	}
	if (child->out >= 0 && child->said >= 0)
		error_set_errno(err, errno, "cannot start a process for a recording");
	close_streams(child);
	return false;
}

/* Appends what was written, without what a terminal would obey. */
static void captured_take_text(int fd, struct buffer *text)
{
	CLEANUP(buffer_deinit) struct buffer raw = BUFFER_INIT(MOST_BYTES);
	struct error ignored;

	buffer_init(text, (size_t)4 * MOST_BYTES);
	(void)!file_read_opened(&(struct file_opened){ (char *)(uintptr_t) "answer", fd }, &raw, &ignored);
	for (const char *at = raw.data ? raw.data : ""; *at;) {
		uint32_t code = unicode_next(&at);

		unicode_append(text, code == '\n' || code == '\t' ? code : unicode_clean(code));
	}
	buffer_append(text, "", 0);
}

static void take_outcome(struct captured *child, int status, struct captured_outcome *outcome)
{
	enum { SIGNAL_BASE = 128 };

	outcome->code = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNAL_BASE + WTERMSIG(status);
	captured_take_text(child->out, &outcome->out);
	captured_take_text(child->said, &outcome->said);
	/* What it has started ends with it. */
	(void)kill(-child->pid, SIGKILL);
	close_streams(child);
}

bool captured_ended(struct captured *child, struct captured_outcome *outcome)
{
	int status;

	if (clock_read_ns(CLOCK_BOOTTIME) > child->end_ns) {
		(void)kill(-child->pid, SIGKILL);
		(void)kill(child->pid, SIGKILL);
	}
	if (waitpid(child->pid, &status, WNOHANG) != child->pid)
		return false;
	take_outcome(child, status, outcome);
	return true;
}

void captured_wait(struct captured *child, struct captured_outcome *outcome)
{
	enum { STEP_MS = 5 };

	while (!captured_ended(child, outcome))
		(void)poll(NULL, 0, STEP_MS);
}

void captured_signal(const struct captured *child, int number)
{
	if (child->pid > 0)
		(void)kill(child->pid, number);
}

void captured_outcome_deinit(struct captured_outcome *outcome)
{
	buffer_deinit(&outcome->out);
	buffer_deinit(&outcome->said);
}
