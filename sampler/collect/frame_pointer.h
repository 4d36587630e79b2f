/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/process/process.h"

/*
 * Finds the frame pointer of a thread of which /proc has the stack pointer and the program counter alone. Most walks do
 * not need it: the C library's frames are known by the stack pointer, and code without frame pointers too. A walk that
 * does ends at the first function whose rule begins with the frame pointer. That function has saved its caller's above
 * its own variables, below its return address: the innermost such pair above the stack pointer of its frame is taken,
 * where what was saved points to another pair, or is 0, which threads begin with.
 *
 * Call it after a walk that ended; true: the register is set, and the walk can be made again.
 */
bool frame_pointer_find(struct process_space *space, struct unwind_job *job);
