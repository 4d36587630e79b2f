/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/*
 * Frames at which a thread stops to run its program: an interrupt arrives, the scheduler takes the CPU away, a recorder
 * runs at a tracepoint, a run-time compiler begins. What lies below is the machine's work, not the program's
 * (diff/match/interrupts.h).
 */
enum profile_interrupt {
	PROFILE_INTERRUPT_NONE,
	PROFILE_INTERRUPT_ENTRY,    /* an interrupt begins */
	PROFILE_INTERRUPT_RETURN,   /* on the way back to user mode: a call of the scheduler from here is preemption */
	PROFILE_INTERRUPT_SCHEDULE, /* the scheduler */
	PROFILE_INTERRUPT_COMPILER, /* the frame of a run-time compiler (profile/activity.h) */
};

/* Returns what a function is, by its name and module. */
enum profile_interrupt profile_interrupt_of(const char *name, const char *module);

/* Returns whether what is no program's begins at a frame with such a caller. */
static inline bool profile_interrupt_begins(enum profile_interrupt frame, enum profile_interrupt caller)
{
	if (frame == PROFILE_INTERRUPT_SCHEDULE)
		return caller == PROFILE_INTERRUPT_RETURN;
	return frame == PROFILE_INTERRUPT_ENTRY || frame == PROFILE_INTERRUPT_COMPILER;
}
