/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"
#include "sampler/ebpf/frames.h"
#include "sampler/ebpf/process_set.h"

/*
 * A program that reads the frames of interpreters at each sample, in the context of the interrupted thread: they lie in
 * the process's heap, and have changed long before the recorder reads the sample. A process that is not known has its
 * parent's interpreter, until it executes another program: its memory is a copy.
 *
 * CPython  The thread's states, one for each interpreter that it has entered, are found by the lists that CPython keeps
 *          (PyThreadState.native_thread_id, since 3.11), and remembered by thread; what is remembered is checked
 *          against that id each time. The frames of one state follow those of another, in no order.
 * PHP      Without its option for threads it runs in the first thread of a process alone, and a variable has the frame.
 * Ruby     The execution context of a thread is in its thread-local storage, since 3.0.
 *
 * Go       Of a thread that has changed stacks, the one that it has left is copied, as far as there is room.
 *
 * Of any thread the return addresses that the kernel has replaced for return probes are written as well, once a process
 * is known to have such probes: the process's memory does not have them.
 *
 * Frames are written to memory that this process has mapped, one area a CPU, and the samples of the event go into its
 * ring as ever: frames are joined to samples by CPU, thread and time. Since Linux 6.3 a sample has its time before its
 * program runs, which notes it with the frames; before, it has it afterwards, and frames belong to what is near.
 * Nothing is written for a thread that has none.
 *
 * Needs Linux 5.8 with its type information (/sys/kernel/btf/vmlinux), CAP_BPF and CAP_PERFMON, and that this process
 * is in the initial pid namespace. Threads of other namespaces are known by their own ids there.
 */
struct ebpf_frame_reader;

struct ebpf_frame_reader_options {
	struct ebpf_task_layout layout;
	const struct ebpf_process_set *processes; /* borrowed: after its program this one runs; NULL: it never does */
	uint32_t cpu_count;
	size_t bytes_per_cpu; /* of an area; rounded up to a power of two of pages */
};

/* Prepares what is loaded once it is needed, as most recordings meet no interpreter. Owned by the caller. */
COMMON_MUST_CHECK
bool ebpf_frame_reader_create(
	const struct ebpf_frame_reader_options *options, struct ebpf_frame_reader **reader, struct error *err);
void ebpf_frame_reader_destroy(struct ebpf_frame_reader *reader); /* NULL is allowed */

/*
 * Loads the program, unless it is there, which takes the verifier some 50 ms. The functions below do so when they need
 * it. False: it is refused, and stays so.
 */
bool ebpf_frame_reader_load(struct ebpf_frame_reader *reader);

/* Returns since when, by the records' clock, frames are read; 0: never. */
uint64_t ebpf_frame_reader_loaded_ns(const struct ebpf_frame_reader *reader);

/* Returns why the kernel has refused the program, or memory for its frames: borrowed; NULL: it has not. */
const struct error *ebpf_frame_reader_refusal(const struct ebpf_frame_reader *reader);

/*
 * A process has an interpreter from now on, for which its account pays (common/shares.h). False: it has no frames, as
 * its account has too many such processes, memory cannot be mapped, or the kernel refuses the program.
 */
bool ebpf_frame_reader_add(
	struct ebpf_frame_reader *reader, int32_t pid, uint64_t account, const struct ebpf_interpreter *interpreter);
/* It has none: it executes another program, or has ended. */
void ebpf_frame_reader_remove(struct ebpf_frame_reader *reader, int32_t pid);

/* The frames of a thread. */
struct ebpf_frames {
	const uint64_t
		*words; /* as ebpf_frame_word(), the innermost first; borrowed until ebpf_frame_reader_release() */
	size_t count;
	enum ebpf_interpreter_kind kind;
	bool is_cut;         /* there are more frames, or memory that could not be read */
	const uint8_t *task; /* EBPF_TASK_BYTES of the name of its task, borrowed likewise; NULL: none */
};

/*
 * Finds the frames that belong to a sample: of its thread on that CPU those that were read for its time, or nearest to
 * it, but within 0.2 ms, so that a sample that is lost does not shift the others. The samples of waits, and all before
 * Linux 6.3, have their time after their frames were read: they go without where a host takes the CPU away for longer
 * in between. Samples of a CPU are asked for in order of time, and frames older than theirs are passed over. False:
 * there are none.
 *
 * time_ns  of CLOCK_MONOTONIC, as the event has to have it
 */
bool ebpf_frame_reader_find(
	struct ebpf_frame_reader *reader, uint32_t cpu, uint32_t tid, uint64_t time_ns, struct ebpf_frames *frames);

/* A piece of a process's memory as it was; zeros stand for what could not be read. */
struct ebpf_piece {
	uint64_t address;
	const uint8_t *bytes;
	size_t size;
};

/* Has return addresses that the kernel has replaced read from now on. */
void ebpf_frame_reader_expect_returns(struct ebpf_frame_reader *reader);

/*
 * Finds the replaced return addresses of a thread at a sample, as frames are found, in pairs of words: of each the
 * address of the stack at which it stood, then the return address, the innermost first. The first pair is where an
 * instruction with a probe runs meanwhile, and where it stands in the code; zeros: none does. False: nothing is known.
 */
bool ebpf_frame_reader_find_returns(
	struct ebpf_frame_reader *reader, uint32_t cpu, uint32_t tid, uint64_t time_ns, struct ebpf_frames *returns);

/*
 * Code that no frames had before, as far as the program remembers: the begin of its memory, and of what it leads to. Of
 * a code object of CPython this is its qualified name, file name and table of lines, of a function of PHP its name,
 * file name and the name of its class, of Ruby its name and file name. Its process may have ended since. Of a child
 * that is not known itself the process is the one that it was forked from.
 */
struct ebpf_code {
	int32_t pid;
	enum ebpf_interpreter_kind kind;
	struct ebpf_piece pieces[EBPF_CODE_PIECES]; /* the code itself is the first; bytes are borrowed as frames are */
};

/*
 * Finds the next code, of that which came with the frames of samples up to a time, or before. Each CPU's is in order;
 * where the address had another one before, samples up to then are of that one. False: there is none now.
 */
bool ebpf_frame_reader_next_code(struct ebpf_frame_reader *reader, uint64_t time_ns, struct ebpf_code *code);

/*
 * Gives memory back to the program: that of all frames that were found or passed over, as far as the code among them
 * was asked for too.
 */
void ebpf_frame_reader_release(struct ebpf_frame_reader *reader);

struct ebpf_frame_reader_counts {
	uint64_t stacks;  /* of frames that were written */
	uint64_t lost;    /* stacks that an area had no room for */
	uint64_t unknown; /* samples of threads of a process with an interpreter whose state was not found */
	uint64_t unread;  /* stacks that end early at memory that could not be read */
};
struct ebpf_frame_reader_counts ebpf_frame_reader_counts(const struct ebpf_frame_reader *reader);
