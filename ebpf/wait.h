/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <linux/types.h>

/*
 * What the programs of ebpf/waiting.h say of a wait, in the raw part of the sample that they write. Programs (.bpf.c)
 * and the recorder include this. All times are nanoseconds.
 */

enum ebpf_wait_kind {
	EBPF_WAIT_END,     /* the sampled thread waited, and goes on now */
	EBPF_WAIT_RELEASE, /* the sampled thread has just let the thread `tid` go on */
	EBPF_WAIT_OPEN,    /* the thread waits still: it was looked at from outside, at an end of the recording */
};

struct ebpf_wait {
	__u32 kind; /* enum ebpf_wait_kind */
	__u32 tid;  /* of the thread that waits or waited, in the initial pid namespace */
	__u32 process;
	/* TASK_* of linux/sched.h as it was when the thread left its CPU; 0: it was ready to run, and was preempted */
	__u32 state;
	/* equal in an end and its release; 0: there is no release */
	__u64 sequence;
	/* how long the thread was blocked, and how long it then was ready to run but had no CPU */
	__u64 blocked_ns, queued_ns;
	/* the time that this sample stands for: multiples of the interval; 0: none */
	__u64 blocked_weight_ns, queued_weight_ns;
	__s64 system_call;  /* that the thread is in; -1: none, as in a page fault; EBPF_WAIT_NO_CALL: not known */
	__u64 arguments[2]; /* the first ones of the system call: a futex's address and operation, a descriptor */
	/* the kernel's function at whose entry the sample was taken, by which all further frames of the kernel are the
	   sampling's own; 0: it was taken elsewhere, or this is not known */
	__u64 hook;
	/* of a release: it was an interrupt, or a deferred one (softirq), that let the thread go on while the sampled
	   one ran; the latter is the cause only if it has sent what the interrupt delivers, as over the loopback device
	 */
	__u32 is_interrupt;
	__u32 padding;
};

#define EBPF_WAIT_NO_CALL (-2)
