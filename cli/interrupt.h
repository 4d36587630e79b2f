/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>

/*
 * Ctrl-C, SIGTERM and SIGHUP ask a recording to end; one more, a moment later, kills as if they were not
 * handled. This is the one mutable state of the program, for a handler knows no context.
 */

/*
 * Installs the handlers for the rest of the process' life. A signal that was ignored from outside (nohup) stays
 * ignored. Who read our messages may be gone, as `tee` is after Ctrl-C: from then on SIGPIPE is no end either.
 */
void interrupt_watch(void);

/* The signal that came, or 0. */
int interrupt_signal(void);

/* Whether it came from another process, so that a command in our process group has not seen it. */
bool interrupt_is_for_us_alone(void);

/*
 * A binary that is truncated while it is read (a deploy that copies over the old file) costs names, not the recording:
 * reads of lost pages find zeros (elf_image_fill_lost_page()). Any other SIGBUS ends the program as ever.
 */
void interrupt_survive_lost_pages(void);

/* A file that reaches its limit (ulimit -f) is a full disk, and no end. What is started does not inherit this. */
void interrupt_survive_full_files(void);
