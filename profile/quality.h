/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "common/common.h"

/* The quality of a recording: what was lost, and how many stacks are whole. */

struct profile;

/*
 * The way in which the unwinding of a user stack ended. A stack is whole when it is proven to be: it ends at what is
 * known to begin a thread or a coroutine, and no step of the walk may have passed over frames.
 */
enum profile_stop {
	PROFILE_STOP_ROOT,         /* whole: the walk reached the thread's first frame */
	PROFILE_STOP_STITCHED,     /* whole: a cut stack was joined to an earlier whole one */
	PROFILE_STOP_KERNEL_ONLY,  /* whole: a kernel thread, or a sample without a user stack */
	PROFILE_STOP_DUMP_END,     /* cut: the copied part of the stack ended */
	PROFILE_STOP_NO_MAPPING,   /* cut: an address in no executable mapping */
	PROFILE_STOP_NO_RULE,      /* cut: no unwind information, and the frame pointer led nowhere */
	PROFILE_STOP_BAD_STACK,    /* cut: the stack pointer did not move up, or lies outside the stack copy */
	PROFILE_STOP_STACK_SWITCH, /* cut: the program went on in another stack (cgo, coroutines) */
	PROFILE_STOP_DEPTH,        /* cut: the limit on the number of frames */
	PROFILE_STOP_NO_REGISTERS, /* cut: the kernel gave no user registers (exiting, 32-bit) */
	PROFILE_STOP_UNWINDER,     /* cut: any other failure of the unwinder */
	/* cut: the kernel's walk along frame pointers ended, and does not say whether it reached the root */
	PROFILE_STOP_CHAIN_END,
	PROFILE_STOP_OPEN, /* open: nothing was cut, but that all frames are there is not proven */
	/* cut: a return probe (uretprobe) stands on the last function, and the kernel alone knows its caller */
	PROFILE_STOP_RETURN_PROBE,
	/* cut: in a chain of frame pointers the last function has none of its own, so that its caller is left out */
	PROFILE_STOP_FRAMELESS,
};
enum { PROFILE_STOP_COUNT = 15 };

/* Returns "root", "stitched", "dump end", ... */
const char *profile_stop_name(enum profile_stop stop);

/* Counts over all runs. `samples` is the sum of `stops`. */
struct profile_quality {
	uint64_t samples;
	uint64_t lost;          /* samples that the kernel dropped because a buffer was full */
	uint64_t throttled;     /* how often the kernel paused the event */
	uint64_t lost_sideband; /* mmap, comm and task records that the kernel dropped */
	uint64_t stops[PROFILE_STOP_COUNT];
	uint64_t frame_pointer_frames; /* frames found by the frame pointer because there was no unwind information */
	uint64_t frames;
	/* The location at which most open stacks end, and how many: while it is recorded only, files do not have it. */
	uint32_t open_end;
	uint64_t open_end_count; /* 0: there is none */
	/* The mapping to which most open stacks return though no call there has led to them, and how many; likewise. */
	uint32_t placed_in;
	uint64_t placed_count;
};

/*
 * Whole stacks, stitched ones included, in percent of all. 100 if there are none, and for files of other tools, which
 * do not say; at most 99.9 while one is not, which rounding does not turn into 100.
 */
double profile_quality_whole_percent(const struct profile_quality *quality);

/* Open stacks, in percent of all; 0 likewise. */
double profile_quality_open_percent(const struct profile_quality *quality);

/* Chains of frame pointers that are known to leave out the last function's caller, in percent of all; 0 likewise. */
double profile_quality_frameless_percent(const struct profile_quality *quality);

/*
 * Returns whether the recording says which stacks are whole: files of other tools do not, and chains of frame pointers
 * cannot.
 */
bool profile_knows_whole_stacks(const struct profile *profile);
