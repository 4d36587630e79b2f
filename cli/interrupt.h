/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>

/*
 * Ctrl-C, SIGTERM and SIGHUP ask a recording to end; a second signal, a moment later, kills the process. The signal's
 * number is the program's only mutable global, because a handler has no context.
 */

/*
 * Installs the handlers for the rest of the process' life. A signal that was ignored at the start (nohup) stays
 * ignored. After a signal SIGPIPE no longer kills either, since the reader of our messages, such as `tee`, may have
 * ended on Ctrl-C too.
 */
void interrupt_watch(void);

/* Lets the signals pass this process by: it works for its parent, which has them as well, and whose end ends it. */
void interrupt_leave_to_parent(void);

/* Returns the signal that arrived, or 0. */
int interrupt_signal(void);

/*
 * While functions are named, a signal asks to leave the rest unnamed, also the second one of a recording; one more, a
 * moment later, kills the process.
 */
void interrupt_begin_naming(void);
void interrupt_end_naming(void);

/* Returns whether a signal arrived while functions were named. */
bool interrupt_stops_naming(void);

/* Returns whether another process sent the signal, so that a command in our process group has not received it. */
bool interrupt_is_for_us_alone(void);

/*
 * If a binary is truncated while it is read (a deploy that copies over the old file), names are lost but not the
 * recording: reads of lost pages find zeros (elf_image_fill_lost_page()). Any other SIGBUS ends the program as usual.
 */
void interrupt_survive_lost_pages(void);

/*
 * A file that reaches its size limit (ulimit -f) makes writing fail, as on a full disk, but does not kill. Commands
 * that are started do not inherit this.
 */
void interrupt_survive_full_files(void);
