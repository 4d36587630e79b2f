/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Rights and endings of the processes that a program forks, set before they work for it. All is about the calling
 * process.
 */

/*
 * Has the kernel kill the process when its parent ends, and ends it here if the parent has ended before. The first
 * process of a process namespace cannot see that, as its parent has no number there.
 */
void child_end_with(pid_t parent);

/* Closes the descriptors from `first` to `last`; there may be none. A kernel before Linux 5.9 closes the first 65,536.
 */
void child_close_between(unsigned int first, unsigned int last);

/*
 * Returns whether the program runs under a sanitizer: it cannot be confined then, and nobody relies on its confinement.
 */
bool child_is_sanitized(void);
