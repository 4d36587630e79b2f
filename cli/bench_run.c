/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/bench_run.h"

#include "cli/child.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "cli/source_benchmarks.h"
#include "profile/profile.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static const size_t max_file_bytes = (size_t)2 << 30;

enum { MAX_NOTICE_BYTES = 1 << 16, MAX_STDERR_BYTES = 8192, MAX_STDERR_LINES = 20 };

/* ---- What a command and the recorder print ---- */

/* Empties a file: what the run before has written is no longer of use. */
static bool empty_file(FILE *file, struct error *err)
{
	return (ftruncate(fileno(file), 0) == 0 && lseek(fileno(file), 0, SEEK_SET) == 0) ||
	       error_set_errno(err, errno, "cannot write a temporary file");
}

/* Reads a part of a file of ours. */
static size_t bench_run_read_part(FILE *file, off_t from, char *text, size_t max)
{
	ssize_t got = pread(fileno(file), text, max, from);

	text[got > 0 ? got : 0] = '\0';
	return got > 0 ? (size_t)got : 0;
}

/* Says up to `most` of the lines of a text, its last ones if it is a file's end. */
static void say_lines(char *text, size_t most, bool from_end)
{
	size_t size = strlen(text), lines = 0;
	char *at = text + size - (size > 0 && text[size - 1] == '\n');

	*at = '\0';
	while (from_end && at > text && (at[-1] != '\n' || ++lines < most))
		at--;
	at = from_end ? at : text;
	for (char *line; (line = strsep(&at, "\n")) != NULL && most-- > 0;)
		cli_say("  %s\n", line);
}

static size_t bench_run_count_lines(FILE *file)
{
	char text[4096];
	size_t lines = 0, got;

	for (off_t at = 0; (got = bench_run_read_part(file, at, text, sizeof(text) - 1)) > 0; at += (off_t)got)
		for (size_t i = 0; i < got; i++)
			lines += text[i] == '\n';
	return lines;
}

/*
 * What went wrong stands at the begin of what some programs say, before where they were (Node), and at its end with
 * others, behind it (Python).
 */
void bench_print_stderr(const struct bench_runner *runner)
{
	char text[MAX_STDERR_BYTES + 1];
	off_t size = lseek(fileno(runner->errors), 0, SEEK_END);
	size_t lines = bench_run_count_lines(runner->errors);

	if (size <= 0)
		return;
	bench_run_read_part(runner->errors, 0, text, MAX_STDERR_BYTES);
	say_lines(text, lines > MAX_STDERR_LINES ? MAX_STDERR_LINES / 2 : MAX_STDERR_LINES, false);
	if (lines <= MAX_STDERR_LINES)
		return;
	if (lines > MAX_STDERR_LINES + 1)
		cli_say("  ... %zu more lines ...\n", lines - MAX_STDERR_LINES);
	bench_run_read_part(
		runner->errors, size > MAX_STDERR_BYTES ? size - MAX_STDERR_BYTES : 0, text, MAX_STDERR_BYTES);
	say_lines(text, MAX_STDERR_LINES / 2, true);
}

void bench_print_notices(const struct bench_runner *runner)
{
	char text[MAX_NOTICE_BYTES + 1];
	off_t size = lseek(fileno(runner->notices), 0, SEEK_END);

	bench_run_read_part(
		runner->notices, size > MAX_NOTICE_BYTES ? size - MAX_NOTICE_BYTES : 0, text, MAX_NOTICE_BYTES);
	cli_say("%s", text);
}

/* ---- Runs ---- */

bool bench_runner_init(struct bench_runner *runner, const struct symbolize_options *naming, struct error *err)
{
	*runner = (struct bench_runner){ .sampler.tool = CLI_TOOL, .simulated.tool = CLI_TOOL, .naming = naming };
	runner->null = fopen("/dev/null", "r+e");
	runner->errors = tmpfile();
	runner->notices = tmpfile();
	runner->profiles = tmpfile();
	if (!runner->null || !runner->errors || !runner->notices || !runner->profiles)
		return error_set_errno(err, errno, "cannot make a temporary file");
	memcpy(runner->streams, (int[]){ fileno(runner->null), fileno(runner->null), fileno(runner->errors) },
		sizeof(runner->streams));
	return true;
}

void bench_runner_deinit(struct bench_runner *runner)
{
	cleanup_fclose(&runner->null);
	cleanup_fclose(&runner->errors);
	cleanup_fclose(&runner->notices);
	cleanup_fclose(&runner->profiles);
}

static bool bench_run_judge(const char *what, const struct bench_command *command, int status, struct error *err)
{
	if (interrupt_signal())
		return error_set(err, ERROR_EMPTY, "interrupted in %s", what);
	if (WIFSIGNALED(status))
		return error_set(err, ERROR_EMPTY, "%s was ended by signal %d (%s): %.200s", what, WTERMSIG(status),
			strsignal(WTERMSIG(status)), command->text);
	if (WEXITSTATUS(status) != 0)
		return error_set(err, ERROR_EMPTY, "%s ended with exit code %d: %.200s", what, WEXITSTATUS(status),
			command->text);
	return true;
}

static _Noreturn void bench_run_child(const int *streams, char *const *argv)
{
	if (child_take_streams(streams))
		execvp(argv[0], argv);
	fprintf(stderr, "cannot execute %s: %m\n", argv[0]);
	_exit(errno == ENOENT ? CLI_EXIT_NOT_FOUND : CLI_EXIT_NOT_EXECUTABLE);
}

