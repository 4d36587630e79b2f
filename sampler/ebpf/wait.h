/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include <linux/types.h>

/*
 * The description of a wait that the programs of sampler/ebpf/waiting.h write in the raw part of the sample. Programs
 * (.bpf.c) and the recorder include this. All times are nanoseconds.
 */

enum ebpf_wait_kind {
	EBPF_WAIT_END,     /* the sampled thread waited, and goes on now */
	EBPF_WAIT_RELEASE, /* the sampled thread has just let the thread `tid` go on */
	EBPF_WAIT_OPEN,    /* the thread waits still: it was looked at from outside, at an end of the recording */
};

/*
 * The party at the other end of the socket that a thread reads, or polls. A socket that came out of accept() has a
 * client there, one that has connected somebody who was called.
 */
enum ebpf_wait_peer {
	EBPF_PEER_UNKNOWN,  /* it waits for no socket, for one that does not tell, or for any of several */
	EBPF_PEER_CLIENT,   /* whose next bytes are waited for */
	EBPF_PEER_ANSWERED, /* a client that has yet to take the answer */
	EBPF_PEER_CALLED,   /* of several descriptors: one of them has been asked something */
};

/* The places where a system call has the descriptors whose other end it waits for. */
enum ebpf_wait_descriptors {
	EBPF_READS_NONE, /* it waits for something else */
	EBPF_READS_ONE,  /* in its first argument */
	EBPF_POLLS,      /* in the array of struct pollfd that its arguments are about */
	EBPF_SELECTS,    /* in the set of its second argument, below its first one */
};

/* A descriptor that is polled, with the events of struct pollfd. */
struct ebpf_polled {
	__s32 descriptor;
	__u32 events;
};

/* So many descriptors are looked at: who polls more has an event loop. */
enum { EBPF_MOST_POLLED = 8 };

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
	__u32 peer; /* enum ebpf_wait_peer */
};

#define EBPF_WAIT_NO_CALL (-2)
