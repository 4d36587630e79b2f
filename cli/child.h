/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <sys/types.h>

/* The command that is being recorded is this process' only child. */

/* Sends it a signal that only we have seen. */
void child_signal(int number);

/* Waits for it; its exit code as a shell tells it (128 + signal), or -1 when there is none. */
int child_wait(void);

/* An exit code from waitpid()'s status. */
int child_exit_code(int status);
