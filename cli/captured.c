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

static _Noreturn void captured_run_child(
	const struct captured *child, int directory, const sigset_t *mask, int (*work)(void *context), void *context)
{
	static char no_colour[] = "NO_COLOR=1";
	const int streams[] = { open("/dev/null", O_RDONLY | O_CLOEXEC), child->out, child->said };

	signal(SIGPIPE, SIG_DFL);
	if (streams[STDIN_FILENO] < 0 || !child_take_streams(streams) || fchdir(directory) != 0)
		_exit(CLI_EXIT_ERROR);
	putenv(no_colour);
	if (mask)
		sigprocmask(SIG_SETMASK, mask, NULL);
	if (child->forgets)
		store_secrets_deinit(child->forgets);
	exit(cli_close_stdout(work(context)));
}

/* ---- Its parent ---- */

static void close_streams(struct captured *child)
{
	cleanup_close(&child->out);
	cleanup_close(&child->said);
	cleanup_close(&child->alive);
	*child = (struct captured){ .forgets = child->forgets };
}

bool captured_start(struct captured *child, int directory, const sigset_t *mask, double deadline_s,
	int (*work)(void *context), void *context, struct error *err)
{
	*child = (struct captured){ .forgets = child->forgets,
		.out = file_in_memory("answer", err),
		.said = file_in_memory("messages", err),
		.alive = -1,
		.end_ns = clock_read_ns(CLOCK_BOOTTIME) + (int64_t)(deadline_s * 1e9) };
	fflush(NULL);
	if (child->out >= 0 && child->said >= 0) {
		/* The terminal's Ctrl-C is for the parent, which may have a recording kept. */
		child->pid = child_fork_linked(CHILD_ENDS_WITH_PARENT | CHILD_LEADS_GROUP, CHILD_PIPE, &child->alive);
		if (child->pid == 0)
			captured_run_child(child, directory, mask, work, context);
		if (child->pid > 0)
			return true;
		error_set_errno(err, errno, "cannot start a process that runs a command");
	}
	close_streams(child);
	return false;
}

/* Appends what was written, without what a terminal would obey. */
static void captured_take_text(int fd, struct buffer *text)
{
	CLEANUP(buffer_deinit) struct buffer raw = BUFFER_INIT(CAPTURED_MOST_BYTES + 1);
	struct error ignored;

	buffer_init(text, (size_t)4 * CAPTURED_MOST_BYTES);
	(void)!file_read_opened(&(struct file_opened){ (char *)(uintptr_t) "answer", fd }, &raw, &ignored);
	for (const char *at = raw.data ? raw.data : ""; *at;) {
		uint32_t code = unicode_next(&at);

		unicode_append(text, code == '\n' || code == '\t' ? code : unicode_clean(code));
	}
	buffer_append(text, "", 0);
}

static void captured_kill(const struct captured *child)
{
	(void)kill(-child->pid, SIGKILL);
	(void)kill(child->pid, SIGKILL);
}

static void captured_take_outcome(struct captured *child, struct captured_outcome *outcome)
{
	enum { SIGNAL_BASE = 128 };
	int status = outcome->status;

	if (WIFEXITED(status))
		outcome->ending = CAPTURED_ENDED;
	outcome->code = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNAL_BASE + WTERMSIG(status);
	captured_take_text(child->out, &outcome->out);
	captured_take_text(child->said, &outcome->said);
	/* The signal ends all that the child has started as well. */
	(void)kill(-child->pid, SIGKILL);
	close_streams(child);
}

bool captured_ended(struct captured *child, struct captured_outcome *outcome)
{
	outcome->ending = clock_read_ns(CLOCK_BOOTTIME) > child->end_ns ? CAPTURED_LATE : CAPTURED_ENDED;
	if (outcome->ending == CAPTURED_LATE)
		captured_kill(child);
	if (waitpid(child->pid, &outcome->status, WNOHANG) != child->pid)
		return false;
	captured_take_outcome(child, outcome);
	return true;
}

void captured_wait(struct captured *child, bool (*is_unwanted)(void), struct captured_outcome *outcome)
{
	enum { STEP_MS = 5 };
	bool is_killed = false;

	while (!captured_ended(child, outcome)) {
		is_killed = is_killed || (is_unwanted && is_unwanted());
		if (is_killed)
			captured_kill(child);
		(void)poll(&(struct pollfd){ .fd = child->alive, .events = POLLIN }, 1, STEP_MS);
	}
	if (is_killed)
		outcome->ending = CAPTURED_UNWANTED;
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
