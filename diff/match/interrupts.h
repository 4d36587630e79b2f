/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * What interrupts a thread is the machine's work, not the program's: hard interrupts, soft interrupts that run at their
 * end, and preemption. It falls on whatever thread happens to run, and follows disks, networks, timers and programs
 * that are not compared. Soft interrupts that run inside the thread's own system call (`__local_bh_enable_ip`) are its
 * own work.
 *
 * The model: a frame of the kernel is an entry when it is where an interrupt arrives
 * (`asm_sysvec_apic_timer_interrupt`), where the scheduler takes the CPU away (`preempt_schedule_irq`), or `schedule`
 * called on the way back to user mode. What lies below an entry is interrupt time. A function that runs in both ways,
 * as `handle_softirqs`, is two functions: of the program, and of the interrupts.
 */

/*
 * Marks the nodes of the union tree at or below an entry (DIFF_NODE_INTERRUPT) and gives them functions of their own
 * (diff_function.interrupt), which no test, scale or verdict sees. Marks nothing where that would leave a side without
 * any time. To be called when the tree has its nodes and before their values are summed up.
 */
COMMON_MUST_CHECK
bool interrupts_mark(struct diff_build *build, struct error *err);

/* Interrupts in parts of a side's time. */
double interrupts_share(const struct diff *diff, enum diff_side side);

/* Whether a node's time is part of its parent's: an entry's is not. */
static inline bool interrupts_pass_up(const struct diff *diff, uint32_t node)
{
	return !(diff->nodes[node].flags & DIFF_NODE_INTERRUPT) ||
	       (diff->nodes[diff->nodes[node].parent].flags & DIFF_NODE_INTERRUPT);
}
