/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

#include <sys/resource.h>
#include <sys/types.h>

/* A command started by us: forked first, executed when its events are open. */
struct command {
	pid_t pid;    /* 0: none */
	int go_fd;    /* owned: closing or writing it lets the child go */
	int error_fd; /* owned: the child writes errno when its exec fails */
	bool started, reaped;
	int status; /* as waitpid() gives it, once reaped */
	struct rusage usage;
};

/* Forks a child that waits. `argv` is borrowed and NULL-terminated. */
COMMON_MUST_CHECK
bool command_fork(struct command *command, char *const *argv, struct error *err);

/* Lets it execute, and waits until it has or could not. */
COMMON_MUST_CHECK
bool command_start(struct command *command, const char *name, struct error *err);

/* Reaps it when it has ended. */
bool command_has_ended(struct command *command);

/* Kills and reaps a child that was never started. */
void command_deinit(struct command *command);
