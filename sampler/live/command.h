/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/sampling.h"

#include <sys/resource.h>
#include <sys/types.h>

/* A command that the recorder starts: forked first, executed when its events are open. */
struct command {
	pid_t pid;   /* 0: none */
	int channel; /* owned: writing to it starts the child, closing it ends the child, which writes errno if its exec
			fails */
	bool started, reaped;
	int status; /* as waitpid() returns it, once reaped */
	struct rusage usage;
	bool has_user; /* it could be asked when it had ended */
	uid_t user;    /* the real one that it had then */
};

/* Forks a child that waits for command_start(). `target` is one of kind COMMAND; its argv is borrowed. */
COMMON_MUST_CHECK
bool command_fork(struct command *command, const struct sampler_target *target, struct error *err);

/* Starts the child's exec, and waits until it has succeeded or failed. */
COMMON_MUST_CHECK
bool command_start(struct command *command, const char *name, struct error *err);

/* Returns whether the command has ended; reaps it then. */
bool command_has_ended(struct command *command);

/* Kills and reaps a child that was never started. */
void command_deinit(struct command *command);

/* CPU time in nanoseconds that a command which has ended used, with all processes that it waited for. */
int64_t command_cpu_ns(const struct command *command);
