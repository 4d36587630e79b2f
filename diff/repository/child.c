/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs git once, as a process that can start no other. */
#include "diff/repository/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* The greatest amount of memory that git may have of its own; packs that it maps do not count. */
static const rlim_t most_memory = (rlim_t)4 << 30;
static const int64_t ns_per_s = 1000000000;
enum { CODE_CANNOT_RUN = 126 }; /* as a shell has it */

/*
 * The longest time that git may sleep without a moment of CPU time. A disk does not let it sleep (its state is D), and
 * what it reads from one answers sooner than this: what lets it sleep for longer is a FIFO, or a file system of
 * somebody's program.
 */
enum { MOST_SLEEP_MS = 2000 };

/* ---- The child ---- */

/*
 * Resets the signals that the parent ignores or blocks, which would stay so in git: a limit of its output has to end
 * it.
 */
static void reset_signals(void)
{
	sigset_t none;

	signal(SIGXFSZ, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void repository_child_refuse(const char *why)
{
	(void)!write(STDERR_FILENO, why, strlen(why));
	_exit(CODE_CANNOT_RUN);
}

/*
 * The directory is entered before the rights change: it may be one that the other user cannot get to by its path. A
 * kernel without seccomp leaves it to the environment and the arguments that nothing is started.
 */
static _Noreturn void be_git(const struct repository_child *child, int output, int complaints)
{
	static const int streams[] = { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO };
	const struct child_limit written = { RLIMIT_FSIZE, child->max_bytes, false },
				 memory = { RLIMIT_DATA, most_memory, false };
	const struct confinement confinement = { .descriptors = streams,
		.descriptor_count = sizeof(streams) / sizeof(streams[0]),
		.user = child->user != 0 ? CONFINED_ACCOUNT : CONFINED_SAME_USER,
		.id = child->user,
		.capabilities = UINT64_MAX,
		.files = child->places ? CONFINED_READS_BELOW : CONFINED_ANY_FILES,
		.places = child->places,
		.calls = CONFINED_ALONE,
		.limits = &written,
		.limit_count = 1 };
	const int taken[] = { open("/dev/null", O_RDONLY), output, complaints };
	unsigned int left;

	reset_signals();
	if (taken[STDIN_FILENO] < 0 || !child_take_streams(taken))
		_exit(CODE_CANNOT_RUN);
	if (fchdir(child->directory) != 0)
		repository_child_refuse("its directory cannot be entered");
	left = confined_enter(&confinement);
	if (left & RIGHTS_LEFT_USER)
		repository_child_refuse("it cannot become the owner of the repository; run Kelvin as that user");
	if (left & RIGHTS_LEFT_FILES)
		repository_child_refuse(
			"this kernel cannot keep it to the directories that may be read, for want of Landlock");
	/* Last: a sanitizer maps more than that. */
	child_limit(&memory, 1);
	execve(child->program, (char *const *)(uintptr_t)child->arguments,
		(char *const *)(uintptr_t)child->environment);
	repository_child_refuse("git cannot be executed");
}

/* ---- The parent ---- */

/* Takes what git complains of until it has ended; all beyond the room is thrown away. */
static enum child_ending listen(pid_t pid, int end, const struct repository_child *child, char *complaint)
{
	const struct child_patience patience = {
		.deadline_ns = clock_read_ns(CLOCK_MONOTONIC) + child->seconds * ns_per_s,
		.most_bytes = REPOSITORY_COMPLAINT_BYTES - 1,
		.most_still_ticks = MOST_SLEEP_MS / CHILD_TICK_MS,
		.waits_for_disks = true,
	};
	CLEANUP(buffer_deinit) struct buffer said = BUFFER_INIT(REPOSITORY_COMPLAINT_BYTES);
	enum child_ending ending = child_listen(pid, end, &patience, &said);

	for (size_t i = 0; i < said.size; i++)
		complaint[i] = (char)(said.data[i] ? said.data[i] : '?');
	while (ending == CHILD_TOO_LONG) {
		said.size = 0;
		ending = child_listen(pid, end, &patience, &said);
	}
	return ending;
}

static bool judge_ending(const struct repository_child *child, enum child_ending ending, struct error *err)
{
	if (ending == CHILD_LATE)
		return error_set(err, ERROR_SYSTEM, "git was ended, as it took longer than %u seconds", child->seconds);
	if (ending == CHILD_STUCK)
		return error_set(err, ERROR_SYSTEM,
			"git was ended, as it waited for a file that gives nothing: something in the repository is a FIFO "
			"or the like (find .git ! -type f ! -type d ! -type l), or its file system does not answer");
	return ending == CHILD_ANSWERED || error_set_memory(err);
}

static bool repository_child_judge(
	const struct repository_child *child, int status, struct repository_answer *answer, struct error *err)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ)
		return error_set(err, ERROR_LIMIT, "what git wrote is more than the %zu kB that are read",
			child->max_bytes / 1024);
	if (!WIFEXITED(status))
		return error_set(err, ERROR_SYSTEM, "git crashed (%s)", strsignal(WTERMSIG(status)));
	answer->code = WEXITSTATUS(status);
	if (answer->code == CODE_CANNOT_RUN)
		return error_set(err, ERROR_SYSTEM, "%s could not be run: %s", child->program, answer->complaint);
	if (lseek(answer->fd, 0, SEEK_SET) != 0)
		return error_set_errno(err, errno, "cannot read what git wrote");
	return true;
}

bool repository_child_run(const struct repository_child *child, struct repository_answer *answer, struct error *err)
{
	enum child_ending ending;
	int end, status;
	pid_t pid;

	*answer = (struct repository_answer){ .fd = file_in_memory("git", err) };
	if (answer->fd < 0)
		return error_prefix(err, "cannot run git");
	pid = child_fork_linked(CHILD_ENDS_WITH_PARENT, CHILD_PIPE, &end);
	if (pid < 0)
		return error_set_errno(err, errno, "cannot run git");
	if (pid == 0)
		be_git(child, answer->fd, end);
	ending = listen(pid, end, child, answer->complaint);
	if (ending != CHILD_ANSWERED)
		(void)kill(pid, SIGKILL);
	status = child_reap(pid);
	close(end);
	return judge_ending(child, ending, err) && repository_child_judge(child, status, answer, err);
}

void repository_answer_deinit(struct repository_answer *answer)
{
	cleanup_close(&answer->fd);
	answer->fd = -1;
}

void repository_complaint_line(const char *complaint, char *line, size_t size)
{
	static const char fatal[] = "fatal: ";
	size_t used = 0;

	if (strncmp(complaint, fatal, sizeof(fatal) - 1) == 0)
		complaint += sizeof(fatal) - 1;
	for (; *complaint && *complaint != '\n' && used + 1 < size; complaint++)
		line[used++] = (char)(*complaint >= ' ' && *complaint <= '~' ? *complaint : '?');
	line[used] = '\0';
}
