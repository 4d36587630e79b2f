/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "diff/build.h"

/*
 * Interrupts of a thread are the machine's work, not the program's: hard interrupts, soft interrupts that run at their
 * end, preemption, and what recorders do at tracepoints. They hit whatever thread is running, and depend on disks,
 * networks, timers and other programs. Soft interrupts that run within the thread's own system call
 * (`__local_bh_enable_ip`) are its own work.
 *
 * Model: a frame of the kernel is an entry if an interrupt arrives there (`asm_sysvec_apic_timer_interrupt`), if the
 * scheduler takes the CPU away there (`preempt_schedule_irq`), or if it is `schedule` called on the way back to user
 * mode. All time below an entry is interrupt time. A function that runs in both ways, such as `handle_softirqs`,
 * becomes two: one of the program, one of the interrupts. In a metric of waits, frames that lead to a wait are no
 * interrupt's.
 *
 * Where two recordings are compared, waiting for a CPU is the machine's as well: how long a thread that could run waits
 * depends on what else wants the CPUs. It is shown, and its own difference is tested, but it is in no total. In the
 * report of one recording it is in the totals, since that is where the time went, unless its sums are for a comparison
 * with others (function_units.h).
 *
 * Run-time compilers (profile/activity.h) are treated likewise: how much they do depends on how long the program has
 * run, so that it says nothing of a change. Garbage collection is the program's own work.
 */

/*
 * Marks the nodes of the union tree at or below an entry (DIFF_NODE_INTERRUPT) and gives them functions of their own
 * (diff_function.interrupt), which no test, scale or verdict uses. Marks nothing if a side would have no other time.
 * Must be called when the tree has its nodes and before their values are summed up.
 */
void interrupts_mark(struct diff_build *build);

/* Returns whether a node is waiting for a CPU that counts as the machine's. */
bool interrupts_is_run_queue(const struct diff *diff, uint32_t node);

/* Returns the share of interrupts in a side's time, without waiting for a CPU and run-time compilers. */
double interrupts_share(const struct diff *diff, enum diff_side side);

/* Returns whether a node's time is part of its parent's: that of an entry is not. */
static inline bool interrupts_pass_up(const struct diff *diff, uint32_t node)
{
	return !(diff->nodes[node].flags & DIFF_NODE_INTERRUPT) ||
	       (diff->nodes[diff->nodes[node].parent].flags & DIFF_NODE_INTERRUPT);
}
