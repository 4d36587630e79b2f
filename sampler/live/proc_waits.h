/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "sampler/live/instrument.h"

/*
 * Waits without a program in the kernel: at random moments the state of every thread of the target is sampled through
 * /proc, and one that sleeps is charged the time since the round before. What each place costs is thereby met in
 * proportion to its time, whatever the threads do in between, and threads that never wake are charged exactly. Nobody
 * is stopped: a thread that goes on while its stack is read is not charged.
 *
 * Nothing is known of what happens between two rounds: who let a thread go on, how long it was ready to run without a
 * CPU, and the kernel's part of the stack. /proc/PID/task/TID/syscall has the system call, so that classes and locks
 * are as exact as with the program; of the registers it has the stack pointer and the program counter alone.
 *
 * An event of context switches cannot do this: it is taken in kernel code, so that it counts nothing where kernel code
 * may not be sampled, which is what lacks where this is needed.
 *
 * It cannot be opened where it may not be read what the target's threads wait for (ERROR_PERMISSION).
 */
extern const struct instrument_functions proc_waits_functions;
