/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Events of all CPUs with the program that reads the frames of CPython, and the samples that they write: of CPU time,
 * or of waits.
 */
#include "sampler/ebpf/ebpf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { SAMPLING_MOST_CPUS = 256, PLENTY_BYTES = 1 << 20 };

struct sampling {
	int events[SAMPLING_MOST_CPUS];
	void *pages[SAMPLING_MOST_CPUS];        /* NULL: the CPU is off */
	uint64_t positions[SAMPLING_MOST_CPUS]; /* in their rings, of what is read next */
	uint32_t cpu_count, cpu;                /* `cpu`: that is read now */
	struct ebpf_process_set *processes;
	struct ebpf_frame_reader *frame_reader;
	struct ebpf_waiting *waiting; /* NULL: of CPU time */
	int switches[SAMPLING_MOST_CPUS];
};

struct sample {
	uint32_t cpu, pid, tid;
	uint64_t time_ns;
};

/* Says why not. */
bool sampling_is_permitted(void);

/* Events that are off, of a process set that is empty. `bytes` of memory for frames on each CPU. */
void sampling_start(struct sampling *sampling, size_t bytes);
/* The same of waits. */
void sampling_start_waits(struct sampling *sampling, size_t bytes);
void sampling_stop(struct sampling *sampling);

/* Adds a process to the set. `python`: NULL where the kernel has to find it out from its parent. */
void sampling_add(struct sampling *sampling, pid_t pid, const struct ebpf_python *python);
void sampling_add_interpreter(struct sampling *sampling, pid_t pid, const struct ebpf_interpreter *interpreter);

/* Has the events on until the set's processes have so many samples more. */
void sampling_wait(struct sampling *sampling, uint64_t samples);

/* The next sample: those of a CPU follow each other in order of time. False at the end, behind which later ones follow.
 */
bool sampling_next(struct sampling *sampling, struct sample *sample);

/*
 * Counts a thread's samples that have frames, of which `last` receives the last ones. `*samples` receives how many
 * samples it has, with and without frames.
 */
size_t sampling_count_frames(struct sampling *sampling, uint32_t tid, size_t *samples, struct ebpf_frames *last);
