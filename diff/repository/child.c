/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs git once, as a process that can start no other. */
#include "diff/repository/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* The greatest amount of memory that git may have of its own; packs that it maps do not count. */
static const rlim_t most_memory = (rlim_t)4 << 30;
static const int64_t ns_per_s = 1000000000, ns_per_ms = 1000000;
enum { CODE_CANNOT_RUN = 126 }; /* as a shell has it */

/*
 * The longest time that git may sleep without a moment of CPU time. A disk does not let it sleep (its state is D), and
 * what it reads from one answers sooner than this: what lets it sleep for longer is a FIFO, or a file system of
 * somebody's program.
 */
static const int64_t most_sleep_ns = 2000000000;

/* ---- The child ---- */

static void repository_child_lower(__rlimit_resource_t resource, rlim_t value)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) == 0 && limit.rlim_cur > value) {
		limit.rlim_cur = value;
		(void)setrlimit(resource, &limit);
	}
}

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

/* The directory is entered before the rights change: it may be one that the other user cannot get to by its path. */
static _Noreturn void be_git(const struct repository_child *child, pid_t parent, int output, int complaints)
{
	int null = open("/dev/null", O_RDONLY);

	child_end_with(parent);
	reset_signals();
	repository_child_lower(RLIMIT_CORE, 0);
	repository_child_lower(RLIMIT_FSIZE, child->max_bytes);
	if (fchdir(child->directory) != 0 || null < 0)
		repository_child_refuse("its directory cannot be entered");
	if (dup2(null, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(complaints, STDERR_FILENO) < 0)
		_exit(CODE_CANNOT_RUN);
	if (child->user != 0 && geteuid() == 0 && rights_become_account(child->user) != 0)
		repository_child_refuse("it cannot become the owner of the repository; run Kelvin as that user");
	/* The change of user has cleared it. */
	child_end_with(parent);
	if (child->places && (rights_read_below(child->places) & RIGHTS_LEFT_FILES))
		repository_child_refuse(
			"this kernel cannot keep it to the directories that may be read, for want of Landlock");
	child_close_between(STDERR_FILENO + 1, ~0U);
	/* A kernel without seccomp leaves it to the environment and the arguments that nothing is started. */
	(void)!filter_enter_alone();
	/* Last: a sanitizer maps more than that. */
	repository_child_lower(RLIMIT_DATA, most_memory);
	execve(child->program, (char *const *)(uintptr_t)child->arguments,
		(char *const *)(uintptr_t)child->environment);
	repository_child_refuse("git cannot be executed");
}

/* ---- The parent ---- */

enum repository_child_ending { ENDED, TOO_LATE, ASLEEP };

struct nap {
	int64_t cpu_ns,
		since_ns; /* since when it has used no more CPU time, while it slept each time it was looked at */
};

static bool sleeps_for_long(pid_t pid, int64_t now_ns, struct nap *nap)
{
	int64_t cpu_ns = confined_cpu_ns(pid);

	if (cpu_ns < 0 || cpu_ns != nap->cpu_ns || proc_thread_state(pid, pid) != 'S')
		*nap = (struct nap){ cpu_ns, now_ns };
	return now_ns - nap->since_ns >= most_sleep_ns;
}

/* Takes what git complains of until it has ended; all beyond the room is thrown away. */
static enum repository_child_ending listen(
	pid_t pid, int fd, int64_t deadline_ns, char complaint[REPOSITORY_COMPLAINT_BYTES])
{
	enum { LOOK_MS = 100 };
	struct nap nap = { .cpu_ns = -1 };
	size_t size = 0;

	for (;;) {
		struct pollfd ready = { .fd = fd, .events = POLLIN };
		int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC), left_ms = (deadline_ns - now_ns) / ns_per_ms;
		char chunk[512];
		ssize_t got;

		if (now_ns >= deadline_ns)
			return TOO_LATE;
		if (poll(&ready, 1, left_ms < LOOK_MS ? (int)left_ms + 1 : LOOK_MS) <= 0) {
			if (sleeps_for_long(pid, clock_read_ns(CLOCK_MONOTONIC), &nap))
				return ASLEEP;
			continue;
		}
		got = read(fd, chunk, sizeof(chunk));
		if (got == 0 || (got < 0 && errno != EINTR))
			return ENDED;
		for (ssize_t i = 0; i < got && size + 1 < REPOSITORY_COMPLAINT_BYTES; i++)
			complaint[size++] = (char)(chunk[i] ? chunk[i] : '?');
	}
}

static bool judge_ending(const struct repository_child *child, enum repository_child_ending ending, struct error *err)
{
	switch (ending) {
	case ENDED:
		return true;
	case TOO_LATE:
		return error_set(err, ERROR_SYSTEM, "git was ended, as it took longer than %u seconds", child->seconds);
	case ASLEEP:
		return error_set(err, ERROR_SYSTEM,
			"git was ended, as it waited for a file that gives nothing: something in the repository is a FIFO "
			"or the like (find .git ! -type f ! -type d ! -type l), or its file system does not answer");
	}
	return false;
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

static bool repository_child_start(
	const struct repository_child *child, int output, pid_t *pid, int *complaints, struct error *err)
{
	pid_t self = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		return error_set_errno(err, errno, "cannot run git");
	*pid = fork();
	if (*pid == 0)
		be_git(child, self, output, ends[1]);
	close(ends[1]);
	if (*pid > 0) {
		*complaints = ends[0];
		return true;
	}
	error_set_errno(err, errno, "cannot run git");
	close(ends[0]);
	return false;
}

bool repository_child_run(const struct repository_child *child, struct repository_answer *answer, struct error *err)
{
	int64_t deadline_ns = clock_read_ns(CLOCK_MONOTONIC) + child->seconds * ns_per_s;
	CLEANUP(cleanup_close) int complaints = -1;
	enum repository_child_ending ending;
	int status = 0;
	pid_t pid = 0;

	*answer = (struct repository_answer){ .fd = file_in_memory("git", err) };
	if (answer->fd < 0)
		return error_prefix(err, "cannot run git");
	if (!repository_child_start(child, answer->fd, &pid, &complaints, err))
		return false;
	ending = listen(pid, complaints, deadline_ns, answer->complaint);
	if (ending != ENDED)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
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
