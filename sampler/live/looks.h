/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "recording/collect/sleeper.h"
#include "sampler/sampler.h"

/*
 * Waits without a program in the kernel: at random moments every thread of the target is looked at through /proc, and
 * one that sleeps is charged the time since the look before. What each place costs is thereby met in proportion to its
 * time, whatever the threads do in between, and threads that never wake are charged exactly. Nobody is stopped: a
 * thread that goes on while its stack is read is not charged.
 *
 * Nothing is known of what happens between two looks: who let a thread go on, how long it was ready to run without a
 * CPU, and the kernel's part of the stack. /proc/PID/task/TID/syscall has the system call, so that classes and locks
 * are as exact as with the program; of the registers it has the stack pointer and the program counter alone.
 *
 * An event of context switches cannot do this: it is taken in kernel code, so that it counts nothing where kernel code
 * may not be sampled, which is what lacks where this is needed.
 */
struct looks {
	bool is_open;
	uint64_t mean_ns;          /* between two looks; grows with what a look takes */
	uint64_t last_ns, next_ns; /* by the records' clock */
	uint64_t samples;
	int32_t only_tid; /* 0: all threads */
	struct sleeper sleeper;
};

/*
 * Prepares for a target, one of whose processes is `pid`; 0: none is known. ERROR_PERMISSION: what its threads wait for
 * may not be read.
 */
COMMON_MUST_CHECK
bool looks_open(struct looks *looks, const struct sampler_options *options, int32_t pid, struct error *err);
void looks_close(struct looks *looks);

/* The time to wait for records at most, so that the next look is not late. */
int looks_timeout(const struct looks *looks, uint64_t clock_ns, int timeout_ms);

/* Looks are taken from `clock_ns` on. */
void looks_begin(struct looks *looks, uint64_t clock_ns);

/* Looks if it is time for that, or `is_last`. */
COMMON_MUST_CHECK
bool looks_take(struct looks *looks, struct collector *collector, uint64_t clock_ns, bool is_last, struct error *err);

/* Tells the profile how long a sample stands for, and the user what is missing. `why`: the program is not there. */
void looks_tell(const struct looks *looks, const char *why, struct profile *profile, struct buffer *notices);
