/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <sys/types.h>

/* The recorded command is this process' only child. */

/* Sends the command a signal that only this process received. */
void child_signal(int number);

/* Waits for the command; returns its status as waitpid() gives it, or -1 if there is none. */
int child_wait(void);

/* Does the same for one process, which gets a signal to stop that only this process received, once. */
int child_wait_for(pid_t pid);

/* Returns the exit code for a status of waitpid() as a shell has it: 128 + signal. */
int child_exit_code(int status);
