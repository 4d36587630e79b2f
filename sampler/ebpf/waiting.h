/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"
#include "sampler/ebpf/frame_reader.h"
#include "sampler/ebpf/process_set.h"
#include "sampler/ebpf/wait.h"

/*
 * Programs on the scheduler's tracepoints that sample waits in proportion to their time.
 *
 * Each thread has two sums, of the time that it was blocked and of the time that it was ready to run without a CPU. A
 * wait adds to them when it ends; when a sum reaches the interval, the whole intervals in it are taken off and the
 * stack of this wait is written, with them as its weight. So a thread's weights add up to its waiting time but for one
 * interval, no wait is too short to be charged, and a thread costs at most one sample an interval. Sums start at a
 * random part of the interval, so that threads which all do the same are not charged for the same thing
 * (docs/decisions/49-waiting.md; the estimator is that of samply's shared/context_switch.rs, moved into the kernel).
 *
 * Samples are written by bpf_perf_event_output() through events of PERF_COUNT_SW_BPF_OUTPUT, with all that their
 * sample_type asks for; struct ebpf_wait is their raw part. A budget bounds the samples of a tenth of a second: what is
 * beyond it is not lost, but charged to the thread's next wait.
 *
 * Needs Linux 5.8 with its type information (/sys/kernel/btf/vmlinux), CAP_BPF and CAP_PERFMON, and that the process is
 * in the initial pid namespace. Waits of kernel threads do not count: they wait for work.
 */
struct ebpf_waiting;

/*
 * The hook at which the stack of a wait is taken, in order of preference; all are in the context of the thread that
 * waited.
 */
enum ebpf_waiting_hook {
	/* fentry of __perf_event_task_sched_in: the kernel's stack is that of the wait. The kernel calls the function
	   while an event with attr.context_switch is open, as the caller must have one. Since Linux 5.15 samples tell
	   which frames are not those of the wait (struct ebpf_wait: hook). */
	EBPF_WAITING_FENTRY,
	EBPF_WAITING_KPROBE,      /* kprobe of finish_task_switch: likewise */
	EBPF_WAITING_RSEQ_UPDATE, /* return to user code of threads that use rseq: user part only */
};

/* The offsets in the kernel's struct pt_regs of what a wait tells of its system call, in bytes. */
struct ebpf_registers {
	uint32_t bytes; /* of the struct, at most 256 */
	uint32_t call, arguments[2];
};

struct ebpf_waiting_options {
	const struct ebpf_process_set *processes; /* borrowed; NULL: all processes */
	/* borrowed: samples come with frames of interpreters (since Linux 5.17); NULL: they do not */
	struct ebpf_frame_reader *frame_reader;
	int32_t only_tid; /* 0: all threads */
	uint64_t interval_ns;
	uint32_t samples_per_second; /* the budget */
	const int *output;           /* [cpu] descriptors of the events that samples go through; -1: none */
	size_t cpu_count;
	struct ebpf_registers registers;
	const uint8_t *descriptors_of_call; /* borrowed: [number of a system call] enum ebpf_wait_descriptors */
	size_t call_count;                  /* at most 512 are looked at */
	bool has_switches;     /* the switches of threads are written, too, for ebpf_waiting_take_switches() */
	uint32_t most_threads; /* that the table has room for, of which an account has a share; 0: 65,536 */
	bool is_untraced;      /* as where the kernel refuses fentry: tests of the next hooks */
};

/* Loads and attaches the programs with the first hook that the kernel grants. Nothing is counted before
 * ebpf_waiting_enable(). Owned by the caller. */
COMMON_MUST_CHECK
bool ebpf_waiting_create(const struct ebpf_waiting_options *options, struct ebpf_waiting **waiting, struct error *err);
void ebpf_waiting_destroy(struct ebpf_waiting *waiting);

enum ebpf_waiting_hook ebpf_waiting_hook(const struct ebpf_waiting *waiting);

/*
 * Waits count from `since_ns` on, by the kernel's CLOCK_MONOTONIC, which time namespaces do not move; 0: they no longer
 * do. What was waited before does not count, and a wait that lasts counts from there on. Before the end, a visit
 * charges the waits that last up to then.
 */