bool bench_run(struct bench_runner *runner, const struct bench_command *command, const char *what, struct error *err)
{
	int status;
	pid_t pid;

	if (!empty_file(runner->errors, err))
		return false;
	pid = child_fork(0);
	if (pid == 0)
		bench_run_child(runner->streams, command->argv);
	if (pid < 0)
		return error_set_errno(err, errno, "cannot start %s", command->argv[0]);
	status = child_wait_for(pid);
	return bench_run_judge(what, command, status, err);
}

/* ---- Recorded runs, each in a process of its own ---- */

/* The message from the process that records a run. */
struct reply {
	bool ok;
	uint64_t size;
	int64_t wall_ns;
	struct error err;
};

static bool bench_run_write_all(FILE *file, const struct buffer *bytes, struct error *err)
{
	return file_write_all(fileno(file), bytes->data, bytes->size) ||
	       error_set_errno(err, errno, "cannot write a temporary file");
}

static bool bench_run_keep(const struct bench_runner *runner, const struct profile *profile,
	const struct buffer *notices, uint64_t *size, struct error *err)
{
	CLEANUP(buffer_deinit) struct buffer out = BUFFER_INIT(max_file_bytes);

	*size = 0;
	if (!empty_file(runner->notices, err) || !bench_run_write_all(runner->notices, notices, err) ||
		!profile_write_pprof(profile, &out, err) || !buffer_ok(&out, err))
		return false;
	*size = out.size;
	return bench_run_write_all(runner->profiles, &out, err);
}

static bool create_source(const struct bench_runner *runner, const struct bench_command *command,
	struct source **source, struct error *err)
{
	struct source_simulated_options simulated = runner->simulated;
	struct source_live_options live = { .sampler = runner->sampler };

	simulated.command = command->argv;
	simulated.streams = runner->streams;
	if (runner->simulates)
		return source_simulated_create(&simulated, source, err);
	live.sampler.target = (struct sampler_target){
		.kind = SAMPLER_TARGET_COMMAND, .command = command->argv, .streams = runner->streams
	};
	return runner->benchmarks ? source_benchmarks_create(&live, source, err)
				  : source_live_create(&live, source, err);
}

/* Records a run, from the start of the command to its end. */
static void record_run(
	const struct bench_runner *runner, const struct bench_command *command, const char *what, struct reply *reply)
{
	CLEANUP(source_result_deinit) struct source_result result = { .recording.child_status = -1 };
	CLEANUP(source_cleanup) struct source *source = NULL;
	const struct recording *recording = &result.recording;
	struct error failure;
	bool ok;

	ok = empty_file(runner->errors, &failure) && create_source(runner, command, &source, &failure) &&
	     source_read(source, &result, &failure);
	/* Half a run is no run. */
	if (ok && recording->ended_early.code != ERROR_NONE) {
		failure = recording->ended_early;
		ok = false;
	}
	/* As `record` does: it may have something to clean up, and must not go on behind the user's back. */
	if (interrupt_signal() && recording->child_status == -1)
		(void)child_wait();
	/* A command that failed may have been too short for a sample: how it ended says more than that. */
	if ((ok || recording->child_status != -1 || interrupt_signal()) &&
		!bench_run_judge(
			what, command, recording->child_status == -1 ? 0 : recording->child_status, &reply->err))
		return;
	/* `record` keeps what it has of a suite without benchmarks, but here there is nothing to compare. */
	if (ok && result.no_benchmarks.code != ERROR_NONE) {
		failure = result.no_benchmarks;
		ok = false;
	}
	if (ok && source_name(source, runner->naming, &result, &failure) &&
		bench_layouts_rename(command, recording->profile, &failure) &&
		bench_run_keep(runner, recording->profile, &result.notices, &reply->size, &failure)) {
		reply->wall_ns = runner->simulates ? recording->profile->runs[0].duration_ns
						   : recording->profile->runs[0].wall_ns;
		reply->ok = true;
		return;
	}
	reply->err = failure;
	error_prefix(&reply->err, "%s", what);
}

/* Reads the reply through a pipe, whose whole record fits what is written at once. */
static bool read_reply(int fd, pid_t pid, struct reply *reply)
{
	ssize_t got;

	do {
		got = read(fd, reply, sizeof(*reply));
		if (got < 0 && errno == EINTR && interrupt_is_for_us_alone())
			kill(pid, interrupt_signal());
	} while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof(*reply);
}

_Static_assert(sizeof(struct reply) <= PIPE_BUF, "a reply is written at once");

bool bench_record(struct bench_runner *runner, const struct bench_command *command, const char *what,
	struct bench_record *at, struct error *err)
{
	off_t offset = lseek(fileno(runner->profiles), 0, SEEK_END);
	struct reply reply = { 0 };
	int end, status;
	bool has_reply;
	pid_t pid;

	fflush(NULL);
	pid = offset < 0 ? -1 : child_fork_linked(0, CHILD_PIPE, &end);
	if (pid == 0) {
		record_run(runner, command, what, &reply);
		_exit(write(end, &reply, sizeof(reply)) == (ssize_t)sizeof(reply) ? 0 : 1);
	}
	if (pid < 0)
		return error_set_errno(err, errno, "cannot record %s", what);
	has_reply = read_reply(end, pid, &reply);
	close(end);
	status = child_wait_for(pid);
	if (!has_reply && interrupt_signal())
		return error_set(err, ERROR_EMPTY, "interrupted in %s", what);
	if (!has_reply)
		return error_set(err, ERROR_SYSTEM, "%s: the recorder ended %s %d", what,
			WIFSIGNALED(status) ? "by signal" : "with exit code",
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	if (!reply.ok) {
		*err = reply.err;
		return false;
	}
	*at = (struct bench_record){ .offset = (uint64_t)offset, .size = reply.size, .wall_ns = reply.wall_ns };
	return true;
}
