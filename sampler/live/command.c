/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sampler/live/command.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

static _Noreturn void command_run_child(int channel, const struct sampler_target *target)
{
	sigset_t none;
	int failure;
	char go;

	/* End of file means that the recorder gave up before the start. */
	if (read(channel, &go, 1) != 1)
		_exit(125);
	/* The recorder may block signals that it waits for; the program must not inherit that. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if ((!target->streams || child_take_streams(target->streams)) &&
		(!target->enter || target->enter(target->entering)))
		execvp(target->command[0], target->command);
	failure = errno;
	if (write(channel, &failure, sizeof(failure)) < 0)
		_exit(126);
	_exit(127);
}

bool command_fork(struct command *command, const struct sampler_target *target, struct error *err)
{
	int channel;
	pid_t pid = child_fork_linked(0, CHILD_STREAM, &channel);

	if (pid == 0)
		command_run_child(channel, target);
	if (pid < 0)
		return error_set_errno(err, errno, "cannot start %s", target->command[0]);
	*command = (struct command){ .pid = pid, .channel = channel };
	return true;
}

bool command_start(struct command *command, const char *name, struct error *err)
{
	int failure = 0;
	ssize_t got;

	if (write(command->channel, "g", 1) != 1)
		return error_set_errno(err, errno, "cannot start %s", name);
	do {
		got = read(command->channel, &failure, sizeof(failure));
	} while (got < 0 && errno == EINTR);
	if (got == sizeof(failure))
		return error_set_errno(err, failure, "cannot execute %s", name);
	command->started = true;
	return true;
}

/* Asks for the user of a command that has ended: what has ended tells whose it was until somebody waits for it. */
static void ask_user(struct command *command)
{
	struct proc_status users;

	command->has_user = proc_read_status(command->pid, command->pid, "Uid", &users);
	command->user = command->has_user ? (uid_t)users.first : 0;
}

bool command_has_ended(struct command *command)
{
	siginfo_t info = { 0 };

	if (command->reaped || command->pid <= 0)
		return command->reaped;
	if (waitid(P_PID, (id_t)command->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == command->pid)
		ask_user(command);
	command->reaped = wait4(command->pid, &command->status, WNOHANG, &command->usage) == command->pid;
	return command->reaped;
}

void command_deinit(struct command *command)
{
	if (command->pid <= 0)
		return;
	if (!command->started && !command->reaped) {
		kill(command->pid, SIGKILL);
		(void)child_reap(command->pid);
	}
	close(command->channel);
	*command = (struct command){ 0 };
}

int64_t command_cpu_ns(const struct command *command)
{
	const struct rusage *used = &command->usage;

	return (used->ru_utime.tv_sec + used->ru_stime.tv_sec) * (int64_t)1000000000 +
	       (used->ru_utime.tv_usec + used->ru_stime.tv_usec) * (int64_t)1000;
}