void ebpf_waiting_enable(struct ebpf_waiting *waiting, uint64_t since_ns);

/* Another interval, a multiple or a part of the one before, from now on. What was not charged so far is kept. */
void ebpf_waiting_set_interval(struct ebpf_waiting *waiting, uint64_t interval_ns);

/* Samples of a CPU go through another event from now on. */
COMMON_MUST_CHECK
bool ebpf_waiting_set_output(struct ebpf_waiting *waiting, uint32_t cpu, int event);

struct ebpf_waiting_counts {
	uint64_t samples;  /* written */
	uint64_t deferred; /* that the budget put off */
	uint64_t lost;    /* that a ring had no room for: they are charged later, if the thread has not ended by then */
	uint64_t lost_ns; /* what threads that have ended would have been charged for */
	uint64_t switches;        /* of threads of the target */
	uint64_t threads;         /* of the target that have waited and have not ended */
	uint64_t switches_lost;   /* that a ring had no room for */
	uint64_t threads_unknown; /* that the table had no room for: waits that are not counted began so often */
};
struct ebpf_waiting_counts ebpf_waiting_counts(const struct ebpf_waiting *waiting);

/* A thread of the target gets a CPU, or leaves it, for good where it ends. */
struct ebpf_switch {
	uint64_t time_ns; /* by the kernel's CLOCK_MONOTONIC */
	int32_t tid;      /* in the initial pid namespace */
	bool is_on;
};

/*
 * Takes up to `most` switches that were written since, in the order of time of each CPU, and returns their number; 0:
 * there are no more. A CPU has room for 65,536 of them, and where there are more than 64 CPUs for fewer, down to 4,096.
 */
size_t ebpf_waiting_take_switches(struct ebpf_waiting *waiting, struct ebpf_switch *switches, size_t most);

/* A thread that is asleep, as the kernel's own iterator over tasks finds it: nobody is stopped. */
struct ebpf_sleeper {
	struct ebpf_wait wait;  /* of kind EBPF_WAIT_OPEN; its times and weights are known once it is charged */
	uint64_t waits;         /* how many the thread has begun: while it is the same, its stack is */
	uint64_t registers[32]; /* as struct pt_regs of linux/ptrace.h has them */
	uint32_t register_count;
};

/*
 * Meets all threads of the target that are asleep, and that no program has met yet: from here on their waits count. To
 * be called when a recording begins.
 */
COMMON_MUST_CHECK
bool ebpf_waiting_meet(struct ebpf_waiting *waiting, struct error *err);

/*
 * A visit of all threads of the target that are asleep: those that have waiting time to charge are shown, and may be
 * charged. Before Linux 5.15 the registers of a thread cannot be had, and none is shown: threads are then charged when
 * they go on. One visit at a time.
 */
struct ebpf_visit;

/* Owned by the caller; must end before the programs do. */
COMMON_MUST_CHECK
bool ebpf_visit_begin(struct ebpf_waiting *waiting, struct ebpf_visit **visit, struct error *err);
void ebpf_visit_end(struct ebpf_visit *visit); /* NULL is allowed */

/* The next thread that is asleep: borrowed until the next call; NULL: there is none. */
COMMON_MUST_CHECK
bool ebpf_visit_next(struct ebpf_visit *visit, struct ebpf_sleeper **sleeper, struct error *err);

/*
 * Finds who is at the other end of what a thread that is asleep polls: the programs cannot read its memory, where that
 * is told, so the caller has. EBPF_PEER_UNKNOWN also where the kernel refuses.
 */
enum ebpf_wait_peer ebpf_waiting_find_peer(
	struct ebpf_waiting *waiting, uint32_t tid, const struct ebpf_polled *polled, size_t count);

/*
 * Charges a thread that was visited for its wait up to now, and fills in the times and weights of sleeper->wait. False
 * when the thread has gone on since: what was read of its stack then does not belong to the wait, which is charged
 * another time.
 */
bool ebpf_waiting_charge(struct ebpf_waiting *waiting, struct ebpf_sleeper *sleeper);
