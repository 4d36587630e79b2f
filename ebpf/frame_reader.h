/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"
#include "ebpf/frames.h"
#include "ebpf/process_set.h"

/*
 * A program that reads the frames of CPython at each sample, in the context of the interrupted thread: they lie in the
 * process's heap, and have changed long before the recorder reads the sample. It finds the thread's state by the list
 * of threads that CPython keeps (PyThreadState.native_thread_id, since 3.11), and remembers it by thread; what it
 * remembers is checked against that id each time. A process that is not known has its parent's runtime, until it
 * executes another program: its memory is a copy.
 *
 * Chains are written to memory that this process has mapped, one area a CPU, and the samples of the event go into its
 * ring as ever: chains are joined to samples by CPU, thread and time. Before Linux 6.3 a sample has its time after its
 * program has run, since then before; what is between them is the time in which the chain was read. No chain is written
 * for a thread that has none.
 *
 * Needs Linux 5.8 with its type information (/sys/kernel/btf/vmlinux), CAP_BPF and CAP_PERFMON, and that this process
 * is in the initial pid namespace. Threads of other namespaces are known by their own ids there.
 */
struct ebpf_chains;

/* Where the running kernel has what the program reads: offsets in bytes in its structs. */
struct ebpf_task_layout {
	uint32_t real_parent, tgid, thread_pid; /* in struct task_struct */
	uint32_t level, numbers;                /* in struct pid */
};

struct ebpf_chains_options {
	struct ebpf_task_layout layout;
	/* borrowed: the samples of other processes may be dropped (ebpf_chains_set_filtering()); NULL: none are */
	const struct ebpf_process_set *processes;
	uint32_t cpu_count;
	size_t bytes_per_cpu; /* of an area; rounded up to a power of two of pages */
};

/* Owned by the caller. */
COMMON_MUST_CHECK
bool ebpf_chains_create(const struct ebpf_chains_options *options, struct ebpf_chains **chains, struct error *err);
void ebpf_chains_destroy(struct ebpf_chains *chains); /* NULL is allowed */

/*
 * The program for PERF_EVENT_IOC_SET_BPF of each sampling event, in place of ebpf_process_set_program(): borrowed. An
 * event keeps it beyond ebpf_chains_destroy().
 */
int ebpf_chains_program(const struct ebpf_chains *chains);

/* Whether samples of processes that are not in options->processes are dropped; at first they are not. */
void ebpf_chains_set_filtering(struct ebpf_chains *chains, bool filters);

/* A process has CPython from now on. One that does not fit any more, or for which memory cannot be mapped, has no
 * chains. */
void ebpf_chains_add(struct ebpf_chains *chains, int32_t pid, const struct ebpf_python *python);
/* It has none: it executes another program, or has ended. */
void ebpf_chains_remove(struct ebpf_chains *chains, int32_t pid);

/* A chain, innermost frame first. The words are borrowed until ebpf_chains_release(). */
struct ebpf_chain {
	const uint64_t *frames;
	size_t count;
	bool is_cut;         /* there are more frames, or memory that could not be read */
	const uint8_t *task; /* EBPF_TASK_BYTES of the name of its asyncio task, borrowed likewise; NULL: none */
};

/*
 * The chain that belongs to a sample: of those of its thread on that CPU the one that was read nearest to its time, but
 * within 0.2 ms, so that a sample that is lost does not shift the others. Samples of a CPU are asked for in order of
 * time, and chains older than theirs are passed over. False: there is none.
 *
 * time_ns  of CLOCK_MONOTONIC, as the event has to have it
 */
bool ebpf_chains_find(
	struct ebpf_chains *chains, uint32_t cpu, uint32_t tid, uint64_t time_ns, struct ebpf_chain *chain);

/* A piece of a process's memory as it was; zeros stand for what could not be read. */
struct ebpf_piece {
	uint64_t address;
	const uint8_t *bytes;
	size_t size;
};

/*
 * A code object that no chain had before, as far as the program remembers: the begin of its memory and of its qualified
 * name, file name and table of lines. Its process may have ended since. Of a child that is not known itself the process
 * is the one that it was forked from.
 */
enum { EBPF_CODE_PIECES = 4 };
struct ebpf_code {
	int32_t pid;
	struct ebpf_piece pieces[EBPF_CODE_PIECES]; /* the code object is the first; bytes are borrowed as chains are */
};

/*
 * The next code object, of those that came with the chains of samples up to a time, or before. Each CPU's are in order;
 * where the address had another one before, samples up to then are of that one. False: there is none now.
 */
bool ebpf_chains_next_code(struct ebpf_chains *chains, uint64_t time_ns, struct ebpf_code *code);

/*
 * Gives memory back to the program: that of all chains that were found or passed over, as far as the code objects among
 * them were asked for too.
 */
void ebpf_chains_release(struct ebpf_chains *chains);

struct ebpf_chains_counts {
	uint64_t chains;  /* written */
	uint64_t lost;    /* that an area had no room for */
	uint64_t unknown; /* samples of threads of a process with CPython whose state was not found */
	uint64_t unread;  /* chains that end early at memory that could not be read */
};
struct ebpf_chains_counts ebpf_chains_counts(const struct ebpf_chains *chains);
